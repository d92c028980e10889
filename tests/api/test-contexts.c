/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/test-contexts.c - scheduling contexts: who executes their tasks while
 * workers come and go, who waits for what, policies of their own, contexts
 * without.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "machines.h"

#define NTASKS 60

static atomic_int ran_on[STARPU_NMAXWORKERS];
static atomic_int nran;

static void note(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    atomic_fetch_add(&ran_on[starpu_worker_get_id()], 1);
    atomic_fetch_add(&nran, 1);
}

static struct starpu_codelet cl = {
    .cpu_funcs = {note}, .cuda_funcs = {note}, .name = "k"};
static struct starpu_codelet cl_cpu = {.cpu_funcs = {note}, .name = "k"};

/* Some processors, and a GPU where there are any. */
static void open_machine(int i)
{
    machine_choose(i);
    setenv("STARPU_NCPU", machine_simulated(i) ? "3" : "2", 1);
    setenv("STARPU_NCUDA", "1", 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

static void forget(void)
{
    for (int w = 0; w < STARPU_NMAXWORKERS; w++)
        atomic_store(&ran_on[w], 0);
    atomic_store(&nran, 0);
}

static int ran_outside(unsigned ctx)
{
    int n = 0;

    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        if (!starpu_sched_ctx_contains_worker((int)w, ctx))
            n += atomic_load(&ran_on[w]);
    return n;
}

static unsigned cpus(int *ids)
{
    return starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, ids,
                                         STARPU_NMAXWORKERS);
}

static int last_cpu(void)
{
    int ids[STARPU_NMAXWORKERS];
    unsigned n = cpus(ids);

    return ids[n - 1];
}

/* Every other worker, or those in between: both have a processor. */
static unsigned half(int second, int *ids)
{
    int count = (int)starpu_worker_get_count();
    unsigned n = 0;

    for (int w = second; w < count; w += 2)
        ids[n++] = w;
    return n;
}

static unsigned make_half(int second, const char *policy)
{
    int ids[STARPU_NMAXWORKERS];
    unsigned n = half(second, ids);

    return starpu_sched_ctx_create(ids, (int)n, second ? "second" : "first",
                                   STARPU_SCHED_CTX_POLICY_NAME, policy, 0);
}

static void submit_to(unsigned ctx, struct starpu_codelet *codelet, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(
            starpu_task_insert(codelet, STARPU_SCHED_CTX, ctx, 0), 0);
}

static const char *const policies[] = {"eager", "prio", "random", "lws", "ws",
                                       "dm",    "dmda", "dmdas",  "dmdasd"};
#define NPOLICIES ((int)(sizeof(policies) / sizeof(policies[0])))

/* --- who executes tasks --- */

START_TEST(tasks_stay_in_their_context)
{
    for (int p = 0; p < NPOLICIES; p++) {
        unsigned a, b;

        open_machine(_i);
        a = make_half(0, policies[p]);
        b = make_half(1, policies[(p + 1) % NPOLICIES]);
        ck_assert_uint_eq(a, 1);
        ck_assert_uint_eq(b, 2);
        ck_assert_str_eq(starpu_sched_ctx_get_sched_policy(a)->policy_name,
                         policies[p]);
        forget();
        submit_to(b, &cl_cpu, NTASKS);
        ck_assert_int_eq(starpu_task_wait_for_all_in_ctx(b), 0);
        ck_assert_int_eq(atomic_load(&nran), NTASKS);
        ck_assert_int_eq(ran_outside(b), 0);
        forget();
        submit_to(a, &cl, NTASKS);
        submit_to(b, &cl, NTASKS);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
        ck_assert_int_eq(atomic_load(&nran), 2 * NTASKS);
        for (int w = 0; w < (int)starpu_worker_get_count(); w++)
            ck_assert(starpu_sched_ctx_contains_worker(w, a) !=
                      starpu_sched_ctx_contains_worker(w, b));
        starpu_sched_ctx_delete(a);
        starpu_sched_ctx_delete(b);
        forget();
        submit_to(0, &cl, NTASKS);
        starpu_task_wait_for_all();
        ck_assert_int_eq(atomic_load(&nran), NTASKS);
        starpu_shutdown();
    }
}
END_TEST

/* One way to choose a context each. */
START_TEST(a_task_names_its_context_or_has_the_threads)
{
    int last;
    unsigned ctx, none = STARPU_NMAX_SCHED_CTXS;
    struct starpu_task *task;

    open_machine(_i);
    last = last_cpu();
    ctx = starpu_sched_ctx_create(&last, 1, "one",
                                  STARPU_SCHED_CTX_POLICY_NAME, "", 0);
    ck_assert_uint_eq(starpu_sched_ctx_get_context(), none);
    forget();
    starpu_sched_ctx_set_context(&ctx);
    ck_assert_uint_eq(starpu_sched_ctx_get_context(), ctx);
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(starpu_task_insert(&cl, 0), 0);
    ck_assert_int_eq(starpu_task_wait_for_all(), 0);
    ck_assert_int_eq(atomic_load(&ran_on[last]), NTASKS);
    starpu_sched_ctx_set_context(NULL);
    ck_assert_uint_eq(starpu_sched_ctx_get_context(), none);
    for (int i = 0; i < NTASKS; i++) {
        task = starpu_task_create();
        task->cl = &cl;
        ck_assert_int_eq(starpu_task_submit_to_ctx(task, ctx), 0);
    }
    task = starpu_task_create();
    task->cl = &cl;
    task->sched_ctx = ctx;
    task->detach = 0;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_uint_eq(starpu_sched_ctx_get_ctx_for_task(task), ctx);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&ran_on[last]), 2 * NTASKS + 1);
    starpu_sched_ctx_delete(ctx);
    starpu_shutdown();
}
END_TEST

