/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/on-clock.c - the real machine with the simulator's contexts in the place
 * of threads: all else is as in any real run. Linked with --wrap=orr_threads_new and
 * --wrap=orr_threads_free.
 */
#include "core/device/threads.h"
#include "sim/exec.h"

static struct orr_sim_exec *engine;

int __wrap_orr_threads_new(const struct orr_threads_options *options,
                           struct orr_exec **ret);
void __wrap_orr_threads_free(struct orr_exec *exec);

int __wrap_orr_threads_new(const struct orr_threads_options *options,
                           struct orr_exec **ret)
{
    int rc = orr_sim_exec_new(NULL, &engine);

    (void)options;
    if (rc == 0)
        *ret = &engine->head;
    return rc;
}

void __wrap_orr_threads_free(struct orr_exec *exec)
{
    (void)exec;
    orr_sim_exec_free(engine);
    engine = NULL;
}
