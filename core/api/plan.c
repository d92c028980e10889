/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/plan.c - planned partitions: cutting data without waiting, and
 * switching between the whole and its parts explicitly. Any thread; nothing here
 * blocks.
 */
#include <stdlib.h>

#include "core/api/api.h"
#include "core/data/data.h"
#include "core/data/label.h"
#include "core/data/plan.h"
#include "core/observe/views.h"

void starpu_data_partition_plan(starpu_data_handle_t initial_handle,
                                struct starpu_data_filter *f,
                                starpu_data_handle_t *children)
{
    ORR_API(rt, __func__);
    struct orr_handle *handle = orr_api_handle(__func__, initial_handle);
    struct orr_plan *plan;

    if (!f || !f->filter_func || !children) {
        orr_log_error("%s of %s: %s", __func__, orr_handle_label(handle).text,
                      children ? "the filter has no filter_func"
                               : "there is no array for the children");
        abort();
    }
    /* The reason was printed; the children that the caller needs are missing. */
    if (orr_plan_new(rt, handle, f, children) != 0)
        abort();
    plan = orr_handle_plan(orr_handle_of(children[0]));
    ORR_RECORD_ABOUT(rt,
                     ORR_ABOUT(.handle = handle, .filter = f,
                               .parts = plan->children, .n = plan->n),
                     PLAN);
}

/* The plan of all these children; ends the program if they are none. */
static struct orr_plan *plan_of(const char *call, starpu_data_handle_t whole,
                                unsigned n,
                                const starpu_data_handle_t *children)
{
    struct orr_handle *handle = orr_api_handle(call, whole);
    struct orr_plan *plan =
        n && children ? orr_handle_plan(orr_api_handle(call, children[0]))
                      : NULL;
    const char *trouble = NULL;

    if (!children)
        trouble = "there is no array of children";
    else if (!plan || plan->whole != handle)
        trouble = "the children are not those of a plan of these data: call "
                  "starpu_data_partition_plan first";
    else if (plan->n != n)
        trouble = "the plan has another number of children";
    for (unsigned i = 0; !trouble && i < n; i++)
        if (children[i] != orr_handle_public(plan->children[i]))
            trouble = "the children are not in the order of the plan";
    if (!trouble)
        return plan;
    orr_log_error("%s of %s: %s", call, orr_handle_label(handle).text, trouble);
    abort();
}

/* What a call expects of the plans when it is made. */
enum expected {
    NOTHING_USED,    /* the whole is used */
    NOTHING_WRITTEN, /* the whole is used or read, and the plan is not used */
    USED,            /* the plan's parts are used */
    ONLY_READ,       /* the plan's parts are the only ones and read */
    ONLY_WRITTEN,    /* … written */
};

static const char *find_trouble(enum expected expected,
                                enum orr_plan_state state, bool other)
{
    switch (expected) {
    case NOTHING_USED:
        return state != ORR_PLAN_IDLE || other
                   ? "the data are partitioned already: unpartition them first"
                   : NULL;
    case NOTHING_WRITTEN:
        return state != ORR_PLAN_IDLE
                   ? "the data are partitioned so already: unpartition them "
                     "first"
                   : NULL;
    case USED:
        return state == ORR_PLAN_IDLE ? "the data are not partitioned so: call "
                                        "starpu_data_partition_submit first"
                                      : NULL;
    case ONLY_READ:
        return state != ORR_PLAN_READ || other
                   ? "the data are not partitioned so, and only so, for reading"
                   : NULL;
    case ONLY_WRITTEN:
        return state != ORR_PLAN_WRITE
                   ? "the data are not partitioned so for writing"
                   : NULL;
    }
    return NULL;
}

/* The state of the plan; ends the program if the call must not be made in that state. */
static enum orr_plan_state state_of(const char *call, struct orr_plan *plan,
                                    enum expected expected)
{
    bool other;
    enum orr_plan_state state =
        orr_plan_state(orr_runtime_need(call), plan, &other);
    const char *trouble = find_trouble(expected, state, other);

    if (!trouble)
        return state;
    orr_log_error("%s of %s: %s", call, orr_handle_label(plan->whole).text,
                  trouble);
    abort();
}

