/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/shrink.c - see shrink.h. Greedy, as delta debugging (Zeller &
 * Hildebrandt 2002): what can go in halves, quarters … and one by one, then
 * what can be simpler, again until nothing can. After each edit the program is
 * made legal, so that edits need no care for what depends on what.
 */
#include "shrink.h"

#include <string.h>

#include "legal.h"

struct shrink {
    const struct shrink_options *options;
    struct program *best; /* fails */
    struct verdict *verdict;
    unsigned left; /* trials */
    bool better;   /* in this round */
};

/* -- how much there is to read -- */

static unsigned weight_of_call(const struct call *call)
{
    unsigned weight = 20 + 5U * call->nbuffers;

    if (call->automatic)
        return 1;
    weight += 3 * (unsigned)__builtin_popcountll(call->after) + call->by_tags;
    weight += call->worker >= 0 ? 2 : call->where != WHERE_ANY;
    weight += call->places != PLACES_WORKER;
    weight += (call->refused != 0) + call->paused + call->in_second +
              (call->away != 0);
    weight += (call->priority != 0) + call->length + call->synchronous;
    weight += call->async + 2U * call->disordered + (call->node != 0);
    weight += (call->how != HOW_WAIT) + (call->salt != 1) + call->thread;
    for (unsigned k = 0; k < call->nbuffers; k++)
        weight += call->buffers[k].disordered;
    return weight;
}

static unsigned weight_of_graph(const struct graph *graph)
{
    unsigned weight = 1000 + 10U * graph->nthreads;

    for (unsigned d = 0; d < graph->ndata; d++) {
        const struct data *data = &graph->data[d];

        weight += 10U + data->disordered + (data->home > 0) +
                  (data->cuts[0].n != 0) + 3U * data->planned +
                  (data->cuts[1].n != 0) + data->shape.layout +
                  data->shape.pad + (data->through != 0) + data->in_core +
                  data->unimportant;
        for (size_t n = data_words(data); n > 1; n /= 2)
            weight++;
    }
    for (unsigned i = 0; i < graph->ncalls; i++)
        weight += weight_of_call(&graph->calls[i]);
    return weight;
}

static unsigned weight_of(const struct program *program)
{
    const struct machine *m = &program->machine;
    unsigned weight = 10U * m->ngpu + 2U * m->ncpu + 10U * m->nram;

    weight += (m->sched != 0) + m->prefetch + m->pipeline + m->gpu_speed;
    weight += (m->peers != 0) + (m->ram_kib != 0) + 3U * m->disk;
    weight += 5U * m->contexts + m->queued;
    for (unsigned i = 0; i < m->ngpu; i++)
        weight += m->gpu_mib[i] < 64;
    for (unsigned g = 0; g < program->ngraphs; g++)
        weight += weight_of_graph(&program->graphs[g]);
    return weight;
}

/* -- trials -- */

static bool fails(struct shrink *s, const struct program *program)
{
    for (unsigned i = 0; i < s->options->nrepeats && s->left; i++) {
        struct verdict verdict = trial_run(program, s->options->limit_s);

        s->left--;
        if (verdict.outcome == s->verdict->outcome) {
            *s->verdict = verdict;
            return true;
        }
    }
    return false;
}

/* Keeps the edited program, made legal, if it is smaller and fails. */
static bool keep_if_fails(struct shrink *s, struct program *trial)
{
    program_legalise(trial, s->options->features);
    if (weight_of(trial) >= weight_of(s->best) || !fails(s, trial))
        return false;
    *s->best = *trial;
    s->better = true;
    return true;
}

/* -- what can go -- */

static bool drop_graphs(struct shrink *s, unsigned from, unsigned n)
{
    static struct program trial;

    trial = *s->best;
    if (from + n > trial.ngraphs || n == trial.ngraphs)
        return false;
    trial.ngraphs -= n;
    memmove(&trial.graphs[from], &trial.graphs[from + n],
            (trial.ngraphs - from) * sizeof(trial.graphs[0]));
    return keep_if_fails(s, &trial);
}

