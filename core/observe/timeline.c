/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/timeline.c - see timeline.h. One thread. */
#include "core/observe/timeline.h"

#include <errno.h>
#include <stdlib.h>

static int compare_moments(const void *a, const void *b)
{
    const struct orr_moment *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return (int)x->end - (int)y->end;
}

static size_t add_event(struct orr_timeline *line, struct orr_moment moment)
{
    const struct orr_event *event = moment.event;
    struct orr_moment *to = &line->moments[line->n];

    to[0] = to[1] = moment;
    to[1].end = 1;
    switch (event->type) {
    case ORR_EVENT_TASK:
        to[0].time = event->u.task.start;
        to[1].time = event->u.task.end;
        line->ntasks++;
        return 2;
    case ORR_EVENT_COPY:
        to[0].time = event->u.copy.start;
        to[1].time = event->u.copy.end;
        return 2;
    case ORR_EVENT_STATE:
        to[0].time = event->u.state.time;
        return 1;
    case ORR_EVENT_COUNT:
        to[0].time = event->u.count.time;
        return 1;
    case ORR_EVENT_MEMORY:
        to[0].time = event->u.memory.time;
        return 1;
    case ORR_EVENT_MARK:
        to[0].time = event->u.mark.time;
        line->nmarks++;
        return 1;
    }
    return 0;
}

/* Published events of a chunk; pairs with the recorder's release. */
static unsigned chunk_length(struct orr_trace_chunk *chunk)
{
    return atomic_load_explicit(&chunk->n, memory_order_acquire);
}

static struct orr_trace_chunk *chunk_next(struct orr_trace_chunk *chunk)
{
    return atomic_load_explicit(&chunk->next, memory_order_acquire);
}

static size_t count_events(const struct orr_trace *trace)
{
    size_t n = 0;

    for (unsigned b = 0; b <= trace->nworkers; b++)
        for (struct orr_trace_chunk *chunk = trace->buffers[b].first; chunk;
             chunk = chunk_next(chunk))
            n += chunk_length(chunk);
    return n;
}

/* At most `left` events of buffer b; others may be recording meanwhile. */
static size_t add_buffer(const struct orr_trace *trace, unsigned b, size_t left,
                         struct orr_timeline *line)
{
    uint64_t sequence = 0;
    struct orr_trace_chunk *chunk = trace->buffers[b].first;

    for (; chunk; chunk = chunk_next(chunk)) {
        unsigned n = chunk_length(chunk);

        for (unsigned i = 0; i < n && left > 0; i++, left--) {
            struct orr_moment moment = {.event = &chunk->events[i],
                                        .buffer = b,
                                        .sequence = sequence++};

            line->n += add_event(line, moment);
        }
    }
    return left;
}

int orr_timeline_init(const struct orr_trace *trace, struct orr_timeline *ret)
{
    struct orr_timeline line = {0};
    size_t left = count_events(trace);

    line.moments = malloc((2 * left + 1) * sizeof(*line.moments));
    if (!line.moments)
        return -ENOMEM;
    for (unsigned b = 0; b <= trace->nworkers; b++)
        left = add_buffer(trace, b, left, &line);
    qsort(line.moments, line.n, sizeof(*line.moments), compare_moments);
    line.end = line.n ? line.moments[line.n - 1].time : trace->start;
    *ret = line;
    return 0;
}

void orr_timeline_done(struct orr_timeline *timeline)
{
    free(timeline->moments);
    timeline->moments = NULL;
}
