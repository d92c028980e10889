/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/watch/source.c - see source.h. */
#include "tools/watch/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/observe/source_line.h"
#include "tools/common/tool.h"

#define GET(place) atomic_load_explicit(&(place), memory_order_relaxed)

int source_open(struct source *ret)
{
    *ret = (struct source){.fd = memfd_create("orrery-watch", 0)};
    if (ret->fd < 0 || ftruncate(ret->fd, WATCH_FILE_BYTES) < 0)
        return tool_fail(-1, "watch: no memory to share: %s", strerror(errno));
    ret->file = mmap(NULL, WATCH_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ret->fd, 0);
    if (ret->file == MAP_FAILED) {
        ret->file = NULL;
        return tool_fail(-1, "watch: no memory to share: %s", strerror(errno));
    }
    atomic_store(&ret->file->size, WATCH_FILE_BYTES);
    ret->file->magic = WATCH_MAGIC;
    return 0;
}

static void forget_lines(struct source_run *run)
{
    for (unsigned i = 0; i < WATCH_PLACES; i++) {
        free(run->lines[i]);
        run->lines[i] = NULL;
    }
}

void source_close(struct source *source)
{
    for (unsigned i = 0; i < WATCH_RUNS; i++) {
        struct source_run *run = &source->runs[i];

        forget_lines(run);
        graph_free(run->graph);
        free(run->next);
        free(run->heads);
        if (run->part.run)
            munmap(run->part.run, run->part.run->bytes);
    }
    if (source->file)
        munmap(source->file, WATCH_FILE_BYTES);
    if (source->fd >= 0)
        close(source->fd);
}

/* Maps a part that was published: a page first, which says how long it is. */
static void map_run(struct source *source, unsigned number)
{
    uint64_t offset = atomic_load_explicit(&source->file->offsets[number], memory_order_acquire);
    struct source_run *run = &source->runs[number];
    size_t bytes;
    void *at;

    if (!offset || run->part.run)
        return;
    at = mmap(NULL, sizeof(struct watch_run), PROT_READ, MAP_SHARED, source->fd, (off_t)offset);
    if (at == MAP_FAILED)
        return;
    bytes = ((struct watch_run *)at)->bytes;
    munmap(at, sizeof(struct watch_run));
    at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, source->fd, (off_t)offset);
    if (at == MAP_FAILED)
        return;
    run->graph = graph_new();
    run->part = watch_part_at(at);
    run->next = calloc(run->part.run->nworkers + 2, sizeof(*run->next));
    run->heads = calloc(run->part.run->nworkers + 1, sizeof(*run->heads));
    if (!run->next || !run->heads) { /* its counts are shown all the same */
        graph_free(run->graph);
        run->graph = NULL;
    }
    source->nruns++;
}

/* Copies a record. Returns whether it was whole all the time. */
static bool take_record(const struct watch_ring *ring, uint64_t number,
                        struct watch_record *ret)
{
    const struct watch_record *record =
        &ring->records[number & (ring->size - 1)];

    if (atomic_load_explicit(&record->number, memory_order_acquire) != number + 1)
        return false;
    ret->id = record->id;
    ret->other = record->other;
    ret->before = record->before;
    ret->kind = record->kind;
    ret->arg = record->arg;
    atomic_thread_fence(memory_order_acquire);
    return GET(record->number) == number + 1;
}

/* Up to `head`, or what is being written. */
static void read_ring(struct source_run *run, const struct watch_ring *ring,
                      uint64_t *next, uint64_t head)
{
    struct watch_record record;

    if (head > *next + ring->size) {
        run->missed += head - ring->size - *next;
        *next = head - ring->size;
    }
    for (; *next < head; (*next)++) {
        if (take_record(ring, *next, &record))
            graph_add(run->graph, &record);
        else if (GET(*ring->head) - *next < ring->size)
            return; /* it is being written */
        else
            run->missed++;
    }
}

/* Runs that have had this part before are over. */
static void begin_anew(struct source_run *run, unsigned generation)
{
    run->generation = generation;
    run->missed = 0;
    forget_lines(run);
    memset(run->next, 0, (run->part.run->nworkers + 2) * sizeof(*run->next));
    graph_clear(run->graph);
}

/* What is noted in a lane comes of what was submitted before: that is read later than it is
 * seen how far the lanes are, and joins the graph first. */
static void read_run(struct source_run *run)
{
    const struct watch_part *part = &run->part;
    unsigned generation =
        atomic_load_explicit(&part->run->generation, memory_order_acquire);
    uint32_t lanes = part->run->nworkers + 1;
    struct watch_ring ring = watch_ring_of_all(part);

    if (!run->graph) {
        run->generation = generation;
        return;
    }
    if (generation != run->generation)
        begin_anew(run, generation);
    for (uint32_t i = 0; i < lanes; i++)
        run->heads[i] =
            atomic_load_explicit(&part->lanes[i].head, memory_order_acquire);
    read_ring(run, &ring, &run->next[lanes],
              atomic_load_explicit(ring.head, memory_order_acquire));
    for (uint32_t i = 0; i < lanes && part->run->lane_records; i++) {
        ring = watch_ring_of_lane(part, i);
        read_ring(run, &ring, &run->next[i], run->heads[i]);
    }
    for (uint32_t i = 0; i + 1 < lanes; i++) {
        uint64_t task =
            atomic_load_explicit(&part->lanes[i].task, memory_order_acquire);

        if (task)
            graph_runs(run->graph, task, i, GET(part->lanes[i].since));
    }
}

