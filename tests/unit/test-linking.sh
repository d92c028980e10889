#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What each shared object makes the dynamic linker load, against the table of
# shared objects in ARCHITECTURE.md: a simulation must not pay for packed
# machines, nor a real run for simulations. Prints TAP.
# usage: test-linking.sh OBJECT...
set -u
n=0
failed=0
heavy='simgrid xml2 archive glpk lapack openblas python3'

# claim TEXT FOUND: fails if something was found.
claim() {
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
        failed=$((failed + 1))
    fi
}

# may_need OBJECT: which of the heavy libraries it may ask for itself.
may_need() {
    case $1 in
    liborrery.so*) ;;
    sim.so) echo simgrid expat ;;
    packed.so) echo archive ;;
    bound.so) echo glpk ;;
    python.so) echo python3 ;;
    esac
}

for object in "$@"; do
    name=$(basename "$object")
    # readelf says what the object names, ldd what these name in turn.
    needed=$(readelf -d "$object" | grep NEEDED) || needed='readelf: nothing'
    all=$(ldd "$object") || all='ldd failed'
    claim "$name can be looked into" "$(
        echo "$needed" | grep -q 'libc\.so' || echo "$needed"
        echo "$all" | grep -q 'libc\.so' || echo "$all"
    )"
    for library in $heavy; do
        case " $(may_need "$name") " in
        *" $library "*) continue ;;
        esac
        claim "$name does not need lib$library" "$(
            echo "$needed" | grep "\[lib$library[.-]"
            # Not ours to promise: libarchive and some hwlocs bring libxml2.
            [ "$library" = xml2 ] ||
                echo "$all" | grep "^[[:space:]]*lib$library[.-]"
        )"
    done
done
echo "1..$n"
[ "$failed" -eq 0 ]
