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

# --- who may include whom ---
# Each folder's own files, include/ and core/base are free to it.
allowed='
application:
bound:
core: core/cost core/data core/device core/exec core/job core/loop core/observe core/sched core/task core/worker perfmodel
core/api: bound core core/cost core/data core/device core/device/cpu core/device/gpu core/device/opencl core/exec core/job core/layouts core/loop core/observe core/sched core/task core/worker perfmodel record
core/base:
core/cost: core/data core/device core/exec core/job core/worker perfmodel
core/data: core core/device core/exec core/job core/layouts core/observe core/task core/worker
core/device: core/device/cpu core/device/disk perfmodel
core/device/bus: core/device perfmodel
core/device/cpu: core/device core/device/bus
core/device/cuda: core/device core/device/gpu
core/device/disk: core/device
core/device/gpu: core/device
core/device/hip: core/device core/device/gpu
core/device/opencl: core/device
core/exec: core/device
core/fortran: bindings/fortran core/api
core/job: core core/cost core/data core/device core/exec core/worker
core/layouts: core/cost core/data core/device core/exec core/job
core/layouts/filters: core/layouts
core/loop: core/cost core/data core/device core/exec core/job core/layouts core/observe core/sched core/task core/worker perfmodel
core/observe: bound core core/cost core/data core/device core/exec core/job core/sched core/task core/worker perfmodel record
core/omp: core/data core/device core/exec core/job core/loop core/sched core/task core/worker
core/policies: core/api core/cost core/data core/device core/job core/observe core/policies/component core/sched core/task core/worker perfmodel
core/policies/component: core/api core/cost core/device core/exec core/job core/sched core/worker
core/sched: core core/cost core/data core/device core/exec core/job core/task core/worker
core/sched/python: core/sched
core/task: core core/cost core/data core/exec core/job core/observe core/sched core/worker
core/worker: core/cost core/device core/exec
debug: core core/cost core/data core/device core/exec core/job core/observe core/sched core/task core/worker
import: record
import/openmp: import record/openmp
mpi: core core/api
mpi/answers: core mpi mpi/images mpi/simulated
mpi/api: bindings/fortran core/api core/fortran mpi mpi/answers mpi/images mpi/real mpi/simulated
mpi/images: core mpi/simulated
mpi/loopback: mpi
mpi/real: mpi
mpi/simulated: core mpi
openmp: core/omp
opencl: core/device/opencl
perfmodel:
platforms: core/device/cpu
record:
record/openmp:
replay: core/layouts record replay/ranks
replay/ranks: core mpi mpi/simulated perfmodel record replay
sim: core/device core/device/cpu platforms sim/cluster
sim/cluster: platforms sim
watch: core core/cost core/data core/exec core/job core/observe core/worker
'
ours=$(find application bound core debug import mpi opencl perfmodel platforms record replay sim watch \
    -name '*.[ch]' -o -name '*.cpp' | xargs grep -HE '^[[:space:]]*#[[:space:]]*include' |
    sed -nE 's/[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*)".*/\1/p')
for folder in $(find application bound core debug import mpi opencl perfmodel platforms record replay sim watch -name '*.[ch]' |
    xargs -n 1 dirname | sort -u); do
    if ! echo "$allowed" | grep -q "^$folder:"; then
        check "$folder has a line in the list of who may include whom" "none"
        continue
    fi
    may=$(echo "$allowed" | sed -n "s|^$folder:||p")
    check "$folder includes:${may:- base only}" "$(
        echo "$ours" | awk -F: -v folder="$folder" -v may=" $folder core/base $may " '
            function dirname(path) { return sub("/[^/]*$", "", path) ? path : "" }
            dirname($1) == folder && $2 ~ "/" && !index(may, " " dirname($2) " ") {
                print $1 ": " $2
            }'
    )"
done

