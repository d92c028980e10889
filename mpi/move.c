/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/move.c - see move.h. */
#include "mpi/move.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/log.h"
#include "mpi/cache.h"
#include "mpi/coop.h"
#include "mpi/redux.h"
#include "mpi/start.h"

/* A request for which nobody waits, of a datum with a tag. It ends the program where it
 * cannot be made: the other rank would wait for ever. */
static void start_detached(struct orr_datum *datum, const struct orr_comm *comm,
                           enum orr_request_way way, int peer, int priority,
                           bool synchronous, void (*callback)(void *), void *arg,
                           const char *call)
{
    struct orr_request_call request = {
        .call = call,
        .handle = orr_handle_public(datum->handle),
        .way = way,
        .peer = peer,
        .tag = datum->tag,
        .comm = comm,
        .priority = priority,
        .synchronous = synchronous,
        .detached = true,
        .callback = callback,
        .arg = arg,
    };

    if (orr_coop_start(datum->rank, &request, NULL))
        orr_runtime_fail(datum->rank->rt);
}

/* --- one datum, two ranks --- */

void orr_move_send(struct orr_datum *datum, const struct orr_comm *comm, int to,
                   int priority, bool synchronous, const char *call)
{
    if (!orr_cache_set_sent(datum, to))
        start_detached(datum, comm, ORR_SENDS, to, priority, synchronous, NULL, NULL,
                       call);
}

bool orr_move_receive(struct orr_datum *datum, const struct orr_comm *comm, int priority,
                      const char *call)
{
    if (orr_cache_set_received(datum))
        return false;
    start_detached(datum, comm, ORR_RECEIVES, datum->owner, priority, false, NULL, NULL,
                   call);
    return true;
}

void orr_move_give(struct orr_datum *datum, const struct orr_comm *comm, int to,
                   int priority, const char *call)
{
    start_detached(datum, comm, ORR_SENDS, to, priority, false, NULL, NULL, call);
}

void orr_move_take(struct orr_datum *datum, const struct orr_comm *comm, int from,
                   int priority, const char *call)
{
    start_detached(datum, comm, ORR_RECEIVES, from, priority, false, NULL, NULL, call);
}

void orr_move_drop(struct orr_datum *datum, int executor)
{
    if (executor >= 0 && !atomic_load(&datum->rank->caches))
        orr_cache_drop_leftover(datum);
}

/* --- all ranks --- */

/* The datum, which has a tag and a rank, with the value that its owner is to have: all
 * ranks are here, so that a reduction under way can end. */
static struct orr_datum *need_datum(struct orr_handle *handle, const char *call)
{
    const char *trouble = orr_handle_trouble(handle);
    struct orr_datum *datum = trouble ? NULL : orr_datum_of(handle);

    if (trouble)
        orr_log_error("%s: the handle is %s", call, trouble);
    else if (!datum || datum->owner == ORR_NO_RANK || datum->tag < 0)
        orr_log_error("%s: the datum has no %s: call starpu_mpi_data_register on all ranks "
                      "first",
                      call, datum && datum->tag >= 0 ? "rank" : "tag");
    else
        return orr_redux_before(datum, STARPU_R, call), datum;
    return NULL;
}

static int check_rank(const struct orr_comm *comm, int number, const char *call)
{
    if (number >= 0 && number < comm->size)
        return 0;
    orr_log_error("%s: rank %d is none of the communicator, which has ranks 0 to %d", call,
                  number, comm->size - 1);
    return -EINVAL;
}

int orr_move_to(struct orr_rank *rank, const struct orr_comm *comm,
                struct orr_handle *handle, int to, void (*callback)(void *), void *arg,
                const char *call)
{
    struct orr_datum *datum = need_datum(handle, call);

    (void)rank;
    if (!datum || check_rank(comm, to, call))
        return -EINVAL;
    if (datum->owner == to || datum->owner == ORR_EVERY_RANK)
        return 0;
    if (comm->rank == to && !orr_cache_set_received(datum))
        start_detached(datum, comm, ORR_RECEIVES, datum->owner, 0, false, callback, arg,
                       call);
    else if (comm->rank == datum->owner)
        orr_move_send(datum, comm, to, 0, false, call);
    return 0;
}

int orr_move_to_and_wait(struct orr_rank *rank, const struct orr_comm *comm,
                         struct orr_handle *handle, int to, const char *call)
{
    struct orr_datum *datum = need_datum(handle, call);
    struct orr_request_call request = {.call = call, .handle = orr_handle_public(handle),
                                       .comm = comm};
    struct orr_request *started;
    int rc;

    if (!datum || check_rank(comm, to, call))
        return -EINVAL;
    if (datum->owner == to || datum->owner == ORR_EVERY_RANK)
        return 0;
    if (!orr_may_block(call))
        return -EDEADLK;
    request.tag = datum->tag;
    if (comm->rank == to && !orr_cache_set_received(datum)) {
        request.way = ORR_RECEIVES;
        request.peer = datum->owner;
    } else if (comm->rank == datum->owner && !orr_cache_set_sent(datum, to)) {
        request.way = ORR_SENDS;
        request.peer = to;
    } else {
        return 0;
    }
    rc = orr_request_start(rank, &request, &started);
    return rc ? rc : orr_request_wait(started, call, NULL);
}

int orr_move_migrate(struct orr_rank *rank, const struct orr_comm *comm,
                     struct orr_handle *handle, int owner, const char *call)
{
    struct orr_datum *datum = need_datum(handle, call);
    int rc, before;

