/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/trace_record.c - see trace_record.h. Each worker appends to its own
 * buffer; only the last buffer, of all other contexts, is locked.
 */
#include "core/observe/trace_record.h"

#include "core/device/machine.h"
#include "core/observe/trace_record_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* "CUDA 0.0 (Tesla M2070 4.7 GiB)" becomes "CUDA0_0", which viewers expect. */
static char *short_name(const char *name)
{
    char *text = strdup(name);
    char *to = text;

    if (!text)
        return NULL;
    for (const char *from = name; *from && *from != '('; from++)
        if (*from == '.')
            *to++ = '_';
        else if (*from != ' ')
            *to++ = *from;
    *to = '\0';
    return text;
}

static int trace_copy_workers(struct orr_trace *trace,
                              const struct orr_machine *machine)
{
    trace->workers = calloc(machine->nworkers + 1, sizeof(*trace->workers));
    if (!trace->workers)
        return -ENOMEM;
    trace->nworkers = machine->nworkers;
    trace->nnodes = machine->row; /* nodes may come */
    for (unsigned w = 0; w < trace->nworkers; w++) {
        trace->workers[w].name = short_name(machine->workers[w].name);
        trace->workers[w].node = machine->workers[w].node;
        trace->workers[w].cpu = machine->workers[w].cpu;
        if (!trace->workers[w].name)
            return -ENOMEM;
    }
    return 0;
}

static int copy_nodes(struct orr_trace *trace,
                      const struct orr_machine *machine)
{
    trace->nodes = calloc(trace->nnodes + 1, sizeof(char *));
    for (unsigned n = 0; trace->nodes && machine->nodes && n < machine->nnodes;
         n++) {
        trace->nodes[n] = strdup(machine->nodes[n].name);
        if (!trace->nodes[n])
            return -ENOMEM;
    }
    return trace->nodes ? 0 : -ENOMEM;
}

/* An empty one. Its events are written before they are counted. */
static struct orr_trace_chunk *new_chunk(void)
{
    struct orr_trace_chunk *chunk = malloc(sizeof(*chunk));

    if (chunk) {
        atomic_init(&chunk->next, NULL);
        atomic_init(&chunk->n, 0);
    }
    return chunk;
}

static int make_buffers(struct orr_trace *trace)
{
    trace->buffers = calloc(trace->nworkers + 1, sizeof(*trace->buffers));
    if (!trace->buffers)
        return -ENOMEM;
    for (unsigned b = 0; b <= trace->nworkers; b++) {
        struct orr_trace_buffer *buffer = &trace->buffers[b];

        buffer->first = new_chunk();
        if (!buffer->first)
            return -ENOMEM;
        buffer->last = buffer->first;
        atomic_flag_clear(&buffer->busy);
    }
    return 0;
}

int orr_trace_new(const struct orr_machine *machine, double start,
                  struct orr_trace **ret)
{
    struct orr_trace *trace = calloc(1, sizeof(*trace));

    if (!trace)
        return -ENOMEM;
    trace->start = start;
    if (trace_copy_workers(trace, machine) < 0 ||
        copy_nodes(trace, machine) < 0 || make_buffers(trace) < 0) {
        orr_trace_free(trace);
        return -ENOMEM;
    }
    *ret = trace;
    return 0;
}

static void buffer_done(struct orr_trace_buffer *buffer)
{
    struct orr_trace_chunk *chunk = buffer->first;

    while (chunk) {
        struct orr_trace_chunk *next = atomic_load(&chunk->next);

        free(chunk);
        chunk = next;
    }
    orr_texts_done(&buffer->texts);
}

void orr_trace_free(struct orr_trace *trace)
{
    if (!trace)
        return;
    if (trace->follower)
        trace->follower->free(trace->follower);
    if (trace->buffers)
        for (unsigned b = 0; b <= trace->nworkers; b++)
            buffer_done(&trace->buffers[b]);
    if (trace->workers)
        for (unsigned w = 0; w < trace->nworkers; w++)
            free(trace->workers[w].name);
    for (unsigned n = 0; trace->nodes && n < trace->nnodes; n++)
        free(trace->nodes[n]);
    free(trace->nodes);
    free(trace->buffers);
    free(trace->workers);
    for (unsigned b = 0; b < ORR_TRACE_NBLOCKS; b++)
        free(trace->iterations[b]);
    orr_submissions_free(trace->submissions);
    free(trace);
}

