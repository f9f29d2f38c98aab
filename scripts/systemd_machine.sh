#!/bin/sh
# Runs a command, as root, on a machine that systemd has booted, with control groups of version 2
# alone and the package of `scripts/deb.sh`: a virtual one of Debian's packages. The folder FILES is
# /files there; nothing of this machine is changed; its exit status is the command's.
#
#   scripts/systemd_machine.sh FILES sh /files/words.sh /files/unit.sh
#
# PACKAGES are Debian's, by name; they are unpacked once, in target/systemd-machine.
set -eu

refuse() {
    printf 'systemd_machine: %s\n' "$@" >&2
    exit 2
}

# The disk, the kernel, and the modules that find the disk.
make_machine() {
    [ ! -f "$machine/disk" ] || return 0
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
    # The kernel is unpacked, not installed: nothing of the first files that it would make is needed.
    # shellcheck disable=SC2016
    mmdebstrap --mode=root --variant=minbase --include="$(echo $PACKAGES | tr ' ' ,)" \
        --aptopt='Apt::Install-Recommends "false"' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' \
        --customize-hook='chroot "$1" sh -ec "
            cd /root
            name=\$(apt-cache depends linux-image-amd64 | sed -n \"s/^ *Depends: \(linux-image-.*\)/\1/p\")
            apt-get download \$name
            dpkg-deb --extract linux-image-*.deb kernel
            mv kernel/lib/modules /usr/lib/modules
            mv kernel/boot/vmlinuz-* /boot/
            rm -r linux-image-*.deb kernel
            depmod \$(ls /lib/modules)
            passwd -d root
            useradd --create-home --shell /bin/bash ann
            for unit in podman.socket podman-auto-update.timer getty@tty1 serial-getty@ttyS0 \
                apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer; do
                systemctl mask \$unit
            done"' \
        "$RELEASE" "$root" >"$cache/said" 2>&1 || refuse "mmdebstrap:" "$(tail -n 5 "$cache/said")"
    rm -rf "$machine" && mkdir -p "$machine/modules"
    cp "$root"/boot/vmlinuz-* "$machine/kernel"
    n=10
    # Each after those that it needs.
    for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk \
        crc16 crc32c_generic libcrc32c mbcache jbd2 ext4 netfs fscache 9pnet 9pnet_virtio 9p; do
        find "$root/lib/modules" -name "$module.ko*" -exec cp {} "$machine/modules/$n-$module.ko" \;
        n=$((n + 1))
    done
    truncate -s 2G "$machine/disk.part"
    mke2fs -q -t ext4 -O ^has_journal -E root_owner=0:0 -d "$root" "$machine/disk.part"
    rm -rf "$root"
    mv "$machine/disk.part" "$machine/disk"
}

# What is on the machine beside its disk: this command as the last unit of its boot.
make_first_files() {
    mkdir -p "$run/bin" "$run/proc" "$run/sys" "$run/dev" "$run/new"
    cp "$(command -v busybox)" "$run/bin/busybox"
    cp -r "$machine/modules" "$run/modules"
    for word; do
        printf "'%s' " "$(printf '%s' "$word" | sed "s/'/'\\\\''/g")"
    done >"$run/words"
    cat >"$run/init" <<'END'
#!/bin/busybox sh
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
for module in /modules/*; do busybox insmod "$module"; done
busybox mount -t ext4 /dev/vda /new
busybox mkdir -p /new/files
busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 files /new/files
busybox mount -t tmpfs -o mode=755 run /new/run
busybox mkdir -p /new/run/systemd/system/multi-user.target.wants
busybox cp /machine.service /new/run/systemd/system/
busybox ln -s ../machine.service /new/run/systemd/system/multi-user.target.wants/
busybox cp /command /new/run/command
for folder in proc sys dev; do busybox mount --move "/$folder" "/new/$folder"; done
exec busybox switch_root -c /dev/console /new /lib/systemd/systemd
END
    cat >"$run/machine.service" <<'END'
[Unit]
After=systemd-logind.service dbus.service systemd-user-sessions.service
[Service]
Type=oneshot
ExecStart=/bin/sh /run/command
StandardOutput=file:/dev/ttyS0
StandardError=inherit
Environment=HOME=/root
TimeoutStartSec=infinity
END
    cat >"$run/command" <<END
echo 'the machine is up'
cd /files
dpkg -i /files/meanwhile.deb >/run/dpkg 2>&1 || cat /run/dpkg
$(cat "$run/words") </dev/null
# The machine ends with what is written to its port.
printf "\\\\\$(printf %o \$?)" | dd of=/dev/port bs=1 seek=244 status=none
END
    chmod +x "$run/init"
    (cd "$run" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$run.gz"
}

trap 'exit 130' INT
trap 'exit 143' TERM HUP
[ $# -gt 1 ] || refuse "which files, and which command?"
for program in qemu-system-x86_64 busybox mmdebstrap mke2fs; do
    command -v $program >/dev/null || refuse "$program is missing: apt-get install qemu-system-x86 busybox-static mmdebstrap e2fsprogs"
done
[ "$(id -u)" = 0 ] || refuse "only root can unpack a machine"
files=$(realpath "$1")
shift
cd "$(dirname "$0")/.."
: "${RELEASE:=bookworm}"
: "${PACKAGES:=systemd systemd-sysv dbus dbus-user-session libpam-systemd udev kmod procps podman crun busybox-static}"
cache=$PWD/target/systemd-machine
# Another list is another machine.
machine=$cache/$RELEASE-$(echo "$PACKAGES" | cksum | cut -d ' ' -f 1)
mkdir -p "$cache"
make_machine
run=$(mktemp -d "$cache/run.XXXXXX")
trap 'rm -rf "$run" "$run.gz" "$run.said"' EXIT
make_first_files "$@"
# Emulated, not by KVM: slower, and the same everywhere. Beside other work its timer may come too
# late for the kernel, which then does not boot.
for _ in 1 2 3; do
    status=0
    qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 -nodefaults -no-reboot \
        -display none -chardev stdio,id=said,logfile="$run.said" -serial chardev:said \
        -kernel "$machine/kernel" -initrd "$run.gz" \
        -append 'console=ttyS0 quiet panic=-1 systemd.show_status=0 systemd.log_target=kmsg' \
        -drive file="$machine/disk",format=raw,if=virtio,snapshot=on \
        -fsdev local,id=files,path="$files",security_model=none,readonly=on \
        -device virtio-9p-pci,fsdev=files,mount_tag=files \
        -device isa-debug-exit,iobase=0xf4,iosize=1 </dev/null || status=$?
    # What the port was given, doubled and one more; before the machine was up it is qemu's own.
    if grep -q 'the machine is up' "$run.said" && [ $((status % 2)) = 1 ]; then
        exit $((status / 2))
    fi
    ! grep -q 'the machine is up' "$run.said" || break
done
refuse "the machine ended before its command"
