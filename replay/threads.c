/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/threads.c - see threads.h. A task of OpenMP's is a frame; the record has a task for
 * each of its strands, in turn. A worker that has begun a strand behind which there is another
 * one keeps the frame, on top of those that it keeps already:
 *
 *   idle - takes a first strand -> keeps its frame - its next strand is ready -> goes on
 *                                       |    ^
 *                                       v    |
 *                              takes what `how` of the next strand lets it take
 *
 * Where nothing is executed and no worker may take what is ready, any worker takes it: records
 * leave out strands that take no time, and join those that take little.
 */
#include "replay/threads.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/list.h"
#include "replay/player.h"

enum {
    FAR = 64 /* ready tasks at which a thread looks that are not its children */
};

struct frame {
    struct frame *up; /* of the task that has created it, NULL: none */
    unsigned depth;
    struct frame *below; /* on the worker that keeps it */
    int worker;          /* that keeps it, -1: none */
    enum orr_how how;    /* what that may do until … */
    /* … this one is ready, which goes on; NULL: not yet. */
    struct strand *resume;
    /* First strands that are ready, the newest first. */
    struct orr_list children;
};

struct strand {
    struct frame *frame;
    bool first, begun;   /* first: of it; others resume the frame */
    struct strand *next; /* the one behind it, NULL: none … */
    enum orr_how how;    /* … and what the worker may do before itself */
    struct starpu_task *task;
    /* Among all, or those of a worker, the oldest first. */
    struct orr_list ready;
    struct orr_list sibling; /* in children of frame->up */
};

struct queue {
    struct orr_list ready;
    struct frame *top; /* kept by the worker, NULL: it waits for nobody */
    bool busy;         /* it was given a task, and has not asked since */
};

struct threads {
    struct starpu_sched_policy policy;
    bool newest_first;
    /* By number of task; owned, with the frames of first ones. */
    struct strand **strands;
    size_t nstrands;
    /* [STARPU_NMAXWORKERS]; without newest_first all are in the first. */
    struct queue *of;
    unsigned nbusy;
};

/* --- the record's tasks --- */

static struct strand *strand_find(const struct threads *t, uint64_t number)
{
    return number && number < t->nstrands ? t->strands[number] : NULL;
}

static struct frame *frame_new(struct frame *up)
{
    struct frame *frame = calloc(1, sizeof(*frame));

    if (!frame)
        return NULL;
    frame->up = up;
    frame->depth = up ? up->depth + 1 : 0;
    frame->worker = -1;
    orr_list_init(&frame->children);
    return frame;
}

struct strand *player_threads_enter(struct threads *t,
                                    const struct orr_call *call)
{
    struct strand *before = strand_find(t, call->resumes), *strand;
    const struct strand *creator = strand_find(t, call->under);

    if ((call->resumes && !before) || (call->under && !creator) ||
        orr_grow(&t->strands, &t->nstrands, call->id + 1, sizeof(*t->strands)))
        return NULL;
    strand = t->strands[call->id] ? t->strands[call->id]
                                  : calloc(1, sizeof(*strand));
    if (!strand)
        return NULL;
    t->strands[call->id] = strand;
    strand->first = !before;
    if (!strand->frame)
        strand->frame =
            before ? before->frame : frame_new(creator ? creator->frame : NULL);
    strand->begun = false;
    strand->how = call->how;
    if (before)
        before->next = strand;
    return strand->frame ? strand : NULL;
}

/* --- what is ready --- */

static struct queue *queue_of(struct threads *t, int worker)
{
    return &t->of[t->newest_first && worker >= 0 ? worker : 0];
}

static void strand_take(struct strand *strand)
{
    orr_list_remove(&strand->ready);
    if (strand->first && strand->frame->up)
        orr_list_remove(&strand->sibling);
}

static bool is_below(const struct frame *frame, const struct frame *top)
{
    while (frame && frame->depth > top->depth)
        frame = frame->up;
    return frame == top;
}

static bool may_run(int worker, const struct strand *strand)
{
    return starpu_worker_can_execute_task_first_impl((unsigned)worker,
                                                     strand->task, NULL);
}

/* In that list, from its end, at most FAR looked at: NULL where there is none that `top`, if
 * there is one, lets the worker take. */
static struct strand *look(struct orr_list *list, bool newest, int worker,
                           const struct frame *top)
{
    struct orr_list *at = newest ? list->prev : list->next;

    for (unsigned n = 0; at != list && n < FAR; n++) {
        struct strand *strand = orr_container(at, struct strand, ready);

        if ((!top || is_below(strand->frame, top)) && may_run(worker, strand))
            return strand;
        at = newest ? at->prev : at->next;
    }
    return NULL;
}

/* One that the worker has made itself, or the oldest of another one. */
static struct strand *look_everywhere(struct threads *t, int worker,
                                      bool newest, const struct frame *top)
{
    unsigned n = starpu_worker_get_count();
    struct strand *strand =
        look(&queue_of(t, worker)->ready, newest, worker, top);

    for (unsigned i = 1; !strand && t->newest_first && i < n; i++)
        strand =
            look(&t->of[((unsigned)worker + i) % n].ready, false, worker, top);
    return strand;
}

