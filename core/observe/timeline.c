/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/timeline.c - see timeline.h. One thread. */
#include "core/observe/timeline.h"

#include <errno.h>
#include <math.h>
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

/* Few moments are sorted by shorter digits: each has counts to be cleared and added up. */
enum { FEW = 4096, FEW_BITS = 8, MANY_BITS = 11, VALUES = 1 << MANY_BITS };

static uint64_t bits_of(double time)
{
    const uint64_t sign = UINT64_C(1) << 63;
    uint64_t bits;

    time += 0.0; /* -0 is 0 */
    memcpy(&bits, &time, sizeof(bits));
    return bits & sign ? ~bits : bits | sign;
}

/* Sorts by the digit of so many bits at `shift` into `to`, equal ones as they were.
 * Returns false, and leaves all where it was, if they are all equal. */
static bool sort_by_digit(const struct key *from, struct key *to, size_t n,
                          unsigned shift, unsigned bits, size_t *places)
{
    const size_t values = (size_t)1 << bits, mask = values - 1;
    size_t place = 0;

    memset(places, 0, values * sizeof(*places));
    for (size_t i = 0; i < n; i++)
        places[from[i].time >> shift & mask]++;
    if (places[from[0].time >> shift & mask] == n)
        return false;
    for (size_t v = 0; v < values; v++) {
        size_t count = places[v];

        places[v] = place;
        place += count;
    }
    for (size_t i = 0; i < n; i++)
        to[places[from[i].time >> shift & mask]++] = from[i];
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

/* Sorts the moments by time, digit for digit: they lie in the order that equal times
 * are to have. Errors: -ENOMEM. */
static int moments_sort(struct orr_moment *moments, size_t n)
{
    size_t *places = malloc(VALUES * sizeof(*places));
    struct key *keys = malloc((2 * n + 1) * sizeof(*keys)), *from = keys;
    unsigned bits = n < FEW ? FEW_BITS : MANY_BITS;

    if (!places || !keys) {
        free(places);
        free(keys);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = (struct key){bits_of(moments[i].time), i};
    for (unsigned shift = 0; n > 0 && shift < 64; shift += bits)
        if (sort_by_digit(from, from == keys ? keys + n : keys, n, shift, bits,
                          places))
            from = from == keys ? keys + n : keys;
    permute(moments, from, n);
    free(places);
    free(keys);
    return 0;
}

/* -- runs ------------------------------------------------------------------ */

/* Most moments of a buffer are in order as they were recorded: they are a run at the
 * front of `all`. Those that are not, most of them starts of what has ended, are put to
 * the back, and sorted. */
struct runs {
    struct orr_moment *all; /* owned */
    size_t front, back;     /* what lies between is free */
    size_t room;
    struct run {
        const struct orr_moment *at, *end;
    } * items; /* owned: one per buffer, and the sorted ones */
    size_t n;
};

static bool moment_precedes(const struct orr_moment *x,
                            const struct orr_moment *y)
{
    if (x->time != y->time)
        return x->time < y->time;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence;
    return x->end < y->end;
}

/* `begin`: where the run of its buffer does. */
static void add_moment(struct runs *runs, size_t begin,
                       const struct orr_moment *moment)
{
    if (runs->front == begin || runs->all[runs->front - 1].time <= moment->time)
        runs->all[runs->front++] = *moment;
    else
        runs->all[--runs->back] = *moment;
}

/* The rest becomes a run, too. Errors: -ENOMEM. */
static int sort_rest(struct runs *runs)
{
    struct orr_moment *rest = runs->all + runs->back;
    size_t n = runs->room - runs->back;
    int rc;

    for (size_t i = 0; i < n / 2; i++) { /* as they were added */
        struct orr_moment moment = rest[i];

        rest[i] = rest[n - 1 - i];
        rest[n - 1 - i] = moment;
    }
    rc = moments_sort(rest, n);
    if (rc == 0)
        runs->items[runs->n++] = (struct run){rest, rest + n};
    return rc;
}

/* Restores the order of a heap, whose least run is the first, below `at`. */
static void sink(struct run *heap, size_t n, size_t at)
{
    struct run run = heap[at];
    size_t child;

    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n &&
            moment_precedes(heap[child + 1].at, heap[child].at))
            child++;
        if (!moment_precedes(heap[child].at, run.at))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = run;
}

/* The run that comes next when the first one is out of the way; NULL: none. */
static const struct run *least_but_one(const struct run *heap, size_t n)
{
    if (n < 3)
        return n == 2 ? &heap[1] : NULL;
    return moment_precedes(heap[2].at, heap[1].at) ? &heap[2] : &heap[1];
}

/* All runs as one list; returns its length. */
static size_t runs_merge(struct runs *runs, struct orr_moment *to)
{
    struct run *heap = runs->items;
    size_t n = 0, made = 0;

    for (size_t i = 0; i < runs->n; i++)
        if (runs->items[i].at != runs->items[i].end)
            heap[n++] = runs->items[i];
    for (size_t i = n / 2; i-- > 0;)
        sink(heap, n, i);
    while (n > 0) {
        const struct run *next = least_but_one(heap, n);

        /* Several of one buffer are often next to each other. */
        do
            to[made++] = *heap[0].at++;
        while (heap[0].at != heap[0].end &&
               (!next || moment_precedes(heap[0].at, next->at)));
        if (heap[0].at == heap[0].end)
            heap[0] = heap[--n];
        if (n > 1)
            sink(heap, n, 0);
    }
    return made;
}

/* -- the moments ----------------------------------------------------------- */

/* The moments of an event, one or two, in order; returns how many. */
static size_t moments_of(struct orr_timeline *line, struct orr_moment moment,
                         struct orr_moment to[2])
{
    const struct orr_event *event = moment.event;

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
    case ORR_EVENT_APPLICATION:
        to[0].time = event->u.application.start;
        to[1].time = event->u.application.end;
        return 2;
    case ORR_EVENT_ALLOCATION:
        to[0].time = event->u.allocation.start;
        to[1].time = event->u.allocation.end;
        return 2;
    case ORR_EVENT_MESSAGE:
        to[0].time = event->u.message.start;
        to[1].time = event->u.message.end;
        return 2;
    case ORR_EVENT_CLOCKS:
        to[0].time = event->u.clocks.start;
        to[1].time = event->u.clocks.end;
        return 2;
    case ORR_EVENT_STATE:
        to[0].time = event->u.state.time;
        line->suspends |= event->which == ORR_TRACE_SUSPENDED;
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
    return orr_chunk_events(
        atomic_load_explicit(&chunk->n, memory_order_acquire));
}

static struct orr_trace_chunk *chunk_next(struct orr_trace_chunk *chunk)
{
    return atomic_load_explicit(&chunk->next, memory_order_acquire);
}

/* Where the next event of a buffer is, and how many are read from there on: others may
 * be recording meanwhile. */
struct orr_timeline_place {
    struct orr_trace_chunk *chunk;
    unsigned nread; /* events of the chunk, … */
    unsigned at;    /* … and their words */
    uint64_t sequence;
    size_t left;
};

static size_t count_events(const struct orr_timeline_place *place)
{
    struct orr_trace_chunk *chunk = place->chunk;
    size_t n = chunk_length(chunk) - place->nread;

    while ((chunk = chunk_next(chunk)))
        n += chunk_length(chunk);
    return n;
}

/* How many events of all buffers were not read yet. */
static size_t reader_count_events(struct orr_timeline_reader *reader)
{
    size_t n = 0;

    for (unsigned b = 0; b <= reader->trace->nworkers; b++) {
        reader->places[b].left = count_events(&reader->places[b]);
        n += reader->places[b].left;
    }
    return n;
}

/* The next event of the buffer, of which some are left. */
static const struct orr_event *next_event(struct orr_timeline_place *place)
{
    const struct orr_event *event;

    /* At least one event is left. If this chunk has none left it is full, and the next
     * one has it. */
    while (place->nread == chunk_length(place->chunk)) {
        place->chunk = chunk_next(place->chunk);
        place->nread = place->at = 0;
    }
    event = (const struct orr_event *)&place->chunk->words[place->at];
    place->left--;
    place->nread++;
    place->at += orr_event_words(event->type);
    return event;
}

static void add_buffer(struct orr_timeline_place *place, unsigned buffer,
                       struct orr_timeline *line, struct runs *runs)
{
    size_t begin = runs->front;

    while (place->left > 0) {
        struct orr_moment moment = {.event = next_event(place),
                                    .buffer = buffer,
                                    .sequence = place->sequence++};
        struct orr_moment both[2];
        size_t count = moments_of(line, moment, both);

        for (size_t m = 0; m < count; m++)
            add_moment(runs, begin, &both[m]);
    }
    runs->items[runs->n++] =
        (struct run){runs->all + begin, runs->all + runs->front};
}

/* Takes the moments from `until` on out of the line and keeps them for later. Errors:
 * -ENOMEM. */
static int reader_split_line(struct orr_timeline_reader *reader, double until,
                             struct orr_timeline *line)
{
    size_t n = line->n;

    while (n > 0 && line->moments[n - 1].time >= until)
        n--;
    free(reader->later);
    reader->nlater = line->n - n;
    reader->later = malloc((reader->nlater + 1) * sizeof(*reader->later));
    if (!reader->later)
        return -ENOMEM;
    memcpy(reader->later, line->moments + n,
           reader->nlater * sizeof(*reader->later));
    line->n = n;
    return 0;
}

static int reader_make_line(struct orr_timeline_reader *reader, double until,
                            struct runs *runs, struct orr_timeline *line)
{
    for (unsigned b = 0; b <= reader->trace->nworkers; b++)
        add_buffer(&reader->places[b], b, line, runs);
    if (sort_rest(runs) < 0)
        return -ENOMEM;
    if (reader->nlater > 0)
        runs->items[runs->n++] =
            (struct run){reader->later, reader->later + reader->nlater};
    line->moments =
        malloc((runs->room + reader->nlater + 1) * sizeof(*line->moments));
    if (!line->moments)
        return -ENOMEM;
    line->n = runs_merge(runs, line->moments);
    if (line->n > 0 && line->moments[0].time < reader->until)
        return -ESTALE;
    line->end =
        line->n ? line->moments[line->n - 1].time : reader->trace->start;
    reader->until = until;
    return until < (double)INFINITY ? reader_split_line(reader, until, line)
                                    : 0;
}

int orr_timeline_reader_init(const struct orr_trace *trace,
                             struct orr_timeline_reader *ret)
{
    struct orr_timeline_place *places =
        calloc(trace->nworkers + 1, sizeof(*places));

    if (!places)
        return -ENOMEM;
    for (unsigned b = 0; b <= trace->nworkers; b++)
        places[b].chunk = trace->buffers[b].first;
    *ret = (struct orr_timeline_reader){
        .trace = trace, .places = places, .until = -(double)INFINITY};
    return 0;
}

void orr_timeline_reader_done(struct orr_timeline_reader *reader)
{
    free(reader->places);
    free(reader->later);
    *reader = (struct orr_timeline_reader){0};
}

int orr_timeline_read(struct orr_timeline_reader *reader, double until,
                      struct orr_timeline *ret)
{
    struct orr_timeline line = {0};
    size_t left = reader_count_events(reader);
    struct runs runs = {
        .all = malloc((2 * left + 1) * sizeof(*runs.all)),
        .back = 2 * left,
        .room = 2 * left,
        .items = malloc((reader->trace->nworkers + 3) * sizeof(*runs.items))};
    int rc = runs.all && runs.items
                 ? reader_make_line(reader, until, &runs, &line)
                 : -ENOMEM;

    free(runs.items);
    free(runs.all);
    if (rc == 0)
        *ret = line;
    else
        free(line.moments);
    return rc;
}

int orr_timeline_init(const struct orr_trace *trace, struct orr_timeline *ret)
{
    struct orr_timeline_reader reader;
    int rc = orr_timeline_reader_init(trace, &reader);

    if (rc)
        return rc;
    rc = orr_timeline_read(&reader, (double)INFINITY, ret);
    orr_timeline_reader_done(&reader);
    return rc;
}

void orr_timeline_done(struct orr_timeline *timeline)
{
    free(timeline->moments);
    timeline->moments = NULL;
}