START_TEST(a_context_that_is_gone_takes_no_tasks)
{
    unsigned ctx;
    struct starpu_task *task;

    open_machine(_i);
    ctx = make_half(0, "eager");
    starpu_sched_ctx_delete(ctx);
    task = starpu_task_create();
    task->cl = &cl;
    ck_assert_int_eq(starpu_task_submit_to_ctx(task, ctx), -EINVAL);
    task->destroy = 0;
    starpu_task_destroy(task);
    /* Its number is free again. */
    ck_assert_uint_eq(make_half(1, "prio"), ctx);
    starpu_shutdown();
}
END_TEST

/* --- waiting --- */

START_TEST(waiting_for_one_context_is_not_for_the_others)
{
    const starpu_tag_t tag = 77;
    unsigned a, b;

    open_machine(_i);
    a = make_half(0, "eager");
    b = make_half(1, "lws");
    forget();
    starpu_tag_declare_deps(1, 1, tag);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_SCHED_CTX, a, STARPU_TAG,
                                        (starpu_tag_t)1, 0),
                     0);
    submit_to(b, &cl, NTASKS);
    ck_assert_int_eq(starpu_task_wait_for_all_in_ctx(b), 0);
    ck_assert_int_eq(atomic_load(&nran), NTASKS);
    ck_assert_int_eq(starpu_task_nsubmitted(), 1);
    ck_assert_int_eq(starpu_task_wait_for_n_submitted_in_ctx(a, 1), 0);
    starpu_tag_notify_from_apps(tag);
    ck_assert_int_eq(starpu_task_wait_for_n_submitted_in_ctx(a, 0), 0);
    ck_assert_int_eq(atomic_load(&nran), NTASKS + 1);
    starpu_shutdown();
}
END_TEST

START_TEST(ready_tasks_and_their_operations_are_counted)
{
    unsigned ctx;

    open_machine(_i);
    ctx = starpu_sched_ctx_create(NULL, 0, "empty",
                                  STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
    ck_assert_uint_eq(starpu_sched_ctx_get_nworkers(ctx), 0);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(starpu_task_insert(&cl, STARPU_SCHED_CTX, ctx,
                                            STARPU_FLOPS, 1e9, 0),
                         0);
    ck_assert_int_eq(starpu_sched_ctx_get_nready_tasks(ctx), 5);
    ck_assert_double_eq(starpu_sched_ctx_get_nready_flops(ctx), 5e9);
    ck_assert_int_eq(starpu_sched_ctx_get_nready_tasks(0), 0);
    ck_assert_int_eq(starpu_task_nready(), 5);
    starpu_sched_ctx_add_workers((int[]){0, last_cpu()}, 2, ctx);
    starpu_task_wait_for_all();
    ck_assert_int_eq(starpu_sched_ctx_get_nready_tasks(ctx), 0);
    ck_assert_double_eq(starpu_sched_ctx_get_nready_flops(ctx), 0);
    starpu_shutdown();
}
END_TEST

START_TEST(an_empty_task_marks_the_end_of_submission)
{
    struct starpu_task *task;
    unsigned long before;

    open_machine(_i);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_TASK_SYNCHRONOUS, 1, 0), 0);
    task = starpu_task_create();
    task->detach = 0;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    before = starpu_task_get_job_id(task);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    starpu_sched_ctx_stop_task_submission();
    task = starpu_task_create();
    task->detach = 0;
    ck_assert_int_eq(starpu_task_submit(task), 0);
    ck_assert_uint_eq(starpu_task_get_job_id(task), before + 2);
    ck_assert_int_eq(starpu_task_wait(task), 0);
    starpu_shutdown();
}
END_TEST

/* --- workers that come and go --- */

START_TEST(workers_that_come_take_what_waited_for_them)
{
    for (int p = 0; p < NPOLICIES; p++) {
        unsigned ctx;
        int last;

        open_machine(_i);
        last = last_cpu();
        ctx = starpu_sched_ctx_create(NULL, 0, "empty",
                                      STARPU_SCHED_CTX_POLICY_NAME, policies[p],
                                      0);
        forget();
        submit_to(ctx, &cl_cpu, NTASKS);
        submit_to(0, &cl, NTASKS);
        ck_assert_int_eq(starpu_task_wait_for_all_in_ctx(0), 0);
        ck_assert_int_eq(atomic_load(&nran), NTASKS);
        starpu_sched_ctx_add_workers(&last, 1, ctx);
        ck_assert_uint_eq(starpu_sched_ctx_contains_worker(last, ctx), 1);
        ck_assert_int_eq(starpu_task_wait_for_all(), 0);
        ck_assert_int_eq(atomic_load(&nran), 2 * NTASKS);
        ck_assert_int_ge(atomic_load(&ran_on[last]), NTASKS);
        starpu_shutdown();
    }
}
END_TEST

