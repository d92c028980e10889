/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/steps/world.c - see world.h. */
#include "tests/steps/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/data/cache.h"
#include "core/data/nodes.h"
#include "core/data/plan.h"
#include "core/data/registry.h"
#include "core/data/release.h"
#include "core/device/open.h"
#include "core/job/tasks.h"
#include "core/loop/loop.h"
#include "core/observe/views.h"
#include "core/open.h"
#include "core/task/end.h"
#include "core/task/task.h"
#include "core/worker/asleep.h"
#include "core/worker/workers.h"
#include "tests/steps/objects.h"

enum { NODES = 4, COPIES = 16, FREED = 0xdd };

struct orr_runtime *world;
struct datum data[WORLD_DATA];

static struct world_spec spec;
static struct orr_context main_context;
static struct orr_exec exec = {.ops = &step_exec_ops};
static struct orr_node_desc nodes[NODES];
static struct orr_worker_desc descs[WORLD_WORKERS];
static double bandwidth[NODES * NODES], latency[NODES * NODES];
static bool direct[NODES * NODES];
static size_t bytes[NODES];

static struct orr_copy *copies[COPIES];
static unsigned ncopies;
static struct orr_context *machine_context;

/* --- the machine --- */

static bool is_ram(unsigned node)
{
    return nodes[node].kind == STARPU_CPU_RAM;
}

static int machine_alloc(struct orr_driver *driver, unsigned node, size_t size,
                         uintptr_t *ret)
{
    void *memory = malloc(size);

    (void)driver;
    STEP_ASSERT(memory != NULL);
    STEP_ASSERT(!(orr_self->ranks >> ORR_RANK_HANDLE & 1));
    bytes[node] += size;
    if (!is_ram(node) && nodes[node].capacity)
        STEP_ASSERT(bytes[node] <= nodes[node].capacity);
    memset(memory, 0xa5, size);
    *ret = (uintptr_t)memory;
    return 0;
}

static void machine_free(struct orr_driver *driver, unsigned node,
                         uintptr_t address, size_t size)
{
    (void)driver;
    STEP_ASSERT(!(orr_self->ranks >> ORR_RANK_HANDLE & 1));
    STEP_ASSERT(bytes[node] >= size);
    bytes[node] -= size;
    memset((void *)address, FREED, size);
    free((void *)address);
}

static void machine_copy_start(struct orr_driver *driver, struct orr_copy *copy)
{
    const struct orr_machine *machine = driver->machine;

    STEP_ASSERT(direct[copy->src * machine->nnodes + copy->dst]);
    STEP_ASSERT(orr_self->ranks == 0);
    if (is_ram(copy->src) && is_ram(copy->dst)) {
        (void)copy->perform(copy, NULL);
        copy->done(copy);
        return;
    }
    STEP_ASSERT(ncopies < COPIES);
    copies[ncopies++] = copy;
    exec.ops->wake(&exec, machine_context);
}

static int machine_kernel_start(struct orr_driver *driver,
                                struct orr_kernel *kernel)
{
    (void)driver;
    kernel->start = kernel->end = exec.ops->now(&exec);
    kernel->run(kernel);
    return 1;
}

static void machine_close(struct orr_machine *machine)
{
    (void)machine;
}

/* Copies end in any order, at any time. */
static void be_machine(void *arg)
{
    (void)arg;
    while (!step_is_ending()) {
        if (ncopies) {
            unsigned i = step_choose(ncopies);
            struct orr_copy *copy = copies[i];

            copies[i] = copies[--ncopies];
            (void)copy->perform(copy, NULL);
            copy->done(copy);
        } else {
            exec.ops->park(&exec, ORR_FOREVER);
        }
    }
}

static const struct orr_machine_ops machine_ops = {
    .close = machine_close,
};

static const struct orr_driver_ops driver_ops = {
    .name = "steps",
    .alloc = machine_alloc,
    .free = machine_free,
    .copy_start = machine_copy_start,
    .kernel_start = machine_kernel_start,
};

