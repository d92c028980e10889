/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/fake_runtime.c - see fake_runtime.h.
 */
#include "tests/unit/fake_runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/data/bus.h"
#include "core/data/nodes.h"
#include "core/data/plan.h"
#include "core/data/registry.h"
#include "core/device/driver.h"
#include "core/job/count.h"
#include "core/slab_set.h"
#include "core/task/again.h"
#include "core/task/tag.h"

static void look(void);

#define WRAPPED_LOOK() look()
#include "core/data/release.h"
#include "core/job/tasks.h"
#include "core/task/end.h"
#include "core/worker/workers.h"
#include "tests/oom/wrapped.h"

struct fake fake;

static struct orr_context main_context, contexts[FAKE_WORKERS];
static struct orr_worker workers[FAKE_WORKERS];
static struct orr_worker_desc descs[FAKE_WORKERS];
static struct orr_node_desc nodes[FAKE_NODES];
static double bandwidth[FAKE_NODES * FAKE_NODES];
static double latency[FAKE_NODES * FAKE_NODES];
static bool direct[FAKE_NODES * FAKE_NODES];
static struct orr_job *jobs[FAKE_JOBS];
static unsigned job_nodes[FAKE_JOBS];
static unsigned njobs;
static bool failed; /* the test that runs */
static struct memory {
    struct memory *next;
} * memories; /* homes of data */

/* --- what must always be true --- */

/* Check's own assertions allocate, even those that hold. */
static void check(bool holds, const char *what)
{
    if (holds || failed)
        return;
    failed = true;
    left = -1;
    ck_abort_msg("%s", what);
}

static void look(void)
{
    if (!fake.rt.exec)
        return;
    orr_list_foreach (link, &fake.rt.data->handles) {
        struct orr_handle *handle = orr_container(link, struct orr_handle, all);

        check(handle == fake.held || !handle->lock.taken,
              "a handle is locked meanwhile");
    }
}

long fake_refuse(long n)
{
    long before = left;

    left = n;
    return before;
}

static int kind_of(const struct orr_slab *slab)
{
    if (slab == fake.rt.slabs->requests)
        return FAKE_REQUESTS;
    return slab == fake.rt.slabs->edges ? FAKE_EDGES : FAKE_OBJECTS;
}

void *__real_orr_slab_get(struct orr_slab *slab);
void *__real_orr_slab_get_zeroed(struct orr_slab *slab);
void __real_orr_slab_put(struct orr_slab *slab, void *object);
void *__wrap_orr_slab_get(struct orr_slab *slab);
void *__wrap_orr_slab_get_zeroed(struct orr_slab *slab);
void __wrap_orr_slab_put(struct orr_slab *slab, void *object);

static void *take_by(void *(*get)(struct orr_slab *), struct orr_slab *slab)
{
    void *object;

    look();
    if (slab == fake.no_slab)
        return NULL;
    object = get(slab);
    fake.ntaken++;
    fake.out[kind_of(slab)] += object != NULL;
    return object;
}

void *__wrap_orr_slab_get(struct orr_slab *slab)
{
    return take_by(__real_orr_slab_get, slab);
}

void *__wrap_orr_slab_get_zeroed(struct orr_slab *slab)
{
    return take_by(__real_orr_slab_get_zeroed, slab);
}

void __wrap_orr_slab_put(struct orr_slab *slab, void *object)
{
    fake.out[kind_of(slab)]--;
    __real_orr_slab_put(slab, object);
}

/* --- time and contexts --- */

static unsigned bit_of(const struct orr_context *context)
{
    return 1U << (context->worker ? context->worker->id : FAKE_MAIN);
}

static double fake_now(struct orr_exec *exec)
{
    (void)exec;
    return fake.now;
}

/* Spurious returns are allowed: waiting contexts check again. */
static void fake_park(struct orr_exec *exec, double until)
{
    (void)exec;
    (void)until;
    check(orr_self->ranks == 0, "waits with a lock held");
    check(orr_self->frozen == 0, "waits with user code on the stack");
    if (!(fake.woken & bit_of(orr_self))) {
        check(fake.meanwhile != NULL, "would wait for ever");
        fake.meanwhile();
    }
    fake.woken &= ~bit_of(orr_self);
}

