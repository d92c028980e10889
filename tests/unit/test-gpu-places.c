/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-gpu-places.c - which workers devices of two vendors have beside
 * those of processors, and to which processors they are bound: on the stand-ins
 * (tests/standin), on a topology with two packages and a GPU near each
 * (near.hwloc.xml).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "core/base/exec.h"
#include "core/device/machine.h"
#include "core/exec/runtime.h"

#include "../suite.h"
#include "core/worker/workers.h"

static const struct orr_machine *machine;

/* Binding to processors that this machine has not fails, and is warned of. */
static void open_machine(void)
{
    setenv("HWLOC_XMLFILE", NEAR_TOPOLOGY, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    setenv("STARPU_WORKERS_GETBIND", "0", 1);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
    machine = orr_self->runtime->machine;
}

/* A letter per worker, C for processors, N or A for a vendor's device, and where it
 * is bound: "C0 C1 N2 N-". */
static void check_places(const char *expected)
{
    char text[256] = "";

    for (unsigned w = 0; w < machine->nworkers; w++) {
        const struct orr_worker_desc *worker = &machine->workers[w];
        size_t n = strlen(text);
        char letter = worker->type == STARPU_CPU_WORKER    ? 'C'
                      : worker->type == STARPU_CUDA_WORKER ? 'N'
                                                           : 'A';

        if (worker->cpu < 0)
            snprintf(text + n, sizeof(text) - n, "%s%c-", w ? " " : "", letter);
        else
            snprintf(text + n, sizeof(text) - n, "%s%c%d", w ? " " : "", letter,
                     worker->cpu);
    }
    ck_assert_str_eq(text, expected);
}

/* -- which ones -- */

static unsigned ran[STARPU_NMAXWORKERS];

static void note_worker(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    ran[starpu_worker_get_id_check()]++;
}

/* Each device takes the place of a processor; one stays. Each worker works. */
START_TEST(devices_of_two_vendors_have_their_workers)
{
    struct starpu_codelet cl = {
        .cpu_funcs = {note_worker},
        .cuda_funcs = {note_worker},
        .hip_funcs = {note_worker},
    };

    open_machine();
    ck_assert_uint_eq(starpu_cpu_worker_get_count(), 1);
    ck_assert_uint_eq(starpu_cuda_worker_get_count(), 2);
    ck_assert_uint_eq(starpu_hip_worker_get_count(), 2);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_int_eq(
            starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, (int)w, 0), 0);
    starpu_task_wait_for_all();
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        ck_assert_uint_eq(ran[w], 1);
    starpu_shutdown();
}
END_TEST

/* Who asks for devices that there are is not warned. */
START_TEST(devices_that_are_there_are_no_reason_for_a_warning)
{
    FILE *said = tmpfile();
    char text[1024] = "";

    setenv("STARPU_NCUDA", "2", 1);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_WORKERS_NOBIND", "1", 1);
    ck_assert_ptr_nonnull(said);
    ck_assert_int_ge(dup2(fileno(said), STDERR_FILENO), 0);
    ck_assert_int_eq(starpu_init(NULL), 0);
    ck_assert_uint_eq(starpu_cuda_worker_get_count(), 2);
    starpu_shutdown();
    rewind(said);
    ck_assert(fread(text, 1, sizeof(text) - 1, said) < sizeof(text));
    ck_assert_msg(!strstr(text, "warning"), "%s", text);
    fclose(said);
}
END_TEST

/* -- where -- */

static const struct {
    const char *set; /* settings, with blanks between */
    const char *places;
} cases[] = {
    /* Two processors are left; the first device changes its one for a near one. */
    {"STARPU_NHIP=0", "C0 C2 N1 N3"},
    {"STARPU_NHIP=0 STARPU_NCUDA=1", "C0 C3 C2 N1"},
    {"STARPU_NHIP=0 STARPU_NCUDA=1 STARPU_WORKERS_CUDAID=1", "C0 C1 C2 N3"},
    {"STARPU_NHIP=0 STARPU_NCPU=1", "C0 N1 N2"},
    /* Processors that workers have are not shared. */
    {"STARPU_NHIP=0 STARPU_NCPU=4", "C0 C1 C2 C3 N- N-"},
    {"STARPU_NHIP=0 STARPU_NCPU=3", "C0 C3 C2 N1 N-"},
    /* Of two vendors' workers each. */
    {"STARPU_NCPU=0", "N0 N2 A1 A3"},
    /* Not bound at all. */
    {"STARPU_NHIP=0 STARPU_WORKERS_NOBIND=1", "C- C- N- N-"},
    /* Lists are kept to: workers of devices have what comes next. */
    {"STARPU_NHIP=0 STARPU_NCPU=1 STARPU_WORKERS_CPUID=3,2,0", "C3 N2 N0"},
    /* Workers of a device share its processor, unless each is to have one, … */
    {"STARPU_NHIP=0 STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=2", "C0 N1 N1 N2 N2"},
    {"STARPU_NHIP=0 STARPU_NCUDA=1 STARPU_NWORKER_PER_CUDA=2 "
     "STARPU_CUDA_THREAD_PER_WORKER=1",
     "C3 C2 N1 N0"},
    /* … or all devices have one. */
    {"STARPU_NHIP=0 STARPU_CUDA_THREAD_PER_DEV=0", "C0 C3 C2 N1 N1"},
    {"STARPU_NCUDA=0 STARPU_HIP_THREAD_PER_DEV=0", "C0 C3 C2 A1 A1"},
};

START_TEST(workers_of_devices_are_near_them)
{
    char *set = strdup(cases[_i].set), *rest = set, *word;

    ck_assert_ptr_nonnull(set);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');

        *value = 0;
        setenv(word, value + 1, 1);
    }
    free(set);
    open_machine();
    check_places(cases[_i].places);
    for (unsigned w = 0; w < machine->nworkers; w++)
        ck_assert_uint_lt(machine->workers[w].node, machine->nnodes);
    starpu_shutdown();
}
END_TEST

/* A processor's worker that changes its place has the memory there. */
START_TEST(who_is_moved_computes_in_the_memory_there)
{
    setenv("STARPU_USE_NUMA", "1", 1);
    setenv("STARPU_NHIP", "0", 1);
    open_machine();
    check_places("C0 C2 N1 N3");
    ck_assert_uint_eq(machine->workers[0].node, 0);
    ck_assert_uint_eq(machine->workers[1].node, 1);
    starpu_shutdown();
}
END_TEST

START_TEST(a_thread_each_and_one_for_all_is_refused)
{
    setenv("STARPU_CUDA_THREAD_PER_WORKER", "1", 1);
    setenv("STARPU_CUDA_THREAD_PER_DEV", _i ? "1" : "0", 1);
    setenv("STARPU_SILENT", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), -EINVAL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu-places");
    TCase *tc = tcase_create("all");

    suite_add_tcase(suite, tc);
    tcase_set_timeout(tc, 90);
    tcase_add_test(tc, devices_of_two_vendors_have_their_workers);
    tcase_add_test(tc, devices_that_are_there_are_no_reason_for_a_warning);
    tcase_add_loop_test(tc, workers_of_devices_are_near_them, 0,
                        sizeof(cases) / sizeof(*cases));
    tcase_add_test(tc, who_is_moved_computes_in_the_memory_there);
    tcase_add_loop_test(tc, a_thread_each_and_one_for_all_is_refused, 0, 2);
    return suite_main(suite);
}
