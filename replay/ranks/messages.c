/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* replay/ranks/messages.c - see messages.h. */
#include "replay/ranks/messages.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/remote.h"
#include "mpi/carrier.h"
#include "mpi/coop.h"
#include "mpi/datum.h"
#include "mpi/simulated/ranks.h"
#include "mpi/start.h"
#include "mpi/waits.h"

static struct played_rank *played_of(const struct player *player)
{
    return player->rank;
}

static struct orr_rank *need_rank(const struct player *player)
{
    struct orr_rank *rank = played_of(player)->rank;

    if (!rank)
        player_fail(player, "a call about messages before `rank' or behind `end-rank'");
    return rank;
}

/* --- begin and end --- */

static void begin_rank(struct player *player, const struct orr_call *call)
{
    struct played_rank *played = played_of(player);

    if (played->rank)
        player_fail(player, "a second `rank'");
    if (call->id != (uint64_t)played->number || call->size != (uint64_t)played->size)
        player_fail(player,
                    "this is rank %llu of %llu, and is to be played as rank %d of %d: name "
                    "the records of one program",
                    (unsigned long long)call->id, (unsigned long long)call->size,
                    played->number, played->size);
    if (orr_simulated_rank_open("starpu_mpi_init"))
        player_fail(player, "the rank cannot begin");
    played->rank = orr_rank_need("starpu_mpi_init");
}

static void end_rank(struct player *player, const struct orr_call *call)
{
    (void)call;
    orr_rank_close(need_rank(player), "starpu_mpi_shutdown");
    played_of(player)->rank = NULL;
}

/* --- communicators --- */

static bool has_members(const struct played_comm *comm, const struct orr_call *call)
{
    if ((uint64_t)comm->size != call->size)
        return false;
    for (int i = 0; i < comm->size; i++)
        if (comm->members[i] != (int)(call->parts.n ? call->parts.at[i] : (uint64_t)i))
            return false;
    return true;
}

static struct played_comm *find_played(const struct played_rank *played,
                                       const struct orr_call *call)
{
    for (struct played_comm *comm = *played->comms; comm; comm = comm->next)
        if (comm->number == call->id && has_members(comm, call))
            return comm;
    return NULL;
}

/* The first rank that comes here makes it for all. */
static struct played_comm *make_played(struct player *player, const struct orr_call *call)
{
    struct played_rank *played = played_of(player);
    struct played_comm *comm = player_need(player, calloc(1, sizeof(*comm)));

    comm->number = call->id;
    comm->size = (int)call->size;
    comm->members = player_need(player, calloc(call->size, sizeof(*comm->members)));
    for (int i = 0; i < comm->size; i++)
        comm->members[i] = (int)(call->parts.n ? call->parts.at[i] : (uint64_t)i);
    comm->native = player_need(
        player, orr_simulated_comm_new(orr_simulated_place()->net, comm->members, comm->size));
    comm->next = *played->comms;
    *played->comms = comm;
    return comm;
}

static void check_comm(const struct player *player, const struct orr_call *call)
{
    const struct played_rank *played = played_of(player);
    bool is_member = !call->parts.n;

    if (call->size == 0 || call->size > (uint64_t)played->size ||
        (call->parts.n ? call->parts.n != call->size
                       : call->size != (uint64_t)played->size))
        player_fail(player, "a communicator of %llu ranks, of which %zu are named",
                    (unsigned long long)call->size, call->parts.n);
    for (size_t i = 0; i < call->parts.n; i++) {
        if (call->parts.at[i] >= (uint64_t)played->size)
            player_fail(player, "a communicator with rank %llu, of %d",
                        (unsigned long long)call->parts.at[i], played->size);
        is_member |= call->parts.at[i] == (uint64_t)played->number;
    }
    if (!is_member)
        player_fail(player, "a communicator without rank %d, whose record this is",
                    played->number);
}

static void add_comm(struct player *player, const struct orr_call *call)
{
    struct played_rank *played = played_of(player);
    const struct orr_comm **place;
    struct played_comm *comm;

    check_comm(player, call);
    comm = find_played(played, call);
    if (!comm)
        comm = make_played(player, call);
    place = player_at(player, &played->known, &played->nknown, call->id,
                      sizeof(*played->known));
    *place = orr_rank_comm(need_rank(player), comm->native, "starpu_mpi_comm_register");
    if (!*place)
        player_fail(player, "the communicator cannot be used");
}

static const struct orr_comm *find_comm(const struct player *player, uint64_t number)
{
    const struct played_rank *played = played_of(player);

    if (number == 0)
        return orr_rank_comm_at(need_rank(player), 0);
    if (number >= played->nknown || !played->known[number])
        player_fail(player, "there is no communicator %llu", (unsigned long long)number);
    return played->known[number];
}

/* --- messages --- */

