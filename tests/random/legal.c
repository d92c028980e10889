/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/legal.c - see legal.h. Walks through the calls in the order of
 * the program and keeps, per datum, who used it last. An access is ordered by
 * the datum when both it and the earlier one take part in its order; where
 * they do not, the later task gets a dependency, and a call that is no task is
 * preceded by a wait for all.
 *
 * For each task is known what it waits for in the end: tasks, of which some
 * may come later (through tags), and acquisitions that are held. A call that
 * would wait for what only comes after itself is dropped, or what is held is
 * released before it.
 */
#include "legal_private.h"

/* -- the whole -- */

static void (*const rules[CALL_KINDS])(struct legal *, struct call *) = {
    [CALL_REGISTER] = legal_do_register,
    [CALL_TASK] = legal_do_task,
    [CALL_ACQUIRE] = legal_do_acquire,
    [CALL_RELEASE] = legal_do_release,
    [CALL_PREFETCH] = legal_do_prefetch,
    [CALL_WONT_USE] = legal_do_wont_use,
    [CALL_EVICT] = legal_do_evict,
    [CALL_INVALIDATE] = legal_do_invalidate,
    [CALL_COPY] = legal_do_copy,
    [CALL_PARTITION] = legal_do_partition,
    [CALL_UNPARTITION] = legal_do_unpartition,
    [CALL_SWITCH] = legal_do_switch,
    [CALL_WAIT_ALL] = legal_do_wait_all,
    [CALL_WAIT_TASK] = legal_do_wait_task,
    [CALL_WAIT_TAG] = legal_do_wait_tag,
    [CALL_UNREGISTER] = legal_do_unregister,
};

static void open_all(struct legal *l)
{
    for (unsigned d = 0; d < l->in->ndata; d++) {
        struct call call = {
            .kind = CALL_REGISTER, .automatic = true, .data = (uint8_t)d};

        call.salt = l->in->seed % 1000 + d;
        legal_do_register(l, &call);
    }
    if (l->in->nthreads > 1)
        legal_emit_automatic(l, CALL_FORK, 0, 0);
}

/* What has no home is looked at before it goes. */
static void close_one(struct legal *l, unsigned d)
{
    const struct data *data = &l->in->data[d];
    struct call call = {.automatic = true, .data = (uint8_t)d};

    if (data->home < 0 && data->kind != DATA_SCRATCH && l->states[d].valued) {
        call.kind = CALL_ACQUIRE;
        call.mode = STARPU_R;
        legal_emit(l, &call);
        call.kind = CALL_RELEASE;
        legal_emit(l, &call);
    }
    call.kind = CALL_UNREGISTER;
    legal_do_unregister(l, &call);
}

static void close_all(struct legal *l)
{
    if (l->in->nthreads > 1)
        legal_emit_automatic(l, CALL_JOIN, 0, 0);
    for (unsigned thread = 0; thread < l->in->nthreads; thread++) {
        legal_release_all(l, thread);
        l->exist[0] |= l->exist[thread];
    }
    for (unsigned d = 0; d < l->in->ndata; d++)
        if (l->states[d].registered)
            (void)legal_await_disordered(l, 0, d, true);
    for (unsigned d = 0; d < l->in->ndata; d++) {
        struct call call = {
            .kind = CALL_UNPARTITION, .automatic = true, .data = (uint8_t)d};

        if (!l->in->data[d].planned)
            legal_do_unpartition(l, &call);
    }
    for (unsigned d = 0; d < l->in->ndata; d++)
        if (l->states[d].registered)
            close_one(l, d);
    legal_emit_automatic(l, CALL_WAIT_ALL, 0, 0);
}

/* Nobody waits for tasks that were left out. */
static void refuse_missing(struct legal *l)
{
    for (unsigned i = 0; i < l->out->ncalls; i++) {
        const struct call *call = &l->out->calls[i];
        uint64_t missing = call->after & ~l->submitted;

        if (call->kind == CALL_TASK && missing) {
            l->refused |= missing;
            l->again = true;
        }
    }
}

