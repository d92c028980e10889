/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/loopback.c - data that go to and fro between main memory and
 * loopback devices; status 0 only if all values are right in the end. For
 * test-loopback-faults.py.
 *
 * usage: loopback [chain | pure | tries | sum | fresh | named | copies |
 *                  late | queued]
 *
 * chain: tasks change vectors in place; pure: they write vectors from others;
 * tries: the same with starpu_task_ft_prologue; sum: they contribute to reductions;
 * fresh: the same, of data that have no value before; named: as chain, one after the
 * other, each for the last worker alone; copies: as chain, each value is copied to
 * another vector by the library (starpu_data_cpy); late: the only device is lost while a
 * policy looks for a worker; queued: it is lost when a policy has more for it.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

enum { N = 4, LENGTH = 1000, ROUNDS = 5 };

static int v[2 * N][LENGTH];
static starpu_data_handle_t handles[2 * N];
static atomic_int failures; /* tries that had failed */

/* --- kernels --- */

static int *values(void *buffer)
{
    return (int *)STARPU_VECTOR_GET_PTR(buffer);
}

static void add_one(void *buffers[], void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        values(buffers[0])[i]++;
}

static void plus_one(void *buffers[], void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        values(buffers[0])[i] = values(buffers[1])[i] + 1;
}

static void zero(void *buffers[], void *arg)
{
    (void)arg;
    memset(values(buffers[0]), 0,
           STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(int));
}

static void add_up(void *buffers[], void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        values(buffers[0])[i] += values(buffers[1])[i];
}

static struct starpu_codelet add_one_cl = {.cpu_funcs = {add_one},
                                           .nbuffers = 1,
                                           .modes = {STARPU_RW},
                                           .name = "add_one"},
                             plus_one_cl = {.cpu_funcs = {plus_one},
                                            .nbuffers = 2,
                                            .modes = {STARPU_W, STARPU_R},
                                            .name = "plus_one"},
                             contribute_cl = {.cpu_funcs = {add_one},
                                              .nbuffers = 1,
                                              .modes = {STARPU_REDUX},
                                              .name = "contribute"},
                             zero_cl = {.cpu_funcs = {zero},
                                        .nbuffers = 1,
                                        .modes = {STARPU_W},
                                        .name = "zero"},
                             add_up_cl = {.cpu_funcs = {add_up},
                                          .nbuffers = 2,
                                          .modes = {STARPU_RW | STARPU_COMMUTE,
                                                    STARPU_R},
                                          .name = "add_up"};

/* --- what is done to vector d in a round --- */

static void chain(int d, int round)
{
    (void)round;
    if (starpu_task_insert(&add_one_cl, STARPU_RW, handles[d], 0) != 0)
        exit(2);
}

/* From the vector or to it; the other half of the vectors is the other end. */
static void pure(int d, int round)
{
    int to = round % 2 ? d : d + N, from = round % 2 ? d + N : d;

    if (starpu_task_insert(&plus_one_cl, STARPU_W, handles[to], STARPU_R,
                           handles[from], 0) != 0)
        exit(2);
}

static void check_try(void *arg)
{
    struct starpu_task *meta = arg, *try = starpu_task_get_current();

    if (!try->failed) {
        starpu_task_ft_success(meta);
        return;
    }
    atomic_fetch_add(&failures, 1);
    if (starpu_task_submit_nodeps(
            starpu_task_ft_create_retry(meta, try, check_try)) != 0)
        exit(2);
}

static void tries(int d, int round)
{
    int to = round % 2 ? d : d + N, from = round % 2 ? d + N : d;

    if (starpu_task_insert(
            &plus_one_cl, STARPU_W, handles[to], STARPU_R, handles[from],
            STARPU_PROLOGUE_CALLBACK, starpu_task_ft_prologue,
            STARPU_PROLOGUE_CALLBACK_ARG_NFREE, check_try, 0) != 0)
        exit(2);
}

static void named(int d, int round)
{
    (void)round;
    if (starpu_task_insert(&add_one_cl, STARPU_RW, handles[d],
                           STARPU_EXECUTE_ON_WORKER,
                           (int)starpu_worker_get_count() - 1, 0) != 0)
        exit(2);
    starpu_task_wait_for_all();
}

static void copies(int d, int round)
{
    chain(d, round);
    if (starpu_data_cpy(handles[d + N], handles[d], 1, NULL, NULL) != 0)
        exit(2);
}

