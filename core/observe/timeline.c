/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/timeline.c - see timeline.h. One thread. */
#include "core/observe/timeline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* -- order ----------------------------------------------------------------- */

/* A time whose bits are in its order, and which moment has it. */
struct key {
    uint64_t time;
    size_t moment;
};

enum { DIGIT_BITS = 11, DIGITS = 6, VALUES = 1 << DIGIT_BITS };

static uint64_t bits_of(double time)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t bits;

    time += 0.0; /* -0 is 0 */
    memcpy(&bits, &time, sizeof(bits));
    return bits & sign ? ~bits : bits | sign;
}

static size_t digit(uint64_t time, unsigned d)
{
    return time >> (d * DIGIT_BITS) & (VALUES - 1);
}

/* Sorts by one digit into `to`, equal ones as they were. Returns false, and leaves
 * all where it was, if they are all equal. */
static bool sort_by_digit(const struct key *from, struct key *to, size_t n,
                          unsigned d, size_t *places)
{
    size_t place = 0;

    memset(places, 0, VALUES * sizeof(*places));
    for (size_t i = 0; i < n; i++)
        places[digit(from[i].time, d)]++;
    if (places[digit(from[0].time, d)] == n)
        return false;
    for (size_t v = 0; v < VALUES; v++) {
        size_t count = places[v];

        places[v] = place;
        place += count;
    }
    for (size_t i = 0; i < n; i++)
        to[places[digit(from[i].time, d)]++] = from[i];
    return true;
}

/* Puts moments[keys[i].moment] at i, for all: along each cycle of the permutation,
 * so that no second list is needed. Leaves keys as those of the sorted list. */
static void permute(struct orr_moment *moments, struct key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct orr_moment first = moments[i];
        size_t to = i, from;

        for (; (from = keys[to].moment) != i; to = from) {
            moments[to] = moments[from];
            keys[to].moment = to;
        }
        moments[to] = first;
        keys[to].moment = to;
    }
}

/* Sorts the moments by time, digit for digit: they were added in the order that
 * equal times are to have. Errors: -ENOMEM. */
static int sort(struct orr_timeline *line)
{
    size_t n = line->n, *places = malloc(VALUES * sizeof(*places));
    struct key *keys = malloc((2 * n + 1) * sizeof(*keys)), *from = keys;

    if (!places || !keys) {
        free(places);
        free(keys);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct key){bits_of(line->moments[i].time), i};
    for (unsigned d = 0; n > 0 && d < DIGITS; d++)
        if (sort_by_digit(from, from == keys ? keys + n : keys, n, d, places))
            from = from == keys ? keys + n : keys;
    permute(line->moments, from, n);
    free(places);
    free(keys);
    return 0;
}

/* -- the moments ----------------------------------------------------------- */

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
    case ORR_EVENT_SUSPENSION:
        to[0].time = event->u.suspension.start;
        to[1].time = event->u.suspension.end;
        line->suspends = true;
        return 2;
    case ORR_EVENT_STATE:
        to[0].time = event->u.state.time;
        line->suspends |= event->u.state.id == ORR_TRACE_SUSPENDED;
        return 1;
    case ORR_EVENT_COUNT:
        to[0].time = event->u.count.time;
        return 1;
    case ORR_EVENT_MEMORY:
        to[0].time = event->u.memory.time;
        return 1;
    case ORR_EVENT_STEAL:
        to[0].time = event->u.steal.time;
        line->nsteals++;
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
    if (sort(&line) < 0) {
        free(line.moments);
        return -ENOMEM;
    }
    line.end = line.n ? line.moments[line.n - 1].time : trace->start;
    *ret = line;
    return 0;
}

void orr_timeline_done(struct orr_timeline *timeline)
{
    free(timeline->moments);
    timeline->moments = NULL;
}
