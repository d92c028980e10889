/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/transfers.c - see transfers.h. A copy goes
 *
 *   handed over -> (delayed) -> waiting for its locks -> begun -> (first use) -> ended
 *
 * where the last arrows are taken on the dispatcher's stack only, since they
 * enter the network and call core.
 */
#include "sim/transfers.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"

/* The slots of orr_copy.machine_link. */
enum {
    NEXT_WRITER, /* in the queue of writers, or in another list */
    NEXT_READER, /* in the queue of readers */
    MISSING,     /* locks it still waits for, or ARRIVED */
    DATE, /* when a delayed copy enters, one that is timed ends: bits of a double */
};

/* Its bytes are there, and pages have been given for them. */
#define ARRIVED UINTPTR_MAX

/* First come, first served; `busy` readers or one writer are inside. */
struct lock {
    struct orr_copy *first, *last; /* waiting */
    unsigned readers;
    bool written;
};

struct list {
    struct orr_copy *first, *last; /* by NEXT_WRITER */
};

struct orr_transfers {
    struct orr_sim_events events; /* first */
    struct orr_sim_exec *exec;
    const struct orr_sim_user *user; /* of it: the machine */
    struct orr_network *network;
    struct orr_streaming *streaming; /* lent; NULL: nothing shares main memory */
    const double *bandwidth; /* lent, [nbandwidth × nbandwidth], bytes per µs */
    unsigned nbandwidth;
    bool perform;
    double delay_us;
    unsigned nnodes;
    unsigned nmain;       /* the first ones are main memory */
    struct lock *device;  /* [nnodes], what arrives at and leaves devices */
    struct lock *to_main; /* [nnodes] */
    struct list granted;  /* have their locks, not begun yet */
    struct list delayed;  /* by date, since all are delayed alike */
    struct orr_timer delay_timer;
    struct orr_local_copy *takes; /* [nnodes], of those within a node */
    /* [nnodes], µs per byte of memory that nobody has used. */
    double *first_use;
    /* Those within a node, and those whose bytes have come to memory that nobody has used:
     * by date, of one date first come first. */
    struct list timed;
    struct orr_timer timed_timer;
};

static_assert(sizeof(double) <= sizeof(void *),
              "a date must fit in a link of a copy");

static void list_push(struct list *list, struct orr_copy *copy)
{
    copy->machine_link[NEXT_WRITER] = NULL;
    if (list->last)
        list->last->machine_link[NEXT_WRITER] = copy;
    else
        list->first = copy;
    list->last = copy;
}

static struct orr_copy *list_pop(struct list *list)
{
    struct orr_copy *copy = list->first;

    if (!copy)
        return NULL;
    list->first = copy->machine_link[NEXT_WRITER];
    if (!list->first)
        list->last = NULL;
    return copy;
}

static uintptr_t copy_locks_missing(const struct orr_copy *copy)
{
    return (uintptr_t)copy->machine_link[MISSING];
}

static void set_missing(struct orr_copy *copy, uintptr_t n)
{
    copy->machine_link[MISSING] = (void *)n;
}

/* -- locks ---------------------------------------------------------------- */

/* Whether `copy` reads in `lock`, the device lock of the node it leaves. */
static bool copy_reads_lock(const struct orr_transfers *t,
                            const struct lock *lock,
                            const struct orr_copy *copy)
{
    return lock == &t->device[copy->src];
}

static int copy_next_slot(const struct orr_transfers *t,
                          const struct lock *lock, const struct orr_copy *copy)
{
    return copy_reads_lock(t, lock, copy) ? NEXT_READER : NEXT_WRITER;
}

static bool may_enter(const struct lock *lock, bool reader)
{
    return !lock->written && (reader || lock->readers == 0);
}

static void lock_enter(struct lock *lock, bool reader)
{
    if (reader)
        lock->readers++;
    else
        lock->written = true;
}

/* One lock less to wait for; with all of them the copy can begin. */
static void grant(struct orr_transfers *t, struct orr_copy *copy)
{
    set_missing(copy, copy_locks_missing(copy) - 1);
    if (copy_locks_missing(copy) > 0)
        return;
    list_push(&t->granted, copy);
    orr_sim_exec_set_events(t->exec, &t->events, -ORR_FOREVER); /* before the clock moves */
}

