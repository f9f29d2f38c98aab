#!/bin/sh
# Does what README tells a newcomer, on a fresh Debian: makes a root with debootstrap, clones the last commit into it, and runs
# `make report` and `make test` there. Removes the root at the end; of a command that fails it keeps what that printed.
#
#   scripts/newcomer.sh [--user] [--only SYSTEM] [SUITE]
#
#   --user         as a common user with sudo, not as root
#   --only SYSTEM  `make report ONLY=SYSTEM` alone
#   SUITE          a release of Debian, bookworm if not given
#   MIRROR         in the environment: where packages come from, if not from debootstrap's own
#
# Needs root, debootstrap, 20 GB below TMPDIR, and this machine's Rust, which stands for what rustup installs.
set -eu

user=root only="" suite=bookworm
while [ $# -gt 0 ]; do
    case "$1" in
    --user) user=newcomer ;;
    --only)
        [ $# -gt 1 ] || { echo "newcomer: --only wants a system" >&2; exit 1; }
        shift
        only=$1
        ;;
    -*) echo "newcomer: there is no option $1" >&2; exit 1 ;;
    *) suite=$1 ;;
    esac
    shift
done
[ "$(id -u)" = 0 ] || { echo "newcomer: debootstrap and chroot need root" >&2; exit 1; }
for tool in debootstrap chroot unshare git rustc; do
    command -v "$tool" >/dev/null || { echo "newcomer: $tool is missing" >&2; exit 2; }
done
cd "$(dirname "$0")/.."
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/newcomer.XXXXXX")
# What is mounted in the root is so in a name space of its own, which ends with the shell in it.
trap 'rm -rf --one-file-system "$folder"' EXIT
trap 'exit 130' INT TERM HUP
root=$folder/root

step() {
    name=$1
    shift
    begun=$(date +%s)
    if "$@" >"$folder/log" 2>&1; then
        printf 'newcomer: %-24s %5d s\n' "$name" "$(($(date +%s) - begun))"
    else
        code=$?
        tail -n 40 "$folder/log" >&2
        mv "$folder/log" "$folder.log"
        echo "newcomer: $name failed with $code, on $suite as $user; its last lines are above, all of it is in $folder.log" >&2
        exit 1
    fi
}

# The words are for debootstrap.
# shellcheck disable=SC2086
step debootstrap debootstrap --variant=minbase --include=git,make,sudo,ca-certificates "$suite" "$root" ${MIRROR:-}
cp /etc/resolv.conf "$root/etc/resolv.conf"
# What Debian's installer writes, and debootstrap does not: without it chromedriver does not find its browser at localhost.
printf '127.0.0.1\tlocalhost\n::1\t\tlocalhost ip6-localhost ip6-loopback\n' >"$root/etc/hosts"
# Whom this machine trusts, as behind a proxy of a company's.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
if [ "$user" != root ]; then
    chroot "$root" useradd --create-home --shell /bin/bash "$user"
    echo "$user ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/$user"
fi
home=$(chroot "$root" getent passwd "$user" | cut -d : -f 6)
cp -a "$(rustc --print sysroot)" "$root/opt/rust"
git clone --quiet --no-hardlinks . "$root$home/meanwhile"
chroot "$root" chown -R "$user:" "$home"

# In a name space where only this root's /proc, /sys and /dev are mounted.
inside() {
    unshare --mount --pid --fork sh -ec '
        mount -t proc proc "$1/proc"
        mount --rbind /sys "$1/sys"
        mount --rbind /dev "$1/dev"
        # Not exec: the shell is process 1 there, and asks for what nobody else does when it has ended.
        chroot "$1" su --login --shell /bin/sh --command "cd meanwhile && PATH=/opt/rust/bin:\$PATH $3" "$2"
    ' sh "$root" "$user" "$1"
}

step "make report${only:+ ONLY=$only}" inside "make report${only:+ ONLY=$only}"
[ -s "$root$home/meanwhile/report/index.html" ] || { echo "newcomer: make report left no page" >&2; exit 1; }
[ -z "$only" ] || exit 0
step "make test" inside "make test"
sed -n "/^skipped,/,\$p; /^nothing skipped/p" "$folder/log"
