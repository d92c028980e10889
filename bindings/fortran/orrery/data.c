/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * data.c - type(data): a number, so that copies of a variable that was unregistered are
 * found out; arrays that tasks use themselves; parts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "orrery_fortran.h"

enum { PER_CHUNK = 1024, NCHUNKS = 4096 };

struct object {
    uint32_t generation; /* odd: in use */
    uint32_t next;       /* free: place + 1 */
    starpu_data_handle_t handle;
    bool implicit; /* an array that tasks use itself */
    struct layout layout;
    struct starpu_data_filter *filters; /* owned, while it is cut */
    int nfilters;
};

/* The bytes between the first and the last one of an object. */
struct span {
    const char *low, *high;
    uint32_t place;
};

static struct {
    starpu_pthread_mutex_t lock; /* contexts of a simulation wait for it, too */
    struct object *chunks[NCHUNKS]; /* an object stays where it is */
    uint32_t n, free;               /* [lock] */
    struct span *spans;             /* [lock] of those in use, by `low` */
    uint32_t nspans, room;          /* [lock] */
    size_t longest;                 /* [lock] that there has been among these */
} objects = {.lock = STARPU_PTHREAD_MUTEX_INITIALIZER};

static struct object *object_at(uint32_t place)
{
    return &objects.chunks[place / PER_CHUNK][place % PER_CHUNK];
}

static int64_t number_of(uint32_t place)
{
    return (int64_t)object_at(place)->generation << 32 | place;
}

/* A place for one, -1 after a complaint. [lock] */
static int64_t new_object(void)
{
    uint32_t place = objects.free;
    struct object *o;

    if (place) {
        place--;
        objects.free = object_at(place)->next;
    } else {
        place = objects.n;
        if (place / PER_CHUNK == NCHUNKS)
            return complain(-1, "there are too many data (%u)", place);
        if (place % PER_CHUNK == 0 &&
            !(objects.chunks[place / PER_CHUNK] = calloc(PER_CHUNK, sizeof(*o))))
            return complain(-1, "no memory for data");
        objects.n++;
    }
    o = object_at(place);
    *o = (struct object){.generation = o->generation + 1};
    return place;
}

/* NULL: it was unregistered, or is none. */
static struct object *find(int64_t number)
{
    uint32_t place = (uint32_t)number;
    struct object *o;

    if (number <= 0 || place / PER_CHUNK >= NCHUNKS || !objects.chunks[place / PER_CHUNK])
        return NULL;
    o = object_at(place);
    return o->generation == (uint32_t)(number >> 32) ? o : NULL;
}

starpu_data_handle_t data_find(int64_t number, const int *indices)
{
    const struct object *o = find(number);
    starpu_data_handle_t handle;

    if (!o) {
        (void)complain(-EINVAL, number ? "the data were unregistered"
                                       : "the data are not registered: call register first");
        return NULL;
    }
    handle = o->handle;
    for (int k = 0; k < MOST_FILTERS && indices[k]; k++) {
        int n = starpu_data_get_nb_children(handle);

        if (indices[k] < 1 || indices[k] > n) {
            (void)complain(-EINVAL, n ? "there is no part %d, they are numbered from 1 to %d"
                                      : "there is no part %d, the data are not cut (%d parts)",
                           indices[k], n);
            return NULL;
        }
        handle = starpu_data_get_child(handle, (unsigned)indices[k] - 1);
    }
    return handle;
}

/* --- where they lie --- */

