/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/coop.c - see coop.h. */
#include "mpi/coop.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/fresh.h"
#include "core/base/log.h"
#include "mpi/datum.h"
#include "mpi/start.h"
#include "mpi/tree.h"

/* How often the carrier looks, when it has nothing to do, whether the sends that were
 * promised have come, and the µs in between. */
enum { MOST_LOOKS = 20, LOOK_US = 50 };

struct orr_bag {
    struct orr_rank *rank;
    struct orr_message turn; /* of the datum, for all members */
    struct orr_errand granted, closed;

    /* [rank's lock] until it is closed, then the carrier's */
    struct orr_datum *datum; /* whose `bag` this is; NULL: closed */
    struct orr_list members; /* requests, in the order of their calls */
    unsigned nmembers;
    unsigned nwanted; /* that will come; 0: not known */

    /* [carrier] */
    unsigned node; /* when it is granted */
    void *interface;
    double since; /* as a request's */
    unsigned nlooks;
    struct orr_list link;   /* in the rank's `patient` */
    unsigned nleft;         /* members that are not done, and the tree */
    struct orr_tree tree;
    struct orr_tree_place *places; /* of the tree, and its members; owned */
    struct orr_request **in_tree;
    struct orr_layout layout;

    uint64_t has[]; /* a bit per rank of the communicator: it is a member's peer */
};

static struct orr_request *member_of(struct orr_list *link)
{
    return orr_container(link, struct orr_request, member);
}

static bool has_peer(const struct orr_bag *bag, int peer)
{
    return bag->has[peer / 64] >> (peer % 64) & 1;
}

static void close_locked(struct orr_bag *bag) ORR_REQUIRES(bag->rank->lock)
{
    if (bag->datum)
        bag->datum->bag = NULL;
    bag->datum = NULL;
}

static void drop(struct orr_bag *bag)
{
    if (--bag->nleft > 0)
        return;
    orr_message_end_here(&bag->turn, false);
    free(bag->places);
    free(bag->in_tree);
    free(bag);
}

/* --- along the tree --- */

static void tree_acknowledged(struct orr_tree *tree)
{
    (void)tree; /* `ended` follows */
}

static void tree_ended(struct orr_tree *tree)
{
    struct orr_bag *bag = orr_container(tree, struct orr_bag, tree);
    size_t bytes = bag->layout.bytes;

    orr_layout_done(&bag->layout);
    for (unsigned i = 0; i < tree->nplaces; i++)
        orr_request_passed(bag->in_tree[i], bytes);
    drop(bag);
}

static void start_tree(struct orr_bag *bag, unsigned n)
{
    struct orr_rank *rank = bag->rank;
    const struct orr_request *any = member_of(bag->members.next);
    unsigned at = 0;

    bag->places = calloc(n, sizeof(*bag->places));
    bag->in_tree = calloc(n, sizeof(struct orr_request *));
    if (!bag->places || !bag->in_tree)
        orr_rank_fail(rank, "%s: out of memory", any->call.call);
    if (orr_layout_send(&bag->layout, any->call.handle, bag->node, any->call.call))
        orr_rank_fail(rank, "%s: tag %lld: the datum cannot be sent", any->call.call,
                      (long long)any->call.tag);
    orr_list_foreach (link, &bag->members) {
        struct orr_request *request = member_of(link);

        if (!request->in_tree)
            continue;
        bag->in_tree[at] = request;
        bag->places[at++] =
            (struct orr_tree_place){.tag = request->call.tag,
                                    .behind = rank->sent_upto[request->call.peer],
                                    .rank = request->call.peer};
    }
    bag->tree = (struct orr_tree){
        .rank = rank,
        .origin = rank->number,
        .places = bag->places,
        .nplaces = n,
        .parts = bag->layout.parts,
        .nparts = bag->layout.nparts,
        .node = bag->node,
        .unreal = orr_layout_is_unreal(rank, &bag->layout),
        .acknowledged = tree_acknowledged,
        .ended = tree_ended,
    };
    bag->nleft++;
    orr_tree_start(&bag->tree);
}

/* --- when it has the datum --- */

static void sort_members(struct orr_bag *bag)
{
    struct orr_list sorted, *link;

    orr_list_init(&sorted);
    while ((link = orr_list_pop(&bag->members))) {
        struct orr_list *at = sorted.prev;

        while (at != &sorted &&
               member_of(at)->call.priority < member_of(link)->call.priority)
            at = at->prev;
        orr_list_prepend(at, link);
    }
    while ((link = orr_list_pop(&sorted)))
        orr_list_append(&bag->members, link);
}

