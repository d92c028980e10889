#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# An installed Orrery builds and runs a StarPU program through pkg-config, for
# real and simulated, and exports nothing but the interface. Prints TAP.
# usage: test-install.sh BUILD_FOLDER SOURCE_ROOT
set -u
build=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n=0
failed=0

# claim WHAT COMMAND...: the command's status decides.
claim() {
    what=$1
    shift
    n=$((n + 1))
    if "$@" >"$folder/log" 2>&1; then
        echo "ok $n - $what"
    else
        echo "not ok $n - $what"
        sed 's/^/# /' "$folder/log"
        failed=$((failed + 1))
    fi
}

exports_interface_only() {
    ! nm -D --defined-only "$library" | awk '{ print $3 }' |
        grep -vE '^(_?starpu_|orrery_|orr_self$)'
}

modules_export_their_entry() {
    for module in "$(dirname "$library")"/orrery/*.so; do
        test "$(nm -D --defined-only "$module" | awk '{ print $3 }')" = \
            orr_module_entry || return 1
    done
}

repeats_its_sum() {
    "$@" | grep -q '^sum 5050$'
}

claim "it installs" env DESTDIR="$folder" meson install -C "$build" \
    --no-rebuild --quiet
pc=$(find "$folder" -name starpu-1.4.pc)
library=$(find "$folder" -name 'liborrery.so')
PKG_CONFIG_PATH=$(dirname "$pc")
PKG_CONFIG_SYSROOT_DIR=$folder
LD_LIBRARY_PATH=$(dirname "$library")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
cat >"$folder/app.c" <<'APP'
#include <stdio.h>
#include <starpu.h>

static void add(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
        *(int *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {add},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_R},
    .name = "add",
};

int main(void)
{
    int sum = 0, term[100];
    starpu_data_handle_t to, from;

    if (starpu_init(NULL) != 0)
        return 77;
    starpu_variable_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)&sum,
                                  sizeof(sum));
    for (int i = 0; i < 100; i++) {
        term[i] = i + 1;
        starpu_variable_data_register(&from, STARPU_MAIN_RAM,
                                      (uintptr_t)&term[i], sizeof(term[i]));
        starpu_task_insert(&cl, STARPU_RW, to, STARPU_R, from, 0);
        starpu_data_unregister(from);
    }
    starpu_data_unregister(to);
    starpu_shutdown();
    printf("sum %d\n", sum);
    return 0;
}
APP
# shellcheck disable=SC2046 # words on purpose
claim "a StarPU program builds through pkg-config" \
    gcc "$folder/app.c" -o "$folder/app" \
    $(pkg-config --cflags --libs starpu-1.4)
# shellcheck disable=SC2046
claim "the same program builds as C++" \
    g++ -x c++ -fpermissive -fsyntax-only "$folder/app.c" \
    $(pkg-config --cflags starpu-1.4)
claim "it runs for real" repeats_its_sum env STARPU_NCPU=2 "$folder/app"
claim "the same file runs simulated, its kernels run" repeats_its_sum env \
    ORRERY_MACHINE="$source/tests/api/gpus.xml" ORRERY_SIM_KERNELS=run \
    ORRERY_ASSUME='kernel[add] = 5us' "$folder/app"
claim "liborrery.so exports the interface only" exports_interface_only
claim "each module exports its entry only" modules_export_their_entry
echo "1..$n"
[ "$failed" -eq 0 ]
