/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/trace_record_private.h - how an event enters a buffer of the record, for
 * trace_record.c and for what is recorded so often that a call counts. Most of what
 * recording costs a run is here.
 */
#pragma once

#include "core/observe/trace_events.h"
#include "core/observe/trace_record.h"

/* The place of an event in a buffer, while it is put together. */
struct orr_trace_place {
    struct orr_trace_buffer *buffer; /* NULL: it is not to be kept */
    struct orr_event *event;         /* NULL: likewise, or it is lost */
    unsigned n;                      /* what is before it in its chunk, and it */
    bool locked;
};

/* Adds a chunk to the buffer; false without memory. */
__attribute__((noinline)) bool
orr_trace_add_chunk(struct orr_trace *trace, struct orr_trace_buffer *buffer);

/* Where an event of that worker is put together; the caller fills in what it is, and
 * ends with orr_trace_close_event. */
static inline struct orr_trace_place
orr_trace_open_event(struct orr_trace *trace, unsigned worker,
                     enum orr_event_type type)
{
    bool outside = worker >= trace->nworkers;
    struct orr_trace_buffer *buffer =
        &trace->buffers[outside ? trace->nworkers : worker];
    struct orr_trace_place place = {.buffer = buffer, .locked = outside};

    if (trace->tasks_alone && type != ORR_EVENT_TASK)
        return (struct orr_trace_place){.buffer = NULL};
    while (outside && atomic_flag_test_and_set(&buffer->busy))
        ;
    place.n = atomic_load_explicit(&buffer->last->n, memory_order_relaxed);
    if (orr_chunk_words(place.n) + ORR_EVENT_MOST > ORR_TRACE_WORDS) {
        place.n = 0;
        if (!orr_trace_add_chunk(trace, buffer))
            return place;
    }
    place.event =
        (struct orr_event *)&buffer->last->words[orr_chunk_words(place.n)];
    place.n = orr_chunk_add(place.n, type);
    place.event->type = type;
    place.event->worker = worker;
    return place;
}

/* `stored`: the event is whole. */
static inline void orr_trace_close_event(const struct orr_trace_place *place,
                                         bool stored)
{
    if (!place->buffer)
        return;
    /* One context at a time adds to it. Pairs with the acquire load of the file
     * writer. */
    if (stored)
        atomic_store_explicit(&place->buffer->last->n, place->n,
                              memory_order_release);
    else
        atomic_fetch_add(&place->buffer->dropped, 1);
    if (place->locked)
        atomic_flag_clear(&place->buffer->busy);
}

/* Records that a counter grows or shrinks by `change` because of job `job`; 0: it is
 * not known which. */
static inline void orr_trace_record_count(struct orr_trace *trace,
                                          unsigned worker,
                                          enum orr_trace_counter counter,
                                          int change, uint64_t job, double time)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, worker, ORR_EVENT_COUNT);
    struct orr_event *event = place.event;

    if (event) {
        event->which = counter;
        event->step = change;
        event->u.count.job = job;
        event->u.count.time = time;
    }
    orr_trace_close_event(&place, event != NULL);
}
