/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/plan_heft.h - the inside of the policy plan-heft: plan_heft.c follows
 * plans, plan_heft_make.c makes them of what is known of the tasks.
 *
 * One lock, under which plans are made. The application's code (can_execute) is called,
 * and locks of data are taken, without it.
 */
#pragma once

#include "core/cost/cost.h"
#include "core/policies/plan_list.h"
#include "core/sched/queue.h"
#include "core/sched/sched.h"
#include "core/worker/members.h"

/* A job's stages. QUEUED ones are in their worker's list and may still change it;
 * PLACED ones are about to be. */
enum orr_note_stage {
    ORR_NOTE_ABSENT,
    ORR_NOTE_WAITING,
    ORR_NOTE_PLACED,
    ORR_NOTE_QUEUED,
    ORR_NOTE_TAKEN,
    ORR_NOTE_RUNNING,
    ORR_NOTE_ENDED
};

/* What is known of the job of a number. */
struct orr_note {
    struct orr_job *job; /* referenced, until its kernel has ended; else NULL */
    const struct orr_cost_row *row;
    double length;   /* µs, where it is planned */
    double start;    /* as planned; since it runs as it was */
    uint32_t worker; /* ORR_PLAN_NONE: not planned */
    uint32_t only;   /* it must be that one; ORR_PLAN_NONE: any */
    uint8_t stage;
};

struct orr_planner {
    struct orr_sched *sched;
    struct orr_lock lock;   /* rank ORR_RANK_SCHED, for all that follows */
    struct orr_note *notes; /* by the job's number; owned */
    size_t room;
    struct orr_list
        *ready;     /* per worker: QUEUED jobs by planned start; owned */
    uint64_t waiting[ORR_WORKER_WORDS]; /* bits of the workers that have some */
    double *queued; /* per worker: µs of these … */
    double *until;  /* … and until when it has those it took; owned */
    struct orr_plan_line *lines;     /* per worker: as planned; owned */
    struct orr_plan_line *links;     /* per memory node: orr_plan's; owned */
    uint32_t *class_of, *class_size; /* owned */
    uint32_t *node_of;               /* [const] per class; owned */
    unsigned nunplanned, nplanned;   /* of those that have not begun */
    unsigned nquiet;                 /* pushes since one was submitted */
    unsigned nended;                 /* since the last plan */
    double tolerance;                /* µs that a task may begin late */
    uint64_t nbytes; /* of the data of the last plan */
    bool prefetch;                   /* [const] */
    struct orr_queue other;          /* tasks without lengths; its own lock */
};

/* NULL: there is none, for nodes that are no tasks or for want of memory. */
static inline struct orr_note *orr_note_of(struct orr_planner *p, uint64_t id)
{
    return id && id < p->room ? &p->notes[id] : NULL;
}

static inline bool orr_note_is_to_begin(const struct orr_note *note)
{
    return note && note->stage >= ORR_NOTE_WAITING &&
           note->stage <= ORR_NOTE_QUEUED;
}

/* --- plan_heft_make.c; the lock is held --- */

/* µs of the fastest implementation on the class; INFINITY: none has a length. */
double orr_note_length(const struct orr_cost_row *row, unsigned class_id);

/* Puts a job into its worker's list, by planned start, then by number: it is QUEUED. */
void orr_planner_enter(struct orr_planner *p, struct orr_note *note,
                       struct orr_job *job);

/* Plans all that has not begun. Without memory all stays as it was. */
void orr_planner_plan(struct orr_planner *p);

/* Plans a ready task that no plan has yet. */
void orr_planner_place(struct orr_planner *p, struct orr_note *note);
