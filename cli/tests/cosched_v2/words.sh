# The words of the scenarios beside this file: a daemon, programs that compute, control groups of
# version 2, and what is so of them. `sh words.sh MEANWHILE SCENARIO` runs one.
#
# A program is called by a name; `$groups` is a folder of groups of this scenario's own, which have
# all controllers that there are.
set -eu
meanwhile=$1 scenario=$2
all=/sys/fs/cgroup
groups=$all/$(basename "$scenario" .sh)
scratch=$(mktemp -d)
export XDG_RUNTIME_DIR="$scratch/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"
mkdir -m 1777 "$scratch/pids"
chmod 755 "$scratch"
daemon=
as=

fail() {
    printf '%s: %s\n' "$(basename "$scenario")" "$*"
    sed 's/^/    the daemon: /' "$scratch/said" 2>/dev/null || true
    exit 1
}

# WORDS hold now, or within a time that only a hang takes.
is() { "$@" || fail "not so: $*"; }
soon() {
    limit=$(($(date +%s) + 200))
    until "$@"; do
        [ "$(date +%s)" -lt $limit ] || fail "not soon so: $*"
        sleep 0.1
    done
}
not() { ! "$@"; }

# Groups: made; with these controllers for those inside; left to somebody.
group() { mkdir -p "$groups/$1"; }
hands_on() { echo "$2" >"$groups/$1/cgroup.subtree_control"; }
set_file() { echo "$2" >"$groups/$1"; }
reads() { [ "$(cat "$groups/$1")" = "$2" ]; }

# WORDS become this process, in a group, by the user $me if there is one.
become_in() {
    place=$groups/$1
    shift
    exec sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$place" $as "$@"
}
# From here on all is done by this user, whose a group is.
by_user() {
    as="setpriv --reuid=$1 --regid=$1 --clear-groups"
    chown "$1" "$XDG_RUNTIME_DIR"
}
left_to() { chown "$1" "$groups/$2" "$groups/$2/cgroup.procs" "$groups/$2/cgroup.subtree_control"; }
# As systemd marks a group of `Delegate=`.
delegated() { python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.delegate", b"1")' "$groups/$1"; }

# A daemon in a group, with these options; turns are cut if `a` says that it moves 9000.
daemon_in() {
    where=$1
    shift
    become_in "$where" "$meanwhile" cosched daemon --no-restart --policy rr --source told --capacity 8000 "$@" \
        >"$scratch/said" 2>&1 &
    daemon=$!
    soon cosched status
}
cosched() { $as "$meanwhile" cosched "$@" >"$scratch/answer" 2>&1; }
stop() { is cosched stop && wait "$daemon" && daemon=; }
warned() { grep -q "$1" "$scratch/said"; }
status_has() { cosched status --json && grep -q "$1" "$scratch/answer"; }
refused() {
    text=$1
    shift
    if cosched "$@"; then fail "not refused: $*"; fi
    grep -q "$text" "$scratch/answer" || fail "$* says: $(cat "$scratch/answer")"
}

# Programs that compute: the daemon starts one that says what it moves; one runs in a group.
loop='echo $$ >"$0"; while :; do :; done'
submit() { is cosched submit --mbps "$2" sh -c "$loop" "$scratch/pids/$1" && soon test -s "$scratch/pids/$1"; }
burn_in() {
    become_in "$2" sh -c "$loop" "$scratch/pids/$1" &
    soon test -s "$scratch/pids/$1"
}
pid() { cat "$scratch/pids/$1"; }
group_of() { sed -n 's/^0:://p' "/proc/$(pid "$1")/cgroup"; }
in_its_group() { [ "$(group_of "$1")" = "${groups#"$all"}/$2" ]; }
with_us() { [ "$(group_of "$1")" = "$(sed -n 's/^0:://p' /proc/$$/cgroup)" ]; }
idle() { [ "$(cat "$all$(group_of "$1")/cpu.idle")" = 1 ]; }
in_the_idle_class() { chrt -p "$(pid "$1")" | grep -q SCHED_IDLE; }
frozen() { grep -q 'frozen 1' "$all$(group_of "$1")/cgroup.events"; }
runs() { [ "$(cut -d ' ' -f 14 "/proc/$(pid "$1")/stat")" -gt "${before:-0}" ]; }
goes_on() {
    before=$(cut -d ' ' -f 14 "/proc/$(pid "$1")/stat")
    soon runs "$1"
}
none_is_left() { ! find $all -name 'meanwhile-*' | grep -q .; }

# The daemon and its supervisors, all at one moment: frozen first, none of them acts before its end.
kill_all() {
    group ours
    all_of_them="$daemon $(pgrep -f "cosched supervise .* $daemon( |\$)")"
    for one in $all_of_them; do echo "$one" >"$groups/ours/cgroup.procs"; done
    set_file ours/cgroup.freeze 1
    soon grep -q 'frozen 1' "$groups/ours/cgroup.events"
    kill -KILL $all_of_them
    wait "$daemon" || daemon=
    set_file ours/cgroup.freeze 0
}

end() {
    status=$?
    [ -z "$daemon" ] || kill -KILL "$daemon" 2>/dev/null || true
    for file in "$scratch"/pids/*; do
        [ ! -f "$file" ] || kill -KILL "$(cat "$file")" 2>/dev/null || true
    done
    exit $status
}
trap end EXIT
mkdir -p "$groups"
tr ' ' '\n' <"$groups/cgroup.controllers" | sed 's/^/+/' >"$scratch/controllers"
while read -r controller; do echo "$controller" >"$groups/cgroup.subtree_control"; done <"$scratch/controllers"
. "$scenario"
echo "$(basename "$scenario"): as it says"
