/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/generate.c - see generate.h. Each graph uses a part of the
 * features only, drawn first: what always comes with everything else hides as
 * much as it finds (Groce et al. 2012, "Swarm testing").
 */
#include "generate.h"

#include <string.h>

#include "feature_set.h"
#include "tests/rng.h"

struct draw {
    uint64_t state;
    uint64_t features;
    const struct call *hint; /* the last call about a datum, NULL: none */
    struct around around;    /* the last task */
    bool queues;             /* many tasks are to be ready at once */
};

static unsigned below(struct draw *d, unsigned n)
{
    return n ? (unsigned)(rng_next(&d->state) >> 11) % n : 0;
}

/* Small numbers more often. */
static unsigned low(struct draw *d, unsigned n)
{
    unsigned a = below(d, n), b = below(d, n);

    return a < b ? a : b;
}

static bool one_in(struct draw *d, unsigned n)
{
    return below(d, n) == 0;
}

static bool has(const struct draw *d, enum feature feature)
{
    return d->features & feature_bit(feature);
}

/* -- machines -- */

enum { SPACIOUS = 8 << 20 }; /* bytes that graphs do not fill */

/* The least memory among nodes, in bytes. */
static size_t least_memory(const struct machine *m)
{
    size_t least = m->ram_kib ? (size_t)m->ram_kib << 10 : SIZE_MAX;

    for (unsigned i = 0; i < m->ngpu; i++)
        if ((size_t)m->gpu_mib[i] << 20 < least)
            least = (size_t)m->gpu_mib[i] << 20;
    return least;
}

static void draw_peers(struct draw *d, struct machine *m)
{
    unsigned how = below(d, 4);

    for (unsigned i = 0; i < m->ngpu; i++)
        for (unsigned j = 0; j < m->ngpu; j++) {
            bool pair = i / 2 == j / 2;

            if (i != j &&
                (how == 1 || (how == 2 && pair) || (how == 3 && one_in(d, 2))))
                m->peers |= (uint16_t)(1U << (4 * i + j));
        }
}

static void draw_simulated(struct draw *d, struct machine *m, bool full)
{
    bool tight = has(d, FEATURE_TIGHT) && (full || one_in(d, 2));

    m->ngpu = (uint8_t)(1 + below(d, MAX_GPUS));
    m->ncpu = (uint8_t)below(d, 4);
    m->nram = has(d, FEATURE_NUMA) && one_in(d, 2)
                  ? (uint8_t)(2 + below(d, MAX_RAMS - 1))
                  : 1;
    draw_peers(d, m);
    for (unsigned i = 0; i < m->ngpu; i++)
        m->gpu_mib[i] = tight ? (uint8_t)(1 + low(d, 3)) : 64;
    if (m->nram > 1 && tight && one_in(d, 2))
        m->ram_kib = (uint16_t)(512 << below(d, 3));
    if (m->nram == 1 && has(d, FEATURE_FULL_MAIN) && one_in(d, 2))
        m->ram_kib = (uint16_t)(1024 << below(d, 2));
    m->gpu_speed = (uint8_t)(1 + low(d, 8));
    m->pipeline = (uint8_t)(one_in(d, 2) ? 2 : below(d, 5));
}

static void draw_real(struct draw *d, struct machine *m,
                      const struct wishes *wishes)
{
    bool full = wishes->full;

    m->ngpu = (uint8_t)wishes->ndevices;
    m->loopback = !wishes->ndevices && has(d, FEATURE_LOOPBACK) && one_in(d, 2);
    if (m->loopback)
        m->ngpu = (uint8_t)(1 + below(d, 3));
    for (unsigned i = 0; i < m->ngpu; i++)
        m->gpu_mib[i] = has(d, FEATURE_TIGHT) && (full || one_in(d, 2))
                            ? (uint8_t)(1 + low(d, 3))
                            : 64;
    m->ncpu = (uint8_t)(1 + below(d, MAX_CPUS));
    m->nram = has(d, FEATURE_NUMA) && !one_in(d, 3)
                  ? (uint8_t)(2 + below(d, MAX_RAMS - 1))
                  : 1;
    if (m->nram > 1 && has(d, FEATURE_TIGHT) && (full || one_in(d, 2)))
        m->ram_kib = 1024;
    if (m->nram == 1 && has(d, FEATURE_FULL_MAIN) && one_in(d, 3))
        m->ram_kib = (uint16_t)(1024 << below(d, 2));
    m->gpu_speed = 1;
    m->pipeline = (uint8_t)(m->loopback ? below(d, 4) : 2);
    if (m->loopback)
        draw_peers(d, m);
}