static void shrink_graphs(struct shrink *s)
{
    unsigned g = s->verdict->graph;

    if (g + 1 < s->best->ngraphs)
        (void)drop_graphs(s, g + 1, s->best->ngraphs - g - 1);
    if (s->best->ngraphs > 1 && drop_graphs(s, 0, s->best->ngraphs - 1))
        return;
    for (unsigned n = s->best->ngraphs / 2; n > 0; n /= 2)
        for (unsigned from = 0; from + n < s->best->ngraphs;)
            if (!drop_graphs(s, from, n))
                from += n;
}

static bool drop_calls(struct shrink *s, unsigned g, unsigned from, unsigned n)
{
    static struct program trial;
    struct graph *graph = &trial.graphs[g];

    trial = *s->best;
    if (from >= graph->ncalls)
        return false;
    if (n > graph->ncalls - from)
        n = graph->ncalls - from;
    graph->ncalls = (uint16_t)(graph->ncalls - n);
    memmove(&graph->calls[from], &graph->calls[from + n],
            (graph->ncalls - from) * sizeof(graph->calls[0]));
    return keep_if_fails(s, &trial);
}

static void shrink_calls(struct shrink *s, unsigned g)
{
    const struct graph *graph = &s->best->graphs[g];

    for (unsigned n = graph->ncalls / 2U; n > 0; n /= 2)
        for (unsigned from = graph->ncalls; from > 0;) {
            from = from > n ? from - n : 0;
            if (n > 1 || !graph->calls[from].automatic)
                (void)drop_calls(s, g, from, n);
            if (from > graph->ncalls)
                from = graph->ncalls;
        }
}

static void drop_datum(struct graph *graph, unsigned d)
{
    for (unsigned i = 0; i < graph->ncalls; i++) {
        struct call *call = &graph->calls[i];

        call->data = (uint8_t)(call->data - (call->data > d));
        for (unsigned k = 0; k < call->nbuffers; k++)
            call->buffers[k].data =
                (uint8_t)(call->buffers[k].data - (call->buffers[k].data > d));
    }
    graph->ndata--;
    memmove(&graph->data[d], &graph->data[d + 1],
            (graph->ndata - d) * sizeof(graph->data[0]));
    memset(&graph->data[graph->ndata], 0, sizeof(graph->data[0]));
    for (unsigned i = 0; i < graph->ndata; i++)
        if (graph->data[i].parent > (int8_t)d)
            graph->data[i].parent--;
}

static bool is_whole(const struct data *data)
{
    return data->cuts[0].n || data->cuts[1].n;
}

/* By calls that legal.c did not put there itself. */
static bool is_used(const struct graph *graph, unsigned d)
{
    if (graph->data[d].parent >= 0 || is_whole(&graph->data[d]))
        return true;
    for (unsigned i = 0; i < graph->ncalls; i++) {
        const struct call *call = &graph->calls[i];

        if (call->automatic)
            continue;
        if (call->kind != CALL_TASK && call->kind != CALL_WAIT_ALL &&
            call->kind != CALL_WAIT_TASK && call->kind != CALL_WAIT_TAG &&
            call->data == d)
            return true;
        for (unsigned k = 0; call->kind == CALL_TASK && k < call->nbuffers; k++)
            if (call->buffers[k].data == d)
                return true;
    }
    return false;
}

static bool is_cut(const struct graph *graph, unsigned d)
{
    for (unsigned i = 0; i < graph->ncalls; i++)
        if (graph->calls[i].kind == CALL_PARTITION && graph->calls[i].data == d)
            return true;
    return false;
}

/* Forgets that the datum can be cut, if it is not. */
static void forget_pieces(struct graph *graph, unsigned parent)
{
    for (unsigned d = graph->ndata; d-- > 0;)
        if (d < graph->ndata && graph->data[d].parent == (int8_t)parent) {
            forget_pieces(graph, d);
            drop_datum(graph, d);
        }
    graph->data[parent].cuts[0].n = graph->data[parent].cuts[1].n = 0;
    graph->data[parent].planned = false;
}

