#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Functions that name a lock (ORR_REQUIRES, core/base/lock.h) are called with it
# held, and locks are let go on every path: clang's thread-safety analysis of
# every file of core. Prints TAP; a skip without clang.
# usage: test-locks.sh SOURCE_ROOT
set -u
cd "$1" || exit 2
if ! command -v clang >/dev/null; then
    echo "1..0 # SKIP there is no clang"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# analyse FILE [WORD]: what clang says of its locks.
analyse()
{
    clang -std=gnu11 -D_GNU_SOURCE '-DORR_VERSION=""' '-DORR_DATADIR=""' \
        -I. -Iinclude -I"$folder" -fsyntax-only -Wno-everything \
        -Wthread-safety "$@" 2>&1
}

# What the build writes: the list of the kinds of devices.
mkdir -p "$folder/core/device"
: >"$folder/core/device/kinds.inc"

echo "1..2"
failed=0
# First that it would be noticed.
cat >"$folder/wrong.c" <<'EOF'
#include "core/base/lock.h"
struct thing { struct orr_lock lock; };
void change_locked(struct thing *thing) ORR_REQUIRES(thing->lock);
void change(struct thing *thing);
void change(struct thing *thing) { change_locked(thing); }
EOF
if analyse "$folder/wrong.c" | grep -q 'requires holding lock'; then
    echo "ok 1 - a call without the lock is noticed"
else
    echo "not ok 1 - a call without the lock is not noticed"
    failed=1
fi
# Only files that take a lock, or name a function that does or needs one, have something
# to say. Modules around other libraries know no lock of core, and their headers may be
# absent.
words=$(find core -name '*.h' -exec cat {} + | tr '\n' ' ' |
    grep -oE '[a-z_0-9]+\([^;{}]*\)[ ]*ORR_(REQUIRES|ACQUIRES|RELEASES|TRIES)\(' |
    sed 's/(.*//' | sort -u | paste -sd'|' -)
find core -name '*.c' ! -name '*_module.c' ! -path 'core/sched/python/*' |
    xargs grep -lwE "$words|ORR_REQUIRES" | sort >"$folder/together"
# As many as can be in one, so that headers are read once; those in which a name means something
# else than in one before are left for the next round.
: >"$folder/found"
while [ -s "$folder/together" ]; do
    : >"$folder/later"
    while :; do
        sed "s|.*|#include \"$PWD/&\"|" "$folder/together" >"$folder/all.c"
        analyse "$folder/all.c" -ferror-limit=0 >"$folder/said"
        grep ' error:' "$folder/said" | grep -oE "^$PWD/core/[^:]*\.c:" >"$folder/odd" ||
            grep ' error:' -B 9 "$folder/said" | grep -oE "from $PWD/core/[^:]*\.c:" >"$folder/odd" ||
            break
        sed "s|^from ||; s|^$PWD/||; s|:\$||" "$folder/odd" | sort -u >"$folder/odd.c"
        grep -vxFf "$folder/odd.c" "$folder/together" >"$folder/rest"
        [ -s "$folder/rest" ] || break # not because of the others
        cat "$folder/odd.c" >>"$folder/later"
        mv "$folder/rest" "$folder/together"
    done
    grep -E 'warning:|error:' "$folder/said" >>"$folder/found"
    mv "$folder/later" "$folder/together"
done
if [ -s "$folder/found" ]; then
    echo "not ok 2 - locks are held where functions ask for them"
    sed 's/^/# /' "$folder/found"
    failed=1
else
    echo "ok 2 - locks are held where functions ask for them"
fi
exit $failed