static struct strand *newest_child(const struct frame *top, int worker)
{
    struct orr_list *at = top->children.next;

    for (; at != &top->children; at = at->next) {
        struct strand *strand = orr_container(at, struct strand, sibling);

        if (may_run(worker, strand))
            return strand;
    }
    return NULL;
}

/* One that goes on with what some worker keeps beneath something else. */
static struct strand *look_beneath(const struct threads *t)
{
    for (unsigned w = 0; w < starpu_worker_get_count(); w++)
        for (struct frame *frame = t->of[w].top; frame; frame = frame->below)
            if (frame->resume)
                return frame->resume;
    return NULL;
}

static struct strand *choose(struct threads *t, int worker)
{
    struct frame *top = t->of[worker].top;
    struct strand *strand = NULL;

    if (!top)
        strand = look_everywhere(t, worker, t->newest_first, NULL);
    else if (top->resume)
        return top->resume;
    else if (top->how != ORR_HOW_PLAIN && !t->newest_first)
        strand = newest_child(top, worker);
    if (!strand && top &&
        (top->how == ORR_HOW_BELOW || (top->how && t->newest_first)))
        strand = look_everywhere(t, worker, true, top);
    if (!strand && t->nbusy == 0)
        strand = look_beneath(t);
    if (!strand && t->nbusy == 0)
        strand = look_everywhere(t, worker, false, NULL);
    return strand;
}

/* --- the policy --- */

static int threads_push(struct starpu_task *task)
{
    struct threads *t = starpu_sched_ctx_get_policy_data(task->sched_ctx);
    struct strand *strand = player_strand_of(task);
    struct frame *frame = strand->frame;

    strand->task = task;
    if (!strand->first && frame->worker >= 0 && !frame->resume) {
        frame->resume = strand;
        return 0;
    }
    orr_list_append(&queue_of(t, starpu_worker_get_id())->ready,
                    &strand->ready);
    if (strand->first && frame->up)
        orr_list_prepend(&frame->up->children, &strand->sibling);
    return 0;
}

static void let_go(struct threads *t, struct frame *frame)
{
    struct frame **place = &t->of[frame->worker].top;

    while (*place != frame)
        place = &(*place)->below;
    *place = frame->below;
    frame->worker = -1;
}

/* The worker has begun the strand: it keeps the frame if there is another one. */
static void begin(struct threads *t, int worker, struct strand *strand)
{
    struct frame *frame = strand->frame;

    strand->begun = true;
    if (frame->resume == strand)
        frame->resume = NULL;
    else
        strand_take(strand);
    if (frame->worker >= 0)
        let_go(t, frame);
    if (!strand->next || strand->next->begun) {
        if (frame->resume)
            orr_list_append(&queue_of(t, worker)->ready, &frame->resume->ready);
        frame->resume = NULL;
        return;
    }
    frame->how = strand->next->how;
    frame->worker = worker;
    frame->below = t->of[worker].top;
    t->of[worker].top = frame;
}

static struct starpu_task *threads_pop(unsigned ctx)
{
    struct threads *t = starpu_sched_ctx_get_policy_data(ctx);
    int worker = starpu_worker_get_id_check();
    struct strand *strand;

    if (!t) /* the run begins */
        return NULL;
    t->nbusy -= t->of[worker].busy;
    t->of[worker].busy = false;
    strand = choose(t, worker);
    if (!strand)
        return NULL;
    t->of[worker].busy = true;
    t->nbusy++;
    begin(t, worker, strand);
    return strand->task;
}

static void threads_init(unsigned ctx)
{
    (void)ctx; /* it has its data from the player */
}

struct threads *player_threads_new(bool newest_first)
{
    struct threads *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->newest_first = newest_first;
    t->of = calloc(STARPU_NMAXWORKERS, sizeof(*t->of));
    if (!t->of) {
        free(t);
        return NULL;
    }
    for (unsigned w = 0; w < STARPU_NMAXWORKERS; w++)
        orr_list_init(&t->of[w].ready);
    t->policy = (struct starpu_sched_policy){
        .init_sched = threads_init,
        .deinit_sched = threads_init,
        .push_task = threads_push,
        .pop_task = threads_pop,
        .policy_name = PLAYER_THREADS_NAME,
        .policy_description = "the threads of an OpenMP program, in its replay",
        .worker_type = STARPU_WORKER_LIST,
    };
    return t;
}

void player_threads_free(struct threads *t)
{
    for (size_t i = 0; t && i < t->nstrands; i++) {
        if (t->strands[i] && t->strands[i]->first)
            free(t->strands[i]->frame);
        free(t->strands[i]);
    }
    if (t) {
        free(t->strands);
        free(t->of);
    }
    free(t);
}

struct starpu_sched_policy *player_threads_policy(struct threads *threads)
{
    return &threads->policy;
}
