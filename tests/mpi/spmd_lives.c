/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/mpi/spmd_lives.c - see spmd_program.h: data that come and go, are cut in parts, lose
 * their values, are changed by the application itself; workers that rest.
 */
#include <stdlib.h>

#include "tests/mpi/spmd_program.h"

enum { MOST_PARTS = 5 };

/* --- data of a few tasks --- */

static void write_on(struct program *p, struct datum *d, int node, uint32_t mode)
{
    struct starpu_data_descr descr = {d->handle, mode};
    struct spmd_insert insert = {.cl = &spmd_task, .data = &descr, .n = 1,
                                 .salt = ++p->salt, .on_node = node,
                                 .in_halves = spmd_pick(p, 5) == 0};

    spmd_must_insert(&insert, 0);
    spmd_expect_task(&d, &mode, 1, insert.salt, node);
}

/* Each rank gets a value of its own: the one there is. */
static void give_to_each(struct program *p, struct datum *d)
{
    spmd_get_everywhere(d->handle);
    spmd_register(d->handle, -1, SPMD_EVERY_RANK);
    d->owner = SPMD_EVERY_RANK;
    for (int r = 1; r < p->size; r++) {
        d->expected[r][0] = d->expected[0][0];
        d->expected[r][1] = d->expected[0][1];
    }
    if (spmd_pick(p, 2))
        spmd_write(p, d);
}

static void call_temporary(struct program *p)
{
    struct datum d = {.shape = (enum spmd_shape)spmd_pick(p, SPMD_SHAPES), .n = 30,
                      .owner = (int)spmd_pick(p, (unsigned)p->size)};
    unsigned nreads = spmd_pick(p, 4);

    spmd_register_shape(&d, false);
    spmd_register(d.handle, p->next_tag++, d.owner);
    write_on(p, &d, (int)spmd_pick(p, (unsigned)p->size), STARPU_W);
    if (spmd_pick(p, 4) == 0)
        give_to_each(p, &d);
    for (unsigned i = 0; i < nreads; i++)
        spmd_read(p, &d, NULL);
    starpu_data_unregister_submit(d.handle);
}

/* --- parts --- */

/* Each part is changed on some rank, and comes back. */
static void shift_parts(struct program *p, struct datum *d, const struct datum *parts,
                        unsigned n)
{
    uint64_t salt = ++p->salt;

    for (unsigned i = 0; i < n; i++) {
        struct starpu_data_descr descr = {parts[i].handle, STARPU_RW};
        struct spmd_insert insert = {.cl = &spmd_shift, .data = &descr, .n = 1,
                                     .salt = salt,
                                     .on_node = (int)spmd_pick(p, (unsigned)p->size)};

        spmd_must_insert(&insert, 0);
    }
    d->expected[0][0] += salt;
}

static void read_part(struct program *p, const struct datum *d, struct datum *part,
                      unsigned i)
{
    part->expected[0][0] = d->expected[0][0] + (uint64_t)i * part->n * d->expected[0][1];
    part->expected[0][1] = d->expected[0][1];
    spmd_read(p, part, d);
}

static void use_parts(struct program *p, struct datum *d, struct datum *parts, unsigned n)
{
    unsigned nuses = 1 + spmd_pick(p, 3);

    for (unsigned i = 0; i < nuses; i++)
        if (spmd_pick(p, 2)) {
            shift_parts(p, d, parts, n);
        } else {
            unsigned k = spmd_pick(p, n);

            read_part(p, d, &parts[k], k);
        }
}

/* A datum of an owner is cut in parts, which the others know by their tags. */
static void call_parts(struct program *p)
{
    unsigned n = spmd_pick(p, 2) ? 2 : MOST_PARTS;
    struct starpu_data_filter filter = {.filter_func = starpu_vector_filter_block,
                                        .nchildren = n};
    starpu_data_handle_t handles[MOST_PARTS];
    struct datum *d, parts[MOST_PARTS];
    bool switches = spmd_pick(p, 2);

    if (!p->may_plan)
        return;
    do {
        d = spmd_pick_datum(p, 0, NDATA);
    } while (d->shape != SPMD_VECTOR || d->n < MOST_PARTS);
    spmd_reduce(d->handle, 0);
    spmd_flush(d->handle);
    starpu_data_partition_plan(d->handle, &filter, handles);
    for (unsigned i = 0; i < n; i++) {
        parts[i] = (struct datum){.handle = handles[i], .n = d->n / n, .owner = d->owner};
        spmd_register(handles[i], p->next_tag++, d->owner);
    }
    if (switches && p->me == d->owner)
        starpu_data_partition_submit(d->handle, n, handles);
    use_parts(p, d, parts, n);
    for (unsigned i = 0; i < n; i++)
        spmd_flush(handles[i]);
    if (switches && p->me == d->owner)
        starpu_data_unpartition_submit(d->handle, n, handles,
                                       d->values ? STARPU_MAIN_RAM : -1);
    starpu_data_partition_clean(d->handle, n, handles);
}

/* --- values --- */

/* The value goes, and the next task writes another one. */
static void call_invalidate(struct program *p)
{
    struct datum *d = spmd_pick_datum(p, 0, NDATA);

    spmd_reduce(d->handle, 0);
    spmd_flush(d->handle);
    if (p->me == d->owner)
        starpu_data_invalidate_submit(d->handle);
    write_on(p, d, (int)spmd_pick(p, (unsigned)p->size), STARPU_W);
}

/* The owner's application writes it. */
static void call_change(struct program *p)
{
    struct datum *d = spmd_pick_datum(p, 0, NDATA);

    spmd_reduce(d->handle, 0);
    d->expected[0][0] = ++p->salt;
    d->expected[0][1] = 5;
    if (p->me == d->owner) {
        if (starpu_data_acquire(d->handle, STARPU_W))
            abort();
        spmd_fill(d, d->expected[0]);
        starpu_data_release(d->handle);
    }
    spmd_flush(d->handle);
}

static void call_look(struct program *p)
{
    struct datum *d = spmd_pick_datum(p, 0, NDATA);

    spmd_reduce(d->handle, 0);
    if (p->me == d->owner)
        spmd_look(p, d);
}

static void call_hint(struct program *p)
{
    struct datum *d = spmd_pick_datum(p, 0, NDATA);

    if (p->me == (int)spmd_pick(p, (unsigned)p->size))
        starpu_data_wont_use(d->handle);
}

/* --- workers --- */

/* One rank's workers rest while tasks are inserted. */
static void call_pause(struct program *p)
{
    bool rests = p->me == (int)spmd_pick(p, (unsigned)p->size);
    unsigned n = 1 + spmd_pick(p, 5);

    if (rests)
        starpu_pause();
    for (unsigned i = 0; i < n; i++)
        spmd_call_insert(p);
    if (rests)
        starpu_resume();
}

static void call_task_wait(struct program *p)
{
    if (p->me == (int)spmd_pick(p, (unsigned)p->size))
        starpu_task_wait_for_all();
}

const struct spmd_call spmd_lives[] = {
    {4, call_temporary}, {3, call_parts}, {3, call_invalidate}, {3, call_change},
    {3, call_look},      {3, call_hint},  {2, call_pause},      {1, call_task_wait},
    {0, NULL},
};
