/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/spmd_calls.c - see spmd_program.h: tasks, messages, moves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/spmd_program.h"

enum { NTAGS = 3 };

/* --- tasks --- */

void spmd_must_insert(const struct spmd_insert *insert, int rc)
{
    if (spmd_insert(insert) != rc)
        abort();
}

/* Some data of owners, and such as each rank has, which are read then. Returns the rank
 * that owns what is written: -1 if there is none, or several do. */
static int pick_data(struct program *p, unsigned n, struct datum **d,
                     struct starpu_data_descr *descrs)
{
    static const uint32_t modes[] = {STARPU_R, STARPU_R, STARPU_RW, STARPU_RW, STARPU_W,
                                     STARPU_R | STARPU_SSEND};
    int owner = -1;
    bool differ = false;

    for (unsigned i = 0; i < n; i++) {
        bool each = spmd_pick(p, 6) == 0;

        do {
            d[i] = each ? spmd_pick_datum(p, NDATA, NEACH) : spmd_pick_datum(p, 0, NDATA);
        } while ((i > 0 && d[i] == d[0]) || (i > 1 && d[i] == d[1]));
        descrs[i].mode = each ? STARPU_R : modes[spmd_pick(p, 6)];
        descrs[i].handle = d[i]->handle;
        if (descrs[i].mode & STARPU_W) {
            differ |= owner >= 0 && owner != d[i]->owner;
            owner = d[i]->owner;
        }
    }
    return differ ? -1 : owner;
}

/* Where the task is to be executed: said, or decided by what it writes. */
static int pick_place(struct program *p, int owner, const struct datum *first,
                      struct spmd_insert *insert)
{
    struct datum *on;

    switch (spmd_pick(p, 6)) {
    case 0:
        return insert->on_node = (int)spmd_pick(p, (unsigned)p->size);
    case 1:
        on = spmd_pick_datum(p, 0, NDATA);
        insert->on_data = on->handle;
        return on->owner;
    default:
        if (owner >= 0)
            return owner;
        /* What each rank has makes the choice of the policy matter. */
        return insert->on_node = first->owner >= 0 ? first->owner : 0;
    }
}

void spmd_call_insert(struct program *p)
{
    struct starpu_data_descr descrs[MOST_DATA + 1];
    struct datum *d[MOST_DATA];
    uint32_t plain[MOST_DATA];
    unsigned n = 1 + spmd_pick(p, MOST_DATA);
    int owner = pick_data(p, n, d, descrs), executor;
    struct spmd_insert insert = {.cl = &spmd_task, .data = descrs, .n = (int)n,
                                 .salt = ++p->salt, .on_node = -1,
                                 .priority = (int)spmd_pick(p, 5) - 2,
                                 .in_halves = spmd_pick(p, 5) == 0};

    executor = pick_place(p, owner, d[0], &insert);
    for (unsigned i = 0; i < n; i++)
        plain[i] = descrs[i].mode & STARPU_RW;
    if (spmd_pick(p, 6) == 0)
        descrs[insert.n++] = (struct starpu_data_descr){p->scratch, STARPU_SCRATCH};
    spmd_must_insert(&insert, 0);
    spmd_expect_task(d, plain, n, insert.salt, executor);
}

/* Each rank writes its own. */
static void call_insert_each(struct program *p)
{
    struct datum *d = spmd_pick_datum(p, NDATA, NEACH);
    uint32_t mode = spmd_pick(p, 2) ? STARPU_RW : STARPU_W;
    struct starpu_data_descr descr = {d->handle, mode};
    struct spmd_insert insert = {.cl = &spmd_task, .data = &descr, .n = 1,
                                 .salt = ++p->salt, .on_node = -1};

    spmd_must_insert(&insert, 0);
    for (int r = 0; r < p->size; r++)
        spmd_expect_task(&d, &mode, 1, insert.salt, r);
}

/* Only two ranks know the datum. */
static void call_insert_private(struct program *p)
{
    struct datum *d = spmd_pick_datum(p, NDATA + NEACH, NPRIVATE);
    uint32_t mode = STARPU_RW;
    struct starpu_data_descr descr = {d->handle, mode};
    struct spmd_insert insert = {.cl = &spmd_task, .data = &descr, .n = 1,
                                 .salt = ++p->salt,
                                 .on_node = spmd_pick(p, 2) ? d->owner : d->partner,
                                 .in_halves = spmd_pick(p, 5) == 0};

    spmd_must_insert(&insert, d->handle ? 0 : -EINVAL);
    spmd_expect_task(&d, &mode, 1, insert.salt, 0);
}