static struct orr_machine machine;
static struct orr_driver driver = {&driver_ops, &machine};
static char name[] = "steps";
static struct orr_machine machine = {
    .ops = &machine_ops,
    .exec = &exec,
    .runs_kernels = true,
    .runs_host_functions = true,
    .host_copies_at_once = true,
    .name = name,
    .host = name,
    .nodes = nodes,
    .workers = descs,
    .bandwidth = bandwidth,
    .latency = latency,
    .direct = direct,
};

static void make_machine(void)
{
    unsigned nram = spec.nram ? spec.nram : 1, n = nram + spec.ndevices;

    for (unsigned i = 0; i < n; i++) {
        nodes[i] = (struct orr_node_desc){
            .kind = i < nram ? STARPU_CPU_RAM : STARPU_CUDA_RAM,
            .host_addressable = true,
            .driver = &driver,
            .devid = (int)(i < nram ? i : i - nram),
            .capacity =
                (size_t)(i < nram ? spec.ram_room : spec.room) * DATUM_SIZE,
        };
        for (unsigned k = 0; k < (i < nram ? spec.ncpus : 1); k++)
            descs[machine.nworkers++] = (struct orr_worker_desc){
                .type = i < nram ? STARPU_CPU_WORKER : STARPU_CUDA_WORKER,
                .devid = (int)(i < nram ? k : i - nram),
                .node = i,
                .cpu = -1,
                .pipeline = 1,
                .speed = 1,
                .driver = &driver,
            };
    }
    for (unsigned w = 0; w < machine.nworkers; w++)
        snprintf(descs[w].name, sizeof(descs[w].name), "worker %u", w);
    for (unsigned i = 0; i < n * n; i++) {
        bandwidth[i] = 1000;
        latency[i] = 10;
        direct[i] =
            i / n != i % n && (spec.peers || i / n < nram || i % n < nram);
    }
    machine.nnodes = n;
}

int __wrap_orr_real_machine_open(const struct orr_machine_options *options,
                                 struct orr_machine **ret,
                                 struct orr_error *err);
int __wrap_orr_real_machine_open(const struct orr_machine_options *options,
                                 struct orr_machine **ret,
                                 struct orr_error *err)
{
    (void)options, (void)err;
    make_machine();
    main_context = (struct orr_context){.exec = &exec};
    orr_self = &main_context;
    *ret = &machine;
    return 0;
}

void world_open(const struct world_spec *what)
{
    spec = *what;
    setenv("ORRERY_EVICTION", spec.eviction ? spec.eviction : "nextuse", 1);
    setenv("STARPU_SCHED", "eager", 1);
    unsetenv("ORRERY_MACHINE");
    unsetenv("ORRERY_CHECK_BOUNDS");
    if (orr_runtime_start(NULL, NULL, NULL) != 0)
        step_fail("the run cannot be opened");
    world = main_context.runtime;
    atomic_store(&world->workers->nactive, 0); /* its workers never run */
    objects_begin();
}

/* --- data --- */

/* Others may come between the two words; a piece has one of them. */
static int copy_words(void *src, unsigned src_node, void *dst,
                      unsigned dst_node, void *async_data)
{
    const struct starpu_vector_interface *from = src, *to = dst;
    const uint64_t *a = (const uint64_t *)from->ptr;
    uint64_t *b = (uint64_t *)to->ptr;

    (void)async_data;
    STEP_ASSERT(!(orr_self->ranks >> ORR_RANK_HANDLE & 1));
    b[0] = a[0];
    if (from->nx < DATUM_SIZE)
        return 0;
    STEP_POINT("copy", "half of it");
    b[1] = a[1];
    /* A device's copy may become useless meanwhile, a thread's is waited for. */
    if (is_ram(src_node) && is_ram(dst_node))
        STEP_ASSERT(b[1] == ~b[0]);
    return 0;
}