static void fake_wake(struct orr_exec *exec, struct orr_context *context)
{
    (void)exec;
    look();
    fake.woken |= bit_of(context);
}

static void fake_sleep(struct orr_exec *exec, double us)
{
    (void)exec;
    fake.now += us;
}

static void fake_relax(struct orr_exec *exec)
{
    (void)exec;
    check(fake.meanwhile != NULL, "would spin for ever");
    fake.meanwhile();
}

static const struct orr_exec_ops exec_ops = {
    .now = fake_now,
    .recently = fake_now,
    .park = fake_park,
    .wake = fake_wake,
    .sleep = fake_sleep,
    .relax = fake_relax,
};
static struct orr_exec exec;

/* --- memory and copies --- */

static int fake_alloc(struct orr_driver *driver, unsigned node, size_t size,
                      uintptr_t *ret)
{
    const struct orr_machine *machine = driver->machine;
    void *memory;

    look();
    if (fake.allocating)
        fake.allocating(node);
    if (fake.no_memory >> node & 1)
        return -ENOMEM;
    check(machine->nodes[node].kind == STARPU_CPU_RAM ||
              !nodes[node].capacity ||
              fake.bytes[node] + size <= nodes[node].capacity,
          "a device gets more memory than it has");
    memory = __real_malloc(size);
    check(memory != NULL, "out of memory");
    memset(memory, 0xa5, size);
    fake.bytes[node] += size;
    *ret = (uintptr_t)memory;
    return 0;
}

static void fake_free(struct orr_driver *driver, unsigned node,
                      uintptr_t address, size_t size)
{
    (void)driver;
    look();
    check(fake.bytes[node] >= size, "more is freed than was allocated");
    fake.bytes[node] -= size;
    free((void *)address);
}

/* Real machines copy between nodes of main memory at once. */
static void fake_copy_start(struct orr_driver *driver, struct orr_copy *copy)
{
    const struct orr_machine *machine = driver->machine;

    look();
    check(copy->size > 0, "a copy of nothing");
    if (copy->src == copy->dst) { /* so does any device within its memory */
        (void)copy->perform(copy, NULL);
        copy->done(copy);
        return;
    }
    check(direct[copy->src * machine->nnodes + copy->dst],
          "a copy where there is no link");
    fake.nstarted++;
    if (machine->host_copies_at_once &&
        nodes[copy->src].kind == STARPU_CPU_RAM &&
        nodes[copy->dst].kind == STARPU_CPU_RAM) {
        (void)copy->perform(copy, NULL);
        copy->done(copy);
        return;
    }
    check(fake.ncopies < FAKE_COPIES, "too many copies");
    fake.copies[fake.ncopies++] = copy;
}

static const struct orr_driver_ops driver_ops = {
    .name = "fake",
    .alloc = fake_alloc,
    .free = fake_free,
    .copy_start = fake_copy_start,
};
static struct orr_driver driver = {&driver_ops, &fake.machine};

/* --- opening and closing --- */

static void make_nodes(const struct fake_spec *spec)
{
    unsigned nram = spec->nram ? spec->nram : 1, n = nram + spec->ndevices;

    ck_assert_uint_le(n, FAKE_NODES);
    for (unsigned i = 0; i < n; i++)
        nodes[i] = (struct orr_node_desc){
            .kind = i < nram ? STARPU_CPU_RAM : STARPU_CUDA_RAM,
            .devid = (int)(i < nram ? i : i - nram),
            .host_addressable = true,
            .driver = &driver,
            .capacity = i < nram ? spec->ram_bytes : spec->device_bytes,
        };
    for (unsigned i = 0; i < n * n; i++) {
        unsigned src = i / n, dst = i % n;

        bandwidth[i] = 1000;
        latency[i] = 10;
        direct[i] = src != dst && (spec->peers || src < nram || dst < nram);
    }
    fake.machine.nnodes = fake.machine.row = n;
    fake.rt.nodes->nram = nram;
}

