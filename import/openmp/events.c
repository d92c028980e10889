/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/openmp/events.c - see reader.h: what each event of the log is to the tree. Outermost
 * regions go to the record when they have ended, and are forgotten. */
#include "import/openmp/reader.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/grow.h"

enum { DEEPEST = 256 }; /* regions inside of each other */

/* A thread that has something to do after so many µs was not idle: the runtime looked for
 * it, which is part of that. */
static const double dispatch_us = 5;

/* A task or a region is gone. */
static void forget_number(void *arg, uint64_t id)
{
    struct omp_reader *reader = arg;

    omp_map_forget(&reader->tasks, id);
    omp_map_forget(&reader->regions, id);
}

/* What the runtime took until the thread came to the task. */
static void dispatch(struct omp_reader *r, const struct omp_thread *thread, struct omp_task *task)
{
    if (thread->idle_us < dispatch_us)
        omp_work(&r->tree, task, thread->idle_us);
}

/* --- regions --- */

static void unlink_region(struct omp_region **place, const struct omp_region *region)
{
    while (*place && *place != region)
        place = &(*place)->others;
    if (*place)
        *place = region->others;
}

/* Of that one, or of all: regions inside of it that are in no task's list. */
static void free_loose(struct omp_reader *r, const struct omp_region *top)
{
    struct omp_region **place = &r->loose;

    while (*place) {
        struct omp_region *region = *place;

        if (top && region->top != top) {
            place = &region->others;
            continue;
        }
        *place = region->others;
        omp_map_forget(&r->regions, region->id);
        free(region);
    }
}

static void on_region_begin(struct omp_reader *r, struct omp_thread *thread,
                            const struct orr_omp_event *event, size_t which)
{
    struct omp_region *region;
    struct omp_task **outer;

    if (omp_map_find(&r->regions, event->a)) {
        r->lost = true; /* the end of the other one with this number */
        return;
    }
    region = calloc(1, sizeof(*region));
    outer = region ? orr_array_add(thread->outer, thread->nouter) : NULL;
    if (!outer || omp_map_set(&r->regions, event->a, region)) {
        thread->nouter -= outer != NULL;
        free(region);
        r->tree.failed = true;
        return;
    }
    *outer = thread->current;
    region->id = event->a;
    region->code = event->b;
    region->parent = thread->current;
    region->thread = which;
    region->begun = region->active = event->wall;
    region->spent = event->spent;
    region->top = region;
    if (thread->current) {
        region->top = thread->current->region->top;
        region->depth = thread->current->region->depth + 1;
        region->others = r->loose;
        r->loose = region;
    } else {
        region->after_us = thread->met ? thread->serial_us : 0;
        region->others = r->live;
        r->together |= r->live != NULL;
        r->live = region;
        thread->met = true;
        if (!r->begun)
            r->begun = event->wall;
    }
    thread->current = NULL;
}

/* One thread in a region inside of another goes on with its task. */
static void begin_inlined(struct omp_reader *r, struct omp_region *region, struct omp_task *task)
{
    task->undeferred = task->begun = true;
    region->inlined = task;
    omp_create(&r->tree, region->parent, task);
}

static void begin_thread(struct omp_reader *r, struct omp_region *region, struct omp_task *task)
{
    struct omp_task **place;

    if (region->parent && !region->ntasks) {
        unlink_region(&r->loose, region);
        omp_region_begin(&r->tree, region->parent, region);
    }
    place = orr_array_add(region->tasks, region->ntasks);
    if (!place) {
        omp_free_task(task);
        r->tree.failed = true;
        return;
    }
    *place = task;
    task->region = region;
    if (omp_open(&r->tree, task, OMP_WHOLE) && region->entry)
        omp_wait(&r->tree, task->open, (struct omp_ref){.strand = region->entry});
}

static void note_start(struct omp_region *region, const struct orr_omp_event *event,
                       size_t which)
{
    if (!region->started)
        region->started = event->wall;
    else if (event->wall > region->started)
        region->late_us += (double)(event->wall - region->started) / 1e3;
    if (which == region->thread && event->spent > region->spent)
        region->fork_us = (double)(event->spent - region->spent) / 1e3;
}