static void make_datum(struct datum *datum)
{
    static const struct starpu_data_copy_methods methods = {.any_to_any =
                                                                copy_words};
    static struct starpu_data_interface_ops ops;
    struct starpu_vector_interface vector = {
        .id = STARPU_VECTOR_INTERFACE_ID,
        .nx = DATUM_SIZE,
        .elemsize = 1,
        .allocsize = DATUM_SIZE,
        .ptr = (uintptr_t)datum->home,
        .dev_handle = (uintptr_t)datum->home,
    };

    ops = starpu_interface_vector_ops;
    ops.copy_methods = &methods;
    memset(datum, 0, sizeof(*datum));
    datum->value = datum->home[0] = 1;
    datum->home[1] = ~datum->home[0];
    STEP_ASSERT(orr_handle_new(world, NULL, 0, &vector, &ops, &datum->handle) == 0);
}

static uint64_t *words(const struct datum *datum, int node)
{
    const struct starpu_vector_interface *vector;

    if (node < 0)
        return (uint64_t *)(uintptr_t)datum->home;
    vector = datum->handle->replicates[node].interface;
    STEP_ASSERT(vector->ptr != 0);
    return (uint64_t *)vector->ptr;
}

static void check_words(const struct datum *datum, int node)
{
    const uint64_t *w = words(datum, node);

    if (w[1] != ~w[0])
        step_fail("a value of data %d on node %d is torn", (int)(datum - data),
                  node);
    if (!datum->unknown && w[0] != datum->value)
        step_fail("data %d on node %d are %llu, not %llu", (int)(datum - data),
                  node, (unsigned long long)w[0],
                  (unsigned long long)datum->value);
}

static void write_words(struct datum *datum, int node, uint64_t value)
{
    uint64_t *w = words(datum, node);

    w[0] = value;
    STEP_POINT("kernel", "half of it");
    w[1] = ~value;
    datum->value = value;
    datum->unknown = false;
}

void world_expect(struct datum *datum, unsigned node)
{
    if (datum->handle->valid >> node & 1)
        check_words(datum, (int)node);
}

/* --- exclusion and values --- */

static uint64_t last_value;

static void enter(struct datum *datum, uint32_t mode)
{
    bool writes = mode & STARPU_W;

    if (datum->writers || (writes && datum->readers))
        step_fail("data %d: an access beside a writer", (int)(datum - data));
    datum->writers += writes;
    datum->readers += !writes;
}

static void touch(struct datum *datum, uint32_t mode, int node)
{
    if (mode & STARPU_R)
        check_words(datum, node);
    STEP_POINT("kernel", "runs");
    if (mode & STARPU_R)
        check_words(datum, node);
    if (mode & STARPU_W)
        write_words(datum, node, ++last_value);
}

static void leave(struct datum *datum, uint32_t mode)
{
    datum->writers -= (mode & STARPU_W) != 0;
    datum->readers -= !(mode & STARPU_W);
}

void world_read(struct datum *datum, unsigned node)
{
    enter(datum, STARPU_R);
    touch(datum, STARPU_R, (int)node);
    leave(datum, STARPU_R);
}

void world_write(struct datum *datum, unsigned node)
{
    enter(datum, STARPU_RW);
    touch(datum, STARPU_RW, (int)node);
    leave(datum, STARPU_RW);
}

/* --- jobs --- */

static struct entry {
    struct orr_job *job; /* while it is ready and waits to be run */
    unsigned thread, sequence;
    int node;
    unsigned nready;
    bool ended;
} entries[WORLD_JOBS];
static unsigned nended, sequences[STEP_CONTEXTS];
static struct orr_context *helpers[STEP_CONTEXTS];
static unsigned nhelpers;

/* Those who run jobs of the node and nobody else, who might have missed a wake of
 * the library's. */
static void wake_helpers(int node)
{
    for (unsigned i = 0; i < nhelpers; i++) {
        const struct orr_worker *worker = helpers[i]->worker;

        if (helpers[i] != orr_self &&
            (worker ? (int)worker->desc->node == node : node < 0))
            exec.ops->wake(&exec, helpers[i]);
    }
}

static void job_ready(struct orr_runtime *rt, struct orr_job *job)
{
    struct entry *entry = &entries[job->id];

    (void)rt;
    STEP_ASSERT(orr_self->ranks == 0);
    orr_job_set_state(job, ORR_JOB_READY);
    if (entry->nready++)
        step_fail("job %u is ready twice", (unsigned)job->id);
    entry->job = job;
    wake_helpers(entry->node);
}