    if (!datum || check_rank(comm, owner, call))
        return -EINVAL;
    before = datum->owner;
    if (before == owner || before == ORR_EVERY_RANK)
        return 0;
    rc = orr_move_to(rank, comm, handle, owner, NULL, NULL, call);
    if (rc)
        return rc;
    /* What other ranks have is the value still, but no owner would tell them when that
     * changes: they forget it, and so do both owners. */
    datum->owner = owner;
    datum->leftover |= comm->rank == before;
    if (comm->rank == owner)
        orr_datum_forget(datum);
    else
        orr_cache_flush(datum);
    return 0;
}

/* --- copies from datum to datum --- */

int orr_move_copy(struct orr_rank *rank, const struct orr_comm *comm,
                  struct orr_handle *to, struct orr_handle *from, int priority, bool waits,
                  void (*callback)(void *), void *arg, const char *call)
{
    struct orr_datum *target = need_datum(to, call);
    struct orr_datum *source = target ? need_datum(from, call) : NULL;
    struct orr_request_call request = {
        .call = call,
        .tag = target ? target->tag : 0,
        .comm = comm,
        .priority = priority,
        .detached = !waits,
    };
    struct orr_request *started = NULL;
    int rc;

    if (!target || !source)
        return -EINVAL;
    if (to == from) {
        if (callback)
            callback(arg);
        return 0;
    }
    if (waits && !orr_may_block(call))
        return -EDEADLK;
    if (target->owner == source->owner) {
        if (target->owner != comm->rank && target->owner != ORR_EVERY_RANK)
            return orr_cache_written(target), 0;
        rc = starpu_data_cpy_priority(orr_handle_public(to), orr_handle_public(from),
                                      !waits, callback, arg, priority);
        orr_cache_written(target);
        return rc;
    }
    if (target->owner == comm->rank) {
        request.handle = orr_handle_public(to);
        request.way = ORR_RECEIVES;
        request.peer = source->owner;
        request.callback = callback;
        request.arg = arg;
    } else if (source->owner == comm->rank) {
        request.handle = orr_handle_public(from);
        request.way = ORR_SENDS;
        request.peer = target->owner;
    }
    rc = request.handle ? orr_request_start(rank, &request, &started) : 0;
    if (rc)
        return rc;
    orr_cache_written(target);
    if (started) {
        rc = orr_request_wait(started, call, NULL);
        if (target->owner == comm->rank && callback)
            callback(arg);
    }
    return rc;
}

/* --- from one to all, from all to one --- */

/* The messages of this rank that are under way. */
struct round {
    atomic_int left;
    void (*callback)(void *);
    void *arg;
};

static void one_done(void *arg)
{
    struct round *round = arg;
    struct round last = {.callback = round->callback, .arg = round->arg};

    if (atomic_fetch_sub(&round->left, 1) > 1)
        return;
    free(round);
    if (last.callback)
        last.callback(last.arg);
}

static int collect(struct orr_rank *rank, const struct orr_comm *comm,
                   const struct orr_collection *c, bool scatters, const char *call)
{
    bool is_root = comm->rank == c->root;
    enum orr_request_way way = is_root == scatters ? ORR_SENDS : ORR_RECEIVES;
    struct round *round;
    int nmine = 0;

    if (check_rank(comm, c->root, call))
        return -EINVAL;
    for (int i = 0; i < c->n; i++) {
        const struct orr_datum *datum;

        if (!c->handles[i])
            continue;
        if (!(datum = need_datum(c->handles[i], call)))
            return -EINVAL;
        nmine += is_root ? datum->owner != c->root : datum->owner == comm->rank;
    }
    if (nmine == 0)
        return 0;
    round = malloc(sizeof(*round));
    if (!round)
        orr_rank_fail(rank, "%s: out of memory", call);
    *round = (struct round){
        .callback = way == ORR_SENDS ? c->send_callback : c->receive_callback,
        .arg = way == ORR_SENDS ? c->send_arg : c->receive_arg,
    };
    atomic_init(&round->left, nmine);
    for (int i = 0; i < c->n; i++) {
        struct orr_datum *datum = c->handles[i] ? orr_datum_of(c->handles[i]) : NULL;

        if (datum && datum->owner != c->root &&
            (is_root || datum->owner == comm->rank))
            start_detached(datum, comm, way, is_root ? datum->owner : c->root, 0, false,
                           one_done, round, call);
    }
    return 0;
}

/* The owners have got other values: who has the old one forgets that. The root has the new
 * one, and keeps it, but is not told when that changes. */
static void forget_scattered(const struct orr_comm *comm, const struct orr_collection *c)
{
    for (int i = 0; i < c->n; i++) {
        struct orr_datum *datum = c->handles[i] ? orr_datum_of(c->handles[i]) : NULL;

        if (!datum || datum->owner == c->root)
            continue;
        if (comm->rank == c->root) {
            orr_datum_forget(datum);
            datum->leftover = true;
        } else {
            orr_cache_written(datum);
        }
    }
}

int orr_move_scatter(struct orr_rank *rank, const struct orr_comm *comm,
                     const struct orr_collection *collection, const char *call)
{
    int rc = collect(rank, comm, collection, true, call);

    if (rc == 0)
        forget_scattered(comm, collection);
    return rc;
}

int orr_move_gather(struct orr_rank *rank, const struct orr_comm *comm,
                    const struct orr_collection *collection, const char *call)
{
    return collect(rank, comm, collection, false, call);
}
