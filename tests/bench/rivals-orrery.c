/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/bench/rivals-orrery.c - see rivals.h. Threads: workers, beside main. */
#include "empty_tasks.h"
#include "rivals.h"

static void run(int ntasks, int nbuffers, int nthreads)
{
    (void)nthreads;
    empty_tasks_submit(ntasks, nbuffers);
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
    empty_data_register();
    rc = rivals_main(argc, argv, run);
    empty_data_unregister();
    starpu_shutdown();
    return rc;
}