static void make_worker(enum starpu_worker_archtype type, unsigned node)
{
    unsigned w = fake.machine.nworkers++;

    ck_assert_uint_lt(w, FAKE_WORKERS);
    descs[w] = (struct orr_worker_desc){.type = type,
                                        .node = node,
                                        .cpu = -1,
                                        .pipeline = 1,
                                        .speed = 1,
                                        .driver = &driver};
    workers[w] = (struct orr_worker){.id = w,
                                     .desc = &descs[w],
                                     .runtime = &fake.rt,
                                     .context = &contexts[w]};
    contexts[w] = (struct orr_context){.exec = &exec,
                                       .runtime = &fake.rt,
                                       .worker = &workers[w],
                                       .cache = w + 1};
    orr_lock_init(&workers[w].lock, ORR_RANK_WORKER);
    orr_list_init(&workers[w].local);
    orr_list_init(&workers[w].ended);
    orr_list_init(&workers[w].resumed);
}

static void make_workers(const struct fake_spec *spec)
{
    for (unsigned node = 0; node < fake.machine.nnodes; node++) {
        bool device = node >= fake.rt.nodes->nram;
        unsigned n = device ? 1 : spec->ncpus;

        while (!(spec->empty >> node & 1) && n-- > 0)
            make_worker(device ? STARPU_CUDA_WORKER : STARPU_CPU_WORKER, node);
    }
}

static void make_slabs(struct orr_runtime *rt)
{
    unsigned n = rt->workers->n;

    rt->slabs->jobs_have_memory = true;
    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        ck_assert_int_eq(
            orr_slab_new(orr_job_size(i, true), n, &rt->slabs->jobs[i]), 0);
    ck_assert_int_eq(
        orr_slab_new(sizeof(struct orr_edge), n, &rt->slabs->edges), 0);
    ck_assert_int_eq(
        orr_slab_new(sizeof(struct starpu_task), n, &rt->slabs->tasks), 0);
    ck_assert_int_eq(
        orr_slab_new(sizeof(struct orr_request), n, &rt->slabs->requests), 0);
}

void fake_open(const struct fake_spec *spec)
{
    struct orr_runtime *rt = &fake.rt;

    memset(&fake, 0, sizeof(fake));
    failed = false;
    left = -1;
    njobs = 0; /* of a test that failed */
    memories = NULL;
    exec = (struct orr_exec){.ops = &exec_ops,
                             .one_thread = spec->simulated,
                             .virtual_time = spec->simulated};
    main_context = (struct orr_context){.exec = &exec, .runtime = rt};
    orr_self = &main_context;
    fake.machine =
        (struct orr_machine){.exec = &exec,
                             .kernels_take_their_length = spec->simulated,
                             .models_energy = spec->simulated,
                             .host_copies_at_once = !spec->simulated,
                             .runs_kernels = true,
                             .nodes = nodes,
                             .workers = descs,
                             .bandwidth = bandwidth,
                             .latency = latency,
                             .direct = direct};
    orr_runtime_set_members(rt, &fake.members);
    make_nodes(spec);
    make_workers(spec);
    rt->machine = &fake.machine;
    rt->exec = &exec;
    rt->main = &main_context;
    rt->nodes->n = fake.machine.nnodes;
    rt->workers->n = fake.machine.nworkers;
    rt->workers->at = workers;
    rt->nodes->eviction = spec->eviction ? spec->eviction : &orr_eviction_lru;
    ck_assert_int_eq(orr_counters_new(rt->workers->n, rt), 0);
    make_slabs(rt);
    ck_assert_int_eq(orr_buses_new(rt), 0);
    ck_assert_int_eq(orr_nodes_new(rt), 0);
    for (unsigned node = 0; node < rt->nodes->n; node++)
        rt->nodes->at[node].cache.used = false; /* what is freed is seen so */
    ck_assert_int_eq(orr_tags_new(&rt->tasks->tags), 0);
    ck_assert_int_eq(orr_agains_new(&rt->tasks->agains), 0);
}

/* The runtime holds those that were not submitted, and no others. */
static void end_jobs(void)
{
    while (njobs) {
        struct orr_job *job = jobs[--njobs];
        bool is_new = orr_job_state(job) == ORR_JOB_NEW;
        unsigned refs = atomic_load(&job->refs);

        ck_assert(is_new || orr_job_state(job) == ORR_JOB_DONE);
        ck_assert_uint_eq(refs, is_new ? 2 : 1);
        while (refs--)
            orr_job_unref(&fake.rt, job);
    }
}

