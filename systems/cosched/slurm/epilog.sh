#!/bin/sh
# Written by `meanwhile cosched slurm`.
#
# An Epilog for Slurm: what the node's daemon has seen a job move is added to its AdminComment in the accounts, as
# `meanwhile: NODE N megabytes/s`. What is not known adds nothing, and what an administrator has written there stays: sacctmgr makes
# all letters small (22.05), so nothing is added to a comment with others.
# A job never fails for it, and no node is drained: it always says that all is well.
own=$(echo "meanwhile: $SLURMD_NODENAME" | tr A-Z a-z)
socket=$(echo '@SOCKET@' | sed "s/%n/$SLURMD_NODENAME/g")
moved=$(timeout 5 '@MEANWHILE@' cosched status --socket "$socket" --job "$SLURM_JOB_ID" 2>/dev/null)
[ -n "$moved" ] || exit 0
moved="${moved% MB/s} megabytes/s"
# The controller changes no job that has ended, and tells the accounts of its end a moment later, with the comment that it knows.
told() { timeout 5 sacct -n -X -P -j "$SLURM_JOB_ID" -o "$1" 2>/dev/null; }
tries=0
while end=$(told End) && { [ -z "$end" ] || [ "$end" = Unknown ]; } && [ $tries -lt 5 ]; do
    tries=$((tries + 1))
    sleep 1
done
before=$(told AdminComment) || exit 0
case $before in
*[A-Z]*) exit 0 ;;
"") after="$own $moved" ;;
# The job was requeued: only our own part is another one now.
*"$own "*) after=$(echo "$before" | sed "s|$own [0-9]* megabytes/s|$own $moved|") ;;
*) after="$before; $own $moved" ;;
esac
timeout 10 sacctmgr -i modify job where JobID="$SLURM_JOB_ID" set AdminComment="$after" >/dev/null 2>&1
exit 0
