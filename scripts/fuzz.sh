#!/bin/sh
# Runs each fuzz target for the given number of seconds; installs cargo-fuzz if it is missing.
set -eu

seconds=${1:-600}
cd "$(dirname "$0")/.."
if ! command -v rustup >/dev/null || ! rustup run nightly rustc --version >/dev/null 2>&1; then
    echo "fuzz: a nightly compiler is needed; get it with: rustup toolchain install nightly" >&2
    exit 2
fi
if ! command -v cargo-fuzz >/dev/null; then
    echo "fuzz: cargo-fuzz is missing and will be installed from crates.io"
    cargo install --locked cargo-fuzz
fi
for target in $(cargo +nightly fuzz list); do
    echo "fuzz: $target for $seconds s"
    cargo +nightly fuzz run -s none "$target" -- -max_total_time="$seconds"
done
