/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/medley.c - a run with a bit of everything, or of some things, whose traces
 * have totals, for test-trace-totals.py. One thread.
 *
 * usage: medley N [KIND...] [rounds]
 *   reduction  N tasks add to a sum, which is then read
 *   partition  a vector is written as a whole, and in parts, N times
 *   contexts   contexts come, have N tasks, and go
 *   disk       data are written to a disk and read again
 *   parallel   tasks that several processors execute together, one way or the other
 *   eviction   more data than devices have memory for
 *   acquire    the application reads and writes data between N tasks
 *   waits      kernels that wait for tasks that they submit
 *   rounds     all again, after the runtime was shut down
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

enum { LENGTH = 1 << 16, NDATA = 24, NPARTS = 4 };

static float values[NDATA][LENGTH];
static starpu_data_handle_t handles[NDATA];
static unsigned n;

static void compute(void *buffers[], void *arg)
{
    volatile unsigned long count = 0;

    (void)buffers, (void)arg;
    for (unsigned i = 0; i < 2000; i++)
        count = count + i;
}

static void wait_inside(void *buffers[], void *arg);

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "medley"};
static struct starpu_codelet once = {.cpu_funcs = {compute},
                                     .cuda_funcs = {compute},
                                     .nbuffers = 1,
                                     .modes = {STARPU_RW},
                                     .model = &model,
                                     .name = "once"};
static struct starpu_codelet both = {.cpu_funcs = {compute},
                                     .cuda_funcs = {compute},
                                     .nbuffers = 2,
                                     .modes = {STARPU_R, STARPU_RW},
                                     .name = "both"};
static struct starpu_codelet adds = {.cpu_funcs = {compute},
                                     .cuda_funcs = {compute},
                                     .nbuffers = 1,
                                     .modes = {STARPU_REDUX},
                                     .name = "adds"};
static struct starpu_codelet zero = {.cpu_funcs = {compute},
                                     .cuda_funcs = {compute},
                                     .nbuffers = 1,
                                     .modes = {STARPU_W},
                                     .name = "zero"};
static struct starpu_codelet sums = {.cpu_funcs = {compute},
                                     .cuda_funcs = {compute},
                                     .nbuffers = 2,
                                     .modes = {STARPU_RW, STARPU_R},
                                     .name = "sums"};
static struct starpu_codelet forks = {.cpu_funcs = {compute},
                                      .type = STARPU_FORKJOIN,
                                      .max_parallelism = INT32_MAX,
                                      .nbuffers = 1,
                                      .modes = {STARPU_RW},
                                      .name = "forks"};
static struct starpu_codelet waiting = {.cpu_funcs = {wait_inside},
                                        .nbuffers = 0,
                                        .name = "waiting",
                                        .flags =
                                            STARPU_CODELET_SIMGRID_EXECUTE};

static void submit(struct starpu_codelet *cl, starpu_data_handle_t a,
                   starpu_data_handle_t b, unsigned ctx)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->handles[0] = a;
    if (b)
        task->handles[1] = b;
    task->sched_ctx = ctx;
    if (starpu_task_submit(task) != 0)
        exit(EXIT_FAILURE);
}

static void wait_inside(void *buffers[], void *arg)
{
    struct starpu_task *task = starpu_task_create();

    (void)buffers, (void)arg;
    task->cl = &once;
    task->handles[0] = handles[1];
    task->detach = 0;
    task->destroy = 1;
    if (starpu_task_submit(task) != 0 || starpu_task_wait(task) != 0)
        exit(EXIT_FAILURE);
}

static void reduction(void)
{
    starpu_data_set_reduction_methods(handles[0], &sums, &zero);
    for (unsigned i = 0; i < n; i++)
        submit(&adds, handles[0], NULL, 0);
    submit(&once, handles[0], NULL, 0);
}