static void draw_machine(struct draw *d, struct machine *m,
                         const struct wishes *wishes)
{
    m->real = wishes->real;
    m->sched = (uint8_t)below(d, nschedulers);
    m->prefetch = !one_in(d, 3);
    if (m->real)
        draw_real(d, m, wishes);
    else
        draw_simulated(d, m, wishes->full);
    if (least_memory(m) < SPACIOUS && !has(d, FEATURE_PREFETCH_TIGHT))
        m->prefetch = false;
    m->eviction = (uint8_t)below(d, nevictions);
    m->contexts = has(d, FEATURE_CONTEXTS) && one_in(d, 3);
    m->disk = has(d, FEATURE_DISK) && one_in(d, m->ram_kib ? 2 : 8);
    m->queued = (uint8_t)(one_in(d, 2) ? 1 + below(d, 3) : 0);
}

/* -- data -- */

/* Words of a datum. */
static uint32_t draw_size(struct draw *d, const struct machine *m, bool tight)
{
    static const uint32_t small[] = {1, 2, 3, 8, 33, 128, 510};

    if (!tight)
        return small[below(d, sizeof(small) / sizeof(*small))];
    /* 1/16 to 7/16 of the least memory. */
    return (uint32_t)(least_memory(m) / sizeof(uint64_t) / 16 *
                      (1 + low(d, 7)));
}

static enum layout draw_layout(struct draw *d)
{
    static const uint8_t special[] = {
        [MULTIFORMAT] = FEATURE_MULTIFORMAT,
        [OWN] = FEATURE_OWN,
    };
    enum layout layout = (enum layout)below(d, NLAYOUTS);

    if (layout <= VARIABLE || !has(d, FEATURE_LAYOUTS) ||
        (layout >= MULTIFORMAT && !has(d, (enum feature)special[layout])))
        return one_in(d, 3) ? VARIABLE : VECTOR;
    return layout;
}

/* About n words. */
static void draw_shape(struct draw *d, uint32_t n, struct shape *ret)
{
    static const uint8_t ndims[NLAYOUTS] = {
        [MATRIX] = 2, [BLOCK] = 3, [TENSOR] = 4, [CSR] = 2, [BCSR] = 2};
    enum layout layout = draw_layout(d);
    uint32_t unit = layout == BCSR ? BLOCK_WORDS : 1;

    *ret = (struct shape){.layout = (unsigned char)layout,
                          .ndim = ndims[layout] ? ndims[layout] : 1,
                          .nn = {1, 1, 1, 1, 1}};
    if (layout == NDIM)
        ret->ndim = (unsigned char)(1 + below(d, MAX_DIMS));
    for (unsigned k = ret->ndim - 1U; k > 0; k--) {
        ret->nn[k] = 1 + low(d, n / unit < 6 ? n / unit + 1 : 6);
        n /= ret->nn[k];
    }
    ret->nn[0] = layout == NOTHING ? 0 : (n + unit - 1) / unit * unit;
    if (ret->nn[0] == 0 && layout != NOTHING)
        ret->nn[0] = unit;
    if (ret->ndim > 1 && unit == 1 && layout != CSR && one_in(d, 2))
        ret->pad = (uint16_t)(1 + below(d, 3));
}

static void draw_owner(struct draw *d, const struct graph *g, struct data *data)
{
    data->owner = 0;
    if (g->nthreads == 1)
        return;
    data->owner = (uint8_t)below(d, g->nthreads + 1U);
    if (data->owner == g->nthreads)
        data->owner = SHARED;
    if (data->owner == SHARED && !one_in(d, 3))
        data->kind = DATA_COUNTER;
}

