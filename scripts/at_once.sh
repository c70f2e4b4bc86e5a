#!/bin/sh
# Runs a program beside a command, and shows the output of the one that fails.
# Usage: at_once.sh LOG PROGRAM LOG COMMAND
sh -c "exec $2" >"$1" 2>&1 &
beside=$!
# Shells let what runs in the background ignore Ctrl-C.
trap 'kill $beside; exit 130' INT TERM

sh -c "$4" >"$3" 2>&1
status=$?
[ $status = 0 ] || cat "$3"
wait $beside && exit $status
cat "$1"
exit 1
