/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/simple.c - schedulers by flags: [queue above], [by model],
 * decision, and per choice [queue below], [eager or stealing], [implementation],
 * worker.
 */
#include "core/policies/component/component.h"

#include <limits.h>
#include <stdarg.h>

#include "core/api/api.h"
#include "core/worker/combined.h"

#define HAS(flags, name) ((flags) & STARPU_SCHED_SIMPLE_##name)

typedef struct starpu_sched_component component_t;

/* The parts of one scheduler. */
struct plan {
    struct starpu_sched_tree *tree;
    unsigned flags;
    starpu_sched_component_create_t create;
    void *data;
    component_t *top, *decision; /* of it */
    component_t *calibrator, *no_model; /* with PERFMODEL */
};

static bool waits_for_many(starpu_sched_component_create_t create)
{
    return create == (starpu_sched_component_create_t)
                         starpu_sched_component_mct_create ||
           create == (starpu_sched_component_create_t)
                         starpu_sched_component_heft_create ||
           create == (starpu_sched_component_create_t)
                         starpu_sched_component_heteroprio_create;
}

/* --- queues --- */

static component_t *
make_queue_component(struct starpu_sched_tree *tree, bool prio,
                     struct starpu_sched_component_fifo_data params)
{
    struct starpu_sched_component_prio_data same = {
        params.ntasks_threshold, params.exp_len_threshold, params.ready,
        params.exp};

    if (!prio)
        return starpu_sched_component_fifo_create(tree, &params);
    if (!starpu_sched_ctx_min_priority_is_set(tree->sched_ctx_id))
        starpu_sched_ctx_set_min_priority(tree->sched_ctx_id, INT_MIN);
    if (!starpu_sched_ctx_max_priority_is_set(tree->sched_ctx_id))
        starpu_sched_ctx_set_max_priority(tree->sched_ctx_id, INT_MAX);
    return starpu_sched_component_prio_create(tree, &same);
}

static component_t *queue_below(const struct plan *p)
{
    struct orr_runtime *rt = orr_runtime_need(__func__);
    int ntasks = orr_config_int(&rt->config, ORR_CFG_NTASKS_THRESHOLD);
    struct starpu_sched_component_fifo_data params = {
        .ready = HAS(p->flags, FIFOS_BELOW_READY) != 0,
        .exp = HAS(p->flags, FIFOS_BELOW_EXP) != 0,
    };

    if (!HAS(p->flags, FIFOS_BELOW_NOLIMIT)) {
        if (ntasks < 0)
            ntasks = waits_for_many(p->create) ? 30 : 2;
        params.ntasks_threshold = (unsigned)ntasks;
        params.exp_len_threshold =
            orr_config_double(&rt->config, ORR_CFG_EXP_LEN_THRESHOLD);
    }
    return make_queue_component(p->tree, HAS(p->flags, FIFOS_BELOW_PRIO),
                                params);
}

/* --- choices --- */

/* Workers with equal keys are one choice. */
static unsigned key_of(unsigned flags, unsigned worker)
{
    switch (flags & STARPU_SCHED_SIMPLE_DECIDE_MASK) {
    case STARPU_SCHED_SIMPLE_DECIDE_MEMNODES:
        return starpu_worker_get_memory_node(worker);
    case STARPU_SCHED_SIMPLE_DECIDE_ARCHS:
        return (unsigned)starpu_worker_get_type((int)worker);
    default:
        return worker;
    }
}

static component_t *plan_leaf(const struct plan *p, int worker)
{
    component_t *c =
        starpu_sched_component_worker_get(p->tree->sched_ctx_id, worker);
    component_t *best;

    if (!HAS(p->flags, IMPL))
        return c;
    best = starpu_sched_component_best_implementation_create(p->tree, NULL);
    starpu_sched_component_connect(best, c);
    return best;
}

static unsigned count_workers_of_key(unsigned flags, unsigned key)
{
    unsigned n = 0;

    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        n += key_of(flags, w) == key;
    return n;
}

static unsigned count_choices(unsigned flags)
{
    unsigned n = 0;

    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        bool seen = false;

        for (unsigned v = 0; v < w && !seen; v++)
            seen = key_of(flags, v) == key_of(flags, w);
        n += !seen;
    }
    return n;
}

static void connect_choice(const struct plan *p, component_t *c)
{
    starpu_sched_component_connect(p->decision, c);
    if (!HAS(p->flags, PERFMODEL))
        return;
    starpu_sched_component_connect(p->calibrator, c);
    starpu_sched_component_connect(p->no_model, c);
}

/* Makes the components for the workers that have this key, below the decision. */
static void plan_make_choice(const struct plan *p, unsigned key)
{
    component_t *shared = NULL, *top = NULL;

    if (count_workers_of_key(p->flags, key) > 1)
        top = shared = HAS(p->flags, WS_BELOW)
                           ? starpu_sched_component_work_stealing_create(
                                 p->tree, NULL)
                           : starpu_sched_component_eager_create(p->tree, NULL);
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        if (key_of(p->flags, w) != key)
            continue;
        if (shared)
            starpu_sched_component_connect(shared, plan_leaf(p, (int)w));
        else
            top = plan_leaf(p, (int)w);
    }
    if (HAS(p->flags, FIFOS_BELOW)) {
        component_t *q = queue_below(p);

        starpu_sched_component_connect(q, top);
        top = q;
    }
    connect_choice(p, top);
}