static void draw_datum(struct draw *d, const struct machine *m, bool tight,
                       const struct graph *g, struct data *data)
{
    draw_shape(d, draw_size(d, m, tight), &data->shape);
    if (has(d, FEATURE_COPY) && g->ndata && one_in(d, 3))
        data->shape = g->data[below(d, g->ndata)].shape;
    data->parent = -1;
    data->home = (int8_t)below(d, m->nram);
    data->disordered = has(d, FEATURE_DISORDER) && one_in(d, 4);
    if (has(d, FEATURE_SCRATCH) && one_in(d, 6)) {
        data->kind = DATA_SCRATCH;
        data->home = -1;
        data->owner = SHARED;
        return;
    }
    if (has(d, FEATURE_UNORDERED) && one_in(d, 3)) {
        data->kind = DATA_COUNTER;
        data->disordered = true;
    }
    draw_owner(d, g, data);
    data->redux = has(d, FEATURE_REDUX) && !one_in(d, 3);
    data->arbitered = has(d, FEATURE_ARBITER) && !data->redux && !one_in(d, 3);
    if (has(d, FEATURE_ADVICE) && one_in(d, 3)) {
        data->through = (uint8_t)(rng_next(&d->state) >> 7);
        data->in_core = one_in(d, 2);
        data->unimportant = one_in(d, 2);
    }
    if (has(d, FEATURE_HOMELESS) && data->kind == DATA_CHAIN && one_in(d, 3))
        data->home = -1;
    if (has(d, FEATURE_FIRST) && data->redux && one_in(d, 3))
        data->home = -1;
}

/* A way to cut the datum, if there is one. */
static bool draw_cut(struct draw *d, const struct graph *g,
                     const struct data *data, struct cut *ret)
{
    const struct shape *s = &data->shape;

    ret->n = (unsigned char)(2 + below(d, 3));
    ret->axis = (unsigned char)below(d, s->ndim);
    ret->style = (unsigned char)below(d, 3);
    if (!has(d, FEATURE_FILTERS) || ret->style == EVEN) {
        ret->style = EVEN;
    } else if (ret->style == PICKED && s->nn[s->ndim - 1] <= MAX_PIECES) {
        ret->axis = (unsigned char)(s->ndim - 1);
        ret->n = (unsigned char)s->nn[ret->axis];
    }
    return g->ndata + ret->n <= MAX_DATA && shape_can_be_cut(s, ret);
}

static void make_pieces(struct graph *g, unsigned d, unsigned plan,
                        const struct cut *cut)
{
    struct data *parent = &g->data[d];

    parent->cuts[plan] = *cut;
    for (unsigned k = 0; k < cut->n; k++) {
        struct data *piece = &g->data[g->ndata++];

        *piece = *parent;
        piece->cuts[0].n = piece->cuts[1].n = 0;
        piece->planned = false;
        piece->redux = piece->arbitered = false;
        piece->shape = cut_shape(&parent->shape, cut, k);
        piece->parent = (int8_t)d;
        piece->part = (uint8_t)k;
        piece->plan = (uint8_t)plan;
    }
}

/* By plans, in up to two ways, or not. */
static void cut_datum(struct draw *d, struct graph *g, unsigned i)
{
    int parent = g->data[i].parent;
    bool planned = parent >= 0 ? g->data[parent].planned
                               : has(d, FEATURE_PLANS) && one_in(d, 2);
    struct cut cut;

    g->data[i].planned = planned;
    for (unsigned plan = 0; plan < (planned ? MAX_PLANS : 1U); plan++)
        if ((plan == 0 || one_in(d, 2)) && draw_cut(d, g, &g->data[i], &cut))
            make_pieces(g, i, plan, &cut);
    if (!g->data[i].cuts[0].n && !g->data[i].cuts[1].n)
        g->data[i].planned = false;
}

/* Data that can be cut, and their pieces, some of which can be, too. */
static void draw_pieces(struct draw *d, struct graph *g)
{
    unsigned ndata = g->ndata;

    for (unsigned i = 0; i < g->ndata; i++) {
        const struct data *data = &g->data[i];

        if (data->kind != DATA_CHAIN || data->owner == SHARED ||
            !one_in(d, i < ndata ? 2 : 3) ||
            (i >= ndata && !has(d, FEATURE_NESTED)))
            continue;
        cut_datum(d, g, i);
    }
}

