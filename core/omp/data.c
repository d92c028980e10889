/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/omp/data.c - handles by the address of their data: see handles.h. */
#include <stdlib.h>

#include "core/base/log.h"
#include "core/data/handle.h"
#include "core/data/nodes.h"
#include "core/exec/runtime.h"
#include "core/omp/omp.h"

/* The table of the caller: its team's, its own, or that of all others. */
static struct orr_omp_handles *own_table(struct orr_omp *omp)
{
    struct orr_omp_task *self = orr_omp_self();

    if (!self)
        return &omp->handles;
    return self->implicit ? &self->team->handles : &self->handles;
}

void starpu_omp_handle_register(starpu_data_handle_t handle)
{
    struct orr_omp *omp = orr_omp_need(__func__);
    const void *last = NULL;
    bool any = false;

    for (unsigned node = 0; node < omp->rt->nodes->nram; node++) {
        const void *address = starpu_data_handle_to_pointer(handle, node);

        if (!address || address == last)
            continue;
        if (orr_omp_handles_add(own_table(omp), address, handle) != 0)
            orr_omp_no_memory(__func__);
        last = address;
        any = true;
    }
    if (any)
        return;
    orr_log_error("%s: the data have no address in main memory: register them "
                  "there, with their pointer",
                  __func__);
    abort();
}

void starpu_omp_handle_unregister(starpu_data_handle_t handle)
{
    struct orr_omp *omp = orr_omp_need(__func__);

    if (orr_omp_handles_remove(own_table(omp), handle))
        return;
    orr_log_error(
        "%s: the handle was not entered by starpu_omp_handle_register "
        "in this region or task",
        __func__);
    abort();
}

starpu_data_handle_t starpu_omp_data_lookup(const void *ptr)
{
    return orr_omp_handles_find(own_table(orr_omp_need(__func__)), ptr);
}

void starpu_omp_vector_annotate(starpu_data_handle_t handle,
                                uint32_t slice_base)
{
    const struct orr_omp *omp = orr_omp_need(__func__);

    if (starpu_data_get_interface_id(handle) != STARPU_VECTOR_INTERFACE_ID) {
        orr_log_error("%s: the data are no vector", __func__);
        abort();
    }
    for (unsigned node = 0; node < omp->rt->nodes->n; node++) {
        struct starpu_vector_interface *vector =
            starpu_data_get_interface_on_node(handle, node);

        vector->slice_base = slice_base;
    }
}

struct starpu_arbiter *starpu_omp_get_default_arbiter(void)
{
    return orr_omp_need(__func__)->arbiter;
}