START_TEST(workers_that_leave_take_no_more)
{
    for (int p = 0; p < NPOLICIES; p++) {
        unsigned ctx;
        int last, all[STARPU_NMAXWORKERS];
        unsigned n;

        open_machine(_i);
        last = last_cpu();
        ctx = starpu_sched_ctx_create(NULL, -1, "all",
                                      STARPU_SCHED_CTX_POLICY_NAME, policies[p],
                                      0);
        ck_assert_uint_eq(starpu_sched_ctx_get_nworkers(ctx),
                          starpu_worker_get_count());
        submit_to(ctx, &cl, NTASKS);
        n = 0;
        for (int w = 0; w < (int)starpu_worker_get_count(); w++)
            if (w != last)
                all[n++] = w;
        starpu_sched_ctx_remove_workers(all, n, ctx);
        ck_assert_uint_eq(starpu_sched_ctx_get_nworkers(ctx), 1);
        starpu_task_wait_for_all();
        forget();
        submit_to(ctx, &cl, NTASKS);
        starpu_task_wait_for_all();
        ck_assert_int_eq(atomic_load(&ran_on[last]), NTASKS);
        /* There is one that is in no other context: it stays. */
        starpu_sched_ctx_remove_workers(&last, 1, 0);
        starpu_sched_ctx_remove_workers(&last, 1, ctx);
        ck_assert_uint_eq(starpu_sched_ctx_contains_worker(last, 0), 0);
        ck_assert_uint_eq(starpu_sched_ctx_contains_worker(last, ctx), 1);
        submit_to(ctx, &cl, NTASKS);
        starpu_sched_ctx_add_workers(all, n, ctx);
        starpu_task_wait_for_all();
        starpu_sched_ctx_delete(ctx);
        starpu_shutdown();
    }
}
END_TEST

START_TEST(workers_move_between_contexts_while_tasks_run)
{
    for (int p = 0; p < NPOLICIES; p++) {
        unsigned a, b;
        int ids[STARPU_NMAXWORKERS], there = 0;
        unsigned n;

        open_machine(_i);
        a = starpu_sched_ctx_create(NULL, -1, "a", STARPU_SCHED_CTX_POLICY_NAME,
                                    policies[p], 0);
        b = starpu_sched_ctx_create(NULL, -1, "b", STARPU_SCHED_CTX_POLICY_NAME,
                                    policies[NPOLICIES - 1 - p], 0);
        n = half(0, ids);
        forget();
        for (int i = 0; i < 40; i++) {
            submit_to(a, &cl, 10);
            submit_to(b, &cl_cpu, 5);
            if (there)
                starpu_sched_ctx_add_workers(ids, n, i % 2 ? a : b);
            else
                starpu_sched_ctx_remove_workers(ids, n, i % 2 ? a : b);
            if (i % 2)
                there = !there;
        }
        starpu_task_wait_for_all();
        ck_assert_int_eq(atomic_load(&nran), 40 * 15);
        starpu_sched_ctx_delete(a);
        starpu_sched_ctx_delete(b);
        starpu_shutdown();
    }
}
END_TEST

/* --- what is known of workers --- */

