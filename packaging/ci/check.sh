#!/bin/sh
# Judges the functions of budgets (`meanwhile audit check`) before and after a change, and prints a
# table of both in Markdown, for a summary or a comment.
#
#   check.sh [-b REF] [-s PERCENT] [-j FOLDER] BUDGET...
#
#   -b REF      the commit before the change, or the branch that it is for: where they parted
#               counts [HEAD~1]
#   -s PERCENT  more than this is slower [2]
#   -j FOLDER   receives junit-N.xml and check-N.sarif, N the number of the budget
#
# Exit status: 0 no function exceeds its budget or became slower, 1 one did, 3 one could not be
# judged now or, if it is not new, before, 2 something else went wrong. Needs git and jq. MEANWHILE
# names the program.
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
jq -ne --arg slower "$slower" '$slower | tonumber >= 0' >/dev/null 2>&1 ||
    refuse "-s takes a number, and '$slower' is none"
root=$(git rev-parse --show-toplevel 2>/dev/null) || refuse "this is no folder of a git repository"
commit=$(git rev-parse --verify --quiet "$base^{commit}") ||
    refuse "there is no commit '$base' here; a shallow clone has the last one alone (fetch-depth: 0)"
parted=$(git merge-base "$commit" HEAD) || refuse "'$base' and HEAD have no commit in common"

# Paths of the budgets from the root: the same in both trees.
list=
for budget in "$@"; do
    [ -f "$budget" ] || refuse "there is no file $budget"
    folder=$(cd "$(dirname -- "$budget")" && pwd -P)
    case $folder/ in
    "$root"/*) ;;
    *) refuse "$budget is outside of the repository, and so not a part of what changed" ;;
    esac
    path=${folder#"$root"}
    path=${path#/}
    list="$list${path:+$path/}$(basename -- "$budget")
"
done
if [ -n "$reports" ]; then
    mkdir -p -- "$reports"
    reports=$(cd -- "$reports" && pwd)
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
# All files of the commit, as no `git archive` gives them that has its attributes.
(cd "$root" && export GIT_INDEX_FILE="$scratch/index" && git read-tree "$parted" &&
    git checkout-index --all --prefix="$scratch/before/")

# The verdicts of one budget in one tree, as JSON. Exit codes 1 and 3 are verdicts too.
judge() {
    tree=$1
    path=$2
    shift 2
    code=0
    (cd "$tree" && "$program" audit check --budget "./$path" --json "$@") || code=$?
    case $code in 0 | 1 | 3) ;; *) return 2 ;; esac
}

number=0
printf '%s' "$list" >"$scratch/list"
while IFS= read -r path; do
    number=$((number + 1))
    set --
    [ -z "$reports" ] || set -- --junit "$reports/junit-$number.xml" --sarif "$reports/check-$number.sarif"
    judge "$root" "$path" "$@" >"$scratch/after.json" || refuse "$path could not be judged"
    jq -e .functions "$scratch/after.json" >/dev/null ||
        refuse "$path: $(jq -r '.errors[0].message // "no verdicts"' "$scratch/after.json")"
    # The same budget in the tree before, so the same rows in the same order.
    mkdir -p "$scratch/before/$(dirname "$path")"
    cp "$root/$path" "$scratch/before/$path"
    judge "$scratch/before" "$path" >"$scratch/before.json" || echo '{}' >"$scratch/before.json"
    jq -r --slurpfile old "$scratch/before.json" --arg slower "$slower" --arg budget "$path" \
        --arg tree "$scratch/before/" '
        def shown: if . == null then "-" else tostring end;
        ($old[0].functions // []) as $old
        | [.functions | to_entries[] | .key as $key | .value
          | $old[$key].cycles as $before
          | ($old[$key].not_judged // (if $before == null then "nothing is known of it" else null end)
             | if . then gsub($tree; "") else null end) as $unknown
          | ($unknown != null and ($unknown | test("^there is no file|has no function"))) as $is_new
          | (if $before == null or .cycles == null or $before == 0 then null
             else 100 * (.cycles - $before) / $before end) as $change
          | {name: .function, cpu, before: $before, after: .cycles, allowed, why: .not_judged,
             unknown: (if .not_judged == null then $unknown else null end),
             change: (if $change == null then "-"
                      else (if $change > 0 then "+" else "" end) + ($change * 10 | round / 10 | tostring) + " %" end),
             verdict: (if .not_judged != null then "not judged"
                       elif .kept == false then "over its budget"
                       elif $change != null and $change > ($slower | tonumber) then "slower"
                       elif $is_new then "new"
                       elif $unknown != null then "not judged before"
                       else "" end)}]
        | "### Cycles of the hot path, \($budget)\n",
          "| function | core | before | after | change | allowed | |",
          "|---|---|--:|--:|--:|--:|---|",
          (.[] | "| `\(.name)` | \(.cpu // "-") | \(.before | shown) | \(.after | shown) | \(.change) | \(.allowed | shown) | \(.verdict) |"),
          "",
          (.[] | select(.why != null) | "`\(.name)` was not judged: \(.why)\n"),
          (.[] | select(.unknown != null) | "`\(.name)` before: \(.unknown)\n"),
          "Cycles are of the model of each core, not measured. `-`: not known.\n"
    ' "$scratch/after.json" | tee -a "$scratch/all.md"
done <"$scratch/list"
# What could not be judged counts before what became slower.
if grep -qE '\| not judged( before)? \|$' "$scratch/all.md"; then exit 3; fi
if grep -qE '\| (slower|over its budget) \|$' "$scratch/all.md"; then exit 1; fi
