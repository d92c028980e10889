/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/parts.c - buffers that are used by their parts. A part that overlaps no other has a
 * piece of data of its own, over the same bytes of main memory, where the context has
 * several devices: so devices work on parts of a buffer at the same time, and a part moves
 * without the whole.
 *
 * At any command a buffer is either whole or apart, and commands use only the data of that
 * state. Between two states stands a command of its own, after all that were before, and
 * before all later ones: it takes the data of the former state in main memory, to change
 * them there, which leaves no other copy. Main memory then has all bytes, and those of the
 * other state with them.
 *
 * Maps, parts that overlap, and commands that use the whole need it whole. Where devices
 * need that again and again, it stays so: nothing is gained when values go through main
 * memory each time.
 */
#include <stdlib.h>

#include "opencl/socl.h"

enum { MOST_RETURNS = 2 };

/* -- parts -- */

static bool overlap(const struct _cl_mem *a, const struct _cl_mem *b)
{
    return a->origin < b->origin + b->size && b->origin < a->origin + a->size;
}

void socl_part_enter(cl_mem part)
{
    cl_mem whole = part->parent;
    bool alone = whole->context->n > 1, untouched = false;

    socl_lock();
    for (cl_mem other = whole->parts; other; other = other->next_part)
        alone &= !overlap(part, other);
    if (alone) {
        part->written = whole->written;
        untouched = whole->owned && !whole->written;
        part->next_part = whole->parts;
        whole->parts = part;
    }
    socl_unlock();
    if (!alone)
        return;
    starpu_variable_data_register(&part->handle, STARPU_MAIN_RAM,
                                  (uintptr_t)part->host, part->size);
    if (untouched)
        orrery_data_untouched(part->handle);
}

void socl_part_leave(cl_mem part)
{
    cl_mem whole = part->parent, *place = &whole->parts;
    bool apart;

    socl_lock();
    apart = whole->apart;
    while (*place != part)
        place = &(*place)->next_part;
    *place = part->next_part;
    whole->written |= apart && part->written;
    whole->nleaving += apart;
    socl_unlock();
    if (!apart) {
        starpu_data_unregister_no_coherency(part->handle);
        return;
    }
    starpu_data_unregister(part->handle); /* its bytes are the whole's from now on */
    socl_lock();
    whole->nleaving--;
    starpu_pthread_cond_broadcast(&socl.changed);
    socl_unlock();
}

void socl_parts_settle(const struct socl_work *work)
{
    unsigned i = 0;

    while (!socl_inside && i < work->nuses)
        if (socl_whole(work->uses[i].mem)->nleaving > 0) {
            starpu_pthread_cond_wait(&socl.changed, &socl.lock);
            i = 0;
        } else {
            i++;
        }
}

/* -- from one state to the other -- */

static void release_former(cl_event event)
{
    socl_release_all(event);
    socl_command_end(event, CL_SUCCESS);
}

static void begin_change(cl_event event)
{
    socl_take_all(event, release_former);
}

/* A command without a queue that takes the data of the present state. */
static cl_event change_state(cl_mem whole)
{
    struct socl_work *work;
    unsigned n = 1;
    cl_event event;

    for (cl_mem part = whole->parts; part; part = part->next_part)
        n++;
    work = socl_work_new(sizeof(*work), n);
    event = work ? socl_change_new(whole, work, begin_change) : NULL;
    if (!event)
        return NULL;
    if (!whole->apart)
        socl_work_use(work, whole, STARPU_RW);
    for (cl_mem part = whole->parts; part; part = part->next_part)
        if (whole->apart) {
            socl_work_use(work, part, STARPU_RW);
            whole->written |= part->written;
        } else {
            part->written |= whole->written;
        }
    for (unsigned i = 0; i < work->nuses; i++)
        work->uses[i].data = work->uses[i].mem;
    whole->apart = !whole->apart;
    return event;
}

/* -- what a command uses -- */

/* Whether the command needs no more of the buffer than parts which have their own data; they
 * stand one after the other from `first` on. */
static bool uses_parts(const struct socl_work *work, unsigned first, bool maps)
{
    cl_mem whole = socl_whole(work->uses[first].mem);

    if (!whole->parts || maps || whole->nreturns == MOST_RETURNS)
        return false;
    for (unsigned i = first; i < work->nuses && socl_whole(work->uses[i].mem) == whole; i++)
        if (!work->uses[i].mem->parent || !work->uses[i].mem->handle)
            return false;
    return true;
}

static bool is_mapped(cl_mem whole)
{
    unsigned n = whole->map_count;

    for (cl_mem part = whole->parts; part; part = part->next_part)
        n += part->map_count;
    return n > 0;
}

/* Modes are those of the data: of a whole that has a value a part changes some bytes. */
static void choose_data(struct socl_use *use)
{
    cl_mem whole = socl_whole(use->mem);

    use->data = whole->apart && use->mem->handle ? use->mem : whole;
    if (use->mode == STARPU_R)
        return;
    if (!use->data->written)
        use->mode = STARPU_W;
    else if (use->mem != use->data)
        use->mode = STARPU_RW;
    use->data->written = true;
}

/* Several uses of the same data are one. */
static void join_uses(struct socl_work *work)
{
    for (unsigned i = 1; i < work->nuses; i++) {
        struct socl_use *use = &work->uses[i], *before = use - 1;

        if (use->data != before->data || use->mode == before->mode)
            continue;
        use->mode = STARPU_RW;
        for (; before >= work->uses && before->data == use->data; before--)
            before->mode = STARPU_RW;
    }
}

bool socl_choose_data(struct socl_work *work, bool maps, bool device, cl_event *changes)
{
    bool all = true;

    for (unsigned i = 0; i < work->nuses; i++) {
        cl_mem whole = socl_whole(work->uses[i].mem);
        bool first = i == 0 || whole != socl_whole(work->uses[i - 1].mem);
        bool apart = first && uses_parts(work, i, maps);
        cl_event change;

        if (first && apart != whole->apart && !(apart && is_mapped(whole))) {
            whole->nreturns += whole->apart && device;
            change = change_state(whole);
            all &= change != NULL;
            if (change) {
                change->next = *changes;
                *changes = change;
            }
        }
        choose_data(&work->uses[i]);
    }
    join_uses(work);
    return all;
}
