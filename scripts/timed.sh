#!/bin/sh
# A test program, which says how long each test took. libtest has that for nightly toolchains only, or with this variable.
exec env RUSTC_BOOTSTRAP=1 "$@" -Zunstable-options --report-time
