# The words of the scenarios beside this file: units of a machine under systemd, the daemon's unit
# as the package has it, and what is so of them. `sh words.sh SCENARIO` runs one, as root.
#
# A program is called by its unit's name; one that computes weighs little, so that the rest of the
# machine goes on beside it.
set -eu
scenario=$1
all=/sys/fs/cgroup
answer=/run/answer
unit=meanwhile-cosched.service
export XDG_RUNTIME_DIR=/run

fail() {
    printf '%s: %s\n' "$(basename "$scenario")" "$*"
    journalctl -u $unit --no-pager -o cat | tail -n 20 | sed 's/^/    the unit: /'
    sed 's/^/    the last answer: /' $answer
    cosched status || true
    sed 's/^/    the status: /' $answer
    exit 1
}

# WORDS hold now, or within a time that only a hang takes.
is() { "$@" || fail "not so: $*"; }
soon() {
    limit=$(($(date +%s) + 300))
    until "$@"; do
        [ "$(date +%s)" -lt $limit ] || fail "not soon so: $*"
        sleep 0.1
    done
}
not() { ! "$@"; }

cosched() { meanwhile cosched "$@" >$answer 2>&1; }
status_has() { cosched status --json && grep -q "$1" $answer; }
refused() {
    text=$1
    shift
    if cosched "$@"; then fail "not refused: $*"; fi
    grep -q "$text" $answer || fail "not refused with '$text': $*"
}

# The daemon's unit, which is told what programs move and what a link carries, so that it cuts turns.
managed() {
    mkdir -p /run/systemd/system/$unit.d
    command=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/$unit)
    printf '[Service]\nExecStart=\nExecStart=%s --policy rr --source told --capacity 8000\n' "$command" \
        >/run/systemd/system/$unit.d/cut.conf
    systemctl daemon-reload
    systemctl start $unit
    soon cosched status
}
daemon() { systemctl show -P MainPID $unit; }
is_new() { cosched status && [ "$(daemon)" != "$1" ] && [ "$(daemon)" != 0 ]; }
says() { journalctl -u $unit --no-pager -o cat | grep -q "$1"; }

# A service that computes, of this weight; its group, or that of a slice.
loop='while :; do :; done'
burn() { is systemd-run -q --unit "$1" -p CPUWeight="$2" ${3:+-p Slice="$3"} sh -c "$loop"; }
group() { systemctl show -P ControlGroup "$1"; }
take() { is cosched submit --mbps "$2" --cgroup "$(group "$1")"; }
idle() { [ "$(cat "$all$(group "$1")/cpu.idle")" = 1 ]; }
weighs() { [ "$(cat "$all$(group "$1")/cpu.weight")" = "$2" ]; }
# As its owner left it.
is_back() { not idle "$1" && weighs "$1" "$2"; }
runs() { [ "$(sed -n 's/^usage_usec //p' "$all$(group "$1")/cpu.stat")" -gt "$before" ]; }
goes_on() {
    before=$(sed -n 's/^usage_usec //p' "$all$(group "$1")/cpu.stat")
    soon runs "$1"
}
none_is_left() { ! find $all -name 'meanwhile-[0-9]*' | grep -q . && ! pgrep -f 'meanwhile cosched' >/dev/null; }

end() {
    status=$?
    systemctl stop $unit a b c 2>/dev/null || true
    systemctl reset-failed 2>/dev/null || true
    exit $status
}
trap end EXIT
: >$answer
. "$scenario"
echo "$(basename "$scenario"): as it says"
