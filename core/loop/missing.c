/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/loop/missing.c - the end of a simulation that lacks kernel times:
 * reports all that is missing at once, so that one calibration run suffices.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/cost/ask.h"
#include "core/cost/assume.h"
#include "core/cost/cost.h"
#include "core/cost/estimates.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/loop/kernel.h"
#include "core/worker/workers.h"
#include "perfmodel/arch.h"
#include "perfmodel/model.h"
#include "perfmodel/side.h"

static bool unknown(const struct orr_cost_row *row, unsigned class_id)
{
    for (unsigned i = 0; i < STARPU_MAXIMPLEMENTATIONS; i++) {
        double length = orr_cost_length(row, class_id, i);

        if (row->able[class_id] >> i & 1 &&
            !orr_cost_is_known(row, class_id, i, length))
            return true;
    }
    return false;
}

/* Classes may share an architecture's model. */
static bool is_listed(const struct orr_runtime *rt,
                      const struct orr_cost_row *row, unsigned class_id)
{
    for (unsigned k = 0; k < class_id; k++)
        if (rt->workers->classes[k].comb ==
                rt->workers->classes[class_id].comb &&
            unknown(row, k))
            return true;
    return false;
}

/* " (not known: …)" where the model has a row that says nothing; else "". */
static void say_unknown(const struct orr_runtime *rt, const struct orr_cost_row *row,
                        unsigned class_id, char text[160])
{
    const char *symbol = orr_cost_model_symbol(row), *why;
    struct orr_error err = {""};
    struct orr_model *model =
        symbol ? orr_models_get(rt->estimates->models, symbol,
                                ORR_MODEL_HISTORY, &err)
               : NULL;
    const struct orr_entry *entry =
        model ? orr_model_find(model, rt->workers->classes[class_id].comb, 0,
                               row->footprint)
              : NULL;
    struct orr_model_row stats;

    *text = '\0';
    if (!entry)
        return;
    orr_entry_read(entry, &stats);
    why = orr_row_unknown(&stats, NULL);
    if (why)
        snprintf(text, 160, "  (not known: %s)", why);
}

static void list_row(const struct orr_cost_row *row, void *arg)
{
    const struct orr_runtime *rt = arg;

    if (row->cl->flags & (STARPU_CODELET_SIMGRID_EXECUTE |
                          STARPU_CODELET_SIMGRID_EXECUTE_AND_INJECT))
        return;
    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_device device = {
            .type = (int)rt->workers->classes[k].type,
            .devid = rt->workers->classes[k].devid,
        };
        char label[24], why[160];

        if (!unknown(row, k) || is_listed(rt, row, k))
            continue;
        orr_device_label(&device, label, sizeof(label));
        say_unknown(rt, row, k, why);
        orr_log_error("  %s  footprint %08x  on %s%s%s", orr_cost_symbol(row),
                      row->footprint, label,
                      row->cl->model ? "" : "  (the codelet has no model)", why);
    }
}

/* The sizes that a model knows where the task's time is missing, each once. */
struct sizes {
    const struct orr_runtime *rt;
    const struct orr_cost_row *row;
    uint64_t known[8];
    unsigned n;
    bool more;
};

static bool is_missing_on(const struct sizes *sizes, unsigned comb)
{
    for (unsigned k = 0; k < sizes->rt->workers->nclasses; k++)
        if (sizes->rt->workers->classes[k].comb == comb &&
            unknown(sizes->row, k))
            return true;
    return false;
}

static int note_size(unsigned comb, unsigned impl,
                     const struct orr_model_row *row, void *arg)
{
    struct sizes *sizes = arg;

    (void)impl;
    if (row->n == 0 || !is_missing_on(sizes, comb))
        return 0;
    for (unsigned i = 0; i < sizes->n; i++)
        if (sizes->known[i] == row->size)
            return 0;
    sizes->more = sizes->n == sizeof(sizes->known) / sizeof(*sizes->known);
    if (!sizes->more)
        sizes->known[sizes->n++] = row->size;
    return sizes->more;
}

/* A model that knows other sizes: the program's may be the wrong ones, such as
 * those of its tiles. Returns the task's size, 0 where no other is known. */
