/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-profiler.c - a profiler that is told what happens: one of the
 * program's own, and a library that STARPU_PROF_TOOL names.
 */
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "heard.h"
#include "machines.h"

enum { NEVENTS = starpu_prof_tool_event_user_end + 1, NTASKS = 40 };

void starpu_prof_tool_library_register(
    starpu_prof_tool_entry_register_func reg,
    starpu_prof_tool_entry_register_func unreg);

static atomic_int n[NEVENTS], nwrong, inside[STARPU_NMAXWORKERS];
static bool own; /* the program's own is to be asked */

static void work(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += 1;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {work},
    .cuda_funcs = {work},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "k",
};

static void expect(bool is_so)
{
    nwrong += !is_so;
}

static void check_kernel(const struct starpu_prof_tool_info *info)
{
    bool cpu = info->event_type == starpu_prof_tool_event_start_cpu_exec ||
               info->event_type == starpu_prof_tool_event_end_cpu_exec;
    bool begins = info->event_type == starpu_prof_tool_event_start_cpu_exec ||
                  info->event_type == starpu_prof_tool_event_start_gpu_exec;

    expect((enum starpu_worker_archtype)starpu_worker_get_type(
               info->worker_id) == STARPU_CPU_WORKER
               ? cpu && info->driver_type == starpu_prof_tool_driver_cpu
               : !cpu && info->driver_type == starpu_prof_tool_driver_gpu);
    expect(info->fun_ptr == (void *)(uintptr_t)work);
    expect(info->bytes_to_transfer == 1);
    expect(info->memnode ==
           starpu_worker_get_memory_node((unsigned)info->worker_id));
    expect(info->device_number == starpu_worker_get_devid(info->worker_id));
    /* A kernel that only starts others may run beside the one before. */
    expect((inside[info->worker_id] += begins ? 1 : -1) >= 0);
}

void heard(const struct starpu_prof_tool_info *info)
{
    n[info->event_type]++;
    expect(info->starpu_version[0] == 1 && info->thread_id > 0);
    switch (info->event_type) {
    case starpu_prof_tool_event_start_cpu_exec:
    case starpu_prof_tool_event_end_cpu_exec:
    case starpu_prof_tool_event_start_gpu_exec:
    case starpu_prof_tool_event_end_gpu_exec:
        check_kernel(info);
        break;
    case starpu_prof_tool_event_init_end:
        expect(info->conf != NULL && info->conf->ncpus == 2);
        break;
    case starpu_prof_tool_event_init:
        expect(info->worker_id == -1 && info->memnode == UINT_MAX);
        break;
    default:
        break;
    }
}

static void hear(struct starpu_prof_tool_info *info,
                 union starpu_prof_tool_event_info *event,
                 struct starpu_prof_tool_api_info *api)
{
    expect(!event && !api);
    heard(info);
}

void starpu_prof_tool_library_register(
    starpu_prof_tool_entry_register_func reg,
    starpu_prof_tool_entry_register_func unreg)
{
    (void)unreg;
    for (int event = 1; own && event < NEVENTS; event++)
        reg((enum starpu_prof_tool_event)event, hear,
            starpu_prof_tool_command_reg);
}

/* Returns the number of workers. */
static int run(int machine)
{
    static int numbers[4];
    starpu_data_handle_t handles[4];
    struct starpu_conf conf;
    int nworkers;

    machine_choose(machine);
    starpu_conf_init(&conf);
    conf.ncpus = 2;
    ck_assert_int_eq(starpu_init(&conf), 0);
    nworkers = (int)starpu_worker_get_count();
    starpu_worker_wait_for_initialisation();
    for (int i = 0; i < 4; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&numbers[i],
                                      sizeof(numbers[i]));
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(
            starpu_task_insert(&cl, STARPU_RW, handles[i % 4], 0), 0);
    starpu_task_wait_for_all();
    for (int i = 0; i < 4; i++)
        starpu_data_unregister(handles[i]);
    starpu_shutdown();
    return nworkers;
}

static int sum(enum starpu_prof_tool_event a, enum starpu_prof_tool_event b)
{
    return n[a] + n[b];
}

START_TEST(a_profiler_of_the_programs_own_hears_of_everything)
{
    int nworkers;

    own = true;
    setenv("STARPU_NCPU", "2", 1);
    nworkers = run(_i);
    ck_assert_int_eq(n[starpu_prof_tool_event_init], 1);
    ck_assert_int_eq(n[starpu_prof_tool_event_init_begin], 1);
    ck_assert_int_eq(n[starpu_prof_tool_event_init_end], 1);
    ck_assert_int_eq(n[starpu_prof_tool_event_terminate], 1);
    ck_assert_int_eq(n[starpu_prof_tool_event_driver_init_start], nworkers);
    ck_assert_int_eq(n[starpu_prof_tool_event_driver_init], nworkers);
    ck_assert_int_eq(n[starpu_prof_tool_event_driver_init_end], nworkers);
    ck_assert_int_eq(n[starpu_prof_tool_event_driver_deinit], nworkers);
    ck_assert_int_eq(sum(starpu_prof_tool_event_start_cpu_exec,
                         starpu_prof_tool_event_start_gpu_exec),
                     NTASKS);
    ck_assert_int_eq(sum(starpu_prof_tool_event_end_cpu_exec,
                         starpu_prof_tool_event_end_gpu_exec),
                     NTASKS);
    ck_assert_int_eq(n[starpu_prof_tool_event_start_transfer],
                     n[starpu_prof_tool_event_end_transfer]);
    ck_assert_int_gt(n[starpu_prof_tool_event_start_transfer], 0);
    ck_assert_int_eq(sum(starpu_prof_tool_event_user_start,
                         starpu_prof_tool_event_user_end),
                     0);
    ck_assert_int_eq(nwrong, 0);
}
END_TEST

START_TEST(a_library_hears_of_what_it_has_registered_for)
{
    setenv("STARPU_PROF_TOOL", PROFILER, 1);
    (void)run(0);
    ck_assert_int_eq(n[starpu_prof_tool_event_init], 1);
    ck_assert_int_eq(n[starpu_prof_tool_event_start_cpu_exec], NTASKS);
    ck_assert_int_eq(n[starpu_prof_tool_event_end_cpu_exec], 0);
    ck_assert_int_eq(n[starpu_prof_tool_event_terminate], 0);
}
END_TEST

START_TEST(the_run_goes_on_without_a_library_that_is_not_there)
{
    own = true;
    setenv("STARPU_PROF_TOOL", "/nonexistent.so", 1);
    (void)run(0);
    ck_assert_int_eq(n[starpu_prof_tool_event_init], 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profiler");
    TCase *each = tcase_create("on each machine");
    TCase *library = tcase_create("library");

    tcase_set_timeout(each, 60);
    suite_add_tcase(suite, each);
    suite_add_tcase(suite, library);
    tcase_add_loop_test(each, a_profiler_of_the_programs_own_hears_of_everything,
                        0, NMACHINES);
    tcase_add_test(library, a_library_hears_of_what_it_has_registered_for);
    tcase_add_test(library,
                   the_run_goes_on_without_a_library_that_is_not_there);
    return suite_main(suite);
}