/* Several in any order, on any ranks, of which some read another datum, too. */
static void contribute(struct program *p, struct datum *d, uint32_t mode,
                       struct starpu_codelet *cl)
{
    struct datum *read = spmd_pick(p, 3) == 0 ? spmd_pick_other(p, d) : NULL;
    struct starpu_data_descr descrs[] = {{d->handle, mode},
                                         {read ? read->handle : NULL, STARPU_R}};
    unsigned n = 1 + spmd_pick(p, 6);

    for (unsigned i = 0; i < n; i++) {
        bool two = read && spmd_pick(p, 2);
        struct spmd_insert insert = {.cl = &cl[two], .data = descrs, .n = two ? 2 : 1,
                                     .salt = ++p->salt,
                                     .on_node = (int)spmd_pick(p, (unsigned)p->size),
                                     .priority = (int)spmd_pick(p, 3),
                                     .in_halves = spmd_pick(p, 5) == 0};

        spmd_must_insert(&insert, 0);
        spmd_expect_contribution(d, two ? read : NULL, insert.salt);
    }
}

static void call_reduce(struct program *p)
{
    struct datum *d = spmd_pick_datum(p, 0, NDATA);

    if (spmd_pick(p, 2))
        contribute(p, d, STARPU_MPI_REDUX, spmd_mpi_redux);
    else
        contribute(p, d, STARPU_REDUX, spmd_redux);
    /* Else the next task that uses it, or the end, does this. */
    if (spmd_pick(p, 2))
        spmd_reduce(d->handle, (int)spmd_pick(p, 4));
}

static void call_commute(struct program *p)
{
    contribute(p, spmd_pick_datum(p, 0, NDATA), STARPU_RW | STARPU_COMMUTE,
               spmd_mpi_redux);
}

/* --- messages --- */

static void finish_at(struct program *p, unsigned i, bool polls)
{
    spmd_finish(p->pending[i], polls);
    p->pending[i] = p->pending[--p->npending];
}

void spmd_call_finish(struct program *p)
{
    unsigned which = spmd_pick(p, 60);
    bool polls = spmd_pick(p, 2);

    if (p->npending > 0)
        finish_at(p, which % p->npending, polls);
}

void spmd_finish_all(struct program *p)
{
    while (p->npending > 0)
        finish_at(p, 0, false);
}

static void keep_pending(struct program *p, void *request)
{
    if (!request)
        return;
    if (p->npending == MOST_PENDING)
        finish_at(p, 0, true);
    p->pending[p->npending++] = request;
}

/* A copy by the application's own messages. */
static void send_and_receive(struct program *p, struct datum *from, struct datum *to)
{
    struct spmd_message m = {
        .tag = p->tag + (int64_t)spmd_pick(p, NTAGS),
        .priority = (int)spmd_pick(p, 5) - 2,
        .synchronous = spmd_pick(p, 3) == 0,
        .end = spmd_pick(p, 2) ? SPMD_DETACHED : (enum spmd_end)spmd_pick(p, 3),
        .done = spmd_pick(p, 2) ? &p->done : NULL,
    };
    bool takes_part = p->me == from->owner || p->me == to->owner;

    if (m.end == SPMD_DETACHED && m.done && takes_part)
        p->ndone++;
    m.handle = p->me == from->owner ? from->handle : to->handle;
    m.peer = p->me == from->owner ? to->owner : from->owner;
    if (p->me == from->owner)
        keep_pending(p, spmd_send(&m));
    else if (p->me == to->owner)
        keep_pending(p, spmd_receive(&m));
    spmd_flush(to->handle);
}

static void call_message(struct program *p)
{
    struct datum *from = spmd_pick_datum(p, 0, NDATA), *to = spmd_pick_alike(p, from);

    spmd_reduce(from->handle, 0);
    spmd_reduce(to->handle, 0);
    if (from->owner == to->owner)
        spmd_copy(to->handle, from->handle, spmd_pick(p, 4) == 0, NULL);
    else
        send_and_receive(p, from, to);
    memcpy(to->expected[0], from->expected[0], sizeof(to->expected[0]));
}

static void call_copy(struct program *p)
{
    struct datum *from = spmd_pick_datum(p, 0, NDATA), *to = spmd_pick_alike(p, from);

    spmd_copy(to->handle, from->handle, spmd_pick(p, 4) == 0, &p->done);
    p->ndone += p->me == to->owner;
    memcpy(to->expected[0], from->expected[0], sizeof(to->expected[0]));
}

