/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/bound_graphs.c - see bound_graphs.h. Dependencies follow from the
 * data that tasks access, in order of submission, as in the runtime.
 */
#include "tests/unit/bound_graphs.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POTRF, TRSM, SYRK, GEMM };

#define TILE_BYTES (960.0 * 960 * 4)
#define BANDWIDTH  12e6 /* bytes per ms */
#define CAPACITY   3e9  /* bytes of a device */

const struct bound_kernels bound_mirage = {
    4,
    {{18.84969, 5.36674, 5.557011, 5.500099},
     {45.64676, 6.393638, 6.416842, 6.409443},
     {43.8901, 1.402745, 1.414295, 1.414104},
     {87.7802, 2.805491, 2.82859, 2.828209}},
};

static void *allocate(size_t n, size_t size)
{
    void *memory = calloc(n ? n : 1, size);

    if (!memory)
        abort();
    return memory;
}

static void *grow(void *old, size_t n, size_t size)
{
    void *memory = realloc(old, n * size);

    if (!memory)
        abort();
    return memory;
}

static char *text(const char *format, unsigned number)
{
    char buffer[40];
    char *copy;

    snprintf(buffer, sizeof(buffer), "%s %u", format, number);
    copy = strdup(buffer);
    if (!copy)
        abort();
    return copy;
}

static char *word(const char *s)
{
    char *copy = strdup(s);

    if (!copy)
        abort();
    return copy;
}

/* -- machines -- */

static void add_link(struct orr_graph *graph, unsigned src, unsigned dst)
{
    unsigned n = graph->nlinks++;

    graph->links[n] = (struct orr_graph_link){
        text(src ? "from" : "to", src ? src : dst), BANDWIDTH};
    graph->route_links[graph->nroute_links++] = n;
    graph->routes[graph->nroutes++] =
        (struct orr_graph_route){src, dst, n, 1, 0};
}

/* `cores` workers in main memory, then devices with a node each. */
static struct orr_graph *machine(unsigned cores, unsigned devices)
{
    struct orr_graph *graph = allocate(1, sizeof(*graph));

    graph->machine = word("test");
    graph->simulated = true;
    graph->makespan_ms = NAN;
    graph->nworkers = cores + devices;
    graph->nnodes = 1 + devices;
    graph->workers = allocate(graph->nworkers, sizeof(*graph->workers));
    graph->nodes = allocate(graph->nnodes, sizeof(*graph->nodes));
    graph->links = allocate(2 * devices, sizeof(*graph->links));
    graph->routes = allocate(2 * devices, sizeof(*graph->routes));
    graph->route_links = allocate(2 * devices, sizeof(*graph->route_links));
    graph->nodes[0] = (struct orr_graph_node){word("NUMA 0"), INFINITY};
    for (unsigned w = 0; w < cores; w++)
        graph->workers[w] = (struct orr_graph_worker){text("CPU", w), 0, false};
    for (unsigned d = 0; d < devices; d++) {
        graph->workers[cores + d] =
            (struct orr_graph_worker){text("CUDA", d), 1 + d, false};
        graph->nodes[1 + d] =
            (struct orr_graph_node){text("CUDA", d), CAPACITY};
        add_link(graph, 0, 1 + d);
        add_link(graph, 1 + d, 0);
    }
    return graph;
}

static struct orr_graph_task_type *add_type(struct orr_graph *graph,
                                            const char *symbol, double flops)
{
    struct orr_graph_task_type *type;

    graph->types = grow(graph->types, graph->ntypes + 1, sizeof(*type));
    type = &graph->types[graph->ntypes];
    *type = (struct orr_graph_task_type){
        .symbol = word(symbol),
        .footprint = 0xc0ffee00 + graph->ntypes,
        .flops = flops,
        .mean_ms = allocate(graph->nworkers, sizeof(double)),
        .deviation_ms = allocate(graph->nworkers, sizeof(double)),
    };
    graph->ntypes++;
    return type;
}

/* -- tasks, data, and what follows -- */

/* The last users of each datum: its writer, and the readers since. */
struct use {
    unsigned writer; /* plus 1; 0: none */
    unsigned nreaders, *readers;
};

