#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Random graphs give what the oracle says, and the same run, where contexts are SimGrid's
# actors and transfers SimGrid's as where only transfers are. Prints TAP.
# usage: test-same.sh TEST_RANDOM
set -u
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
export ORRERY_SIM_NETWORK=simgrid
status=0

for contexts in fibers actors; do
    ORRERY_SIM_CONTEXTS=$contexts "$1" --graphs 100 --keep-going --digests \
        >"$out/$contexts" 2>"$out/$contexts.err" || {
        status=1
        head -20 "$out/$contexts.err" >&2
    }
done
if [ $status = 0 ]; then
    echo "ok 1 - graphs give what the oracle says"
else
    echo "not ok 1 - graphs give what the oracle says"
fi
digests() # CONTEXTS
{
    grep '^# machine' "$out/$1"
}
if [ -n "$(digests fibers)" ] && [ "$(digests fibers)" = "$(digests actors)" ]; then
    echo "ok 2 - actors run as fibers do"
else
    echo "not ok 2 - actors run as fibers do"
    status=1
fi
echo "1..2"
exit $status
