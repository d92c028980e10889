/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/message.c - see message.h. A message is a job without task, as an acquisition
 * is: it "runs" while its layer holds the datum.
 */
#include "core/data/message.h"

#include <errno.h>

#include "core/base/bits.h"
#include "core/base/log.h"
#include "core/data/data.h"
#include "core/data/handover.h"
#include "core/data/label.h"
#include "core/data/lend.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/plan.h"
#include "core/data/reduction.h"
#include "core/data/release.h"
#include "core/data/within.h"
#include "core/device/mailbox.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/task/end.h"
#include "core/worker/workers.h"

static struct orr_message *message_of(const struct orr_job *job)
{
    return orr_job_own(job)->arg;
}

/* What a function of the layer may not see of the context that calls it. A machine's own
 * context is of no run, or of another one. */
struct outside {
    struct orr_runtime *runtime;
    struct orr_worker *worker;
    struct orr_job *job;
};

static struct outside outside_enter(struct orr_runtime *rt)
{
    struct orr_context *self = orr_self;
    struct outside outside = {self->runtime, self->worker, self->job};

    self->runtime = rt;
    self->worker = NULL;
    self->job = NULL;
    self->frozen++;
    return outside;
}

static void outside_leave(struct outside outside)
{
    orr_self->frozen--;
    orr_self->job = outside.job;
    orr_self->worker = outside.worker;
    orr_self->runtime = outside.runtime;
}

static void tell_end(struct orr_runtime *rt, const struct orr_message *message,
                     bool granted)
{
    struct outside outside;

    if (!message->ended)
        return;
    outside = outside_enter(rt);
    message->ended(message->arg, granted);
    outside_leave(outside);
}

/* --- the end --- */

static void message_finish(struct orr_message *message)
{
    struct orr_handle *handle = message->handle;
    struct orr_runtime *rt = handle->runtime;
    struct orr_job *job = message->job;

    if (message->mode & STARPU_W) {
        if (message->failed)
            orr_handle_forget_value(handle);
        else
            orr_job_write_through(rt, job);
        if (message->unreal) {
            orr_lock(&handle->lock);
            handle->unreal = true;
            orr_unlock(&handle->lock);
        }
    }
    orr_lend_release(job);
    orr_job_drop_data(rt, job);
    orr_job_complete(rt, job);
    tell_end(rt, message, true);
}

static void message_post_arrived(struct orr_post *post)
{
    message_finish(orr_container(post, struct orr_message, post));
}

void orr_message_end(struct orr_message *message, bool failed)
{
    message->failed = failed;
    message->post.mailbox = orr_nodes_find_mailbox(message->handle->runtime);
    orr_post(&message->post);
}

void orr_message_end_here(struct orr_message *message, bool failed)
{
    message->failed = failed;
    __atomic_fetch_sub(message->post.outside, 1, __ATOMIC_RELEASE);
    message->post.outside = NULL;
    message_finish(message);
}

bool orr_message_cancel(struct orr_message *message)
{
    unsigned char state = ORR_MESSAGE_WAITS;

    return atomic_compare_exchange_strong(&message->state, &state,
                                          ORR_MESSAGE_CANCELLED);
}

/* --- its turn --- */

/* The layer holds the datum from now on. It may end the message at once, from another
 * thread, so that the message is not looked at any more. */
static void message_hold(struct orr_runtime *rt, void *arg)
{
    struct orr_job *job = arg;
    struct orr_message *message = message_of(job);
    unsigned node = orr_job_own(job)->node;
    void *interface = message->handle->replicates[node].interface;
    void (*granted)(void *, unsigned, void *) = message->granted;
    void *of_layer = message->arg;
    struct outside outside;

    orr_job_set_state(job, ORR_JOB_RUNNING);
    orr_post_expect(&message->post, rt->exec);
    atomic_store_explicit(&message->state, ORR_MESSAGE_HELD,
                          memory_order_release);
    outside = outside_enter(rt);
    granted(of_layer, node, interface);
    outside_leave(outside);
}

static void message_copy(struct orr_runtime *rt, void *arg)
{
    const struct orr_job *job = arg;
    const struct orr_message *message = message_of(job);

    if (orr_handover_copy(message->handle, message->from->handle,
                          orr_job_own(job)->node) == 0)
        return;
    orr_log_error(
        "a message cannot copy its value to %s: a method of the data's "
        "interface has failed",
        orr_handle_label(message->handle).text);
    orr_runtime_fail(rt);
}

static void message_arrived(struct orr_runtime *rt, struct orr_job *job,
                            int worker)
{
    struct orr_message *message = message_of(job);

    (void)worker;
    orr_job_take_data(rt, job, orr_job_own(job)->node);
    if (message->from && !message->taken &&
        orr_handover_may_copy(message->handle, message->from->handle)) {
        message->copied = true;
        orr_copy_within(rt, orr_job_own(job)->node, message->handle->size, 0,
                        message_copy, message_hold, job);
        return;
    }
    message_hold(rt, job);
}

unsigned orr_message_usual_node(const struct orr_message_places *places)
{
    uint64_t ram = orr_bit(places->nram) - 1;

    if (places->valid & ram)
        return (unsigned)__builtin_ctzll(places->valid & ram);
    if (places->allocated & ram)
        return (unsigned)__builtin_ctzll(places->allocated & ram);
    return places->home >= 0 && (unsigned)places->home < places->nram
               ? (unsigned)places->home
               : STARPU_MAIN_RAM;
}