/* Which block an iteration with that number is in, and where. */
static unsigned iteration_block(uint32_t number, size_t *ret_at)
{
    size_t place = ORR_TRACE_FIRST_BLOCK - 1 + (size_t)number;
    unsigned block = 0;

    while (place >= (size_t)2 * ORR_TRACE_FIRST_BLOCK << block)
        block++;
    *ret_at = place - ((size_t)ORR_TRACE_FIRST_BLOCK << block);
    return block;
}

uint32_t orr_trace_iteration(struct orr_trace *trace, const int64_t levels[2])
{
    uint32_t number = trace->niterations + 1;
    size_t at;
    unsigned block = iteration_block(number, &at);

    if (block >= ORR_TRACE_NBLOCKS)
        return 0;
    if (!trace->iterations[block])
        trace->iterations[block] =
            calloc((size_t)ORR_TRACE_FIRST_BLOCK << block,
                   sizeof(*trace->iterations[block]));
    if (!trace->iterations[block])
        return 0;
    memcpy(trace->iterations[block][at], levels,
           sizeof(trace->iterations[block][at]));
    trace->niterations = number;
    return number;
}

const int64_t *orr_trace_iteration_levels(const struct orr_trace *trace,
                                          uint32_t number)
{
    size_t at;
    unsigned block;

    if (number == 0)
        return NULL;
    block = iteration_block(number, &at);
    return trace->iterations[block][at];
}

int orr_trace_keep_submissions(struct orr_trace *trace)
{
    return orr_submissions_new(&trace->submissions);
}

void orr_trace_keep_tasks_alone(struct orr_trace *trace)
{
    trace->tasks_alone = true;
}

struct orr_submissions *orr_trace_submissions(const struct orr_trace *trace)
{
    return trace ? trace->submissions : NULL;
}

void orr_trace_show_sources(struct orr_trace *trace, const struct orr_sources *sources,
                            const char *links)
{
    trace->sources = sources;
    trace->links = links;
}

void orr_trace_set_waits(struct orr_trace *trace,
                         const struct orr_waits_log *waits)
{
    trace->waits = waits;
}

uint64_t orr_trace_dropped(const struct orr_trace *trace)
{
    uint64_t n = 0;

    for (unsigned b = 0; b <= trace->nworkers; b++)
        n += atomic_load(&trace->buffers[b].dropped);
    return n;
}

bool orr_trace_is_followed(const struct orr_trace *trace)
{
    return trace->follower != NULL;
}

void orr_trace_begin(struct orr_trace *trace, uint32_t *ticket)
{
    if (trace->follower)
        trace->follower->began(trace->follower, ticket);
}

void orr_trace_end(struct orr_trace *trace, uint32_t *ticket)
{
    if (trace->follower)
        trace->follower->ended(trace->follower, ticket);
}

bool orr_trace_add_chunk(struct orr_trace *trace,
                         struct orr_trace_buffer *buffer)
{
    struct orr_trace_chunk *chunk = new_chunk();

    if (!chunk)
        return false;
    /* Pairs with the acquire load of the file writer. */
    atomic_store_explicit(&buffer->last->next, chunk, memory_order_release);
    buffer->last = chunk;
    if (trace->follower)
        trace->follower->filled(trace->follower);
    return true;
}

/* Makes the event's text a copy that lives as long as the buffer. Returns whether there
 * was memory for it. */
static bool keep_text(struct orr_trace_buffer *buffer, const char **text)
{
    if (*text)
        *text = orr_texts_keep(&buffer->texts, &buffer->recent, *text);
    return *text != NULL;
}

void orr_trace_record_task(struct orr_trace *trace, unsigned worker,
                           const struct orr_trace_task *task)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, worker, ORR_EVENT_TASK);
    struct orr_event *event = place.event;

    if (event) {
        event->u.task = *task;
        if (!event->u.task.name || !*event->u.task.name)
            event->u.task.name = "unknown";
    }
    orr_trace_close_event(&place, event && keep_text(place.buffer,
                                                     &event->u.task.name));
}

