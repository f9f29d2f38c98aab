#!/bin/sh
# Runs a command, as root and in this folder, on a machine whose control groups are those of version
# 2 alone, as on every current distribution: a virtual one with Debian's kernel. It sees the files of
# this machine and changes none; its exit status is the command's.
#
#   scripts/cgroup2.sh cargo test --package meanwhile --test cli cosched_soft::
#
# KERNEL is the Debian package, such as linux-image-rt-amd64; it is downloaded once, not installed.
set -eu

refuse() {
    printf 'cgroup2: %s\n' "$@" >&2
    exit 2
}

# The package of the kernel that this one stands for, unpacked.
unpack_kernel() {
    [ ! -d "$kernel" ] || return 0
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
        refuse "apt-get and dpkg-deb are missing: the kernel is Debian's"
    real=$(apt-cache depends "$KERNEL" | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -n 1)
    rm -rf "$cache/download" && mkdir -p "$cache/download"
    (cd "$cache/download" && apt-get download "${real:-$KERNEL}" >said 2>&1) ||
        refuse "apt-get download ${real:-$KERNEL}:" "$(cat "$cache/download/said")"
    dpkg-deb --extract "$cache"/download/*.deb "$cache/download/kernel"
    mv "$cache/download/kernel" "$kernel"
    rm -rf "$cache/download"
}

has_9p() { find "$kernel" -name '9p.ko*' | grep -q .; }

# The first files of the machine: what it needs to see ours, and the command.
make_first_files() {
    mkdir -p "$run/bin" "$run/modules" "$run/proc" "$run/sys" "$run/dev" "$run/lower" "$run/new"
    cp "$(command -v busybox)" "$run/bin/busybox"
    n=10
    # Each after those that it needs.
    for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci \
        netfs fscache 9pnet 9pnet_virtio 9p overlay; do
        find "$kernel" -name "$module.ko*" -exec cp {} "$run/modules/$n-$module.ko" \;
        n=$((n + 1))
    done
    for word; do
        printf "'%s' " "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"
    done >"$run/words"
    cat >"$run/init" <<'END'
#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
for module in /modules/*; do busybox insmod "$module"; done
busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 files /lower
busybox mount -t tmpfs changes /new
busybox mkdir /new/upper /new/work /new/all
busybox mount -t overlay -o lowerdir=/lower,upperdir=/new/upper,workdir=/new/work files /new/all
for folder in proc sys dev; do busybox mount --move "/$folder" "/new/all/$folder"; done
busybox mount -t tmpfs tmp /new/all/tmp
busybox cp /command /new/all/tmp/
exec busybox switch_root -c /dev/console /new/all /bin/sh /tmp/command
END
    cat >"$run/command" <<END
mount -t tmpfs run /run
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
chmod 1777 /tmp /dev/shm
# The groups of a session, as systemd makes them, and nothing in the group of all.
mount -t cgroup2 cgroup2 /sys/fs/cgroup
cd /sys/fs/cgroup
mkdir -p user.slice/user-0.slice/session-1.scope
for folder in . user.slice user.slice/user-0.slice; do
    echo '+cpu +cpuset +memory +pids' >\$folder/cgroup.subtree_control
done
echo \$\$ >user.slice/user-0.slice/session-1.scope/cgroup.procs
export HOME='$HOME' PATH='$PATH' MEANWHILE_LONG='${MEANWHILE_LONG:-}'
cd '$PWD'
$(cat "$run/words") </dev/null
# The machine ends with what is written to its port.
printf "\\\\\$(printf %o \$?)" | dd of=/dev/port bs=1 seek=244 status=none
echo 'the machine did not end' && echo o >/proc/sysrq-trigger && sleep 10
END
    chmod +x "$run/init"
    (cd "$run" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$run.gz"
}

[ $# -gt 0 ] || refuse "which command?"
for program in qemu-system-x86_64 busybox; do
    command -v $program >/dev/null || refuse "$program is missing: apt-get install qemu-system-x86 busybox-static"
done
cd "$(dirname "$0")/.."
: "${KERNEL:=linux-image-amd64}"
cache=$PWD/target/cgroup2
kernel=$cache/$KERNEL
mkdir -p "$cache"
unpack_kernel
has_9p || refuse "$KERNEL cannot see files of this machine: it has no 9p, as those for clouds"
run=$(mktemp -d "$cache/run.XXXXXX")
trap 'rm -rf "$run" "$run.gz"' EXIT
make_first_files "$@"
# Emulated, not by KVM: slower, and the same everywhere.
status=0
qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 -nodefaults -no-reboot \
    -display none -serial stdio \
    -kernel "$kernel"/boot/vmlinuz-* -initrd "$run.gz" -append 'console=ttyS0 quiet panic=-1' \
    -fsdev local,id=files,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=files,mount_tag=files \
    -device isa-debug-exit,iobase=0xf4,iosize=1 </dev/null || status=$?
# What the port was given, doubled and one more.
[ $((status % 2)) = 1 ] || refuse "the machine ended before its command"
exit $((status / 2))
