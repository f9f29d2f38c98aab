# --at-most limits by cpu.max, and gives back what was there.
group slice
hands_on slice '+cpu'
for name in a b; do
    group slice/$name
    burn_in $name slice/$name
done
set_file slice/a/cpu.max '150000 100000'
group daemon
daemon_in daemon --at-most 8000
is cosched submit --mbps 9000 --cgroup "$groups/slice/a"
is cosched submit --mbps 2000 --cgroup "$groups/slice/b"
soon reads slice/a/cpu.max '13333 20000'
is reads slice/b/cpu.max 'max 100000'
kill -KILL $daemon
soon reads slice/a/cpu.max '150000 100000'
wait $daemon || daemon=
