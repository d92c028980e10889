/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/gpu-graph.c - see gpu-graph.h. */
#include "gpu-graph.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "on-gpu.h"

/* -- a kernel -- */

void gpu_compute(const struct gpu_step *step)
{
    for (unsigned i = 0; i < step->n; i++)
        step->to[i] =
            3 * step->to[i] + (step->from ? step->from[i] : 0) + step->add + i;
}

/* Steps under way. That of a kernel which fails is never computed, nor freed: it stays
 * here, and is no leak. */
static _Atomic(struct gpu_step *) launched[64];

static void replace(struct gpu_step *from, struct gpu_step *to)
{
    for (unsigned i = 0; i < sizeof(launched) / sizeof(launched[0]); i++) {
        struct gpu_step *expected = from;

        if (atomic_compare_exchange_strong(&launched[i], &expected, to))
            return;
    }
}

static void end_step(struct gpu_step *step)
{
    replace(step, NULL);
    free(step);
}

static void compute_on_device(void *arg)
{
    gpu_compute(arg);
    end_step(arg);
}

static struct gpu_step step_of(void *buffers[], void *arg, bool two)
{
    struct gpu_step step = {
        .to = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]),
        .from = two ? (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]) : NULL,
        .n = STARPU_VECTOR_GET_NX(buffers[0]),
    };

    starpu_codelet_unpack_args(arg, &step.add);
    return step;
}

static unsigned nbuffers(void)
{
    return (unsigned)STARPU_TASK_GET_NBUFFERS(starpu_task_get_current());
}

static void on_cpu(void *buffers[], void *arg)
{
    const struct gpu_step step = step_of(buffers, arg, nbuffers() == 2);

    gpu_compute(&step);
}

/* On a GPU the kernel is the host's, between copies out and back in. */
struct staged {
    struct gpu_step step;
    uint64_t to[GPU_LENGTH], from[GPU_LENGTH];
};

static void compute_staged(void *stream, int code, void *arg)
{
    const struct staged *staged = arg;

    (void)stream;
    if (!code)
        gpu_compute(&staged->step);
}

static void free_staged(void *stream, int code, void *arg)
{
    (void)stream;
    (void)code;
    free(arg);
}

static int put_staged(const struct gpu_step *step)
{
    size_t size = step->n * sizeof(*step->to);
    struct staged *staged = malloc(sizeof(*staged));
    int code;

    staged->step = *step;
    staged->step.to = staged->to;
    code = on_put_read(staged->to, (uintptr_t)step->to, size);
    if (step->from) {
        staged->step.from = staged->from;
        code |= on_put_read(staged->from, (uintptr_t)step->from, size);
    }
    code |= on_put_call(compute_staged, staged);
    code |= on_put_write((uintptr_t)step->to, staged->to, size);
    return code | on_put_call(free_staged, staged);
}

static void put_step(void *buffers[], void *arg)
{
    struct gpu_step *step = malloc(sizeof(*step));

    *step = step_of(buffers, arg, nbuffers() == 2);
    if (!on_is_standin()) {
        (void)put_staged(step);
        free(step);
        return;
    }
    step->to = on_bytes(step->to);
    step->from = step->from ? on_bytes(step->from) : NULL;
    replace(NULL, step);
    if (on_launch(compute_on_device, step) != 0)
        end_step(step);
}

static void put_step_and_wait(void *buffers[], void *arg)
{
    put_step(buffers, arg);
    (void)on_synchronize();
}

struct starpu_codelet gpu_add[2] = {
    {
        .cpu_funcs = {on_cpu},
        .on_funcs = {put_step},
        .on_flags = {STARPU_CUDA_ASYNC},
        .nbuffers = 2,
        .modes = {STARPU_RW, STARPU_R},
        .name = "add",
    },
    {
        .cpu_funcs = {on_cpu},
        .on_funcs = {put_step_and_wait},
        .nbuffers = 2,
        .modes = {STARPU_RW, STARPU_R},
        .name = "add_now",
    },
};

struct starpu_codelet gpu_scale = {
    .on_funcs = {put_step},
    .on_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "scale",
};

/* -- random graphs -- */

enum { NDATA = 6, NTASKS = 60 };

static unsigned next(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*random >> 40);
}

void gpu_run_graph(uint64_t seed)
{
    static uint64_t expected[NDATA][GPU_LENGTH];
    uint64_t *found[NDATA], random = seed;
    starpu_data_handle_t handles[NDATA];
    int workers[STARPU_NMAXWORKERS];
    unsigned nworkers = (unsigned)starpu_worker_get_ids_by_type(
        ON_WORKER, workers, STARPU_NMAXWORKERS);

    for (unsigned d = 0; d < NDATA; d++) {
        ck_assert_int_eq(starpu_malloc((void **)&found[d], sizeof(expected[d])),
                         0);
        for (unsigned i = 0; i < GPU_LENGTH; i++)
            found[d][i] = expected[d][i] = seed + d * 1000 + i;
        starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                    (uintptr_t)found[d], GPU_LENGTH,
                                    sizeof(uint64_t));
    }
    for (unsigned t = 0; t < NTASKS; t++) {
        unsigned to = next(&random) % NDATA, from = next(&random) % NDATA;
        bool scale = to == from;
        uint64_t add = t;
        struct starpu_codelet *cl = &gpu_add[next(&random) % 2];
        /* Of some graphs most tasks name a worker: they follow others in its queue. */
        int worker = seed % 3 && next(&random) % 8
                         ? workers[next(&random) % 4 % nworkers]
                         : -1;

        gpu_compute(&(struct gpu_step){
            expected[to], scale ? NULL : expected[from], add, GPU_LENGTH});
        if (scale)
            ck_assert_int_eq(starpu_task_insert(&gpu_scale, STARPU_RW,
                                                handles[to], STARPU_VALUE, &add,
                                                sizeof(add),
                                                STARPU_EXECUTE_ON_WORKER,
                                                worker, 0),
                             0);
        else
            ck_assert_int_eq(starpu_task_insert(cl, STARPU_RW, handles[to],
                                                STARPU_R, handles[from],
                                                STARPU_VALUE, &add, sizeof(add),
                                                STARPU_EXECUTE_ON_WORKER,
                                                worker, 0),
                             0);
    }
    for (unsigned d = 0; d < NDATA; d++) {
        starpu_data_unregister(handles[d]);
        ck_assert_msg(memcmp(found[d], expected[d], sizeof(expected[d])) == 0,
                      "seed %lu: datum %u is wrong", (unsigned long)seed, d);
        starpu_free_noflag(found[d], sizeof(expected[d]));
    }
}

/* -- links -- */

void gpu_measure_links(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        setenv("GPU_STANDIN", "devices=2 delay=0", 1);
        setenv("STARPU_SILENT", "1", 1);
        if (starpu_init(NULL) != 0)
            _exit(1);
        starpu_shutdown();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fputs("the links of the devices cannot be measured\n", stderr);
        exit(1);
    }
}
