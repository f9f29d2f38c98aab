#!/bin/sh
# Makes target/deb/meanwhile_VERSION_ARCH.deb of a built program, with manual pages, completions and the daemon's unit.
#
#   scripts/deb.sh [PROGRAM [COMPRESSION]]     target/release/meanwhile and what dpkg-deb does by itself if not given
set -eu

case "${1:-/}" in
/*) ;;
*) set -- "$PWD/$1" ${2:+"$2"} ;;
esac
cd "$(dirname "$0")/.."
program=${1:-${CARGO_TARGET_DIR:-target}/release/meanwhile}
[ -x "$program" ] || { echo "deb: there is no program $program; \`make build\` makes it" >&2; exit 1; }
for tool in dpkg-deb dpkg-shlibdeps strip gzip; do
    command -v "$tool" >/dev/null || { echo "deb: $tool is missing; apt-get install dpkg-dev binutils gzip" >&2; exit 2; }
done
version=$("$program" --version | cut -d ' ' -f 2)
architecture=$(dpkg --print-architecture)
root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf "$root"' EXIT

install -D -m 755 "$program" "$root/usr/bin/meanwhile"
strip "$root/usr/bin/meanwhile"
mkdir -p "$root/usr/share/man"
"$program" man "$root/usr/share/man/man1" >/dev/null
gzip -9n "$root"/usr/share/man/man1/*.1
for it in bash:bash-completion/completions/meanwhile zsh:zsh/vendor-completions/_meanwhile fish:fish/vendor_completions.d/meanwhile.fish; do
    mkdir -p "$(dirname "$root/usr/share/${it#*:}")"
    "$program" completions "${it%%:*}" >"$root/usr/share/${it#*:}"
done
sed 's|/usr/local/bin/|/usr/bin/|' packaging/systemd/meanwhile-cosched.service >"$root/unit"
install -D -m 644 "$root/unit" "$root/usr/lib/systemd/system/meanwhile-cosched.service"
rm "$root/unit"
install -D -m 644 packaging/systemd/meanwhile.sysusers "$root/usr/lib/sysusers.d/meanwhile.conf"
# The documentation as it is here, with the examples that it names. What it says of a checkout is of no use in a package, and
# links into the rest of the source become their words.
documents="$root/usr/share/doc/meanwhile"
mkdir -p "$documents"
cp -r docs examples ./*.md LICENSE-MIT LICENSE-APACHE "$documents"
# (-z: a link's words may go on in the next line)
find "$documents" -name '*.md' -exec sed -z -E -i \
    -e 's#target/release/meanwhile#meanwhile#g' -e 's# after `make build`##g' \
    -e 's#\[([^]]*)\]\((\.\./)+(experiments|systems|packaging|fuzz|scripts|cli)/[^)]*\)#\1#g' \
    -e 's#\[([^]]*)\]\((experiments|systems|packaging|fuzz|scripts|cli)/[^)]*\)#\1#g' {} +
sed -i '/^## Start$/,/^Below, /c\
## Start\
\
Copy the examples to a folder of your own, in which the commands below run as they stand:\
`cp -r /usr/share/doc/meanwhile/examples .` ; `meanwhile doctor` lists what each system needs.' "$documents/README.md"
install -m 644 packaging/grafana/cosched.json "$documents/grafana-cosched.json"
chmod -R u=rwX,go=rX "$documents"
cat LICENSE-MIT LICENSE-APACHE >"$documents/copyright"

# What the program itself is linked with; the tools that each system runs are only suggested: `meanwhile doctor` names them.
mkdir "$root/debian"
: >"$root/debian/control"
depends=$(cd "$root" && dpkg-shlibdeps -O usr/bin/meanwhile 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
rm -r "$root/debian"
for script in postinst prerm; do
    install -D -m 755 "packaging/debian/$script" "$root/DEBIAN/$script"
done
cat >"$root/DEBIAN/control" <<CONTROL
Package: meanwhile
Version: $version
Architecture: $architecture
Maintainer: the authors of meanwhile <meanwhile@localhost>
Section: devel
Priority: optional
Installed-Size: $(du -ks "$root/usr" | cut -f 1)
Depends: $depends
Suggests: gcc, clang-19, llvm-19, libopenmpi-dev, qemu-system-sparc, gcc-sparc64-linux-gnu, valgrind
Description: finds where a program waits and fills the wait with other work
 A compiler from Usuba to sliced constant-time C, an auditor of fast paths on
 processors that issue in order, an LLVM plugin that makes blocking MPI calls
 overlap with work, a manager that shares the memory bus, and threads that
 share register windows on SPARC.
CONTROL
mkdir -p target/deb
made="target/deb/meanwhile_${version}_$architecture.deb"
dpkg-deb ${2:+"-Z$2"} --build --root-owner-group "$root" "$made" >/dev/null
echo "$made: $(du -k "$made" | cut -f 1) KB"
