/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch/module.c - the module "watch": an observer that counts, and notes what tasks do,
 * in memory that `orrery watch` reads (shared.h). It decides nothing about the run, takes
 * no lock but when it meets a kernel, or a line that submits, for the first time, and makes
 * no other call of the system after the run is open. Any context.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/module.h"
#include "core/cost/row.h"
#include "core/data/handle.h"
#include "core/data/pending.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/message_told.h"
#include "core/observe/debugger.h"
#include "core/observe/source_line.h"
#include "core/observe/sources.h"
#include "core/observe/views.h"
#include "core/worker/worker.h"
#include "watch/shared.h"

enum { SEEN = 256 }; /* addresses whose numbers are remembered */

/* Of a run, beside what it shows. */
struct orr_watch {
    struct watch_part part;
    pthread_mutex_t lock; /* held while a kernel, or a place, gets its number */
    /* A row's address << 8 and the kernel's number, 0: none; the same of places. */
    _Atomic uint64_t seen[SEEN], seen_places[SEEN];
};

/* Of the process: the file, and the part of a run that has ended, which the next one of
 * its size takes. */
static struct {
    struct watch_file *file; /* written before workers begin */
    _Atomic(struct watch_run *) ended;
} agent;

#define ADD(counter, n) atomic_fetch_add_explicit(&(counter), n, memory_order_relaxed)
#define SET(place, value) atomic_store_explicit(&(place), value, memory_order_relaxed)
#define GET(place) atomic_load_explicit(&(place), memory_order_relaxed)

/* --- what is noted --- */

static uint32_t own_number(const struct orr_watch *watch)
{
    const struct orr_context *self = orr_self;

    return self && self->worker ? self->worker->id : watch->part.run->nworkers;
}

static struct watch_lane *own_lane(struct orr_watch *watch)
{
    return &watch->part.lanes[own_number(watch)];
}

/* The caller fills it in, and ends with note_end. A writer that sleeps in between while all
 * other records are written once would spoil one; what is shown of one task is wrong then. */
static struct watch_record *note_begin(const struct watch_ring *ring,
                                       enum watch_kind kind, uint64_t id,
                                       uint64_t *ret_number)
{
    uint64_t number = ADD(*ring->head, 1);
    struct watch_record *record = &ring->records[number & (ring->size - 1)];

    SET(record->number, 0);
    atomic_thread_fence(memory_order_release);
    record->kind = kind;
    record->id = id;
    *ret_number = number;
    return record;
}

static void note_end(struct watch_record *record, uint64_t number)
{
    atomic_store_explicit(&record->number, number + 1, memory_order_release);
}

/* What is submitted. */
static void note(struct orr_watch *watch, enum watch_kind kind, uint32_t arg,
                 uint64_t id, uint64_t other, uint64_t before)
{
    struct watch_ring ring = watch_ring_of_all(&watch->part);
    uint64_t number;
    struct watch_record *record = note_begin(&ring, kind, id, &number);

    record->arg = arg;
    record->other = other;
    record->before = before;
    note_end(record, number);
}

/* What becomes of a task, in that lane. Simulated, all is in one order. */
static void note_state(struct orr_watch *watch, uint32_t lane,
                       enum watch_kind kind, uint64_t id, double start,
                       double end)
{
    struct watch_ring ring = watch->part.run->lane_records
                                 ? watch_ring_of_lane(&watch->part, lane)
                                 : watch_ring_of_all(&watch->part);
    uint64_t number;
    struct watch_record *record = note_begin(&ring, kind, id, &number);

    record->arg = lane;
    record->start = start;
    record->date = end;
    note_end(record, number);
}

static uint64_t number_of(const struct orr_job *job)
{
    return GET(job->id);
}

/* The number of that name, which gets one if it has none. */
static uint32_t find_kernel(struct orr_watch *watch, const char *name)
{
    struct watch_run *run = watch->part.run;
    uint32_t n = GET(run->nkernels), i = 0;

    while (i < n && strncmp(run->kernels[i], name, WATCH_NAME - 1) != 0)
        i++;
    if (i == n && n < WATCH_KERNELS) {
        snprintf(run->kernels[n], WATCH_NAME, "%s", n == WATCH_KERNELS - 1 ? "(others)" : name);
        atomic_store_explicit(&run->nkernels, n + 1, memory_order_release);
    }
    return i < WATCH_KERNELS ? i : WATCH_KERNELS - 1;
}