static void walk(struct legal *l)
{
    open_all(l);
    for (unsigned i = 0; i < l->in->ncalls && !l->again; i++) {
        struct call call = l->in->calls[i];

        if (call.automatic || !rules[call.kind] || l->out->ncalls >= ROOM)
            continue;
        rules[call.kind](l, &call);
    }
    refuse_missing(l);
    close_all(l);
    l->out->awaited = l->waited;
}

/* Hints about a datum make copies of it that no task waits for, those about a
 * cut one of its pieces, and the other way round. */
static void find_copies(struct legal *l)
{
    for (unsigned i = 0; i < l->in->ncalls; i++) {
        const struct call *call = &l->in->calls[i];
        int parent = l->in->data[call->data].parent;

        if (call->kind != CALL_PREFETCH && call->kind != CALL_WONT_USE &&
            call->kind != CALL_UNPARTITION)
            continue;
        l->copied |= bit(call->data);
        for (; parent >= 0; parent = l->in->data[parent].parent)
            l->copied |= bit((unsigned)parent);
    }
    for (unsigned d = 0; d < l->in->ndata; d++)
        if (l->in->data[d].parent >= 0 &&
            l->copied & bit((unsigned)l->in->data[d].parent))
            l->copied |= bit(d);
}

static void find_without_order(struct legal *l)
{
    for (unsigned i = 0; i < l->in->ncalls; i++) {
        const struct call *call = &l->in->calls[i];

        for (unsigned k = 0; call->kind == CALL_TASK && k < call->nbuffers; k++)
            if (call->disordered || call->buffers[k].disordered)
                l->without_order |= bit(call->buffers[k].data);
    }
    for (unsigned d = 0; d < l->in->ndata; d++)
        if (l->in->data[d].disordered)
            l->without_order |= bit(d);
}

/* What the workers' contributions to the datum take, none of which can leave
 * the only main memory before they are combined. Several exceed their limits. */
static size_t partial_bytes(const struct data *data, const struct machine *m)
{
    if (!data->redux || m->nram > 1)
        return 0;
    return data_bytes(data) * machine_workers(m);
}

/* Whether its value, or the memory where planned parts meet, can leave main memory
 * at its end only. */
static bool stays_in_main(const struct data *data, const struct machine *m)
{
    bool cut = data->cuts[0].n || data->cuts[1].n;
    bool floats = data->planned && data->shape.layout != MULTIFORMAT;

    return data->home < 0 && data->parent < 0 && data->kind != DATA_SCRATCH &&
           (!m->disk || data->in_core || (cut && !floats));
}

/* What is left to a task in main memory beside what cannot leave it. */
static size_t main_bytes(const struct legal *l)
{
    size_t left = (size_t)l->machine->ram_kib << 10;

    if (left == 0)
        return SIZE_MAX;
    for (unsigned d = 0; d < l->in->ndata; d++) {
        const struct data *data = &l->in->data[d];

        left -= partial_bytes(data, l->machine);
        if (stays_in_main(data, l->machine))
            left -= data_bytes(data);
    }
    return left;
}

/* What a task may use on the smallest device. Loopback devices have no more memory
 * than they say, and it comes in pieces. */
static size_t device_bytes(const struct machine *m)
{
    size_t least = SIZE_MAX;

    for (unsigned i = 0; i < m->ngpu; i++) {
        size_t size = (size_t)m->gpu_mib[i] << 20;

        if (m->loopback)
            size = ((size_t)m->gpu_mib[0] << 20) / 5 * 2;
        least = size < least ? size : least;
    }
    return least;
}

static void measure(struct legal *l)
{
    l->device_bytes = device_bytes(l->machine);
    if (main_bytes(l) < l->device_bytes)
        l->device_bytes = main_bytes(l);
    for (unsigned d = 0; d < l->in->ndata; d++) {
        l->bytes += data_bytes(&l->in->data[d]);
        if (l->in->data[d].kind == DATA_SCRATCH)
            l->scratch_bytes += data_bytes(&l->in->data[d]);
    }
    l->tight =
        l->bytes > l->device_bytes ||
        (l->machine->ram_kib && l->bytes > (size_t)l->machine->ram_kib << 10);
}

/* What has no home can leave main memory at its end only: half of it stays free
 * for what comes and goes. */
