/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/bench/rivals-orrery.c - see rivals.h. Threads: workers, beside main. */
#include <starpu.h>

#include "rivals.h"

static starpu_data_handle_t handle[NDATA];
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

static void run(int ntasks, int nbuffers, int nthreads)
{
    (void)nthreads;
    for (int i = 0; i < ntasks; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &cl;
        task->nbuffers = nbuffers;
        for (int b = 0; b < nbuffers; b++) {
            task->handles[b] = handle[datum_of(i, b)];
            task->modes[b] = STARPU_RW;
        }
        if (starpu_task_submit(task) != 0)
            exit(1);
    }
    starpu_task_wait_for_all();
}

int main(int argc, char **argv)
{
    struct starpu_conf conf;
    int rc;

    starpu_conf_init(&conf);
    conf.ncpus = argc == 4 ? atoi(argv[3]) : 1;
    conf.sched_policy_name = "lws";
    if (starpu_init(&conf) != 0)
        return 77;
    for (int d = 0; d < NDATA; d++)
        starpu_variable_data_register(&handle[d], STARPU_MAIN_RAM,
                                      (uintptr_t)&datum[d], 1);
    rc = rivals_main(argc, argv, run);
    for (int d = 0; d < NDATA; d++)
        starpu_data_unregister(handle[d]);
    starpu_shutdown();
    return rc;
}