static void on_implicit_begin(struct omp_reader *r, struct omp_thread *thread,
                              const struct orr_omp_event *event, size_t which)
{
    struct omp_region *region = omp_map_find(&r->regions, event->b);
    struct omp_task *task;

    thread->current = NULL;
    r->lost |= !region;
    if (!region || region->inlined)
        return;
    task = omp_new_task(&r->tree, event->a, region->code);
    if (!task || omp_map_set(&r->tasks, event->a, task)) {
        if (task)
            omp_free_task(task);
        r->tree.failed = true;
        return;
    }
    task->implicit = true;
    note_start(region, event, which);
    region->team = event->n;
    if (event->n > r->team)
        r->team = event->n;
    if (region->parent && event->n == 1 && !region->ntasks)
        begin_inlined(r, region, task);
    else
        begin_thread(r, region, task);
    if (!r->tree.failed)
        thread->current = task;
}

/* No thread is in the region any more, nor will come back to it. */
static void leave_region(struct omp_reader *r, const struct omp_region *region)
{
    for (size_t t = 0; t < omp_log_threads(r->log); t++) {
        struct omp_thread *thread = &r->threads[t];

        if (thread->current && thread->current->region->top == region)
            thread->current = NULL;
        for (size_t i = 0; i < thread->nouter; i++)
            if (thread->outer[i] && thread->outer[i]->region->top == region)
                thread->outer[i] = NULL;
    }
}

/* What the region took to begin: until its first thread was there, and then, while others
 * were on their way, the share of these in the work that is done meanwhile. By the processor's
 * clock it is what starting them took. */
static double begin_us(const struct omp_reader *r, const struct omp_region *region)
{
    double us = 0;

    if (omp_log_header(r->log)->cpu_clock)
        return region->fork_us;
    if (region->started > region->begun)
        us = (double)(region->started - region->begun) / 1e3;
    return region->ntasks ? us + region->late_us / (double)region->ntasks : us;
}

static int end_outermost(struct omp_reader *r, struct omp_region *region, uint64_t wall)
{
    bool wall_clock = !omp_log_header(r->log)->cpu_clock;
    int rc;

    unlink_region(&r->live, region);
    region->after_us += begin_us(r, region);
    region->after_us += r->pending_us;
    r->pending_us =
        wall_clock && wall > region->active ? (double)(wall - region->active) / 1e3 : 0;
    r->inside_us += wall > region->begun ? (double)(wall - region->begun) / 1e3 : 0;
    r->ended = wall > r->ended ? wall : r->ended;
    r->nregions++;
    omp_region_settle(&r->tree, region);
    rc = r->tree.failed ? -ENOMEM : omp_emit_region(r, region);
    leave_region(r, region);
    free_loose(r, region);
    omp_free_region(region, forget_number, r);
    return rc;
}

static int on_region_end(struct omp_reader *r, struct omp_thread *thread,
                         const struct orr_omp_event *event)
{
    struct omp_region *region = omp_map_find(&r->regions, event->a);
    struct omp_task *inlined = region ? region->inlined : NULL;

    thread->current = thread->nouter ? thread->outer[--thread->nouter] : NULL;
    r->lost |= !region;
    if (!region)
        return 0;
    thread->serial_us = 0;
    if (!region->parent)
        return end_outermost(r, region, event->wall);
    if (inlined) {
        omp_barrier_end(&r->tree, inlined);
        omp_end(&r->tree, inlined, forget_number, r);
    } else if (region->ntasks) {
        omp_region_end(&r->tree, region);
        return 0;
    }
    unlink_region(&r->loose, region);
    omp_map_forget(&r->regions, region->id);
    free(region);
    return 0;
}

/* --- tasks --- */

static void on_create(struct omp_reader *r, struct omp_thread *thread,
                      const struct orr_omp_event *event)
{
    struct omp_task *task;

    if (!thread->current || omp_map_find(&r->tasks, event->a))
        return; /* outside of regions tasks are part of the program's serial time */
    task = omp_new_task(&r->tree, event->a, event->b);
    if (!task || omp_map_set(&r->tasks, event->a, task)) {
        if (task)
            omp_free_task(task);
        r->tree.failed = true;
        return;
    }
    task->priority = (int32_t)event->n;
    task->final = event->flags & ORR_OMP_FINAL;
    task->undeferred = event->flags & ORR_OMP_UNDEFERRED ||
                       (event->flags & ORR_OMP_AT_ONCE &&
                        (thread->current->region->team > 1 || thread->current->final));
    omp_create(&r->tree, thread->current, task);
    r->ntasks++;
}

