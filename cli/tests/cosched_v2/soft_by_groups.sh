# Where the group above the daemon's is left to it, as by systemd's DelegateSubgroup=, programs wait in
# groups of their own, by cpu.idle.
group unit/daemon
hands_on unit '+cpu +memory +pids'
delegated unit
daemon_in unit/daemon
submit a 9000
submit b 100
submit c 100
is status_has '"turns":"soft"'
soon idle a
soon not idle a
soon idle b
goes_on b
stop
for name in a b c; do
    is not in_the_idle_class $name
    is with_us $name
    goes_on $name
done
is none_is_left
