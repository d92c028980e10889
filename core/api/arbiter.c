/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/arbiter.c - starpu_arbiter_*. Any task claims all its data at once
 * or none (core/data/claim.c), which is what an arbiter is for: assigning one
 * only has the data claimed from the beginning. Application threads.
 */
#include <stdlib.h>

#include "core/api/api.h"
#include "core/data/handle.h"
#include "core/data/label.h"

struct starpu_arbiter {
    char nothing; /* it is only a name */
};

starpu_arbiter_t starpu_arbiter_create(void)
{
    starpu_arbiter_t arbiter = malloc(sizeof(*arbiter));

    if (!arbiter)
        STARPU_ABORT_MSG("%s: out of memory", __func__);
    return arbiter;
}

void starpu_data_assign_arbiter(starpu_data_handle_t handle,
                                starpu_arbiter_t arbiter)
{
    ORR_API(rt, __func__);
    struct orr_handle *h = orr_api_handle(__func__, handle);
    const char *wrong = NULL;

    ORR_RECORD(rt, ARBITER, .id = h->id);
    orr_lock(&h->lock);
    if (!arbiter)
        wrong = "the arbiter is NULL: make one with starpu_arbiter_create";
    else if (h->arbiter)
        wrong = "the data have an arbiter already";
    else if (h->nusers > 0)
        wrong = "the data are in use: assign the arbiter when they have been "
                "registered";
    else
        orr_handle_require_claims_locked(h);
    h->arbiter = arbiter;
    orr_unlock(&h->lock);
    if (!wrong)
        return;
    orr_log_error("%s of %s: %s", __func__, orr_handle_label(h).text, wrong);
    abort();
}

void starpu_arbiter_destroy(starpu_arbiter_t arbiter)
{
    free(arbiter);
}
