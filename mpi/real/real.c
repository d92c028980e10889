/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/real/real.c - opens and closes the transport, and waits. */
#include "mpi/real/real.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "core/base/grow.h"
#include "core/base/log.h"
#include "mpi/patience.h"
#include "mpi/real/real_private.h"

/* --- taking --- */

static struct orr_packet *take_ended(struct orr_transport *t)
{
    struct orr_list *link = orr_list_pop(&real_of(t)->ended);

    return link ? orr_container(link, struct orr_packet, link) : NULL;
}

static struct orr_meeting *take_met(struct orr_transport *t)
{
    struct orr_list *link = orr_list_pop(&real_of(t)->met);

    return link ? orr_container(link, struct orr_meeting, link) : NULL;
}

static bool take_failure(struct orr_transport *t, struct orr_failure *ret)
{
    struct orr_list *link = orr_list_pop(&real_of(t)->failures);

    if (!link)
        return false;
    *ret = orr_container(link, struct failed, link)->failure;
    free(orr_container(link, struct failed, link));
    return true;
}

/* --- waiting --- */

enum { SLACK_NS = 1000 };

/* Without a pause, the clock is read once in so many looks. */
enum { LOOKS = 8 };

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool progress(struct orr_transport *t)
{
    struct real *real = real_of(t);

    real_look(real);
    return real_something(real);
}

static bool wait_for_something(struct orr_transport *t, bool expecting,
                               struct orr_patience patience, uint64_t most_ns)
{
    struct real *real = real_of(t);
    uint64_t since = 0, idle = 0, now, end = most_ns ? now_ns() + most_ns : UINT64_MAX;
    unsigned looks = 0;

    for (;;) {
        bool found = progress(t);

        if (nap_woken(&real->nap) || found)
            return found;
        if (!expecting && real->active == 0 && orr_list_empty(&real->probing)) {
            nap_sleep(&real->nap, most_ns);
            since = idle = 0;
            if (most_ns && now_ns() >= end)
                return progress(t);
        } else if (idle >= patience.spin_ns || ++looks % LOOKS == 0) {
            now = now_ns();
            since = since ? since : now;
            idle = now - since;
            if (now >= end)
                return false;
            if (idle >= patience.spin_ns)
                nap_sleep(&real->nap, orr_nap_after(idle, patience.nap_ns));
            if (idle >= patience.spin_ns && patience.nap_ns)
                return progress(t);
        }
    }
}

static void wake(struct orr_transport *t)
{
    nap_wake(&real_of(t)->nap);
}

/* --- communicators --- */

static void free_comm(struct comm *comm)
{
    free(comm->peers);
    free(comm);
}

static struct comm *new_comm(struct real *real, MPI_Comm native)
{
    struct comm *comm = calloc(1, sizeof(*comm));

    if (!comm)
        return NULL;
    comm->native = native;
    comm->number = (unsigned)real->ncomms;
    MPI_Comm_rank(native, &comm->rank);
    MPI_Comm_size(native, &comm->size);
    comm->peers = calloc((size_t)comm->size, sizeof(*comm->peers));
    if (!comm->peers) {
        free_comm(comm);
        return NULL;
    }
    for (int i = 0; i < comm->size; i++) {
        struct peer *peer = &comm->peers[i];

        peer->comm = comm;
        peer->rank = i;
        peer->next = 1;
        orr_list_init(&peer->incoming);
    }
    return comm;
}

static int comm_add(struct orr_transport *t, const void *address, struct orr_comm *ret,
                    struct orr_error *err)
{
    struct real *real = real_of(t);
    MPI_Comm native = address ? *(const MPI_Comm *)address : MPI_COMM_NULL;
    struct comm *comm = NULL;
    int inter = 0;

    if (native == MPI_COMM_NULL)
        return orr_fail(err, -EINVAL, "MPI_COMM_NULL is no communicator of this rank");
    for (size_t i = 0; i < real->ncomms; i++)
        if (real->comms[i]->native == native)
            comm = real->comms[i];
    if (!comm) {
        if (MPI_Comm_test_inter(native, &inter) != MPI_SUCCESS || inter)
            return orr_fail(err, -EINVAL,
                            "an intercommunicator has two groups of ranks; merge them "
                            "by MPI_Intercomm_merge");
        comm = new_comm(real, native);
        if (!comm || orr_grow(&real->comms, &real->comms_room, real->ncomms + 1,
                              sizeof(struct comm *))) {
            if (comm)
                free_comm(comm);
            return orr_fail(err, -ENOMEM, "no memory for a communicator");
        }
        real->comms[real->ncomms++] = comm;
        MPI_Comm_get_errhandler(native, &comm->handler);
        MPI_Comm_set_errhandler(native, MPI_ERRORS_RETURN);
        for (unsigned i = 0; i < NSLOTS; i++) {
            comm->slots[i].comm = comm;
            real_post_slot(real, &comm->slots[i]);
        }
    }
    *ret = (struct orr_comm){comm->number, comm->rank, comm->size};
    return 0;
}

/* --- closing --- */

/* What nobody waits for any more, but MPI has: headers, data that are thrown away. A peer
 * that takes none of them does not keep this rank from closing for more than a second. */
static void drain(struct real *real)
{
    uint64_t end = now_ns() + 1000000000;

    for (;;) {
        bool left = false;

        real_look(real);
        for (size_t i = 0; i < real->n; i++)
            left |= real->pending[i].what == HEADER_OUT ||
                    (real->pending[i].what == DATA_IN &&
                     !((struct incoming *)real->pending[i].of)->receive);
        if (!left || now_ns() > end)
            return;
        sched_yield();
    }
}

