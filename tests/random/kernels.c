/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/kernels.c - see run_private.h. A kernel reads all words of its
 * buffers, compares what it found with the oracle, and writes. Meanwhile, up
 * to the task's end, it stands in `users` of its data; who finds another there
 * that excludes it reports both.
 */
#include <pthread.h>
#include <string.h>

#include "machine.h"
#include "run_private.h"

/* -- who uses what -- */

enum { READER = 1, REDUCER = 1 << 8, WRITER = 1 << 16 };

static unsigned user(unsigned mode)
{
    if (mode & STARPU_REDUX)
        return REDUCER;
    return mode & STARPU_W ? WRITER : READER;
}

static bool excludes(unsigned users, unsigned mode)
{
    unsigned others = users;

    if (user(mode) == READER)
        others &= ~(unsigned)(REDUCER - 1);
    if (user(mode) == REDUCER)
        others &= ~(unsigned)(WRITER - 1) | (REDUCER - 1);
    return others != 0;
}

static void describe_users(unsigned users, char *text, size_t size)
{
    snprintf(text, size, "%u readers, %u writers, %u who reduce",
             users % REDUCER, users / WRITER, users / REDUCER % REDUCER);
}

static void come(struct run *run, const char *who, unsigned number,
                 unsigned data, unsigned mode)
{
    unsigned users = atomic_fetch_add(&run->users[data], user(mode));
    char text[80];

    if (!excludes(users, mode))
        return;
    describe_users(users, text, sizeof(text));
    report_failure(run->report, CROWDED,
                   "%s %u uses datum %u (mode 0x%x) beside %s", who, number,
                   data, mode, text);
}

static void leave(struct run *run, unsigned data, unsigned mode)
{
    atomic_fetch_sub(&run->users[data], user(mode));
}

/* The union of the modes of a datum in a task; 0 but for its first buffer. */
static unsigned whole_mode(const struct call *call, unsigned k)
{
    unsigned mode = 0;

    for (unsigned i = 0; i < call->nbuffers; i++) {
        if (call->buffers[i].data != call->buffers[k].data)
            continue;
        if (i < k)
            return 0;
        mode |= call->buffers[i].mode;
    }
    return mode & STARPU_SCRATCH ? 0 : mode;
}

/* A scratch buffer belongs to the task of one worker at a time. */
static void take_scratch(struct run *run, const struct order *order, unsigned d,
                         const uint64_t *words)
{
    unsigned n = words ? machine_workers(run->machine) : 0;

    atomic_store(&run->scratch[d][order->worker], (uintptr_t)words);
    for (unsigned w = 0; w < n; w++)
        if (w != (unsigned)order->worker &&
            atomic_load(&run->scratch[d][w]) == (uintptr_t)words)
            report_failure(run->report, CROWDED,
                           "scratch datum %u is the same for workers %u and %d",
                           d, w, order->worker);
}

/* -- places -- */

static bool may_run(const struct machine *machine, const struct call *call,
                    int worker)
{
    if (worker < 0 || worker >= (int)machine_workers(machine))
        return false;
    if (call->refused >> worker & 1)
        return false;
    if (call->worker >= 0)
        return worker == call->worker;
    if (call->where == WHERE_CPU) /* what loopback devices run, too */
        return worker < machine->ncpu || machine->loopback;
    return call->where != WHERE_CUDA || worker >= machine->ncpu;
}

static bool come_to_worker(struct run *run, struct order *order,
                           const struct call *call)
{
    if (atomic_fetch_add(&order->nruns, 1) != 0)
        report_failure(run->report, MISCOUNTED, "task %u runs again",
                       call->task);
    order->worker = starpu_worker_get_id();
    if (may_run(run->machine, call, order->worker))
        return true;
    report_failure(run->report, MISPLACED, "task %u runs on worker %d",
                   call->task, order->worker);
    return false;
}

/* -- content -- */

void kernels_compare(struct run *run, unsigned index, unsigned k, uint64_t hash)
{
    const struct call *call = &run->graph->calls[index];
    bool task = call->kind == CALL_TASK;

    if (hash == run->answers->hash[index][k])
        return;
    report_failure(run->report, WRONG,
                   "%s %u finds other bytes than it should in datum %u",
                   task ? "task" : "call", task ? call->task : index,
                   task ? call->buffers[k].data : call->data);
}

static bool there(struct run *run, const struct call *call, unsigned k,
                  const struct view *v)
{
    const struct data *data = &run->graph->data[call->buffers[k].data];
    size_t n = view_words(v);

    if (n == data_words(data) && (v->at || v->rest || n == 0))
        return true;
    report_failure(run->report, WRONG,
                   "task %u: datum %u has %zu words at %p, not %zu", call->task,
                   call->buffers[k].data, n, (const void *)v->at,
                   data_words(data));
    return false;
}

