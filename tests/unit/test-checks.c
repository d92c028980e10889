/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-checks.c - orr_<object>_check() finds what is wrong with an
 * object: each test damages one thing of a run on the real machine.
 */
#include <signal.h>
#include <stdlib.h>

#include <starpu.h>

#include "core/check.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/slab_set.h"
#include "core/worker/workers.h"
#include "tests/suite.h"

static struct orr_runtime *rt;
static struct orr_handle *handle;
static struct orr_job *job;
static float value;

static void open_run(void)
{
    static struct starpu_codelet cl = {
        .nbuffers = 1, .modes = {STARPU_RW}, .where = STARPU_NOWHERE};
    struct starpu_task *task;
    starpu_data_handle_t public;
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncpus = 1;
    ck_assert_int_eq(starpu_init(&conf), 0);
    rt = orr_runtime_current("test");
    starpu_variable_data_register(&public, STARPU_MAIN_RAM, (uintptr_t)&value,
                                  sizeof(value));
    handle = orr_handle_of(public);
    /* A task that has its place in the order and cannot go on. */
    ck_assert_int_eq(starpu_data_acquire(public, STARPU_RW), 0);
    task = starpu_task_create();
    task->cl = &cl;
    task->handles[0] = public;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    job = orr_job_of(task);
}

START_TEST(a_run_is_as_it_must_be)
{
    orr_runtime_check(rt, 10);
    orr_job_check(job);
}
END_TEST

START_TEST(no_more_handles_than_asked_for_are_checked)
{
    orr_handle_set_valid(handle, 2);
    orr_runtime_check(rt, 0);
}
END_TEST

static void valid_without_memory(void)
{
    handle->replicates[0].allocated = false;
    orr_handle_set_allocated(handle, 0);
}

static void allocated_apart(void)
{
    orr_handle_set_allocated(handle, 0);
}

static void loading_without_request(void)
{
    orr_handle_set_loading(handle, 1);
}

static void dying_in_use(void)
{
    handle->dying = true;
}

static void fewer_users_than_accesses(void)
{
    handle->nusers = 1;
}

static void late_access_granted(void)
{
    job->accesses[0].granted = 1;
}

static void early_access_not_granted(void)
{
    orr_turns_first(&handle->turns)->granted = 0;
}

static void access_of_another_handle(void)
{
    job->accesses[0].handle = NULL;
}

static void wrong_node(void)
{
    handle->replicates[0].node = 7;
}

static void foreign_block(void)
{
    static struct orr_block block;

    handle->replicates[0].block = &block;
}

static void request_without_reference(void)
{
    static struct orr_request request = {.src = ORR_NO_NODE};

    request.handle = handle;
    request.runtime = rt;
    handle->replicates[0].request = &request;
    handle->nusers += 1;
    handle->replicates[0].refs = 0;
}

static void request_to_itself(void)
{
    request_without_reference();
    handle->replicates[0].refs = 1;
    handle->replicates[0].request->src = 0;
}

static void node_moved(void)
{
    rt->nodes->at[0].id = 1;
}

static void worker_moved(void)
{
    rt->workers->at[0].class_id = 99;
}

static void (*const faults[])(void) = {
    valid_without_memory,
    allocated_apart,
    loading_without_request,
    dying_in_use,
    fewer_users_than_accesses,
    late_access_granted,
    early_access_not_granted,
    access_of_another_handle,
    wrong_node,
    foreign_block,
    request_without_reference,
    request_to_itself,
    node_moved,
    worker_moved,
};

START_TEST(a_fault_is_found)
{
    faults[_i]();
    orr_runtime_check(rt, 10);
}
END_TEST

START_TEST(a_job_that_runs_waits_for_nothing)
{
    atomic_store(&job->state, ORR_JOB_RUNNING);
    orr_job_check(job);
}
END_TEST

START_TEST(a_job_is_referenced)
{
    atomic_store(&job->refs, 0);
    orr_job_check(job);
}
END_TEST

static void together(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static void count_living(void *object, void *arg)
{
    const struct orr_job *other = object;

    *(unsigned *)arg +=
        atomic_load(&other->refs) > 0 && orr_job_state(other) != ORR_JOB_DONE;
}

/* Jobs of two sorts never get as far as DONE: those that members of a gang have in
 * the queues of policies, and those of tasks that are not submitted. */
START_TEST(a_job_that_is_gone_looks_so)
{
    static struct starpu_codelet cl = {
        .cpu_funcs = {together}, .type = STARPU_FORKJOIN, .max_parallelism = 2};
    int ids[] = {0, 1};
    unsigned n = 0;
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncpus = 2;
    ck_assert_int_eq(starpu_init(&conf), 0);
    rt = orr_runtime_current("test");
    ck_assert_int_eq(
        starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER,
                           starpu_combined_worker_assign_workerid(2, ids), 0),
        0);
    starpu_task_wait_for_all();
    starpu_task_destroy(starpu_task_build(&cl, 0));
    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        orr_slab_each(rt->slabs->jobs[i], count_living, &n);
    starpu_shutdown();
    ck_assert_uint_eq(n, 0);
}
END_TEST

SUITE_MAIN(checks)
{
    Suite *suite = suite_create("checks");
    TCase *tc = tcase_create("objects");

    tcase_add_checked_fixture(tc, open_run, NULL);
    tcase_add_test(tc, a_run_is_as_it_must_be);
    tcase_add_test(tc, no_more_handles_than_asked_for_are_checked);
    tcase_add_loop_test_raise_signal(tc, a_fault_is_found, SIGABRT, 0,
                                     sizeof(faults) / sizeof(*faults));
    tcase_add_test_raise_signal(tc, a_job_that_runs_waits_for_nothing, SIGABRT);
    tcase_add_test_raise_signal(tc, a_job_is_referenced, SIGABRT);
    suite_add_tcase(suite, tc);
    tc = tcase_create("gone");
    tcase_add_test(tc, a_job_that_is_gone_looks_so);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
