#!/bin/sh
# Runs all tests, as many files of tests at once as there are processors, each with one test at a time: `cargo test` runs one program
# after the other, and a processor waits at the end of each. Tests that this CPU or kernel cannot run add a line to $MEANWHILE_SKIPS, and
# the lines are shown at the end, with the slowest tests.
#
#   scripts/test.sh            everything
#   scripts/test.sh SYSTEM     audit, cipher, cosched, overlap or regwin: its crate, and its commands
set -u

cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
documented=
trap 'rm -rf "$scratch"; [ -z "$documented" ] || kill "$documented"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
MEANWHILE_SKIPS=$scratch/skips
export MEANWHILE_SKIPS
: >"$MEANWHILE_SKIPS"

system=${1:-}
if [ -z "$system" ]; then
    echo "all tests: about 45 minutes on 2 cores, half an hour after the first run; \`make test-audit\` and so on test one system"
    tests="--workspace"
else
    [ -d "systems/$system" ] || { echo "test: there is no system $system; there are $(ls systems | tr '\n' ' ')" >&2; exit 1; }
    # The whole workspace, so that nothing is built anew with other features.
    tests="--workspace --lib --bins --test $system --test cli --test lab"
fi

start=$(date +%s)
status=0
# shellcheck disable=SC2086 # a list of options
cargo test --no-run --message-format=json-render-diagnostics $tests >"$scratch/built" || exit 1
# Of each program its package's folder, its source, and itself.
tab=$(printf '\t')
sed -n 's/.*"manifest_path":"\([^"]*\)\/Cargo.toml".*"src_path":"\([^"]*\)".*"profile":{[^}]*"test":true}.*"executable":"\([^"]*\)".*/\1\t\2\t\3/p' \
    "$scratch/built" | sort -t "$tab" -k 2 >"$scratch/programs"
[ -s "$scratch/programs" ] || { echo "test: cargo named no test program" >&2; exit 1; }
# A program of tests/ runs once for each of its files, which are its modules; unit tests come last: they are short, and fill the end.
while IFS=$tab read -r folder source program; do
    case $source in
    */tests/main.rs)
        for module in $("$program" --list --format terse | sed -n 's/^\([a-z0-9_]*\)::.*: test$/\1/p' | uniq); do
            case $folder/$module in
            */cli/"$system"* | */lab/"$system"* | */systems/*) printf '%s\t%s\t%s\t%s\n' "$folder" "${source%main.rs}$module.rs" "$program" "$module" ;;
            esac
        done
        ;;
    *) printf '%s\t%s\t%s\t\n' "$folder" "$source" "$program" >>"$scratch/units" ;;
    esac
done <"$scratch/programs" >"$scratch/files"
# Examples in comments beside them, since rustdoc makes one program after the other.
if [ -z "$system" ]; then
    cargo test --quiet --workspace --doc >"$scratch/documented" 2>&1 &
    documented=$!
fi
cat "$scratch/files" "$scratch/units" |
    xargs -d '\n' -n 1 -P "$(nproc)" scripts/timed.sh "$scratch" | tee "$scratch/log"
[ ! -s "$scratch/failed" ] || status=1
if [ -n "$documented" ]; then
    wait "$documented" || status=1
    documented=
    cat "$scratch/documented"
fi

if [ -z "$system" ] || [ "$system" = cipher ]; then
    echo
    echo "published vectors through emitted C: every primitive, slicing, target and compiler"
    # The program that the tests have run: `cargo run` would link one more, with other features.
    "${CARGO_TARGET_DIR:-target}"/debug/meanwhile cipher test || status=1
fi

echo
echo "the 20 slowest tests, in seconds; all took $((($(date +%s) - start) / 60)) min $((($(date +%s) - start) % 60)) s:"
awk '/^ +Running /{ program = $2 }
     /^test .* <[0-9.]+s>$/ { print substr($NF, 2, length($NF) - 3), program, $2 }' "$scratch/log" | sort -rn | head -20 | sed 's/^/  /'

echo
if [ -s "$MEANWHILE_SKIPS" ]; then
    echo "skipped, because this CPU or kernel lacks it:"
    sort -u "$MEANWHILE_SKIPS" | sed 's/^/  /'
else
    echo "nothing skipped"
fi
if [ -s "$scratch/failed" ]; then
    echo
    echo "failed:"
    sort "$scratch/failed" | sed 's/^/  /'
fi
exit $status