static void end_handles(void)
{
    while (!orr_list_empty(&fake.rt.data->handles)) {
        struct orr_handle *handle =
            orr_container(fake.rt.data->handles.next, struct orr_handle, all);

        orr_handle_wait_idle(&fake.rt, handle, true);
        for (unsigned node = 0; node < fake.rt.nodes->n; node++)
            ck_assert_uint_eq(handle->replicates[node].refs, 0);
        orr_handle_free(handle);
    }
    while (memories) {
        struct memory *next = memories->next;

        free(memories);
        memories = next;
    }
}

void fake_close(void)
{
    struct orr_runtime *rt = &fake.rt;

    fake_be(-1);
    fake.meanwhile = NULL;
    ck_assert_uint_eq(fake.ncopies, 0);
    end_jobs();
    end_handles();
    for (unsigned w = 0; w < rt->workers->n; w++)
        ck_assert_uint_eq(contexts[w].ranks, 0);
    ck_assert_uint_eq(main_context.ranks, 0);
    ck_assert_uint_eq(main_context.frozen, 0);
    for (unsigned node = 0; node < rt->nodes->n; node++) {
        ck_assert_uint_eq(fake.bytes[node], 0);
        ck_assert_uint_eq(rt->nodes->at[node].used, 0);
        ck_assert_uint_eq(rt->nodes->at[node].reserved, 0);
        ck_assert_uint_eq(rt->nodes->at[node].admission.nwaiting, 0);
        ck_assert_uint_eq(rt->nodes->at[node].admission.nleaving, 0);
    }
    for (unsigned kind = 0; kind < 3; kind++)
        ck_assert_int_eq(fake.out[kind], 0);
    orr_tags_free(rt->tasks->tags);
    orr_agains_free(rt->tasks->agains);
    orr_counters_free(rt);
    orr_nodes_free(rt);
    orr_buses_free(rt);
    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        orr_slab_free(rt->slabs->jobs[i]);
    orr_slab_free(rt->slabs->edges);
    orr_slab_free(rt->slabs->tasks);
    orr_slab_free(rt->slabs->requests);
    rt->exec = NULL;
    orr_self = NULL;
}

void fake_be(int worker)
{
    orr_self = worker < 0 ? &main_context : &contexts[worker];
}

int fake_driver(unsigned node)
{
    for (unsigned w = 0; w < fake.rt.workers->n; w++)
        if (descs[w].node == node)
            return (int)w;
    return -1;
}

/* --- data --- */

/* A vector's methods; memory is the machine's, which looks. */
static starpu_ssize_t allocate(void *interface, unsigned node)
{
    look();
    return starpu_interface_vector_ops.allocate_data_on_node(interface, node);
}

static void deallocate(void *interface, unsigned node)
{
    look();
    starpu_interface_vector_ops.free_data_on_node(interface, node);
}

static int copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
                void *async_data)
{
    look();
    return starpu_interface_vector_ops.copy_methods->any_to_any(
        src, src_node, dst, dst_node, async_data);
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = copy,
};

static struct starpu_data_interface_ops *checked_ops(void)
{
    static struct starpu_data_interface_ops ops;

    ops = starpu_interface_vector_ops;
    ops.allocate_data_on_node = allocate;
    ops.free_data_on_node = deallocate;
    ops.copy_methods = &copy_methods;
    return &ops;
}

struct orr_handle *fake_handle(int home, size_t size)
{
    struct memory *memory = NULL;
    struct starpu_vector_interface vector = {
        .id = STARPU_VECTOR_INTERFACE_ID,
        .nx = (uint32_t)size,
        .elemsize = 1,
        .allocsize = size,
    };
    struct orr_handle *handle = NULL;

    if (home >= 0) {
        memory = __real_calloc(1, sizeof(*memory) + size + sizeof(uint64_t));
        ck_assert_ptr_nonnull(memory);
        memory->next = memories;
        memories = memory;
        vector.ptr = vector.dev_handle = (uintptr_t)(memory + 1);
    }
    ck_assert_int_eq(
        orr_handle_new(&fake.rt, NULL, home, &vector, checked_ops(), &handle), 0);
    return handle;
}

static void *place_of(const struct orr_handle *handle, unsigned node)
{
    const struct starpu_vector_interface *vector =
        handle->replicates[node].interface;

    ck_assert(fake_is_allocated(handle, node));
    ck_assert_uint_ge(handle->size, sizeof(uint64_t));
    ck_assert_uint_ne(vector->ptr, 0);
    return (void *)vector->ptr;
}

