# What cannot wait or be taken in is named: a group without the cpu controller, one of threads, one
# inside which no group can be made.
group bare/a
hands_on . '-cpu'
burn_in a bare/a
group threads/a
set_file threads/a/cgroup.type threaded
burn_in t threads/a
group session
daemon_in session
is cosched submit --mbps 9000 --cgroup "$groups/bare/a"
is cosched submit --mbps 100 --cgroup "$groups/threads"
submit b 100
submit c 100
soon status_has '/bare/a has no cpu.idle of its own'
refused 'is managed already' submit --pid "$(pid t)"
is cosched stop --program 2
refused 'make a group inside its own' submit --pid "$(pid t)"
stop
