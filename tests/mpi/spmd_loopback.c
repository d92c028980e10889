/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/spmd_loopback.c - the calls of spmd.h for ranks of this process. */
#include "tests/mpi/spmd_loopback.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/cache.h"
#include "mpi/coop.h"
#include "core/api/insertion.h"
#include "mpi/insert.h"
#include "mpi/move.h"
#include "mpi/redux.h"
#include "mpi/request.h"
#include "mpi/waits.h"

static struct orr_rank *me(void)
{
    return orr_rank_need("test");
}

/* Of each rank; they go with the network. */
static struct {
    const void *all[SPMD_COMMS];
    const struct orr_comm *used;
} comms[SPMD_MOST_RANKS];

void spmd_loopback_comms(const void *const *all)
{
    memcpy(comms[me()->number].all, all, sizeof(comms[0].all));
}

static const struct orr_comm *used(void)
{
    return comms[me()->number].used;
}

void spmd_use(enum spmd_comm comm)
{
    int rank = me()->number;

    comms[rank].used = orr_rank_comm(me(), comms[rank].all[comm], __func__);
    if (!comms[rank].used)
        abort();
}

static void must(int rc)
{
    if (rc)
        abort();
}

static void count(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

int spmd_rank(void)
{
    return used()->rank;
}

int spmd_size(void)
{
    return used()->size;
}

void spmd_register(starpu_data_handle_t handle, int64_t tag, int owner)
{
    must(orr_datum_set(me(), orr_handle_of(handle), tag, owner, used(), __func__));
}

static int insert_args(bool in_halves, struct starpu_codelet *cl, ...)
{
    struct orr_insertion list;
    struct starpu_task *task;
    va_list ap;

    if (in_halves) {
        va_start(ap, cl);
        must(orr_insertion_decode(&list, "build", cl, ap));
        va_end(ap);
        task = orr_insert_build(me(), used(), &list);
        if (task)
            must(starpu_task_submit(task));
    }
    va_start(ap, cl);
    must(orr_insertion_decode(&list, in_halves ? "post_build" : "insert", cl, ap));
    va_end(ap);
    return in_halves ? orr_insert_post_build(me(), used(), &list)
                     : orr_insert(me(), used(), &list);
}

int spmd_insert(const struct spmd_insert *i)
{
    if (i->on_data)
        return insert_args(i->in_halves, i->cl, STARPU_DATA_MODE_ARRAY, i->data, i->n, STARPU_VALUE,
                           &i->salt, sizeof(i->salt), STARPU_PRIORITY, i->priority,
                           STARPU_EXECUTE_ON_DATA, i->on_data, 0);
    return insert_args(i->in_halves, i->cl, STARPU_DATA_MODE_ARRAY, i->data, i->n, STARPU_VALUE, &i->salt,
                       sizeof(i->salt), STARPU_PRIORITY, i->priority,
                       STARPU_EXECUTE_ON_NODE, i->on_node, 0);
}

void spmd_flush(starpu_data_handle_t handle)
{
    orr_cache_flush(orr_datum_of(orr_handle_of(handle)));
}

void spmd_flush_all(void)
{
    orr_cache_flush_all(me(), used());
}

void spmd_cache(bool on)
{
    orr_cache_turn(me(), on);
}

void spmd_migrate(starpu_data_handle_t handle, int to)
{
    must(orr_move_migrate(me(), used(), orr_handle_of(handle), to, __func__));
}

void spmd_copy(starpu_data_handle_t to, starpu_data_handle_t from, bool waits,
               atomic_int *done)
{
    must(orr_move_copy(me(), used(), orr_handle_of(to), orr_handle_of(from), 0, waits,
                       done ? count : NULL, done, __func__));
}

void spmd_get(starpu_data_handle_t handle, int to, bool waits)
{
    if (waits)
        must(orr_move_to_and_wait(me(), used(), orr_handle_of(handle), to, __func__));
    else
        must(orr_move_to(me(), used(), orr_handle_of(handle), to, NULL, NULL, __func__));
}

void spmd_get_everywhere(starpu_data_handle_t handle)
{
    for (int r = 0; r < used()->size; r++)
        spmd_get(handle, r, false);
}

static struct orr_collection collection(starpu_data_handle_t *handles, int n, int root,
                                        atomic_int *done)
{
    return (struct orr_collection){.handles = (struct orr_handle **)(void *)handles,
                                   .n = n,
                                   .root = root,
                                   .send_callback = count,
                                   .send_arg = done,
                                   .receive_callback = count,
                                   .receive_arg = done};
}

void spmd_gather(starpu_data_handle_t *handles, int n, int root, atomic_int *done)
{
    struct orr_collection c = collection(handles, n, root, done);

    must(orr_move_gather(me(), used(), &c, __func__));
}

void spmd_scatter(starpu_data_handle_t *handles, int n, int root, atomic_int *done)
{
    struct orr_collection c = collection(handles, n, root, done);

    must(orr_move_scatter(me(), used(), &c, __func__));
}

void spmd_reduce(starpu_data_handle_t handle, int arity)
{
    orr_redux_end(orr_datum_of(orr_handle_of(handle)), arity, STARPU_DEFAULT_PRIO,
                  __func__);
}

static void *start(const struct spmd_message *m, enum orr_request_way way)
{
    struct orr_request_call call = {
        .call = __func__,
        .handle = m->handle,
        .way = way,
        .peer = m->peer,
        .tag = m->tag,
        .comm = used(),
        .priority = m->priority,
        .synchronous = m->synchronous && way == ORR_SENDS,
        .detached = m->end == SPMD_DETACHED,
        .callback = m->done ? count : NULL,
        .arg = m->done,
    };
    struct orr_request *request;

    must(orr_coop_start(me(), &call, &request));
    if (m->end == SPMD_LATER)
        return request;
    if (request)
        must(orr_request_wait(request, __func__, NULL));
    return NULL;
}

void *spmd_send(const struct spmd_message *message)
{
    return start(message, ORR_SENDS);
}

void *spmd_receive(const struct spmd_message *message)
{
    return start(message, ORR_RECEIVES);
}

void spmd_finish(void *request, bool polls)
{
    if (!polls)
        must(orr_request_wait(request, __func__, NULL));
    while (polls && !orr_request_test(request, NULL))
        starpu_usleep(1);
}

void spmd_expect(starpu_data_handle_t handle, int nsends)
{
    orr_coop_expect(orr_datum_of(orr_handle_of(handle)), nsends);
}

void spmd_cooperate(bool on)
{
    orr_coop_use(me(), on);
}

void spmd_barrier(void)
{
    must(orr_wait_barrier(me(), used(), "starpu_mpi_barrier"));
}

void spmd_wait_all(void)
{
    must(orr_wait_messages(me(), "starpu_mpi_wait_for_all"));
}
