/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/spmd.c - see spmd.h. */
#include "tests/mpi/spmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"

enum {
    NDATA = 10,    /* each with an owner, known to all ranks */
    NEACH = 3,     /* each rank has its own */
    NPRIVATE = 3,  /* two ranks know them, the others pass NULL */
    NALL = NDATA + NEACH + NPRIVATE,
    MOST_RANKS = 8,
    MOST_DATA = 3, /* of a task */
    FIRST_TAG = 100,
    NTAGS = 3 /* of explicit messages, so few that they meet */
};

struct datum {
    starpu_data_handle_t handle; /* NULL: this rank does not know it */
    uint64_t *values;            /* the application's memory, of the first owner */
    unsigned n;
    int first_owner, owner;
    int partner;                 /* of those that two ranks know */
    bool has_value;              /* for all: the sequential program's */
    uint64_t expected[MOST_RANKS][2]; /* by rank, of those that each has: what the value is
                                       * made of … */
};

struct program {
    int me, size;
    uint64_t random;
    unsigned most_elements;
    struct datum data[NALL];
    uint64_t salt;
};

static unsigned pick(struct program *p, unsigned n)
{
    return (unsigned)(orr_splitmix(&p->random) % n);
}

/* --- kernels --- */

static uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t seed = a * 31 + b;

    return orr_splitmix(&seed);
}

/* All elements follow from two numbers: a datum is base + i * step. */
static void fill(uint64_t *values, unsigned n, uint64_t base, uint64_t step)
{
    for (unsigned i = 0; i < n; i++)
        values[i] = base + i * step;
}

static bool is_filled(const uint64_t *values, unsigned n, uint64_t base, uint64_t step)
{
    for (unsigned i = 0; i < n; i++)
        if (values[i] != base + i * step)
            return false;
    return true;
}

static void kernel(void *buffers[], void *arg)
{
    const struct starpu_task *task = starpu_task_get_current();
    unsigned n = STARPU_TASK_GET_NBUFFERS(task);
    uint64_t salt, h;

    starpu_codelet_unpack_args(arg, &salt);
    h = salt;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[i]);
        unsigned m = (unsigned)STARPU_VECTOR_GET_NX(buffers[i]);

        if (STARPU_TASK_GET_MODE(task, i) & STARPU_R)
            h = mixed(mixed(h, v[0]), v[m - 1]);
    }
    for (unsigned i = 0; i < n; i++) {
        unsigned m = (unsigned)STARPU_VECTOR_GET_NX(buffers[i]);

        if (STARPU_TASK_GET_MODE(task, i) & STARPU_W)
            fill((uint64_t *)STARPU_VECTOR_GET_PTR(buffers[i]), m, mixed(h, i),
                 mixed(h, i + 100));
    }
}

static void contribute(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    uint64_t salt;

    starpu_codelet_unpack_args(arg, &salt);
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        v[i] += salt + i;
}

static void set_zero(void *buffers[], void *arg)
{
    (void)arg;
    memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0,
           STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(uint64_t));
}

static void add(void *buffers[], void *arg)
{
    uint64_t *to = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const uint64_t *from = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] += from[i];
}

static struct starpu_codelet cl_task = {.cpu_funcs = {kernel},
                                        .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                        .name = "task"};
static struct starpu_codelet cl_redux = {.cpu_funcs = {contribute},
                                         .nbuffers = 1,
                                         .modes = {STARPU_REDUX},
                                         .name = "contribute"};
static struct starpu_codelet cl_mpi_redux = {.cpu_funcs = {contribute},
                                             .nbuffers = 1,
                                             .modes = {STARPU_RW | STARPU_COMMUTE},
                                             .name = "contribute"};
static struct starpu_codelet cl_zero = {.cpu_funcs = {set_zero},
                                        .nbuffers = 1,
                                        .modes = {STARPU_W},
                                        .name = "zero"};
static struct starpu_codelet cl_add = {.cpu_funcs = {add},
                                       .nbuffers = 2,
                                       .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
                                       .name = "add"};

/* --- calls --- */