struct building {
    struct orr_graph *graph;
    struct use *uses;
    unsigned room_tasks, room_deps, room_accesses;
};

static void begin(struct building *b, struct orr_graph *graph, unsigned ndata)
{
    *b = (struct building){.graph = graph};
    b->uses = allocate(ndata, sizeof(*b->uses));
    graph->ndata = ndata;
    graph->data = allocate(ndata, sizeof(*graph->data));
    for (unsigned d = 0; d < ndata; d++)
        graph->data[d] =
            (struct orr_graph_datum){text("d", d), TILE_BYTES, 0, true};
}

static void end(struct building *b)
{
    for (unsigned d = 0; d < b->graph->ndata; d++)
        free(b->uses[d].readers);
    free(b->uses);
}

static void add_task(struct building *b, unsigned type)
{
    struct orr_graph *graph = b->graph;

    if (graph->ntasks == b->room_tasks) {
        b->room_tasks = 2 * b->room_tasks + 16;
        graph->tasks = grow(graph->tasks, b->room_tasks, sizeof(*graph->tasks));
    }
    graph->tasks[graph->ntasks] =
        (struct orr_graph_task){.type = type,
                                .id = graph->ntasks + 1,
                                .first_dep = graph->ndeps,
                                .first_access = graph->naccesses,
                                .worker = ORR_GRAPH_NOT_RUN,
                                .start_ms = NAN,
                                .end_ms = NAN};
    graph->ntasks++;
}

/* The last task depends on an earlier one. */
static void add_dep(struct building *b, unsigned earlier, double bytes)
{
    struct orr_graph *graph = b->graph;
    struct orr_graph_task *task = &graph->tasks[graph->ntasks - 1];

    for (unsigned d = 0; d < task->ndeps; d++)
        if (graph->deps[task->first_dep + d].task == earlier) {
            graph->deps[task->first_dep + d].bytes += (uint64_t)bytes;
            return;
        }
    if (graph->ndeps == b->room_deps) {
        b->room_deps = 2 * b->room_deps + 16;
        graph->deps = grow(graph->deps, b->room_deps, sizeof(*graph->deps));
    }
    graph->deps[graph->ndeps++] =
        (struct orr_graph_dep){earlier, (uint64_t)bytes, false};
    task->ndeps++;
}

/* The last task accesses a datum. */
static void add_access(struct building *b, unsigned datum, unsigned mode)
{
    struct orr_graph *graph = b->graph;
    unsigned me = graph->ntasks - 1;
    struct use *use = &b->uses[datum];
    double bytes = graph->data[datum].bytes;

    if (graph->naccesses == b->room_accesses) {
        b->room_accesses = 2 * b->room_accesses + 16;
        graph->accesses =
            grow(graph->accesses, b->room_accesses, sizeof(*graph->accesses));
    }
    graph->accesses[graph->naccesses++] =
        (struct orr_graph_access){datum, mode};
    graph->tasks[me].naccesses++;
    if (mode & ORR_GRAPH_WRITE) {
        for (unsigned r = 0; r < use->nreaders; r++)
            add_dep(b, use->readers[r], bytes);
        if (use->writer && use->nreaders == 0)
            add_dep(b, use->writer - 1, bytes);
        use->writer = me + 1;
        use->nreaders = 0;
        return;
    }
    if (use->writer)
        add_dep(b, use->writer - 1, bytes);
    use->readers = grow(use->readers, use->nreaders + 1, sizeof(*use->readers));
    use->readers[use->nreaders++] = me;
}

/* -- Cholesky -- */

static void cholesky_types(struct orr_graph *graph, unsigned cores,
                           const struct bound_kernels *kernels)
{
    static const struct {
        const char *name;
        double flops; /* by tile, over n³ */
    } types[] = {{"potrf", 1.0 / 3}, {"trsm", 1}, {"syrk", 1}, {"gemm", 2}};

    for (unsigned k = 0; k < 4; k++) {
        struct orr_graph_task_type *type =
            add_type(graph, types[k].name, types[k].flops * 960.0 * 960 * 960);

        for (unsigned w = 0; w < graph->nworkers; w++)
            type->mean_ms[w] = kernels->ms[k][w < cores ? 0 : w - cores + 1];
    }
}

