/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/api/message.c - messages, and waiting for them. Any thread. */
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/api/api.h"
#include "mpi/coop.h"
#include "mpi/simulated/letters.h"
#include "mpi/waits.h"

/* What all calls about a message say; the rest is zero. */
#define ORR_CALL(WAY, PEER, ...)                                                           \
    (&(struct orr_request_call){.call = __func__, .handle = data_handle, .way = (WAY),     \
                                .peer = (PEER), .tag = data_tag, __VA_ARGS__})

static void check_tag(struct orr_rank *rank, const struct orr_request_call *call)
{
    if (call->tag < 0)
        orr_rank_fail(rank, "%s: tag %lld, of a message with rank %d, is negative: tags go "
                            "from 0 to what starpu_mpi_comm_get_attr says of "
                            "STARPU_MPI_TAG_UB",
                      call->call, (long long)call->tag, call->peer);
}

static struct orr_request *start(struct orr_request_call *call, MPI_Comm comm)
{
    struct orr_rank *rank = orr_rank_need(call->call);
    struct orr_request *request = NULL;

    call->comm = orr_api_comm(rank, comm, call->call);
    check_tag(rank, call);
    if (orr_coop_start(rank, call, &request) < 0)
        orr_runtime_fail(rank->rt);
    return request;
}

static int start_detached(struct orr_request_call *call, MPI_Comm comm)
{
    call->detached = true;
    (void)start(call, comm);
    return 0;
}

static int start_request(struct orr_request_call *call, MPI_Comm comm, starpu_mpi_req *req)
{
    orr_api_pointer(orr_rank_need(call->call), req, "place for the request", call->call);
    *req = start(call, comm);
    return 0;
}

/* --- their ends --- */

static bool wants_status(const MPI_Status *status)
{
    return status && status != MPI_STATUS_IGNORE;
}

/* These calls concern no communication: any thread may make them. */
static void set_status(MPI_Status *status, int peer, int64_t tag, size_t moved)
{
    status->MPI_SOURCE = peer;
    status->MPI_TAG = (int)tag;
    status->MPI_ERROR = MPI_SUCCESS;
    MPI_Status_set_elements(status, MPI_BYTE, moved > INT_MAX ? INT_MAX : (int)moved);
    MPI_Status_set_cancelled(status, 0);
}

static struct orr_request *request_of(const starpu_mpi_req *req, const char *call)
{
    struct orr_rank *rank = orr_rank_need(call);

    orr_api_pointer(rank, req, "place of the request", call);
    if (!*req)
        orr_rank_fail(rank, "%s: the request has ended already, or none was made: detached "
                            "messages have none",
                      call);
    return *req;
}

static int wait_for(struct orr_request *request, const char *call, MPI_Status *status)
{
    int peer = request->call.peer;
    int64_t tag = request->call.tag;
    size_t moved = 0;
    int rc = orr_request_wait(request, call, &moved);

    if (rc == 0 && wants_status(status))
        set_status(status, peer, tag, moved);
    return rc;
}

int starpu_mpi_wait(starpu_mpi_req *req, MPI_Status *status)
{
    int rc = wait_for(request_of(req, __func__), __func__, status);

    if (rc == 0)
        *req = NULL;
    return rc;
}

int starpu_mpi_test(starpu_mpi_req *req, int *flag, MPI_Status *status)
{
    struct orr_request *request = request_of(req, __func__);
    int peer = request->call.peer;
    int64_t tag = request->call.tag;
    size_t moved = 0;

    *flag = orr_request_test(request, &moved);
    if (!*flag) {
        if (request->rank->rt->exec->virtual_time)
            orr_letters_pass_time();
        return 0;
    }
    *req = NULL;
    if (wants_status(status))
        set_status(status, peer, tag, moved);
    return 0;
}

static int start_and_wait(struct orr_request_call *call, MPI_Comm comm, MPI_Status *status)
{
    if (!orr_may_block(call->call))
        return -EDEADLK;
    return wait_for(start(call, comm), call->call, status);
}

/* --- with a request --- */

int starpu_mpi_isend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
                     starpu_mpi_tag_t data_tag, MPI_Comm comm)
{
    return start_request(ORR_CALL(ORR_SENDS, dest), comm, req);
}

int starpu_mpi_isend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
                          starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm)
{
    return start_request(ORR_CALL(ORR_SENDS, dest, .priority = prio), comm, req);
}

int starpu_mpi_issend(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
                      starpu_mpi_tag_t data_tag, MPI_Comm comm)
{
    return start_request(ORR_CALL(ORR_SENDS, dest, .synchronous = true), comm, req);
}