/* Whole and parts meet where the application has the value. Where that is on a device
 * they meet in main memory, and a job that uses the whole on the device brings the
 * value there. */
static void check_node(const char *call, const struct orr_plan *plan, int node)
{
    unsigned base = orr_handle_base(plan->whole);
    int home = plan->whole->home_node;

    if (node == -1 || node == home || (unsigned)node == base)
        return;
    if (node < 0)
        (void)orr_api_node(call, node);
    orr_log_error(
        "%s of %s: the data are put together on their home node, %u, or "
        "where -1 says so, not on node %d: prefetch them there "
        "afterwards",
        call, orr_handle_label(plan->whole).text,
        home < 0 ? base : (unsigned)home, node);
    abort();
}

/* As the record has them. */
static struct orr_handle *const *
plan_handles(const starpu_data_handle_t *children)
{
    return (struct orr_handle *const *)(const void *)children;
}

static void plan_record(struct orr_runtime *rt, const struct orr_plan *plan,
                        enum orr_how how, int node, bool unordered,
                        const starpu_data_handle_t *children)
{
    ORR_RECORD_ABOUT(rt,
                     ORR_ABOUT(.parts = plan_handles(children), .n = plan->n),
                     SWITCH, .id = plan->whole->id, .how = how, .node = node,
                     .unordered = unordered);
}

static void cut(const char *call, starpu_data_handle_t whole, unsigned nparts,
                starpu_data_handle_t *children, enum orr_switch what,
                int sequential_consistency)
{
    ORR_API(rt, call);
    struct orr_plan *plan = plan_of(call, whole, nparts, children);
    struct orr_switch_options options = {.unordered = !sequential_consistency};

    plan_record(rt, plan,
                what == ORR_SWITCH_TO_PARTS ? ORR_HOW_TO_PARTS
                                            : ORR_HOW_TO_READERS,
                0, !sequential_consistency, children);
    (void)state_of(call, plan,
                   what == ORR_SWITCH_TO_PARTS ? NOTHING_USED
                                               : NOTHING_WRITTEN);
    if (what == ORR_SWITCH_TO_READERS)
        (void)orr_plans_prepare(rt, plan->whole, STARPU_R);
    orr_plan_switch(rt, plan, what, &options);
}

void starpu_data_partition_submit(starpu_data_handle_t initial_handle,
                                  unsigned nparts,
                                  starpu_data_handle_t *children)
{
    cut(__func__, initial_handle, nparts, children, ORR_SWITCH_TO_PARTS, 1);
}

void starpu_data_partition_submit_sequential_consistency(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int sequential_consistency)
{
    cut(__func__, initial_handle, nparts, children, ORR_SWITCH_TO_PARTS,
        sequential_consistency);
}

void starpu_data_partition_readonly_submit(starpu_data_handle_t initial_handle,
                                           unsigned nparts,
                                           starpu_data_handle_t *children)
{
    cut(__func__, initial_handle, nparts, children, ORR_SWITCH_TO_READERS, 1);
}

void starpu_data_partition_readonly_submit_sequential_consistency(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int sequential_consistency)
{
    cut(__func__, initial_handle, nparts, children, ORR_SWITCH_TO_READERS,
        sequential_consistency);
}

void starpu_data_partition_readwrite_upgrade_submit(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children)
{
    ORR_API(rt, __func__);
    struct orr_plan *plan = plan_of(__func__, initial_handle, nparts, children);

    plan_record(rt, plan, ORR_HOW_UPGRADE, 0, false, children);
    (void)state_of(__func__, plan, ONLY_READ);
    orr_plan_switch(rt, plan, ORR_SWITCH_UPGRADE, NULL);
}

static void plan_downgrade(struct orr_runtime *rt, const char *call,
                           struct orr_plan *plan, enum expected expected)
{
    if (state_of(call, plan, expected) == ORR_PLAN_WRITE)
        orr_plan_switch(rt, plan, ORR_SWITCH_DOWNGRADE, NULL);
}

