/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/rank.h - one rank of a program of several processes: a run, a transport, and the
 * context that operates it. All of mpi/ hangs off struct orr_rank.
 *
 * The context, the rank's carrier, alone calls the transport and has what is under way
 * (channel.h, request.h). Others hand it errands, which it runs in the order in which they
 * were handed in; what the application calls back runs there, too, frozen, so that a call
 * that would wait for the carrier itself is refused with a message.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"
#include "core/base/lock.h"
#include "core/base/wait.h"
#include "core/remote.h"
#include "mpi/channel.h"
#include "mpi/members.h"
#include "mpi/room.h"
#include "mpi/transport.h"

struct orr_check;
struct orr_balance;
struct orr_peers;
struct orr_checkpoints;
struct orr_request;
struct orr_stall;
struct orr_stats;

/* Something that the carrier does for another context. In the memory of the one that
 * hands it in, until run is called, which may free it. */
struct orr_errand {
    struct orr_list link;
    void (*run)(struct orr_rank *rank, struct orr_errand *errand);
};

/* A communicator that the rank knows. */
struct orr_rank_comm {
    void *native; /* as the transport's comm_add takes it; kept */
    struct orr_comm comm;
};

enum { ORR_MOST_COMMS = 256 };

struct orr_rank_conf {
    /* Opens the transport, on the carrier, which is its owner. NULL: *err says why. */
    struct orr_transport *(*open)(void *arg, struct orr_error *err);
    void *arg;
    /* The communicator of all; then whether two natives are one, and one that stays for the
     * rank's table, which `drop` ends; NULL without memory. */
    const void *world;
    bool (*is_same)(const void *native, const void *other);
    void *(*keep)(const void *native);
    void (*drop)(void *native);
    /* The rank in the communicator of all that rank `peer` of this one is; on the
     * carrier. */
    int (*translate)(const void *native, int peer);
    int cpu; /* to which the carrier is bound, -1: to none */
    /* If the size is not 0: each communicator has so many ranks, of which this is one, and
     * no message is sent or received, but ends when it has its datum. */
    int pretended_size, pretended_rank;
};

struct orr_rank {
    struct orr_remote_ops ops; /* first: what core knows of it */
    struct orr_runtime *rt;
    struct orr_transport *transport; /* [carrier] */
    struct orr_rank_conf conf;
    struct orr_context *carrier; /* [const] */
    int number, size;            /* [const] in the communicator of all */
    bool shares_processors;      /* [const] with another rank of its host */
    atomic_bool is_crowded;      /* the rank has no more processors than workers */
    atomic_bool naps; /* the carrier does, while all workers execute */
    int idle_hook;    /* [main] of workers, that ends the nap; -1: none */

    struct orr_lock lock;       /* rank ORR_RANK_REMOTE */
    struct orr_list errands;    /* [lock] the first one first */
    bool is_handed;             /* [lock] … by another context than the carrier */
    bool closing;               /* [lock] the carrier ends when nothing is under way */
    struct orr_rank_comm *comms[ORR_MOST_COMMS]; /* [carrier] for writing; the first is
                                                  * that of all */
    _Atomic unsigned ncomms;

    /* [carrier] what is under way */
    struct orr_channels channels;
    struct orr_list ready;  /* sends that were granted, the most urgent first */
    struct orr_list sending; /* sends in the transport, but synchronous ones */
    struct orr_list agreed; /* synchronous sends that wait for the receiver's word, and
                             * receives that have given it */
    unsigned nexpected;     /* receives that wait for a header, and `agreed` */
    unsigned nsending, nreceiving; /* messages in the transport */
    unsigned nmeeting;             /* meetings in it */
    bool is_hurried;               /* what came last asks for an answer */
    uint64_t nap_us;               /* the next one beside kernels (carrier.c) */
    atomic_uint nawaiting;         /* contexts in orr_rank_await */
    uint64_t last_id;              /* of requests */
    struct orr_list trees;   /* tree.h: that were not acknowledged, or are being sent */
    uint32_t last_tree;      /* its id */
    struct orr_list patient; /* coop.h: bags that wait for more sends */
    struct orr_list postponed; /* incoming.h: messages that came before others */
    struct orr_room room;      /* room.h: where `spares_memory` */
    /* Of each rank of the communicator of all: the last header sent to it with data, and
     * the last one taken from it; owned. */
    uint64_t *sent_upto, *taken_upto;
    uint64_t nmoved;               /* messages and meetings, and errands, up to now */
    uint64_t nended;               /* messages that have ended here */
    double carried_us; /* of a processor's time, that it had something to do; about */
    orr_control *controls[ORR_CONTROLS]; /* set before a message of the kind can come */
    void *control_taken; /* owned: what the function of a kind was given, until it keeps it */