/* Memory of what MPI does not end stays: MPI may still write there. */
static void give_up(struct real *real)
{
    for (size_t i = 0; i < real->n; i++) {
        MPI_Request *request = &real->requests[i];

        switch (real->pending[i].what) {
        case HEADER_IN:
            MPI_Cancel(request);
            MPI_Wait(request, MPI_STATUS_IGNORE);
            break;
        case HEADER_OUT:
        case DATA_OUT:
            MPI_Request_free(request);
            break;
        case DATA_IN:
        case MEETING:
        case NOTHING:
            break;
        }
    }
}

/* Where MPI goes on a rank may open a transport anew at once, and its first headers are not
 * for a receive of this one: nobody leaves before all have taken theirs back. */
static void leave_together(const struct real *real)
{
    struct timespec pause = {.tv_nsec = 20000};
    MPI_Request request;
    int over = 0;

    if (real->initialized || real->ncomms == 0 ||
        MPI_Ibarrier(real->comms[0]->native, &request) != MPI_SUCCESS)
        return;
    while (MPI_Test(&request, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS && !over) {
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 1000000)
            pause.tv_nsec *= 2;
    }
}

static void close_transport(struct orr_transport *t)
{
    struct real *real = real_of(t);
    struct orr_list *link;

    drain(real);
    give_up(real);
    leave_together(real);
    prctl(PR_SET_TIMERSLACK, real->slack);
    for (size_t i = 0; i < real->ncomms; i++) {
        struct comm *comm = real->comms[i];

        MPI_Comm_set_errhandler(comm->native, comm->handler);
        MPI_Errhandler_free(&comm->handler);
        for (int j = 0; j < comm->size; j++)
            while ((link = orr_list_pop(&comm->peers[j].incoming)))
                real_free_incoming(orr_container(link, struct incoming, link));
        free_comm(comm);
    }
    types_free(&real->types);
    while ((link = orr_list_pop(&real->free_outs)))
        free(orr_container(link, struct out, link));
    while ((link = orr_list_pop(&real->failures)))
        free(orr_container(link, struct failed, link));
    if (real->initialized)
        MPI_Finalize();
    free(real->comms);
    free(real->requests);
    free(real->pending);
    free(real->indices);
    free(real->statuses);
    free(real);
}

/* --- opening --- */

static const struct orr_transport_ops real_ops = {
    .name = "MPI",
    .close = close_transport,
    .comm_add = comm_add,
    .send = real_send,
    .take_header = real_take_header,
    .recv = real_recv,
    .cancel = real_cancel,
    .take_ended = take_ended,
    .meet = real_meet,
    .take_met = take_met,
    .progress = progress,
    .wait = wait_for_something,
    .wake = wake,
    .take_failure = take_failure,
};

/* The thread level that MPI has, initialising it if that is wanted. */
static int begin_mpi(const struct orr_mpi_conf *conf, int *level, struct orr_error *err)
{
    int before = 0, over = 0, code;

    MPI_Initialized(&before);
    MPI_Finalized(&over);
    if (over)
        return orr_fail(err, -EINVAL,
                        "MPI_Finalize was called, and MPI cannot be initialised twice in "
                        "a process; have the application initialise it, once");
    if (conf->initialize && before)
        return orr_fail(err, -EINVAL,
                        "MPI is initialised already; do not ask for its initialisation");
    if (!conf->initialize && !before)
        return orr_fail(err, -EINVAL,
                        "MPI is not initialised; call MPI_Init_thread before, or ask for "
                        "its initialisation");
    if (!conf->initialize) {
        MPI_Query_thread(level);
        return 0;
    }
    code = MPI_Init_thread(conf->argc, conf->argv,
                           conf->every_thread ? MPI_THREAD_MULTIPLE
                                              : MPI_THREAD_SERIALIZED,
                           level);
    return code ? orr_fail(err, -EIO, "MPI_Init_thread failed") : 0;
}

static int check_tag(int tag, struct orr_error *err)
{
    int *most = NULL, flag = 0;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    if (tag < 0 || !flag || tag > *most - 2)
        return orr_fail(err, -EINVAL, "MPI has no tags from %d to %d: they end at %d",
                        tag, tag + 2, flag ? *most : 0);
    return 0;
}

int orr_mpi_open(const struct orr_mpi_conf *conf, struct orr_transport **ret,
                 struct orr_error *err)
{
    struct real *real = calloc(1, sizeof(*real));
    int level = MPI_THREAD_SINGLE, result;

    if (!real)
        return orr_fail(err, -ENOMEM, "no memory to open MPI");
    real->tag = conf->tag ? conf->tag : 42;
    result = begin_mpi(conf, &level, err);
    if (!result)
        result = check_tag(real->tag, err);
    if (result) {
        free(real);
        return result;
    }
    if (level < MPI_THREAD_SERIALIZED)
        orr_log_notice("MPI was initialised with a thread level below "
                       "MPI_THREAD_SERIALIZED, but a thread of its own calls it: ask "
                       "MPI_Init_thread for that level");
    real->initialized = conf->initialize;
    /* Of this thread's sleeps, which may be 50 us longer than they should otherwise. */
    real->slack = (unsigned long)prctl(PR_GET_TIMERSLACK);
    prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK_NS);
    real->base.ops = &real_ops;
    real->base.caps = (struct orr_transport_caps){
        .inside_bytes = INSIDE,
        .eager_bytes = INSIDE,
        .ordered = true,
        .threads = level == MPI_THREAD_MULTIPLE ? ORR_TRANSPORT_EVERY_THREAD
                                                : ORR_TRANSPORT_OWNER,
    };
    orr_list_init(&real->free_outs);
    orr_list_init(&real->ended);
    orr_list_init(&real->met);
    orr_list_init(&real->failures);
    orr_list_init(&real->probing);
    orr_list_init(&real->filling);
    *ret = &real->base;
    return 0;
}