/* Whether it is a task that reads the datum where its worker is. */
static bool reads_at_worker(const struct orr_access *access)
{
    const struct orr_job *job = access->job;

    return (access->mode & STARPU_R) && job->type->may_avoid && job->costs && !job->data.spread;
}

uint64_t orr_message_wanted(const struct orr_message *message)
{
    struct orr_handle *handle = message->handle;
    const struct orr_access *next;
    uint64_t nodes = 0;

    if (!message->job->accesses[0].wants_order)
        return 0;
    orr_lock(&handle->lock);
    next = orr_turns_behind(&handle->turns, &message->job->accesses[0]);
    for (unsigned n = 0; next && reads_at_worker(next) && n < handle->nnodes; n++)
        if (next->job->type->may_avoid(handle->runtime, next->job, ~orr_bit(n)))
            nodes |= orr_bit(n);
    orr_unlock(&handle->lock);
    return nodes;
}

static unsigned message_choose(struct orr_runtime *rt,
                               const struct orr_message *message)
{
    const struct orr_handle *handle = message->handle;
    const struct orr_message_places places = {
        .valid = atomic_load_explicit(&handle->valid, memory_order_relaxed),
        .allocated =
            atomic_load_explicit(&handle->allocated, memory_order_relaxed),
        .nnodes = handle->nnodes,
        .nram = rt->nodes->nram,
        .home = handle->home_node};
    struct outside outside;
    unsigned node;

    if (message->from)
        return orr_job_own(message->from->job)->node;
    if (!message->choose)
        return orr_message_usual_node(&places);
    outside = outside_enter(rt);
    node = message->choose(message->arg, &places);
    outside_leave(outside);
    if (node >= handle->nnodes) {
        orr_log_error("a message for %s chose memory node %u: there is no such "
                      "node",
                      orr_handle_label(handle).text, node);
        orr_runtime_fail(rt);
    }
    return node;
}

/* A cancelled one passes its turn; of many in a row none is ended inside of another. */
static void message_use_turn(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_message *message = message_of(job);
    unsigned char state = ORR_MESSAGE_WAITS;
    unsigned node;

    if (!atomic_compare_exchange_strong(&message->state, &state,
                                        ORR_MESSAGE_COMES)) {
        orr_lend_release(job);
        orr_job_skip(rt, job);
        tell_end(rt, message, false);
        return;
    }
    node = message_choose(rt, message);
    orr_job_own(job)->node = node;
    orr_job_set_state(job, ORR_JOB_FETCHING);
    if (message->from)
        message->taken =
            orr_handover_take(message->handle, message->from->handle, node);
    if (orr_job_fetch(rt, job, node))
        message_arrived(rt, job, -1);
}

static bool gate_opens(struct orr_message *message, enum orr_message_gate side)
{
    return atomic_fetch_or(&message->gate, side) != 0;
}

static void tell_turn(struct orr_runtime *rt, const struct orr_message *message)
{
    struct outside outside;

    if (!message->has_turn)
        return;
    outside = outside_enter(rt);
    message->has_turn(message->arg);
    outside_leave(outside);
}

static void message_ready(struct orr_runtime *rt, struct orr_job *job)
{
    struct orr_message *message = message_of(job);

    orr_job_set_state(job, ORR_JOB_READY);
    tell_turn(rt, message);
    if (!message->held_back || gate_opens(message, ORR_MESSAGE_TURN))
        message_use_turn(rt, job);
}

void orr_message_go(struct orr_message *message)
{
    if (gate_opens(message, ORR_MESSAGE_GO))
        message_use_turn(message->handle->runtime, message->job);
}

const struct orr_message *orr_message_of(const struct orr_job *job)
{
    return orr_job_own(job)->arg;
}

const struct orr_job_type orr_job_message = {
    .ready = message_ready,
    .arrived = message_arrived,
    .is_own = true,
};

/* --- the beginning --- */

static int message_check(const struct orr_message *message, const char *call)
{
    int err = orr_data_check(message->handle, call);

    if (err || !message->handle->multiformat)
        return err;
    orr_log_error("%s of %s: data with a form per kind of device have no one "
                  "value to send or receive: use an ordinary interface",
                  call, orr_handle_label(message->handle).text);
    return -EINVAL;
}

int orr_message_start(struct orr_message *message, const char *call)
{
    int err = message_check(message, call);
    struct orr_handle *handle = message->handle;
    struct orr_access *access;
    struct orr_runtime *rt;
    struct orr_job *job;

    if (err)
        return err;
    rt = handle->runtime;
    job = orr_job_new(rt, &orr_job_message, 1);
    if (!job)
        return -ENOMEM;
    access = &job->accesses[0];
    access->job = job;
    access->handle = handle;
    access->mode = (uint16_t)message->mode;
    access->wants_order = message->sequential && handle->sequential;
    orr_job_own(job)->call = ORR_ACQUIRE_MESSAGE;
    orr_job_own(job)->arg = message;
    orr_job_own(job)->by = orr_self->job;
    orr_job_own(job)->node = STARPU_MAIN_RAM;
    job->priority = message->priority;
    message->job = job;
    message->post = (struct orr_post){.arrived = message_post_arrived};
    message->taken = message->copied = message->failed = false;
    atomic_init(&message->state, ORR_MESSAGE_WAITS);
    atomic_init(&message->gate, 0);
    orr_job_nest(rt, job);
    if (orr_job_around(job))
        orr_lend_acquire(job);
    err = orr_job_begin_data(rt, job);
    if (err) {
        orr_lend_release(job);
        orr_job_unref(rt, job);
        return err;
    }
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    orr_job_order(rt, job, access);
    orr_job_release(rt, job);
    return 0;
}
