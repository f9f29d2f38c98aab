# Services that end, restart and are frozen while they are managed, and a slice.
managed
cat >/run/systemd/system/c.service <<END
[Service]
ExecStart=/bin/sh -c '$loop'
Restart=always
RestartSec=0.1
CPUWeight=12
END
systemctl daemon-reload
burn a 10
burn b 11
is systemctl start c
take a 9000
take b 100
take c 100
soon idle c

# Stopped or started again, the program has ended; what is there now is another one.
old=$(systemctl show -P MainPID c)
is systemctl kill -s KILL c
again() { [ "$(systemctl show -P MainPID c)" -gt 1 ] && [ "$(systemctl show -P MainPID c)" != "$old" ]; }
soon again
soon status_has '"ended":\[{"id":3'
is is_back c 12
take c 100
soon idle c
is systemctl stop c
soon not status_has '"id":4,"user".*"ended"'
is systemctl start c
take c 100
soon idle c

# Frozen by its owner: it takes no turns, and has its weight.
is systemctl freeze c
soon status_has '"is_suspended":true'
soon is_back c 12
is systemctl thaw c
soon status_has '"is_suspended":false'
soon idle c
is systemctl stop c
is systemctl stop $unit
is is_back a 10
is is_back b 11
is none_is_left
rm /run/systemd/system/c.service
is systemctl stop a b

# All of a slice is one program.
is systemctl start $unit
soon cosched status
for name in x y z; do
    burn $name 100 work-$name.slice
    is systemctl set-property --runtime work-$name.slice CPUWeight=9
    take work-$name.slice $([ $name = x ] && echo 9000 || echo 100)
done
refused 'inside' submit --cgroup "$(group x)"
soon idle work-x.slice
soon not idle work-x.slice
goes_on x
goes_on y
goes_on z
is systemctl stop $unit
for name in x y z; do is is_back work-$name.slice 9; done
is none_is_left
is systemctl stop x y z