static void shrink_data(struct shrink *s, unsigned g)
{
    static struct program trial;

    for (unsigned d = s->best->graphs[g].ndata; d-- > 0;) {
        const struct graph *graph = &s->best->graphs[g];

        trial = *s->best;
        if (d >= graph->ndata)
            continue;
        if (is_whole(&graph->data[d]) && !is_cut(graph, d)) {
            forget_pieces(&trial.graphs[g], d);
            (void)keep_if_fails(s, &trial);
        } else if (!is_used(graph, d) && graph->ndata > 1) {
            drop_datum(&trial.graphs[g], d);
            (void)keep_if_fails(s, &trial);
        }
    }
}

/* -- what can be simpler -- */

static void shrink_buffers(struct shrink *s, unsigned g, unsigned i)
{
    static struct program trial;

    for (unsigned k = s->best->graphs[g].calls[i].nbuffers; k-- > 0;) {
        struct call *call = &trial.graphs[g].calls[i];

        trial = *s->best;
        if (i >= trial.graphs[g].ncalls || k >= call->nbuffers)
            return;
        call->nbuffers--;
        memmove(&call->buffers[k], &call->buffers[k + 1],
                (call->nbuffers - k) * sizeof(call->buffers[0]));
        if (keep_if_fails(s, &trial))
            continue;
        trial = *s->best;
        if (call->buffers[k].disordered) {
            call->buffers[k].disordered = false;
            (void)keep_if_fails(s, &trial);
        }
    }
}

static void no_dependency(struct call *call)
{
    call->after = 0;
}

static void no_tags(struct call *call)
{
    call->by_tags = false;
}

static void any_worker(struct call *call)
{
    call->worker = -1;
    call->where = WHERE_ANY;
}

static void on_workers_node(struct call *call)
{
    call->places = PLACES_WORKER;
}

static void accepting(struct call *call)
{
    call->refused = 0;
}

static void no_pause(struct call *call)
{
    call->paused = false;
}

static void in_first(struct call *call)
{
    call->in_second = false;
}

static void nobody_away(struct call *call)
{
    call->away = 0;
}

static void no_priority(struct call *call)
{
    call->priority = 0;
}

static void shortest(struct call *call)
{
    call->length = 0;
}

static void asynchronous(struct call *call)
{
    call->synchronous = false;
}

static void kernel_synchronous(struct call *call)
{
    call->async = false;
}

static void in_order(struct call *call)
{
    call->disordered = false;
}

static void first_node(struct call *call)
{
    call->node = 0;
}

static void waiting(struct call *call)
{
    call->how = HOW_WAIT;
}

static void small_salt(struct call *call)
{
    call->salt = 1;
}

static void (*const simpler[])(struct call *) = {
    no_dependency, no_tags,      any_worker,         no_priority,
    shortest,      asynchronous, kernel_synchronous, in_order,
    first_node,    waiting,      small_salt,         on_workers_node,
    accepting,     no_pause,     in_first,           nobody_away,
};

static void simplify_call(struct shrink *s, unsigned g, unsigned i)
{
    static struct program trial;

    for (unsigned e = 0; e < sizeof(simpler) / sizeof(*simpler); e++) {
        struct call *call = &trial.graphs[g].calls[i];

        trial = *s->best;
        if (i >= trial.graphs[g].ncalls || call->automatic)
            return;
        simpler[e](call);
        (void)keep_if_fails(s, &trial);
    }
    if (i < s->best->graphs[g].ncalls)
        shrink_buffers(s, g, i);
}

