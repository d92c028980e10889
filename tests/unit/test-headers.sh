#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# tests/unit/test-headers.sh - each public header compiles alone, as C and as
# C++, without a warning, and no header defines STARPU_SIMGRID.
#
# Usage: test-headers.sh C-COMPILER C++-COMPILER INCLUDE-DIRECTORY
# Prints TAP. Exit status: 0 if all pass.

if [ $# -ne 3 ]; then
    echo "usage: $0 C-COMPILER C++-COMPILER INCLUDE-DIRECTORY" >&2
    exit 2
fi
cc=$1
cxx=$2
dir=$3
dialects='c=gnu11 c++=gnu++17'
n=0
failed=0
flags=

# report STATUS CLAIM
report() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        failed=$((failed + 1))
        echo "not ok $n - $2"
    fi
}

# compile LANGUAGE STANDARD, the source on standard input
compile() {
    case $1 in
    c) compiler=$cc ;;
    *) compiler=$cxx ;;
    esac
    # A compiler may be several words, such as "ccache gcc".
    # shellcheck disable=SC2086
    $compiler -x "$1" -std="$2" -Wall -Wextra -Werror -I"$dir" $flags \
        -fsyntax-only - 2>&1 | sed 's/^/# /'
}

for header in "$dir"/*.h; do
    name=$(basename "$header")
    case $name in starpu_mpi* | orrery_mpi*) continue ;; esac
    for dialect in $dialects; do
        said=$(printf '#include <%s>\n#include <%s>\nextern int x;\n' \
            "$name" "$name" | compile "${dialect%%=*}" "${dialect#*=}")
        [ -z "$said" ]
        report $? "$name compiles alone as ${dialect#*=}"
        [ -z "$said" ] || printf '%s\n' "$said"
    done
done

# Those that include mpi.h, with each MPI that pkg-config knows.
for mpi in ompi-c mpich; do
    flags=$(pkg-config --cflags-only-I "$mpi" 2>/dev/null) || continue
    flags=$(echo "$flags" | sed 's/-I/-isystem /g')
    for name in starpu_mpi.h starpu_mpi_ft.h starpu_mpi_lb.h orrery_mpi.h; do
        for dialect in $dialects; do
            said=$(printf '#include <%s>\n#include <%s>\nextern int x;\n' \
                "$name" "$name" | compile "${dialect%%=*}" "${dialect#*=}")
            [ -z "$said" ]
            report $? "$name compiles alone as ${dialect#*=} with $mpi"
            [ -z "$said" ] || printf '%s\n' "$said"
        done
    done
done
flags=

said=$(printf '#include <starpu.h>\n#ifdef STARPU_SIMGRID\n#error defined\n#endif\n' |
    compile c gnu11)
[ -z "$said" ]
report $? "STARPU_SIMGRID is not defined"

# The library's own sources leave out what others wrote, and nothing of ours.
# all ARGUMENT...: compiles all headers, and the sizes of their structures
all() {
    {
        printf '#include <%s.h>\n' starpu starpu_heteroprio starpu_profiling_tool \
            starpu_sched_component starpu_scheduler_toolbox
        echo 'extern const unsigned long sizes[];'
        echo 'const unsigned long sizes[] = {'
        find "$dir" -name 'starpu*.h' ! -name 'starpu_mpi*' -exec cat {} + |
            sed -nE 's/^(struct starpu_[a-z0-9_]+) \{$/sizeof(\1),/p' | sort -u
        echo '};'
    } | $cc -x c -std=gnu11 -I"$dir" "$@" -o - -
}
said=$(all -S) && lean=$(all -S -D_ORR_LEAN) && [ "$said" = "$lean" ]
report $? "_ORR_LEAN leaves structures as they are"
others() {
    all -M "$@" | tr -s ' \\' '\n' | grep -E '/(hwloc|cl|math)\.h$'
}
[ -z "$(others -D_ORR_LEAN)" ] && others | grep -q '/math\.h$'
report $? "_ORR_LEAN leaves out headers of others, which programs get"

# What applications write at file scope.
for dialect in $dialects; do
    said=$(compile "${dialect%%=*}" "${dialect#*=}" <<'END'
#include <starpu.h>
extern starpu_pthread_mutex_t mutex;
extern starpu_pthread_cond_t cond;
extern starpu_pthread_rwlock_t rwlock;
starpu_pthread_mutex_t mutex = STARPU_PTHREAD_MUTEX_INITIALIZER;
starpu_pthread_cond_t cond = STARPU_PTHREAD_COND_INITIALIZER;
starpu_pthread_rwlock_t rwlock = STARPU_PTHREAD_RWLOCK_INITIALIZER;
#ifndef __cplusplus
static struct starpu_task task = STARPU_TASK_INITIALIZER;
static struct starpu_perfmodel model = {
    .type = STARPU_HISTORY_BASED, .symbol = "model"};
static struct starpu_codelet cl = {.cpu_funcs = {NULL}, .nbuffers = 1,
    .modes = {STARPU_RW}, .model = &model, .where = STARPU_CPU};
static struct starpu_data_filter filter = {
    .filter_func = starpu_matrix_filter_block, .nchildren = 4};
struct starpu_codelet *all(struct starpu_task **t, struct starpu_data_filter **f);
struct starpu_codelet *all(struct starpu_task **t, struct starpu_data_filter **f)
{
    *t = &task;
    *f = &filter;
    return &cl;
}
_Static_assert(sizeof(struct starpu_task) <= 560, "tasks stay small");
#endif
END
    )
    [ -z "$said" ]
    report $? "static initialisers are accepted as ${dialect#*=}"
    [ -z "$said" ] || printf '%s\n' "$said"
done

# Older names.
said=$(compile c gnu11 <<'END'
#define STARPU_USE_DEPRECATED_ONE_ZERO_API
#include <starpu.h>
static struct starpu_data_filter filter = {
    .filter_func = starpu_block_filter_func, .nchildren = 4};
void old(starpu_data_handle_t handle, enum starpu_access_mode mode);
void old(starpu_data_handle_t handle, enum starpu_access_mode mode)
{
    starpu_helper_cublas_init();
    starpu_data_partition(handle, &filter);
    starpu_data_acquire(handle, mode);
    starpu_display_codelet_stats(starpu_get_current_task()->cl);
}
END
)
[ -z "$said" ]
report $? "older names are accepted on request"
[ -z "$said" ] || printf '%s\n' "$said"

echo "1..$n"
[ "$failed" -eq 0 ]
