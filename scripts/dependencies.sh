#!/bin/sh
# Looks at other people's crates: none unused, none under a licence that the program may not carry, none twice but those that deny.toml
# names, none with a known hole; and writes a bill of materials, target/sbom/meanwhile.cdx.json. The tools come from crates.io.
set -eu

cd "$(dirname "$0")/.."
for tool in cargo-machete cargo-deny cargo-cyclonedx; do
    if ! command -v "$tool" >/dev/null; then
        echo "dependencies: $tool is missing and will be installed from crates.io"
        cargo install --locked "$tool"
    fi
done

cargo machete
cargo deny --log-level error check --hide-inclusion-graph bans licenses sources
# The list of holes is a git repository, not a package.
if cargo deny --log-level off fetch db; then
    cargo deny --log-level error check --hide-inclusion-graph advisories
else
    echo "dependencies: the list of known holes, https://github.com/rustsec/advisory-db, cannot be reached; it was not looked at"
fi

# In a copy, since the tool writes beside each Cargo.toml. The same sources give the same bill: no date, no random number, no folder.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R Cargo.toml Cargo.lock base systems cli "$copy"
cargo cyclonedx --quiet --manifest-path "$copy/cli/Cargo.toml" --format json --override-filename meanwhile
bill=target/sbom/meanwhile.cdx.json
mkdir -p target/sbom
sed -e '/"serialNumber":/d' -e '/"timestamp":/d' -e "s|file://$copy|file://.|g" "$copy/cli/meanwhile.json" >"$bill"
echo "dependencies: $bill: $(grep -c '"purl": "pkg:cargo/[^?]*",\{0,1\}$' "$bill") crates of others"
