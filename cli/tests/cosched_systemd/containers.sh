# Containers of podman, by crun and systemd's groups, are paused, changed, started again and killed
# while they are managed.
managed
# podman itself goes on beside them.
is systemctl set-property --runtime machine.slice CPUWeight=10
mkdir -p /tmp/files/bin /tmp/files/proc /tmp/files/dev
cp "$(command -v busybox)" /tmp/files/bin/
ln -sf busybox /tmp/files/bin/sh
for name in p q r; do
    podman run -d --name $name --network none --cpu-shares 128 --rootfs /tmp/files /bin/sh -c "$loop" >$answer 2>&1 ||
        fail 'no container'
    podman inspect -f '{{.State.CgroupPath}}' $name >/run/group-$name
done
# In place of the units of services; asking podman each time takes seconds here.
group() { cat "/run/group-$1"; }
weight=$(cat "$all$(group p)/cpu.weight")
take p 9000
take q 100
take r 100
soon idle q
soon idle p
is status_has '"container_id":"[0-9a-f]\{64\}"'

is podman pause p
soon status_has '"is_suspended":true'
soon is_back p "$weight"
is podman unpause p
soon status_has '"is_suspended":false'
soon idle p
goes_on q

is podman update --cpu-shares 512 q
is podman restart -t 0 p
soon status_has '"ended":\[{"id":1'
is is_back p "$weight"
take p 9000
soon idle p

old=$(daemon)
is systemctl kill -s KILL $unit
soon is_new "$old"
is is_back p "$weight"
is is_back r "$weight"
is not is_back q "$weight"
is not idle q
take r 100
is podman kill r
soon status_has '"ended":\[{"id":1'
podman rm -f -t 0 p q r >/dev/null 2>&1
is systemctl stop $unit
is none_is_left
