/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/within.c - see within.h. Any context. */
#include "core/data/within.h"

#include <stdlib.h>

#include "core/data/nodes.h"
#include "core/device/driver.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"

struct within {
    struct orr_copy copy;
    struct orr_runtime *rt;
    void (*perform)(struct orr_runtime *, void *); /* or NULL */
    void (*then)(struct orr_runtime *, void *);
    void *arg;
};

/* Methods of interfaces ask for the runtime; the context may be the machine's. */
static int within_perform(struct orr_copy *copy, struct orr_async *async)
{
    const struct within *within = orr_container(copy, struct within, copy);
    struct orr_runtime *outer = orr_self->runtime;

    (void)async;
    if (!within->perform)
        return 0;
    orr_self->runtime = within->rt;
    within->perform(within->rt, within->arg);
    orr_self->runtime = outer;
    return 0;
}

static void within_done(struct orr_copy *copy)
{
    struct within within = *orr_container(copy, struct within, copy);

    free(orr_container(copy, struct within, copy));
    within.then(within.rt, within.arg);
    orr_active_end(within.rt);
}

void orr_copy_within(struct orr_runtime *rt, unsigned node, size_t bytes,
                     size_t fresh,
                     void (*perform_it)(struct orr_runtime *, void *),
                     void (*then)(struct orr_runtime *, void *), void *arg)
{
    bool takes_time = bytes && rt->exec->virtual_time;
    struct within *within = takes_time ? malloc(sizeof(*within)) : NULL;

    if (!within) { /* or out of memory: it is made here */
        if (perform_it && rt->machine->runs_kernels)
            perform_it(rt, arg);
        then(rt, arg);
        return;
    }
    *within = (struct within){
        .copy = {.src = node,
                 .dst = node,
                 .size = bytes,
                 .fresh = fresh,
                 .perform = within_perform,
                 .done = within_done},
        .rt = rt,
        .perform = perform_it,
        .then = then,
        .arg = arg,
    };
    within->copy.id = atomic_fetch_add_explicit(&rt->nodes->last_copy, 1,
                                                memory_order_relaxed) +
                      1;
    atomic_fetch_add_explicit(&rt->workers->nactive, 1, memory_order_relaxed);
    orr_machine_copy_start(rt->machine, &within->copy);
}