START_TEST(workers_of_contexts_are_known)
{
    unsigned a, b, *list;
    int *ids, *raw, first[STARPU_NMAXWORKERS];
    unsigned n, count;

    open_machine(_i);
    count = starpu_worker_get_count();
    a = starpu_sched_ctx_create((int[]){(int)count - 1, 0}, 2, "a",
                                STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
    b = starpu_sched_ctx_create((int[]){0}, 1, "b",
                                STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
    ck_assert_uint_eq(starpu_sched_ctx_get_workers_list(a, &ids), 2);
    ck_assert_int_eq(ids[0], 0);
    ck_assert_int_eq(ids[1], (int)count - 1);
    free(ids);
    ck_assert_uint_eq(starpu_sched_ctx_get_workers_list_raw(a, &raw), 2);
    ck_assert_int_eq(raw[1], (int)count - 1);
    ck_assert_uint_eq(starpu_sched_ctx_get_nshared_workers(a, b), 1);
    ck_assert_uint_eq(starpu_sched_ctx_get_nshared_workers(a, 0), 2);
    ck_assert_uint_eq(starpu_sched_ctx_contains_worker(0, b), 1);
    ck_assert_uint_eq(starpu_sched_ctx_contains_worker((int)count - 1, b), 0);
    ck_assert_uint_eq(
        starpu_sched_ctx_contains_type_of_worker(STARPU_CPU_WORKER, a), 1);
    ck_assert_uint_eq(starpu_sched_ctx_overlapping_ctxs_on_worker(0), 1);
    ck_assert_uint_eq(starpu_sched_ctx_worker_get_id(a), (unsigned)-1);
    starpu_sched_ctx_set_priority((int[]){0}, 1, b, 5);
    ck_assert_uint_eq(starpu_sched_ctx_get_priority(0, b), 5);
    ck_assert_uint_eq(starpu_sched_ctx_get_priority(0, a), 0);
    starpu_sched_ctx_set_priority((int[]){0}, 1, 0, 2);
    ck_assert_uint_eq(starpu_worker_get_sched_ctx_list(0, &list), 3);
    ck_assert_uint_eq(list[0], b);
    ck_assert_uint_eq(list[1], 0);
    ck_assert_uint_eq(list[2], a);
    free(list);
    n = half(1, first);
    starpu_sched_ctx_add_workers(first, n, b);
    ck_assert_uint_eq(starpu_sched_ctx_get_priority(first[0], b), 1);
    starpu_shutdown();
}
END_TEST

static void is_member(void *arg)
{
    unsigned *ctx = arg;

    ck_assert_uint_eq(starpu_sched_ctx_worker_get_id(*ctx),
                      (unsigned)starpu_worker_get_id());
    ck_assert_uint_eq(starpu_sched_ctx_worker_get_id(*ctx + 1), (unsigned)-1);
    atomic_fetch_add(&nran, 1);
}

static void kernel_is_member(void *buffers[], void *arg)
{
    (void)buffers;
    is_member(arg);
}

START_TEST(a_kernel_knows_its_worker_in_the_context)
{
    struct starpu_codelet knows = {.cpu_funcs = {kernel_is_member},
                                   .cuda_funcs = {kernel_is_member},
                                   .name = "k"};
    unsigned a;

    open_machine(_i);
    a = make_half(0, "eager");
    (void)make_half(1, "eager");
    forget();
    for (int i = 0; i < NTASKS; i++)
        ck_assert_int_eq(starpu_task_insert(&knows, STARPU_SCHED_CTX, a,
                                            STARPU_CL_ARGS_NFREE, &a, sizeof(a),
                                            0),
                         0);
    starpu_task_wait_for_all();
    starpu_shutdown();
}
END_TEST

/* --- what is said about contexts --- */

static void init_policy(unsigned ctx)
{
    (void)ctx;
}

START_TEST(what_is_said_of_a_context_is_kept)
{
    unsigned ctx, awake = 9;
    int x, y;

    open_machine(_i);
    ctx = starpu_sched_ctx_create(
        NULL, -1, "all", STARPU_SCHED_CTX_POLICY_NAME, "prio",
        STARPU_SCHED_CTX_POLICY_MIN_PRIO, -12, STARPU_SCHED_CTX_POLICY_MAX_PRIO,
        32, STARPU_SCHED_CTX_HIERARCHY_LEVEL, 3, STARPU_SCHED_CTX_USER_DATA, &x,
        STARPU_SCHED_CTX_POLICY_INIT, init_policy, 0);
    ck_assert_int_eq(starpu_sched_ctx_get_min_priority(ctx), -12);
    ck_assert_int_eq(starpu_sched_ctx_get_max_priority(ctx), 32);
    ck_assert_int_eq(starpu_sched_ctx_min_priority_is_set(ctx), 1);
    ck_assert_int_eq(starpu_sched_ctx_max_priority_is_set(ctx), 1);
    ck_assert_int_eq(starpu_sched_ctx_set_min_priority(ctx, 0), 0);
    ck_assert_int_eq(starpu_sched_ctx_set_max_priority(ctx, 0), 0);
    ck_assert_int_eq(starpu_sched_ctx_get_min_priority(ctx), -12);
    starpu_sched_ctx_set_context(&ctx);
    ck_assert_int_eq(STARPU_MAX_PRIO, 32);
    starpu_sched_ctx_set_context(NULL);
    ck_assert_uint_eq(starpu_sched_ctx_get_hierarchy_level(ctx), 3);
    ck_assert_ptr_eq(starpu_sched_ctx_get_user_data(ctx), &x);
    starpu_sched_ctx_set_user_data(ctx, &y);
    ck_assert_ptr_eq(starpu_sched_ctx_get_user_data(ctx), &y);
    ck_assert(starpu_sched_ctx_get_sched_policy_callback(ctx) == init_policy);
    ck_assert_uint_eq(starpu_sched_ctx_has_starpu_scheduler(ctx, &awake), 1);
    ck_assert_uint_eq(awake, 1);
    ck_assert_ptr_null(starpu_sched_ctx_get_policy_data(ctx));
    starpu_sched_ctx_set_policy_data(ctx, &x);
    ck_assert_ptr_eq(starpu_sched_ctx_get_policy_data(ctx), &x);
    ck_assert_ptr_null(starpu_sched_ctx_get_policy_data(0));
    ck_assert_ptr_null(
        starpu_sched_ctx_get_policy_data(STARPU_NMAX_SCHED_CTXS));
    starpu_sched_ctx_set_policy_data(STARPU_NMAX_SCHED_CTXS, &y);
    ck_assert_ptr_eq(starpu_sched_ctx_get_policy_data(STARPU_NMAX_SCHED_CTXS),
                     &y);
    starpu_sched_ctx_delete(ctx);
    ctx = starpu_sched_ctx_create(NULL, -1, "again",
                                  STARPU_SCHED_CTX_POLICY_NAME, "prio", 0);
    ck_assert_int_eq(starpu_sched_ctx_get_min_priority(ctx), INT_MIN);
    ck_assert_int_eq(starpu_sched_ctx_min_priority_is_set(ctx), 0);
    ck_assert_ptr_null(starpu_sched_ctx_get_policy_data(ctx));
    starpu_shutdown();
}
END_TEST

START_TEST(parts_of_a_device_are_numbered)
{
    unsigned a, b;
    int start, end;

    open_machine(_i);
    a = starpu_sched_ctx_create((int[]){0}, 1, "a",
                                STARPU_SCHED_CTX_POLICY_NAME, "eager",
                                STARPU_SCHED_CTX_CUDA_NSMS, 4,
                                STARPU_SCHED_CTX_SUB_CTXS, (int[]){0}, 1, 0);
    b = starpu_sched_ctx_create((int[]){1}, 1, "b",
                                STARPU_SCHED_CTX_POLICY_NAME, "eager",
                                STARPU_SCHED_CTX_CUDA_NSMS, 6, 0);
    ck_assert_int_eq(starpu_sched_ctx_get_nsms(a), 4);
    ck_assert_int_eq(starpu_sched_ctx_get_stream_worker(b), 1);
    starpu_sched_ctx_get_sms_interval(1, &start, &end);
    ck_assert_int_eq(start, 4);
    ck_assert_int_eq(end, 10);
    ck_assert_uint_eq(starpu_worker_get_sched_ctx_id_stream(1), b);
    starpu_shutdown();
}
END_TEST

/* --- deleting --- */

START_TEST(the_inheritor_gets_the_workers)
{
    unsigned a, b, c;
    int ids[STARPU_NMAXWORKERS];
    unsigned n;

    open_machine(_i);
    a = make_half(0, "eager");
    b = make_half(1, "lws");
    c = starpu_sched_ctx_create((int[]){0}, 1, "c",
                                STARPU_SCHED_CTX_POLICY_NAME, "prio", 0);
    ck_assert_uint_eq(starpu_sched_ctx_get_inheritor(b), 0);
    starpu_sched_ctx_set_inheritor(b, a);
    starpu_sched_ctx_set_inheritor(c, b);
    ck_assert_uint_eq(starpu_sched_ctx_get_inheritor(b), a);
    forget();
    submit_to(b, &cl, NTASKS);
    submit_to(a, &cl, NTASKS);
    starpu_sched_ctx_delete(b);
    ck_assert_uint_eq(starpu_sched_ctx_get_inheritor(c), a);
    ck_assert_uint_eq(starpu_sched_ctx_get_nworkers(a),
                      starpu_worker_get_count());
    n = half(1, ids);
    ck_assert_uint_eq(starpu_sched_ctx_get_priority(ids[n - 1], a), 1);
    submit_to(a, &cl, NTASKS);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&nran), 3 * NTASKS);
    starpu_shutdown();
}
END_TEST

