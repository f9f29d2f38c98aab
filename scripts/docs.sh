#!/bin/sh
# Makes a site with search of docs/ in target/book, by mdBook, which is installed from crates.io if it is missing.
set -eu

cd "$(dirname "$0")/.."
if ! command -v mdbook >/dev/null; then
    echo "docs: mdbook is missing and will be installed from crates.io"
    cargo install --locked mdbook
fi
pages=target/book-pages
rm -rf "$pages"
mkdir -p "$pages/source"
cp -R docs/. "$pages"
# What pages link to outside of docs/ goes along.
grep -rhoE '\]\(\.\./\.\./[^)#]+' docs --include='*.md' | sed 's|^](\.\./\.\./||' | sort -u | while read -r linked; do
    mkdir -p "$pages/source/$(dirname "$linked")"
    cp -R "$linked" "$pages/source/$linked"
done
find "$pages" -name '*.md' -exec sed -i 's|](\.\./\.\./|](../source/|g' {} +
mdbook build "$pages" --dest-dir "$PWD/target/book"
echo "docs: target/book/index.html"