/* Whether the number of what is at that address is known. */
static bool find_seen(_Atomic uint64_t *seen, const void *at,
                      uint32_t *ret_number)
{
    uint64_t found = GET(seen[((uintptr_t)at >> 6) % SEEN]);

    *ret_number = (uint32_t)(found & 255);
    return at && found >> 8 == (uintptr_t)at;
}

static void remember_seen(_Atomic uint64_t *seen, const void *at,
                          uint32_t number)
{
    if (at)
        SET(seen[((uintptr_t)at >> 6) % SEEN],
            (uint64_t)(uintptr_t)at << 8 | number);
}

static uint32_t kernel_of(struct orr_watch *watch, const struct orr_job *job)
{
    const struct orr_cost_row *row = job->costs;
    const char *name = row ? orr_cost_symbol(row) : NULL;
    uint32_t number;

    if (find_seen(watch->seen, row, &number))
        return number;
    if (!name && job->task)
        name = orr_job_name(job);
    pthread_mutex_lock(&watch->lock);
    number = find_kernel(watch, name ? name : "(no name)");
    pthread_mutex_unlock(&watch->lock);
    remember_seen(watch->seen, row, number);
    return number;
}

/* What the command is to know of it. False: a path is too long. */
static bool describe_place(const struct orr_source_of_task *source,
                           struct watch_place *ret)
{
    if (!source->file)
        return orr_source_place(source->call, ret->path, sizeof(ret->path),
                                &ret->offset);
    if (source->line <= 0 || strlen(source->file) >= sizeof(ret->path))
        return false;
    strcpy(ret->path, source->file);
    ret->line = (uint32_t)source->line;
    return true;
}

/* The number of that place, which gets one if it has none. */
static uint32_t find_place(struct orr_watch *watch,
                           const struct orr_source_of_task *source)
{
    struct watch_run *run = watch->part.run;
    struct watch_place place = {0};
    uint32_t n = GET(run->nplaces), i = 1;

    if (!describe_place(source, &place))
        return 0;
    while (i < n && (watch->part.places[i].line != place.line ||
                     watch->part.places[i].offset != place.offset ||
                     strcmp(watch->part.places[i].path, place.path) != 0))
        i++;
    if (i == n && n < WATCH_PLACES - 1) {
        strcpy(watch->part.places[n].path, place.path);
        watch->part.places[n].line = place.line;
        watch->part.places[n].offset = place.offset;
        atomic_store_explicit(&run->nplaces, n + 1, memory_order_release);
    }
    return i < WATCH_PLACES - 1 ? i : WATCH_PLACES - 1;
}

/* Where it was submitted, which is counted. */
static uint32_t place_of(const struct orr_runtime *rt, struct orr_watch *watch,
                         const struct orr_job *job)
{
    struct orr_source_of_task source;
    uint32_t number = 0;

    if (orr_sources_find(rt->views->sources, number_of(job), &source) &&
        !find_seen(watch->seen_places, source.place, &number)) {
        pthread_mutex_lock(&watch->lock);
        number = find_place(watch, &source);
        pthread_mutex_unlock(&watch->lock);
        remember_seen(watch->seen_places, source.place, number);
    }
    ADD(watch->part.places[number].tasks, 1);
    return number;
}

/* --- what is told --- */

/* The time of a real run the command knows itself. */
static void set_date(const struct orr_runtime *rt, struct watch_lane *lane)
{
    if (rt->exec->virtual_time)
        SET(lane->date, orr_exec_now(rt->exec));
}