/* Where a task has its buffer k. */
static struct view view_in_task(struct run *run, const struct call *call,
                                unsigned k, void *buffer)
{
    const struct data *data = &run->graph->data[call->buffers[k].data];
    int node;

    if (data->shape.layout == NOTHING)
        return view_flat(0);
    node = starpu_task_get_current_data_node(k);
    return view_of(buffer, node < 0 ? STARPU_MAIN_RAM : (unsigned)node);
}

static uint64_t hash_of(const struct view *v)
{
    uint64_t *words = view_open(v), hash = bytes_hash(words, view_words(v));

    view_close(v, words, false);
    return hash;
}

static void write_with(const struct view *v, enum use use, uint64_t x)
{
    uint64_t *words;

    if (use == READ || use == PEEK)
        return;
    words = view_open(v);
    bytes_write(words, view_words(v), use, x);
    view_close(v, words, true);
    if (use == WRITE || use == TEMP)
        view_set_indices(v);
}

/* Sparse data have the indices of their shape, whatever was done with them. */
static void check_indices(struct run *run, const char *who, unsigned number,
                          unsigned data, const struct view *v)
{
    if (!view_has_indices(v))
        report_failure(run->report, WRONG,
                       "%s %u finds other indices than it should in datum %u",
                       who, number, data);
}

static void digest(struct run *run, const struct call *call, int worker)
{
    struct report *report = run->report;
    double now = starpu_timing_now();
    uint64_t bits;

    if (run->machine->real)
        return;
    memcpy(&bits, &now, sizeof(bits));
    report->digest = bytes_mix(report->digest * 31 + bits +
                               (uint64_t)worker * 64 + call->task);
}

/* Finds the words of the buffers and enters them as used. False if some are
 * not there. */
static bool come_to_all(struct run *run, const struct order *order,
                        void *buffers[], struct view views[])
{
    const struct call *call = &run->graph->calls[order->index];
    bool all = true;

    for (unsigned k = 0; k < call->nbuffers; k++) {
        unsigned d = call->buffers[k].data;

        views[k] = view_in_task(run, call, k, buffers[k]);
        all &= there(run, call, k, &views[k]);
        if (whole_mode(call, k))
            come(run, "task", call->task, d, whole_mode(call, k));
        else if (call->buffers[k].mode & STARPU_SCRATCH)
            take_scratch(run, order, d, views[k].at);
    }
    return all;
}

/* Up to its end a task's data are where they were, as its kernel left them.
 * Real ones may leave as soon as the kernel is over. */
static void remember(struct run *run, struct order *order,
                     const struct view views[])
{
    const struct call *call = &run->graph->calls[order->index];

    for (unsigned k = 0; k < call->nbuffers; k++)
        if (!run->machine->real && whole_mode(call, k) &&
            !(call->buffers[k].mode & STARPU_REDUX)) {
            order->views[k] = views[k];
            order->left[k] = hash_of(&views[k]);
        }
}

static void check_left(struct run *run, const struct order *order, unsigned k)
{
    const struct call *call = &run->graph->calls[order->index];
    unsigned d = call->buffers[k].data;

    if (order->views[k].at && hash_of(&order->views[k]) != order->left[k])
        report_failure(run->report, WRONG,
                       "while task %u runs datum %u changes under it",
                       call->task, d);
}

static void compute(struct run *run, unsigned index, const struct view views[])
{
    const struct call *call = &run->graph->calls[index];
    uint64_t hashes[MAX_BUFFERS] = {0}, x;

    for (unsigned k = 0; k < call->nbuffers; k++)
        if (oracle_looks(run->graph, run->machine, call, k)) {
            hashes[k] = hash_of(&views[k]);
            kernels_compare(run, index, k, hashes[k]);
            check_indices(run, "task", call->task, call->buffers[k].data,
                          &views[k]);
        }
    x = oracle_number(run->graph, call, hashes);
    for (unsigned k = 0; k < call->nbuffers; k++)
        write_with(&views[k],
                   use_of(&run->graph->data[call->buffers[k].data],
                          call->buffers[k].mode),
                   x);
}

static void kernel(void *buffers[], void *arg)
{
    struct order *order = arg;
    struct run *run = order->run;
    const struct call *call = &run->graph->calls[order->index];
    struct view views[MAX_BUFFERS];

    if (!come_to_worker(run, order, call))
        return;
    digest(run, call, order->worker);
    if (!come_to_all(run, order, buffers, views))
        return;
    if (!(run->spoilt && call->salt % 64 == 7))
        compute(run, order->index, views);
    remember(run, order, views);
}

void kernels_leave(void *arg)
{
    struct order *order = arg;
    struct run *run = order->run;
    const struct call *call = &run->graph->calls[order->index];

    for (unsigned k = 0; k < call->nbuffers; k++) {
        unsigned d = call->buffers[k].data;

        check_left(run, order, k);
        if (whole_mode(call, k))
            leave(run, d, whole_mode(call, k));
        else if (call->buffers[k].mode & STARPU_SCRATCH && order->worker >= 0)
            atomic_store(&run->scratch[d][order->worker], (uintptr_t)0);
    }
}