int starpu_mpi_issend_prio(starpu_data_handle_t data_handle, starpu_mpi_req *req, int dest,
                           starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm)
{
    return start_request(
        ORR_CALL(ORR_SENDS, dest, .synchronous = true, .priority = prio), comm, req);
}

int starpu_mpi_irecv(starpu_data_handle_t data_handle, starpu_mpi_req *req, int source,
                     starpu_mpi_tag_t data_tag, MPI_Comm comm)
{
    return start_request(ORR_CALL(ORR_RECEIVES, source, .priority = STARPU_DEFAULT_PRIO),
                         comm, req);
}

/* --- that wait --- */

int starpu_mpi_send(starpu_data_handle_t data_handle, int dest, starpu_mpi_tag_t data_tag,
                    MPI_Comm comm)
{
    return start_and_wait(ORR_CALL(ORR_SENDS, dest), comm, NULL);
}

int starpu_mpi_send_prio(starpu_data_handle_t data_handle, int dest,
                         starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm)
{
    return start_and_wait(ORR_CALL(ORR_SENDS, dest, .priority = prio), comm, NULL);
}

int starpu_mpi_recv(starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag,
                    MPI_Comm comm, MPI_Status *status)
{
    return start_and_wait(ORR_CALL(ORR_RECEIVES, source, .priority = STARPU_DEFAULT_PRIO),
                          comm, status);
}

int starpu_mpi_recv_prio(starpu_data_handle_t data_handle, int source,
                         starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
                         MPI_Status *status)
{
    return start_and_wait(ORR_CALL(ORR_RECEIVES, source, .priority = prio), comm, status);
}

/* --- detached --- */

int starpu_mpi_isend_detached(starpu_data_handle_t data_handle, int dest,
                              starpu_mpi_tag_t data_tag, MPI_Comm comm,
                              void (*callback)(void *), void *arg)
{
    return start_detached(ORR_CALL(ORR_SENDS, dest, .callback = callback, .arg = arg),
                          comm);
}

int starpu_mpi_isend_detached_prio(starpu_data_handle_t data_handle, int dest,
                                   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
                                   void (*callback)(void *), void *arg)
{
    return start_detached(
        ORR_CALL(ORR_SENDS, dest, .callback = callback, .arg = arg, .priority = prio),
        comm);
}

int starpu_mpi_issend_detached(starpu_data_handle_t data_handle, int dest,
                               starpu_mpi_tag_t data_tag, MPI_Comm comm,
                               void (*callback)(void *), void *arg)
{
    return start_detached(
        ORR_CALL(ORR_SENDS, dest, .callback = callback, .arg = arg, .synchronous = true),
        comm);
}

int starpu_mpi_issend_detached_prio(starpu_data_handle_t data_handle, int dest,
                                    starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
                                    void (*callback)(void *), void *arg)
{
    return start_detached(ORR_CALL(ORR_SENDS, dest, .callback = callback, .arg = arg,
                                   .priority = prio, .synchronous = true),
                          comm);
}

int starpu_mpi_irecv_detached(starpu_data_handle_t data_handle, int source,
                              starpu_mpi_tag_t data_tag, MPI_Comm comm,
                              void (*callback)(void *), void *arg)
{
    return start_detached(ORR_CALL(ORR_RECEIVES, source, .callback = callback, .arg = arg,
                                   .priority = STARPU_DEFAULT_PRIO),
                          comm);
}

int starpu_mpi_irecv_detached_prio(starpu_data_handle_t data_handle, int source,
                                   starpu_mpi_tag_t data_tag, int prio, MPI_Comm comm,
                                   void (*callback)(void *), void *arg)
{
    return start_detached(ORR_CALL(ORR_RECEIVES, source, .callback = callback, .arg = arg,
                                   .priority = prio),
                          comm);
}

int starpu_mpi_irecv_detached_sequential_consistency(
    starpu_data_handle_t data_handle, int source, starpu_mpi_tag_t data_tag, MPI_Comm comm,
    void (*callback)(void *), void *arg, int sequential_consistency)
{
    return start_detached(ORR_CALL(ORR_RECEIVES, source, .callback = callback, .arg = arg,
                                   .priority = STARPU_DEFAULT_PRIO,
                                   .unordered = !sequential_consistency),
                          comm);
}

/* --- that notify a tag of tasks --- */

static void notify(void *arg)
{
    starpu_tag_notify_from_apps((starpu_tag_t)(uintptr_t)arg);
}

static void *as_arg(starpu_tag_t tag)
{
    _Static_assert(sizeof(starpu_tag_t) <= sizeof(void *), "a tag fits into an argument");
    return (void *)(uintptr_t)tag;
}