static void lock_request(struct orr_transfers *t, struct lock *lock,
                         struct orr_copy *copy)
{
    bool reader = copy_reads_lock(t, lock, copy);

    if (!lock->first && may_enter(lock, reader)) {
        lock_enter(lock, reader);
        grant(t, copy);
        return;
    }
    copy->machine_link[copy_next_slot(t, lock, copy)] = NULL;
    if (lock->last)
        lock->last->machine_link[copy_next_slot(t, lock, lock->last)] = copy;
    else
        lock->first = copy;
    lock->last = copy;
}

static void lock_leave(struct orr_transfers *t, struct lock *lock,
                       const struct orr_copy *copy)
{
    if (copy_reads_lock(t, lock, copy))
        lock->readers--;
    else
        lock->written = false;
    while (lock->first &&
           may_enter(lock, copy_reads_lock(t, lock, lock->first))) {
        struct orr_copy *next = lock->first;

        lock->first = next->machine_link[copy_next_slot(t, lock, next)];
        if (!lock->first)
            lock->last = NULL;
        lock_enter(lock, copy_reads_lock(t, lock, next));
        grant(t, next);
    }
}

static bool transfers_node_is_main(const struct orr_transfers *t, unsigned node)
{
    return node < t->nmain;
}

/* Within a node. */
static bool is_local(const struct orr_copy *copy)
{
    return copy->src == copy->dst;
}

static bool copy_is_peer(const struct orr_transfers *t,
                         const struct orr_copy *copy)
{
    return !transfers_node_is_main(t, copy->src) &&
           !transfers_node_is_main(t, copy->dst);
}

/* NULL between nodes of main memory, where any processor copies. */
static struct lock *write_lock(struct orr_transfers *t,
                               const struct orr_copy *copy)
{
    if (!transfers_node_is_main(t, copy->dst))
        return &t->device[copy->dst];
    return transfers_node_is_main(t, copy->src) ? NULL : &t->to_main[copy->src];
}

static void ask_locks(struct orr_transfers *t, struct orr_copy *copy)
{
    struct lock *lock = write_lock(t, copy);

    set_missing(copy, copy_is_peer(t, copy) ? 2 : 1);
    if (!lock) {
        grant(t, copy);
        return;
    }
    lock_request(t, lock, copy);
    if (copy_is_peer(t, copy))
        lock_request(t, &t->device[copy->src], copy);
}

static void leave_locks(struct orr_transfers *t, const struct orr_copy *copy)
{
    struct lock *lock = write_lock(t, copy);

    if (is_local(copy))
        return;
    if (lock)
        lock_leave(t, lock, copy);
    if (copy_is_peer(t, copy))
        lock_leave(t, &t->device[copy->src], copy);
}

/* -- at a date ------------------------------------------------------------ */

static double copy_date(const struct orr_copy *copy)
{
    double date;

    memcpy(&date, &copy->machine_link[DATE], sizeof(date));
    return date;
}

static void arm_timed(struct orr_transfers *t)
{
    orr_timers_cancel(&t->exec->timers, &t->timed_timer);
    if (t->timed.first)
        orr_sim_exec_set_timer(t->exec, &t->timed_timer,
                               copy_date(t->timed.first));
}

/* It waits for no locks: as what is granted it ends at once, on the dispatcher's stack. */
static void end_timed(struct orr_timer *timer)
{
    struct orr_transfers *t =
        (struct orr_transfers *)((char *)timer -
                                 offsetof(struct orr_transfers, timed_timer));

    list_push(&t->granted, list_pop(&t->timed));
    orr_sim_exec_set_events(t->exec, &t->events, -ORR_FOREVER);
    arm_timed(t);
}

/* It needs nothing but time any more. */
static void end_after(struct orr_transfers *t, struct orr_copy *copy, double us)
{
    double date = t->exec->now + us;
    struct list later = {NULL, NULL}, all = t->timed;
    struct orr_copy *other;

    set_missing(copy, ARRIVED);
    memcpy(&copy->machine_link[DATE], &date, sizeof(date));
    t->timed = later;
    while ((other = list_pop(&all)))
        list_push(copy_date(other) > date ? &later : &t->timed, other);
    list_push(&t->timed, copy);
    while ((other = list_pop(&later)))
        list_push(&t->timed, other);
    arm_timed(t);
}

