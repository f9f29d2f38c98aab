#!/bin/sh
# Runs the tests of one file for scripts/test.sh, and shows what they printed when they have ended, with how long each took.
#
#   scripts/timed.sh SCRATCH FOLDER<tab>SOURCE<tab>PROGRAM<tab>MODULE
#
# FOLDER is that of the program's package, where cargo runs it; without MODULE the whole program runs. One that fails adds its SOURCE to
# SCRATCH/failed.
set -u

scratch=$1
field() { printf '%s' "$line" | cut -f "$1"; }
line=$2
folder=$(field 1)
source=$(field 2)
program=$(field 3)
module=$(field 4)
source=${source#"$PWD/"}
log=$scratch/$(basename "$program")-$module
target=${CARGO_TARGET_DIR:-$PWD/target}
cd "$folder" || exit 1
# C that has not changed since the last run is not compiled again. Not with the plugin of overlap, which writes files of its own that a kept
# object would not bring back.
case $source in
*cipher* | *regwin* | cli/tests/docs.rs)
    PATH=/usr/lib/ccache:$PATH
    CCACHE_DIR=$target/ccache
    # Tests work in folders with names of their own each time.
    CCACHE_SLOPPINESS=file_macro,include_file_ctime,include_file_mtime
    CCACHE_NOHASHDIR=1
    CCACHE_BASEDIR=${TMPDIR:-/tmp}
    export PATH CCACHE_DIR CCACHE_SLOPPINESS CCACHE_NOHASHDIR CCACHE_BASEDIR
    ;;
esac
# By their whole names: a part would take those of modules whose names end alike.
tests=
[ -z "$module" ] || tests="--exact $("$program" --list --format terse | sed -n "s/^\($module::.*\): test$/\1/p")"
# libtest reports times for nightly toolchains only, or with this variable.
# shellcheck disable=SC2086 # a list of names
CARGO_MANIFEST_DIR=$folder RUST_TEST_THREADS=1 RUSTC_BOOTSTRAP=1 "$program" -Zunstable-options --report-time $tests >"$log" 2>&1 </dev/null ||
    echo "$source" >>"$scratch/failed"
exec flock "$scratch/shown" sh -c 'echo "     Running $1" && cat "$2"' sh "$source" "$log"
