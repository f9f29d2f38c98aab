# All of ours are killed at one moment: what waited stays where it was until restore.
group unit/daemon
hands_on unit '+cpu'
delegated unit
daemon_in unit/daemon
submit a 9000
submit b 100
submit c 100
soon idle b
kill_all
for name in a b c; do goes_on $name; done
is cosched restore
for name in a b c; do is not idle $name; done
is none_is_left

daemon_in unit/daemon --turns frozen
submit d 100
submit e 100
submit f 100
soon frozen d
kill_all
is cosched restore
for name in d e f; do goes_on $name; done
is none_is_left
