# The package's unit: services take turns by it, and whatever happens to it, they have what they had.
is systemctl --quiet is-active dbus
managed
is says 'listening on /run/meanwhile/cosched.sock'
burn a 43
burn b 10
burn c 11
each_is_taken() {
    take a 9000
    take b 100
    take c 100
    soon idle a
    soon idle b
    goes_on a
    goes_on b
    goes_on c
}
all_are_back() {
    soon is_back a 43
    soon is_back b 10
    soon is_back c 11
}
each_is_taken

# Its owner gives one another weight, whether it waits or not.
for weight in 20 21 22 23 24 25 26 27; do systemctl set-property --runtime a.service CPUWeight=$weight; done
systemctl set-property --runtime a.service CPUWeight=43
goes_on b
is systemctl stop $unit
all_are_back
is none_is_left

# Killed, alone and with all of its group: a new one is there, which knows of nothing.
for whom in main all; do
    is systemctl start $unit
    soon cosched status
    each_is_taken
    old=$(daemon)
    is systemctl kill --kill-who=$whom -s KILL $unit
    soon is_new "$old"
    all_are_back
    is systemctl stop $unit
    is none_is_left
done

# Stopped, it goes on.
is systemctl start $unit
soon cosched status
each_is_taken
is systemctl kill -s STOP $unit
goes_on a
goes_on b
soon idle b
soon not idle b

# Frozen, nobody waits, and nothing was forgotten when it is thawed.
is systemctl freeze $unit
all_are_back
systemctl set-property --runtime a.service CPUWeight=37
is cosched restore
is is_back a 37
is systemctl thaw $unit
soon idle b
soon idle a
old=$(daemon)
is systemctl restart $unit
soon is_new "$old"
is is_back a 37
is is_back b 10
each_is_taken
is systemctl stop $unit
is none_is_left
