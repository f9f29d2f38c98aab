#!/bin/sh
# Installs what is missing: Debian packages (as root), parts of the Rust toolchain, crates.
# Says what it is going to do first. Does nothing, without network, when nothing is missing.
set -eu

# Debian packages by what needs them; the tests need all. ONLY=audit (or several, with commas) takes those of one system.
packages_shared="build-essential"
packages_audit="gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross llvm-19 clang-19 qemu-system-sparc qemu-user gcc-arm-linux-gnueabi g++-arm-linux-gnueabi libc6-dev-armel-cross gcc-arm-none-eabi libnewlib-arm-none-eabi gcc-riscv64-unknown-elf gcc-sparc64-linux-gnu"
packages_cipher="clang-19 libclang-rt-19-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user valgrind openssl libgcrypt20-dev pkg-config cmake python3-venv python3-pip python3-cffi python3-setuptools python3-wheel python3-dev"
packages_cosched="util-linux slurmctld slurmd slurm-client slurm-wlm-basic-plugins libslurm-dev python3-prometheus-client"
packages_overlap="clang-19 llvm-19 llvm-19-dev llvm-19-tools flang-19 lld-19 cmake ninja-build libopenmpi-dev openmpi-bin libmpich-dev mpich iproute2 libomp-19-dev gfortran"
packages_regwin="gcc-sparc64-linux-gnu clang-19 qemu-system-sparc pkg-config gdb-multiarch qemu-system-misc binutils-xtensa-lx106"
packages_tests="chromium chromium-driver ccache nodejs git jq"
# Those of `make test-long`, with LONG=1.
packages_long="gcc-i686-linux-gnu libc6-dev-i386-cross gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross gcc-powerpc64-linux-gnu libc6-dev-ppc64-cross gcc-powerpc-linux-gnu libc6-dev-powerpc-cross gcc-sparc64-linux-gnu libc6-dev-sparc64-cross gcc-mips64el-linux-gnuabi64 libc6-dev-mips64el-cross qemu-system-x86 busybox-static mmdebstrap slurmdbd mariadb-server"
# Taken where the system's release has them.
optional_overlap="clang-format-19 clang-22 llvm-22-dev llvm-22-tools lld-22 flang-22"
optional_regwin="clang-22 llvm-22"
# The same as programs, for systems without apt-get.
programs_shared="cc"
programs_audit="aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ clang-19 llvm-mc-19 llvm-mca-19 qemu-system-sparc arm-linux-gnueabi-gcc arm-linux-gnueabi-g++ arm-none-eabi-gcc riscv64-unknown-elf-gcc qemu-arm sparc64-linux-gnu-gcc"
programs_cipher="clang-19 aarch64-linux-gnu-gcc qemu-aarch64 s390x-linux-gnu-gcc qemu-s390x riscv64-linux-gnu-gcc qemu-riscv64 arm-linux-gnueabihf-gcc qemu-arm valgrind openssl libgcrypt-config pkg-config cmake python3"
programs_cosched="slurmd slurmctld srun"
programs_overlap="clang-19 flang-new-19 ld.lld-19 cmake ninja FileCheck-19 mpicc.openmpi mpirun.openmpi mpicc.mpich mpirun.mpich ip gfortran"
programs_regwin="sparc64-linux-gnu-gcc clang-19 qemu-system-sparc pkg-config gdb-multiarch qemu-system-xtensa xtensa-lx106-elf-ld"
programs_tests="chromium chromedriver node git jq"
rust_minor=95

refuse() {
    printf 'setup: %s\n' "$@" >&2
    exit 2
}

# Those of the optional packages that are missing and that the release has.
offered() {
    for package in $optional; do
        dpkg-query --show --showformat '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed && continue
        if apt-cache show --no-all-versions "$package" >/dev/null 2>&1; then
            printf ' %s' "$package"
        fi
    done
}

apt_install() {
    echo "setup: these Debian packages are missing and will be installed${root:+ with sudo}:$*"
    $root apt-get update &&
        $root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}

