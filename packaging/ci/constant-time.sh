#!/bin/sh
# For pre-commit: checks each Usuba program that it is given for branches and addresses that depend
# on secrets (`meanwhile cipher check --constant-time`), with one compiler and flag, since a commit
# does not wait for all of them. CC and OPT name others, MEANWHILE the program.
set -eu
worst=0
for file in "$@"; do
    "${MEANWHILE:-meanwhile}" cipher check "$file" --constant-time --cc "${CC:-gcc}" --opt "${OPT:--O3}" || worst=$?
done
exit "$worst"