void starpu_data_partition_readonly_downgrade_submit(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children)
{
    ORR_API(rt, __func__);
    struct orr_plan *plan = plan_of(__func__, initial_handle, nparts, children);

    plan_record(rt, plan, ORR_HOW_DOWNGRADE, 0, false, children);
    plan_downgrade(rt, __func__, plan, ONLY_WRITTEN);
}

/* The whole and the parts can be read then, as after a downgrade. */
void starpu_data_unpartition_readonly_submit(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int gathering_node)
{
    ORR_API(rt, __func__);
    struct orr_plan *plan = plan_of(__func__, initial_handle, nparts, children);

    plan_record(rt, plan, ORR_HOW_TO_READ_WHOLE, gathering_node, false,
                children);
    check_node(__func__, plan, gathering_node);
    plan_downgrade(rt, __func__, plan, USED);
}

static void plan_join(struct orr_runtime *rt, const char *call,
                      struct orr_plan *plan, int node,
                      const struct orr_switch_options *options)
{
    check_node(call, plan, node);
    orr_plan_switch(rt, plan,
                    state_of(call, plan, USED) == ORR_PLAN_WRITE
                        ? ORR_SWITCH_TO_WHOLE
                        : ORR_SWITCH_END_READERS,
                    options);
}

static void unpartition(const char *call, starpu_data_handle_t whole,
                        unsigned nparts, starpu_data_handle_t *children,
                        int node, const struct orr_switch_options *options)
{
    ORR_API(rt, call);
    struct orr_plan *plan = plan_of(call, whole, nparts, children);

    plan_record(rt, plan, ORR_HOW_TO_WHOLE, node, options->unordered, children);
    plan_join(rt, call, plan, node, options);
}

void starpu_data_unpartition_submit(starpu_data_handle_t initial_handle,
                                    unsigned nparts,
                                    starpu_data_handle_t *children,
                                    int gathering_node)
{
    unpartition(__func__, initial_handle, nparts, children, gathering_node,
                &(struct orr_switch_options){0});
}

void starpu_data_unpartition_submit_sequential_consistency_cb(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int gather_node, int sequential_consistency,
    void (*callback_func)(void *), void *callback_arg)
{
    unpartition(__func__, initial_handle, nparts, children, gather_node,
                &(struct orr_switch_options){.unordered =
                                                 !sequential_consistency,
                                             .callback = callback_func,
                                             .arg = callback_arg});
}

void starpu_data_unpartition_submit_sequential_consistency(
    starpu_data_handle_t initial_handle, unsigned nparts,
    starpu_data_handle_t *children, int gathering_node,
    int sequential_consistency)
{
    unpartition(__func__, initial_handle, nparts, children, gathering_node,
                &(struct orr_switch_options){.unordered =
                                                 !sequential_consistency});
}

static void clean(const char *call, starpu_data_handle_t whole, unsigned nparts,
                  starpu_data_handle_t *children, int node)
{
    ORR_API(rt, call);
    struct orr_plan *plan = plan_of(call, whole, nparts, children);
    bool other;

    if (node != -1)
        (void)orr_api_node(call, node);
    ORR_RECORD_ABOUT(rt,
                     ORR_ABOUT(.parts = plan_handles(children), .n = nparts),
                     CLEAN, .id = plan->whole->id, .node = node);
    for (unsigned i = 0; i < nparts; i++) {
        if (!orr_handle_has_plans(plan->children[i]))
            continue;
        orr_log_error("%s of %s: child %u has planned partitions: clean them "
                      "first",
                      call, orr_handle_label(plan->whole).text, i);
        abort();
    }
    if (orr_plan_state(rt, plan, &other) != ORR_PLAN_IDLE)
        plan_join(rt, call, plan, node, NULL);
    orr_plan_clean(rt, plan);
}

void starpu_data_partition_clean_node(starpu_data_handle_t root_data,
                                      unsigned nparts,
                                      starpu_data_handle_t *children,
                                      int gather_node)
{
    clean(__func__, root_data, nparts, children, gather_node);
}

void starpu_data_partition_clean(starpu_data_handle_t root_data,
                                 unsigned nparts,
                                 starpu_data_handle_t *children)
{
    clean(__func__, root_data, nparts, children, -1);
}