/* --- moves --- */

static void get(struct program *p, struct datum *d)
{
    int to = (int)spmd_pick(p, (unsigned)p->size);
    bool looks = spmd_pick(p, 2);

    spmd_get(d->handle, to, spmd_pick(p, 2));
    if (looks && p->me == to)
        spmd_look(p, d);
}

static void get_everywhere(struct program *p, struct datum *d)
{
    int looks = (int)spmd_pick(p, 2 * (unsigned)p->size);

    spmd_get_everywhere(d->handle);
    if (p->me == looks)
        spmd_look(p, d);
}

static void migrate(struct program *p, struct datum *d)
{
    d->owner = (int)spmd_pick(p, (unsigned)p->size);
    spmd_migrate(d->handle, d->owner);
}

static void call_move(struct program *p)
{
    struct datum *d = spmd_pick_datum(p, 0, NDATA);

    switch (spmd_pick(p, 6)) {
    case 0:
    case 1:
        migrate(p, d);
        break;
    case 2:
        get(p, d);
        break;
    case 3:
        get_everywhere(p, d);
        break;
    case 4:
        spmd_flush(d->handle);
        break;
    default:
        spmd_flush_all();
    }
}

/* Several data come to one rank, which changes them, and go back to their owners. */
static void call_collect(struct program *p)
{
    unsigned first = spmd_pick(p, NDATA), n = 1 + spmd_pick(p, 4);
    int root = (int)spmd_pick(p, (unsigned)p->size);
    uint64_t salt = ++p->salt;
    starpu_data_handle_t handles[4];
    bool any = false;

    for (unsigned i = 0; i < n; i++) {
        struct datum *d = &p->data[(first + i) % NDATA];

        handles[i] = spmd_pick(p, 4) ? d->handle : NULL;
        if (!handles[i])
            continue;
        any |= d->owner != root && (p->me == root || p->me == d->owner);
        d->expected[0][0] += salt;
    }
    spmd_gather(handles, (int)n, root, &p->done);
    for (unsigned i = 0; i < n && p->me == root; i++)
        if (handles[i] && starpu_task_insert(&spmd_shift, STARPU_RW, handles[i],
                                             STARPU_VALUE, &salt, sizeof(salt), 0))
            abort();
    spmd_scatter(handles, (int)n, root, &p->done);
    for (unsigned i = 0; i < n; i++) /* what the root owns does not go anywhere */
        if (p->data[(first + i) % NDATA].owner == root)
            spmd_flush(p->data[(first + i) % NDATA].handle);
    p->ndone += any ? 2 : 0;
}

/* --- one value to all ranks --- */

void spmd_write(struct program *p, struct datum *d)
{
    uint32_t mode = STARPU_RW;
    struct starpu_data_descr descr = {d->handle, mode};
    struct spmd_insert insert = {.cl = &spmd_task, .data = &descr, .n = 1,
                                 .salt = ++p->salt, .on_node = d->owner >= 0 ? d->owner : -1};

    spmd_must_insert(&insert, 0);
    for (int r = 0; r < (d->owner == SPMD_EVERY_RANK ? p->size : 1); r++)
        spmd_expect_task(&d, &mode, 1, insert.salt, r);
}

static void read_on(struct program *p, struct datum *read, const struct datum *whole,
                    int node)
{
    static const uint32_t modes[] = {STARPU_R, STARPU_RW};
    struct datum *d[] = {read, spmd_pick_other(p, whole)};
    struct starpu_data_descr descrs[] = {{read->handle, modes[0]}, {d[1]->handle, modes[1]}};
    struct spmd_insert insert = {.cl = &spmd_task, .data = descrs, .n = 2,
                                 .salt = ++p->salt, .on_node = node,
                                 .priority = (int)spmd_pick(p, 3)};

    spmd_must_insert(&insert, 0);
    spmd_expect_task(d, modes, 2, insert.salt, node);
}

void spmd_read(struct program *p, struct datum *d, const struct datum *whole)
{
    read_on(p, d, whole, (int)spmd_pick(p, (unsigned)p->size));
}

/* Written by its owner, then read on all ranks. */
static void call_read_by_all(struct program *p)
{
    struct datum *d = spmd_pick_datum(p, 0, NDATA);
    int first = (int)spmd_pick(p, (unsigned)p->size);

    if (spmd_pick(p, 3) == 0 && d->owner == p->me)
        spmd_expect(d->handle, 1 + p->me);
    spmd_write(p, d);
    for (int i = 0; i < p->size; i++)
        read_on(p, d, d, (first + i) % p->size);
}