static unsigned tile(unsigned i, unsigned j)
{
    return i * (i + 1) / 2 + j;
}

static void cholesky_step(struct building *b, unsigned n, unsigned k)
{
    const unsigned rw = ORR_GRAPH_READ | ORR_GRAPH_WRITE;

    add_task(b, POTRF);
    add_access(b, tile(k, k), rw);
    for (unsigned i = k + 1; i < n; i++) {
        add_task(b, TRSM);
        add_access(b, tile(k, k), ORR_GRAPH_READ);
        add_access(b, tile(i, k), rw);
    }
    for (unsigned i = k + 1; i < n; i++) {
        add_task(b, SYRK);
        add_access(b, tile(i, k), ORR_GRAPH_READ);
        add_access(b, tile(i, i), rw);
        for (unsigned j = k + 1; j < i; j++) {
            add_task(b, GEMM);
            add_access(b, tile(i, k), ORR_GRAPH_READ);
            add_access(b, tile(j, k), ORR_GRAPH_READ);
            add_access(b, tile(i, j), rw);
        }
    }
}

struct orr_graph *bound_cholesky(unsigned tiles, unsigned cores,
                                 const struct bound_kernels *kernels)
{
    struct orr_graph *graph = machine(cores, kernels->ntypes - 1);
    struct building b;

    cholesky_types(graph, cores, kernels);
    begin(&b, graph, tile(tiles, 0));
    for (unsigned k = 0; k < tiles; k++)
        cholesky_step(&b, tiles, k);
    end(&b);
    return graph;
}

/* -- random graphs -- */

/* xorshift*, as good as any here. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static double draw_unit(uint64_t *state)
{
    return (double)(draw(state) >> 11) * 0x1p-53;
}

static unsigned draw_below(uint64_t *state, unsigned n)
{
    return (unsigned)(draw_unit(state) * n);
}

static void random_types(struct orr_graph *graph, uint64_t *state,
                         const struct bound_random *what)
{
    for (unsigned k = 0; k < what->ntypes; k++) {
        struct orr_graph_task_type *type = add_type(graph, "kind", 0);
        double cpu = 1 + draw_below(state, 20);
        double device = 1 + draw_below(state, 20);
        unsigned only =
            what->unable && what->devices ? draw_below(state, 6) : 5;

        for (unsigned w = 0; w < graph->nworkers; w++) {
            double own = what->equal ? device : 1 + draw_below(state, 20);
            bool core = w < what->cores;

            type->mean_ms[w] = core ? cpu : own;
            type->deviation_ms[w] = type->mean_ms[w] / 16;
            if ((only == 0 && core) || (only == 1 && !core))
                type->mean_ms[w] = INFINITY;
        }
    }
}

struct orr_graph *bound_random(uint64_t seed, const struct bound_random *what)
{
    enum { NEAR = 8 };
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    struct orr_graph *graph = machine(what->cores, what->devices);
    struct building b;

    draw(&state);
    random_types(graph, &state, what);
    begin(&b, graph, what->ntasks);
    for (unsigned i = 0; i < what->ntasks; i++) {
        add_task(&b, draw_below(&state, what->ntypes));
        for (unsigned j = i > NEAR ? i - NEAR : 0; j < i; j++)
            if (draw_unit(&state) < what->edges)
                add_access(&b, j, ORR_GRAPH_READ);
        add_access(&b, i, ORR_GRAPH_WRITE);
        graph->data[i].valued = false;
        graph->data[i].bytes = 1e5 * (1 + draw_below(&state, 100));
    }
    end(&b);
    return graph;
}

/* -- by hand -- */

struct orr_graph *bound_small(const struct bound_small *what)
{
    struct orr_graph *graph = machine(what->nworkers, 0);
    unsigned *end_of = allocate(what->ntasks + 1, sizeof(*end_of));
    unsigned *by_task = allocate(what->nedges + 1, sizeof(*by_task));
    struct building b;