/* A member behind another message of its channel would keep all waiting: it is sent by
 * itself when its turn has come. */
static void send_members(struct orr_bag *bag)
{
    unsigned n = 0;

    bag->nleft = bag->nmembers;
    sort_members(bag);
    orr_list_foreach (link, &bag->members) {
        struct orr_request *request = member_of(link);

        request->node = bag->node;
        request->interface = bag->interface;
        request->is_granted = true;
        request->turn.job = bag->turn.job;
        request->since = bag->since > request->called ? bag->since : request->called;
        n += request->in_tree = n < ORR_MOST_PLACES && orr_request_is_first(request);
    }
    if (n >= ORR_COOP_FEWEST)
        start_tree(bag, n);
    orr_list_foreach (link, &bag->members) {
        struct orr_request *request = member_of(link);

        if (n < ORR_COOP_FEWEST)
            request->in_tree = false;
        if (!request->in_tree)
            orr_requests_look(request->rank, request->channel);
    }
}

static void use_datum(struct orr_rank *rank, struct orr_errand *errand)
{
    struct orr_bag *bag = orr_container(errand, struct orr_bag, granted);
    bool open;

    orr_lock(&rank->lock);
    open = bag->datum != NULL;
    orr_unlock(&rank->lock);
    if (open)
        orr_list_append(&rank->patient, &bag->link);
    else
        orr_rank_hand(rank, &bag->closed);
}

/* It was found closed: the errands by which its members take their places were handed in
 * before this one. */
static void use_closed(struct orr_rank *rank, struct orr_errand *errand)
{
    (void)rank;
    send_members(orr_container(errand, struct orr_bag, closed));
}

static void bag_granted(void *arg, unsigned node, void *interface)
{
    struct orr_bag *bag = arg;
    struct orr_rank *rank = bag->rank;

    bag->node = node;
    bag->since = orr_tell_since(rank->rt, ORR_TOLD_MESSAGE);
    bag->interface = interface;
    orr_lock(&rank->lock);
    if (bag->nmembers >= bag->nwanted)
        close_locked(bag);
    orr_rank_hand_locked(rank, &bag->granted);
    orr_unlock(&rank->lock);
}

/* Whether it has waited long enough for the sends that were promised. */
static bool is_patient(struct orr_bag *bag)
{
    struct orr_rank *rank = bag->rank;
    bool ret;

    orr_lock(&rank->lock);
    if (++bag->nlooks > MOST_LOOKS)
        close_locked(bag);
    ret = bag->datum != NULL;
    orr_unlock(&rank->lock);
    return ret;
}

bool orr_coop_look(struct orr_rank *rank)
{
    static const struct orr_awaited awaited = {.noun = "more sends of a value"};
    struct orr_list *link = rank->patient.next, *next;
    bool any = false;

    if (orr_list_empty(&rank->patient))
        return false;
    for (; link != &rank->patient; link = next) {
        struct orr_bag *bag = orr_container(link, struct orr_bag, link);

        next = link->next;
        if (is_patient(bag))
            continue;
        orr_list_remove(link);
        orr_rank_hand(rank, &bag->closed);
        any = true;
    }
    if (!any)
        orr_context_sleep(&awaited, LOOK_US);
    return true;
}

/* A member is done. */
static void member_done(struct orr_request *request)
{
    struct orr_bag *bag = request->bag;

    orr_list_remove(&request->member);
    drop(bag);
}

/* --- the caller's side --- */

/* Ranks keep what they pass on, so there are no trees where main memory is limited. */
static bool may_gather(const struct orr_rank *rank, const struct orr_request_call *call)
{
    return call->way == ORR_SENDS && call->detached && !call->callback &&
           !call->synchronous && rank->size >= ORR_COOP_FEWEST &&
           atomic_load_explicit(&rank->cooperates, memory_order_relaxed) &&
           call->comm->number == ORR_TREE_COMM && call->peer != rank->number &&
           !rank->conf.pretended_size && !orr_self->job &&
           !rank->spares_memory;
}

static bool may_join(const struct orr_bag *bag, const struct orr_request_call *call)
{
    return bag->turn.sequential == !call->unordered && !has_peer(bag, call->peer);
}

static void join_locked(struct orr_bag *bag, struct orr_request *request)
    ORR_REQUIRES(bag->rank->lock)
{
    int peer = request->call.peer;

    request->bag = bag;
    request->let_go = member_done;
    orr_list_append(&bag->members, &request->member);
    bag->has[peer / 64] |= UINT64_C(1) << (peer % 64);
    if (++bag->nmembers == bag->nwanted)
        close_locked(bag);
}

