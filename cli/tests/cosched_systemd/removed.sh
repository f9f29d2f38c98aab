# The package is removed while services wait for their turns, and nothing of it is left.
managed
burn a 43
burn b 10
burn c 11
take a 9000
take b 100
take c 100
soon idle b
cp /usr/bin/meanwhile /run/kept
dpkg -r meanwhile >$answer 2>&1 || fail 'not removed'
for name in a b c; do goes_on $name; done
is is_back a 43
is is_back b 10
is is_back c 11
is none_is_left
is not test -e /usr/bin/meanwhile
is not systemctl --quiet is-active $unit
dpkg -i /files/meanwhile.deb >$answer 2>&1 || fail 'not installed'