/* -- calls -- */

static unsigned draw_mode(struct draw *d, const struct data *data)
{
    static const uint16_t modes[] = {STARPU_R, STARPU_R, STARPU_RW, STARPU_RW,
                                     STARPU_W};

    if (data->kind == DATA_SCRATCH)
        return STARPU_SCRATCH;
    if (data->redux && one_in(d, 2))
        return STARPU_REDUX;
    if (has(d, FEATURE_COMMUTE) && one_in(d, 4))
        return STARPU_RW | STARPU_COMMUTE;
    return modes[below(d, 5)];
}

/* The first ones more often, but for pieces, which are the last. */
static uint8_t draw_which(struct draw *d, const struct graph *g)
{
    return (uint8_t)(one_in(d, 3) ? below(d, g->ndata) : low(d, g->ndata));
}

/* One that is cut, if some are. */
static uint8_t draw_whole(struct draw *d, const struct graph *g)
{
    for (unsigned tries = 0; tries < 8; tries++) {
        uint8_t i = draw_which(d, g);

        if (g->data[i].cuts[0].n || g->data[i].cuts[1].n)
            return i;
    }
    return draw_which(d, g);
}

static void draw_buffers(struct draw *d, const struct graph *g,
                         struct call *call)
{
    call->nbuffers =
        (uint8_t)(one_in(d, 4) ? below(d, MAX_BUFFERS + 1) : 1 + low(d, 4));
    for (unsigned k = 0; k < call->nbuffers; k++) {
        struct access *access = &call->buffers[k];

        access->data = draw_which(d, g);
        if (k > 0 && has(d, FEATURE_TWICE) && one_in(d, 6))
            access->data = call->buffers[below(d, k)].data;
        access->mode = (uint16_t)draw_mode(d, &g->data[access->data]);
        access->disordered = has(d, FEATURE_DISORDER) && one_in(d, 8);
    }
}

static void draw_after(struct draw *d, const struct graph *g, struct call *call,
                       unsigned ntasks)
{
    (void)g;
    call->by_tags =
        has(d, FEATURE_TAGS) && (!has(d, FEATURE_DEPS) || one_in(d, 2));
    if (!has(d, FEATURE_TAGS) && !has(d, FEATURE_DEPS))
        return;
    while (one_in(d, 3)) {
        bool later = call->by_tags && one_in(d, 4);
        unsigned back = 1 + low(d, 8);

        if (later)
            call->after |= bit((call->task + back) % MAX_TASKS);
        else if (back <= ntasks)
            call->after |= bit(call->task - back);
    }
}

/* What comes right after a hint and concerns the same datum meets the copy that
 * it may have begun. */
static void follow_hint(struct draw *d, const struct machine *m,
                        const struct graph *g, struct call *call)
{
    const struct call *hint = d->hint;

    if (!hint || !call->nbuffers || one_in(d, 3))
        return;
    d->hint = NULL;
    call->thread = hint->thread;
    call->buffers[0].data = hint->data;
    call->buffers[0].mode =
        one_in(d, 3) ? STARPU_W : (uint16_t)draw_mode(d, &g->data[hint->data]);
    if (hint->node >= m->nram && has(d, FEATURE_PIN) && !one_in(d, 3))
        call->worker = (int8_t)(m->ncpu + hint->node - m->nram);
}

static void draw_workers(struct draw *d, const struct machine *m,
                         struct call *call)
{
    call->worker = -1;
    if (has(d, FEATURE_PIN) && one_in(d, 3))
        call->worker = (int8_t)below(d, machine_workers(m));
    else if (has(d, FEATURE_PIN) && one_in(d, 4))
        call->where = (uint8_t)(1 + below(d, NWHERES - 1));
    if (has(d, FEATURE_CHOOSY) && one_in(d, 4))
        call->refused = (uint16_t)rng_next(&d->state);
}

