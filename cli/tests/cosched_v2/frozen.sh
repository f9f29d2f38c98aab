# --turns frozen freezes by cgroup.freeze, and says so.
group session
daemon_in session --turns frozen
submit a 9000
submit b 100
submit c 100
is status_has '"freezer":"cgroup v2 freezer"'
is cosched status --prometheus
is grep -q 'freezer="cgroup v2 freezer"' "$scratch/answer"
soon frozen a
soon not frozen a
soon frozen b
stop
for name in a b c; do
    is not frozen $name
    goes_on $name
done
is none_is_left
