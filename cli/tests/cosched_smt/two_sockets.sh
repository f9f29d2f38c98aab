# Two sockets, each a core of two threads. Programs take turns on all four processors; one that its
# owner keeps to a socket stays there; and all is given back.
in_each_once() {
    cosched status --json && python3 - "$scratch/answer" <<'END'
import json, sys
links = json.load(open(sys.argv[1]))["links"]
sys.exit(sorted(cpu for link in links for cpu in link) != [0, 1, 2, 3])
END
}
may_use() { [ "$(taskset -cp "$(pid "$1")" | sed 's/.*: //')" = "$2" ]; }
within() { case $(taskset -cp "$(pid "$1")" | sed 's/.*: //') in 2 | 3 | 2,3) ;; *) false ;; esac; }

is test "$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)" = 0-1
is test "$(cat /sys/devices/system/cpu/cpu2/topology/physical_package_id)" = 1
group unit/daemon
hands_on unit '+cpu +cpuset +memory +pids'
delegated unit
group other/kept
hands_on other '+cpu +cpuset'
set_file other/kept/cpuset.cpus 2-3
burn_in kept other/kept
daemon_in unit/daemon
is in_each_once
is cosched submit --mbps 100 --pid "$(pid kept)"
for name in a b c d e; do submit $name 9000; done
is status_has '"turns":"soft"'
soon idle a
soon not idle a
for name in a b c d e kept; do
    goes_on $name
done
is within kept
stop
for name in a b c d e; do
    is not in_the_idle_class $name
    is with_us $name
    soon may_use $name 0-3
    goes_on $name
done
is may_use kept 2,3
is reads other/kept/cpuset.cpus 2-3
is in_its_group kept other/kept
goes_on kept
is none_is_left
