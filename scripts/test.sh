#!/bin/sh
# Runs all tests; those that this CPU or kernel cannot run add a line to $MEANWHILE_SKIPS,
# and the lines are shown at the end, with the slowest tests.
#
#   scripts/test.sh            everything
#   scripts/test.sh SYSTEM     audit, cipher, cosched, overlap or regwin: its crate, and its commands
set -u

cd "$(dirname "$0")/.."
MEANWHILE_SKIPS=$(mktemp)
export MEANWHILE_SKIPS
log=$(mktemp)
trap 'rm -f "$MEANWHILE_SKIPS" "$log"' EXIT
host=$(rustc -vV | sed -n 's/^host: //p')

system=${1:-}
if [ -z "$system" ]; then
    echo "all tests: about 15 minutes on 2 cores, 10 of them after the first build; \`make test-audit\` and so on test one system"
    tests="--workspace"
else
    [ -d "systems/$system" ] || { echo "test: there is no system $system; there are $(ls systems | tr '\n' ' ')" >&2; exit 1; }
    tests="--workspace --lib --bins" # the whole workspace, so that nothing is built anew with other features
    for path in "systems/$system"/tests/*.rs "cli/tests/$system"*.rs; do
        [ -f "$path" ] && tests="$tests --test $(basename "$path" .rs)"
    done
fi

start=$(date +%s)
# shellcheck disable=SC2086 # a list of options
{ cargo test --config "target.$host.runner=['sh', '$PWD/scripts/timed.sh']" $tests --no-fail-fast 2>&1 || touch "$log.failed"; } | tee "$log"
status=0
[ ! -e "$log.failed" ] || status=1
rm -f "$log.failed"

if [ -z "$system" ] || [ "$system" = cipher ]; then
    echo
    echo "published vectors through emitted C: every primitive, slicing, target and compiler"
    # The program that the tests have run: `cargo run` would link one more, with other features.
    "${CARGO_TARGET_DIR:-target}"/debug/meanwhile cipher test --all || status=1
fi

echo
echo "the 20 slowest tests, in seconds; all took $((($(date +%s) - start) / 60)) min $((($(date +%s) - start) % 60)) s:"
awk '/^ +Running /{ program = $2 == "unittests" ? $3 : $2 }
     /^test .* <[0-9.]+s>$/ { print substr($NF, 2, length($NF) - 3), program, $2 }' "$log" | sort -rn | head -20 | sed 's/^/  /'

echo
if [ -s "$MEANWHILE_SKIPS" ]; then
    echo "skipped, because this CPU or kernel lacks it:"
    sort -u "$MEANWHILE_SKIPS" | sed 's/^/  /'
else
    echo "nothing skipped"
fi
exit $status
