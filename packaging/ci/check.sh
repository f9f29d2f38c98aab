#!/bin/sh
# Judges the functions of budgets (`meanwhile audit check`) before and after a change, and prints a
# table of both in Markdown, for a summary or a comment.
#
#   check.sh [-b REF] [-s PERCENT] [-j FOLDER] BUDGET...
#
#   -b REF      the commit before the change [HEAD~1]
#   -s PERCENT  more than this is slower [2]
#   -j FOLDER   receives junit-N.xml and check-N.sarif, N the number of the budget
#
# Exit status: 0 no function exceeds its budget or became slower, 1 one did, 3 one could not be
# judged, 2 something else went wrong. Needs git and jq. MEANWHILE names the program.
set -eu

base=HEAD~1
slower=2
reports=
while getopts b:s:j: option; do
    case $option in
    b) base=$OPTARG ;;
    s) slower=$OPTARG ;;
    j) reports=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
program=${MEANWHILE:-meanwhile}

refuse() {
    echo "check.sh: $1" >&2
    exit 2
}
[ $# -gt 0 ] || refuse "name a budget: check.sh [-b REF] [-s PERCENT] [-j FOLDER] BUDGET..."
for tool in git jq "$program"; do
    command -v "$tool" >/dev/null || refuse "there is no $tool here"
done
root=$(git rev-parse --show-toplevel 2>/dev/null) || refuse "this is no folder of a git repository"
prefix=$(git rev-parse --show-prefix)
git rev-parse --verify --quiet "$base^{commit}" >/dev/null ||
    refuse "there is no commit $base here; a shallow clone has the last one alone (fetch-depth: 0)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
mkdir "$scratch/before"
git -C "$root" archive "$base" | tar -x -C "$scratch/before"
[ -z "$reports" ] || mkdir -p "$reports"

# The verdicts of one budget in one tree, as JSON. Exit codes 1 and 3 are verdicts too.
judge() {
    tree=$1
    budget=$2
    shift 2
    code=0
    (cd "$tree" && "$program" audit check --budget "$budget" --json "$@") || code=$?
    case $code in 0 | 1 | 3) ;; *) return 2 ;; esac
}

worst=0
number=0
for budget in "$@"; do
    number=$((number + 1))
    [ -f "$budget" ] || refuse "there is no file $budget"
    set -- ${reports:+--junit "$(cd "$reports" && pwd)/junit-$number.xml" --sarif "$(cd "$reports" && pwd)/check-$number.sarif"}
    judge . "$budget" "$@" >"$scratch/after.json" || refuse "$budget could not be judged"
    jq -e .functions "$scratch/after.json" >/dev/null ||
        refuse "$budget: $(jq -r '.errors[0].message // "no verdicts"' "$scratch/after.json")"
    # The same functions in the tree before: what it does not have is `-`.
    mkdir -p "$scratch/before/$prefix$(dirname "$budget")"
    cp "$budget" "$scratch/before/$prefix$budget"
    judge "$scratch/before/$prefix" "$budget" >"$scratch/before.json" || echo '{}' >"$scratch/before.json"
    jq -r --slurpfile old "$scratch/before.json" --argjson slower "$slower" --arg budget "$budget" '
        def shown: if . == null then "-" else tostring end;
        [.functions[] | . as $it
          | ([$old[0].functions // [] | .[]
              | select(.function == $it.function and .file == $it.file and .cpu == $it.cpu)
              | .cycles][0]) as $before
          | (if $before == null or .cycles == null or $before == 0 then null
             else 100 * (.cycles - $before) / $before end) as $change
          | {name: .function, cpu, before: $before, after: .cycles, allowed, why: .not_judged,
             change: (if $change == null then "-"
                      else (if $change > 0 then "+" else "" end) + ($change * 10 | round / 10 | tostring) + " %" end),
             verdict: (if .not_judged != null then "not judged"
                       elif .kept == false then "over its budget"
                       elif $change != null and $change > $slower then "slower"
                       else "" end)}]
        | "### Cycles of the hot path, \($budget)\n",
          "| function | core | before | after | change | allowed | |",
          "|---|---|--:|--:|--:|--:|---|",
          (.[] | "| `\(.name)` | \(.cpu // "-") | \(.before | shown) | \(.after | shown) | \(.change) | \(.allowed | shown) | \(.verdict) |"),
          "",
          (.[] | select(.why != null) | "`\(.name)` was not judged: \(.why)\n"),
          "Cycles are of the model of each core, not measured. `-`: not known.\n"
    ' "$scratch/after.json" >"$scratch/table.md"
    cat "$scratch/table.md"
    grep -q '| not judged |$' "$scratch/table.md" && worst=$((worst | 2))
    grep -qE '\| (slower|over its budget) \|$' "$scratch/table.md" && worst=$((worst | 1))
done
# What could not be judged counts before what became slower.
case $worst in
0) exit 0 ;;
1) exit 1 ;;
*) exit 3 ;;
esac
