#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Who may include whom: reads the includes of every source against the list in
# ARCHITECTURE.md. Prints TAP. usage: test-layering.sh SOURCE_ROOT
set -u
cd "$1" || exit 2
n=0
failed=0

# check CLAIM LINES: fails if there are any.
check() {
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
        failed=$((failed + 1))
    fi
}

# includes FOLDER...: file:include of every source below the folders.
includes() {
    find "$@" -name '*.[ch]' -o -name '*.cpp' | sort | xargs -r grep -HE \
        '^[[:space:]]*#[[:space:]]*include' |
        sed -E 's/[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]([^">]*)[">].*/\1/'
}

foreign='(simgrid|libxml|glpk|lapack|cblas|hwloc|cuda|CL/|jansson|archive)'
check "core and perfmodel include no library of a device, a simulator or a solver" "$(
    includes core perfmodel | grep -E ":$foreign" |
    grep -vE '^core/device/cpu/[^:]*:hwloc'
)"
check "core/base includes base and the contexts' table only" "$(
    includes core/base | grep -E ':core/' |
    grep -vE ':core/(base/|device/exec\.h|worker/worker\.h)'
)"
check "perfmodel includes core/base only" "$(
    includes perfmodel | grep -E ':(core|sim|platforms|bound|tools)/' |
    grep -vE ':core/base/'
)"
check "platforms includes core/base only, and core's topology to discover" "$(
    includes platforms | grep -E ':(core|sim|perfmodel|bound|tools)/' |
    grep -vE ':core/base/|^platforms/discover\.c:core/device/cpu/topology\.h'
)"
check "hwloc is in platforms/discover.c only" "$(
    includes platforms | grep -E ':hwloc' | grep -v '^platforms/discover'
)"
check "libarchive is in platforms/tar.c only" "$(
    includes core perfmodel platforms sim bound tools |
    grep -E ':archive' | grep -v '^platforms/tar.c'
)"
check "sim includes the tables of core/device and core/base" "$(
    includes sim | grep -E ':(core|bound|tools|perfmodel)/' |
    grep -vE ':core/(base|device)/'
)"
check "SimGrid is in sim/simgrid_bridge.cpp only" "$(
    includes sim | grep -E ':(simgrid|xbt)' | grep -v '^sim/simgrid_bridge.cpp'
)"
check "GLPK is in bound/glpk*.c only" "$(
    includes bound | grep -E ':glpk' | grep -v '^bound/glpk[a-z_]*\.c:'
)"
check "LAPACK is called in perfmodel/lapack.c only" "$(
    grep -rnE '\<(dge[a-z]+|LAPACKE_[a-z]+)_? *\(' core perfmodel bound platforms \
        sim tools --include='*.[ch]' --include='*.cpp' |
    grep -v '^perfmodel/lapack.c'
)"
check "bound includes core/base only" "$(
    includes bound | grep -E ':(core|sim|perfmodel|platforms|tools)/' |
    grep -vE ':core/base/'
)"
check "the library includes no tool, example or test" "$(
    includes core perfmodel platforms bound sim | grep -E ':(tools|examples|tests)/'
)"
check "core does not know the simulator nor the machine descriptions" "$(
    includes core | grep -E ':(sim|platforms)/'
)"
check "public headers include no private one" "$(
    includes include | grep -vE ':(starpu|orrery)[a-z_]*\.h$' |
    grep -E ':(core|sim|perfmodel|platforms|bound)/'
)"
check "no condition on a backend in core outside device and base" "$(
    grep -rnE '#[[:space:]]*if.*(SIMGRID|CUDA|OPENCL|HWLOC|GLPK)' core --include='*.[ch]' |
    grep -vE '^core/(device|base)/'
)"
check "every source says its licence" "$(
    find . -path ./build -prune -o -path './build-*' -prune -o \
    \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.S' \) -print | sort |
    xargs -r grep -L 'SPDX-License-Identifier: LGPL-2.1-or-later'
)"
echo "1..$n"
[ "$failed" -eq 0 ]
