/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/instructions.c - the program that instructions.py counts: empty tasks,
 * on one processor in a real run. `instructions TASKS BUFFERS`. All tasks are submitted
 * before the first one runs, so that the counts do not depend on how two threads take
 * turns.
 */
#include "empty_tasks.h"

int main(int argc, char **argv)
{
    int ntasks = argc > 1 ? atoi(argv[1]) : 1;
    int nbuffers = argc > 2 ? atoi(argv[2]) : 0;

    if (starpu_init(NULL) != 0)
        return 77;
    if (nbuffers > 0)
        empty_data_register();
    starpu_pause();
    empty_tasks_submit(ntasks, nbuffers);
    starpu_resume();
    starpu_task_wait_for_all();
    if (nbuffers > 0)
        empty_data_unregister();
    starpu_shutdown();
    return 0;
}