static unsigned closed;

static void close_it(unsigned ctx, void *arg)
{
    ck_assert_ptr_eq(arg, &closed);
    closed = ctx;
}

START_TEST(the_last_task_closes_a_context)
{
    unsigned a, b;

    open_machine(_i);
    a = make_half(0, "eager");
    b = make_half(1, "lws");
    closed = 0;
    starpu_sched_ctx_set_inheritor(b, a);
    starpu_sched_ctx_register_close_callback(b, close_it, &closed);
    submit_to(b, &cl, NTASKS);
    starpu_task_wait_for_all();
    ck_assert_uint_eq(closed, 0);
    starpu_sched_ctx_finished_submit(b);
    ck_assert_uint_eq(closed, b);
    ck_assert_uint_eq(starpu_sched_ctx_get_nworkers(a),
                      starpu_worker_get_count());
    /* It goes on all the same. */
    starpu_sched_ctx_add_workers((int[]){0}, 1, b);
    forget();
    submit_to(b, &cl, NTASKS);
    starpu_sched_ctx_finished_submit(b);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&nran), NTASKS);
    starpu_sched_ctx_delete(b);
    starpu_sched_ctx_delete(a);
    starpu_shutdown();
}
END_TEST

/* --- contexts without policy --- */

static int ncpuids;

static void count_cpus(void *buffers[], void *arg)
{
    unsigned ctx = starpu_task_get_current()->sched_ctx;
    int *ids;

    note(buffers, arg);
    starpu_sched_ctx_get_available_cpuids(ctx, &ids, &ncpuids);
    free(ids);
}

static struct starpu_codelet cl_count = {.cpu_funcs = {count_cpus},
                                         .name = "k"};

START_TEST(without_policy_one_processor_executes_the_tasks)
{
    int ids[STARPU_NMAXWORKERS], master;
    unsigned n, ctx, awake = 9;

    open_machine(_i);
    n = cpus(ids);
    master = ids[0];
    ctx = starpu_sched_ctx_create(ids, (int)n, "none", 0);
    ck_assert_ptr_null(starpu_sched_ctx_get_sched_policy(ctx));
    ck_assert_uint_eq(starpu_sched_ctx_has_starpu_scheduler(ctx, &awake), 0);
    ck_assert_uint_eq(awake, 0);
    ck_assert_uint_eq(starpu_sched_ctx_master_get_context(master), ctx);
    ck_assert_uint_eq(starpu_sched_ctx_master_get_context(ids[n - 1]),
                      STARPU_NMAX_SCHED_CTXS);
    ck_assert_uint_eq(starpu_worker_is_blocked_in_parallel(master), 0);
    ck_assert_uint_eq(starpu_worker_is_blocked_in_parallel(ids[n - 1]), 1);
    ck_assert_uint_eq(starpu_worker_is_slave_somewhere(ids[n - 1]), 0);
    ck_assert_int_eq(starpu_sched_ctx_get_worker_rank(ctx), -1);
    ck_assert_int_eq(starpu_worker_get_perf_archtype(master, ctx)
                         ->devices[0]
                         .ncores,
                     (int)n);
    ck_assert_int_eq(
        starpu_worker_get_perf_archtype(master, 0)->devices[0].ncores, 1);
    forget();
    submit_to(ctx, &cl_count, NTASKS);
    submit_to(0, &cl_cpu, NTASKS);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&ran_on[master]), 2 * NTASKS);
    ck_assert_int_eq(ncpuids, (int)n);
    /* Another one is the master when this has gone. */
    starpu_sched_ctx_remove_workers(&master, 1, ctx);
    ck_assert_uint_eq(starpu_sched_ctx_master_get_context(ids[1]), ctx);
    forget();
    submit_to(ctx, &cl_count, NTASKS);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&ran_on[ids[1]]), NTASKS);
    ck_assert_int_eq(ncpuids, (int)n - 1);
    starpu_sched_ctx_delete(ctx);
    ck_assert_uint_eq(starpu_worker_is_blocked_in_parallel(ids[n - 1]), 0);
    starpu_shutdown();
}
END_TEST