static void on_submitted(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    struct watch_lane *lane = own_lane(watch);
    const struct orr_job *job = told->job;
    int rank = GET(rt->rank);

    if (GET(watch->part.run->rank) != rank)
        SET(watch->part.run->rank, rank);
    ADD(lane->submitted, 1);
    set_date(rt, lane);
    note(watch, WATCH_SUBMIT,
         job->task->cl ? kernel_of(watch, job) : WATCH_KERNELS, number_of(job),
         (uintptr_t)job, place_of(rt, watch, job));
}

static void on_ordered(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    const struct orr_job *job = told->job;

    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].ordered)
            note(watch, WATCH_ACCESS, job->accesses[i].handle->turns.number, number_of(job),
                 job->accesses[i].handle->id, 0);
}

static void on_dependency(struct orr_runtime *rt, const struct orr_told *told)
{
    note(rt->views->watch, WATCH_DEP, 0, (uintptr_t)told->job,
         (uintptr_t)told->before, number_of(told->before));
}

static void on_ready(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    uint32_t lane = own_number(watch);

    ADD(watch->part.lanes[lane].ready, 1);
    note_state(watch, lane, WATCH_READY, number_of(told->job), 0, 0);
}

static void on_returned(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    uint32_t lane = own_number(watch);

    if (told->started)
        ADD(watch->part.lanes[lane].returned, 1);
    note_state(watch, lane, WATCH_RETURN, number_of(told->job), 0, 0);
}

static void on_begins(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    struct watch_lane *lane = &watch->part.lanes[told->worker->id];
    double now = orr_exec_now(rt->exec);

    ADD(lane->started, 1);
    SET(lane->kernel, kernel_of(watch, told->job));
    SET(lane->since, now);
    SET(lane->date, now);
    /* Pairs with the acquire of the reader: of what it sees here the rest is there. */
    atomic_store_explicit(&lane->task, number_of(told->job),
                          memory_order_release);
}

static void on_executed(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    unsigned worker = told->worker->id;
    struct watch_lane *lane = &watch->part.lanes[worker];
    uint64_t id = number_of(told->job);
    bool last = GET(lane->task) == id;
    uint32_t kernel = last ? GET(lane->kernel) : kernel_of(watch, told->job);
    struct watch_kernel_count *count =
        &watch->part.counts[worker * WATCH_KERNELS + kernel];

    SET(count->us, GET(count->us) + told->since);
    SET(lane->busy_us, GET(lane->busy_us) + told->since);
    ADD(count->n, 1);
    ADD(lane->executed, 1);
    set_date(rt, lane);
    note_state(watch, worker, WATCH_END, id, told->job->kernel->start,
               told->job->kernel->end);
    if (last)
        SET(lane->task, 0);
}

static void on_skipped(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    uint32_t lane = own_number(watch);
    double now = orr_exec_now(rt->exec);

    ADD(watch->part.lanes[lane].skipped, 1);
    note_state(watch, lane, WATCH_SKIP, number_of(told->job), now, now);
}

static void on_state(struct orr_runtime *rt, const struct orr_told *told)
{
    struct watch_lane *lane = &rt->views->watch->part.lanes[told->worker->id];

    SET(lane->state, GET(told->worker->state));
}

/* A node that came later, a disk, has its name now. */
static struct watch_node *node_at(struct orr_runtime *rt, unsigned number)
{
    struct watch_part *part = &rt->views->watch->part;
    struct watch_node *node = number < part->run->nnodes ? &part->nodes[number] : NULL;

    if (node && !*node->name)
        snprintf(node->name, sizeof(node->name), "%s", rt->machine->nodes[number].name);
    return node;
}

static void on_memory(struct orr_runtime *rt, const struct orr_told *told)
{
    struct watch_node *node = node_at(rt, told->memory.node);

    if (node)
        ADD(node->used, told->memory.change);
}

/* NULL: memory without a value, which is no copy. */
static struct watch_link *link_of(struct orr_runtime *rt, const struct orr_request *request)
{
    struct watch_part *part = &rt->views->watch->part;

    if (request->src >= part->run->nnodes || request->dst >= part->run->nnodes)
        return NULL;
    return &part->links[(size_t)request->src * part->run->nnodes + request->dst];
}