static size_t list_sizes(struct orr_runtime *rt, const struct orr_job *job)
{
    const char *wanted = orr_cost_model_symbol(job->costs);
    struct orr_error err = {""};
    struct sizes sizes = {.rt = rt, .row = job->costs};
    struct orr_model *model;
    char list[256] = "";
    size_t used = 0, size;

    if (!wanted)
        return 0;
    model = orr_models_get(rt->estimates->models, wanted,
                           ORR_MODEL_HISTORY, &err);
    if (!model)
        return 0;
    (void)orr_model_each(model, note_size, &sizes);
    for (unsigned i = 0; i < sizes.n; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%" PRIu64,
                                 i ? ", " : "", sizes.known[i]);
    size = orr_model_size(rt, job->task->cl->model, job->task,
                          &rt->workers->classes[0], 0);
    for (unsigned i = 0; i < sizes.n; i++)
        if (sizes.known[i] == size) /* of another layout, or implementation */
            return 0;
    if (!sizes.n)
        return 0;
    orr_log_error("The model `%s' of `%s' knows tasks with %s%s bytes of "
                  "data there; this one has %zu: is it a size, of tiles "
                  "perhaps, that was never measured?",
                  wanted, rt->machine->host, list,
                  sizes.more ? ", …" : "", size);
    return size;
}

/* How another time could be computed. A machine that has a model keeps it: its
 * other sizes are what remains. */
static void advise_projection(const struct orr_runtime *rt, const char *symbol,
                              size_t size, char text[256])
{
    const char *machine = orr_config_string(&rt->config, ORR_CFG_MACHINE);

    if (!machine || !*machine)
        machine = rt->machine->name;
    if (size)
        snprintf(text, 256,
                 "compute it from the other sizes: orrery perfmodel project "
                 "--size %zu -m %s %s",
                 size, machine, symbol);
    else
        snprintf(text, 256,
                 "derive models from those measured here: orrery perfmodel "
                 "project -m %s",
                 machine);
}

/* Those that give the time of no kernel so far, in one message: of tasks that the
 * application has yet to submit, or misspelt. */
static void list_unmet(struct orr_runtime *rt)
{
    const struct orr_assumptions *all =
        orr_costs_assumptions(rt->estimates->costs);
    char list[512] = "";
    size_t used = 0;

    for (unsigned i = 0; i < all->n; i++) {
        if (all->all[i].elsewhere)
            orr_log_error("`%s' is for the machine `%s', and this is `%s'",
                          all->all[i].text, all->all[i].machine,
                          rt->machine->name);
        else if (!orr_costs_assumes_kernel(rt->estimates->costs, i) &&
                 used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used,
                                     "%s`%s'", used ? ", " : "",
                                     all->all[i].text);
    }
    if (used)
        orr_log_error("Assumed for kernels that no task submitted so far has "
                      "(it may come later, or the name is another one): %s%s",
                      list, used < sizeof(list) ? "" : "…");
}

void orr_kernel_missing(struct orr_runtime *rt, struct orr_job *job)
{
    const char *symbol = orr_cost_symbol(job->costs);
    const char *model = orr_cost_model_symbol(job->costs);
    char projection[256];

    orr_log_error("the simulation of `%s' needs the time of kernel `%s', "
                  "which is not known. Missing for the tasks submitted so far:",
                  rt->machine->name, orr_cost_symbol(job->costs));
    orr_costs_each(rt->estimates->costs, list_row, rt);
    if (job->ncores > 1)
        orr_log_error("  %s  footprint %08x  on %u processors at once, or one",
                      orr_cost_symbol(job->costs), job->costs->footprint,
                      job->ncores);
    advise_projection(rt, model ? model : symbol, list_sizes(rt, job),
                      projection);
    list_unmet(rt);
    orr_log_error("Run the program on the machine `%s' with "
                  "STARPU_CALIBRATE=1 to measure them (or point "
                  "STARPU_PERF_MODEL_DIR to where the models of that host "
                  "lie), assume a time: ORRERY_ASSUME='kernel[%s] = "
                  "50us' (orrery run --assume), or %s.",
                  rt->machine->host, symbol, projection);
    orr_runtime_fail_for(rt, "missing");
}
