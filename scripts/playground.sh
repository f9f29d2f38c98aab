#!/bin/sh
# Makes the page of the playground: one file, with the module in it, that needs no server and no network.
#
#   scripts/playground.sh PAGE [PROFILE]     as cargo's profile `playground`, unless another is named
set -eu

page=$1
profile=${2:-playground}
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
    echo "playground: Rust has no $target here; get it with: rustup target add $target" >&2
    exit 2
fi
cargo build --quiet --package playground --target $target --profile "$profile"
folder=$profile
[ "$folder" != dev ] || folder=debug
module=${CARGO_TARGET_DIR:-target}/$target/$folder/playground.wasm
mkdir -p "$(dirname "$page")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gzip -9 -n -c "$module" | base64 -w 0 >"$scratch/module"
awk -v module="$scratch/module" -v script=playground/page.js '
    /@MODULE@/ { split($0, part, "@MODULE@"); getline text <module; print part[1] text part[2]; next }
    /@SCRIPT@/ { split($0, part, "@SCRIPT@"); while ((getline line <script) > 0) print line; print part[2]; next }
    { print }' playground/page.html >"$page"
echo "playground: $page, $(wc -c <"$page") bytes; the module has $(wc -c <"$module"), $(gzip -9 -n -c "$module" | wc -c) compressed"
