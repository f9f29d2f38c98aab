# An ordinary user's daemon as a service of their own manager: it gives turns to their services, and
# not to those of others.
uid=$(id -u ann)
as="setpriv --reuid=ann --regid=ann --init-groups env XDG_RUNTIME_DIR=/run/user/$uid HOME=$(getent passwd ann | cut -d: -f6)"
is loginctl enable-linger ann
soon test -S /run/user/$uid/bus
burn a 10
roots=$(group a)
# From here on all is done by ann.
cosched() { $as meanwhile cosched "$@" >$answer 2>&1; }
group() { $as systemctl --user show -P ControlGroup "$1"; }
daemon_of_ann() {
    is $as systemd-run --user -q --unit turns -p KillMode=process meanwhile cosched daemon --no-restart \
        --policy rr --source told --capacity 8000
    soon cosched status
}
daemon_of_ann
for name in x y z; do is $as systemd-run --user -q --unit $name -p CPUWeight=9 sh -c "$loop"; done
refused 'belongs to user 0' submit --cgroup "$roots"
refused 'belongs to user 0' submit --pid "$(systemctl show -P MainPID a)"
take x 9000
take y 100
take z 100
soon idle x
soon idle y
goes_on x
goes_on y

# All of it killed at one moment: what waits does so until restore, and runs on what others leave.
is $as systemctl --user kill -s KILL turns
soon not cosched status
is cosched restore
for name in x y z; do is is_back $name 9; done
is none_is_left

# Ended with its user's session.
is $as systemctl --user reset-failed
daemon_of_ann
take x 9000
take y 100
take z 100
soon idle x
is $as systemctl --user stop turns
for name in x y z; do is is_back $name 9; done
is none_is_left

# In a scope that is left to ann, groups of ours are frozen; in any other, nothing is left either.
for how in Delegate=yes Delegate=no; do
    $as systemd-run --user -q --scope -p $how meanwhile cosched run --turns frozen --policy rr -- sh -c 'sleep 1' ::: sh -c 'sleep 1' \
        >$answer 2>&1 || fail "not run: $how"
    is none_is_left
done
is loginctl disable-linger ann
systemctl stop a
