/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/empty_tasks.h - that graph (empty_graph.h) as tasks of this library. One
 * program per process; between starpu_init and starpu_shutdown.
 */
#pragma once

#include <stdlib.h>

#include <starpu.h>

#include "empty_graph.h"

static char empty_datum[NDATA];
static starpu_data_handle_t empty_handle[NDATA];

static void empty_kernel(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet empty_cl = {
    .cpu_funcs = {empty_kernel},
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "empty",
};

static inline void empty_data_register(void)
{
    for (int d = 0; d < NDATA; d++)
        starpu_variable_data_register(&empty_handle[d], STARPU_MAIN_RAM,
                                      (uintptr_t)&empty_datum[d], 1);
}

static inline void empty_data_unregister(void)
{
    for (int d = 0; d < NDATA; d++)
        starpu_data_unregister(empty_handle[d]);
}

/* Ends the program where a task is refused. */
static inline void empty_tasks_submit(int ntasks, int nbuffers)
{
    for (int i = 0; i < ntasks; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &empty_cl;
        task->nbuffers = nbuffers;
        for (int b = 0; b < nbuffers; b++) {
            task->handles[b] = empty_handle[datum_of(i, b)];
            task->modes[b] = STARPU_RW;
        }
        if (starpu_task_submit(task) != 0)
            exit(1);
    }
}