/* Pauses and absences last for several tasks. */
static void draw_around(struct draw *d, const struct machine *m,
                        struct call *call)
{
    bool same = !one_in(d, 4);

    call->paused =
        same ? d->around.paused : has(d, FEATURE_PAUSE) && one_in(d, 3);
    call->in_second = m->contexts && one_in(d, 2);
    call->away = d->around.away;
    if (!same)
        call->away = m->contexts && one_in(d, 2)
                         ? (uint8_t)(1 + below(d, machine_workers(m)))
                         : 0;
    d->around = (struct around){call->paused, call->away};
}

/* Of a graph whose tasks are to be ready together: few accesses, which exclude
 * nobody, few dependencies, many priorities. */
static void make_ready(struct draw *d, struct call *call)
{
    call->nbuffers = (uint8_t)(call->nbuffers ? below(d, 3) : 0);
    for (unsigned k = 0; k < call->nbuffers; k++)
        call->buffers[k].mode = STARPU_R;
    call->priority = (int8_t)((int)below(d, 7) - 3);
    if (!one_in(d, 8)) {
        call->worker = -1;
        call->refused = 0;
        call->where = WHERE_ANY;
    }
    call->synchronous = false;
    call->paused = has(d, FEATURE_PAUSE) && call->task / 16 % 2 == 0;
}

static void draw_task(struct draw *d, const struct machine *m,
                      const struct graph *g, struct call *call, unsigned number)
{
    call->task = (uint8_t)number;
    draw_buffers(d, g, call);
    call->length = (uint8_t)low(d, nlengths);
    call->priority = (int8_t)(one_in(d, 2) ? (int)below(d, 7) - 3 : 0);
    call->async = !one_in(d, 3);
    draw_workers(d, m, call);
    if (has(d, FEATURE_PLACES) && one_in(d, 4))
        call->places = (uint8_t)(1 + below(d, NPLACES - 1));
    follow_hint(d, m, g, call);
    call->disordered = has(d, FEATURE_DISORDER) && one_in(d, 8);
    call->synchronous = has(d, FEATURE_SYNCHRONOUS) && one_in(d, 24);
    draw_after(d, g, call, number);
    draw_around(d, m, call);
    if (d->queues)
        make_ready(d, call);
}

static enum call_kind draw_kind(struct draw *d)
{
    static const struct {
        uint8_t kind, weight, feature;
    } kinds[] = {
        {CALL_ACQUIRE, 9, FEATURE_ACQUIRE},
        {CALL_RELEASE, 6, FEATURE_ACQUIRE},
        {CALL_PREFETCH, 9, FEATURE_PREFETCH},
        {CALL_WONT_USE, 5, FEATURE_WONT_USE},
        {CALL_EVICT, 5, FEATURE_EVICT},
        {CALL_INVALIDATE, 3, FEATURE_INVALIDATE},
        {CALL_COPY, 6, FEATURE_COPY},
        {CALL_PARTITION, 6, FEATURE_PARTITION},
        {CALL_UNPARTITION, 3, FEATURE_PARTITION},
        {CALL_SWITCH, 6, FEATURE_PLANS},
        {CALL_UNREGISTER, 3, FEATURE_UNREGISTER},
        {CALL_REGISTER, 4, FEATURE_UNREGISTER},
        {CALL_WAIT_ALL, 1, FEATURE_SYNCHRONOUS},
        {CALL_WAIT_TASK, 2, FEATURE_SYNCHRONOUS},
        {CALL_WAIT_TAG, 1, FEATURE_TAGS},
    };
    unsigned at = below(d, 100);

    if (d->queues)
        return CALL_TASK;
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (at < kinds[i].weight)
            return has(d, kinds[i].feature) ? kinds[i].kind : CALL_TASK;
        at -= kinds[i].weight;
    }
    return CALL_TASK;
}

static bool is_about_pieces(enum call_kind kind)
{
    return kind == CALL_PARTITION || kind == CALL_UNPARTITION ||
           kind == CALL_SWITCH;
}

