# Where it is not, as in a session or a unit of an older systemd, no group of ours has the cpu
# controller. Programs wait by the policy of their threads, as all are in the daemon's own
# scheduling group.
group session
daemon_in session
submit a 9000
submit b 100
submit c 100
soon in_the_idle_class a
soon not in_the_idle_class a
soon in_the_idle_class b
goes_on b
soon status_has '"is_cutting":true'
stop
for name in a b c; do
    is not in_the_idle_class $name
    goes_on $name
done
is none_is_left