static void job_arrived(struct orr_runtime *rt, struct orr_job *job, int worker)
{
    (void)job;
    orr_worker_wake(&rt->workers->at[worker]);
}

static const struct orr_job_type job_type = {.ready = job_ready,
                                             .arrived = job_arrived};

struct orr_job *world_job(unsigned thread, unsigned n)
{
    struct orr_job *job = orr_job_new(world, &job_type, n);

    STEP_ASSERT(job != NULL);
    job->naccesses = 0;
    job->worker = (int)thread; /* until it is submitted */
    return job;
}

void world_use(struct orr_job *job, struct datum *datum, uint32_t mode,
               bool ordered)
{
    struct orr_access *access = &job->accesses[job->naccesses];

    access->job = job;
    access->handle = datum->handle;
    access->mode = (uint16_t)mode;
    access->index = job->naccesses++;
    access->wants_order = ordered;
}

void world_submit(struct orr_job *job, int node)
{
    struct orr_access *chain = orr_job_sort_accesses(job);
    unsigned thread = (unsigned)job->worker;

    job->worker = -1;
    job->id = atomic_fetch_add(&world->tasks->last_job, 1) + 1;
    STEP_ASSERT(job->id < WORLD_JOBS);
    entries[job->id] = (struct entry){
        .thread = thread, .sequence = ++sequences[thread], .node = node};
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    orr_job_order(world, job, chain);
    orr_job_release(world, job);
}

void world_submit_one(unsigned thread, struct datum *datum, uint32_t mode,
                      int node)
{
    struct orr_job *job = world_job(thread, 1);

    world_use(job, datum, mode, true);
    world_submit(job, node);
}

static struct datum *datum_of(const struct orr_access *access)
{
    for (unsigned i = 0; i < WORLD_DATA; i++)
        if (data[i].handle == access->handle)
            return &data[i];
    step_fail("data that were freed are used");
}

/* What one thread has submitted comes in that order. */
static void check_turn(struct datum *datum, const struct orr_access *access,
                       const struct entry *entry)
{
    bool writes = access->mode & STARPU_W;
    unsigned *wrote = &datum->wrote[entry->thread];
    unsigned *used = &datum->used[entry->thread];

    if (!access->wants_order || access->mode & STARPU_COMMUTE)
        return;
    if (entry->sequence <= (writes ? *used : *wrote))
        step_fail("data %d: out of the order of submission",
                  (int)(datum - data));
    *used = *used > entry->sequence ? *used : entry->sequence;
    if (writes) {
        *wrote = entry->sequence;
        datum->log[datum->nlog++] = access->job->id;
    }
}

static void run_kernel(struct orr_job *job, int node, struct entry *entry)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        struct datum *datum = datum_of(&job->accesses[i]);

        if (entry)
            check_turn(datum, &job->accesses[i], entry);
        enter(datum, job->accesses[i].mode);
    }
    for (unsigned i = 0; i < job->naccesses; i++)
        touch(datum_of(&job->accesses[i]), job->accesses[i].mode, node);
    for (unsigned i = 0; i < job->naccesses; i++)
        leave(datum_of(&job->accesses[i]), job->accesses[i].mode);
}

/* As the loop of core/worker: looks twice before it falls asleep. */
static void progress_or_park(unsigned node)
{
    if (!orr_node_progress(world, node) && !orr_node_progress(world, node))
        exec.ops->park(&exec, ORR_FOREVER);
}

static void fetch(struct orr_job *job, unsigned node)
{
    job->worker = (int)orr_self->worker->id;
    orr_job_set_state(job, ORR_JOB_FETCHING);
    if (!orr_job_fetch(world, job, node))
        while (atomic_load_explicit(&job->data.pending, memory_order_acquire))
            progress_or_park(node);
    orr_job_take_data(world, job, node);
    orr_job_set_state(job, ORR_JOB_RUNNING);
}

