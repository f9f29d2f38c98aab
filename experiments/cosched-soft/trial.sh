#!/bin/bash
# Each mix plain and managed, in turn: mean seconds of its programs, or a heartbeat's gaps in ms.
#     M=meanwhile PAIRS=5 OPTIONS="--policy rr ..." bash trial.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
M=${M:-meanwhile} PAIRS=${PAIRS:-5} OPTIONS=${OPTIONS:-}
scratch=$(mktemp -d)
cc -O2 -o "$scratch/mixes" "$here/mixes.c"
mixes=$scratch/mixes
pids=()
trap 'kill "${pids[@]}" 2> /dev/null || true; rm -rf "$scratch"' EXIT

mean() { awk '$1 == "took" {sum += $2; n++} END {printf "%.3f", sum / n}'; }

# N, then the words of one program.
plain() {
    local n=$1 own=()
    shift
    for ((i = 0; i < n; i++)); do setsid -w "$mixes" "$@" > "$scratch/plain-$i" & own+=($!); done
    wait "${own[@]}"
    cat "$scratch"/plain-* | mean
    rm "$scratch"/plain-*
}

managed() {
    local n=$1 words=()
    shift
    for ((i = 0; i < n; i++)); do words+=("$mixes" "$@" :::); done
    unset 'words[-1]'
    "$M" cosched run $OPTIONS -- "${words[@]}" 2>&1 | mean
}

pairs() {
    for ((pair = 0; pair < PAIRS; pair++)); do
        a=$(plain "$@") b=$(managed "$@")
        echo "$a $b" | awk -v mix="$*" '{printf "%s: plain %s managed %s ratio %.3f\n", mix, $1, $2, $2 / $1}'
    done
}

# Programs that only burn, until they are killed.
burners() { for ((i = 0; i < $1; i++)); do setsid "$mixes" work 900000 > /dev/null & pids+=($!); done; }
douse() { kill "${pids[@]}"; wait "${pids[@]}" 2> /dev/null || true; pids=(); }

for mix in "12 duty 1.5 8.5 200" "8 duty 2 8 200" "4 duty 4 6 200" "4 work 1500"; do pairs $mix; done
echo "beside two burners that are not managed:"
burners 2
pairs 4 work 1000
douse
echo "a heartbeat beside 15 burners: median, 99th percentile, most:"
for ((pair = 0; pair < PAIRS; pair++)); do
    burners 15
    echo "plain $(setsid -w "$mixes" beat 50 100)"
    douse
    words=("$mixes" beat 50 100)
    for ((i = 0; i < 15; i++)); do words+=(::: timeout 7 "$mixes" work 900000); done
    echo "managed $("$M" cosched run $OPTIONS -- "${words[@]}" 2>&1 | grep beat | head -1)"
done