static void draw_acquire(struct draw *d, struct call *call)
{
    static const uint16_t modes[] = {STARPU_R, STARPU_RW, STARPU_W};

    call->mode = modes[below(d, 3)];
    call->copied = has(d, FEATURE_DUPLICATE) && one_in(d, 2);
    call->downgraded = has(d, FEATURE_DOWNGRADE) && one_in(d, 2);
}

static void draw_call(struct draw *d, const struct machine *m,
                      const struct graph *g, struct call *call,
                      unsigned *ntasks)
{
    call->kind = (uint8_t)draw_kind(d);
    if (call->kind == CALL_TASK && *ntasks == MAX_TASKS)
        call->kind = CALL_WAIT_ALL;
    call->thread = (uint8_t)below(d, g->nthreads);
    call->salt = rng_next(&d->state) >> 32;
    call->data = is_about_pieces((enum call_kind)call->kind) ? draw_whole(d, g)
                                                             : draw_which(d, g);
    call->node = (uint8_t)below(d, machine_nodes(m));
    call->how = (uint8_t)below(d, NHOWS);
    if (call->kind == CALL_TASK)
        draw_task(d, m, g, call, (*ntasks)++);
    else if (call->kind == CALL_ACQUIRE)
        draw_acquire(d, call);
    else if (call->kind == CALL_COPY)
        call->from = draw_which(d, g);
    else if (*ntasks)
        call->task = (uint8_t)below(d, *ntasks);
    if (call->kind == CALL_TASK || call->kind >= CALL_PARTITION)
        return;
    if (d->hint && one_in(d, 3))
        call->data = d->hint->data;
    d->hint = call;
}

/* Most planned data are so from the beginning. */
static void plan_first(struct draw *d, struct graph *g)
{
    unsigned n = 0;

    for (unsigned i = 0; i < g->ndata && n < g->ncalls; i++)
        for (unsigned plan = 0; plan < MAX_PLANS; plan++)
            if (g->data[i].planned && n < g->ncalls && !one_in(d, 4)) {
                struct call *call = &g->calls[n++];

                call->kind = CALL_PARTITION;
                call->data = (uint8_t)i;
                call->how = (uint8_t)plan;
                call->thread = g->data[i].owner;
            }
}

static void draw_graph(struct graph *g, const struct machine *m,
                       uint64_t graph_seed, const struct wishes *wishes)
{
    struct draw d = {
        rng_of(graph_seed), wishes->features, NULL, {false, 0}, false};
    bool tight = least_memory(m) < SPACIOUS && has(&d, FEATURE_TIGHT) &&
                 !one_in(&d, wishes->full ? 8 : 2);
    unsigned ntasks = 0, ndata;

    if (!one_in(&d, 4))
        d.features &= rng_next(&d.state) | rng_next(&d.state);
    g->seed = graph_seed;
    g->nthreads = has(&d, FEATURE_THREADS) && one_in(&d, 4)
                      ? (uint8_t)(2 + below(&d, MAX_THREADS - 1))
                      : 1;
    ndata = 1 + below(&d, 8);
    if (tight)
        ndata += 4;
    for (g->ndata = 0; g->ndata < ndata; g->ndata++)
        draw_datum(&d, m, tight, g, &g->data[g->ndata]);
    if (has(&d, FEATURE_PARTITION))
        draw_pieces(&d, g);
    g->ncalls = (uint16_t)(4 + below(&d, tight ? 28 : 60));
    d.queues = has(&d, FEATURE_QUEUES) && !m->real && !(graph_seed % 4);
    for (unsigned i = 0; i < g->ncalls; i++)
        draw_call(&d, m, g, &g->calls[i], &ntasks);
    plan_first(&d, g);
}

void program_draw(struct program *ret, uint64_t seed, unsigned batch,
                  const struct wishes *wishes)
{
    uint64_t stream = rng_of(seed) ^ (uint64_t)batch << 32;
    struct draw d = {rng_of(stream), wishes->features, NULL, {false, 0}, false};

    memset(ret, 0, sizeof(*ret));
    draw_machine(&d, &ret->machine, wishes);
    ret->ngraphs = wishes->ngraphs;
    for (unsigned i = 0; i < ret->ngraphs; i++)
        draw_graph(&ret->graphs[i], &ret->machine, stream + 1 + i, wishes);
}