void world_run(uint64_t id)
{
    struct entry *entry = &entries[id];
    struct orr_job *job = entry->job;

    if (!job)
        return; /* another thread has it */
    entry->job = NULL;
    if (entry->node >= 0)
        fetch(job, (unsigned)entry->node);
    run_kernel(job, entry->node, entry);
    if (entry->node >= 0)
        orr_job_drop_data(world, job);
    orr_job_complete(world, job);
    entry->ended = true;
    nended++;
    wake_helpers(-1);
}

/* The first that is ready for the node. */
static uint64_t find_ready(int node)
{
    for (uint64_t id = 1; id < WORLD_JOBS; id++)
        if (entries[id].job && entries[id].node == node)
            return id;
    return 0;
}

unsigned world_ended(void)
{
    return nended;
}

void world_help(unsigned njobs)
{
    helpers[nhelpers++] = orr_self;
    while (nended < njobs) {
        uint64_t id = find_ready(-1);

        if (id)
            world_run(id);
        else
            exec.ops->park(&exec, ORR_FOREVER);
    }
}

/* --- contexts --- */

static void (*thread_body)(unsigned);

static void be_thread(void *arg)
{
    thread_body((unsigned)(uintptr_t)arg);
}

void world_thread(unsigned number, void (*body)(unsigned))
{
    static const char *const names[] = {"thread 0", "thread 1", "thread 2",
                                        "thread 3"};
    struct orr_context init = {
        .exec = &exec, .runtime = world, .name = names[number]};

    thread_body = body;
    (void)step_spawn(&init, false, be_thread, (void *)(uintptr_t)number);
}

static void be_worker(void *arg)
{
    struct orr_worker *worker = arg;
    int node = (int)worker->desc->node;

    while (!step_is_ending()) {
        uint64_t id = find_ready(node);

        if (atomic_load_explicit(&world->data->ndead, memory_order_acquire))
            orr_handles_free_dead(world);
        step_be_busy(id != 0);
        if (id)
            world_run(id);
        else
            progress_or_park((unsigned)node);
    }
}

void world_worker(unsigned id)
{
    struct orr_worker *worker = &world->workers->at[id];
    struct orr_context init = {.exec = &exec,
                               .runtime = world,
                               .worker = worker,
                               .cache = id + 1,
                               .name = worker->desc->name};

    worker->context = step_spawn(&init, true, be_worker, worker);
    helpers[nhelpers++] = worker->context;
}

static void reset_workers(void)
{
    for (unsigned w = 0; w < world->workers->n; w++) {
        struct orr_worker *worker = &world->workers->at[w];

        worker->ntasks = 0;
        worker->busy_us = 0;
        worker->fetching = NULL;
        worker->running = 0;
        atomic_store(&worker->state, ORR_WORKER_IDLE);
        (void)orr_worker_rouse(worker);
        atomic_store(&worker->stop, false);
    }
}

void world_begin(unsigned ndata)
{
    struct orr_context init = {
        .exec = &exec, .runtime = world, .name = "machine", .machine = true};

    memset(entries, 0, sizeof(entries));
    memset(sequences, 0, sizeof(sequences));
    nended = nhelpers = 0;
    last_value = 1;
    atomic_store(&world->tasks->last_job, 0);
    atomic_store(&world->data->last_handle, 0);
    atomic_store(&world->data->last_claim, 0);
    atomic_store(&world->nodes->last_copy, 0);
    atomic_store(&world->views->first_submit, -1);
    atomic_store(&world->nodes->nreturns, 0);
    for (unsigned node = 0; node < world->nodes->n; node++)
        atomic_store(&world->nodes->at[node].most_used, 0);
    if (spec.ndevices)
        machine_context = step_spawn(&init, true, be_machine, NULL);
    reset_workers();
    for (unsigned i = 0; i < WORLD_DATA; i++)
        data[i].handle = NULL;
    for (unsigned i = 0; i < ndata; i++)
        make_datum(&data[i]);
    if (spec.loops)
        STEP_ASSERT(orr_workers_start(world) == 0);
}

/* --- what must be true --- */

void world_look(void)
{
    if (world->lock.taken)
        return;
    orr_list_foreach (link, &world->data->handles) {
        struct orr_handle *handle = orr_container(link, struct orr_handle, all);

        if (!handle->lock.taken && !handle->dying)
            orr_handle_check(handle);
    }
}

