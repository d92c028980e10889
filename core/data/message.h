/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/message.h - messages: a datum that something outside of the runtime reads or
 * writes in its turn, such as a layer that sends it to another process. For layers above
 * (core/remote.h).
 *
 * A message has a place in the order of its datum, from orr_message_start on. When it is
 * its turn a memory node is chosen, the value, or memory for one, is brought there, and
 * the message is granted: its layer holds the datum until it ends the message. Core does
 * not know what happens meanwhile, nor where.
 *
 * The structure is the layer's, lent to core from orr_message_start until `ended` is
 * called, which may free it. Its functions are called by whatever context comes to that: a
 * worker, the one that starts the message or has ended another job, or the machine's own
 * (orr_self->machine), in which no method of an interface may be called. No lock is held,
 * and they must not block: public calls that would, refuse. They may submit tasks and start
 * messages.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/device/machine.h"

struct orr_handle;
struct orr_job;
struct orr_runtime;

/* Where the datum of a message is when it is the message's turn: bits of memory nodes. */
struct orr_message_places {
    uint64_t valid;     /* have the value; may change until it is granted */
    uint64_t allocated; /* have memory for it */
    unsigned nnodes;    /* there are so many nodes, of which … */
    unsigned nram;      /* … the first ones are main memory */
    int home;           /* the datum's home node, -1: none */
};

/* One of main memory, if possible one that has the value, or memory for it. */
unsigned orr_message_usual_node(const struct orr_message_places *places);

enum orr_message_state {
    ORR_MESSAGE_WAITS,     /* for its turn */
    ORR_MESSAGE_COMES,     /* it has its turn, and waits for its data */
    ORR_MESSAGE_HELD,      /* it was granted */
    ORR_MESSAGE_CANCELLED, /* it will not be granted */
};

/* What both have to come before one that is held back goes on; whoever comes second makes
 * it. */
enum orr_message_gate { ORR_MESSAGE_TURN = 1, ORR_MESSAGE_GO = 2 };

struct orr_message {
    /* The layer's, [const] from the start on. */
    struct orr_handle *handle;
    uint32_t
        mode; /* STARPU_R, STARPU_W or STARPU_RW, maybe with STARPU_COMMUTE */
    bool
        sequential; /* in the order of submission, if the handle has one; false: it
                      * only waits for those that have the datum just then */
    bool held_back; /* its turn is not used before orr_message_go: until then it has its
                     * place in the order, but no memory */
    int priority; /* among those that wait for memory, or for a datum without order */
    void *arg; /* of the four functions */
    /* For who looks at a run that stands: the rank at the other end, among all, -1: several;
     * and the tag. */
    bool is_known;
    int peer;
    int64_t tag;
    /* Of one that is held back: its turn has come; orr_message_go may be called from here on,
     * though not inside. NULL: nobody wants to know. */
    void (*has_turn)(void *arg);
    /* Which node; NULL: orr_message_usual_node. */
    unsigned (*choose)(void *arg, const struct orr_message_places *places);
    /* The datum is held on that node; `interface` says where it lies there. The message
     * may be ended before this returns, and be gone then. */
    void (*granted)(void *arg, unsigned node, void *interface);
    /* The datum is no longer held, or the message was cancelled and `granted` is false.
     * NULL: nobody wants to know, and the structure stays. */
    void (*ended)(void *arg, bool granted);
    /* NULL, or a message that its layer holds for writing, on a node of main memory, until
     * this one was granted, and whose value is there: this one, which is STARPU_W, takes that value
     * over, on that node, without `choose`. If both data are dense, of one shape and in
     * memory that the library has allocated, that memory becomes this datum's (`taken` is
     * true), and the other datum has neither value nor memory any more. Else, if both are
     * of one interface and equally large, the value is copied (`copied` is true). Else
     * the layer has to unpack it. */
    struct orr_message *from;
    bool taken, copied; /* results, when it is granted */

    /* Core's. */
    struct orr_job *job;
    struct orr_post post;
    atomic_uchar state; /* enum orr_message_state */
    atomic_uchar gate;  /* of one that is held back: enum orr_message_gate */
    bool failed;        /* [holder] */
    bool unreal; /* [holder] may set it before the end: what was written means
                         * nothing, since kernels are skipped */
};

/* For `choose`, to be called there: the memory nodes (bits) of all workers that may run what
 * comes next in the order of the datum, and reads the value. 0: nothing does yet, or no task. */
uint64_t orr_message_wanted(const struct orr_message *message);

/* Gives the message its place in the order; it may have been granted on return. A context
 * of the handle's run, no lock held. Errors: -ENOMEM; -EINVAL, with a message that names
 * `call`, of a handle that cannot be used; then nothing has happened. */
int orr_message_start(struct orr_message *message, const char *call);

/* Ends a message that was granted: what waits for the datum goes on, and a value that was
 * written is the only one from now on. `failed`: what was written is no value, the datum
 * has none. Any thread, also one that is no context, with any lock, also in `granted`; of
 * a simulation its thread alone. It takes no lock and calls nothing of the layer: a worker
 * does the rest when it comes by. */
void orr_message_end(struct orr_message *message, bool failed);

/* The same by the calling context of the run, at once: `ended` was called on return. No
 * lock held. */
void orr_message_end_here(struct orr_message *message, bool failed);

/* Of one that was held back, once: it uses its turn as soon as that has come. A context of
 * the handle's run, no lock held; it may have been granted on return. */
void orr_message_go(struct orr_message *message);

/* Whether the turn of one that was held back has come. */
static inline bool orr_message_has_turn(const struct orr_message *message)
{
    return atomic_load(&message->gate) & ORR_MESSAGE_TURN;
}

/* The message that a job of that type (orr_job_message) is the turn of; borrowed. */
const struct orr_message *orr_message_of(const struct orr_job *job);

/* Takes a message back whose turn has not come: true; it passes when its turn comes, and
 * `ended` is called then. False: it was granted, or is about to be: it has to be ended.
 * Any thread. It must not have ended. One that is held back has to be let go all the
 * same. */
bool orr_message_cancel(struct orr_message *message);