void source_read(struct source *source)
{
    for (unsigned i = 0; i < WATCH_RUNS; i++) {
        map_run(source, i);
        if (source->runs[i].part.run)
            read_run(&source->runs[i]);
    }
}

struct source_run *source_at(struct source *source, unsigned number)
{
    return number < WATCH_RUNS && source->runs[number].part.run && source->runs[number].graph
               ? &source->runs[number]
               : NULL;
}

const char *source_line(struct source_run *run, unsigned place)
{
    const struct watch_place *shown = &run->part.places[place];

    if (!place || place >= atomic_load_explicit(&run->part.run->nplaces,
                                                memory_order_acquire))
        return NULL;
    if (!run->lines[place])
        run->lines[place] =
            shown->line ? tool_format("%s:%u", shown->path, shown->line)
                        : orr_source_look_up_at(shown->path, shown->offset);
    return run->lines[place] && *run->lines[place] ? run->lines[place] : NULL;
}

static double latest_event(const struct watch_part *part)
{
    double date = 0;

    for (uint32_t i = 0; i <= part->run->nworkers; i++)
        if (GET(part->lanes[i].date) > date)
            date = GET(part->lanes[i].date);
    return date;
}

double source_date(const struct source_run *run)
{
    const struct watch_run *shown = run->part.run;
    struct timespec now;

    if (GET(shown->state) == WATCH_ENDED)
        return GET(shown->ended_us);
    if (shown->is_virtual)
        return latest_event(&run->part);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return shown->opened_us + (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3 -
           shown->opened_mono_us;
}

/* The later of two counts is read first: no difference is negative for long. */
void source_count_run(const struct source_run *run, struct source_totals *ret)
{
    unsigned long ended = 0, skipped = 0, started = 0, returned = 0, ready = 0, submitted = 0;
    const struct watch_part *part = &run->part;

    for (uint32_t i = 0; i <= part->run->nworkers; i++) {
        ended += GET(part->lanes[i].executed);
        skipped += GET(part->lanes[i].skipped);
        returned += GET(part->lanes[i].returned);
    }
    for (uint32_t i = 0; i <= part->run->nworkers; i++)
        started += GET(part->lanes[i].started);
    for (uint32_t i = 0; i <= part->run->nworkers; i++)
        ready += GET(part->lanes[i].ready);
    for (uint32_t i = 0; i <= part->run->nworkers; i++)
        submitted += GET(part->lanes[i].submitted);
    started = started > returned ? started - returned : 0;
    ret->submitted = submitted;
    ret->ended = ended + skipped;
    ret->running = started > ended ? started - ended : 0;
    ret->ready = ready > started + skipped ? ready - started - skipped : 0;
    ret->waiting = submitted > ret->ended + ret->running + ret->ready
                       ? submitted - ret->ended - ret->running - ret->ready
                       : 0;
}

void source_count(struct source *source, struct source_totals *ret)
{
    double open_us = -1, any_us = 0;

    *ret = (struct source_totals){0};
    for (unsigned i = 0; i < WATCH_RUNS; i++) {
        const struct source_run *run = source_at(source, i);
        struct source_totals one = {0};
        unsigned long before;
        double date;

        if (!run)
            continue;
        source_count_run(run, &one);
        before = GET(run->part.run->tasks_before);
        ret->submitted += one.submitted + before;
        ret->ended += one.ended + before;
        ret->waiting += one.waiting;
        ret->ready += one.ready;
        ret->running += one.running;
        ret->missed += run->missed;
        ret->nruns += run->generation;
        ret->is_virtual = run->part.run->is_virtual;
        date = source_date(run);
        any_us = date > any_us ? date : any_us;
        if (GET(run->part.run->state) == WATCH_OPEN) {
            ret->nopen++;
            open_us = date > open_us ? date : open_us;
            ret->stands |= GET(run->part.run->stands) != 0;
        }
    }
    ret->date_us = open_us >= 0 ? open_us : any_us;
}

const char *source_state(const struct source_run *run, unsigned number)
{
    static const char *const words[] = {"idle", "scheduling", "fetching", "executing",
                                        "callback"};
    unsigned state = GET(run->part.lanes[number].state);

    if (GET(run->part.run->state) == WATCH_ENDED)
        return "idle";
    if (GET(run->part.lanes[number].task))
        return "executing";
    return state < sizeof(words) / sizeof(*words) && state != 3 ? words[state] : "scheduling";
}

void source_kernel(const struct source_run *run, unsigned kernel, unsigned long *ret_n,
                   double *ret_us)
{
    *ret_n = 0;
    *ret_us = 0;
    for (uint32_t i = 0; i < run->part.run->nworkers; i++) {
        const struct watch_kernel_count *count =
            &run->part.counts[i * WATCH_KERNELS + kernel];

        *ret_n += GET(count->n);
        *ret_us += GET(count->us);
    }
}
