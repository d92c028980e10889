/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/held.c - see held.h. */
#include "core/cost/held.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/cost/cost_private.h"
#include "core/cost/estimates.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"
#include "perfmodel/arch.h"
#include "perfmodel/model.h"

/* --- one kernel --- */

/* Whether the model's files have figures for the first such device. */
static bool model_has_times(const struct orr_runtime *rt, const struct row *row,
                            enum starpu_worker_archtype type)
{
    struct orr_device device = {(int)type, 0, 1};
    unsigned comb;
    bool ranged;

    if (!row->model || orr_combs_get(orr_models_combs(rt->estimates->models),
                                     &device, 1, &comb) != 0)
        return false;
    for (unsigned i = 0; i < NIMPL; i++)
        if (orr_model_least_origin(row->model, comb, i, &ranged) !=
            ORR_ORIGIN_UNKNOWN)
            return true;
    return false;
}

/* On the first such device; NULL: none. */
static const struct orr_assumption *
assumed_on(const struct orr_runtime *rt, const struct row *row,
           enum starpu_worker_archtype type)
{
    return row->pub.assumed
               ? orr_assumptions_find(&rt->estimates->costs->assumptions,
                                      orr_row_name(row), row->pub.symbol, (int)type, 0)
               : NULL;
}

/* Bit of the first class of the type; 0: no such worker. */
static uint64_t first_class(const struct orr_runtime *rt,
                         enum starpu_worker_archtype type)
{
    for (unsigned k = 0; k < rt->workers->nclasses; k++)
        if (rt->workers->classes[k].type == type)
            return UINT64_C(1) << k;
    return 0;
}

/* The codelet itself leaves them open. */
static bool held_by_tasks(const struct orr_runtime *rt, const struct row *row,
                          struct orr_held *held)
{
    uint64_t class_bit = first_class(rt, held->type);
    uint32_t where = orr_device_where(held->type);

    if (row->pub.narrowed & where)
        held->why = ORR_HOLD_TASK_WHERE;
    else if (row->pub.refused & class_bit && !(row->pub.agreed & class_bit))
        held->why = ORR_HOLD_REFUSED;
    else if (row->pub.unnamed & where)
        held->why = ORR_HOLD_NAMED;
    else
        return false;
    return true;
}

bool orr_row_held(const struct orr_runtime *rt, const struct orr_cost_row *pub,
                  enum starpu_worker_archtype type, struct orr_held *ret)
{
    const struct row *row = (const struct row *)(const void *)pub;
    struct starpu_codelet cl; /* as it was: it may have been freed */
    const struct orr_assumption *assumed = assumed_on(rt, row, type);
    bool allowed;
    bool known = model_has_times(rt, row, type);

    *ret = (struct orr_held){.kernel = orr_cost_symbol(pub),
                             .row = pub,
                             .type = type,
                             .timed = known || assumed || pub->per_task,
                             .asked = !known && !assumed && pub->per_task};
    memcpy(&cl, row->shape->bytes, SHAPE_SIZE);
    ret->where = cl.where;
    allowed = !cl.where || cl.where & orr_device_where(type);
    if (!allowed)
        ret->why = ORR_HOLD_WHERE;
    else if (!known && !orr_codelet_functions(&cl, type) &&
             !(assumed && assumed->arch.type >= 0))
        ret->why = ORR_HOLD_FUNCTION;
    else
        return held_by_tasks(rt, row, ret);
    /* Processors run what has a function for them; that one has none is usual. */
    return !orr_device_kind(type)->is_processor ||
           (ret->why == ORR_HOLD_WHERE && ret->timed);
}

/* --- all of them --- */

bool orr_devices_held(const struct orr_runtime *rt, enum starpu_worker_archtype type,
                      unsigned *asked, unsigned *there)
{
    for (unsigned i = 0; i < ORR_NASKED; i++) {
        const struct orr_asked *one = &rt->machine->asked[i];

        if (one->type != type || one->there == 0 || one->asked < 0 ||
            (unsigned)one->asked >= one->there)
            continue;
        *asked = (unsigned)one->asked;
        *there = one->there;
        return true;
    }
    return false;
}

