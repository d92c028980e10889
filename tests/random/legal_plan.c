/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/legal_plan.c - the rules for planned partitions: see
 * legal_private.h. A family is a datum with its planned pieces, and theirs. What
 * is used of it, the whole or which pieces, is a state of what has been called so
 * far; uses switch it, as core/data/plan.h draws it, and explicit calls are
 * allowed in some states only.
 *
 * Switches order all uses in a family, more than is known of any member: what is
 * waited for is therefore that of all of them, what surely was only the member's.
 */
#include "legal_private.h"

/* -- who is who -- */

static const struct data *data_of(const struct legal *l, unsigned d)
{
    return &l->in->data[d];
}

bool legal_is_planned_piece(const struct legal *l, unsigned d)
{
    int parent = data_of(l, d)->parent;

    return parent >= 0 && data_of(l, (unsigned)parent)->planned;
}

bool legal_in_family(const struct legal *l, unsigned d)
{
    return data_of(l, d)->planned || legal_is_planned_piece(l, d);
}

unsigned legal_root(const struct legal *l, unsigned d)
{
    while (legal_is_planned_piece(l, d))
        d = (unsigned)data_of(l, d)->parent;
    return d;
}

static bool is_piece_of(const struct legal *l, unsigned d, unsigned whole,
                        unsigned plan)
{
    return data_of(l, d)->parent == (int8_t)whole &&
           data_of(l, d)->plan == plan;
}

/* -- what is used -- */

static uint8_t *used(struct legal *l, unsigned whole, unsigned plan)
{
    return &l->states[whole].plans[plan];
}

static void join_all(struct legal *l, unsigned d);

static void join(struct legal *l, unsigned whole, unsigned plan)
{
    if (*used(l, whole, plan) <= PLAN_IDLE)
        return;
    for (unsigned d = 0; d < l->in->ndata; d++)
        if (is_piece_of(l, d, whole, plan))
            join_all(l, d);
    *used(l, whole, plan) = PLAN_IDLE;
}

static void join_all(struct legal *l, unsigned d)
{
    for (unsigned plan = 0; plan < MAX_PLANS; plan++)
        join(l, d, plan);
}

/* It is to be used, as a whole. */
static void join_for(struct legal *l, unsigned d, bool writes)
{
    for (unsigned plan = 0; plan < MAX_PLANS; plan++)
        if (writes || *used(l, d, plan) == PLAN_WRITE)
            join(l, d, plan);
}

static void activate(struct legal *l, unsigned d, bool writes)
{
    const struct data *data = data_of(l, d);
    unsigned whole = (unsigned)data->parent;

    if (!legal_is_planned_piece(l, d))
        return;
    activate(l, whole, writes);
    for (unsigned plan = 0; plan < MAX_PLANS; plan++)
        if (plan != data->plan &&
            (writes || *used(l, whole, plan) == PLAN_WRITE))
            join(l, whole, plan);
    if (writes && *used(l, whole, data->plan) == PLAN_READ)
        join(l, whole, data->plan);
    if (*used(l, whole, data->plan) == PLAN_IDLE)
        *used(l, whole, data->plan) = writes ? PLAN_WRITE : PLAN_READ;
}

void legal_switch_for(struct legal *l, unsigned d, unsigned mode)
{
    bool writes = legal_writes(mode);

    if (!legal_in_family(l, d))
        return;
    activate(l, d, writes);
    join_for(l, d, writes);
}

/* Whether it is the one to be used now. */
static bool is_used(struct legal *l, unsigned d, bool writes)
{
    const struct data *data = data_of(l, d);

    for (unsigned plan = 0; plan < MAX_PLANS; plan++)
        if (*used(l, d, plan) > (writes ? PLAN_IDLE : PLAN_READ))
            return false;
    return !legal_is_planned_piece(l, d) ||
           *used(l, (unsigned)data->parent, data->plan) >=
               (writes ? PLAN_WRITE : PLAN_READ);
}

