#!/bin/sh
# Programs of known rates, one after the other under a daemon: MB/s by their own clock, and by
# `status` while they ran, with its interval of 90 %. M is the binary, RUNS how often.
set -eu
M=${M:-target/release/meanwhile}
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -O2 -o "$folder/reader" "$here/reader.c"
"$M" cosched daemon --source estimate --socket "$folder/sock" 2>"$folder/said" &
daemon=$!
sleep 2
last='import json, sys
for p in json.load(sys.stdin)["programs"]:
    of = p["mbps_interval"] or [None, None]
    print(*["-" if x is None else round(x) for x in (p["mbps"], *of)], (p["cannot_measure"] or "").replace(" ", "_"))'
for run in $(seq "${RUNS:-1}"); do
    for program in "640 300 r" "640 150 r" "1024 70 r" "1024 40 w" "1024 25 r" "1024 18 r" \
        "1024 12 w" "1024 9 r" "512 300 w" "512 70 r" "512 20 r" "2048 0 r"; do
        rm -f "$folder/own"
        # shellcheck disable=SC2086
        "$M" cosched submit --socket "$folder/sock" --output "$folder/own" "$folder/reader" \
            $program "${SECONDS_EACH:-20}" >/dev/null
        found=
        while [ ! -s "$folder/own" ]; do
            sleep 1
            now=$("$M" cosched status --socket "$folder/sock" --json | python3 -c "$last")
            [ -z "$now" ] || found=$now
        done
        echo "$program: $(cat "$folder/own") by its own clock, $found"
    done
done
"$M" cosched stop --socket "$folder/sock" >/dev/null
wait "$daemon"