/* What the block before tells, or a variable's symbol. */
static struct omp_use use_of(const struct omp_reader *r, struct omp_thread *thread,
                             const struct orr_omp_event *event)
{
    struct omp_use use = {event->b, event->n, thread->block_begin, thread->block_bytes};

    thread->block_begin = thread->block_bytes = 0;
    if (!use.bytes && omp_log_header(r->log)->sizes)
        omp_names_variable(r->names, use.address, &use.begin, &use.bytes);
    return use;
}

static void on_depend(struct omp_reader *r, struct omp_thread *thread,
                      const struct orr_omp_event *event)
{
    struct omp_use new = use_of(r, thread, event);
    struct omp_task *task = omp_map_find(&r->tasks, event->a);
    struct omp_use *use;

    r->nall += event->n == ORR_OMP_ALL;
    r->nsets += event->n == ORR_OMP_INOUTSET;
    if (!task || event->n < ORR_OMP_IN || event->n >= ORR_OMP_ALL)
        return;
    for (size_t u = 0; u < task->nuses; u++)
        if (task->uses[u].address == event->b) {
            if (task->uses[u].mode != event->n)
                task->uses[u].mode = ORR_OMP_INOUT;
            return;
        }
    use = orr_array_add(task->uses, task->nuses);
    if (use)
        *use = new;
    else
        r->tree.failed = true;
}

static void end_task(struct omp_reader *r, struct omp_task *task)
{
    if (task->joined && !task->ended)
        omp_join(&r->tree, task);
    omp_end(&r->tree, task, forget_number, r);
}

static void on_switch(struct omp_reader *r, struct omp_thread *thread,
                      const struct orr_omp_event *event)
{
    struct omp_task *before = thread->current, *task = omp_map_find(&r->tasks, event->a);

    if (event->flags & 1 && before && !before->implicit) {
        if (before->undeferred)
            omp_end_undeferred(&r->tree, before);
        end_task(r, before);
        /* It may be gone, with the one that runs now. */
        task = omp_map_find(&r->tasks, event->a);
    }
    thread->current = task;
    if (task && thread->if0 && !task->undeferred && !task->implicit)
        task->joined = true;
    thread->if0 = false;
    if (task && task->undeferred && !task->begun) {
        task->begun = true;
        omp_begin_undeferred(&r->tree, task);
    }
    if (task && !task->waits)
        dispatch(r, thread, task);
}

/* --- waits --- */

static void on_wait_begin(struct omp_reader *r, struct omp_thread *thread,
                          const struct orr_omp_event *event)
{
    struct omp_task *task = thread->current;

    thread->waits_since = event->wall;
    if (!task)
        return;
    task->waits++;
    if (event->n == ORR_OMP_BARRIER)
        omp_barrier_begin(&r->tree, task);
}

static void on_wait_end(struct omp_reader *r, struct omp_thread *thread,
                        const struct orr_omp_event *event)
{
    struct omp_task *task = thread->current;

    if (!task || !task->waits)
        return;
    task->waits--;
    if (event->n == ORR_OMP_TASKWAIT)
        omp_taskwait(&r->tree, task);
    else if (event->n == ORR_OMP_GROUP)
        omp_group_end(&r->tree, task);
    else if (event->n == ORR_OMP_BARRIER)
        omp_barrier_end(&r->tree, task);
    else if (event->n == ORR_OMP_SINK)
        omp_sink(&r->tree, task, event->a);
    else if (event->n == ORR_OMP_ORDERED)
        omp_ordered_begin(&r->tree, task);
    if (event->n != ORR_OMP_BARRIER)
        dispatch(r, thread, task);
    if (event->n == ORR_OMP_EXCLUSION) {
        r->nexclusions++;
        r->exclusion_us += (double)(event->wall - thread->waits_since) / 1e3;
    }
}