    bool spares_memory;      /* [const] main memory has a limit: receives take none before
                              * their message has come, and sends some at most, so that they
                              * cannot fill it while all wait for each other */
    bool fills_devices;      /* [const] the transport receives into memory of devices */
    bool computes;           /* [const] kernels are run: values are values */
    bool ignores_priorities; /* [const] of requests: all have priority 0 */
    atomic_bool caches;      /* cache.h: values that were sent are remembered */
    atomic_bool cooperates;  /* coop.h: sends of one value are made together */
    bool tells_cache;        /* [const] each change of received values is told */
    struct orr_policies policies; /* select.h */
    long tree_from; /* [const] bytes from which reductions go along trees, < 0: none do */
    /* For the record of the run: messages that are waited for, up to now; insertions that
     * others execute, since its last line. */
    _Atomic uint64_t last_recorded;
    _Atomic uint64_t nskipped;
    void (*hook)(struct starpu_task *task); /* the application's, before each submission of
                                             * an inserted task; NULL: none */
    struct orr_data_table data;  /* datum.h */
    struct orr_stats *stats;     /* stats.h; owned */
    struct orr_check *check;     /* check.h; owned, NULL: nothing is checked */
    struct orr_stall *stall;     /* stall.h; owned */
    struct orr_peers *peers;     /* peers.h; owned, NULL: nobody is watched */
    struct orr_clocks clocks;    /* clocks.h */
    struct orr_balance *balance; /* balance.h; owned, NULL: data stay where they are */
    double (*elapsed)(void);     /* … what measures it, NULL: a clock */
    struct orr_checkpoints *checkpoints; /* checkpoint.h; owned, NULL: none are made */
};

/* The rank of the calling context's run. A call outside of starpu_mpi_init and
 * starpu_mpi_shutdown ends the program, after a message that names `call`. */
struct orr_rank *orr_rank_need(const char *call);
/* NULL where there is none. */
struct orr_rank *orr_rank_of(const struct orr_runtime *rt);
struct orr_rank *orr_rank_current(void);

/* The carrier will run it; any context, with any lock of a higher rank not held. */
void orr_rank_hand(struct orr_rank *rank, struct orr_errand *errand);

/* The same with the lock held, with which the carrier is woken, too: it ends, with its
 * transport, once it has found nothing to do and is told to, and whoever wakes it must not
 * come later than that. */
void orr_rank_hand_locked(struct orr_rank *rank, struct orr_errand *errand)
    ORR_REQUIRES(rank->lock);
void orr_rank_rouse_locked(struct orr_rank *rank) ORR_REQUIRES(rank->lock);

/* Waits for what the carrier does, which is then hurried. */
void orr_rank_await(struct orr_rank *rank, struct orr_waiter *waiter,
                    const struct orr_awaited *awaited);

/* Runs it on the carrier and returns when it was run: at once if the caller is the carrier.
 * Any context that may block; -EDEADLK after a message that names `call` if it may not. */
int orr_rank_ask(struct orr_rank *rank, struct orr_errand *errand, const char *call);

static inline bool orr_rank_is_carrier(const struct orr_rank *rank)
{
    return orr_self == rank->carrier;
}

/* The number, in the transport, of a communicator; the carrier is told of one that is new.
 * NULL, after a message that names `call`: this rank is no member, or may not wait. The
 * result stays where it is until the rank is closed. */
const struct orr_comm *orr_rank_comm(struct orr_rank *rank, const void *native,
                                     const char *call);
/* The one that was made known as number `number`, 0 that of all. */
const struct orr_comm *orr_rank_comm_at(struct orr_rank *rank, unsigned number);

/* Rank `peer` of the communicator in that of all; on the carrier. */
int orr_rank_of_world(struct orr_rank *rank, const struct orr_comm *comm, int peer);

/* Ends the program with status 1 after a message, as orr_runtime_fail. */
_Noreturn void orr_rank_fail(struct orr_rank *rank, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Calls the application back, on the carrier. */
void orr_rank_call_back(struct orr_rank *rank, void (*function)(void *), void *arg);

/* --- the carrier's --- */

/* Runs what was handed in before; true if there was anything. */
bool orr_rank_run_errands(struct orr_rank *rank);

/* A meeting has ended. */
void orr_rank_met(struct orr_rank *rank, struct orr_meeting *meeting);

/* Makes a communicator known. Errors: the transport's, -ENOMEM. */
int orr_rank_add_comm(struct orr_rank *rank, const void *native, struct orr_error *err);

/* --- any context's --- */

/* The insertions that other ranks execute are a line of the record, before what follows. */
void orr_rank_record_skipped(struct orr_rank *rank);

/* Does with all of the communicator's ranks what the meeting says, and returns when it has
 * ended, with its error. -EDEADLK as orr_rank_ask. */
int orr_rank_meet(struct orr_rank *rank, struct orr_meeting *meeting, const char *call);
