/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fake/bench.c - an application as benchmarks of runtimes are: no codelet has a
 * model, some have no data, two share a name, one has none, one has two implementations;
 * tasks are submitted again, and a reduction makes tasks of the library's own. On the
 * fake machine each kernel takes a time of its own; simulated, none is executed.
 *
 * usage: bench TASKS [FLOPS...]
 */
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/exec.h"

static unsigned long nruns;

/* No two runs take equally long. */
static void take(double us)
{
    orr_self->debt += us * (1 + 0.001 * (double)(++nruns % 97));
}

static void compute(void **buffers, void *arg)
{
    (void)buffers;
    take(*(const double *)arg / 1000);
}

static void first_way(void **buffers, void *arg)
{
    (void)buffers;
    (void)arg;
    take(70);
}

static void second_way(void **buffers, void *arg)
{
    (void)buffers;
    (void)arg;
    take(50);
}

static void change(void **buffers, void *arg)
{
    (void)buffers;
    (void)arg;
    take(30);
}

static void clear(void **buffers, void *arg)
{
    (void)arg;
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static struct starpu_codelet step = {.cpu_funcs = {compute}, .name = "step"};
static struct starpu_codelet same_name = {
    .cpu_funcs = {change},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "step",
};
static struct starpu_codelet nameless = {
    .cpu_funcs = {first_way},
    .cpu_funcs_name = {"first_way"},
    .nbuffers = 1,
    .modes = {STARPU_RW},
};
static struct starpu_codelet two_ways = {
    .cpu_funcs = {first_way, second_way},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .name = "two ways",
};
static struct starpu_codelet add = {
    .cpu_funcs = {change},
    .nbuffers = 1,
    .modes = {STARPU_REDUX},
    .name = "add",
};
static struct starpu_codelet join = {
    .cpu_funcs = {change},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
    .name = "join",
};
static struct starpu_codelet begin = {
    .cpu_funcs = {clear},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "begin",
};

static void submit(struct starpu_task *task)
{
    if (starpu_task_submit(task) != 0)
        exit(1);
}

static void submit_one(struct starpu_codelet *cl, starpu_data_handle_t handle)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = cl;
    task->handles[0] = handle;
    submit(task);
}

/* A task that is submitted several times. */
static void submit_again(double *flops)
{
    struct starpu_task task;

    starpu_task_init(&task);
    task.cl = &step;
    task.detach = 0;
    task.cl_arg = flops;
    task.flops = *flops;
    for (int i = 0; i < 3; i++) {
        submit(&task);
        if (starpu_task_wait(&task) != 0)
            exit(1);
    }
    starpu_task_clean(&task);
}

int main(int argc, char **argv)
{
    static double flops[16] = {20000, 40000, 80000};
    struct starpu_codelet *const codelets[] = {&same_name, &nameless, &two_ways,
                                               &add};
    int values[4] = {0}, ntasks = argc > 1 ? atoi(argv[1]) : 60, nflops = 3;
    starpu_data_handle_t handles[4];

    for (int i = 2; i < argc && i < 18; i++) {
        flops[i - 2] = atof(argv[i]);
        nflops = i - 1;
    }
    if (starpu_init(NULL) != 0)
        return 1;
    for (int i = 0; i < 4; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&values[i], sizeof(int));
    starpu_data_set_reduction_methods(handles[3], &join, &begin);
    for (int i = 0; i < ntasks; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &step;
        task->cl_arg = &flops[i % nflops];
        task->flops = flops[i % nflops];
        submit(task);
        submit_one(codelets[i % 4], handles[i % 4]);
        if (i % 16 == 15) { /* what the workers have added is joined */
            if (starpu_data_acquire(handles[3], STARPU_R) != 0)
                exit(1);
            starpu_data_release(handles[3]);
        }
    }
    submit_again(&flops[0]);
    starpu_task_wait_for_all();
    for (int i = 0; i < 4; i++)
        starpu_data_unregister(handles[i]);
    starpu_shutdown();
    return 0;
}