void fake_set(struct orr_handle *handle, unsigned node, uint64_t value)
{
    memcpy(place_of(handle, node), &value, sizeof(value));
}

uint64_t fake_get(const struct orr_handle *handle, unsigned node)
{
    uint64_t value;

    memcpy(&value, place_of(handle, node), sizeof(value));
    return value;
}

bool fake_is_valid(const struct orr_handle *handle, unsigned node)
{
    return handle->valid >> node & 1;
}

bool fake_is_allocated(const struct orr_handle *handle, unsigned node)
{
    return handle->allocated >> node & 1;
}

void fake_overwrite(struct orr_handle *handle, unsigned node, uint64_t value)
{
    orr_lock(&handle->lock);
    orr_handle_outdate_locked(handle, UINT64_C(1) << node);
    orr_unlock(&handle->lock);
    fake_set(handle, node, value);
}

struct orr_handle *fake_only_on(unsigned node, uint64_t value)
{
    struct orr_handle *handle = fake_handle(0, FAKE_SIZE);

    fake_task(handle, STARPU_W, node, value);
    ck_assert_uint_eq(handle->valid, UINT64_C(1) << node);
    fake.woken = fake.nstarted = 0;
    return handle;
}

void fake_assert_idle(struct orr_handle *handle)
{
    orr_handle_wait_idle(&fake.rt, handle, false); /* else it would park */
    ck_assert_uint_eq(handle->loading, 0);
}

/* --- jobs --- */

static void job_ready(struct orr_runtime *rt, struct orr_job *job)
{
    (void)rt;
    look();
    orr_job_set_state(job, ORR_JOB_READY);
    check(fake.nready < FAKE_JOBS, "too many jobs");
    fake.ready[fake.nready++] = job->id;
}

static void job_arrived(struct orr_runtime *rt, struct orr_job *job, int worker)
{
    (void)rt;
    look();
    check(worker == job->worker, "another worker is notified");
    fake.arrived[job->id]++;
}

static const struct orr_job_type job_type = {.ready = job_ready,
                                             .arrived = job_arrived};

struct orr_job *fake_job(unsigned n)
{
    struct orr_job *job = orr_job_new(&fake.rt, &job_type, n);

    ck_assert_ptr_nonnull(job);
    ck_assert_uint_lt(njobs + 1, FAKE_JOBS);
    orr_job_ref(job);
    jobs[njobs++] = job;
    job->naccesses = 0;
    return job;
}

struct orr_access *fake_use(struct orr_job *job, struct orr_handle *handle,
                            uint32_t mode)
{
    struct orr_access *access = &job->accesses[job->naccesses];

    access->job = job;
    access->handle = handle;
    access->mode = (uint16_t)mode;
    access->index = job->naccesses++;
    access->wants_order = 1;
    return access;
}

void fake_submit(struct orr_job *job)
{
    struct orr_access *chain = orr_job_sort_accesses(job);

    job->id = atomic_fetch_add(&fake.rt.tasks->last_job, 1) + 1;
    ck_assert_uint_lt(job->id, FAKE_JOBS);
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    orr_job_order(&fake.rt, job, chain);
    orr_job_release(&fake.rt, job);
}

struct orr_job *fake_submit_one(struct orr_handle *handle, uint32_t mode)
{
    struct orr_job *job = fake_job(1);

    fake_use(job, handle, mode);
    fake_submit(job);
    return job;
}

unsigned fake_readied(const struct orr_job *job)
{
    unsigned n = 0;

    for (unsigned i = 0; i < fake.nready; i++)
        n += fake.ready[i] == job->id;
    return n;
}

bool fake_fetch(struct orr_job *job, unsigned node)
{
    struct orr_context *caller = orr_self;
    bool there;

    job_nodes[job->id] = node;
    job->worker = fake_driver(node);
    orr_job_set_state(job, ORR_JOB_FETCHING);
    fake_be(job->worker);
    there = orr_job_fetch(&fake.rt, job, node);
    if (job->worker >= 0)
        fake.woken |= bit_of(orr_self); /* it goes on without a call */
    orr_self = caller;
    return there;
}

