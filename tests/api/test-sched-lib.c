/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-sched-lib.c - policies of a shared object, STARPU_SCHED_LIB: those
 * of examples/policies, and objects that cannot be used.
 */
/* shows starpu_get_sched_lib_policy, starpu_get_sched_lib_policies */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"
#include "silence.h"

#define NTASKS 40

static atomic_int nran, order[NTASKS];

static void note(void *buffers[], void *arg)
{
    int at = atomic_fetch_add(&nran, 1);

    (void)buffers;
    if (at < NTASKS)
        atomic_store(&order[at], (int)(intptr_t)arg);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "k"};
static struct starpu_codelet cl = {.cpu_funcs = {note},
                                   .cuda_funcs = {note},
                                   .nbuffers = 1,
                                   .modes = {STARPU_RW},
                                   .model = &model,
                                   .name = "k"};

static int open_with(int machine, const char *library, const char *policy)
{
    machine_choose(machine);
    setenv("STARPU_SCHED_LIB", library, 1);
    setenv("STARPU_SCHED", policy, 1);
    return starpu_init(NULL);
}

/* Chains of tasks on several data. */
static void submit_chains(void)
{
    enum { NCHAINS = 5 };
    static int x[NCHAINS];
    starpu_data_handle_t handles[NCHAINS];

    for (int i = 0; i < NCHAINS; i++)
        starpu_variable_data_register(&handles[i], 0, (uintptr_t)&x[i],
                                      sizeof(x[i]));
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_RW,
                                            handles[i % NCHAINS], 0),
                         0);
    starpu_task_wait_for_all();
    for (int i = 0; i < NCHAINS; i++)
        starpu_data_unregister(handles[i]);
}

START_TEST(a_policy_of_a_shared_object_runs_all_tasks)
{
    static const char *const names[] = {"urgent", "earliest"};

    for (int i = 0; i < 2; i++) {
        atomic_store(&nran, 0);
        ck_assert_int_eq(open_with(_i, POLICIES, names[i]), 0);
        ck_assert_str_eq(starpu_sched_get_sched_policy()->policy_name,
                         names[i]);
        submit_chains();
        starpu_shutdown();
        ck_assert_int_eq(atomic_load(&nran), NTASKS);
    }
}
END_TEST

/* A context has one as well, by its name. */
START_TEST(a_context_has_a_policy_of_a_shared_object)
{
    int worker = 0;
    unsigned ctx;

    ck_assert_int_eq(open_with(_i, POLICIES, "eager"), 0);
    ck_assert_str_eq(starpu_sched_get_sched_policy()->policy_name, "eager");
    ctx = starpu_sched_ctx_create(&worker, 1, "c", STARPU_SCHED_CTX_POLICY_NAME,
                                  "urgent", 0);
    ck_assert_str_eq(starpu_sched_ctx_get_sched_policy(ctx)->policy_name,
                     "urgent");
    starpu_sched_ctx_set_context(&ctx);
    submit_chains();
    starpu_sched_ctx_delete(ctx);
    starpu_shutdown();
    ck_assert_int_eq(atomic_load(&nran), NTASKS);
}
END_TEST

static struct starpu_codelet cl_cpu = {.cpu_funcs = {note}, .name = "k"};

/* Of one worker, tasks that wait side by side come by priority. */
START_TEST(urgent_takes_the_best_priority_first)
{
    setenv("TEST_NCPU", "1", 1);
    ck_assert_int_eq(open_with(_i, POLICIES, "urgent"), 0);
    starpu_pause();
    for (int i = 0; i < NTASKS; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl_cpu;
        task->priority = i * 7 % NTASKS;
        task->cl_arg = (void *)(intptr_t)task->priority;
        ck_assert_int_eq(starpu_task_submit(task), 0);
    }
    starpu_resume();
    starpu_task_wait_for_all();
    starpu_shutdown();
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(atomic_load(&order[i]), NTASKS - 1 - i);
}
END_TEST

START_TEST(a_policy_may_have_no_pop)
{
    ck_assert_int_eq(open_with(0, BAD_POLICIES, "pushing"), 0);
    submit_chains();
    starpu_shutdown();
    ck_assert_int_eq(atomic_load(&nran), NTASKS);
}
END_TEST

START_TEST(what_cannot_be_used_is_named)
{
    static const struct {
        const char *library, *policy, *says;
    } bad[] = {
        {"/nowhere/x.so", "urgent", "/nowhere/x.so"},
        {NO_POLICIES, "urgent", "starpu_get_sched_lib_policy"},
        {BAD_POLICIES, "hollow", "push_task"},
        {BAD_POLICIES, "renamed", "`other'"},
        {OTHER_STARPU, "hollow", "another StarPU"},
        {POLICIES, "nothing", "no scheduling policy `nothing'; known"},
        {POLICIES, "dmads", "no scheduling policy `dmads' (is `dmdas' meant?)"},
    };
    size_t i = (size_t)_i;

    silence_begin();
    ck_assert_int_lt(open_with(0, bad[i].library, bad[i].policy), 0);
    ck_assert_ptr_nonnull(strstr(silence_end(), bad[i].says));
}
END_TEST

START_TEST(help_lists_those_of_the_object)
{
    const char *said;

    silence_begin();
    ck_assert_int_eq(open_with(0, POLICIES, "help"), 0);
    said = silence_end();
    ck_assert_ptr_nonnull(strstr(said, "dmdas"));
    ck_assert_ptr_nonnull(strstr(said, "earliest to the worker"));
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(sched_lib)
{
    Suite *suite = suite_create("STARPU_SCHED_LIB");
    TCase *each = tcase_create("on each machine");
    TCase *bad = tcase_create("bad objects");

    suite_add_tcase(suite, each);
    suite_add_tcase(suite, bad);
#define EACH(test) tcase_add_loop_test(each, test, 0, NMACHINES)
    EACH(a_policy_of_a_shared_object_runs_all_tasks);
    EACH(a_context_has_a_policy_of_a_shared_object);
    EACH(urgent_takes_the_best_priority_first);
    tcase_add_test(bad, a_policy_may_have_no_pop);
    tcase_add_loop_test(bad, what_cannot_be_used_is_named, 0, 7);
    tcase_add_test(bad, help_lists_those_of_the_object);
    return suite_main(suite);
}