/* -- beginning and ending ------------------------------------------------- */

/* It takes its part of the bandwidth of main memory at both ends. */
static void copy_stream(const struct orr_transfers *t, const struct orr_copy *copy,
                        bool begins)
{
    double rate;

    if (!t->streaming || is_local(copy) || copy->src >= t->nbandwidth ||
        copy->dst >= t->nbandwidth)
        return;
    rate = t->bandwidth[copy->src * t->nbandwidth + copy->dst];
    if (!(rate > 0))
        return;
    orr_streaming_copy(t->streaming, copy->src, rate, begins);
    orr_streaming_copy(t->streaming, copy->dst, rate, begins);
}

static void copy_end(struct orr_transfers *t, struct orr_copy *copy)
{
    if (t->perform)
        (void)copy->perform(copy, NULL);
    leave_locks(t, copy);
    copy->done(copy);
}

/* The time that the system takes to give the destination's pages. */
static double copy_first_use(const struct orr_transfers *t,
                             const struct orr_copy *copy)
{
    return t->first_use[copy->dst] * (double)copy->fresh;
}

static void copy_begin(struct orr_transfers *t, struct orr_copy *copy)
{
    struct orr_error err;

    if (copy_locks_missing(copy) == ARRIVED) {
        copy_end(t, copy);
        return;
    }
    copy->waited = t->network ? t->exec->now - copy->waited : 0;
    if (!t->network) {
        copy_end(t, copy);
        return;
    }
    if (t->network->ops->start(t->network, copy->src, copy->dst, copy->size, copy,
                          t->exec->now, &err) == 0) {
        copy_stream(t, copy, true);
        return;
    }
    /* Out of memory, or no route: nothing could end the copy. */
    orr_log_error("the simulation cannot go on: %s", err.text);
    abort();
}

static void begin_granted(struct orr_transfers *t)
{
    struct orr_copy *copy;

    while ((copy = list_pop(&t->granted)))
        copy_begin(t, copy);
}

static void end_ended(struct orr_transfers *t)
{
    struct orr_copy *copy;

    while ((copy = t->network->ops->take_ended(t->network))) {
        double us = copy_first_use(t, copy);

        copy_stream(t, copy, false);
        if (us > 0)
            end_after(t, copy, us);
        else
            copy_end(t, copy);
    }
}

static void run_events(struct orr_sim_events *events)
{
    struct orr_transfers *t = (struct orr_transfers *)events;

    orr_sim_work_for(t->user);
    if (t->granted.first)
        begin_granted(t);
    else if (t->network)
        t->network->ops->advance(t->network);
    /* Also after a start: SimGrid, moved to the present, may have passed an
     * end that rounding had put an instant later. */
    if (t->network)
        end_ended(t);
    if (t->granted.first)
        orr_sim_exec_set_events(t->exec, events, -ORR_FOREVER);
    else if (t->network)
        orr_sim_exec_set_events(t->exec, events, t->network->ops->next_us(t->network));
    else
        orr_sim_exec_set_events(t->exec, events, ORR_FOREVER);
}

/* -- handing over --------------------------------------------------------- */

static void arm_delay(struct orr_transfers *t)
{
    orr_sim_exec_set_timer(t->exec, &t->delay_timer,
                           copy_date(t->delayed.first));
}

static void delay(struct orr_transfers *t, struct orr_copy *copy)
{
    double date = t->exec->now + t->delay_us;

    memcpy(&copy->machine_link[DATE], &date, sizeof(date));
    list_push(&t->delayed, copy);
    if (t->delayed.first == copy)
        arm_delay(t);
}

static void end_delay(struct orr_timer *timer)
{
    struct orr_transfers *t =
        (struct orr_transfers *)((char *)timer -
                                 offsetof(struct orr_transfers, delay_timer));

    orr_sim_work_for(t->user);
    ask_locks(t, list_pop(&t->delayed));
    if (t->delayed.first)
        arm_delay(t);
}