START_TEST(workers_that_are_paused_can_be_blocked)
{
    int ids[STARPU_NMAXWORKERS];
    unsigned n, ctx;

    open_machine(_i);
    n = cpus(ids);
    starpu_pause();
    ctx = starpu_sched_ctx_create(ids, (int)n, "none", 0);
    forget();
    submit_to(ctx, &cl_cpu, NTASKS);
    ck_assert_int_eq(atomic_load(&nran), 0);
    starpu_resume();
    starpu_sched_ctx_delete(ctx);
    ck_assert_int_eq(atomic_load(&nran), NTASKS);
    starpu_shutdown();
}
END_TEST

START_TEST(an_empty_context_without_policy_gets_a_master)
{
    int ids[STARPU_NMAXWORKERS];
    unsigned n, ctx;

    open_machine(_i);
    n = cpus(ids);
    ctx = starpu_sched_ctx_create(NULL, 0, "none", 0);
    starpu_sched_ctx_set_context(&ctx);
    forget();
    ck_assert_int_eq(starpu_task_insert(&cl_cpu, 0), 0);
    starpu_sched_ctx_add_workers(ids, n, ctx);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&nran), 1);
    ck_assert_uint_eq(starpu_sched_ctx_master_get_context(ids[0]), ctx);
    starpu_sched_ctx_delete(ctx);
    ck_assert_uint_eq(starpu_sched_ctx_get_context(), STARPU_NMAX_SCHED_CTXS);
    starpu_shutdown();
}
END_TEST

static unsigned saw_ctx;

static void see_ctx(void *buffers[], void *arg)
{
    note(buffers, arg);
    saw_ctx = starpu_task_get_current()->sched_ctx;
}

static struct starpu_codelet cl_see = {.cpu_funcs = {see_ctx}, .name = "k"};

START_TEST(tasks_of_an_outer_context_run_in_the_inner_one)
{
    int ids[STARPU_NMAXWORKERS];
    unsigned n, outer, inner;

    open_machine(_i);
    n = cpus(ids);
    outer = starpu_sched_ctx_create(ids, (int)n, "outer",
                                    STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
    inner = starpu_sched_ctx_create(ids, (int)n, "inner",
                                    STARPU_SCHED_CTX_NESTED, outer, 0);
    ck_assert_uint_eq(
        starpu_sched_ctx_worker_is_master_for_child_ctx(ids[0], outer), inner);
    ck_assert_uint_eq(
        starpu_sched_ctx_worker_is_master_for_child_ctx(ids[0], 0),
        STARPU_NMAX_SCHED_CTXS);
    forget();
    saw_ctx = 0;
    submit_to(outer, &cl_see, NTASKS);
    starpu_sched_ctx_set_context(&outer);
    submit_to(inner, &cl_see, NTASKS);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&ran_on[ids[0]]), 2 * NTASKS);
    ck_assert_uint_eq(saw_ctx, inner);
    starpu_sched_ctx_delete(inner);
    starpu_sched_ctx_delete(outer);
    starpu_shutdown();
}
END_TEST

/* --- the processors for other code --- */

static unsigned nblocked;

static void *see_blocked(void *arg)
{
    nblocked = 0;
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        nblocked += starpu_worker_is_blocked_in_parallel((int)w);
    return arg;
}

START_TEST(parallel_code_has_the_processors)
{
    int ids[STARPU_NMAXWORKERS], x, *list, m;
    unsigned n, ctx;

    open_machine(_i);
    n = cpus(ids);
    ctx = starpu_sched_ctx_create(NULL, -1, "all",
                                  STARPU_SCHED_CTX_POLICY_NAME, "dmda", 0);
    forget();
    submit_to(ctx, &cl, NTASKS);
    ck_assert_ptr_eq(starpu_sched_ctx_exec_parallel_code(see_blocked, &x, ctx),
                     &x);
    ck_assert_uint_eq(nblocked, n);
    (void)see_blocked(NULL);
    ck_assert_uint_eq(nblocked, 0);
    submit_to(ctx, &cl_cpu, NTASKS);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&nran), 2 * NTASKS);
    starpu_sched_ctx_get_available_cpuids(ctx, &list, &m);
    ck_assert_int_eq(m, (int)n);
    if (!machine_simulated(_i)) {
        cpu_set_t set;

        starpu_sched_ctx_bind_current_thread_to_cpuid((unsigned)list[m - 1]);
        ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
        ck_assert_int_eq(CPU_COUNT(&set), 1);
    }
    free(list);
    starpu_shutdown();
}
END_TEST