void kernels_visit(struct run *run, unsigned index, starpu_data_handle_t handle)
{
    const struct call *call = &run->graph->calls[index];
    const struct data *data = &run->graph->data[call->data];
    struct view v = view_flat(0);
    uint64_t hash = 0;

    if (!call->copied)
        come(run, "call", index, call->data, call->mode);
    if (!is_main(run->machine, call->node))
        return;
    if (data->shape.layout != NOTHING)
        v = view_of(starpu_data_get_interface_on_node(handle, call->node),
                    call->node);
    if (oracle_looks(run->graph, run->machine, call, 0)) {
        hash = hash_of(&v);
        kernels_compare(run, index, 0, hash);
        check_indices(run, "call", index, call->data, &v);
    }
    write_with(&v, use_of(data, call->mode),
               oracle_number(run->graph, call, &hash));
}

void kernels_visited(struct run *run, unsigned data, unsigned mode)
{
    leave(run, data, mode);
}

/* -- codelets -- */

static void reduce(void *buffers[], void *arg)
{
    (void)arg;
    views_add(buffers[0], buffers[1]);
}

static void zero(void *buffers[], void *arg)
{
    (void)arg;
    view_clear(buffers[0]);
}

struct starpu_codelet *kernels_redux(void)
{
    static struct starpu_codelet cl = {
        .cpu_funcs = {reduce},
        .cuda_funcs = {reduce},
        .nbuffers = 2,
        .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
        .name = "ten",
    };

    return &cl;
}

struct starpu_codelet *kernels_init(void)
{
    static struct starpu_codelet cl = {
        .cpu_funcs = {zero},
        .cuda_funcs = {zero},
        .nbuffers = 1,
        .modes = {STARPU_W},
        .name = "one",
    };

#if defined(LENT_TO_OPENCL) || defined(LENT_TO_GPU)
    lent_init = zero;
#endif
    return &cl;
}

/* Where tasks that are not for processors alone may run. */
#ifndef DEVICES
#    define DEVICES STARPU_CUDA
#endif

enum { NLENGTHS = 4 };

static struct starpu_codelet codelets[2][NPLACES][NLENGTHS][NWHERES][2];

/* can_execute of those who are choosy. */
static int accepts(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
    const struct order *order = task->cl_arg;

    (void)nimpl;
    return !(order->run->graph->calls[order->index].refused >> worker & 1);
}

static struct starpu_codelet codelet_of(bool choosy, enum places places,
                                        unsigned length, unsigned where,
                                        bool async)
{
    struct starpu_codelet cl = {
        .can_execute = choosy ? accepts : NULL,
        .cpu_funcs = {kernel}, /* run where CUDA is simulated, too */
        .cuda_funcs = {kernel},
        .cuda_flags = {async ? STARPU_CUDA_ASYNC : 0},
        .where = where == WHERE_CPU    ? STARPU_CPU
                 : where == WHERE_CUDA ? DEVICES
                                       : STARPU_CPU | DEVICES,
        .nbuffers = STARPU_VARIABLE_NBUFFERS,
        .specific_nodes = places != PLACES_WORKER,
        .name = codelet_names[length],
    };

    for (unsigned k = 0; k < MAX_BUFFERS; k++)
        cl.nodes[k] = place_of(places, k);
    return cl;
}

#if defined(LENT_TO_OPENCL) || defined(LENT_TO_GPU)
static void view_own(void *view, const void *buffer, lent_find_t find,
                     void *arg)
{
    struct own_interface *own = view;

    memcpy(own, buffer, sizeof(*own));
    for (int k = 0; k < 2; k++)
        own->half[k] = find(arg, (uintptr_t)own->half[k], 0, sizeof(uint64_t));
}

/* Before the first call: one that is no task may call an init function, too. */
__attribute__((constructor)) static void lend_more(void)
{
    lent_convert = to_device;
    lent_own_view = view_own;
}
#endif

static void make_codelets(void)
{
    for (unsigned i = 0; i < 2 * NPLACES * NLENGTHS * NWHERES * 2; i++) {
        unsigned where = i / 2 % NWHERES, length = i / 2 / NWHERES % NLENGTHS;
        unsigned places = i / 2 / NWHERES / NLENGTHS % NPLACES;
        bool choosy = i / 2 / NWHERES / NLENGTHS / NPLACES;

        codelets[choosy][places][length][where][i % 2] =
            codelet_of(choosy, (enum places)places, length, where, i % 2);
    }
}

struct starpu_codelet *kernels_codelet(const struct call *call)
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;

    pthread_once(&made, make_codelets);
    return &codelets[call->refused != 0][call->places][call->length]
                    [call->where][call->async];
}