int starpu_mpi_isend_detached_unlock_tag(starpu_data_handle_t data_handle, int dest,
                                         starpu_mpi_tag_t data_tag, MPI_Comm comm,
                                         starpu_tag_t tag)
{
    return start_detached(ORR_CALL(ORR_SENDS, dest, .callback = notify, .arg = as_arg(tag)),
                          comm);
}

int starpu_mpi_isend_detached_unlock_tag_prio(starpu_data_handle_t data_handle, int dest,
                                              starpu_mpi_tag_t data_tag, int prio,
                                              MPI_Comm comm, starpu_tag_t tag)
{
    return start_detached(ORR_CALL(ORR_SENDS, dest, .callback = notify, .arg = as_arg(tag),
                                   .priority = prio),
                          comm);
}

int starpu_mpi_irecv_detached_unlock_tag(starpu_data_handle_t data_handle, int source,
                                         starpu_mpi_tag_t data_tag, MPI_Comm comm,
                                         starpu_tag_t tag)
{
    return start_detached(ORR_CALL(ORR_RECEIVES, source, .callback = notify,
                                   .arg = as_arg(tag), .priority = STARPU_DEFAULT_PRIO),
                          comm);
}

/* Several of which the last one notifies. */
struct several {
    atomic_uint left;
    starpu_tag_t tag;
};

static void one_ended(void *arg)
{
    struct several *several = arg;
    starpu_tag_t tag = several->tag;

    if (atomic_fetch_sub(&several->left, 1) > 1)
        return;
    free(several);
    starpu_tag_notify_from_apps(tag);
}

/* Their arrays; prio may be NULL. */
struct lists {
    starpu_data_handle_t *handle;
    int *peer, *prio;
    starpu_mpi_tag_t *tag;
    MPI_Comm *comm;
};

static int start_several(unsigned n, const struct lists *lists, enum orr_request_way way,
                         starpu_tag_t tag, const char *call)
{
    struct orr_rank *rank = orr_rank_need(call);
    struct several *several;

    if (n == 0) {
        starpu_tag_notify_from_apps(tag);
        return 0;
    }
    orr_api_pointer(rank, lists->handle, "array of handles", call);
    orr_api_pointer(rank, lists->peer, "array of ranks", call);
    orr_api_pointer(rank, lists->tag, "array of tags", call);
    orr_api_pointer(rank, lists->comm, "array of communicators", call);
    several = malloc(sizeof(*several));
    if (!several)
        orr_rank_fail(rank, "%s: out of memory", call);
    atomic_init(&several->left, n);
    several->tag = tag;
    for (unsigned i = 0; i < n; i++)
        start_detached(&(struct orr_request_call){.call = call,
                                                  .handle = lists->handle[i],
                                                  .way = way,
                                                  .peer = lists->peer[i],
                                                  .tag = lists->tag[i],
                                                  .priority = lists->prio ? lists->prio[i]
                                                                          : 0,
                                                  .callback = one_ended,
                                                  .arg = several},
                       lists->comm[i]);
    return 0;
}

int starpu_mpi_isend_array_detached_unlock_tag_prio(unsigned array_size,
                                                    starpu_data_handle_t *data_handle,
                                                    int *dest, starpu_mpi_tag_t *data_tag,
                                                    int *prio, MPI_Comm *comm,
                                                    starpu_tag_t tag)
{
    struct lists lists = {data_handle, dest, prio, data_tag, comm};

    return start_several(array_size, &lists, ORR_SENDS, tag, __func__);
}

int starpu_mpi_isend_array_detached_unlock_tag(unsigned array_size,
                                               starpu_data_handle_t *data_handle, int *dest,
                                               starpu_mpi_tag_t *data_tag, MPI_Comm *comm,
                                               starpu_tag_t tag)
{
    struct lists lists = {data_handle, dest, NULL, data_tag, comm};

    return start_several(array_size, &lists, ORR_SENDS, tag, __func__);
}

int starpu_mpi_irecv_array_detached_unlock_tag(unsigned array_size,
                                               starpu_data_handle_t *data_handle,
                                               int *source, starpu_mpi_tag_t *data_tag,
                                               MPI_Comm *comm, starpu_tag_t tag)
{
    struct lists lists = {data_handle, source, NULL, data_tag, comm};

    return start_several(array_size, &lists, ORR_RECEIVES, tag, __func__);
}

/* --- all --- */

int starpu_mpi_barrier(MPI_Comm comm)
{
    struct orr_rank *rank = ORR_API_RANK();

    return orr_wait_barrier(rank, orr_api_comm(rank, comm, __func__), __func__);
}

int starpu_mpi_wait_for_all(MPI_Comm comm)
{
    (void)comm;
    return orr_wait_messages(ORR_API_RANK(), __func__);
}