static struct datum *pick_valued(struct program *p, unsigned first, unsigned n)
{
    return &p->data[first + pick(p, n)];
}

static uint64_t *expected_of(struct datum *d, int rank)
{
    return d->expected[d->owner == SPMD_EVERY_RANK ? rank : 0];
}

static uint64_t last_of(const struct datum *d, const uint64_t *expected)
{
    return expected[0] + (d->n - 1) * expected[1];
}

/* What the kernel computes, on a rank. */
static void expect_task(struct datum **d, const uint32_t *modes, unsigned n, uint64_t salt,
                        int rank)
{
    uint64_t h = salt;

    for (unsigned i = 0; i < n; i++) {
        const uint64_t *e = expected_of(d[i], rank);

        if (modes[i] & STARPU_R)
            h = mixed(mixed(h, e[0]), last_of(d[i], e));
    }
    for (unsigned i = 0; i < n; i++)
        if (modes[i] & STARPU_W) {
            uint64_t *e = expected_of(d[i], rank);

            e[0] = mixed(h, i);
            e[1] = mixed(h, i + 100);
        }
}

/* Data of owners, and such as each rank has, which are read then. */
static void call_insert(struct program *p)
{
    static const uint32_t modes[] = {STARPU_R, STARPU_R, STARPU_RW, STARPU_RW, STARPU_W,
                                     STARPU_R | STARPU_SSEND};
    struct starpu_data_descr descrs[MOST_DATA];
    struct datum *d[MOST_DATA];
    uint32_t plain[MOST_DATA];
    unsigned n = 1 + pick(p, MOST_DATA), how = pick(p, 6);
    struct spmd_insert insert = {.cl = &cl_task, .data = descrs, .n = (int)n,
                                 .salt = ++p->salt, .on_node = -1,
                                 .priority = (int)pick(p, 5) - 2};
    int executor = -1;
    bool differ = false;

    for (unsigned i = 0; i < n; i++) {
        bool each = pick(p, 6) == 0;

        do {
            d[i] = each ? pick_valued(p, NDATA, NEACH) : pick_valued(p, 0, NDATA);
        } while ((i > 0 && d[i] == d[0]) || (i > 1 && d[i] == d[1]));
        descrs[i].mode = each ? STARPU_R : modes[pick(p, 6)];
        descrs[i].handle = d[i]->handle;
        plain[i] = descrs[i].mode & STARPU_RW;
        if (plain[i] & STARPU_W) {
            differ |= executor >= 0 && executor != d[i]->owner;
            executor = d[i]->owner;
        }
    }
    if (how == 0) {
        insert.on_node = executor = (int)pick(p, (unsigned)p->size);
    } else if (how == 1) {
        struct datum *on = pick_valued(p, 0, NDATA);

        insert.on_data = on->handle;
        executor = on->owner;
    } else if (executor < 0 || differ) {
        /* What each rank has makes the choice of the policy matter. */
        insert.on_node = executor = d[0]->owner >= 0 ? d[0]->owner : 0;
    }
    if (spmd_insert(&insert))
        abort();
    expect_task(d, plain, n, insert.salt, executor);
}

/* Each rank writes its own. */
static void call_insert_each(struct program *p)
{
    struct datum *d = pick_valued(p, NDATA, NEACH);
    uint32_t mode = pick(p, 2) ? STARPU_RW : STARPU_W;
    struct starpu_data_descr descr = {d->handle, mode};
    struct spmd_insert insert = {.cl = &cl_task, .data = &descr, .n = 1,
                                 .salt = ++p->salt, .on_node = -1};

    if (spmd_insert(&insert))
        abort();
    for (int r = 0; r < p->size; r++)
        expect_task(&d, &mode, 1, insert.salt, r);
}

/* Only two ranks know the datum. */
static void call_insert_private(struct program *p)
{
    struct datum *d = pick_valued(p, NDATA + NEACH, NPRIVATE);
    uint32_t mode = STARPU_RW;
    struct starpu_data_descr descr = {d->handle, mode};
    struct spmd_insert insert = {.cl = &cl_task, .data = &descr, .n = 1,
                                 .salt = ++p->salt,
                                 .on_node = pick(p, 2) ? d->owner : d->partner};

    if (spmd_insert(&insert) != (d->handle ? 0 : -EINVAL))
        abort();
    expect_task(&d, &mode, 1, insert.salt, 0);
}