static void do_nothing(void *arg)
{
    (void)arg;
}

static void start(struct player *player, const struct orr_call *call)
{
    struct played_rank *played = played_of(player);
    struct orr_rank *rank = need_rank(player);
    bool sends = call->verb == ORR_CALL_SEND;
    struct orr_request_call request = {
        .call = sends ? "starpu_mpi_isend" : "starpu_mpi_irecv",
        .handle = player_datum(player, call->id),
        .way = sends ? ORR_SENDS : ORR_RECEIVES,
        .peer = (int)call->peer,
        .tag = (int64_t)call->tag,
        .comm = find_comm(player, call->comm),
        .priority = (int)call->priority,
        .synchronous = call->synchronous,
        .unordered = call->unordered,
        .detached = !call->request,
        .callback = call->how == ORR_HOW_CALLBACK ? do_nothing : NULL,
    };
    struct orr_request **place = NULL;

    if (call->request)
        place = player_at(player, &played->requests, &played->nrequests, call->request,
                          sizeof(struct orr_request *));
    if (place && *place)
        player_fail(player, "there is a message %llu already",
                    (unsigned long long)call->request);
    if ((call->alone ? orr_request_start : orr_coop_start)(rank, &request, place))
        player_fail(player, "the message cannot be started");
}

/* It stays until the traces are written. */
static const char *keep_name(struct player *player, const char *name)
{
    struct played_rank *played = played_of(player);
    char **place;

    if (!name)
        return "starpu_mpi_wait";
    for (size_t i = 0; i < played->nnames; i++)
        if (!strcmp(played->names[i], name))
            return played->names[i];
    place = player_need(player, orr_array_add(played->names, played->nnames));
    *place = player_need(player, strdup(name));
    return *place;
}

static void wait_message(struct player *player, const struct orr_call *call)
{
    struct played_rank *played = played_of(player);
    struct orr_request *request;

    if (call->id >= played->nrequests || !(request = played->requests[call->id]))
        player_fail(player, "there is no message %llu, or it was waited for",
                    (unsigned long long)call->id);
    played->requests[call->id] = NULL;
    (void)orr_request_wait(request, keep_name(player, call->called), NULL);
}

static void wait_messages(struct player *player, const struct orr_call *call)
{
    (void)call;
    (void)orr_wait_messages(need_rank(player), "starpu_mpi_wait_for_all");
}

static void barrier(struct player *player, const struct orr_call *call)
{
    (void)orr_wait_barrier(need_rank(player), find_comm(player, call->id),
                           "starpu_mpi_barrier");
}

static void expect_sends(struct player *player, const struct orr_call *call)
{
    struct orr_handle *handle = orr_handle_of(player_datum(player, call->id));

    orr_coop_expect(player_need(player, orr_datum_need(need_rank(player), handle, "record")),
                    (int)call->value);
}

static void gather_sends(struct player *player, const struct orr_call *call)
{
    orr_coop_use(need_rank(player), call->value != 0);
}

/* --- data --- */

static void numbers(struct player *player, const struct orr_call *call)
{
    played_of(player)->last_datum = call->value;
    orr_remote_number_data(orr_runtime_current("record"), call->value, 0);
}

/* Those that were put off are what they would be among the others: the order of a task's
 * data is that of their numbers. */
static void number_datum(struct player *player, uint64_t number)
{
    if (number <= played_of(player)->last_datum)
        orr_remote_number_data(orr_runtime_current("record"), 0, number);
}

/* --- the table --- */

static void play(struct player *player, const struct orr_call *call)
{
    static void (*const actions[ORR_NVERBS])(struct player *, const struct orr_call *) = {
        [ORR_CALL_RANK] = begin_rank,
        [ORR_CALL_COMM] = add_comm,
        [ORR_CALL_SEND] = start,
        [ORR_CALL_RECEIVE] = start,
        [ORR_CALL_WAIT_MESSAGE] = wait_message,
        [ORR_CALL_WAIT_MESSAGES] = wait_messages,
        [ORR_CALL_BARRIER] = barrier,
        [ORR_CALL_EXPECT_SENDS] = expect_sends,
        [ORR_CALL_GATHER_SENDS] = gather_sends,
        [ORR_CALL_END_RANK] = end_rank,
        [ORR_CALL_NUMBERS] = numbers,
    };

    actions[call->verb](player, call);
}

const struct player_messages played_messages = {play, number_datum};

void played_rank_done(struct played_rank *played)
{
    for (size_t i = 0; i < played->nnames; i++)
        free(played->names[i]);
    free(played->names);
    free(played->requests);
    free(played->known);
}

void played_comms_free(struct played_comm *comms)
{
    while (comms) {
        struct played_comm *next = comms->next;

        free(comms->members);
        free(comms);
        comms = next;
    }
}