void orr_trace_record_state(struct orr_trace *trace, unsigned worker,
                            enum orr_trace_state state, double time)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, worker, ORR_EVENT_STATE);
    struct orr_event *event = place.event;

    if (event) {
        event->which = state;
        event->u.state.time = time;
    }
    orr_trace_close_event(&place, event != NULL);
}

void orr_trace_record_suspension(struct orr_trace *trace, unsigned worker,
                                 uint64_t job, double start, double end)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, worker, ORR_EVENT_SUSPENSION);
    struct orr_event *event = place.event;

    if (event) {
        event->u.suspension.job = job;
        event->u.suspension.start = start;
        event->u.suspension.end = end;
    }
    orr_trace_close_event(&place, event != NULL);
}

void orr_trace_record_steal(struct orr_trace *trace, unsigned worker,
                            unsigned victim, uint64_t job, double time)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, worker, ORR_EVENT_STEAL);
    struct orr_event *event = place.event;

    if (event) {
        event->u.steal.victim = victim;
        event->u.steal.job = job;
        event->u.steal.time = time;
    }
    orr_trace_close_event(&place, event != NULL);
}

void orr_trace_record_application(struct orr_trace *trace,
                                  enum orr_trace_doing doing, const char *call,
                                  double start, double end)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, ORR_TRACE_OUTSIDE, ORR_EVENT_APPLICATION);
    struct orr_event *event = place.event;

    if (event) {
        event->u.application.doing = doing;
        event->u.application.call = call;
        event->u.application.start = start;
        event->u.application.end = end;
    }
    orr_trace_close_event(&place, event != NULL);
}

void orr_trace_record_copy(struct orr_trace *trace, unsigned worker,
                           const struct orr_trace_copy *copy)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, worker, ORR_EVENT_COPY);
    struct orr_event *event = place.event;

    if (event) {
        event->u.copy = *copy;
    }
    orr_trace_close_event(&place,
                          event && (!copy->name ||
                                    keep_text(place.buffer, &event->u.copy.name)));
}

void orr_trace_set_rank(struct orr_trace *trace, int rank, unsigned nranks)
{
    trace->rank = rank;
    trace->nranks = nranks;
}

void orr_trace_record_message(struct orr_trace *trace,
                              const struct orr_trace_message *message)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, ORR_TRACE_OUTSIDE, ORR_EVENT_MESSAGE);
    struct orr_event *event = place.event;

    if (event)
        event->u.message = *message;
    orr_trace_close_event(&place,
                          event && (!message->name ||
                                    keep_text(place.buffer,
                                              &event->u.message.name)));
}

void orr_trace_record_clocks(struct orr_trace *trace,
                             const struct orr_clocks_told *clocks)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, ORR_TRACE_OUTSIDE, ORR_EVENT_CLOCKS);
    struct orr_event *event = place.event;

    if (event)
        event->u.clocks = *clocks;
    orr_trace_close_event(&place, event != NULL);
}

void orr_trace_record_memory(struct orr_trace *trace, unsigned worker,
                             unsigned node, int64_t change, double time)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, worker, ORR_EVENT_MEMORY);
    struct orr_event *event = place.event;

    if (event) {
        event->u.memory.node = node;
        event->u.memory.change = change;
        event->u.memory.time = time;
    }
    orr_trace_close_event(&place, event != NULL);
}

void orr_trace_record_allocation(struct orr_trace *trace, unsigned worker,
                                 unsigned node, bool frees, uint64_t size,
                                 double start, double end)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, worker, ORR_EVENT_ALLOCATION);
    struct orr_event *event = place.event;

    if (event) {
        event->u.allocation.node = node;
        event->u.allocation.frees = frees;
        event->u.allocation.size = size;
        event->u.allocation.start = start;
        event->u.allocation.end = end;
    }
    orr_trace_close_event(&place, event != NULL);
}

void orr_trace_record_mark(struct orr_trace *trace, unsigned worker,
                           const char *text, bool numbered, double time)
{
    struct orr_trace_place place =
        orr_trace_open_event(trace, worker, ORR_EVENT_MARK);
    struct orr_event *event = place.event;

    if (event) {
        event->u.mark.text = text ? text : "";
        event->u.mark.numbered = numbered;
        event->u.mark.time = time;
    }
    orr_trace_close_event(&place, event && keep_text(place.buffer,
                                                     &event->u.mark.text));
}
