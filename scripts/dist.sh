#!/bin/sh
# Makes target/dist: for each processor an archive with the program, its manual pages and completions, and a Python wheel. The
# program is static: it needs no C library, and runs on any Linux of its processor. As root, that of this machine's processor is
# tried in a root that has nothing but it, /proc and /dev.
#
#   scripts/dist.sh [TARGET...]     x86_64-unknown-linux-musl and aarch64-unknown-linux-musl if not given
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- x86_64-unknown-linux-musl aarch64-unknown-linux-musl
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
export CARGO_PROFILE_RELEASE_STRIP=symbols
# Comes with Rust, and links for every processor.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld
root=$(mktemp -d)
trap 'rm -rf --one-file-system "$root"' EXIT

tried_bare() {
    bare=$root/bare
    mkdir -p "$bare/bin" "$bare/tmp" "$bare/proc" "$bare/dev"
    cp "$1" "$bare/bin/meanwhile"
    # What is mounted there goes with its name space.
    for system in audit cipher cosched; do
        unshare --mount sh -c "mount -t proc proc '$bare/proc' && mount --rbind /dev '$bare/dev' && exec chroot '$bare' /bin/meanwhile demo $system" >"$root/said" 2>&1 || {
            cat "$root/said" >&2
            echo "dist: \`meanwhile demo $system\` fails in a root without anything else" >&2
            exit 2
        }
    done
    rm -r "$bare"
    echo "dist: demo audit, cipher and cosched work in a root with nothing else"
}

for target; do
    if ! rustup target list --installed | grep -qx "$target" && ! rustup target add "$target"; then
        echo "dist: rustup has no $target; nothing is made for it" >&2
        continue
    fi
    cargo build --release --package meanwhile --target "$target"
    program=${CARGO_TARGET_DIR:-target}/$target/release/meanwhile
    if readelf -lW "$program" | grep -q INTERP; then
        echo "dist: $program is not static" >&2
        exit 2
    fi
    architecture=${target%%-*}
    if [ "$architecture" != "$(uname -m)" ] || [ "$(id -u)" != 0 ]; then
        echo "dist: $program was not tried alone: that needs root and its processor"
    else
        tried_bare "$program"
    fi
    inside=$root/meanwhile-$version-$architecture-linux
    install -D -m 755 "$program" "$inside/meanwhile"
    install -m 644 LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$inside"
    # What this machine's own program writes is what the other would.
    writer=$program
    "$writer" --version >/dev/null 2>&1 || writer=target/x86_64-unknown-linux-musl/release/meanwhile
    "$writer" man "$inside/man/man1" >/dev/null
    mkdir "$inside/completions"
    for shell in bash zsh fish; do
        "$writer" completions $shell >"$inside/completions/meanwhile.$shell"
    done
    mkdir -p target/dist
    made=target/dist/meanwhile-$version-$architecture-linux.tar.gz
    tar -C "$root" --owner=0 --group=0 --numeric-owner --sort=name --mtime=@0 -cf - "$(basename "$inside")" | gzip -9n >"$made"
    echo "$made: $(du -k "$made" | cut -f 1) KB"
    scripts/wheel.sh "$program" "$architecture"
done
