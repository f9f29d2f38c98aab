#!/bin/sh
# Makes a Python wheel that carries a static program: `pip install` puts it where Python's programs are.
#
#   scripts/wheel.sh PROGRAM [ARCHITECTURE [FOLDER]]     as `uname -m` says it, into target/dist, if not given
set -eu

program=$1 architecture=${2:-$(uname -m)}
cd "$(dirname "$0")/.."
folder=${3:-target/dist}
python=python3
$python -c 'import wheel' 2>/dev/null || python=/usr/bin/python3
$python -c 'import wheel' 2>/dev/null || { echo "wheel: python3-wheel is missing; apt-get install python3-wheel" >&2; exit 2; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

inside=$root/meanwhile-$version
install -D -m 755 "$program" "$inside/meanwhile-$version.data/scripts/meanwhile"
install -D -m 644 LICENSE-MIT "$inside/meanwhile-$version.dist-info/LICENSE-MIT"
install -D -m 644 LICENSE-APACHE "$inside/meanwhile-$version.dist-info/LICENSE-APACHE"
cat >"$inside/meanwhile-$version.dist-info/METADATA" <<METADATA
Metadata-Version: 2.1
Name: meanwhile
Version: $version
Summary: Finds where a program waits and fills the wait with other work
License: MIT OR Apache-2.0
Description-Content-Type: text/markdown

One program, five systems: \`meanwhile demo audit\` (or \`cipher\`, \`cosched\`) shows one on an input that
it holds, \`meanwhile doctor\` says what each needs on this machine, \`meanwhile --help\` lists the commands.
METADATA
# A program without a C library fits every Linux of its processor.
cat >"$inside/meanwhile-$version.dist-info/WHEEL" <<WHEEL
Wheel-Version: 1.0
Generator: meanwhile
Root-Is-Purelib: false
Tag: py3-none-manylinux_2_17_$architecture
Tag: py3-none-musllinux_1_1_$architecture
WHEEL
mkdir -p "$folder"
$python -m wheel pack --dest-dir "$folder" "$inside" >"$root/said" || { cat "$root/said" >&2; exit 2; }
made=$(echo "$folder/meanwhile-$version-py3-none-"*"_$architecture.whl")
echo "$made: $(du -k "$made" | cut -f 1) KB"
