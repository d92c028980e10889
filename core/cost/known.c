/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/known.c - whether there are times for a kernel at all, see cost.h. */
#include <stdio.h>

#include "core/cost/ask.h"
#include "core/cost/cost_private.h"
#include "core/cost/estimates.h"
#include "core/cost/held.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"
#include "perfmodel/model.h"

/* On all workers; what is given for some of them adds to what others know. */
static bool is_assumed(const struct orr_runtime *rt, const char *name,
                       const char *symbol)
{
    bool some = false; /* that is no ratio of another */

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_assumption *a = orr_assumptions_find(
            &rt->estimates->costs->assumptions, name, symbol,
            (int)rt->workers->classes[k].type, rt->workers->classes[k].devid);

        if (!a)
            return false;
        some |= a->law != ORR_ASSUMED_RATIO;
    }
    return some;
}

/* Why one assumption was not taken. */
struct search {
    const struct orr_costs_table *table;
    const struct orr_assumption *one;
    bool device;  /* there is one that the assumption is about */
    bool chosen;  /* and it is the assumption for a kernel there */
    bool unable;  /* a kernel that it was chosen for cannot run there: `held' */
    bool reasons; /* and that is known */
    struct orr_held held;
};

static void look_for_choice(const struct orr_cost_row *row, void *arg)
{
    struct search *search = arg;
    const struct orr_runtime *rt = search->table->runtime;

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_worker_class *class = &rt->workers->classes[k];

        if (orr_assumptions_find(&search->table->assumptions, row->name, row->symbol,
                                 (int)class->type, class->devid) != search->one)
            continue;
        search->chosen = true;
        if (row->able[k])
            continue;
        search->unable = true;
        if (!search->reasons)
            search->reasons = orr_row_held(rt, row, class->type, &search->held);
    }
}

static bool is_about(const struct orr_assumption *one,
                     enum starpu_worker_archtype type, int devid)
{
    return one->arch.type < 0 ||
           (one->arch.type == (int)type &&
            (one->arch.devid < 0 || one->arch.devid == devid));
}

/* No such device worked: is that the program's doing? */
static void tell_no_device(const struct search *search, char *text, size_t size)
{
    enum starpu_worker_archtype type =
        (enum starpu_worker_archtype)search->one->arch.type;
    unsigned asked, there;

    if (orr_devices_held(search->table->runtime, type, &asked, &there) &&
        search->one->arch.devid < (int)there)
        snprintf(text, size,
                 "the program asks for %u of %u %s devices: --devices=all lifts that",
                 asked, there, orr_device_kind(type)->name);
    else
        snprintf(text, size, "no such device worked");
}

static void tell_unable(const struct search *search, char *text, size_t size)
{
    const char *device = search->reasons
                             ? orr_device_kind(search->held.type)->name
                             : "such";

    if (!search->reasons)
        snprintf(text, size, "the kernel cannot run there");
    else if (search->held.why == ORR_HOLD_WHERE)
        snprintf(text, size,
                 "`where' of the kernel leaves %s devices out: --devices=all "
                 "lifts that",
                 device);
    else
        snprintf(text, size,
                 "the kernel has no %s function, and this names no device: on "
                 "%s, or --devices=all",
                 device, orr_device_kind(search->held.type)->variable);
}

bool orr_costs_assumption_unused(struct orr_costs_table *table, unsigned i,
                                 char *text, size_t size)
{
    const struct orr_assumption *one = &table->assumptions.all[i];
    const struct orr_runtime *rt = table->runtime;
    struct search search = {.table = table, .one = one};
    const char *why = NULL;

    if (one->used)
        return false;
    orr_costs_each(table, look_for_choice, &search);
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        search.device |= is_about(one, rt->workers->classes[k].type,
                                  rt->workers->classes[k].devid);
    if (one->elsewhere)
        why = "it is for another machine";
    else if (!rt->machine->kernels_take_their_length)
        why = "in a real run kernels take the time they take";
    else if (!orr_costs_assumes_kernel(table, i))
        why = "no task had such a kernel";
    else if (!search.device)
        tell_no_device(&search, text, size);
    else if (one->behind.n)
        why = "the kernel has a time of its own there";
    else if (!search.chosen)
        why = "another assumption is more exact";
    else if (search.unable)
        tell_unable(&search, text, size);
    else if (one->law == ORR_ASSUMED_RATIO)
        why = "the time that it is a multiple of is not known";
    else
        why = "the size of the kernel's data is not known";
    if (why)
        snprintf(text, size, "%s", why);
    return true;
}

enum orr_known orr_cost_knows(const struct orr_runtime *rt, const char *name,
                              const char *symbol)
{
    struct orr_error err = {""};
    struct orr_model *model =
        symbol ? orr_models_get(rt->estimates->models, symbol,
                                orr_model_kind_of(STARPU_HISTORY_BASED), &err)
               : NULL;

    if (model && orr_model_path(model))
        return ORR_KNOWN_MODEL;
    if (rt->machine->kernels_take_their_length && is_assumed(rt, name, symbol))
        return ORR_KNOWN_ASSUMED;
    return ORR_KNOWN_NOT;
}