struct held_list {
    const struct orr_runtime *rt;
    struct orr_held *all; /* owned */
    size_t n;
};

/* Each kernel once per type of devices and reason. */
static void list_add(struct held_list *list, const struct orr_held *held)
{
    struct orr_held *more;

    for (size_t i = 0; i < list->n; i++) {
        struct orr_held *one = &list->all[i];

        if (one->type == held->type && one->why == held->why &&
            !strcmp(one->kernel, held->kernel)) {
            one->asked = (one->asked || !one->timed) && (held->asked || !held->timed);
            one->timed |= held->timed;
            return;
        }
    }
    more = realloc(list->all, (list->n + 1) * sizeof(*more));
    if (!more)
        return; /* a reason less is told */
    list->all = more;
    more[list->n++] = *held;
}

static void list_row(const struct orr_cost_row *row, void *arg)
{
    struct held_list *list = arg;
    struct orr_held held;

    for (unsigned i = 0; i < ORR_NASKED; i++)
        if (list->rt->machine->asked[i].there &&
            orr_row_held(list->rt, row, list->rt->machine->asked[i].type, &held))
            list_add(list, &held);
}

/* The caller frees ret->all. */
static void list_fill(const struct orr_runtime *rt, struct held_list *ret)
{
    *ret = (struct held_list){.rt = rt};
    if (rt->machine->kernels_take_their_length)
        orr_costs_each(rt->estimates->costs, list_row, ret);
}

const char *orr_hold_name(enum orr_hold why)
{
    static const char *const names[] = {
        [ORR_HOLD_WHERE] = "where",           [ORR_HOLD_FUNCTION] = "function",
        [ORR_HOLD_TASK_WHERE] = "task where", [ORR_HOLD_REFUSED] = "can_execute",
        [ORR_HOLD_NAMED] = "workers",
    };

    return names[why];
}

void orr_held_each(const struct orr_runtime *rt,
                   void (*visit)(const struct orr_held *, void *), void *arg)
{
    struct held_list list;

    list_fill(rt, &list);
    for (size_t i = 0; i < list.n; i++)
        visit(&list.all[i], arg);
    free(list.all);
}

void orr_held_notice(const struct orr_runtime *rt)
{
    unsigned asked, there, kernels = 0;
    struct held_list list;

    if (rt->machine->all_devices)
        return;
    list_fill(rt, &list);
    for (size_t i = 0; i < list.n; i++)
        kernels += list.all[i].timed && list.all[i].why <= ORR_HOLD_TASK_WHERE;
    free(list.all);
    for (unsigned i = 0; i < ORR_NASKED; i++) {
        enum starpu_worker_archtype type = rt->machine->asked[i].type;

        if (!orr_device_kind(type)->is_processor &&
            orr_devices_held(rt, type, &asked, &there))
            orr_log_notice("the program asks for %u of %u %s devices of `%s': "
                           "ORRERY_DEVICES=all lifts that",
                           asked, there, orr_device_kind(type)->name,
                           rt->machine->name);
    }
    if (kernels)
        orr_log_notice("%u kernel%s with times on devices of `%s' %s kept from "
                       "them by the program: ORRERY_DEVICES=all lifts that",
                       kernels, kernels == 1 ? "" : "s", rt->machine->name,
                       kernels == 1 ? "is" : "are");
}

void orr_held_tell_unable(const struct orr_runtime *rt,
                          const struct orr_job *job)
{
    const struct starpu_codelet *cl = job->task->cl;
    const struct orr_worker_class *lacks = NULL;
    const char *name = orr_cost_symbol(job->costs);

    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_worker_class *class = &rt->workers->classes[k];

        if (job->costs->able[k])
            return; /* it is kept from these for another reason */
        if (!lacks && (!cl->where || cl->where & orr_device_where(class->type)))
            lacks = class;
    }
    if (lacks)
        orr_log_notice("starpu_task_submit: no worker of `%s' can run task "
                       "`%s', which has neither a function nor a time on %s: "
                       "ORRERY_ASSUME='kernel[%s] = 50us' (orrery run "
                       "--assume) assumes one, models have what was measured",
                       rt->machine->name, orr_job_name(job),
                       orr_device_kind(lacks->type)->name, name);
}
