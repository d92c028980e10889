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
    unsigned n = machine_workers(run->machine);

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
    if (call->worker >= 0)
        return worker == call->worker;
    if (call->where == WHERE_CPU)
        return worker < machine->ncpu;
    return call->where != WHERE_CUDA || worker >= machine->ncpu;
}

static bool come_to_worker(struct run *run, struct order *order,
                           const struct call *call)
{
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

static uint64_t *words_of(void *interface, const struct data *data,
                          size_t *ret_n)
{
    if (data->variable) {
        *ret_n = STARPU_VARIABLE_GET_ELEMSIZE(interface) / sizeof(uint64_t);
        return (uint64_t *)STARPU_VARIABLE_GET_PTR(interface);
    }
    *ret_n = STARPU_VECTOR_GET_NX(interface);
    return (uint64_t *)STARPU_VECTOR_GET_PTR(interface);
}

static bool there(struct run *run, const struct call *call, unsigned k,
                  const uint64_t *words, size_t n)
{
    const struct data *data = &run->graph->data[call->buffers[k].data];

    if (words && n == data->n)
        return true;
    report_failure(run->report, WRONG,
                   "task %u: datum %u has %zu words at %p, not %u", call->task,
                   call->buffers[k].data, n, (const void *)words, data->n);
    return false;
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
                        void *buffers[], uint64_t *words[], size_t n[])
{
    const struct call *call = &run->graph->calls[order->index];
    bool all = true;

    for (unsigned k = 0; k < call->nbuffers; k++) {
        unsigned d = call->buffers[k].data;

        words[k] = words_of(buffers[k], &run->graph->data[d], &n[k]);
        all &= there(run, call, k, words[k], n[k]);
        if (whole_mode(call, k))
            come(run, "task", call->task, d, whole_mode(call, k));
        else if (call->buffers[k].mode & STARPU_SCRATCH)
            take_scratch(run, order, d, words[k]);
    }
    return all;
}

/* Up to its end a task's data are where they were, as its kernel left them.
 * Real ones may leave as soon as the kernel is over. */
static void remember(struct run *run, struct order *order, uint64_t *words[],
                     const size_t n[])
{
    const struct call *call = &run->graph->calls[order->index];

    for (unsigned k = 0; k < call->nbuffers; k++)
        if (!run->machine->real && whole_mode(call, k) &&
            !(call->buffers[k].mode & STARPU_REDUX)) {
            order->words[k] = words[k];
            order->left[k] = bytes_hash(words[k], n[k]);
        }
}

static void check_left(struct run *run, const struct order *order, unsigned k)
{
    const struct call *call = &run->graph->calls[order->index];
    unsigned d = call->buffers[k].data;

    if (order->words[k] &&
        bytes_hash(order->words[k], run->graph->data[d].n) != order->left[k])
        report_failure(run->report, WRONG,
                       "while task %u runs datum %u changes under it",
                       call->task, d);
}

static void compute(struct run *run, unsigned index, uint64_t *words[],
                    const size_t n[])
{
    const struct call *call = &run->graph->calls[index];
    uint64_t hashes[MAX_BUFFERS] = {0}, x;

    for (unsigned k = 0; k < call->nbuffers; k++)
        if (oracle_looks(run->graph, run->machine, call, k)) {
            hashes[k] = bytes_hash(words[k], n[k]);
            kernels_compare(run, index, k, hashes[k]);
        }
    x = oracle_number(run->graph, call, hashes);
    for (unsigned k = 0; k < call->nbuffers; k++)
        bytes_write(words[k], n[k],
                    use_of(&run->graph->data[call->buffers[k].data],
                           call->buffers[k].mode),
                    x);
}

static void kernel(void *buffers[], void *arg)
{
    struct order *order = arg;
    struct run *run = order->run;
    const struct call *call = &run->graph->calls[order->index];
    uint64_t *words[MAX_BUFFERS];
    size_t n[MAX_BUFFERS];

    if (!come_to_worker(run, order, call))
        return;
    digest(run, call, order->worker);
    if (!come_to_all(run, order, buffers, words, n))
        return;
    if (!(run->spoilt && call->salt % 64 == 7))
        compute(run, order->index, words, n);
    remember(run, order, words, n);
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

void kernels_visit(struct run *run, unsigned index, uint64_t *words)
{
    const struct call *call = &run->graph->calls[index];
    const struct data *data = &run->graph->data[call->data];
    uint64_t hash = 0;

    come(run, "call", index, call->data, call->mode);
    if (!is_main(run->machine, call->node))
        return;
    if (oracle_looks(run->graph, run->machine, call, 0)) {
        hash = bytes_hash(words, data->n);
        kernels_compare(run, index, 0, hash);
    }
    bytes_write(words, data->n, use_of(data, call->mode),
                oracle_number(run->graph, call, &hash));
}

void kernels_visited(struct run *run, unsigned data, unsigned mode)
{
    leave(run, data, mode);
}

/* -- codelets -- */

static void reduce(void *buffers[], void *arg)
{
    uint64_t *to = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const uint64_t *from = (const uint64_t *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (size_t i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        to[i] += from[i];
}

static void zero(void *buffers[], void *arg)
{
    (void)arg;
    memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0,
           STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(uint64_t));
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

#ifdef LENT_TO_OPENCL
    lent_init = zero;
#endif
    return &cl;
}

/* Where tasks that are not for processors alone may run. */
#ifndef DEVICES
#    define DEVICES STARPU_CUDA
#endif

enum { NLENGTHS = 4 };

static struct starpu_codelet codelets[NPLACES][NLENGTHS][NWHERES][2];

static struct starpu_codelet codelet_of(enum places places, unsigned length,
                                        unsigned where, bool async)
{
    struct starpu_codelet cl = {
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

static void make_codelets(void)
{
    for (unsigned i = 0; i < NPLACES * NLENGTHS * NWHERES * 2; i++) {
        unsigned where = i / 2 % NWHERES, length = i / 2 / NWHERES % NLENGTHS;
        unsigned places = i / 2 / NWHERES / NLENGTHS;

        codelets[places][length][where][i % 2] =
            codelet_of((enum places)places, length, where, i % 2);
    }
}

struct starpu_codelet *kernels_codelet(const struct call *call)
{
    static pthread_once_t made = PTHREAD_ONCE_INIT;

    pthread_once(&made, make_codelets);
    return &codelets[call->places][call->length][call->where][call->async];
}
