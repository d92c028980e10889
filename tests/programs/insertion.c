/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* insertion.c - what starpu_task_insert takes beside data and values: arrays of
 * data, a worker, tags, names, callbacks of each kind, tasks that end others. */
#include "expect.h"

#include <starpu.h>

#define N 10

static int order[8];
static unsigned steps;

static void note(int what)
{
    unsigned at = __atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED);

    if (at < 8)
        order[at] = what;
}

static void prologue(void *arg)
{
    note(*(int *)arg);
}

static void sum(void *buffers[], void *arg)
{
    int *to = (int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    int offset, factor;

    starpu_codelet_unpack_args(arg, &offset, &factor);
    *to = offset;
    for (int i = 1; i <= N; i++)
        *to += factor * *(const int *)STARPU_VARIABLE_GET_PTR(buffers[i]);
}

static void where(void *buffers[], void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) = starpu_worker_get_id();
}

static struct starpu_perfmodel sum_model = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "sum"};
static struct starpu_codelet sum_cl = {.cpu_funcs = {sum},
                                       .cuda_funcs = {sum},
                                       .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                       .model = &sum_model,
                                       .name = "sum"};
static struct starpu_codelet where_cl = {.cpu_funcs = {where},
                                         .cuda_funcs = {where},
                                         .nbuffers = 1,
                                         .modes = {STARPU_W},
                                         .name = "where"};

static void arrays(void)
{
    static int term[N], total;
    starpu_data_handle_t handle[N], to;
    struct starpu_data_descr descr[N];
    int offset = 1000, factor = 3, before = 1, after = 2;

    starpu_variable_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)&total,
                                  sizeof(int));
    for (int i = 0; i < N; i++) {
        term[i] = i;
        starpu_variable_data_register(&handle[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&term[i], sizeof(int));
        descr[i] = (struct starpu_data_descr){handle[i], STARPU_R};
    }
    EXPECT(starpu_task_insert(
               &sum_cl, STARPU_W, to, STARPU_DATA_MODE_ARRAY, descr, N,
               STARPU_VALUE, &offset, sizeof(offset), STARPU_VALUE, &factor,
               sizeof(factor), STARPU_NAME, "total", STARPU_PRIORITY, 3,
               STARPU_PROLOGUE_CALLBACK, prologue,
               STARPU_PROLOGUE_CALLBACK_ARG_NFREE, &before,
               STARPU_CALLBACK_WITH_ARG_NFREE, prologue, &after, STARPU_TAG,
               (starpu_tag_t)77, STARPU_FLOPS, 20.0, 0) == 0);
    EXPECT(starpu_tag_wait((starpu_tag_t)77) == 0);
    starpu_tag_remove((starpu_tag_t)77);
    EXPECT(starpu_data_acquire(to, STARPU_R) == 0);
    EXPECT_RESULT(total == offset + factor * N * (N - 1) / 2);
    starpu_data_release(to);
    for (int i = 0; i < N; i++)
        starpu_data_unregister(handle[i]);
    starpu_data_unregister(to);
    EXPECT(starpu_task_wait_for_all() == 0);
    EXPECT(steps == 2 && order[0] == before && order[1] == after);
}

static void each_worker(void)
{
    for (unsigned worker = 0; worker < starpu_worker_get_count(); worker++) {
        static int ran_on;
        starpu_data_handle_t to;

        starpu_variable_data_register(&to, STARPU_MAIN_RAM, (uintptr_t)&ran_on,
                                      sizeof(int));
        EXPECT(starpu_task_insert(&where_cl, STARPU_W, to,
                                  STARPU_EXECUTE_ON_WORKER, (int)worker,
                                  STARPU_TASK_SYNCHRONOUS, 1, 0) == 0);
        starpu_data_unregister(to);
        EXPECT_RESULT(ran_on == (int)worker);
    }
}

int main(void)
{
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    arrays();
    each_worker();
    starpu_shutdown();
    return 0;
}
