/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/layouts/conversion.c - see conversion.h. */
#include "core/layouts/conversion.h"

#include <math.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/exec/runtime.h"

/* What the model sees. */
static void make_task(struct starpu_codelet *cl, struct orr_handle *handle,
                      struct starpu_task *task)
{
    starpu_task_init(task);
    task->cl = cl;
    task->handles[0] = orr_handle_public(handle);
}

double orr_conversion_us(struct orr_runtime *rt, struct starpu_codelet *cl,
                         struct orr_handle *handle, unsigned class_id)
{
    const struct orr_cost_row *row;
    struct starpu_task task;
    double us = 0;

    make_task(cl, handle, &task);
    row = orr_task_costs(rt, &task);
    if (row && row->able_classes >> class_id & 1)
        us = orr_cost_length(row, class_id, 0);
    if (!isnan(us))
        return us;
    orr_log_error(
        "the simulation of `%s' needs the time of the conversion `%s' "
        "of %s, which is not known: run the program on a machine with "
        "STARPU_CALIBRATE=1, assume a time (--assume '%s = 10us'), or "
        "give its codelet no model, so that it takes none",
        rt->machine->name, orr_cost_symbol(row), orr_handle_label(handle).text,
        orr_cost_symbol(row));
    orr_runtime_fail(rt);
}

void orr_conversion_measure(struct orr_runtime *rt, struct starpu_codelet *cl,
                            struct orr_handle *handle,
                            const struct orr_worker *worker, double us)
{
    struct starpu_task task;

    if (!cl->model)
        return;
    make_task(cl, handle, &task);
    orr_cost_measure_task(rt, worker, &task, us);
}