static void on_copy_begins(struct orr_runtime *rt, const struct orr_told *told)
{
    struct watch_link *link = link_of(rt, told->request);

    if (link)
        ADD(link->begun, 1);
}

static void on_copy_ended(struct orr_runtime *rt, const struct orr_told *told)
{
    struct watch_link *link = link_of(rt, told->request);

    if (!link)
        return;
    ADD(link->bytes, told->request->copy.size);
    ADD(link->ended, 1);
}

static void on_message(struct orr_runtime *rt, const struct orr_told *told)
{
    struct watch_run *run = rt->views->watch->part.run;

    ADD(*(told->message->received ? &run->received : &run->sent), 1);
    ADD(*(told->message->received ? &run->received_bytes : &run->sent_bytes),
        told->message->bytes);
}

static void on_stands_still(struct orr_runtime *rt, const struct orr_told *told)
{
    (void)told;
    SET(rt->views->watch->part.run->stands, 1);
}

static void on_run_ends(struct orr_runtime *rt, const struct orr_told *told);

static const struct orr_observer observer = {
    .told =
        {
            [ORR_TOLD_TASK_SUBMITTED] = on_submitted,
            [ORR_TOLD_TASK_ORDERED] = on_ordered,
            [ORR_TOLD_DEPENDENCY] = on_dependency,
            [ORR_TOLD_TASK_READY] = on_ready,
            [ORR_TOLD_TASK_RETURNED] = on_returned,
            [ORR_TOLD_KERNEL_BEGINS] = on_begins,
            [ORR_TOLD_TASK_EXECUTED] = on_executed,
            [ORR_TOLD_TASK_SKIPPED] = on_skipped,
            [ORR_TOLD_WORKER_STATE] = on_state,
            [ORR_TOLD_MEMORY] = on_memory,
            [ORR_TOLD_COPY_BEGINS] = on_copy_begins,
            [ORR_TOLD_COPY_ENDED] = on_copy_ended,
            [ORR_TOLD_MESSAGE] = on_message,
            [ORR_TOLD_STANDS_STILL] = on_stands_still,
            [ORR_TOLD_RUN_ENDS] = on_run_ends,
        },
};

/* --- parts of the file --- */

static unsigned long tasks_ended(const struct watch_part *part)
{
    unsigned long n = 0;

    for (uint32_t i = 0; i <= part->run->nworkers; i++)
        n += GET(part->lanes[i].executed) + GET(part->lanes[i].skipped);
    return n;
}

/* Of a run that has ended: empty, but for what the earlier ones did. */
static struct watch_run *take_ended(size_t bytes)
{
    struct watch_run *run = atomic_exchange(&agent.ended, NULL);
    struct watch_part part;
    unsigned generation;
    unsigned long before;

    if (!run || run->bytes != bytes)
        return NULL; /* it stays as it is, to be seen */
    part = watch_part_at(run);
    generation = GET(run->generation);
    before = GET(run->tasks_before) + tasks_ended(&part);
    SET(run->state, 0);
    memset((char *)run + sizeof(generation) + sizeof(run->state), 0,
           bytes - sizeof(generation) - sizeof(run->state));
    SET(run->tasks_before, before);
    atomic_store_explicit(&run->generation, generation + 1, memory_order_release);
    return run;
}

/* Behind what is there; its offset is published when it is filled in. All of it is mapped
 * now, so that no task meets a page for the first time. NULL: there is no room, or no
 * memory. */
static struct watch_run *make_part(int fd, size_t bytes, unsigned *ret_slot,
                                   uint64_t *ret_offset)
{
    struct watch_file *file = agent.file;
    struct watch_run *run;
    void *at;

    *ret_slot = atomic_fetch_add(&file->nruns, 1);
    if (*ret_slot >= WATCH_RUNS)
        return NULL;
    *ret_offset = atomic_fetch_add(&file->size, bytes);
    if (posix_fallocate(fd, (off_t)*ret_offset, (off_t)bytes) != 0)
        return NULL;
    at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
              fd, (off_t)*ret_offset);
    if (at == MAP_FAILED)
        return NULL;
    run = at;
    SET(run->generation, 1);
    return run;
}