static void call_reduce(struct program *p)
{
    struct datum *d = pick_valued(p, 0, NDATA);
    bool by_rank = pick(p, 2);
    struct starpu_data_descr descr = {d->handle,
                                      by_rank ? STARPU_MPI_REDUX : STARPU_REDUX};
    unsigned n = 1 + pick(p, 6);

    for (unsigned i = 0; i < n; i++) {
        struct spmd_insert insert = {.cl = by_rank ? &cl_mpi_redux : &cl_redux,
                                     .data = &descr, .n = 1,
                                     .salt = ++p->salt,
                                     .on_node = (int)pick(p, (unsigned)p->size)};

        if (spmd_insert(&insert))
            abort();
        d->expected[0][0] += insert.salt;
        d->expected[0][1] += 1;
    }
    /* Else the next task that uses it, or the end, does this. */
    if (pick(p, 2))
        spmd_reduce(d->handle, (int)pick(p, 4));
}

static void call_message(struct program *p)
{
    struct datum *from = pick_valued(p, 0, NDATA), *to;
    int64_t tag = (int64_t)pick(p, NTAGS);
    bool waits = pick(p, 4) == 0, synchronous = pick(p, 3) == 0;
    int priority = (int)pick(p, 5) - 2;

    do {
        to = pick_valued(p, 0, NDATA);
    } while (to == from || to->n != from->n);
    spmd_reduce(from->handle, 0);
    spmd_reduce(to->handle, 0);
    if (from->owner == to->owner) {
        spmd_copy(to->handle, from->handle, waits);
    } else {
        if (from->owner == p->me)
            spmd_send(from->handle, to->owner, tag, priority, synchronous, waits);
        if (to->owner == p->me)
            spmd_receive(to->handle, from->owner, tag, waits);
        spmd_flush(to->handle);
    }
    memcpy(to->expected[0], from->expected[0], sizeof(to->expected[0]));
}

static void call_copy(struct program *p)
{
    struct datum *from = pick_valued(p, 0, NDATA), *to;

    do {
        to = pick_valued(p, 0, NDATA);
    } while (to == from || to->n != from->n);
    spmd_reduce(from->handle, 0);
    spmd_reduce(to->handle, 0);
    spmd_copy(to->handle, from->handle, pick(p, 4) == 0);
    memcpy(to->expected[0], from->expected[0], sizeof(to->expected[0]));
}

static void call_move(struct program *p)
{
    struct datum *d = pick_valued(p, 0, NDATA);
    int to = (int)pick(p, (unsigned)p->size);

    spmd_reduce(d->handle, 0);
    switch (pick(p, 5)) {
    case 0:
    case 1:
        spmd_migrate(d->handle, to);
        d->owner = to;
        break;
    case 2:
        spmd_get(d->handle, to, pick(p, 2));
        break;
    case 3:
        spmd_flush(d->handle);
        break;
    case 4:
        spmd_flush_all();
    }
}

/* --- one value to all ranks --- */

static void write_datum(struct program *p, struct datum *d)
{
    uint32_t mode = STARPU_RW;
    struct starpu_data_descr descr = {d->handle, mode};
    struct spmd_insert insert = {.cl = &cl_task, .data = &descr, .n = 1,
                                 .salt = ++p->salt, .on_node = d->owner >= 0 ? d->owner : -1};

    if (spmd_insert(&insert))
        abort();
    for (int r = 0; r < (d->owner == SPMD_EVERY_RANK ? p->size : 1); r++)
        expect_task(&d, &mode, 1, insert.salt, r);
}

