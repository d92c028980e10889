/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/carrier.c - see carrier.h. */
#include "mpi/carrier.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/log.h"
#include "mpi/check.h"
#include "mpi/clocks.h"
#include "mpi/coop.h"
#include "mpi/datum.h"
#include "mpi/doctor.h"
#include "mpi/flight.h"
#include "mpi/incoming.h"
#include "mpi/peers.h"
#include "mpi/request.h"
#include "mpi/stall.h"
#include "mpi/stats.h"

/* --- what it does --- */

static bool take_what_came(struct orr_rank *rank)
{
    struct orr_transport *t = rank->transport;
    struct orr_header header;
    const void *inside;
    struct orr_packet *packet;
    struct orr_meeting *meeting;
    struct orr_failure failure;
    bool any = false;

    while (t->ops->take_header(t, &header, &inside)) {
        orr_incoming_take(rank, &header, inside);
        any = rank->is_hurried = true; /* more may follow, or the peer waits */
    }
    while ((packet = t->ops->take_ended(t))) {
        struct orr_flight *flight = packet->owner;

        rank->is_hurried |= packet->receives;
        flight->ended(rank, flight);
        any = true;
    }
    while ((meeting = t->ops->take_met(t))) {
        orr_rank_met(rank, meeting);
        any = true;
    }
    if (t->ops->take_failure(t, &failure))
        orr_rank_fail(rank, "%s", failure.why.text);
    return any;
}

static bool is_over(struct orr_rank *rank)
{
    bool closing;

    if (rank->nsending || rank->nreceiving || rank->nmeeting)
        return false;
    orr_lock(&rank->lock);
    closing = rank->closing && orr_list_empty(&rank->errands);
    orr_unlock(&rank->lock);
    return closing;
}

/* µs between two looks that interrupt kernels: the first, each twice the one before, and the
 * longest. A worker that has just ended its task had no processor yet to say so. */
enum { FIRST_NAP = 10, LONGEST_NAP = 400 };

/* What may come at once is looked for without a pause. Where the thread has no processor of
 * its own, that is taken from the workers, which may have what came, and each look makes a
 * kernel wait: as long as all workers have one, looks are few. A worker that falls idle ends
 * the nap, or is seen here. */
static struct orr_patience patience_of(struct orr_rank *rank)
{
    struct orr_patience patience = {.spin_ns = !rank->is_hurried  ? 0
                                               : rank->is_crowded ? 5000
                                                                  : 50000};

    if (!rank->is_crowded)
        return patience;
    atomic_store(&rank->naps, true);
    atomic_thread_fence(memory_order_seq_cst);
    if (orr_remote_all_execute(rank->rt)) {
        patience.nap_ns = 1000 * rank->nap_us;
        rank->nap_us =
            rank->nap_us * 2 < LONGEST_NAP ? rank->nap_us * 2 : LONGEST_NAP;
    } else {
        atomic_store(&rank->naps, false);
    }
    return patience;
}

/* The worker that calls it is idle, maybe for want of a message. */
static unsigned worker_is_idle(void *arg)
{
    struct orr_rank *rank = arg;

    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&rank->naps, memory_order_relaxed) &&
        atomic_exchange(&rank->naps, false))
        rank->transport->ops->wake(rank->transport);
    return 1; /* it may sleep */
}

/* A simulation has one thread, which must not stop in the transport: it looks again and
 * again, unless that wakes it, or looks in virtual time. */
static void rest(struct orr_rank *rank)
{
    const struct orr_awaited awaited = {.noun = "something to do for MPI",
                                        .describe = orr_stall_describe,
                                        .object = rank};
    struct orr_transport *t = rank->transport;
    uint64_t most = orr_stall_look(rank);

    if (!rank->rt->exec->one_thread || t->caps.looks)
        (void)t->ops->wait(t, rank->nexpected > 0, patience_of(rank), most);
    else if (!t->caps.wakes &&
             (rank->nsending || rank->nreceiving || rank->nmeeting || rank->nexpected))
        orr_context_sleep(&awaited, 1);
    else if (!t->ops->progress(t)) /* what that look has sent */
        orr_context_park(&awaited, ORR_FOREVER);
}

/* One pass of so many is timed, since asking for the thread's time takes a system call. */
enum { TIMED = 16 };

