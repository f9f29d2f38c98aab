#!/bin/sh
# Runs all tests; those that this CPU or kernel cannot run add a line to $MEANWHILE_SKIPS,
# and the lines are shown at the end.
set -u

cd "$(dirname "$0")/.."
MEANWHILE_SKIPS=$(mktemp)
export MEANWHILE_SKIPS
trap 'rm -f "$MEANWHILE_SKIPS"' EXIT

cargo test --workspace --no-fail-fast
status=$?

echo
echo "published vectors through emitted C: every primitive, slicing, target and compiler"
# The program that the tests have run: `cargo run` would link one more, with other features.
"${CARGO_TARGET_DIR:-target}"/debug/meanwhile cipher test --all || status=1

echo
if [ -s "$MEANWHILE_SKIPS" ]; then
    echo "skipped, because this CPU or kernel lacks it:"
    sort -u "$MEANWHILE_SKIPS" | sed 's/^/  /'
else
    echo "nothing skipped"
fi
exit $status
