/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/redux.c - see redux.h. */
#include "mpi/redux.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "mpi/cache.h"
#include "mpi/start.h"

static bool contributes(uint32_t mode)
{
    return mode & (STARPU_REDUX | STARPU_MPI_REDUX);
}

void orr_redux_before(struct orr_datum *datum, uint32_t mode, const char *call)
{
    if (datum->owner < 0 || (datum->contributors != NULL) == contributes(mode))
        return;
    if (datum->contributors) {
        orr_redux_end(datum, 0, STARPU_DEFAULT_PRIO, call);
        return;
    }
    /* What another rank has of the owner's value is no part of its contribution. */
    orr_cache_written(datum);
    orr_cache_drop_leftover(datum);
}

void orr_redux_contributed(struct orr_datum *datum, int executor, const char *call)
{
    struct orr_rank *rank = datum->rank;

    if (datum->owner < 0 || executor < 0)
        return;
    if (!datum->contributors) {
        datum->contributors = calloc((size_t)datum->comm->size, 1);
        if (!datum->contributors)
            orr_rank_fail(rank, "%s: out of memory", call);
        orr_lock(&rank->lock);
        orr_list_append(&rank->data.reduced, &datum->reduced);
        orr_unlock(&rank->lock);
    }
    datum->contributors[executor] = datum->contributors[datum->owner] = 1;
}

/* --- the tree --- */

/* The ranks that take part, the owner first, then in the order of their numbers: number i
 * sends to number (i - 1) / arity. */
struct tree {
    int *ranks;
    int n, mine; /* mine: -1, this rank takes no part */
    int arity;
};

static bool make_tree(const struct orr_datum *datum, int arity, struct tree *ret)
{
    int size = datum->comm->size, n = 0;

    ret->ranks = malloc((size_t)size * sizeof(*ret->ranks));
    if (!ret->ranks)
        return false;
    ret->ranks[n++] = datum->owner;
    for (int r = 0; r < size; r++)
        if (datum->contributors[r] && r != datum->owner)
            ret->ranks[n++] = r;
    ret->n = n;
    ret->arity = arity < 2 ? n : arity;
    ret->mine = -1;
    for (int i = 0; i < n; i++)
        if (ret->ranks[i] == datum->comm->rank)
            ret->mine = i;
    return true;
}

static void start(struct orr_datum *datum, struct orr_handle *handle,
                  enum orr_request_way way, int peer, int priority, const char *call)
{
    struct orr_request_call request = {
        .call = call,
        .handle = orr_handle_public(handle),
        .way = way,
        .peer = peer,
        .tag = datum->tag,
        .comm = datum->comm,
        .priority = priority,
        .detached = true,
    };

    if (orr_request_start(datum->rank, &request, NULL))
        orr_runtime_fail(datum->rank->rt);
}

/* Receives a copy of another rank, and submits the task that adds it up. */
static void add_copy(struct orr_datum *datum, int from, int priority, const char *call)
{
    struct starpu_codelet *cl = datum->handle->reduction->redux;
    starpu_data_handle_t copy;
    struct starpu_task *task = starpu_task_create();

    if (!task)
        orr_rank_fail(datum->rank, "%s: out of memory", call);
    starpu_data_register_same(&copy, orr_handle_public(datum->handle));
    start(datum, orr_handle_of(copy), ORR_RECEIVES, from, priority, call);
    task->cl = cl;
    task->handles[0] = orr_handle_public(datum->handle);
    task->handles[1] = copy;
    task->cl_arg = datum->handle->reduction->redux_arg;
    task->priority = priority;
    if (starpu_task_submit(task))
        orr_rank_fail(datum->rank, "%s: the redux codelet of tag %lld cannot run on rank %d",
                      call, (long long)datum->tag, datum->comm->rank);
    starpu_data_unregister_submit(copy);
}

static void check(const struct orr_datum *datum, const char *call)
{
    const struct orr_reduction *reduction = datum->handle->reduction;

    if (!reduction || !reduction->redux)
        orr_rank_fail(datum->rank,
                      "%s: tasks contribute to tag %lld, which has no methods of reduction: "
                      "call starpu_data_set_reduction_methods on all ranks",
                      call, (long long)datum->tag);
    if (datum->tag < 0)
        orr_rank_fail(datum->rank,
                      "%s: tasks of several ranks contribute to a datum without tag: call "
                      "starpu_mpi_data_register on all ranks",
                      call);
}

void orr_redux_end(struct orr_datum *datum, int arity, int priority, const char *call)
{
    struct orr_rank *rank = datum->rank;
    struct tree tree;
    int first;

    if (!datum->contributors)
        return;
    check(datum, call);
    if (!make_tree(datum, arity, &tree))
        orr_rank_fail(rank, "%s: out of memory", call);
    free(datum->contributors);
    datum->contributors = NULL;
    orr_lock(&rank->lock);
    orr_list_remove(&datum->reduced);
    orr_unlock(&rank->lock);
    first = tree.mine < 0 ? tree.n : tree.mine * tree.arity + 1;
    for (int i = first; i < tree.n && i < first + tree.arity; i++)
        add_copy(datum, tree.ranks[i], priority, call);
    if (tree.mine > 0) {
        start(datum, datum->handle, ORR_SENDS, tree.ranks[(tree.mine - 1) / tree.arity],
              priority, call);
        datum->leftover = true;
    }
    orr_cache_written(datum);
    orr_cache_drop_leftover(datum);
    free(tree.ranks);
}

void orr_redux_end_all(struct orr_rank *rank, const char *call)
{
    struct orr_list *link;

    for (;;) {
        struct orr_datum *datum;

        orr_lock(&rank->lock);
        link = orr_list_empty(&rank->data.reduced) ? NULL : rank->data.reduced.next;
        orr_unlock(&rank->lock);
        if (!link)
            return;
        datum = orr_container(link, struct orr_datum, reduced);
        orr_redux_end(datum,
                      rank->tree_from < 0 || (long)datum->handle->size < rank->tree_from
                          ? 0
                          : 2,
                      STARPU_DEFAULT_PRIO, call);
    }
}