install_packages() {
    installed=$(dpkg-query --show --showformat '${Package} ${db:Status-Status}\n' $packages 2>/dev/null || true)
    missing=""
    for package in $packages; do
        printf '%s\n' "$installed" | grep -qx "$package installed" || missing="$missing $package"
    done
    root=""
    if [ "$(id -u)" != 0 ]; then
        root="sudo"
        if ! command -v sudo >/dev/null; then
            [ -z "$missing" ] ||
                refuse "these Debian packages are missing:$missing" \
                    "you are not root and there is no sudo; run as root: apt-get install --no-install-recommends$missing"
            return
        fi
    fi
    [ -z "$missing" ] || apt_install $missing
    missing=$(offered)
    [ -z "$missing" ] || apt_install $missing || echo "setup: goes on without$missing"
}

check_programs() {
    missing=""
    for program in $programs; do
        command -v "$program" >/dev/null || missing="$missing $program"
    done
    if [ -n "$missing" ]; then
        refuse "these programs are missing:$missing" \
            "this system has no apt-get; install them as your system does, Debian's packages are: $packages"
    fi
}

check_rust() {
    how="get it with rustup, see https://rustup.rs: \`rustup toolchain install stable\` if you have rustup"
    command -v rustc >/dev/null && command -v cargo >/dev/null ||
        refuse "there is no Rust here; 1.$rust_minor or newer is needed, and Debian's is too old" "$how"
    version=$(rustc --version | cut -d ' ' -f 2)
    minor=$(printf '%s' "$version" | cut -d . -f 2)
    [ "$minor" -ge "$rust_minor" ] ||
        refuse "$(command -v rustc) is Rust $version; 1.$rust_minor or newer is needed" "$how"
    for part in clippy fmt; do
        cargo "$part" --version >/dev/null 2>&1 && continue
        component=$part
        [ "$part" = fmt ] && component=rustfmt
        command -v rustup >/dev/null || refuse "\`cargo $part\` is missing" "$how"
        echo "setup: rustup adds the missing component $component"
        rustup component add "$component"
    done
}

# For the playground; its tests are named as skipped where rustup refuses.
add_wasm() {
    target=wasm32-unknown-unknown
    [ -n "$ONLY" ] || [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] && return
    command -v rustup >/dev/null || return 0
    echo "setup: rustup adds the missing target $target"
    rustup target add $target || echo "setup: goes on without $target"
}

fetch_crates() {
    # What the tests of packages are linked with.
    manifests="cli/tests/support/package/crates/Cargo.toml cli/tests/support/package/modes/Cargo.toml cli/tests/support/package/over/Cargo.toml"
    for manifest in $([ -n "$ONLY" ] || echo "$manifests"); do
        cargo fetch --quiet --locked --offline --manifest-path "$manifest" 2>/dev/null || cargo fetch --locked --manifest-path "$manifest"
    done
    host=$(rustc -vV | sed -n 's/^host: //p')
    cargo fetch --quiet --offline --target "$host" 2>/dev/null && return
    echo "setup: cargo fetches the crates named in Cargo.lock"
    cargo fetch --target "$host"
}

# What is wanted of each list, each name once.
wanted() {
    for part in shared ${ONLY:-audit cipher cosched overlap regwin tests} ${LONG:+long}; do
        eval "printf '%s\\n' \${$1_$part:-}"
    done | tr ' ' '\n' | awk 'NF && !seen[$0]++' | tr '\n' ' '
}

ONLY=$(printf '%s' "${ONLY:-}" | tr ',' ' ')
for part in $ONLY; do
    eval "[ -n \"\${packages_$part:-}\" ]" || refuse "there is no system $part; there are audit, cipher, cosched, overlap, regwin"
done
packages=$(wanted packages)
optional=$(wanted optional)
programs=$(wanted programs)

cd "$(dirname "$0")/.."
if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    install_packages
else
    check_programs
fi
check_rust
add_wasm
fetch_crates
echo "setup: nothing that is needed is missing"