static void *submit_more(void *arg)
{
    submit_to(*(unsigned *)arg, &cl_cpu, NTASKS);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        nblocked += (unsigned)atomic_load(&ran_on[w]);
    return NULL;
}

START_TEST(tasks_wait_until_the_processors_are_back)
{
    unsigned ctx = 0;
    int last;

    open_machine(_i);
    last = last_cpu();
    forget();
    nblocked = 0;
    (void)starpu_sched_ctx_exec_parallel_code(submit_more, &ctx, ctx);
    ck_assert_uint_eq(nblocked, 0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&nran), NTASKS);
    /* One that names its worker, too. */
    ctx = starpu_sched_ctx_create((int[]){last - 1, last}, 2, "none", 0);
    ck_assert_int_eq(starpu_task_insert(&cl, STARPU_EXECUTE_ON_WORKER, last, 0),
                     0);
    starpu_sched_ctx_delete(ctx);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&nran), NTASKS + 1);
    starpu_shutdown();
}
END_TEST

START_TEST(booked_processors_are_for_the_kernels_of_one)
{
    int ids[STARPU_NMAXWORKERS], master;
    unsigned n, ctx;

    open_machine(_i);
    n = cpus(ids);
    ctx = starpu_sched_ctx_create(NULL, -1, "all", STARPU_SCHED_CTX_POLICY_NAME,
                                  "lws", 0);
    master = starpu_sched_ctx_book_workers_for_task(ctx, ids, (int)n);
    ck_assert_int_eq(master, ids[0]);
    (void)see_blocked(NULL);
    ck_assert_uint_eq(nblocked, n - 1);
    ck_assert_uint_eq(starpu_worker_is_blocked_in_parallel(master), 0);
    /* Nobody has them twice. */
    ck_assert_int_eq(
        starpu_sched_ctx_book_workers_for_task(ctx, &ids[n - 1], 1), -EBUSY);
    forget();
    submit_to(ctx, &cl_cpu, NTASKS);
    submit_to(0, &cl_cpu, NTASKS);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&ran_on[master]), 2 * NTASKS);
    starpu_sched_ctx_unbook_workers_for_task(ctx, master);
    (void)see_blocked(NULL);
    ck_assert_uint_eq(nblocked, 0);
    ck_assert_int_eq(
        starpu_sched_ctx_book_workers_for_task(ctx, &ids[n - 1], 1),
        ids[n - 1]);
    starpu_sched_ctx_unbook_workers_for_task(ctx, ids[n - 1]);
    forget();
    ck_assert_int_eq(
        starpu_task_insert(&cl_cpu, STARPU_EXECUTE_ON_WORKER, ids[n - 1], 0),
        0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&ran_on[ids[n - 1]]), 1);
    starpu_shutdown();
}
END_TEST

static int nmine, ids_mine[STARPU_NMAXWORKERS];

static void book_others(void *buffers[], void *arg)
{
    unsigned ctx = *(unsigned *)arg;
    int ids[STARPU_NMAXWORKERS], *list, n = (int)cpus(ids);
    int master = starpu_sched_ctx_book_workers_for_task(ctx, ids, n);

    (void)buffers;
    ck_assert_int_eq(master, starpu_worker_get_id());
    starpu_sched_ctx_get_available_cpuids(ctx, &list, &nmine);
    for (int i = 0; i < nmine; i++)
        ids_mine[i] = list[i];
    free(list);
    starpu_sched_ctx_unbook_workers_for_task(ctx, master);
    starpu_sched_ctx_get_available_cpuids(ctx, &list, &n);
    ck_assert_int_eq(n, 1);
    free(list);
}

START_TEST(a_kernel_books_the_processors_beside_it)
{
    static struct starpu_codelet cl_book = {.cpu_funcs = {book_others},
                                            .name = "k"};
    int ids[STARPU_NMAXWORKERS];
    unsigned n, ctx, *arg = &ctx;

    open_machine(_i);
    n = cpus(ids);
    nmine = 0;
    ctx = starpu_sched_ctx_create(NULL, -1, "all", STARPU_SCHED_CTX_POLICY_NAME,
                                  "lws", 0);
    ck_assert_int_eq(starpu_task_insert(&cl_book, STARPU_SCHED_CTX, ctx,
                                        STARPU_EXECUTE_ON_WORKER, ids[1],
                                        STARPU_CL_ARGS_NFREE, arg, sizeof(*arg),
                                        0),
                     0);
    starpu_task_wait_for_all();
    ck_assert_int_eq(nmine, (int)n);
    for (int i = 1; i < nmine; i++) {
        int bound = starpu_worker_get_bindid(ids[i]);

        /* Workers share processors where these are fewer. */
        if (bound < 0 || bound != starpu_worker_get_bindid(ids[0]))
            ck_assert_int_ne(ids_mine[i], ids_mine[0]);
    }
    (void)see_blocked(NULL);
    ck_assert_uint_eq(nblocked, 0);
    starpu_shutdown();
}
END_TEST

