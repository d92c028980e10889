/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/instructions.c - the program that instructions.py counts: empty tasks,
 * on one processor in a real run. `instructions TASKS BUFFERS`; the data are those of
 * bench-tasks.c. All tasks are submitted before the first one runs, so that the counts
 * do not depend on how two threads take turns.
 */
#include <stdlib.h>

#include <starpu.h>

enum { NDATA = 64 };

static char datum[NDATA];

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet cl = {
    .cpu_funcs = {nothing},
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "empty",
};

int main(int argc, char **argv)
{
    int ntasks = argc > 1 ? atoi(argv[1]) : 1;
    int nbuffers = argc > 2 ? atoi(argv[2]) : 0;
    starpu_data_handle_t handle[NDATA];

    if (starpu_init(NULL) != 0)
        return 77;
    for (int d = 0; d < NDATA && nbuffers > 0; d++)
        starpu_variable_data_register(&handle[d], STARPU_MAIN_RAM,
                                      (uintptr_t)&datum[d], 1);
    starpu_pause();
    for (int i = 0; i < ntasks; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        task->nbuffers = nbuffers;
        for (int b = 0; b < nbuffers; b++) {
            task->handles[b] = handle[(i + b * 17) % NDATA];
            task->modes[b] = STARPU_RW;
        }
        if (starpu_task_submit(task) != 0)
            return 1;
    }
    starpu_resume();
    starpu_task_wait_for_all();
    for (int d = 0; d < NDATA && nbuffers > 0; d++)
        starpu_data_unregister(handle[d]);
    starpu_shutdown();
    return 0;
}