/* µs that it had a processor: where ranks share one, the clock would say more. */
static double thread_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void carry(struct orr_rank *rank)
{
    struct orr_transport *t = rank->transport;

    for (unsigned pass = 0; !is_over(rank); pass++) {
        /* The first one opens all. In virtual time processors are not what is measured. */
        bool timed = pass % TIMED == TIMED - 1 && !t->caps.virtual_time;
        double start = timed ? thread_us() : 0;
        bool any = orr_rank_run_errands(rank);

        any |= orr_requests_start_ready(rank);
        if (t->ops->progress(t))
            any |= take_what_came(rank);
        if (timed && any)
            rank->carried_us += TIMED * (thread_us() - start);
        if (any)
            rank->nap_us = FIRST_NAP;
        else if (!orr_coop_look(rank))
            rest(rank);
    }
}

/* --- open and close --- */

struct opening {
    struct orr_rank *rank;
    struct orr_waiter waiter;
    struct orr_error err;
    int rc;
};

/* Before the first one comes. */
static int number_headers(struct orr_rank *rank)
{
    size_t size = (size_t)rank->comms[0]->comm.size;

    rank->sent_upto = calloc(size, sizeof(*rank->sent_upto));
    rank->taken_upto = calloc(size, sizeof(*rank->taken_upto));
    return rank->sent_upto && rank->taken_upto ? 0 : -ENOMEM;
}

static bool fills_devices(const struct orr_rank *rank)
{
    const struct orr_machine *machine = rank->rt->machine;
    struct orr_transport *t = rank->transport;
    bool any = false;

    for (unsigned n = 0; t->ops->receives_into && n < machine->nnodes; n++)
        any |= machine->nodes[n].kind != STARPU_CPU_RAM && t->ops->receives_into(t, NULL, 0, n);
    return any;
}

static void carrier_body(void *arg)
{
    struct opening *opening = arg;
    struct orr_rank *rank = opening->rank;

    rank->carrier = orr_self;
    rank->transport = rank->conf.open(rank->conf.arg, &opening->err);
    opening->rc = rank->transport ? orr_rank_add_comm(rank, rank->conf.world, &opening->err)
                                  : -EIO;
    if (opening->rc == 0)
        rank->fills_devices = fills_devices(rank);
    if (opening->rc == 0)
        opening->rc = number_headers(rank);
    if (opening->rc == 0 && orr_stall_open(rank)) {
        opening->rc = -ENOMEM;
        orr_fail(&opening->err, -ENOMEM, "out of memory");
    }
    if (opening->rc) {
        if (rank->transport)
            rank->transport->ops->close(rank->transport);
        orr_waiter_release(&opening->waiter);
        orr_context_end();
        return;
    }
    orr_waiter_release(&opening->waiter);
    rank->nap_us = FIRST_NAP;
    carry(rank);
    rank->transport->ops->close(rank->transport);
    orr_context_end();
}

static void handle_left(struct orr_handle *handle)
{
    orr_datum_leave(orr_datum_of(handle));
}

static void handle_ends(struct orr_handle *handle)
{
    orr_datum_end(orr_datum_of(handle));
}

static void writer_submitted(struct orr_handle *handle)
{
    orr_coop_writer(orr_datum_of(handle));
    atomic_fetch_add_explicit(&orr_datum_of(handle)->version, 1, memory_order_relaxed);
}

static void process_fails(struct orr_runtime *rt)
{
    orr_peers_say_goodbye(orr_rank_of(rt));
}

static void rank_free(struct orr_rank *rank)
{
    for (unsigned i = 0; i < atomic_load(&rank->ncomms); i++) {
        rank->conf.drop(rank->comms[i]->native);
        free(rank->comms[i]);
    }
    orr_channels_done(&rank->channels);
    free(rank->sent_upto);
    free(rank->taken_upto);
    orr_check_close(rank);
    orr_stall_close(rank);
    free(rank);
}

static int start_carrier(struct orr_rank *rank, const char *call)
{
    static const struct orr_awaited awaited = {.noun = "the start of MPI"};
    struct orr_context init = {.runtime = rank->rt, .name = "MPI"};
    struct orr_exec *exec = rank->rt->exec;
    struct opening opening = {.rank = rank};
    struct orr_context *carrier;
    int rc;

    orr_waiter_init(&opening.waiter);
    rc = exec->ops->spawn(exec, &init, rank->conf.cpu, carrier_body, &opening, &carrier);
    if (rc) {
        orr_log_error("%s: the thread of MPI could not be started: error %d", call, rc);
        return rc;
    }
    orr_wait(&opening.waiter, &awaited);
    rank->carrier = carrier;
    if (opening.rc) {
        exec->ops->join(exec, carrier);
        orr_log_error("%s: %s", call, opening.err.text);
    }
    return opening.rc;
}