    for (unsigned w = 0; w < what->nworkers; w++) {
        free(graph->workers[w].name);
        graph->workers[w].name = word(what->worker_names[w]);
        graph->workers[w].node = what->nodes ? what->nodes[w] : 0;
        while (graph->workers[w].node >= graph->nnodes) {
            graph->nodes =
                grow(graph->nodes, graph->nnodes + 1, sizeof(*graph->nodes));
            graph->nodes[graph->nnodes] =
                (struct orr_graph_node){text("node", graph->nnodes), INFINITY};
            graph->nnodes++;
        }
    }
    for (unsigned k = 0; k < what->ntypes; k++) {
        char name[2] = {(char)('a' + k), '\0'};
        struct orr_graph_task_type *type = add_type(graph, name, 0);

        memcpy(type->mean_ms, &what->ms[k * what->nworkers],
               what->nworkers * sizeof(double));
    }
    /* Edges by the task that they lead to, in their order. */
    for (unsigned e = 0; e < what->nedges; e++)
        end_of[what->edges[e][1] + 1]++;
    for (unsigned i = 1; i <= what->ntasks; i++)
        end_of[i] += end_of[i - 1];
    for (unsigned e = 0; e < what->nedges; e++)
        by_task[end_of[what->edges[e][1]]++] = e;
    begin(&b, graph, 0);
    for (unsigned i = 0; i < what->ntasks; i++) {
        add_task(&b, what->types[i]);
        for (unsigned e = i > 0 ? end_of[i - 1] : 0; e < end_of[i]; e++)
            add_dep(&b, what->edges[by_task[e]][0], 0);
    }
    end(&b);
    free(end_of);
    free(by_task);
    return graph;
}

/* -- a schedule -- */

/* Per task, the longest path to the end, in means of all able workers. */
static double *ranks(const struct orr_graph *graph)
{
    double *rank = allocate(graph->ntasks, sizeof(*rank));

    for (unsigned i = graph->ntasks; i-- > 0;) {
        const struct orr_graph_task *task = &graph->tasks[i];
        const double *ms = graph->types[task->type].mean_ms;
        double sum = 0;
        unsigned able = 0;

        for (unsigned w = 0; w < graph->nworkers; w++)
            if (isfinite(ms[w])) {
                sum += ms[w];
                able++;
            }
        rank[i] += sum / able;
        for (unsigned d = 0; d < task->ndeps; d++) {
            double *before = &rank[graph->deps[task->first_dep + d].task];

            *before = fmax(*before, rank[i]);
        }
    }
    return rank;
}

/* The first unplaced task of the highest rank; all it depends on are placed
 * then, since ranks grow towards the start. */
static unsigned highest(const struct orr_graph *graph, const double *rank,
                        const double *finish)
{
    unsigned best = graph->ntasks;

    for (unsigned i = 0; i < graph->ntasks; i++)
        if (isnan(finish[i]) && (best == graph->ntasks || rank[i] > rank[best]))
            best = i;
    return best;
}

static void place(const struct orr_graph *graph, unsigned i, double *busy,
                  double *finish)
{
    const struct orr_graph_task *task = &graph->tasks[i];
    double ready = 0, earliest = INFINITY;
    unsigned best = 0;

    for (unsigned d = 0; d < task->ndeps; d++)
        ready = fmax(ready, finish[graph->deps[task->first_dep + d].task]);
    for (unsigned w = 0; w < graph->nworkers; w++) {
        double ms = graph->types[task->type].mean_ms[w];
        double ends = fmax(ready, busy[w]) + ms;

        if (isfinite(ms) && ends < earliest) {
            earliest = ends;
            best = w;
        }
    }
    busy[best] = finish[i] = earliest;
}

double bound_list_schedule(const struct orr_graph *graph)
{
    double *rank = ranks(graph);
    double *busy = allocate(graph->nworkers, sizeof(*busy));
    double *finish = allocate(graph->ntasks, sizeof(*finish));
    double makespan = 0;

    for (unsigned i = 0; i < graph->ntasks; i++)
        finish[i] = NAN;
    for (unsigned n = 0; n < graph->ntasks; n++) {
        unsigned i = highest(graph, rank, finish);

        place(graph, i, busy, finish);
        makespan = fmax(makespan, finish[i]);
    }
    free(rank);
    free(busy);
    free(finish);
    return makespan;
}