/* Written by its owner, then read on all ranks. */
static void call_read_by_all(struct program *p)
{
    static const uint32_t modes[] = {STARPU_R, STARPU_RW};
    struct datum *d[2] = {pick_valued(p, 0, NDATA), NULL};
    int first = (int)pick(p, (unsigned)p->size);

    if (pick(p, 3) == 0 && d[0]->owner == p->me)
        spmd_expect(d[0]->handle, 1 + p->me);
    write_datum(p, d[0]);
    for (int i = 0; i < p->size; i++) {
        struct starpu_data_descr descrs[2];
        struct spmd_insert insert = {.cl = &cl_task, .data = descrs, .n = 2,
                                     .salt = ++p->salt,
                                     .on_node = (first + i) % p->size,
                                     .priority = (int)pick(p, 3)};

        do {
            d[1] = pick_valued(p, 0, NDATA);
        } while (d[1] == d[0]);
        descrs[0] = (struct starpu_data_descr){d[0]->handle, modes[0]};
        descrs[1] = (struct starpu_data_descr){d[1]->handle, modes[1]};
        if (spmd_insert(&insert))
            abort();
        expect_task(d, modes, 2, insert.salt, insert.on_node);
    }
}

/* The root's sends of a datum to all other ranks … */
static void send_to_all(struct program *p, struct datum *from, int root, int64_t tag)
{
    int first = (int)pick(p, (unsigned)p->size), hint = (int)pick(p, 2 * MOST_RANKS);
    int priority = (int)pick(p, 3);

    if (p->me != root)
        return;
    if (hint < MOST_RANKS)
        spmd_expect(from->handle, hint);
    for (int i = 0; i < p->size; i++)
        if ((first + i) % p->size != root)
            spmd_send(from->handle, (first + i) % p->size, tag, priority, false, false);
}

/* … and what each has then, in a datum of which each rank has its own. */
static void receive_from(struct program *p, struct datum *to, const uint64_t *value,
                         int root, int64_t tag, bool waits)
{
    uint64_t copy[2] = {value[0], value[1]};

    if (p->me != root)
        spmd_receive(to->handle, root, tag, waits);
    for (int r = 0; r < p->size; r++)
        if (r != root)
            memcpy(to->expected[r], copy, sizeof(copy));
}

/* One that the root has, of the size of another one. */
static struct datum *pick_source(struct program *p, const struct datum *to, int *root)
{
    struct datum *from = pick_valued(p, 0, NDATA + NEACH);

    while (from->n != to->n)
        from = pick_valued(p, 0, NDATA + NEACH);
    *root = from->owner >= 0 ? from->owner : (int)pick(p, (unsigned)p->size);
    if (from->owner >= 0)
        spmd_reduce(from->handle, 0);
    return from;
}

static void call_broadcast(struct program *p)
{
    struct datum *to = pick_valued(p, NDATA, NEACH), *from;
    int64_t tag = (int64_t)pick(p, NTAGS);
    unsigned nlinks = 1 + pick(p, 3);
    int root;

    from = pick_source(p, to, &root);
    /* A chain: who has got it changes it and sends it on. */
    for (unsigned i = 0; i < nlinks; i++) {
        write_datum(p, from);
        send_to_all(p, from, root, tag);
        receive_from(p, to, expected_of(from, root), root, tag, false);
        from = to;
        root = (int)pick(p, (unsigned)p->size);
    }
}

/* Two, of which the second is waited for before the first is asked for. */
static void call_broadcast_late(struct program *p)
{
    struct datum *to[2] = {pick_valued(p, NDATA, NEACH), NULL}, *from[2];
    bool waits = pick(p, 2);
    uint64_t value[2][2];
    int root;

    do {
        to[1] = pick_valued(p, NDATA, NEACH);
    } while (to[1] == to[0]);
    from[0] = pick_source(p, to[0], &root);
    from[1] = to[1]; /* the root's own */
    write_datum(p, from[0]);
    for (int64_t i = 0; i < 2; i++) {
        memcpy(value[i], expected_of(from[i], root), sizeof(value[i]));
        send_to_all(p, from[i], root, i);
    }
    receive_from(p, to[1], value[1], root, 1, waits);
    receive_from(p, to[0], value[0], root, 0, false);
}

