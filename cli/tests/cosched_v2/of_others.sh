# Control groups of others wait by cpu.idle of their own, wherever the daemon is, and get back what
# they had.
group slice
hands_on slice '+cpu +memory +pids'
for name in a b c; do
    group slice/$name
    burn_in $name slice/$name
done
group daemon
set_file slice/a/cpu.weight 437
daemon_in daemon
is cosched submit --mbps 9000 --cgroup "$groups/slice/a"
is cosched submit --mbps 100 --cgroup "$groups/slice/b"
is cosched submit --mbps 100 --cgroup "${groups#"$all"}/slice/c"
soon idle a
soon not idle a
soon idle b
goes_on b
stop
is reads slice/a/cpu.idle 0
is reads slice/a/cpu.weight 437
is reads slice/b/cpu.weight 100
is in_its_group a slice/a

# Its owner pauses one: it takes no turns, and nobody else thaws it.
daemon_in daemon
is cosched submit --mbps 9000 --cgroup "$groups/slice/a"
set_file slice/a/cgroup.freeze 1
soon status_has '"is_suspended":true'
is frozen a
set_file slice/a/cgroup.freeze 0
soon status_has '"is_suspended":false'
stop
