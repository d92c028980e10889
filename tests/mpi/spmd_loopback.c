/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/spmd_loopback.c - the calls of spmd.h for ranks of this process. */
#include <stdlib.h>

#include "mpi/cache.h"
#include "mpi/coop.h"
#include "mpi/insert.h"
#include "mpi/move.h"
#include "mpi/redux.h"
#include "mpi/request.h"
#include "tests/mpi/spmd.h"

static struct orr_rank *me(void)
{
    return orr_rank_need("test");
}

static const struct orr_comm *world(void)
{
    return orr_rank_comm_at(me(), 0);
}

static void must(int rc)
{
    if (rc)
        abort();
}

int spmd_rank(void)
{
    return me()->number;
}

int spmd_size(void)
{
    return me()->size;
}

void spmd_register(starpu_data_handle_t handle, int64_t tag, int owner)
{
    must(orr_datum_set(me(), orr_handle_of(handle), tag, owner, world(), __func__));
}

static int insert_args(struct starpu_codelet *cl, ...)
{
    va_list ap;
    int rc;

    va_start(ap, cl);
    rc = orr_insert(me(), world(), "insert", cl, ap);
    va_end(ap);
    return rc;
}

int spmd_insert(const struct spmd_insert *i)
{
    if (i->on_data)
        return insert_args(i->cl, STARPU_DATA_MODE_ARRAY, i->data, i->n, STARPU_VALUE,
                           &i->salt, sizeof(i->salt), STARPU_PRIORITY, i->priority,
                           STARPU_EXECUTE_ON_DATA, i->on_data, 0);
    return insert_args(i->cl, STARPU_DATA_MODE_ARRAY, i->data, i->n, STARPU_VALUE, &i->salt,
                       sizeof(i->salt), STARPU_PRIORITY, i->priority,
                       STARPU_EXECUTE_ON_NODE, i->on_node, 0);
}

void spmd_flush(starpu_data_handle_t handle)
{
    orr_cache_flush(orr_datum_of(orr_handle_of(handle)));
}

void spmd_flush_all(void)
{
    orr_cache_flush_all(me(), world());
}

void spmd_cache(bool on)
{
    orr_cache_turn(me(), on);
}

void spmd_migrate(starpu_data_handle_t handle, int to)
{
    must(orr_move_migrate(me(), world(), orr_handle_of(handle), to, __func__));
}

void spmd_copy(starpu_data_handle_t to, starpu_data_handle_t from, bool waits)
{
    must(orr_move_copy(me(), world(), orr_handle_of(to), orr_handle_of(from), 0, waits,
                       NULL, NULL, __func__));
}

void spmd_get(starpu_data_handle_t handle, int to, bool waits)
{
    if (waits)
        must(orr_move_to_and_wait(me(), world(), orr_handle_of(handle), to, __func__));
    else
        must(orr_move_to(me(), world(), orr_handle_of(handle), to, NULL, NULL, __func__));
}

void spmd_reduce(starpu_data_handle_t handle, int arity)
{
    orr_redux_end(orr_datum_of(orr_handle_of(handle)), arity, STARPU_DEFAULT_PRIO,
                  __func__);
}

static void message(starpu_data_handle_t handle, enum orr_request_way way, int peer,
                    int64_t tag, int priority, bool synchronous, bool waits)
{
    struct orr_request_call call = {
        .call = __func__,
        .handle = handle,
        .way = way,
        .peer = peer,
        .tag = tag,
        .comm = world(),
        .priority = priority,
        .synchronous = synchronous,
        .detached = !waits,
    };
    struct orr_request *request;

    must(orr_coop_start(me(), &call, &request));
    if (request)
        must(orr_request_wait(request, __func__, NULL));
}

void spmd_send(starpu_data_handle_t handle, int to, int64_t tag, int priority,
               bool synchronous, bool waits)
{
    message(handle, ORR_SENDS, to, tag, priority, synchronous, waits);
}

void spmd_receive(starpu_data_handle_t handle, int from, int64_t tag, bool waits)
{
    message(handle, ORR_RECEIVES, from, tag, 0, false, waits);
}

void spmd_expect(starpu_data_handle_t handle, int nsends)
{
    orr_coop_expect(orr_datum_of(orr_handle_of(handle)), nsends);
}

void spmd_cooperate(bool on)
{
    atomic_store(&me()->cooperates, on);
}

void spmd_barrier(void)
{
    struct orr_meeting meeting = {.kind = ORR_MEETING_BARRIER};

    must(orr_rank_meet(me(), &meeting, __func__));
}

void spmd_wait_all(void)
{
    orr_redux_end_all(me(), __func__);
    must(orr_outside_wait(me()->rt, __func__));
}
