/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/mpi/spmd.c - see spmd.h: a program from its beginning to its end. */
#include "tests/mpi/spmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/splitmix.h"
#include "tests/mpi/spmd_program.h"

/* --- what the seed gives --- */

unsigned spmd_pick(struct program *p, unsigned n)
{
    return (unsigned)(orr_splitmix(&p->random) % n);
}

struct datum *spmd_pick_datum(struct program *p, unsigned first, unsigned n)
{
    return &p->data[first + spmd_pick(p, n)];
}

struct datum *spmd_pick_other(struct program *p, const struct datum *not_this)
{
    struct datum *d;

    do {
        d = spmd_pick_datum(p, 0, NDATA);
    } while (d == not_this);
    return d;
}

struct datum *spmd_pick_alike(struct program *p, const struct datum *like)
{
    struct datum *d;

    do {
        d = spmd_pick_other(p, like);
    } while (d->n != like->n || d->shape != like->shape);
    return d;
}

static unsigned weight_of(const struct spmd_call *calls)
{
    unsigned sum = 0;

    for (; calls->make; calls++)
        sum += calls->weight;
    return sum;
}

static void make_call(struct program *p)
{
    const struct spmd_call *call = spmd_calls;
    unsigned which = spmd_pick(p, weight_of(spmd_calls) + weight_of(spmd_lives));

    while (which >= call->weight) {
        which -= call->weight;
        call++;
        if (!call->make)
            call = spmd_lives;
    }
    call->make(p);
}

/* --- data --- */

/* Two of each length and shape are data of owners. */
static void shape_datum(const struct program *p, unsigned i, struct datum *ret)
{
    const unsigned lengths[] = {1, 30, p->most_elements, p->most_elements / 2, 30};
    const enum spmd_shape shapes[] = {SPMD_VECTOR, SPMD_VECTOR, SPMD_VECTOR, SPMD_SPARSE,
                                      SPMD_MATRIX};

    ret->n = lengths[i % 5];
    ret->shape = shapes[i % 5];
}

static void make_datum(struct program *p, unsigned i)
{
    struct datum *d = &p->data[i];
    bool each = i >= NDATA && i < NDATA + NEACH, known = true, has_memory;

    shape_datum(p, i, d);
    d->owner = d->first_owner = each ? SPMD_EVERY_RANK
                                     : (int)spmd_pick(p, (unsigned)p->size);
    if (i >= NDATA + NEACH) {
        d->partner = (int)spmd_pick(p, (unsigned)p->size);
        known = p->me == d->owner || p->me == d->partner;
    }
    for (int r = 0; r < p->size; r++) {
        d->expected[r][0] = i * 1000 + (each ? (uint64_t)r * 7 : 0);
        d->expected[r][1] = i + 1;
    }
    if (known) {
        has_memory = each || d->owner == p->me;
        spmd_register_shape(d, has_memory);
        if (has_memory)
            spmd_fill(d, spmd_expected(d, p->me));
        spmd_register(d->handle, p->next_tag, d->owner);
    }
    p->next_tag++;
}

void spmd_look(struct program *p, struct datum *d)
{
    uint64_t *expected = spmd_expected(d, p->me);

    if (starpu_data_acquire(d->handle, STARPU_R))
        abort();
    if (!spmd_is_filled(d, expected)) {
        fprintf(stderr, "rank %d: datum %td is not %llu, %llu more each\n", p->me,
                d - p->data, (unsigned long long)expected[0],
                (unsigned long long)expected[1]);
        p->wrong++;
    }
    starpu_data_release(d->handle);
}

/* --- the program --- */

static void begin(struct program *p)
{
    static const int64_t tags[] = {0, INT64_C(1) << 40, INT64_MAX - 10000};

    p->tag = tags[spmd_pick(p, 3)];
    p->next_tag = p->tag + 100;
    for (unsigned i = 0; i < NALL; i++)
        make_datum(p, i);
    starpu_vector_data_register(&p->scratch, -1, 0, 50, sizeof(uint64_t));
}

static void end(struct program *p)
{
    /* The first owner's memory is the application's: back to it. */
    for (unsigned i = 0; i < NALL; i++)
        if (p->data[i].owner >= 0 && p->data[i].owner != p->data[i].first_owner)
            spmd_migrate(p->data[i].handle, p->data[i].first_owner);
    spmd_wait_all();
    for (unsigned i = 0; i < NALL; i++) {
        if (p->data[i].handle)
            starpu_data_unregister(p->data[i].handle);
        free(p->data[i].values);
        free(p->data[i].columns);
        free(p->data[i].rows);
    }
    starpu_data_unregister(p->scratch);
}

/* Most programs have all ranks in their usual order. */
static enum spmd_comm pick_comm(uint64_t *random)
{
    uint64_t which = orr_splitmix(random) % (2 * SPMD_COMMS);

    return which < SPMD_COMMS ? (enum spmd_comm)which : SPMD_WORLD;
}

int spmd_run(uint64_t seed, int ncalls, unsigned most_elements)
{
    struct program p = {.random = seed, .most_elements = most_elements};
    enum spmd_comm comm = pick_comm(&p.random);

    spmd_use(SPMD_WORLD);
    /* Each half has a program of its own. */
    if (comm == SPMD_HALVES)
        p.random += (uint64_t)spmd_rank() % 2;
    spmd_use(comm);
    p.may_plan = most_elements < SPMD_LARGE;
    p.is_everywhere = comm != SPMD_HALVES;
    p.me = spmd_rank();
    p.size = spmd_size();
    begin(&p);
    for (int i = 0; i < ncalls; i++)
        make_call(&p);
    spmd_finish_all(&p);
    spmd_wait_all();
    if (atomic_load(&p.done) != p.ndone) {
        fprintf(stderr, "rank %d: %d messages have told of their ends, not %d\n", p.me,
                atomic_load(&p.done), p.ndone);
        p.wrong++;
    }
    for (unsigned i = 0; i < NALL; i++) {
        struct datum *d = &p.data[i];

        if (d->handle && (d->owner == SPMD_EVERY_RANK || d->owner == p.me))
            spmd_look(&p, d);
    }
    end(&p);
    return p.wrong;
}