void fake_run(struct orr_job *job, uint64_t value)
{
    unsigned node = job_nodes[job->id];

    ck_assert_int_eq(atomic_load(&job->data.pending), 0);
    orr_job_take_data(&fake.rt, job, node);
    orr_job_set_state(job, ORR_JOB_RUNNING);
    for (unsigned i = 0; i < job->naccesses; i++)
        if (job->accesses[i].mode & STARPU_W)
            fake_set(job->accesses[i].handle, node, value);
    orr_job_drop_data(&fake.rt, job);
}

void fake_end(struct orr_job *job)
{
    orr_job_complete(&fake.rt, job);
}

void fake_finish(struct orr_job *job, uint64_t value)
{
    fake_run(job, value);
    fake_end(job);
}

void fake_task(struct orr_handle *handle, uint32_t mode, unsigned node,
               uint64_t value)
{
    struct orr_job *job = fake_submit_one(handle, mode);

    ck_assert_uint_eq(fake_readied(job), 1);
    if (!fake_fetch(job, node)) {
        fake_settle();
        ck_assert_uint_eq(fake.arrived[job->id], 1);
    }
    fake_finish(job, value);
}

bool fake_will_be_written(struct orr_handle *handle)
{
    bool result;

    orr_lock(&handle->lock);
    result = orr_handle_will_be_written_locked(handle);
    orr_unlock(&handle->lock);
    return result;
}

unsigned fake_told(const struct orr_job *job)
{
    return fake.arrived[job->id];
}

struct orr_job *fake_unordered(struct orr_handle *handle, uint32_t mode)
{
    struct orr_job *job = fake_job(1);
    struct orr_access *access = fake_use(job, handle, mode);

    /* Past order and claims, which would let only some of them ask at once. */
    job->id = atomic_fetch_add(&fake.rt.tasks->last_job, 1) + 1;
    ck_assert_uint_lt(job->id, FAKE_JOBS);
    access->wants_order = 0;
    access->job = job;
    orr_lock(&handle->lock);
    handle->nusers++;
    orr_unlock(&handle->lock);
    orr_job_set_state(job, ORR_JOB_BLOCKED);
    atomic_store(&job->waiting, 0);
    job->type->ready(&fake.rt, job);
    return job;
}

struct orr_job *fake_ask(struct orr_handle *handle, uint32_t mode,
                         unsigned node)
{
    struct orr_job *job = fake_unordered(handle, mode);

    ck_assert(!fake_fetch(job, node));
    return job;
}

/* --- transfers --- */

int fake_need(struct orr_handle *handle, unsigned node, bool reads,
              enum orr_fetch_level level, struct orr_access *access)
{
    struct orr_deferred deferred = {0};
    int there;

    ck_assert_int_eq(orr_deferred_prepare(&fake.rt, &deferred), 0);
    orr_lock(&handle->lock);
    there = orr_request_need(&fake.rt, handle, node, reads, level, access,
                             &deferred);
    orr_unlock(&handle->lock);
    orr_deferred_run(&fake.rt, &deferred);
    return there;
}

static void progress_as(int worker)
{
    struct orr_context *caller = orr_self;

    fake_be(worker);
    do {
        workers[worker].again = false;
    } while (orr_node_progress(&fake.rt, descs[worker].node) ||
             workers[worker].again);
    orr_self = caller;
}

void fake_progress(unsigned node)
{
    ck_assert_int_ge(fake_driver(node), 0);
    progress_as(fake_driver(node));
}

void fake_end_copy(unsigned i)
{
    struct orr_context *caller = orr_self;
    struct orr_copy *copy = fake.copies[i];

    ck_assert_uint_lt(i, fake.ncopies);
    memmove(&fake.copies[i], &fake.copies[i + 1],
            (--fake.ncopies - i) * sizeof(*fake.copies));
    fake_be(-1);
    (void)copy->perform(copy, NULL);
    copy->done(copy);
    orr_self = caller;
}

void fake_settle(void)
{
    unsigned everybody = (1U << fake.rt.workers->n) - 1;

    for (unsigned n = 0; fake.woken & everybody || fake.ncopies; n++) {
        unsigned who = fake.woken & everybody;

        ck_assert_uint_lt(n, 100000);
        if (who) {
            fake.woken &= ~(who & -who);
            progress_as(__builtin_ctz(who));
        } else {
            fake_end_copy(0);
        }
    }
}
