/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/chain.c - see player.h. A task whose end is held back, and what its callbacks do until
 * then: acquisitions, one after the other, from when it is ready; its end is released behind
 * them. The record has them where they were called; here they wait for the task, and it for
 * them, from its submission on where the record can be read ahead (ahead.c).
 */
#include "replay/player.h"

#include <orrery.h>

#include <stdlib.h>
#include <string.h>

struct link {
    struct link *next;
    struct chain *chain;
    starpu_data_handle_t handle; /* NULL: the task's end */
    enum starpu_data_access_mode mode;
    int node;
    size_t copied, fresh;
};

struct chain {
    const struct player *player;
    struct starpu_task *task; /* NULL: it was not submitted yet */
    struct link *first, **last;
    bool ready; /* the task is */
    bool busy;  /* the first link's data are on their way */
    bool used;  /* there was a link */
    unsigned told; /* calls to come that are links already */
};

static struct chain *find_chain(const struct player *player, uint64_t number)
{
    return number < player->nchains ? player->chains[number] : NULL;
}

void player_chain_new(struct player *player, uint64_t number)
{
    struct chain **place = player_at(player, &player->chains, &player->nchains,
                                     number, sizeof(struct chain *));

    if (*place)
        return;
    *place = player_need(player, calloc(1, sizeof(**place)));
    (*place)->player = player;
    (*place)->last = &(*place)->first;
}

static void chain_go_on(struct chain *chain);

static void take_first(struct chain *chain)
{
    struct link *link = chain->first;

    chain->first = link->next;
    if (!chain->first)
        chain->last = &chain->first;
    free(link);
}

static void chain_acquired(void *arg)
{
    struct link *link = arg;
    struct chain *chain = link->chain;

    starpu_data_release_on_node(link->handle, link->node);
    take_first(chain);
    chain->busy = false;
    chain_go_on(chain);
}

static void chain_go_on(struct chain *chain)
{
    while (chain->ready && !chain->busy && chain->first) {
        struct link *link = chain->first;
        int rc;

        if (!link->handle) {
            take_first(chain);
            starpu_task_end_dep_release(chain->task);
            continue;
        }
        chain->busy = true;
        rc = orrery_data_acquire_for_task(chain->task, link->handle, link->node,
                                          link->mode, link->copied, link->fresh,
                                          chain_acquired, link);
        if (rc < 0)
            player_fail(chain->player, "data cannot be acquired: %s",
                        strerror(-rc));
    }
}

static void chain_ready(void *arg)
{
    struct chain *chain = arg;

    chain->ready = true;
    chain_go_on(chain);
}

static void chain_foresee(struct player *player, const struct orr_call *call)
{
    if (call->verb == ORR_CALL_END_RELEASE)
        (void)player_chain_release(player, call->id);
    else
        (void)player_chain_acquire(player, call, player_datum(player, call->id),
                                   player_node(call->node));
}

void player_chain_begin(struct player *player, const struct orr_call *call,
                        struct starpu_task *task)
{
    struct chain *chain = find_chain(player, call->id);

    if (!chain)
        return;
    if (task->cl) {
        player_chain_forget(player, call->id);
        return;
    }
    chain->task = task;
    chain->ready = false;
    task->prologue_callback_func = chain_ready;
    task->prologue_callback_arg = chain;
    chain->told = player_tell_ahead(player, call->id, chain_foresee);
}

static void add_link(struct chain *chain, const struct link *content)
{
    struct link *link = player_need(chain->player, malloc(sizeof(*link)));

    *link = *content;
    link->chain = chain;
    *chain->last = link;
    chain->last = &link->next;
    chain->used = true;
    chain_go_on(chain);
}

bool player_chain_acquire(struct player *player, const struct orr_call *call,
                          starpu_data_handle_t handle, int node)
{
    struct chain *chain = find_chain(player, call->task);

    if (!chain || !chain->task)
        return false;
    if (chain->told > 0) {
        chain->told--;
        return true;
    }
    add_link(chain,
             &(struct link){.handle = handle,
                            .mode = (enum starpu_data_access_mode)call->value,
                            .node = node,
                            .copied = call->size,
                            .fresh = call->memory});
    return true;
}

bool player_chain_release(struct player *player, uint64_t number)
{
    struct chain *chain = find_chain(player, number);

    if (!chain || !chain->used)
        return false;
    if (chain->told > 0) {
        chain->told--;
        return true;
    }
    add_link(chain, &(struct link){.handle = NULL});
    return true;
}

void player_chain_forget(struct player *player, uint64_t number)
{
    struct chain *chain = find_chain(player, number);

    /* Its task is still to come to it, or to what is left of it. */
    if (!chain || chain->first || chain->told > 0 ||
        (chain->task && !chain->ready))
        return;
    player->chains[number] = NULL;
    free(chain);
}

void player_forget_chains(struct player *player)
{
    for (size_t i = 0; i < player->nchains; i++) {
        struct chain *chain = player->chains[i];

        while (chain && chain->first)
            take_first(chain);
        free(chain);
    }
    free(player->chains);
}