void legal_switch_for_task(struct legal *l, const struct call *call)
{
    for (unsigned round = 0; round < 2; round++) {
        bool again = false;

        for (unsigned k = 0; k < call->nbuffers; k++)
            legal_switch_for(l, call->buffers[k].data, call->buffers[k].mode);
        for (unsigned k = 0; k < call->nbuffers; k++)
            again |= legal_in_family(l, call->buffers[k].data) &&
                     !is_used(l, call->buffers[k].data,
                              legal_writes(call->buffers[k].mode));
        if (!again)
            return;
    }
}

/* -- what goes together in a task -- */

/* The ancestor of the datum that is a piece of the whole; -1: none. */
static int branch_of(const struct legal *l, unsigned whole, unsigned d)
{
    while (legal_is_planned_piece(l, d)) {
        if (data_of(l, d)->parent == (int8_t)whole)
            return (int)d;
        d = (unsigned)data_of(l, d)->parent;
    }
    return -1;
}

/* Whether two members are pieces of one plan somewhere, or of pieces of it. */
static bool are_beside(const struct legal *l, unsigned a, unsigned b)
{
    for (unsigned whole = 0; whole < l->in->ndata; whole++) {
        int x = branch_of(l, whole, a), y = branch_of(l, whole, b);

        if (x >= 0 && y >= 0 && x != y)
            return data_of(l, (unsigned)x)->plan ==
                   data_of(l, (unsigned)y)->plan;
    }
    return false;
}

bool legal_goes_with_others(const struct legal *l, const struct call *call,
                            unsigned k)
{
    const struct access *mine = &call->buffers[k];

    for (unsigned i = 0; i < k && legal_in_family(l, mine->data); i++) {
        const struct access *other = &call->buffers[i];

        if (other->data != mine->data && legal_in_family(l, other->data) &&
            legal_root(l, other->data) == legal_root(l, mine->data) &&
            legal_writes(mine->mode | other->mode) &&
            !are_beside(l, mine->data, other->data))
            return false;
    }
    return true;
}

/* -- values: what is valued of the whole is of all members -- */

/* A piece of a root's first plan may be the first to be written. */
static bool is_first(const struct legal *l, unsigned d)
{
    int parent = data_of(l, d)->parent;

    return parent >= 0 && data_of(l, d)->plan == 0 &&
           !legal_is_planned_piece(l, (unsigned)parent);
}

bool legal_family_valued(const struct legal *l, unsigned d)
{
    return l->states[legal_root(l, d)].valued ||
           (legal_is_planned_piece(l, d) && is_first(l, d) &&
            l->states[d].valued);
}

bool legal_may_begin(const struct legal *l, unsigned d)
{
    return !legal_is_planned_piece(l, d) || is_first(l, d);
}

void legal_family_is_valued(struct legal *l, unsigned d)
{
    unsigned root = legal_root(l, d);
    bool all = true;

    if (d == root || l->states[root].valued)
        return;
    for (unsigned i = 0; i < l->in->ndata; i++)
        if (is_piece_of(l, i, root, 0))
            all &= l->states[i].valued;
    l->states[root].valued = l->states[root].was_valued = all;
}

/* -- the ends of uses -- */

void legal_forget_family(struct legal *l, unsigned root, bool calm)
{
    for (unsigned d = 0; d < l->in->ndata; d++) {
        if (!legal_is_planned_piece(l, d) || legal_root(l, d) != root)
            continue;
        l->states[d].valued = false;
        if (calm)
            legal_calm(&l->states[d]);
    }
    if (calm)
        l->states[root].family = (struct waits){0, 0, 0};
}

void legal_release_family(struct legal *l, unsigned root)
{
    for (unsigned d = 0; d < l->in->ndata; d++)
        if (legal_is_planned_piece(l, d) && legal_root(l, d) == root)
            legal_release(l, d);
}

/* -- calls -- */

static bool has_plan(struct legal *l, unsigned whole, unsigned plan)
{
    return data_of(l, whole)->planned && data_of(l, whole)->cuts[plan].n &&
           *used(l, whole, plan) != PLAN_NONE;
}

