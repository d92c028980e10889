/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/openmp/tree.h - what an OpenMP program did, as it is found in its log: regions,
 * their tasks, and the strands of these. A strand is a piece of a task between two points at
 * which something else may begin or must have ended; it becomes a task of the record. Cut:
 *
 * - where a task has waited (taskwait, end of a group, barrier, region): what follows is a
 *   strand that waits for those it has waited for;
 * - where a task has created another one, if what was done since the first creation in the
 *   strand is `grain` long: the created tasks wait for less than `grain` that was not before
 *   them;
 * - loops with iterations in any order, into pieces of at least `grain`;
 * - loops whose iterations wait for others, where they do and where they may be waited for, if
 *   what was done since the last cut is `grain` long.
 *
 * A task whose work, with that of all its descendants, is not longer than `grain` is one
 * strand when it has ended, and neighbours that are short are one as long as they are not longer
 * together: memory is for larger ones only. What is executed at once by its
 * creator (undeferred) is part of the creator's strand. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "import/flow.h"
#include "import/openmp/map.h"
#include "record/openmp/log.h"

struct omp_task;
struct omp_region;
struct omp_strand;

/* What a task's list has, in order. */
enum omp_item_kind { OMP_STRAND, OMP_TASK, OMP_REGION, OMP_JOIN };

struct omp_item {
    struct omp_item *next;
    enum omp_item_kind kind;
};

/* What a strand waits for: another one, or the end of a task. */
struct omp_ref {
    struct omp_strand *strand;
    struct omp_task *task;
};

enum omp_part { OMP_WHOLE, OMP_AFTER_WAIT, OMP_PIECE, OMP_CONTROL };

struct omp_strand {
    struct omp_item item;
    double us;
    double span, tail; /* µs since the first, and the last, creation in it */
    bool created;      /* something was created in it */
    bool needed;       /* something waits for it */
    bool dropped;      /* who needs it waits for those it has waited for */
    enum omp_part part;
    /* What its thread might execute before it, since the strand before. */
    enum orr_how how;
    const struct omp_task *user; /* whose data it uses, NULL: none's */
    struct omp_ref *before;      /* owned */
    size_t nbefore;
    size_t number; /* of the record's task */
    size_t begun;  /* the how manieth of the tree, see ordered.c */
};

struct omp_use {
    uint64_t address;
    enum orr_omp_mode mode;
    uint64_t begin, bytes; /* of the block of memory that it is in; 0: not known */
};

/* A taskgroup, or what a loop has been. */
struct omp_group {
    struct omp_group *outer;
    struct omp_item *since; /* the last item before it, NULL: none */
};

struct omp_chunk {
    uint64_t iterations;
    double us;
};

struct omp_loop {
    bool on, free; /* there is one; its iterations may go in any order */
    bool cut;      /* something was created or waited for inside */
    struct omp_chunk *chunks; /* owned */
    size_t nchunks;
    /* Of one whose iterations wait for others: ordered.c. */
    bool ordered;
    bool
        posted; /* an iteration that may be waited for has ended in the open strand */
    size_t nth;       /* of the task's loops */
    double before_us; /* of the strand that was open at its beginning */
    struct omp_strand *before;  /* that one */
    struct omp_strand **pieces; /* owned */
    size_t npieces;
    struct omp_strand *first; /* in which this iteration began, NULL: `last` */
    struct omp_strand *last;  /* in which the one before ended, … */
    double last_us;           /* … as long as it was then, … */
    size_t last_nbefore;      /* … and what it waited for */
    uint64_t
        row; /* the number of that iteration in the outermost of several loops */
    double row_us; /* of the iterations of that number */
};

struct omp_task {
    struct omp_item item; /* in the list of its parent */
    uint64_t id, code;
    struct omp_task *parent; /* NULL: it is implicit */
    struct omp_task *host;   /* of whose strands it is part: itself, or an ancestor */
    struct omp_region *region;
    int32_t priority;
    bool undeferred, implicit;
    bool begun; /* of an undeferred one */
    bool final;
    bool joined; /* a task of its own, for whose end its creator waits */
    bool ended, finished; /* it; with all its descendants */
    bool waited;          /* something inside of the region waits for its end */
    unsigned waits;       /* in which it is now */
    size_t live;          /* of its children are not finished */
    double total;         /* µs of it and its finished descendants; infinite: no strand */
    struct omp_use *uses; /* owned */
    size_t nuses;
    struct omp_item *first, *last; /* owned */
    struct omp_item *since;        /* the last one that it has waited for */
    struct omp_task *batch;        /* the last child that others may be joined to, or NULL */
    /* Of hosts: the last one that is in the record. */
    const struct omp_strand *numbered;
    struct omp_strand *open, *end; /* of hosts: where its work goes; the last one */
    const struct omp_task *user;   /* of hosts: whose data its strands use now, or NULL */
    const struct omp_task *user_before; /* of undeferred ones: when they have ended */
    struct omp_group *groups;      /* owned; the innermost one first */
    struct omp_loop loop;
};