/* Two writers of two data come in one order on both. */
static void check_one_order(const struct datum *a, const struct datum *b)
{
    unsigned last = 0;

    for (unsigned i = 0; i < a->nlog; i++)
        for (unsigned k = 0; k < b->nlog; k++)
            if (a->log[i] == b->log[k]) {
                if (k + 1 < last)
                    step_fail("two jobs come in two orders");
                last = k + 1;
            }
}

static void free_datum(struct datum *datum)
{
    struct orr_handle *handle = datum->handle;

    STEP_ASSERT(handle->nusers == 0);
    STEP_ASSERT(handle->loading == 0);
    STEP_ASSERT(orr_turns_empty(&handle->turns));
    STEP_ASSERT(orr_list_empty(&handle->claims.queue));
    STEP_ASSERT(handle->claims.n == 0);
    for (unsigned node = 0; node < world->nodes->n; node++) {
        STEP_ASSERT(handle->replicates[node].refs == 0);
        STEP_ASSERT(handle->replicates[node].writers == 0);
        STEP_ASSERT(handle->replicates[node].promised == 0);
        world_expect(datum, node);
    }
    orr_handle_free(handle);
}

/* What may remain, since it is only looked at again, is as at the beginning. */
static void end_node(unsigned id)
{
    struct orr_node *node = &world->nodes->at[id];

    (void)orr_cache_shrink(node, 0);
    STEP_ASSERT(bytes[id] == 0);
    STEP_ASSERT(node->used == 0);
    STEP_ASSERT(node->reserved == 0);
    STEP_ASSERT(node->nqueued == 0);
    STEP_ASSERT(node->admission.nwaiting == 0);
    STEP_ASSERT(node->admission.nadmitted == 0);
    STEP_ASSERT(node->admission.nleaving == 0);
    (void)orr_node_take_short(node);
    atomic_store(&node->admission.changed, false);
    atomic_store(&node->admission.starved, false);
    node->admission.tried = 0;
    node->vain.size = 0;
    for (unsigned need = 0; need < ORR_NNEEDS; need++)
        atomic_store(&node->changes[need], 0);
}

void world_end(void)
{
    orr_runtime_check(world, UINT32_MAX);
    STEP_ASSERT(ncopies == 0);
    for (uint64_t id = 1; id <= world->tasks->last_job && id < WORLD_JOBS; id++)
        if (!spec.loops && entries[id].nready != entries[id].ended)
            step_fail("job %u has not ended", (unsigned)id);
    for (unsigned i = 0; i < WORLD_DATA; i++)
        for (unsigned k = 0; k < i; k++)
            if (data[i].handle && data[k].handle)
                check_one_order(&data[i], &data[k]);
    for (unsigned i = 0; i < WORLD_DATA; i++)
        if (data[i].handle)
            free_datum(&data[i]);
    STEP_ASSERT(orr_list_empty(&world->data->handles));
    STEP_ASSERT(orr_list_empty(&world->data->dead));
    for (unsigned node = 0; node < world->nodes->n; node++)
        end_node(node);
    objects_end();
}

/* --- tasks --- */

static void task_kernel(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
    run_kernel(orr_self->job, (int)orr_self->worker->desc->node, NULL);
    nended++;
}

void world_task(unsigned n, struct datum *const *which, uint32_t mode,
                int worker)
{
    static struct starpu_codelet codelets[4];
    struct starpu_codelet *codelet = &codelets[n];
    struct starpu_task *task = starpu_task_create();

    STEP_ASSERT(task != NULL && n < 4);
    codelet->cpu_funcs[0] = codelet->cuda_funcs[0] = task_kernel;
    codelet->nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet->name = "step";
    task->cl = codelet;
    task->nbuffers = (int)n;
    for (unsigned i = 0; i < n; i++) {
        task->handles[i] = orr_handle_public(which[i]->handle);
        task->modes[i] = (enum starpu_data_access_mode)mode;
    }
    if (worker >= 0) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)worker;
    }
    STEP_ASSERT(orr_task_submit(world, task, true, false) == 0);
}