static void make_call(struct program *p)
{
    unsigned what = pick(p, 112);

    if (what < 60)
        call_insert(p);
    else if (what < 66)
        call_insert_each(p);
    else if (what < 71)
        call_insert_private(p);
    else if (what < 77)
        call_reduce(p);
    else if (what < 84)
        call_message(p);
    else if (what < 87)
        call_copy(p);
    else if (what < 96)
        call_move(p);
    else if (what < 97)
        spmd_cache(pick(p, 2));
    else if (what < 98)
        spmd_barrier();
    else if (what < 100)
        spmd_wait_all();
    else if (what < 104)
        call_read_by_all(p);
    else if (what < 108)
        call_broadcast(p);
    else if (what < 111)
        call_broadcast_late(p);
    else
        spmd_cooperate(pick(p, 3));
}

/* --- data --- */

static void make_datum(struct program *p, unsigned i)
{
    const unsigned lengths[] = {1, 30, p->most_elements, p->most_elements, 30};
    struct datum *d = &p->data[i];
    bool each = i >= NDATA && i < NDATA + NEACH, known = true;

    d->n = lengths[i % 5];
    d->owner = d->first_owner = each ? SPMD_EVERY_RANK : (int)pick(p, (unsigned)p->size);
    if (i >= NDATA + NEACH) {
        d->partner = (int)pick(p, (unsigned)p->size);
        known = p->me == d->owner || p->me == d->partner;
    }
    for (int r = 0; r < p->size; r++) {
        d->expected[r][0] = i * 1000 + (each ? (uint64_t)r * 7 : 0);
        d->expected[r][1] = i + 1;
    }
    if (!known)
        return;
    if (each || d->owner == p->me) {
        d->values = malloc(d->n * sizeof(*d->values));
        fill(d->values, d->n, d->expected[each ? p->me : 0][0], i + 1);
        starpu_vector_data_register(&d->handle, STARPU_MAIN_RAM, (uintptr_t)d->values,
                                    d->n, sizeof(*d->values));
    } else {
        starpu_vector_data_register(&d->handle, -1, 0, d->n, sizeof(*d->values));
    }
    starpu_data_set_reduction_methods(d->handle, &cl_add, &cl_zero);
    spmd_register(d->handle, FIRST_TAG + i, d->owner);
}

static int check_datum(struct program *p, unsigned i)
{
    struct datum *d = &p->data[i];
    const uint64_t *expected, *values;
    int wrong;

    if (!d->handle || (d->owner != SPMD_EVERY_RANK && d->owner != p->me))
        return 0;
    starpu_data_acquire(d->handle, STARPU_R);
    expected = expected_of(d, p->me);
    values = starpu_data_get_local_ptr(d->handle);
    wrong = !is_filled(values, d->n, expected[0], expected[1]);
    if (wrong)
        fprintf(stderr, "rank %d: datum %u: %llu, and is to be %llu\n", p->me, i,
                (unsigned long long)values[0], (unsigned long long)expected[0]);
    starpu_data_release(d->handle);
    return wrong;
}

int spmd_run(uint64_t seed, int ncalls, unsigned most_elements)
{
    struct program p = {.me = spmd_rank(), .size = spmd_size(), .random = seed,
                        .most_elements = most_elements};
    int wrong = 0;

    for (unsigned i = 0; i < NALL; i++)
        make_datum(&p, i);
    for (int i = 0; i < ncalls; i++)
        make_call(&p);
    spmd_wait_all();
    for (unsigned i = 0; i < NALL; i++)
        wrong += check_datum(&p, i);
    /* The first owner's memory is the application's: back to it. */
    for (unsigned i = 0; i < NALL; i++)
        if (p.data[i].owner >= 0 && p.data[i].owner != p.data[i].first_owner)
            spmd_migrate(p.data[i].handle, p.data[i].first_owner);
    spmd_wait_all();
    for (unsigned i = 0; i < NALL; i++) {
        if (p.data[i].handle)
            starpu_data_unregister(p.data[i].handle);
        free(p.data[i].values);
    }
    return wrong;
}