static void sum(int d, int round)
{
    (void)round;
    if (starpu_task_insert(&contribute_cl, STARPU_REDUX, handles[d], 0) != 0)
        exit(2);
}

static void fresh(int d, int round)
{
    if (round == 0)
        starpu_data_invalidate_submit(handles[d]);
    sum(d, round);
}

/* --- tasks of which the first one, a try, loses the device --- */

static atomic_bool lost;

static void note_lost(void *arg)
{
    atomic_store(&lost, starpu_task_get_current()->failed);
    starpu_task_ft_success(arg);
}

/* How often the second one was asked about: when it is submitted, then by a policy,
 * which gets no answer before the device is lost. */
static atomic_int late_questions;

static int can_execute(unsigned worker, struct starpu_task *task, unsigned n)
{
    (void)worker;
    (void)task;
    (void)n;
    if (atomic_fetch_add(&late_questions, 1) == 0)
        return 1;
    while (!atomic_load(&lost))
        sched_yield();
    return 0;
}

/* The first one does not lose the device before the second one is accepted. Called by
 * main, too, for the task whose try the worker runs. */
static void wait_for_late(void *arg)
{
    (void)arg;
    if (starpu_worker_get_id() < 0)
        return;
    while (atomic_load(&late_questions) == 0)
        sched_yield();
}

static void late(int d, int round)
{
    static struct starpu_codelet cl = {.cpu_funcs = {add_one},
                                       .can_execute = can_execute,
                                       .nbuffers = 1,
                                       .modes = {STARPU_RW},
                                       .name = "late"};

    if (round > 0 || d > 0)
        return;
    if (starpu_task_insert(
            &plus_one_cl, STARPU_W, handles[1], STARPU_R, handles[2],
            STARPU_PROLOGUE_CALLBACK, starpu_task_ft_prologue,
            STARPU_PROLOGUE_CALLBACK_ARG_NFREE, note_lost,
            STARPU_PROLOGUE_CALLBACK_POP, wait_for_late, 0) != 0 ||
        starpu_task_insert(&cl, STARPU_RW, handles[0], 0) != 0)
        exit(2);
}

/* Several, of which a policy keeps those behind the first. */
static void queued(int d, int round)
{
    if (round > 0)
        return;
    if (d == 0) {
        starpu_pause();
        if (starpu_task_insert(
                &zero_cl, STARPU_W, handles[0], STARPU_PROLOGUE_CALLBACK,
                starpu_task_ft_prologue, STARPU_PROLOGUE_CALLBACK_ARG_NFREE,
                note_lost, 0) != 0)
            exit(2);
    } else if (starpu_task_insert(&zero_cl, STARPU_W, handles[d], 0) != 0) {
        exit(2);
    }
    if (d == N - 1)
        starpu_resume();
}

static const struct {
    const char *name;
    void (*step)(int d, int round);
    int first; /* where the results are */
} modes[] = {
    {"chain", chain, 0},   {"pure", pure, N},   {"tries", tries, N},
    {"sum", sum, 0},       {"fresh", fresh, 0}, {"named", named, 0},
    {"copies", copies, N}, {"late", late, 0},   {"queued", queued, 0},
};

static unsigned find_mode(const char *name)
{
    for (unsigned m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
        if (strcmp(modes[m].name, name) == 0)
            return m;
    exit(2);
}

int main(int argc, char *argv[])
{
    unsigned mode = find_mode(argc > 1 ? argv[1] : "chain");
    int wrong = 0;

    if (starpu_init(NULL) != 0)
        return 77;
    for (int d = 0; d < 2 * N; d++)
        starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                    (uintptr_t)v[d], LENGTH, sizeof(int));
    for (int d = 0; d < N; d++)
        starpu_data_set_reduction_methods(handles[d], &add_up_cl, &zero_cl);
    for (int round = 0; round < ROUNDS; round++)
        for (int d = 0; d < N; d++)
            modes[mode].step(d, round);
    /* Before any is unregistered: what a device had for it would serve another. */
    starpu_task_wait_for_all();
    for (int d = 0; d < 2 * N; d++)
        starpu_data_unregister(handles[d]);
    starpu_shutdown();
    for (int d = 0; d < N; d++)
        for (int i = 0; i < LENGTH; i++)
            wrong += v[modes[mode].first + d][i] != ROUNDS;
    printf("%d tries had failed\n", atomic_load(&failures));
    return wrong ? 3 : 0;
}
