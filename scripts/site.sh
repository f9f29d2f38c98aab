#!/bin/sh
# Makes the playground in target/site, and beside it the site of docs/ where mdBook is installed.
set -eu

cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] && command -v rustup >/dev/null; then
    echo "site: rustup adds the missing target $target"
    rustup target add $target
fi
page=target/site/playground/index.html
scripts/playground.sh "$page"
if ! command -v mdbook >/dev/null; then
    echo "site: mdbook is missing, so the playground stands alone; \`make docs\` installs it"
    exit
fi
scripts/docs.sh
cp -R target/book/. target/site
# Each leads to the other.
sed -i 's|see the documentation|see <a href="../explain/audit.html">the documentation</a>|' "$page"
sed -i 's|<code>playground/index.html</code>|<a href="../playground/index.html">the playground</a>|' target/site/guide/playground.html
echo "site: target/site/index.html"