static struct orr_bag *make_bag(struct orr_rank *rank, const struct orr_request *first)
{
    size_t words = ((size_t)rank->size + 63) / 64;
    struct orr_bag *bag = orr_fresh(sizeof(*bag) + words * sizeof(bag->has[0]));

    if (!bag)
        orr_rank_fail(rank, "%s: out of memory", first->call.call);
    bag->rank = rank;
    bag->granted.run = use_datum;
    bag->closed.run = use_closed;
    orr_list_init(&bag->members);
    bag->turn = (struct orr_message){
        .handle = first->turn.handle,
        .mode = STARPU_R,
        .sequential = first->turn.sequential,
        .priority = first->turn.priority,
        .arg = bag,
        .is_known = true,
        .peer = -1,
        .tag = first->call.tag,
        .granted = bag_granted,
    };
    return bag;
}

static void join_and_post_locked(struct orr_bag *bag, struct orr_request *request)
    ORR_REQUIRES(bag->rank->lock)
{
    join_locked(bag, request);
    /* Before the errand that the bag is handed with when it is granted. */
    orr_rank_hand_locked(bag->rank, &request->posted);
}

/* Whether there is a bag of the datum that it could join, and has. */
static bool join_bag(struct orr_datum *datum, struct orr_request *request)
{
    struct orr_rank *rank = request->rank;
    bool joins;

    orr_lock(&rank->lock);
    joins = datum->bag && may_join(datum->bag, &request->call);
    if (joins)
        join_and_post_locked(datum->bag, request);
    orr_unlock(&rank->lock);
    return joins;
}

/* It begins a new one. */
static void begin_bag(struct orr_datum *datum, struct orr_request *request,
                      struct orr_bag *bag)
{
    struct orr_rank *rank = request->rank;

    orr_lock(&rank->lock);
    if (datum->bag)
        close_locked(datum->bag);
    bag->datum = datum;
    bag->nwanted = datum->nsends > 0 ? (unsigned)datum->nsends : 0;
    datum->nsends = 0;
    datum->bag = bag;
    join_and_post_locked(bag, request);
    orr_unlock(&rank->lock);
}

int orr_coop_start(struct orr_rank *rank, const struct orr_request_call *call,
                   struct orr_request **ret)
{
    struct orr_request *request;
    struct orr_datum *datum;
    struct orr_bag *bag;
    struct orr_request_call own = *call;
    int rc;
    ORR_REMOTE_SCOPE(rank->rt);

    own.gathers = true;
    if (!may_gather(rank, call))
        return orr_request_start(rank, &own, ret);
    rc = orr_request_prepare(rank, &own, &request);
    if (rc)
        return rc;
    if (ret)
        *ret = NULL;
    datum = orr_datum_need(rank, orr_handle_of(call->handle), call->call);
    if (!datum)
        orr_runtime_fail(rank->rt);
    if (join_bag(datum, request))
        return 0;
    bag = make_bag(rank, request);
    begin_bag(datum, request, bag);
    if (orr_message_start(&bag->turn, call->call))
        orr_runtime_fail(rank->rt);
    return 0;
}

void orr_coop_writer(struct orr_datum *datum)
{
    struct orr_rank *rank = datum->rank;

    orr_lock(&rank->lock);
    if (datum->bag)
        close_locked(datum->bag);
    orr_unlock(&rank->lock);
}

void orr_coop_use(struct orr_rank *rank, bool use)
{
    ORR_REMOTE_SCOPE(rank->rt);

    ORR_REMOTE_RECORD(rank->rt, GATHER_SENDS, .value = use);
    atomic_store(&rank->cooperates, use);
}

void orr_coop_expect(struct orr_datum *datum, int nsends)
{
    struct orr_rank *rank = datum->rank;
    struct orr_bag *bag;
    ORR_REMOTE_SCOPE(rank->rt);

    ORR_REMOTE_RECORD(rank->rt, EXPECT_SENDS, .id = datum->handle->id,
                      .value = nsends > 0 ? (uint64_t)nsends : 0);
    orr_lock(&rank->lock);
    bag = datum->bag;
    if (!bag) {
        datum->nsends = nsends;
    } else {
        bag->nwanted = nsends > 0 ? (unsigned)nsends : 0;
        if (bag->nwanted && bag->nmembers >= bag->nwanted)
            close_locked(bag);
    }
    orr_unlock(&rank->lock);
}
