#!/bin/sh
# Makes target/vscode/meanwhile.vsix, an extension that `code --install-extension` takes, with npm's packages of today.
set -eu

cd "$(dirname "$0")/.."
command -v npm >/dev/null || { echo "vscode: npm is missing; apt-get install npm" >&2; exit 2; }
made=target/vscode/extension
rm -rf "$made"
mkdir -p "$made"
cp packaging/editors/vscode/* packaging/editors/usuba.tmLanguage.json LICENSE-MIT LICENSE-APACHE "$made"
cat LICENSE-MIT LICENSE-APACHE >"$made/LICENSE"
(cd "$made" && npm install --omit=dev --no-audit --no-fund --silent &&
    npm exec --yes --silent -- @vscode/vsce package --allow-missing-repository --out ../meanwhile.vsix)