int orr_rank_open(struct orr_runtime *rt, const struct orr_rank_conf *conf,
                  const char *call)
{
    struct orr_rank *rank;
    int rc;
    ORR_REMOTE_SCOPE(rt);

    if (rt->remote) {
        orr_log_error("%s: called twice without starpu_mpi_shutdown in between", call);
        return -EALREADY;
    }
    rank = calloc(1, sizeof(*rank));
    if (!rank) {
        orr_log_error("%s: out of memory", call);
        return -ENOMEM;
    }
    *rank = (struct orr_rank){
        .ops = {.noun = "messages",
                .handle_left = handle_left,
                .handle_ends = handle_ends,
                .writer_submitted = writer_submitted,
                .process_fails = process_fails},
        .rt = rt,
        .conf = *conf,
        .controls = {[ORR_CONTROL_CLOCK] = orr_clocks_take},
        .spares_memory = rt->machine->nodes[STARPU_MAIN_RAM].capacity > 0,
        .computes = rt->machine->runs_kernels,
        .ignores_priorities = !orr_config_bool(&rt->config, ORR_CFG_MPI_PRIORITIES),
        .caches = orr_config_bool(&rt->config, ORR_CFG_MPI_CACHE),
        .cooperates = orr_config_bool(&rt->config, ORR_CFG_MPI_COOP_SENDS),
        .tells_cache = orr_config_bool(&rt->config, ORR_CFG_MPI_CACHE_STATS),
        .tree_from = orr_config_int(&rt->config, ORR_CFG_MPI_REDUX_ARITY_THRESHOLD),
    };
    orr_lock_init(&rank->lock, ORR_RANK_REMOTE);
    orr_list_init(&rank->errands);
    orr_list_init(&rank->ready);
    orr_list_init(&rank->sending);
    orr_list_init(&rank->agreed);
    orr_list_init(&rank->trees);
    orr_list_init(&rank->patient);
    orr_list_init(&rank->postponed);
    orr_room_init(&rank->room, rt->machine->nodes[STARPU_MAIN_RAM].capacity);
    orr_list_init(&rank->data.all);
    orr_list_init(&rank->data.cached);
    orr_list_init(&rank->data.reduced);
    rc = orr_check_open(rank);
    if (rc == 0)
        rc = start_carrier(rank, call);
    if (rc) {
        rank_free(rank);
        return rc;
    }
    rank->number = rank->comms[0]->comm.rank;
    rank->size = rank->comms[0]->comm.size;
    (void)orr_runtime_set_rank(rt, rank->number, (unsigned)rank->size);
    atomic_store(&rt->one_of_several, rank->size > 1 && !conf->pretended_size);
    rc = orr_remote_register(rt, &rank->ops);
    ORR_REMOTE_RECORD(rt, RANK, .id = (uint64_t)rank->number, .size = (uint64_t)rank->size);
    if (rc == 0)
        orr_clocks_open(rank, call);
    if (rc == 0)
        orr_peers_open(rank, call);
    if (rc == 0)
        orr_doctor_open(rank, call);
    if (rank->transport->caps.looks)
        atomic_store(&rank->is_crowded, true);
    rank->idle_hook =
        rank->is_crowded ? orr_remote_tell_idle(rt, worker_is_idle, rank) : -1;
    return rc;
}

struct claim {
    struct orr_errand errand;
    bool any;
};

static void look_for_unclaimed(struct orr_rank *rank, struct orr_errand *errand)
{
    orr_container(errand, struct claim, errand)->any = orr_incoming_unclaimed(rank);
}

void orr_rank_close(struct orr_rank *rank, const char *call)
{
    static const struct orr_awaited awaited = {.noun = "the end of MPI"};
    struct claim claim = {.errand = {.run = look_for_unclaimed}};
    ORR_REMOTE_SCOPE(rank->rt);

    orr_rank_record_skipped(rank);
    ORR_REMOTE_RECORD(rank->rt, END_RANK);
    orr_check_wait(rank);
    (void)orr_outside_wait(rank->rt, call);
    orr_doctor_close(rank, call);
    orr_clocks_close(rank, call);
    orr_check_end(rank, call);
    (void)orr_rank_ask(rank, &claim.errand, call);
    if (claim.any)
        orr_runtime_fail(rank->rt);
    if (rank->idle_hook >= 0)
        orr_remote_leave_idle(rank->rt, rank->idle_hook);
    orr_lock(&rank->lock);
    rank->closing = true;
    orr_rank_rouse_locked(rank);
    orr_unlock(&rank->lock);
    orr_context_join(&awaited, rank->carrier);
    orr_peers_close(rank); /* the others are gone, or go without saying more */
    orr_stats_end(rank);
    orr_data_table_done(rank);
    orr_remote_forget(rank->rt);
    rank_free(rank);
}
