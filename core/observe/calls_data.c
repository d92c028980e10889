/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/calls_data.c - data in the record, see calls.h. Their numbers are
 * those of the handles, their layouts those in main memory.
 */
#include <string.h>

#include "core/base/grow.h"
#include "core/data/handle.h"
#include "core/data/placement.h"
#include "core/observe/calls_private.h"
#include "record/shape.h"

/* The fields with which the structures of dense kinds begin. */
typedef struct starpu_variable_interface place_t;

static const void *layout_of(const struct orr_handle *handle)
{
    return handle->replicates[orr_handle_base(handle)].interface;
}

/* The layout, or, of interfaces that records have no word for, its size. */
static void fill_layout(struct orr_calls *calls,
                        const struct orr_handle *handle,
                        uint64_t shape[ORR_SHAPE_MOST], struct orr_call *call)
    ORR_REQUIRES(calls->lock)
{
    enum starpu_data_interface_id id = handle->ops->interfaceid;

    call->id = handle->id;
    call->kind = orr_shape_kind(id);
    if (call->kind) {
        size_t n = orr_shape_read(id, layout_of(handle), shape);

        call->shape = (struct orr_numbers){shape, n};
        if (n || id == STARPU_VOID_INTERFACE_ID)
            return;
    }
    call->kind = "other";
    call->shape.n = 0;
    call->size = handle->size;
    call->footprint = handle->ops->footprint(
        orr_handle_public((struct orr_handle *)(uintptr_t)handle));
    orr_calls_count(calls, "data of interfaces that replays know the size of "
                           "only");
}

static void put_datum(struct orr_calls *calls, const struct orr_handle *handle)
    ORR_REQUIRES(calls->lock)
{
    struct orr_call call = orr_call_none;
    uint64_t shape[ORR_SHAPE_MOST];

    call.verb = ORR_CALL_DATA;
    call.home = handle->home_node;
    fill_layout(calls, handle, shape, &call);
    if (handle->id > calls->last_datum)
        orr_calls_put(calls, &call);
    else
        orr_record_write(&calls->writer, &call);
}

/* Whether it gets its line later. */
static bool put_off(struct orr_calls *calls, const struct orr_handle *handle)
    ORR_REQUIRES(calls->lock)
{
    if (calls->rt->nranks < 2 || orr_grow(&calls->unnamed, &calls->nunnamed, handle->id + 1,
                                          sizeof(*calls->unnamed)))
        return false;
    calls->unnamed[handle->id] = handle;
    calls->last_datum = handle->id;
    return true;
}

void orr_calls_register(struct orr_calls *calls,
                        const struct orr_handle *handle)
{
    orr_lock(&calls->lock);
    if (orr_calls_listens(calls) && !put_off(calls, handle))
        put_datum(calls, handle);
    orr_unlock(&calls->lock);
}

/* --- data that no line has named yet --- */

/* Whether the calls of that verb are about the datum of their number. */
static bool is_about_datum(enum orr_verb verb)
{
    switch (verb) {
    case ORR_CALL_PARTITION:
    case ORR_CALL_UNPARTITION:
    case ORR_CALL_PLAN:
    case ORR_CALL_SWITCH:
    case ORR_CALL_CLEAN:
    case ORR_CALL_ACQUIRE:
    case ORR_CALL_RELEASE:
    case ORR_CALL_UNREGISTER:
    case ORR_CALL_INVALIDATE:
    case ORR_CALL_FETCH:
    case ORR_CALL_ALLOCATE:
    case ORR_CALL_EVICT:
    case ORR_CALL_WONT_USE:
    case ORR_CALL_UNTOUCHED:
    case ORR_CALL_NAME:
    case ORR_CALL_COORDINATES:
    case ORR_CALL_SEQUENTIAL:
    case ORR_CALL_REDUCTION:
    case ORR_CALL_WRITE_THROUGH:
    case ORR_CALL_OUT_OF_CORE:
    case ORR_CALL_IMPORTANT:
    case ORR_CALL_ARBITER:
    case ORR_CALL_SEND:
    case ORR_CALL_RECEIVE:
    case ORR_CALL_EXPECT_SENDS:
    case ORR_CALL_UNREAL:
        return true;
    default:
        return false;
    }
}

/* The datum without line, of which there is none any more then. */
static const struct orr_handle *take_unnamed(struct orr_calls *calls, uint64_t number)
    ORR_REQUIRES(calls->lock)
{
    const struct orr_handle *handle =
        number < calls->nunnamed ? calls->unnamed[number] : NULL;

    if (handle)
        calls->unnamed[number] = NULL;
    return handle;
}

static void name_datum(struct orr_calls *calls, uint64_t number)
    ORR_REQUIRES(calls->lock)
{
    const struct orr_handle *handle = take_unnamed(calls, number);

    if (handle)
        put_datum(calls, handle);
}

static void tell_numbers(struct orr_calls *calls) ORR_REQUIRES(calls->lock)
{
    struct orr_call call = orr_call_none;

    if (calls->told_datum >= calls->last_datum)
        return;
    call.verb = ORR_CALL_NUMBERS;
    call.value = calls->told_datum = calls->last_datum;
    orr_record_write(&calls->writer, &call);
}