/* The root's sends of a datum to all other ranks … */
static void send_to_all(struct program *p, struct datum *from, int root, int64_t tag)
{
    int first = (int)spmd_pick(p, (unsigned)p->size);
    int hint = (int)spmd_pick(p, 2 * MOST_RANKS);
    struct spmd_message m = {.handle = from->handle, .tag = tag,
                             .priority = (int)spmd_pick(p, 3)};

    if (p->me != root)
        return;
    if (hint < MOST_RANKS)
        spmd_expect(from->handle, hint);
    for (int i = 0; i < p->size; i++) {
        m.peer = (first + i) % p->size;
        if (m.peer != root)
            (void)spmd_send(&m);
    }
}

/* … and what each has then, in a datum of which each rank has its own. */
static void receive_from(struct program *p, struct datum *to, const uint64_t *value,
                         int root, int64_t tag, bool waits)
{
    uint64_t copy[2] = {value[0], value[1]};
    struct spmd_message m = {.handle = to->handle, .peer = root, .tag = tag,
                             .end = waits ? SPMD_WAITED : SPMD_DETACHED};

    if (p->me != root)
        (void)spmd_receive(&m);
    for (int r = 0; r < p->size; r++)
        if (r != root)
            memcpy(to->expected[r], copy, sizeof(copy));
}

/* One that the root has, of the size of another one. */
static struct datum *pick_source(struct program *p, const struct datum *to, int *root)
{
    struct datum *from;

    do {
        from = spmd_pick_datum(p, 0, NDATA + NEACH);
    } while (from->n != to->n || from->shape == SPMD_SPARSE);
    *root = from->owner >= 0 ? from->owner : (int)spmd_pick(p, (unsigned)p->size);
    if (from->owner >= 0)
        spmd_reduce(from->handle, 0);
    return from;
}

static void call_broadcast(struct program *p)
{
    struct datum *to = spmd_pick_datum(p, NDATA, NEACH), *from;
    int64_t tag = p->tag + (int64_t)spmd_pick(p, NTAGS);
    unsigned nlinks = 1 + spmd_pick(p, 3);
    int root;

    from = pick_source(p, to, &root);
    /* A chain: who has got it changes it and sends it on. */
    for (unsigned i = 0; i < nlinks; i++) {
        spmd_write(p, from);
        send_to_all(p, from, root, tag);
        receive_from(p, to, spmd_expected(from, root), root, tag, false);
        from = to;
        root = (int)spmd_pick(p, (unsigned)p->size);
    }
}

/* Two, of which the second is waited for before the first is asked for. */
static void call_broadcast_late(struct program *p)
{
    struct datum *to[2] = {spmd_pick_datum(p, NDATA, NEACH), NULL}, *from[2];
    bool waits = spmd_pick(p, 2);
    uint64_t value[2][2];
    int root;

    do {
        to[1] = spmd_pick_datum(p, NDATA, NEACH);
    } while (to[1] == to[0]);
    from[0] = pick_source(p, to[0], &root);
    from[1] = to[1]; /* the root's own */
    spmd_write(p, from[0]);
    for (int64_t i = 0; i < 2; i++) {
        memcpy(value[i], spmd_expected(from[i], root), sizeof(value[i]));
        send_to_all(p, from[i], root, p->tag + i);
    }
    receive_from(p, to[1], value[1], root, p->tag + 1, waits);
    receive_from(p, to[0], value[0], root, p->tag, false);
}

/* --- the rank --- */

/* The cache is that of all communicators, and on or off on all ranks. */
static void call_cache(struct program *p)
{
    if (p->is_everywhere)
        spmd_cache(spmd_pick(p, 2));
}

static void call_cooperate(struct program *p)
{
    spmd_cooperate(spmd_pick(p, 3));
}

static void call_barrier(struct program *p)
{
    (void)p;
    spmd_barrier();
}

static void call_wait_all(struct program *p)
{
    spmd_wait_all();
    if (atomic_load(&p->done) != p->ndone)
        abort();
}

const struct spmd_call spmd_calls[] = {
    {60, spmd_call_insert}, {6, call_insert_each},   {5, call_insert_private},
    {6, call_reduce},       {4, call_commute},       {9, call_message},
    {4, spmd_call_finish},  {3, call_copy},          {9, call_move},
    {3, call_collect},      {2, call_cache},         {2, call_barrier},
    {2, call_wait_all},     {4, call_read_by_all},   {4, call_broadcast},
    {3, call_broadcast_late}, {1, call_cooperate},   {0, NULL},
};