/* Another shape of a datum that is not cut. */
static void simplify_shape(struct shape *shape, unsigned edit)
{
    size_t n = shape_words(shape);

    if (edit == 0 || n == 0)
        n = 1;
    else if (edit == 1)
        n = (n + 1) / 2;
    *shape = (struct shape){.ndim = 1, .nn = {(uint32_t)n, 1, 1, 1, 1}};
}

static void simplify_datum(struct shrink *s, unsigned g, unsigned d)
{
    for (unsigned e = 0; e < 6; e++) {
        static struct program trial;
        struct data *data = &trial.graphs[g].data[d];

        trial = *s->best;
        if (e == 0)
            data->disordered = false;
        else if (e == 1 && data->home > 0)
            data->home = 0;
        else if (e == 2) {
            data->shape.pad = 0;
            data->through = 0;
            data->in_core = data->unimportant = false;
        } else if (e > 2 && data->parent < 0 && !is_whole(data))
            simplify_shape(&data->shape, e - 3);
        (void)keep_if_fails(s, &trial);
    }
}

static void one_thread(struct graph *graph)
{
    graph->nthreads = 1;
    for (unsigned i = 0; i < graph->ncalls; i++)
        graph->calls[i].thread = 0;
    for (unsigned d = 0; d < graph->ndata; d++)
        if (graph->data[d].owner != SHARED)
            graph->data[d].owner = 0;
}

static void simplify_graph(struct shrink *s, unsigned g)
{
    static struct program trial;

    trial = *s->best;
    one_thread(&trial.graphs[g]);
    (void)keep_if_fails(s, &trial);
    for (unsigned i = s->best->graphs[g].ncalls; i-- > 0;)
        if (i < s->best->graphs[g].ncalls)
            simplify_call(s, g, i);
    for (unsigned d = 0; d < s->best->graphs[g].ndata; d++)
        simplify_datum(s, g, d);
}

/* -- the machine -- */

/* One of the edits, or nothing. */
static void edit_machine(struct machine *m, unsigned edit)
{
    switch (edit) {
    case 0:
        m->ngpu = m->ngpu > 1 ? m->ngpu - 1 : m->ngpu;
        break;
    case 1:
        m->ncpu = m->ncpu > 1 ? m->ncpu - 1 : m->ncpu;
        break;
    case 2:
        m->nram = 1;
        m->ram_kib = 0;
        break;
    case 3:
        m->nram = m->nram > 2 ? m->nram - 1 : m->nram;
        break;
    case 4:
        m->sched = 0;
        break;
    case 5:
        m->prefetch = false;
        break;
    case 6:
        m->pipeline = 1;
        break;
    case 7:
        m->gpu_speed = 1;
        break;
    case 8:
        m->peers = 0;
        break;
    case 9:
        m->ram_kib = 0;
        break;
    case 10:
        m->disk = false;
        break;
    case 11:
        m->contexts = false;
        break;
    case 12:
        m->queued = 0;
        break;
    default:
        for (unsigned i = 0; i < m->ngpu; i++)
            m->gpu_mib[i] = 64;
    }
}

static void simplify_machine(struct shrink *s)
{
    static struct program trial;

    for (unsigned edit = 0; edit <= 13; edit++) {
        unsigned tries = edit < 2 ? 4 : 1;

        do {
            trial = *s->best;
            edit_machine(&trial.machine, edit);
        } while (keep_if_fails(s, &trial) && --tries);
    }
}

bool program_shrink(struct program *program,
                    const struct shrink_options *options,
                    struct verdict *verdict)
{
    struct shrink s = {.options = options,
                       .best = program,
                       .verdict = verdict,
                       .left = options->ntrials};

    if (!fails(&s, program))
        return false;
    do {
        s.better = false;
        shrink_graphs(&s);
        for (unsigned g = 0; g < program->ngraphs; g++) {
            shrink_calls(&s, g);
            shrink_data(&s, g);
        }
        simplify_machine(&s);
        for (unsigned g = 0; g < program->ngraphs; g++)
            simplify_graph(&s, g);
    } while (s.better && s.left);
    return true;
}