static void mend_home(struct data *data, const struct machine *m, size_t *stays)
{
    size_t half = (size_t)m->ram_kib << 9;

    if (m->ram_kib == 0 || data->kind == DATA_SCRATCH)
        return;
    if (*stays + partial_bytes(data, m) > half)
        data->redux = false;
    *stays += partial_bytes(data, m);
    if (!stays_in_main(data, m))
        return;
    if (*stays + data_bytes(data) > half)
        data->home = 0;
    else
        *stays += data_bytes(data);
}

/* What has no words has no value to lose; where to cut sparse data is said at
 * home. Contributions have one form, and are combined two by two. */
static void mend_layout(struct data *data, const struct machine *m)
{
    enum layout layout = (enum layout)data->shape.layout;
    bool at_home = layout == NOTHING || ((data->cuts[0].n || data->cuts[1].n) &&
                                         (layout == CSR || layout == BCSR));

    if (at_home && data->home < 0 && data->kind != DATA_SCRATCH)
        data->home = 0;
    if (layout == NOTHING || layout == MULTIFORMAT ||
        2 * data_bytes(data) > device_bytes(m))
        data->redux = false;
}

/* What is read before it is surely written. */
static bool needs_home(const struct data *data, uint64_t features)
{
    return data->kind != DATA_SCRATCH && data->parent < 0 &&
           (data->owner == SHARED || data->kind == DATA_COUNTER) &&
           !(features & feature_bit(FEATURE_FIRST) && data_makes_first(data));
}

static bool is_tight(const struct machine *m)
{
    return m->ram_kib || device_bytes(m) < (size_t)64 << 20;
}

/* Scratch buffers stay on each node: together they leave room there. */
static void mend_data(struct graph *g, const struct machine *m,
                      uint64_t features)
{
    size_t stays = 0;

    for (unsigned d = 0; d < g->ndata; d++) {
        struct data *data = &g->data[d];

        mend_home(data, m, &stays);
        if (data->kind == DATA_SCRATCH && data_words(data) > 510)
            data->shape = (struct shape){.ndim = 1, .nn = {510, 1, 1, 1, 1}};
        mend_layout(data, m);
        if (is_tight(m)) /* such copies do not leave */
            data->through = 0;
        if (data->home >= m->nram)
            data->home = (int8_t)(data->home % m->nram);
        if (data->planned ||
            (data->parent >= 0 && g->data[data->parent].planned))
            data->disordered = false;
        if (data->owner != SHARED && data->owner >= g->nthreads)
            data->owner = 0;
        if (data->home < 0 && needs_home(data, features))
            data->home = 0;
        if (data->owner == SHARED && data->kind != DATA_SCRATCH)
            data->disordered &= legal_is_free(features, data);
        if (data->parent >= 0) {
            data->owner = g->data[data->parent].owner;
            data->home = g->data[data->parent].home;
        }
    }
}

void graph_legalise(struct graph *graph, const struct machine *machine,
                    uint64_t features)
{
    static struct graph in;
    uint64_t refused = 0;
    bool again = true;

    mend_data(graph, machine, features);
    for (unsigned i = 0; i < graph->ncalls; i++) {
        struct call *call = &graph->calls[i];

        call->thread = call->thread < graph->nthreads ? call->thread : 0;
        call->data = call->data < graph->ndata ? call->data : 0;
        call->from = call->from < graph->ndata ? call->from : 0;
    }
    in = *graph;
    while (again) {
        struct legal l = {.machine = machine,
                          .in = &in,
                          .out = graph,
                          .features = features,
                          .refused = refused};

        graph->ncalls = 0;
        graph->tagged = graph->kept = 0;
        for (unsigned i = 0; i < in.ncalls; i++)
            if (in.calls[i].kind == CALL_TASK)
                l.exist[in.calls[i].thread] |= bit(in.calls[i].task);
        measure(&l);
        find_copies(&l);
        find_without_order(&l);
        walk(&l);
        refused = l.refused;
        again = l.again;
    }
}

void program_legalise(struct program *program, uint64_t features)
{
    for (unsigned i = 0; i < program->ngraphs; i++)
        graph_legalise(&program->graphs[i], &program->machine, features);
}
