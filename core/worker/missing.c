/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/worker/missing.c - the end of a simulation that lacks kernel times:
 * reports all that is missing at once, so that one calibration run suffices.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/ends.h"
#include "core/observe/report.h"
#include "core/runtime.h"
#include "core/task/job.h"
#include "core/worker/kernel.h"
#include "perfmodel/arch.h"

struct listing {
    struct orr_runtime *runtime;
    bool with_model; /* some codelet has one */
};

static const char *codelet_name(const struct starpu_codelet *cl)
{
    if (cl->model && cl->model->symbol)
        return cl->model->symbol;
    return cl->name ? cl->name : "unnamed codelet";
}

static bool unknown(const struct orr_cost_row *row, unsigned class_id)
{
    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
        double length = orr_cost_length(row, class_id, i);

        if (row->able[class_id] >> i & 1 && !(length > 0) && !row->assumed)
            return true;
    }
    return false;
}

static void list_row(const struct orr_cost_row *row, void *arg)
{
    struct listing *listing = arg;
    struct orr_runtime *rt = listing->runtime;

    if (row->cl->flags & (STARPU_CODELET_SIMGRID_EXECUTE |
                          STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT))
        return;
    for (unsigned k = 0; k < rt->nclasses; k++) {
        if (!unknown(row, k))
            continue;
        listing->with_model |= row->cl->model != NULL;
        orr_log_error("  %s  footprint %08x  on %s%d%s", codelet_name(row->cl),
                      row->footprint,
                      orr_device_type_name((int)rt->classes[k].type),
                      rt->classes[k].devid,
                      row->cl->model ? "" : "  (the codelet has no model)");
    }
}

void orr_kernel_missing(struct orr_runtime *rt, struct orr_job *job)
{
    struct listing listing = {.runtime = rt};

    orr_log_error("the simulation of `%s' needs the time of kernel `%s', "
                  "which is not known. Missing for the tasks submitted so far:",
                  rt->machine->name, orr_job_name(job));
    orr_costs_each(rt->costs, list_row, &listing);
    if (listing.with_model)
        orr_log_error("Run the program on the machine `%s' with "
                      "STARPU_CALIBRATE=1 to measure them, point "
                      "STARPU_PERF_MODEL_DIR to where the models of that host "
                      "lie, or assume a time: ORRERY_ASSUME='kernel[%s] = "
                      "50us'.",
                      rt->machine->host, codelet_name(job->task->cl));
    else
        orr_log_error("Give the codelets performance models, or assume a "
                      "time: ORRERY_ASSUME='kernel[%s] = 50us'.",
                      codelet_name(job->task->cl));
    orr_ends_forget(rt);
    fflush(NULL);
    orr_report_write(rt, "missing");
    _exit(1);
}