static double monotonic_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void describe(const struct orr_runtime *rt, struct watch_part *part)
{
    const struct orr_machine *machine = rt->machine;
    struct watch_run *run = part->run;

    run->is_virtual = rt->exec->virtual_time;
    SET(run->nplaces, 1);
    run->opened_us = orr_exec_now(rt->exec);
    run->opened_mono_us = monotonic_us();
    SET(run->rank, GET(rt->rank));
    snprintf(run->machine, sizeof(run->machine), "%s",
             rt->sim ? machine->name : "this machine, for real");
    for (unsigned i = 0; i < machine->nworkers; i++) {
        snprintf(part->lanes[i].name, WATCH_NAME, "%s", machine->workers[i].name);
        part->lanes[i].node = machine->workers[i].node;
    }
    for (unsigned i = 0; i < machine->nnodes; i++) {
        snprintf(part->nodes[i].name, sizeof(part->nodes[i].name), "%s",
                 machine->nodes[i].name);
        part->nodes[i].capacity = machine->nodes[i].capacity;
    }
}

/* The part of a run that begins. Errors: false, it is not seen. */
static bool open_part(const struct orr_runtime *rt, int fd, struct watch_part *ret)
{
    uint32_t nnodes = rt->machine->nnodes + rt->machine->spare_nodes;
    uint32_t records = rt->exec->one_thread
                           ? 0
                           : watch_lane_records(rt->machine->nworkers + 1);
    size_t bytes = watch_part_bytes(rt->machine->nworkers, nnodes, records);
    struct watch_run *run = take_ended(bytes);
    uint64_t offset = 0;
    unsigned slot = 0;

    if (!run)
        run = make_part(fd, bytes, &slot, &offset);
    if (!run)
        return false;
    run->nworkers = rt->machine->nworkers;
    run->nnodes = nnodes;
    run->lane_records = records;
    run->bytes = bytes;
    *ret = watch_part_at(run);
    describe(rt, ret);
    atomic_store_explicit(&run->state, WATCH_OPEN, memory_order_release);
    if (offset)
        atomic_store_explicit(&agent.file->offsets[slot], offset, memory_order_release);
    return true;
}

/* --- the module --- */

static void on_run_ends(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    struct watch_run *run = watch->part.run;

    (void)told;
    orr_observers_want(&rt->observers, &observer, ORR_TOLD_ALL, false);
    SET(run->ended_us, orr_exec_now(rt->exec));
    atomic_store_explicit(&run->state, WATCH_ENDED, memory_order_release);
    atomic_store(&agent.ended, run);
    rt->views->watch = NULL;
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

/* The file of the command, mapped once. */
static bool open_file(int fd)
{
    void *at;

    if (agent.file)
        return true;
    at = mmap(NULL, WATCH_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return false;
    if (((struct watch_file *)at)->magic != WATCH_MAGIC) {
        munmap(at, WATCH_FILE_BYTES);
        return false;
    }
    agent.file = at;
    return true;
}

static const struct orr_observer *open_watch(struct orr_runtime *rt, int fd)
{
    struct orr_watch *watch = open_file(fd) ? calloc(1, sizeof(*watch)) : NULL;

    if (!watch || !open_part(rt, fd, &watch->part)) {
        orr_log_warning("orrery watch does not show this run: %s",
                        agent.file && atomic_load(&agent.file->nruns) > WATCH_RUNS
                            ? "it shows 64 that are open at one time, or differ in their "
                              "machines"
                            : "no memory, or ORRERY_WATCH is not of this build's command");
        free(watch);
        return NULL;
    }
    pthread_mutex_init(&watch->lock, NULL);
    rt->views->watch = watch;
    return &observer;
}

__attribute__((visibility("default"))) const struct orr_module *orr_module_entry(void);

const struct orr_module *orr_module_entry(void)
{
    static const struct orr_debugger_ops ops = {.open = open_watch};
    static const struct orr_module module = {
        .abi = ORR_MODULE_ABI,
        .name = "watch",
        .table = &ops,
        .stamp = orr_module_stamp,
    };

    return &module;
}
