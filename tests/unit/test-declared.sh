#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tests/unit/test-declared.sh - every function that a public header declares is
# exported by the library: what is missing must show when compiling.
#
# Usage: test-declared.sh GCC INCLUDE-DIRECTORY LIBRARY
# Prints TAP. Exit status: 0 if all are there. GCC must be gcc, since only it
# lists declarations (-aux-info); another compiler skips the test.

if [ $# -ne 3 ]; then
    echo "usage: $0 GCC INCLUDE-DIRECTORY LIBRARY" >&2
    exit 2
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

printf '#include <orrery.h>\n#include <orrery_drawing.h>\n#include <starpu.h>\n#include <starpu_cublasLt.h>\n#include <starpu_cusolver.h>\n#include <starpu_heteroprio.h>\n#include <starpu_scheduler_toolbox.h>\n' >"$scratch/all.c"
if ! $1 -std=gnu11 -I"$2" -aux-info "$scratch/list" -c "$scratch/all.c" \
    -o "$scratch/all.o" || [ ! -s "$scratch/list" ]; then
    echo "1..0 # SKIP $1 cannot list declarations"
    exit 0
fi
sed -n 's/^.* extern [^(]*[ *]\(_*\(starpu\|orrery\)_[a-z0-9_A-Z]*\) (.*$/\1/p' \
    "$scratch/list" | sort -u >"$scratch/declared"
# What shared objects of scheduling policies define (STARPU_SCHED_LIB).
sed -i '/^starpu_get_sched_lib_polic/d' "$scratch/declared"
nm -D --defined-only "$3" | sed 's/^.* //; s/@.*//' | sort -u \
    >"$scratch/defined"
comm -23 "$scratch/declared" "$scratch/defined" >"$scratch/missing"

echo "1..1"
if [ -s "$scratch/missing" ]; then
    echo "not ok 1 - all declared functions are exported"
    sed 's/^/# missing: /' "$scratch/missing"
    exit 1
fi
echo "ok 1 - all $(wc -l <"$scratch/declared") declared functions are exported"
