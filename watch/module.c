/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch/module.c - the module "watch": an observer that counts, and notes what tasks do,
 * in memory that `orrery watch` reads (shared.h). It decides nothing about the run, takes
 * no lock but when it meets a kernel for the first time, and makes no call of the system
 * after the run is open. Any context.
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
#include "core/observe/views.h"
#include "core/worker/worker.h"
#include "watch/shared.h"

enum { SEEN = 256 }; /* rows of costs whose kernels are remembered */

/* Of a run, beside what it shows. */
struct orr_watch {
    struct watch_part part;
    pthread_mutex_t lock;        /* held while a kernel gets its number */
    _Atomic uint64_t seen[SEEN]; /* a row's address << 8 and the kernel's number; 0: none */
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

static struct watch_lane *own_lane(struct orr_watch *watch)
{
    const struct orr_context *self = orr_self;

    return &watch->part.lanes[self && self->worker ? self->worker->id
                                                   : watch->part.run->nworkers];
}

/* A writer that sleeps in here while all other records are written once would spoil one;
 * what is shown of one task is wrong then. */
static void note(struct orr_watch *watch, enum watch_kind kind, uint32_t arg, uint64_t id,
                 uint64_t other, double date)
{
    uint64_t number = ADD(watch->part.run->head, 1);
    struct watch_record *record = &watch->part.ring[number % WATCH_RECORDS];

    SET(record->number, 0);
    atomic_thread_fence(memory_order_release);
    record->kind = kind;
    record->arg = arg;
    record->id = id;
    record->other = other;
    record->date = date;
    atomic_store_explicit(&record->number, number + 1, memory_order_release);
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

static uint32_t kernel_of(struct orr_watch *watch, const struct orr_job *job)
{
    const struct orr_cost_row *row = job->costs;
    uint64_t key = (uint64_t)(uintptr_t)row << 8, found;
    _Atomic uint64_t *seen = &watch->seen[((uintptr_t)row >> 6) % SEEN];
    const char *name = row ? orr_cost_symbol(row) : NULL;
    uint32_t number;

    found = GET(*seen);
    if (row && (found & ~UINT64_C(255)) == key)
        return (uint32_t)(found & 255);
    if (!name && job->task)
        name = orr_job_name(job);
    pthread_mutex_lock(&watch->lock);
    number = find_kernel(watch, name ? name : "(no name)");
    pthread_mutex_unlock(&watch->lock);
    if (row)
        SET(*seen, key | number);
    return number;
}

/* --- what is told --- */

static void on_submitted(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    struct watch_lane *lane = own_lane(watch);
    const struct orr_job *job = told->job;
    double now = orr_exec_now(rt->exec);

    SET(watch->part.run->rank, GET(rt->rank));
    ADD(lane->submitted, 1);
    SET(lane->date, now);
    note(watch, WATCH_SUBMIT, job->task->cl ? kernel_of(watch, job) : WATCH_KERNELS,
         number_of(job), (uintptr_t)job, now);
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
    struct orr_watch *watch = rt->views->watch;
    uint64_t number = ADD(watch->part.run->head, 1);
    struct watch_record *record = &watch->part.ring[number % WATCH_RECORDS];

    SET(record->number, 0);
    atomic_thread_fence(memory_order_release);
    record->kind = WATCH_DEP;
    record->id = (uintptr_t)told->job;
    record->other = (uintptr_t)told->before;
    record->before = number_of(told->before);
    atomic_store_explicit(&record->number, number + 1, memory_order_release);
}

static void on_ready(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;

    ADD(own_lane(watch)->ready, 1);
    note(watch, WATCH_READY, 0, number_of(told->job), 0, orr_exec_now(rt->exec));
}

static void on_returned(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;

    if (told->started)
        ADD(own_lane(watch)->returned, 1);
    note(watch, WATCH_READY, 0, number_of(told->job), 0, orr_exec_now(rt->exec));
}

static void on_begins(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    struct watch_lane *lane = &watch->part.lanes[told->worker->id];
    double now = orr_exec_now(rt->exec);

    ADD(lane->started, 1);
    SET(lane->kernel, kernel_of(watch, told->job));
    SET(lane->since, now);
    SET(lane->task, number_of(told->job));
    SET(lane->date, now);
    note(watch, WATCH_START, told->worker->id, number_of(told->job), 0, now);
}

static void on_executed(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;
    unsigned worker = told->worker->id;
    struct watch_lane *lane = &watch->part.lanes[worker];
    struct watch_kernel_count *count =
        &watch->part.counts[worker * WATCH_KERNELS + kernel_of(watch, told->job)];
    uint64_t id = number_of(told->job);
    double now = orr_exec_now(rt->exec);

    if (GET(lane->task) == id)
        SET(lane->task, 0);
    SET(count->us, GET(count->us) + told->since);
    SET(lane->busy_us, GET(lane->busy_us) + told->since);
    ADD(count->n, 1);
    ADD(lane->executed, 1);
    SET(lane->date, now);
    note(watch, WATCH_END, worker, id, 0, now);
}

static void on_skipped(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_watch *watch = rt->views->watch;

    ADD(own_lane(watch)->skipped, 1);
    note(watch, WATCH_SKIP, 0, number_of(told->job), 0, orr_exec_now(rt->exec));
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

/* Behind what is there; its offset is published when it is filled in. NULL: there is no
 * room, or no memory. */
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
    at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)*ret_offset);
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
    size_t bytes = watch_part_bytes(rt->machine->nworkers, nnodes);
    struct watch_run *run = take_ended(bytes);
    uint64_t offset = 0;
    unsigned slot = 0;

    if (!run)
        run = make_part(fd, bytes, &slot, &offset);
    if (!run)
        return false;
    run->nworkers = rt->machine->nworkers;
    run->nnodes = nnodes;
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