static void make_choices(const struct plan *p)
{
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        bool first = true;

        for (unsigned v = 0; v < w && first; v++)
            first = key_of(p->flags, v) != key_of(p->flags, w);
        if (first)
            plan_make_choice(p, key_of(p->flags, w));
    }
    if (!HAS(p->flags, COMBINED_WORKERS))
        return;
    orr_combinations_find(orr_runtime_need(__func__), NULL, NULL);
    for (unsigned i = 0; i < starpu_combined_worker_get_count(); i++)
        connect_choice(p, plan_leaf(p, (int)(starpu_worker_get_count() + i)));
}

/* --- above the choices --- */

static component_t *put_queue_above(struct starpu_sched_tree *tree,
                                    component_t *c, bool prio)
{
    component_t *q = make_queue_component(
        tree, prio, (struct starpu_sched_component_fifo_data){0});

    starpu_sched_component_connect(q, c);
    return q;
}

static void put_selection(struct plan *p, bool has_queue)
{
    struct starpu_sched_component_perfmodel_select_data to;
    bool prio = HAS(p->flags, FIFO_ABOVE_PRIO);
    component_t *select;

    p->calibrator =
        starpu_sched_component_eager_calibration_create(p->tree, NULL);
    p->no_model = starpu_sched_component_eager_create(p->tree, NULL);
    to.calibrator_component =
        has_queue ? p->calibrator
                  : put_queue_above(p->tree, p->calibrator, prio);
    to.no_perfmodel_component =
        has_queue ? p->no_model : put_queue_above(p->tree, p->no_model, prio);
    to.perfmodel_component = p->top;
    select = starpu_sched_component_perfmodel_select_create(p->tree, &to);
    starpu_sched_component_connect(select, to.calibrator_component);
    starpu_sched_component_connect(select, to.no_perfmodel_component);
    starpu_sched_component_connect(select, to.perfmodel_component);
    p->top = select;
}

/* Without a choice there is nothing to decide. */
static component_t *plan_make_tree(struct plan *p)
{
    bool decides = HAS(p->flags, DECIDE_ALWAYS) ||
                   HAS(p->flags, COMBINED_WORKERS) ||
                   count_choices(p->flags) > 1;
    bool has_queue = HAS(p->flags, FIFO_ABOVE) || !decides;

    p->decision = decides ? p->create(p->tree, p->data)
                          : starpu_sched_component_eager_create(p->tree, NULL);
    p->top = p->decision;
    if (HAS(p->flags, PERFMODEL))
        put_selection(p, has_queue);
    if (has_queue)
        p->top =
            put_queue_above(p->tree, p->top, HAS(p->flags, FIFO_ABOVE_PRIO));
    make_choices(p);
    return p->top;
}

/* The flags, changed as the user's settings say. */
static unsigned with_settings(unsigned flags)
{
    static const struct {
        enum orr_config_id id;
        unsigned flag;
    } settings[] = {
        {ORR_CFG_SCHED_SORTED_ABOVE, STARPU_SCHED_SIMPLE_FIFO_ABOVE_PRIO},
        {ORR_CFG_SCHED_SORTED_BELOW, STARPU_SCHED_SIMPLE_FIFOS_BELOW_PRIO},
        {ORR_CFG_SCHED_READY, STARPU_SCHED_SIMPLE_FIFOS_BELOW_READY},
    };
    const struct orr_config *config = &orr_runtime_need(__func__)->config;

    for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (!orr_config_is_set(config, settings[i].id))
            continue;
        flags &= ~settings[i].flag;
        if (orr_config_bool(config, settings[i].id))
            flags |= settings[i].flag;
    }
    return flags;
}

/* --- the public functions --- */

/* Takes triples of arguments up to the first one without PRE_DECISION. Each makes a
 * component, below that of the triple before. */
static component_t *make_next(struct starpu_sched_tree *tree, bool one,
                              va_list *args, unsigned *left)
{
    component_t *top = NULL, *bottom = NULL, *made;
    struct plan p = {.tree = tree};

    do {
        STARPU_ASSERT_MSG(*left > 0, "a PRE_DECISION has no decision below it");
        p.create = va_arg(*args, starpu_sched_component_create_t);
        p.data = va_arg(*args, void *);
        p.flags = with_settings(va_arg(*args, unsigned));
        (*left)--;
        if (!one)
            p.flags &= ~(unsigned)STARPU_SCHED_SIMPLE_PERFMODEL;
        made = HAS(p.flags, PRE_DECISION) ? p.create(tree, p.data)
                                          : plan_make_tree(&p);
        if (bottom)
            starpu_sched_component_connect(bottom, made);
        bottom = made;
        top = top ? top : made;
    } while (HAS(p.flags, PRE_DECISION));
    return top;
}

void starpu_sched_component_initialize_simple_schedulers(unsigned sched_ctx_id,
                                                         unsigned ndecisions,
                                                         ...)
{
    struct starpu_sched_tree *tree = starpu_sched_tree_create(sched_ctx_id);
    unsigned left = ndecisions;
    va_list args;

    starpu_sched_ctx_set_policy_data(sched_ctx_id, tree);
    STARPU_ASSERT(ndecisions > 0);
    va_start(args, ndecisions);
    tree->root = make_next(tree, true, &args, &left);
    if (left > 0) {
        component_t *choice =
            starpu_sched_component_userchoice_create(tree, NULL);

        starpu_sched_component_connect(choice, tree->root);
        tree->root = choice;
    }
    while (left > 0)
        starpu_sched_component_connect(tree->root,
                                       make_next(tree, false, &args, &left));
    va_end(args);
    starpu_sched_tree_update_workers(tree);
}

void starpu_sched_component_initialize_simple_scheduler(
    starpu_sched_component_create_t create_decision_component, void *data,
    unsigned flags, unsigned sched_ctx_id)
{
    starpu_sched_component_initialize_simple_schedulers(
        sched_ctx_id, 1U, create_decision_component, data, flags);
}