START_TEST(what_cannot_be_booked_is_refused)
{
    int ids[STARPU_NMAXWORKERS];
    unsigned ctx;

    open_machine(_i);
    (void)cpus(ids);
    ctx = starpu_sched_ctx_create(ids, 1, "one", STARPU_SCHED_CTX_POLICY_NAME,
                                  "eager", 0);
    ck_assert_int_eq(starpu_sched_ctx_book_workers_for_task(ctx, &ids[1], 1),
                     -EINVAL);
    ck_assert_int_eq(starpu_sched_ctx_book_workers_for_task(ctx, NULL, 1),
                     -EINVAL);
    ck_assert_int_eq(starpu_sched_ctx_book_workers_for_task(ctx, ids, 0),
                     -EINVAL);
    ids[0] = starpu_worker_get_by_type(STARPU_CUDA_WORKER, 0);
    if (machine_simulated(_i)) /* it has one */
        ck_assert_int_ge(ids[0], 0);
    ck_assert_int_eq(starpu_sched_ctx_book_workers_for_task(0, ids, 1),
                     -EINVAL);
    starpu_shutdown();
}
END_TEST

/* --- with some of the workers that are free --- */

static unsigned interval(int min_cpus, int max_cpus, int min_gpus, int max_gpus,
                         unsigned overlap)
{
    return starpu_sched_ctx_create_inside_interval(
        "lws", "some", min_cpus, max_cpus, min_gpus, max_gpus, overlap);
}

START_TEST(a_context_gets_free_workers_of_an_interval)
{
    int ids[STARPU_NMAXWORKERS], *list;
    unsigned a, b, none = STARPU_NMAX_SCHED_CTXS, n;
    int ngpus;

    open_machine(_i);
    n = cpus(ids);
    ngpus = (int)(starpu_worker_get_count() - n);
    a = interval(1, 1, 0, 0, 0);
    ck_assert_uint_eq(starpu_sched_ctx_get_workers_list(a, &list), 1);
    ck_assert_int_eq(list[0], ids[0]);
    free(list);
    ck_assert_ptr_nonnull(starpu_sched_ctx_get_sched_policy(a));
    /* All that are left, which are fewer than the most. */
    b = interval(0, STARPU_NMAXWORKERS, 0, STARPU_NMAXWORKERS, 0);
    ck_assert_uint_eq(starpu_sched_ctx_get_nworkers(b),
                      n - 1 + (unsigned)ngpus);
    ck_assert_uint_eq(starpu_sched_ctx_get_nshared_workers(a, b), 0);
    ck_assert_uint_eq(interval(1, 2, 0, 0, 0), none);
    ck_assert_uint_eq(interval(0, 0, ngpus + 1, ngpus + 1, 1), none);
    forget();
    submit_to(b, &cl_cpu, NTASKS);
    submit_to(a, &cl_cpu, NTASKS);
    starpu_task_wait_for_all();
    ck_assert_int_eq(atomic_load(&ran_on[ids[0]]), NTASKS);
    starpu_sched_ctx_delete(b);
    b = interval(2, 2, 0, 0, 1);
    ck_assert_uint_eq(starpu_sched_ctx_get_nworkers(b), 2);
    ck_assert_uint_eq(starpu_sched_ctx_get_nshared_workers(a, b),
                      n > 2 ? 0 : 1);
    /* The numbers of those that were too few are free again. */
    ck_assert_uint_eq(
        starpu_sched_ctx_create_inside_interval(NULL, "none", 1, 1, 0, 0, 1),
        3);
    ck_assert_uint_eq(starpu_sched_ctx_has_starpu_scheduler(3, NULL), 0);
    starpu_shutdown();
}
END_TEST

SUITE_MAIN(contexts)
{
    Suite *suite = suite_create("contexts");
    TCase *tc = tcase_create("on each machine");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, tasks_stay_in_their_context, 0, NMACHINES);
    tcase_add_loop_test(tc, a_task_names_its_context_or_has_the_threads, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_context_that_is_gone_takes_no_tasks, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, waiting_for_one_context_is_not_for_the_others, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, ready_tasks_and_their_operations_are_counted, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, an_empty_task_marks_the_end_of_submission, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, workers_that_come_take_what_waited_for_them, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, workers_that_leave_take_no_more, 0, NMACHINES);
    tcase_add_loop_test(tc, workers_move_between_contexts_while_tasks_run, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, workers_of_contexts_are_known, 0, NMACHINES);
    tcase_add_loop_test(tc, a_kernel_knows_its_worker_in_the_context, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, what_is_said_of_a_context_is_kept, 0, NMACHINES);
    tcase_add_loop_test(tc, parts_of_a_device_are_numbered, 0, NMACHINES);
    tcase_add_loop_test(tc, the_inheritor_gets_the_workers, 0, NMACHINES);
    tcase_add_loop_test(tc, the_last_task_closes_a_context, 0, NMACHINES);
    tcase_add_loop_test(tc, without_policy_one_processor_executes_the_tasks, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, workers_that_are_paused_can_be_blocked, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, an_empty_context_without_policy_gets_a_master, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, tasks_of_an_outer_context_run_in_the_inner_one, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, parallel_code_has_the_processors, 0, NMACHINES);
    tcase_add_loop_test(tc, tasks_wait_until_the_processors_are_back, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, booked_processors_are_for_the_kernels_of_one, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, a_kernel_books_the_processors_beside_it, 0,
                        NMACHINES);
    tcase_add_loop_test(tc, what_cannot_be_booked_is_refused, 0, NMACHINES);
    tcase_add_loop_test(tc, a_context_gets_free_workers_of_an_interval, 0,
                        NMACHINES);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
