#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Runs a program that has to end with a message and a status that is not 0, one TAP test.
# usage: refused.sh MESSAGE MPIRUN MPI N PROGRAM [ARG...]
message=$1
shift
out=$("$@" 2>&1)
status=$?
case $out in
*"# SKIP"*) printf '%s\n' "$out" && exit 0 ;;
esac
echo 1..1
case $status:$out in
0:*) echo "not ok 1 - it ends with status 0" ;;
*"$message"*) echo "ok 1 - $message" ;;
*) echo "not ok 1 - status $status and no \"$message\"" ;;
esac
printf '%s\n' "$out" | sed 's/^/# /'