static void partition(void)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block, .nchildren = NPARTS};
    starpu_data_handle_t parts[NPARTS];

    starpu_data_partition_plan(handles[1], &filter, parts);
    for (unsigned i = 0; i < n; i++) {
        submit(&once, handles[1], NULL, 0);
        for (unsigned p = 0; p < NPARTS; p++)
            submit(&once, parts[p], NULL, 0);
    }
    starpu_data_partition_clean(handles[1], NPARTS, parts);
    starpu_data_partition(handles[2], &filter);
    for (unsigned p = 0; p < NPARTS; p++)
        submit(&once, starpu_data_get_sub_data(handles[2], 1, p), NULL, 0);
    starpu_data_unpartition(handles[2], STARPU_MAIN_RAM);
}

static void contexts(void)
{
    for (unsigned round = 0; round < 3; round++) {
        int workers[2] = {0, 1};
        unsigned a = starpu_sched_ctx_create(
            workers, 1, "first", STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
        unsigned b = starpu_sched_ctx_create(workers + 1, 1, "second", 0);

        for (unsigned i = 0; i < n; i++)
            submit(&once, handles[3 + i % 4], NULL, i % 2 ? a : b);
        starpu_task_wait_for_all_in_ctx(a);
        starpu_task_wait_for_all_in_ctx(b);
        starpu_sched_ctx_delete(b);
        starpu_sched_ctx_delete(a);
    }
}

static void disk(void)
{
    const char *parent = getenv("TMPDIR"); /* which the test removes */
    char folder[4096];
    int node;
    starpu_data_handle_t handle;

    snprintf(folder, sizeof(folder), "%s/medley-XXXXXX",
             parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        exit(EXIT_FAILURE);
    node = starpu_disk_register(&starpu_disk_unistd_ops, folder,
                                STARPU_DISK_SIZE_MIN);
    if (node < 0)
        exit(EXIT_FAILURE);
    starpu_vector_data_register(&handle, -1, 0, LENGTH, sizeof(float));
    submit(&zero, handle, NULL, 0);
    for (unsigned i = 0; i < 3; i++) {
        starpu_data_acquire_on_node(handle, node, STARPU_RW);
        starpu_data_release_on_node(handle, node);
        submit(&once, handle, NULL, 0);
    }
    starpu_data_unregister(handle);
}

static void parallel(void)
{
    for (unsigned i = 0; i < n; i++) {
        forks.type = i % 2 ? STARPU_FORKJOIN : STARPU_SPMD;
        submit(&forks, handles[7], NULL, 0);
        starpu_task_wait_for_all();
    }
}

static void eviction(void)
{
    for (unsigned i = 0; i < 4 * n; i++)
        submit(&both, handles[i % NDATA], handles[(i * 7 + 3) % NDATA], 0);
}

static void acquire(void)
{
    for (unsigned i = 0; i < n; i++) {
        submit(&once, handles[8], NULL, 0);
        starpu_data_acquire(handles[8], i % 2 ? STARPU_R : STARPU_RW);
        starpu_data_release(handles[8]);
    }
}

static void waits(void)
{
    for (unsigned i = 0; i < n; i++)
        submit(&waiting, NULL, NULL, 0);
    starpu_task_wait_for_all();
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {{"reduction", reduction}, {"partition", partition},
             {"contexts", contexts},   {"disk", disk},
             {"parallel", parallel},   {"eviction", eviction},
             {"acquire", acquire},     {"waits", waits}};

static void run(const char *name)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        if (!strcmp(kinds[k].name, name)) {
            kinds[k].run();
            starpu_task_wait_for_all();
        }
}

int main(int argc, char **argv)
{
    bool rounds = !strcmp(argv[argc - 1], "rounds");

    n = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    for (unsigned round = 0; round <= rounds; round++) {
        if (starpu_init(NULL) != 0)
            return 77;
        for (unsigned d = 0; d < NDATA; d++)
            starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                        (uintptr_t)values[d], LENGTH,
                                        sizeof(float));
        for (int k = 2; k < argc; k++)
            run(argv[k]);
        for (unsigned d = 0; d < NDATA; d++)
            starpu_data_unregister(handles[d]);
        starpu_shutdown();
    }
    return EXIT_SUCCESS;
}