void legal_do_plan(struct legal *l, struct call *call)
{
    struct state *s = &l->states[call->data];

    call->how &= MAX_PLANS - 1;
    if (!data_of(l, call->data)->cuts[call->how].n ||
        s->plans[call->how] != PLAN_NONE ||
        !legal_may_wait(l, call->thread,
                        l->states[legal_root(l, call->data)].family))
        return;
    s->plans[call->how] = PLAN_IDLE;
    for (unsigned d = 0; d < l->in->ndata; d++) {
        struct state *piece = &l->states[d];

        if (!is_piece_of(l, d, call->data, call->how))
            continue;
        legal_calm(piece);
        piece->registered = true;
        piece->held = piece->valued = false;
    }
    legal_emit(l, call);
}

/* The pieces end, after theirs. */
static void clean(struct legal *l, unsigned whole, unsigned plan,
                  unsigned thread)
{
    struct call call = {.kind = CALL_UNPARTITION,
                        .thread = (uint8_t)thread,
                        .automatic = true,
                        .how = (uint8_t)plan,
                        .data = (uint8_t)whole};

    for (unsigned d = 0; d < l->in->ndata; d++) {
        if (!is_piece_of(l, d, whole, plan))
            continue;
        for (unsigned below = 0; below < MAX_PLANS; below++)
            if (has_plan(l, d, below))
                clean(l, d, below, thread);
        legal_release(l, d);
        l->states[d].registered = l->states[d].valued = false;
        l->states[legal_root(l, whole)].called |= l->states[d].called;
    }
    join(l, whole, plan);
    *used(l, whole, plan) = PLAN_NONE;
    legal_emit(l, &call);
}

void legal_do_clean(struct legal *l, struct call *call)
{
    call->how &= MAX_PLANS - 1;
    if (!has_plan(l, call->data, call->how) ||
        !legal_owns(data_of(l, call->data), call->thread))
        return;
    clean(l, call->data, call->how, call->thread);
    l->out->calls[l->out->ncalls - 1].automatic = call->automatic;
}

void legal_clean_all(struct legal *l, unsigned whole, unsigned thread)
{
    for (unsigned plan = 0; plan < MAX_PLANS; plan++)
        if (has_plan(l, whole, plan))
            clean(l, whole, plan, thread);
}

/* What may be asked for explicitly in that state, and the state then. */
static bool may_switch(struct legal *l, const struct call *call, unsigned plan,
                       uint8_t *ret_then)
{
    uint8_t now = *used(l, call->data, plan);
    uint8_t other = *used(l, call->data, !plan);
    bool first = call->salt >> 1 & 1;

    if (now == PLAN_IDLE && other > PLAN_READ)
        return false;
    if (now == PLAN_IDLE)
        *ret_then = first && other <= PLAN_IDLE ? PLAN_WRITE : PLAN_READ;
    else if (now == PLAN_WRITE)
        *ret_then = first ? PLAN_IDLE : PLAN_READ;
    else
        *ret_then = first || other > PLAN_IDLE ? PLAN_IDLE : PLAN_WRITE;
    return true;
}

/* The whole has to have a value, and to be the one that is used. */
void legal_do_switch(struct legal *l, struct call *call)
{
    unsigned plan = call->salt & 1, d = call->data;
    bool parts_are_used = *used(l, d, plan) > PLAN_IDLE;
    uint8_t then;

    if (!has_plan(l, d, plan) || !legal_usable(l, call, d) ||
        !l->states[legal_root(l, d)].valued ||
        (legal_is_planned_piece(l, d) &&
         *used(l, (unsigned)data_of(l, d)->parent, data_of(l, d)->plan) !=
             PLAN_WRITE) ||
        (!parts_are_used && !is_used(l, d, false)) ||
        !may_switch(l, call, plan, &then))
        return;
    call->mode = then;
    call->how = *used(l, d, plan);
    if (then == PLAN_IDLE)
        join(l, d, plan);
    for (unsigned i = 0; then == PLAN_READ && i < l->in->ndata; i++)
        if (is_piece_of(l, i, d, plan))
            join_for(l, i, false);
    *used(l, d, plan) = then;
    legal_emit(l, call);
}