struct omp_region {
    struct omp_item item; /* in the list of the task that has met it */
    uint64_t id, code;
    struct omp_task *parent;  /* NULL: a thread's own, outside of all regions */
    struct omp_task **tasks;  /* owned: implicit ones */
    size_t ntasks;
    unsigned team;            /* as it is said, 0: not yet */
    struct omp_strand **joins; /* owned: one per barrier */
    size_t njoins;
    struct omp_map
        sources; /* strands in which iterations end that may be waited for */
    struct omp_strand *entry; /* of a nested one: what is before it */
    size_t thread;            /* that has met it */
    uint64_t begun, started, active; /* ns: dates of its beginning, of that of its first
                                      * thread, of its last work */
    double after_us;           /* of the outermost: that the program took before it */
    double late_us;            /* … that its threads came after the first, together */
    uint64_t spent;            /* ns: the processor's time of who has met it, at its beginning */
    double fork_us;            /* … that who has met it took until it began its own part */
    struct omp_region *top;    /* the outermost one around it, or itself */
    struct omp_region *others; /* the next of the reader's list that has it */
    struct omp_task *inlined;  /* of a nested one with one thread: part of its parent */
    struct omp_task *producer; /* the first of its tasks whose children use data */
    unsigned depth;            /* in how many others it is */
};

/* How the tree is made. */
struct omp_tree {
    double grain; /* µs */
    bool failed;  /* memory was out: nothing more is done */
    size_t nbegun, nsources; /* strands; iterations that may be waited for */
};

/* --- items: tree.c --- */

/* Adds it to the list of `task`. */
void omp_append(struct omp_task *task, struct omp_item *item);

/* The strand in which the task, or its host in it, goes on; NULL without memory. */
struct omp_strand *omp_open(struct omp_tree *tree, struct omp_task *task, enum omp_part part);

/* Whether it is so short that it may be left out, and uses no data. */
bool omp_is_negligible(const struct omp_strand *strand);

/* Lets a strand wait for another one, or for a task, that is not NULL. One that is short, and
 * that nothing needs, is dropped. */
void omp_wait(struct omp_tree *tree, struct omp_strand *strand, struct omp_ref before);

/* A task, which the caller adds where it belongs. */
struct omp_task *omp_new_task(struct omp_tree *tree, uint64_t id, uint64_t code);
void omp_free_task(struct omp_task *task); /* without its items */

/* Everything in the list of the task; `forget` is called with each task's id. */
void omp_free_items(struct omp_task *task, void (*forget)(void *arg, uint64_t id), void *arg);
void omp_free_region(struct omp_region *region, void (*forget)(void *arg, uint64_t id),
                     void *arg);

/* --- what happens: strands.c --- */

/* Time that the task has worked. */
void omp_work(struct omp_tree *tree, struct omp_task *task, double us);

/* Enters `task` as a child of `parent`. */
void omp_create(struct omp_tree *tree, struct omp_task *parent, struct omp_task *task);

/* A task that its creator executes at once begins, and ends. */
void omp_begin_undeferred(struct omp_tree *tree, struct omp_task *task);
void omp_end_undeferred(struct omp_tree *tree, struct omp_task *task);

/* A task of its own has ended. Tasks that are not longer than the grain become one strand. */
void omp_end(struct omp_tree *tree, struct omp_task *task,
             void (*forget)(void *arg, uint64_t id), void *arg);

/* Its creator waits for that child alone, which has ended. */
void omp_join(struct omp_tree *tree, struct omp_task *child);

/* Waits that are over: for children, for a group, at a barrier. */
void omp_taskwait(struct omp_tree *tree, struct omp_task *task);
void omp_group_begin(struct omp_tree *tree, struct omp_task *task);
void omp_group_end(struct omp_tree *tree, struct omp_task *task);
void omp_barrier_begin(struct omp_tree *tree, struct omp_task *task);
void omp_barrier_end(struct omp_tree *tree, struct omp_task *task);

/* A region that `task` has met begins, and ends: what follows waits for it. */
void omp_region_begin(struct omp_tree *tree, struct omp_task *task, struct omp_region *region);
void omp_region_end(struct omp_tree *tree, struct omp_region *region);

/* Those that have to have ended at the barriers of the region are known when it is over. */
void omp_region_settle(struct omp_tree *tree, struct omp_region *region);

/* --- loops: loops.c --- */

void omp_loop_begin(struct omp_tree *tree, struct omp_task *task, bool is_free,
                    uint64_t iterations);
void omp_loop_chunk(struct omp_tree *tree, struct omp_task *task, uint64_t iterations);
void omp_loop_end(struct omp_tree *tree, struct omp_task *task);

/* The strand that was open when the loop began, without what was done since. */
void omp_loop_take(struct omp_strand *strand, double us);

/* --- loops whose iterations wait for others: ordered.c --- */

/* The task's iteration has waited for that one. */
void omp_sink(struct omp_tree *tree, struct omp_task *task, uint64_t iteration);

/* That one may be waited for; `row` is its number in the outermost of its loops, NULL if it has
 * one alone. */
void omp_source(struct omp_tree *tree, struct omp_task *task,
                uint64_t iteration, const uint64_t *row);

/* What is done in the order of iterations begins, and ends. */
void omp_ordered_begin(struct omp_tree *tree, struct omp_task *task);
void omp_ordered_end(struct omp_tree *tree, struct omp_task *task);

/* The loop of the task, which is ordered, ends. */
void omp_ordered_loop_end(struct omp_tree *tree, struct omp_task *task);

/* Cuts what the task, or its host, has done since the last creation off its strand, if that is
 * worth a strand of its own. */
void omp_cut(struct omp_tree *tree, struct omp_task *task);