check "a command includes no other command, but what perfmodel shares" "$(
    includes tools/*/ | grep -E '^tools/[a-z]+/[^:]*:tools/' |
    grep -vE '^tools/([a-z]+)/[^:]*:tools/(\1|common|perfmodel)/'
)"

product=$(includes application bound core debug import mpi opencl perfmodel platforms record \
    replay sim watch tools)

# --- no circles: the includes of all modules can be sorted ---
# A module is a header with its source; what is private to it belongs to it.
check "no module includes itself by way of others" "$(
    echo "$product" | grep -E ':[a-z]+/' |
    sed -E 's/(_private)?\.(c|h|cpp)(:|$)/\3/g; s/:/ /' |
    awk '$1 != $2' | sort -u | tsort 2>&1 >/dev/null | sed 's/^tsort: //'
)"

# --- who may include which library ---
# library FILES HEADERS: the headers are included in these files only.
library()
{
    check "$2 only in $1" "$(
        echo "$product" | grep -E ":($2)" | grep -vE "^($1)[^:]*:"
    )"
}
library 'core/device/cpu/|platforms/discover|tools/' hwloc
library 'sim/simgrid_[a-z]*\.' 'simgrid|xbt'
library 'core/base/markup' expat
library 'platforms/tar' archive
library 'bound/glpk' glpk
library 'core/device/disk/hdf5_module' 'hdf5.h'
library 'core/sched/python/' 'Python|structmember'
library 'import/(wfcommons|chrome|json_|kernel_models)|platforms/|tools/' jansson
library 'tools/study/yaml' '(^|[^/])yaml[.]h>?$'
library 'mpi/(answers|api|real)/|tools/calibrate/measure_network[.]c' 'mpi[.]h'
library 'core/device/(cuda|opencl)/|opencl/' 'cuda|CL/'
check "mpi includes of core what is for it only" "$(
    includes mpi | grep -E ':core/' |
    grep -vE ':core/(remote|api/insertion|fortran/list|base/[a-z_]+)\.h$'
)"
check "bindings include public headers only" "$(
    includes bindings |
    grep -E ':(core|mpi|sim|perfmodel|platforms|bound|record|replay|tools)/'
)"
check "public headers include no private one" "$(
    includes include | grep -vE ':(starpu|orrery)[a-z_]*\.h$' |
    grep -E ':(core|import|mpi|sim|perfmodel|platforms|bound|record|replay)/'
)"
check "no condition on a backend in core outside device and base" "$(
    grep -rnE '#[[:space:]]*if.*(SIMGRID|CUDA|OPENCL|HWLOC|GLPK)' core --include='*.[ch]' |
    grep -vE '^core/(device|base)/'
)"

# --- what core asks is a property ---
# What a machine is, and of what kind a device, only core/device knows: the rest
# asks what it does. Fields of that name in what core fills (a graph that is
# written, options of models) are no questions.
check "what waits, wakes or spins in core does so by core/base/wait.h" "$(
    grep -rnE 'ops->(park|wake|relax)\(|\<sched_yield\(' core --include='*.[ch]' |
    grep -vE '^core/(base/(wait\.[ch]|lock\.c)|device/threads\.c|ends\.c):'
)"
check "no question whether the machine is simulated in core outside device" "$(
    grep -rnE '(->|\.)simulated\>' core --include='*.[ch]' |
    grep -vE '^core/device/|(->|\.)simulated = '
)"
check "no kind of device in core outside device" "$(
    grep -rnE '\<STARPU_(CPU|CUDA|OPENCL|HIP|MAX_FPGA|MPI_MS|TCPIP_MS|DISK)(_WORKER|_RAM)?\>' \
        core --include='*.[ch]' | grep -v '^core/device/'
)"
# Nor is one named, but in comments. Public functions, fields of starpu_conf and of data
# in several forms have their names, and variables of the environment.
# Comments are left out of those files only that have such words at all.
check "no name of a kind of device in core outside device" "$(
    find core -name '*.[ch]' | grep -vE '^core/(device|api|fortran)/|^core/base/(config|form)\.h|^core/(data/outline|layouts/multiformat)\.c|^core/observe/calls\.c' |
    sort | xargs -r grep -liE 'cuda|opencl|fpga|hip' | while read -r file; do
        gcc -fpreprocessed -dD -E -P "$file" 2>/dev/null |
            grep -iE 'cuda|opencl|fpga|([^a-z]|^)n?hip([^a-z]|$)' |
            sed "s|^|$file: |"
    done
)"
check "no codelet's functions for one kind of device in core outside device" "$(
    grep -rnE '(->|\.)(cpu|cuda|opencl|hip)_(func|funcs|flags)\>' core \
        --include='*.[ch]' | grep -vE '^core/(device|api|fortran)/|_funcs = \{'
)"
check "every source says its licence" "$(
    find . -path ./build -prune -o -path './build-*' -prune -o \
    \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.S' \) -print | sort |
    xargs -r grep -L 'SPDX-License-Identifier: LGPL-2.1-or-later'
)"
echo "1..$n"
[ "$failed" -eq 0 ]