/* One within a node. */
static double within_us(const struct orr_transfers *t,
                        const struct orr_copy *copy)
{
    const struct orr_local_copy *takes = &t->takes[copy->src];

    return takes->latency_us + takes->us_per_byte * (double)copy->size +
           copy_first_use(t, copy);
}

void orr_transfers_set_streaming(struct orr_transfers *transfers,
                                 struct orr_streaming *streaming,
                                 const double *bandwidth, unsigned n)
{
    transfers->streaming = streaming;
    transfers->bandwidth = bandwidth;
    transfers->nbandwidth = n;
}

void orr_transfers_set_network(struct orr_transfers *transfers,
                               struct orr_network *network)
{
    transfers->network = network;
}

void orr_transfers_rouse(struct orr_transfers *transfers)
{
    orr_sim_exec_set_events(transfers->exec, &transfers->events, -ORR_FOREVER);
}

void orr_transfers_set_local(struct orr_transfers *transfers, unsigned node,
                             struct orr_local_copy takes)
{
    transfers->takes[node] = takes;
}

void orr_transfers_set_first_use(struct orr_transfers *transfers, unsigned node,
                                 double us_per_byte)
{
    transfers->first_use[node] = us_per_byte;
}

void orr_transfers_start(struct orr_transfers *transfers, struct orr_copy *copy)
{
    if (is_local(copy)) {
        end_after(transfers, copy, within_us(transfers, copy));
        return;
    }
    copy->waited = transfers->exec->now; /* until copy_begin */
    assert(copy->size > 0);
    assert(copy->src < transfers->nnodes && copy->dst < transfers->nnodes);
    if (orr_self && !orr_sim_is_dispatcher(transfers->exec, orr_self))
        orr_self->debt += transfers->delay_us;
    else if (transfers->delay_us > 0) {
        delay(transfers, copy);
        return;
    }
    ask_locks(transfers, copy);
}

/* Two, or none. */
static int reserve_timers(struct orr_timers *timers)
{
    int error = orr_timers_reserve(timers);

    if (error < 0)
        return error;
    error = orr_timers_reserve(timers);
    if (error < 0)
        orr_timers_release(timers);
    return error;
}

int orr_transfers_new(const struct orr_sim_user *user,
                      struct orr_network *network,
                      unsigned nnodes, unsigned nmain, bool perform,
                      double delay_us, struct orr_transfers **ret)
{
    struct orr_transfers *t = calloc(1, sizeof(*t));

    if (!t)
        return -ENOMEM;
    t->exec = user->exec;
    t->user = user;
    t->network = network;
    t->nnodes = nnodes;
    t->nmain = nmain;
    t->perform = perform;
    t->delay_us = delay_us;
    t->events.run = run_events;
    t->delay_timer.fire = end_delay;
    t->timed_timer.fire = end_timed;
    t->device = calloc(nnodes, sizeof(*t->device));
    t->to_main = calloc(nnodes, sizeof(*t->to_main));
    t->takes = calloc(nnodes, sizeof(*t->takes));
    t->first_use = calloc(nnodes, sizeof(*t->first_use));
    if (!t->device || !t->to_main || !t->takes || !t->first_use ||
        reserve_timers(&user->exec->timers) < 0) {
        free(t->takes);
        free(t->first_use);
        free(t->device);
        free(t->to_main);
        free(t);
        return -ENOMEM;
    }
    orr_sim_exec_add_events(t->exec, &t->events);
    *ret = t;
    return 0;
}

void orr_transfers_free(struct orr_transfers *transfers)
{
    if (!transfers)
        return;
    orr_sim_exec_remove_events(transfers->exec, &transfers->events);
    orr_timers_cancel(&transfers->exec->timers, &transfers->delay_timer);
    orr_timers_release(&transfers->exec->timers);
    orr_timers_cancel(&transfers->exec->timers, &transfers->timed_timer);
    orr_timers_release(&transfers->exec->timers);
    free(transfers->takes);
    free(transfers->first_use);
    free(transfers->device);
    free(transfers->to_main);
    free(transfers);
}
