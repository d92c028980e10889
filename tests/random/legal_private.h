/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/legal_private.h - shared by legal.c (the walk through the
 * calls), legal_state.c (what is known of data and waits at a point of it),
 * legal_task.c and legal_call.c (the rules, one per kind of call).
 */
#pragma once

#include "feature_set.h"
#include "legal.h"

/* What somebody waits for. Whether a wait can end is judged by all that may be
 * waited for; what has ended after it, by what surely was. */
struct waits {
    uint64_t tasks, holds;
    uint64_t sure; /* of the tasks */
};

enum group { ALONE, COMMUTING, REDUCING }; /* what the last writers are */

/* A datum at this point of the program. */
struct state {
    bool registered, lost; /* lost: it is not registered again */
    bool valued, was_valued;
    bool cut;
    bool async;  /* an access that is no task may go on in its order */
    bool called; /* an acquisition will be called back */
    uint8_t nacquired;
    enum group group;
    uint64_t writers, readers; /* the last ones, those since */
    uint64_t before;           /* what the group of writers came after */
    uint64_t before_sure;      /* what its members surely wait for */
    uint64_t disordered;       /* tasks that take no part in the order */
    struct waits write, read;  /* what is over with the writers, readers */
    bool held;
    uint8_t plans[MAX_PLANS]; /* what of the whole is used: enum plan_use */
    struct waits family;      /* of a root: what any member is waited for */
    uint8_t hold_thread, hold_node;
    uint64_t hold; /* a bit */
};

struct legal {
    const struct machine *machine;
    const struct graph *in;
    struct graph *out;
    uint64_t features;
    size_t bytes; /* of all data */
    size_t scratch_bytes, device_bytes;
    bool tight;
    struct state states[MAX_DATA];
    struct waits tasks[MAX_TASKS]; /* what each waits for, with itself */
    uint64_t exist[MAX_THREADS];   /* tasks of the thread, in all */
    uint64_t submitted, synchronous, waited;
    uint64_t copied; /* data of which a copy may be under way unawaited */
    uint64_t without_order; /* data that some task uses so */
    uint64_t refused;       /* tasks that no earlier one may wait for */
    uint64_t finished[MAX_THREADS];
    unsigned nholds;
    bool again;
};

enum { ROOM = MAX_CALLS - 3 * MAX_DATA - 8 }; /* the rest is for the end */

/* -- legal_state.c: waits -- */

bool legal_has(const struct legal *l, enum feature feature);

struct waits legal_joined(struct waits a, struct waits b);

/* With all that the tasks wait for in turn. */
struct waits legal_expanded(const struct legal *l, struct waits w);

void legal_emit(struct legal *l, const struct call *call);
void legal_emit_automatic(struct legal *l, enum call_kind kind, unsigned thread,
                          unsigned d);

/* Releases the datum, or what the thread holds, if anything is held. */
void legal_release(struct legal *l, unsigned d);
void legal_release_all(struct legal *l, unsigned thread);

/* Whether the thread may wait for that; releases what it holds if it must. */
bool legal_may_wait(struct legal *l, unsigned thread, struct waits waits);

/* The thread has waited for that. */
void legal_has_waited(struct legal *l, unsigned thread, struct waits waits);

/* A wait for all tasks, if the thread may. */
bool legal_wait_all(struct legal *l, unsigned thread, bool automatic);

/* The tasks that an access which is no task comes after without being ordered
 * after them by the datum have ended, or are waited for. False if they cannot
 * be. */
bool legal_await_disordered(struct legal *l, unsigned thread, unsigned d,
                            bool writes);

/* -- legal_state.c: data -- */

/* No order at all is wanted. */
bool legal_is_free(uint64_t features, const struct data *data);

bool legal_owns(const struct data *data, unsigned thread);

/* Registered, not cut, and of the thread or of all. */
bool legal_usable(const struct legal *l, const struct call *call, unsigned d);

/* Its first value is the init codelet's, if nothing else. */
bool legal_makes_first(const struct legal *l, unsigned d);

/* Whether it may be written without being read. */
bool legal_may_overwrite(const struct legal *l, unsigned d);

/* The nearest mode that makes sense; 0 for none. */
unsigned legal_fit_mode(const struct legal *l, unsigned d, unsigned mode);

/* Whether a copy of it may be asked for that nobody waits for. */
bool legal_may_hint(const struct legal *l, unsigned d);

enum group legal_group_of(unsigned mode);
bool legal_writes(unsigned mode);

/* What an access waits for by the order of the datum, in which it takes part or
 * not. Those who may come in any order wait surely for none of each other. */
struct waits legal_waits_of(const struct legal *l, unsigned d, unsigned mode,
                            bool ordered);

/* An access of a task, or of none (0), that waits for `waits` has come. */
void legal_enter(struct legal *l, unsigned d, unsigned mode, uint64_t task,
                 bool ordered, struct waits waits);

/* Nobody uses the datum any more. */
void legal_calm(struct state *s);

/* Whether it can be read. */
bool legal_valued(const struct legal *l, unsigned d);

/* -- legal_plan.c: planned partitions -- */

bool legal_is_planned_piece(const struct legal *l, unsigned d);

/* It is one, or the whole of some. */
bool legal_in_family(const struct legal *l, unsigned d);

/* The whole of all of its family. */
unsigned legal_root(const struct legal *l, unsigned d);

/* A use switches to what it needs. */
void legal_switch_for(struct legal *l, unsigned d, unsigned mode);
void legal_switch_for_task(struct legal *l, const struct call *call);

/* Whether buffer k and those before it can be used in one task. */
bool legal_goes_with_others(const struct legal *l, const struct call *call,
                            unsigned k);

bool legal_family_valued(const struct legal *l, unsigned d);

/* Whether a member without a value may be given one. Then it was. */
bool legal_may_begin(const struct legal *l, unsigned d);
void legal_family_is_valued(struct legal *l, unsigned d);

/* No member has a value any more; `calm`: nor is one used. */
void legal_forget_family(struct legal *l, unsigned root, bool calm);
void legal_release_family(struct legal *l, unsigned root);

/* Ends all plans of the datum. */
void legal_clean_all(struct legal *l, unsigned whole, unsigned thread);

/* CALL_PARTITION and CALL_UNPARTITION of planned data. */
void legal_do_plan(struct legal *l, struct call *call);
void legal_do_clean(struct legal *l, struct call *call);

/* -- the rules: each mends the call, or drops it -- */

void legal_do_task(struct legal *l, struct call *call);
void legal_do_acquire(struct legal *l, struct call *call);
void legal_do_release(struct legal *l, struct call *call);
void legal_do_prefetch(struct legal *l, struct call *call);
void legal_do_wont_use(struct legal *l, struct call *call);
void legal_do_evict(struct legal *l, struct call *call);
void legal_do_invalidate(struct legal *l, struct call *call);
void legal_do_copy(struct legal *l, struct call *call);
void legal_do_register(struct legal *l, struct call *call);
void legal_do_unregister(struct legal *l, struct call *call);
void legal_do_partition(struct legal *l, struct call *call);
void legal_do_unpartition(struct legal *l, struct call *call);
void legal_do_switch(struct legal *l, struct call *call);
void legal_do_wait_all(struct legal *l, struct call *call);
void legal_do_wait_task(struct legal *l, struct call *call);
void legal_do_wait_tag(struct legal *l, struct call *call);