/* --- all --- */

/* The time since the thread's last event is that of what it has executed. */
static void spend(struct omp_reader *r, struct omp_thread *thread,
                  const struct orr_omp_event *event)
{
    uint64_t until = event->kind == ORR_OMP_GAP ? event->b : event->spent;
    double us = thread->started && until > thread->last ? (double)(until - thread->last) / 1e3 : 0;
    struct omp_task *task = thread->current;

    thread->started = true;
    thread->last = event->spent; /* less than before where the clock is chosen */
    if (!task)
        thread->serial_us += us;
    thread->idle_us = !task || task->waits ? us : 0;
    if (!task || task->waits)
        return;
    omp_work(&r->tree, task, us);
    if (event->wall > task->region->top->active)
        task->region->top->active = event->wall;
}

static int on_event(struct omp_reader *r, const struct omp_log_event *at)
{
    const struct orr_omp_event *event = at->event;
    struct omp_thread *thread = &r->threads[at->thread];
    struct omp_task *task;

    spend(r, thread, event);
    task = thread->current;
    switch (event->kind) {
    case ORR_OMP_REGION_BEGIN:
        if (task && task->region->depth >= DEEPEST)
            return flow_wrong(r->flow, "more than %d parallel regions inside of each other",
                              DEEPEST);
        on_region_begin(r, thread, event, at->thread);
        break;
    case ORR_OMP_REGION_END:
        return on_region_end(r, thread, event);
    case ORR_OMP_IMPLICIT_BEGIN:
        on_implicit_begin(r, thread, event, at->thread);
        break;
    case ORR_OMP_IMPLICIT_END:
        if (task && task->id == event->a)
            thread->current = NULL;
        break;
    case ORR_OMP_CREATE:
        on_create(r, thread, event);
        break;
    case ORR_OMP_DEPEND:
        on_depend(r, thread, event);
        break;
    case ORR_OMP_SWITCH:
        on_switch(r, thread, event);
        break;
    case ORR_OMP_WAIT_BEGIN:
        on_wait_begin(r, thread, event);
        break;
    case ORR_OMP_WAIT_END:
        on_wait_end(r, thread, event);
        break;
    case ORR_OMP_GROUP_BEGIN:
        if (task)
            omp_group_begin(&r->tree, task);
        break;
    case ORR_OMP_LOOP_BEGIN:
        if (task)
            omp_loop_begin(&r->tree, task, event->n == 1, event->a);
        break;
    case ORR_OMP_LOOP_CHUNK:
        if (task)
            omp_loop_chunk(&r->tree, task, event->a);
        break;
    case ORR_OMP_LOOP_END:
        if (task)
            omp_loop_end(&r->tree, task);
        break;
    case ORR_OMP_SOURCE:
        if (task)
            omp_source(&r->tree, task, event->a,
                       event->n > 1 ? &event->b : NULL);
        break;
    case ORR_OMP_ORDERED_END:
        if (task)
            omp_ordered_end(&r->tree, task);
        break;
    case ORR_OMP_NOTE:
        if (event->n < ORR_OMP_NNOTES)
            r->notes[event->n]++;
        break;
    case ORR_OMP_BLOCK:
        thread->block_begin = event->a;
        thread->block_bytes = event->b;
        break;
    case ORR_OMP_IF0:
        thread->if0 = true;
        break;
    default: /* gaps and code: spend() and names have taken them */
        break;
    }
    return 0;
}

int omp_read_events(struct omp_reader *r)
{
    struct omp_log_event event;
    uint64_t wall = 0;
    int rc = 0;

    while (!rc && omp_log_next(r->log, &event)) {
        wall = event.event->wall;
        rc = on_event(r, &event);
        if (!rc && r->tree.failed)
            rc = -ENOMEM;
    }
    /* The program was ended inside of these. */
    while (r->live && !rc)
        rc = end_outermost(r, r->live, wall);
    while (r->live) {
        struct omp_region *region = r->live;

        r->live = region->others;
        omp_free_region(region, forget_number, r);
    }
    free_loose(r, NULL);
    return rc;
}