/* The first span that begins behind an address. [lock] */
static uint32_t first_behind(const char *low)
{
    uint32_t from = 0, to = objects.nspans;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (objects.spans[middle].low > low)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

static int add_span(const struct layout *layout, uint32_t place)
{
    const struct span span = {layout->at, layout->at + layout_span(layout), place};
    uint32_t at = first_behind(span.low);

    if (objects.nspans == objects.room) {
        uint32_t room = objects.room ? 2 * objects.room : 64;
        struct span *longer = realloc(objects.spans, room * sizeof(*longer));

        if (!longer)
            return complain(-ENOMEM, "no memory for %u data", room);
        objects.spans = longer;
        objects.room = room;
    }
    memmove(objects.spans + at + 1, objects.spans + at,
            (objects.nspans++ - at) * sizeof(span));
    objects.spans[at] = span;
    if (layout_span(layout) > objects.longest)
        objects.longest = layout_span(layout);
    return 0;
}

static void remove_span(const struct layout *layout, uint32_t place)
{
    uint32_t at = first_behind(layout->at);

    do
        at--;
    while (objects.spans[at].place != place);
    memmove(objects.spans + at, objects.spans + at + 1,
            (--objects.nspans - at) * sizeof(*objects.spans));
    if (objects.nspans == 0)
        objects.longest = 0;
}

/* The object that has just these elements; -ENOENT: none has any of them; -EBUSY: one has
 * some, or all of them if `alone`. [lock] */
static int look_up(const struct layout *layout, bool alone, struct object **ret)
{
    const char *high = layout->at + layout_span(layout);
    const uintptr_t before = (uintptr_t)layout->at - objects.longest;
    uint32_t i = first_behind((const char *)before - 1);

    for (; i < objects.nspans && objects.spans[i].low < high; i++) {
        struct object *o = object_at(objects.spans[i].place);

        if (o->implicit && !alone && layouts_are_equal(&o->layout, layout)) {
            *ret = o;
            return 0;
        }
        if (layouts_meet(&o->layout, layout))
            return complain(-EBUSY, "the array has elements in common with another one that "
                                    "tasks use, or that is registered: use its data, or "
                                    "wait (taskwait) between");
    }
    return -ENOENT;
}

/* --- beginning and end --- */

/* A place for an object with this layout, which is registered. [lock] */
static int begin(const struct layout *layout, struct object **ret)
{
    int64_t place = new_object();
    struct object *o;
    int err;

    if (place < 0)
        return -ENOMEM;
    o = object_at((uint32_t)place);
    o->layout = *layout;
    err = layout_register(layout, &o->handle);
    if (!err && (err = add_span(layout, (uint32_t)place)))
        starpu_data_unregister(o->handle);
    if (!err) {
        *ret = o;
        return (int)place;
    }
    o->generation++;
    o->next = objects.free;
    objects.free = (uint32_t)place + 1;
    return err;
}

int orrery_fortran_register(const CFI_cdesc_t *array, int64_t *number);
int orrery_fortran_register(const CFI_cdesc_t *array, int64_t *number)
{
    struct layout layout;
    struct object *o;
    int err = layout_of(array, &layout);

    if (err)
        return err;
    if (find(*number))
        return complain(-EBUSY, "the data are registered: unregister them first");
    starpu_pthread_mutex_lock(&objects.lock);
    err = look_up(&layout, true, &o);
    if (err == -ENOENT)
        err = begin(&layout, &o);
    starpu_pthread_mutex_unlock(&objects.lock);
    if (err < 0)
        return err;
    *number = number_of((uint32_t)err);
    return 0;
}

/* Waits for its tasks; of the object nothing is left. */
static void end(struct object *o, uint32_t place)
{
    if (o->nfilters)
        starpu_data_unpartition(o->handle, STARPU_MAIN_RAM);
    free(o->filters);
    starpu_data_unregister(o->handle);
    starpu_pthread_mutex_lock(&objects.lock);
    remove_span(&o->layout, place);
    o->generation++;
    o->next = objects.free;
    objects.free = place + 1;
    starpu_pthread_mutex_unlock(&objects.lock);
}

void orrery_fortran_unregister(int64_t *number);
/* Waits for its tasks, and brings the values home. Nothing where there is nothing. */
void orrery_fortran_unregister(int64_t *number)
{
    struct object *o = find(*number);

    if (o)
        end(o, (uint32_t)*number);
    *number = 0;
}

/* --- arrays that tasks use themselves --- */

int data_of_array(const struct layout *layout, starpu_data_handle_t *ret)
{
    struct object *o;
    int err;

    starpu_pthread_mutex_lock(&objects.lock);
    err = look_up(layout, false, &o);
    if (err == -ENOENT) {
        err = begin(layout, &o);
        if (err >= 0)
            o->implicit = true;
    }
    if (err >= 0)
        *ret = o->handle;
    starpu_pthread_mutex_unlock(&objects.lock);
    return err < 0 ? err : 0;
}

/* Gives all arrays back that tasks have used themselves; or all data. In the order of their
 * places, not of addresses: a simulation does the same each time. */
static void give_back(bool all)
{
    for (uint32_t place = 0; place < objects.n; place++) {
        struct object *o = object_at(place);

        if (o->generation & 1 && (all || o->implicit))
            end(o, place);
    }
}

int orrery_fortran_taskwait(void);
int orrery_fortran_taskwait(void)
{
    int err;

    /* Its own arrays would be given back when it has ended. */
    if (starpu_task_get_current())
        return complain(-EDEADLK, "taskwait: a kernel cannot wait for all tasks");
    err = starpu_task_wait_for_all();
    if (err)
        return complain(err, "taskwait: a callback cannot wait for all tasks");
    give_back(false);
    return 0;
}

void orrery_fortran_shutdown(void);
/* Ends all data, then the library. */
void orrery_fortran_shutdown(void)
{
    (void)orrery_fortran_taskwait();
    give_back(true);
    starpu_shutdown();
    free(objects.spans);
    objects.spans = NULL;
    objects.room = 0;
}

/* --- access of the program --- */

int orrery_fortran_acquire(int64_t number, const int *indices, int mode);
int orrery_fortran_acquire(int64_t number, const int *indices, int mode)
{
    starpu_data_handle_t handle = data_find(number, indices);
    int err;

    if (!handle)
        return -EINVAL;
    err = starpu_data_acquire(handle, (enum starpu_data_access_mode)mode);
    return err ? complain(err, "acquire: a kernel or callback cannot wait for data") : 0;
}

int orrery_fortran_release(int64_t number, const int *indices);
int orrery_fortran_release(int64_t number, const int *indices)
{
    starpu_data_handle_t handle = data_find(number, indices);

    if (handle)
        starpu_data_release(handle);
    return handle ? 0 : -EINVAL;
}

int orrery_fortran_reduction(int64_t number, struct kernels *redux, struct kernels *init);
int orrery_fortran_reduction(int64_t number, struct kernels *redux, struct kernels *init)
{
    static const int whole[MOST_FILTERS];
    starpu_data_handle_t handle = data_find(number, whole);

    if (!handle)
        return -EINVAL;
    if (!redux || !init)
        return complain(-EINVAL, "set_reduction: a codelet was not started: call its init");
    redux->known = init->known = true;
    redux->cl.nbuffers = 2;
    redux->cl.modes[0] = STARPU_RW | STARPU_COMMUTE;
    redux->cl.modes[1] = STARPU_R;
    init->cl.nbuffers = 1;
    init->cl.modes[0] = STARPU_W;
    starpu_data_set_reduction_methods(handle, &redux->cl, &init->cl);
    return 0;
}

/* --- parts --- */

typedef void (*filter_fn)(void *, void *, struct starpu_data_filter *, unsigned, unsigned);

/* By the layout's dimensions, and the dimension that is cut. */
static filter_fn filter_of(int rank, int dimension, bool shadow)
{
    static const filter_fn cuts[][4][2] = {
        {{starpu_vector_filter_block, starpu_vector_filter_block_shadow}},
        {{starpu_matrix_filter_block, starpu_matrix_filter_block_shadow},
         {starpu_matrix_filter_vertical_block, starpu_matrix_filter_vertical_block_shadow}},
        {{starpu_block_filter_block, starpu_block_filter_block_shadow},
         {starpu_block_filter_vertical_block, starpu_block_filter_vertical_block_shadow},
         {starpu_block_filter_depth_block, starpu_block_filter_depth_block_shadow}},
        {{starpu_tensor_filter_block, starpu_tensor_filter_block_shadow},
         {starpu_tensor_filter_vertical_block, starpu_tensor_filter_vertical_block_shadow},
         {starpu_tensor_filter_depth_block, starpu_tensor_filter_depth_block_shadow},
         {starpu_tensor_filter_time_block, starpu_tensor_filter_time_block_shadow}},
    };

    return cuts[rank - 1][dimension - 1][shadow];
}

static int make_filter(const struct layout *l, const struct cut *cut,
                       struct starpu_data_filter *ret)
{
    bool gaps = l->rank > 0 && l->stride[0] != (ptrdiff_t)l->element;

    if (cut->dimension < 1 || cut->dimension > l->rank)
        return complain(-EINVAL, "partition: the data have %d dimensions, and no dimension %d",
                        l->rank, cut->dimension);
    if (cut->parts < 1 || (size_t)cut->parts > l->n[cut->dimension - 1])
        return complain(-EINVAL, "partition: %d parts of the %zu elements of dimension %d",
                        cut->parts, l->n[cut->dimension - 1], cut->dimension);
    *ret = (struct starpu_data_filter){
        .filter_func = filter_of(l->rank + gaps, cut->dimension + gaps, cut->shadow > 0),
        .nchildren = (unsigned)cut->parts,
    };
    ret->filter_arg_ptr = (void *)(uintptr_t)cut->shadow;
    return 0;
}

int orrery_fortran_partition(int64_t number, const struct cut *cuts, int n);
int orrery_fortran_partition(int64_t number, const struct cut *cuts, int n)
{
    struct object *o = find(number);
    struct starpu_data_filter *list[MOST_FILTERS];
    int err = 0;

    if (!o)
        return complain(-EINVAL, "partition: the data are not registered");
    if (o->nfilters)
        return complain(-EBUSY, "partition: the data are cut already: unpartition them first");
    o->filters = calloc((size_t)n, sizeof(*o->filters));
    if (!o->filters)
        return complain(-ENOMEM, "partition: no memory");
    for (int i = 0; i < n && !err; i++) {
        err = make_filter(&o->layout, &cuts[i], &o->filters[i]);
        list[i] = &o->filters[i];
    }
    if (err) {
        free(o->filters);
        o->filters = NULL;
        return err;
    }
    starpu_data_map_filters_parray(o->handle, n, list);
    o->nfilters = n;
    return 0;
}

int orrery_fortran_unpartition(int64_t number);
int orrery_fortran_unpartition(int64_t number)
{
    struct object *o = find(number);

    if (!o || !o->nfilters)
        return complain(-EINVAL, "unpartition: the data are not cut");
    starpu_data_unpartition(o->handle, STARPU_MAIN_RAM);
    free(o->filters);
    o->filters = NULL;
    o->nfilters = 0;
    return 0;
}