bool orr_calls_name_data(struct orr_calls *calls, const struct orr_call *call)
{
    if (!calls->nunnamed)
        return true;
    tell_numbers(calls);
    if (call->verb == ORR_CALL_UNREGISTER && take_unnamed(calls, call->id))
        return false;
    if (is_about_datum(call->verb))
        name_datum(calls, call->id);
    name_datum(calls, call->of);
    for (size_t i = 0; i < call->data.n; i++)
        name_datum(calls, call->data.at[i].datum);
    for (size_t i = 0; is_about_datum(call->verb) && i < call->parts.n; i++)
        name_datum(calls, call->parts.at[i]);
    /* How data are registered that have no line yet. */
    for (size_t i = 1;
         call->verb == ORR_CALL_SEQUENTIAL && !call->id && i < calls->nunnamed; i++)
        name_datum(calls, i);
    return true;
}

/* --- parts --- */

/* Bytes from the whole to the part. */
static int64_t offset_of(const struct orr_handle *whole,
                         const struct orr_handle *part)
{
    const place_t *from = layout_of(whole), *to = layout_of(part);

    return orr_handle_is_dense(whole) && orr_handle_is_dense(part)
               ? (int64_t)(to->offset - from->offset)
               : 0;
}

/* Leaves out the zeros at the end, but never the first number. */
static struct orr_numbers without_zeros(const uint64_t *numbers, size_t n)
{
    while (n > 1 && !numbers[n - 1])
        n--;
    return (struct orr_numbers){numbers, n};
}

static void put_part(struct orr_calls *calls, const struct orr_handle *whole,
                     const struct orr_handle *part,
                     const struct orr_placement *place)
    ORR_REQUIRES(calls->lock)
{
    struct orr_call call = orr_call_none;
    uint64_t shape[ORR_SHAPE_MOST], start[ORR_PLACEMENT_DIMS],
        axes[ORR_PLACEMENT_DIMS];

    name_datum(calls, whole->id);
    call.verb = ORR_CALL_PART;
    call.of = whole->id;
    fill_layout(calls, part, shape, &call);
    if (place->kind == ORR_PLACE_DENSE) {
        for (unsigned i = 0; i < ORR_PLACEMENT_DIMS; i++) {
            start[i] = place->start[i];
            axes[i] = place->axis[i];
        }
        call.start = without_zeros(start, ORR_PLACEMENT_DIMS);
        call.axes = without_zeros(axes, ORR_PLACEMENT_DIMS);
    } else {
        call.offset = offset_of(whole, part);
    }
    orr_record_write(&calls->writer, &call);
}

/* Filters are the application's: they are asked without the lock. */
static void place_part(struct orr_calls *calls, const struct orr_handle *whole,
                       struct starpu_data_filter *filter,
                       const struct orr_handle *part, unsigned i, unsigned n)
{
    struct orr_placement place;

    orr_placement_find(whole, part, filter, i, n, &place);
    orr_lock(&calls->lock);
    put_part(calls, whole, part, &place);
    orr_unlock(&calls->lock);
}

static void fill_parts(struct orr_calls *calls, struct orr_call *call,
                       struct orr_handle *const *parts, unsigned n)
    ORR_REQUIRES(calls->lock)
{
    uint64_t *list = orr_calls_list(calls, n + 1);

    for (unsigned i = 0; list && i < n; i++)
        list[i] = parts[i]->id;
    call->parts = (struct orr_numbers){list, list ? n : 0};
}

void orr_calls_partition(struct orr_calls *calls, struct orr_call *call,
                         const struct orr_call_about *about)
{
    bool listens;

    orr_lock(&calls->lock);
    listens = orr_calls_listens(calls);
    orr_unlock(&calls->lock);
    if (!listens)
        return;
    for (unsigned i = 0; i < about->n; i++)
        place_part(calls, about->handle, about->filter, about->parts[i], i,
                   about->n);
    orr_lock(&calls->lock);
    call->id = about->handle->id;
    fill_parts(calls, call, about->parts, about->n);
    orr_calls_put(calls, call);
    orr_unlock(&calls->lock);
}

void orr_calls_plan(struct orr_calls *calls, struct orr_call *call,
                    const struct orr_call_about *about)
{
    orr_lock(&calls->lock);
    if (orr_calls_listens(calls)) {
        fill_parts(calls, call, about->parts, about->n);
        orr_calls_put(calls, call);
    }
    orr_unlock(&calls->lock);
}

void orr_calls_reduction(struct orr_calls *calls, struct orr_call *call,
                         const struct orr_call_about *about)
{
    orr_lock(&calls->lock);
    if (orr_calls_listens(calls)) {
        call->redux = orr_calls_codelet(calls, about->redux, 2, NULL);
        call->init = orr_calls_codelet(calls, about->init, 1, NULL);
        call->id = about->handle->id;
        orr_calls_put(calls, call);
    }
    orr_unlock(&calls->lock);
}
