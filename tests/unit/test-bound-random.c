/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-bound-random.c - bounds of random small graphs, checked by an
 * exhaustive search that shares no code with them. With the argument "all",
 * 2,000 graphs, else 200. One thread.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/methods.h"
#include "tests/rng.h"
#include "tests/suite.h"

enum {
    TASKS = 8,
    TYPES = 4,
    CLASSES = 2,
    WORKERS = 4,  /* of a class */
    VARIANTS = 3, /* of a type: each class, and a wide one */
    PICTURE_TYPES = TYPES + TASKS, /* tasks for one worker are of types of their own */
    BLOCK = 200,  /* graphs per test */
    BLOCKS = 10,
};

/* A short description of a problem. */
struct puzzle {
    unsigned nworkers[CLASSES];
    unsigned ntypes, ntasks;
    double ms[TYPES][CLASSES]; /* INFINITY: cannot; NaN: unknown */
    struct {
        unsigned class, width; /* width 0: there is none */
        double ms;
    } wide[TYPES];
    unsigned type[TASKS];
    bool before[TASKS][TASKS];
};

/* -- an exhaustive search -- */

struct partial {
    const struct puzzle *p;
    unsigned placed;
    bool done[TASKS];
    double end[TASKS];
    double free_at[CLASSES][WORKERS];
    double best;
};

static void place_rest(struct partial *s, double now, double length);

/* Lets `task` start on `width` workers of a class as soon as it can, and goes
 * on with all others. */
static void place(struct partial *s, unsigned task, unsigned class,
                  unsigned width, double ms, double now, double length)
{
    unsigned nworkers = s->p->nworkers[class];
    double kept[WORKERS], start = INFINITY;

    if (!isfinite(ms) || width == 0 || width > nworkers)
        return;
    for (unsigned w = 0; w < nworkers; w++) {
        unsigned free = 0;

        for (unsigned v = 0; v < nworkers; v++)
            free += s->free_at[class][v] <= s->free_at[class][w];
        if (free >= width)
            start = fmin(start, s->free_at[class][w]);
    }
    for (unsigned t = 0; t < s->p->ntasks; t++)
        if (s->p->before[t][task])
            start = fmax(start, s->end[t]);
    /* Tasks are placed in the order of their starts: a best schedule in which
     * none can start earlier results from this. */
    if (start < now)
        return;
    memcpy(kept, s->free_at[class], sizeof(kept));
    for (unsigned w = 0, left = width; left; w++)
        if (s->free_at[class][w] <= start) {
            s->free_at[class][w] = start + ms;
            left--;
        }
    s->done[task] = true;
    s->end[task] = start + ms;
    s->placed++;
    place_rest(s, start, fmax(length, start + ms));
    s->placed--;
    s->done[task] = false;
    memcpy(s->free_at[class], kept, sizeof(kept));
}

static void place_rest(struct partial *s, double now, double length)
{
    const struct puzzle *p = s->p;

    if (length >= s->best)
        return;
    if (s->placed == p->ntasks)
        s->best = length;
    for (unsigned t = 0; t < p->ntasks; t++) {
        unsigned type = p->type[t];
        bool ready = !s->done[t];

        for (unsigned b = 0; b < p->ntasks; b++)
            ready = ready && (!p->before[b][t] || s->done[b]);
        if (!ready)
            continue;
        for (unsigned c = 0; c < CLASSES; c++)
            place(s, t, c, 1, p->ms[type][c], now, length);
        place(s, t, p->wide[type].class, p->wide[type].width, p->wide[type].ms,
              now, length);
    }
}

static double shortest(const struct puzzle *p)
{
    struct partial s = {.p = p, .best = INFINITY};

    place_rest(&s, 0, 0);
    return s.best;
}

/* -- random problems -- */

static unsigned draw(uint64_t *rng, unsigned n)
{
    return (unsigned)(rng_next(rng) % n);
}

enum magnitude { SMALL_NUMBERS, ANY_NUMBERS, EQUAL_NUMBERS, FAR_APART };

static double draw_ms(uint64_t *rng, enum magnitude magnitude)
{
    switch (magnitude) {
    case SMALL_NUMBERS:
        return draw(rng, 8);
    case ANY_NUMBERS:
        return draw(rng, 10) ? 10 * rng_uniform(rng) : 0;
    case EQUAL_NUMBERS:
        return 3;
    case FAR_APART:
        return pow(10, 12 * rng_uniform(rng) - 6);
    }
    return 0;
}

static void draw_type(uint64_t *rng, enum magnitude magnitude, struct puzzle *p,
                      unsigned k)
{
    unsigned sure = draw(rng, CLASSES); /* this class can */

    for (unsigned c = 0; c < CLASSES; c++) {
        unsigned luck = draw(rng, 10);

        p->ms[k][c] = draw_ms(rng, magnitude);
        if (c != sure && luck < 2)
            p->ms[k][c] = INFINITY;
        else if (c != sure && luck < 3)
            p->ms[k][c] = NAN;
    }
    if (draw(rng, 4) == 0) {
        p->wide[k].class = draw(rng, CLASSES);
        p->wide[k].width = 2 + draw(rng, 2);
        p->wide[k].ms = draw_ms(rng, magnitude);
        if (p->wide[k].width > p->nworkers[p->wide[k].class])
            p->wide[k].width = 0;
    }
}

enum shape { NO_EDGES, CHAINS, FORK, JOIN, LAYERS, RANDOM, NSHAPES };

static bool draw_edge(uint64_t *rng, enum shape shape, const struct puzzle *p,
                      unsigned a, unsigned b)
{
    switch (shape) {
    case CHAINS:
        return b == a + 1 && b % 3;
    case FORK:
        return a == 0;
    case JOIN:
        return b == p->ntasks - 1;
    case LAYERS:
        return a / 3 + 1 == b / 3 && draw(rng, 3);
    case RANDOM:
        return draw(rng, 4) == 0;
    case NO_EDGES:
    case NSHAPES:
        break;
    }
    return false;
}

static struct puzzle draw_puzzle(unsigned number)
{
    static const enum magnitude all[] = {SMALL_NUMBERS, SMALL_NUMBERS,
                                         ANY_NUMBERS,   ANY_NUMBERS,
                                         EQUAL_NUMBERS, FAR_APART};
    uint64_t rng = rng_of(number);
    enum magnitude magnitude = all[draw(&rng, 6)];
    enum shape shape = (enum shape)draw(&rng, NSHAPES);
    struct puzzle p = {.ntypes = 1 + draw(&rng, TYPES),
                       .ntasks = 1 + draw(&rng, TASKS)};

    if (draw(&rng, 2))
        p.ntasks = TASKS;
    for (unsigned c = 0; c < CLASSES; c++)
        p.nworkers[c] = 1 + draw(&rng, WORKERS);
    for (unsigned k = 0; k < p.ntypes; k++)
        draw_type(&rng, magnitude, &p, k);
    for (unsigned t = 0; t < p.ntasks; t++)
        p.type[t] = draw(&rng, p.ntypes);
    for (unsigned a = 0; a < p.ntasks; a++)
        for (unsigned b = a + 1; b < p.ntasks; b++)
            p.before[a][b] = draw_edge(&rng, shape, &p, a, b);
    return p;
}

/* -- the same as a graph -- */

/* A graph whose arrays are here. */
struct picture {
    struct orr_graph graph;
    struct orr_graph_worker workers[CLASSES * WORKERS];
    struct orr_graph_node nodes[CLASSES];
    struct orr_graph_task_type types[PICTURE_TYPES];
    struct orr_graph_task tasks[TASKS];
    struct orr_graph_dep deps[TASKS * TASKS];
    double mean[PICTURE_TYPES][CLASSES * WORKERS], deviation[CLASSES * WORKERS];
    uint8_t awaited[TYPES][CLASSES * WORKERS];
    char names[CLASSES * WORKERS][16];
};

static void picture_machine(struct picture *pic, const struct puzzle *p)
{
    struct orr_graph *g = &pic->graph;

    for (unsigned c = 0; c < CLASSES; c++) {
        pic->nodes[c] = (struct orr_graph_node){pic->names[0], INFINITY};
        for (unsigned w = 0; w < p->nworkers[c]; w++) {
            unsigned n = g->nworkers++;

            snprintf(pic->names[n], sizeof(pic->names[n]), "%s %u",
                     c ? "CUDA" : "CPU", w);
            pic->workers[n] = (struct orr_graph_worker){.name = pic->names[n],
                                                      .node = c};
            for (unsigned k = 0; k < p->ntypes; k++)
                pic->mean[k][n] = p->ms[k][c];
        }
    }
}

static void picture_tasks(struct picture *pic, const struct puzzle *p)
{
    struct orr_graph *g = &pic->graph;

    for (unsigned k = 0; k < p->ntypes; k++)
        pic->types[k] =
            (struct orr_graph_task_type){.symbol = pic->names[0],
                                         .footprint = k,
                                         .mean_ms = pic->mean[k],
                                         .deviation_ms = pic->deviation};
    for (unsigned t = 0; t < p->ntasks; t++) {
        pic->tasks[t] = (struct orr_graph_task){.type = p->type[t],
                                                .id = t + 1,
                                                .first_dep = g->ndeps,
                                                .worker = ORR_GRAPH_NOT_RUN,
                                                .start_ms = NAN,
                                                .end_ms = NAN};
        for (unsigned b = 0; b < p->ntasks; b++)
            if (p->before[b][t])
                pic->deps[g->ndeps++] = (struct orr_graph_dep){.task = b};
        pic->tasks[t].ndeps = g->ndeps - pic->tasks[t].first_dep;
    }
}

static void draw_picture(struct picture *pic, const struct puzzle *p)
{
    memset(pic, 0, sizeof(*pic));
    pic->graph = (struct orr_graph){.makespan_ms = NAN,
                                    .nnodes = CLASSES,
                                    .ntypes = p->ntypes,
                                    .ntasks = p->ntasks,
                                    .workers = pic->workers,
                                    .nodes = pic->nodes,
                                    .types = pic->types,
                                    .tasks = pic->tasks,
                                    .deps = pic->deps};
    picture_machine(pic, p);
    picture_tasks(pic, p);
}

/* Graphs have no tasks on several workers yet: their variants are put in
 * here. */
static void add_wide_variants(struct orr_bound_instance *in,
                              const struct puzzle *p)
{
    struct orr_bound_variant *variants =
        calloc(TYPES * VARIANTS, sizeof(*variants));
    unsigned n = 0;

    ck_assert_ptr_nonnull(variants);
    for (unsigned k = 0; k < in->ntypes; k++) {
        struct orr_bound_task_type *type = &in->types[k];
        unsigned first = n;

        for (unsigned w = 0; w < type->nvariants; w++)
            variants[n++] = in->variants[type->first_variant + w];
        if (p->wide[k].width && type->ntasks) {
            unsigned worker = p->wide[k].class ? p->nworkers[0] : 0;

            variants[n++] = (struct orr_bound_variant){
                in->class_of[worker], p->wide[k].width, p->wide[k].ms};
            type->best_ms = fmin(type->best_ms, p->wide[k].ms);
        }
        type->first_variant = first;
        type->nvariants = n - first;
    }
    free(in->variants);
    in->variants = variants;
    in->nvariants = n;
}

/* -- checks -- */

struct verdict {
    double optimum;
    struct orr_bound_result results[ORR_BOUND_NMETHODS];
};

/* Better bounds, and those that they are better than. */
static const enum orr_bound_method better[][2] = {
    {ORR_BOUND_PATHS, ORR_BOUND_CRITICAL_PATH},
    {ORR_BOUND_PATHS, ORR_BOUND_AREA},
    {ORR_BOUND_PRECEDENCE, ORR_BOUND_PATHS},
    {ORR_BOUND_TRANSFERS, ORR_BOUND_PRECEDENCE},
    {ORR_BOUND_MEMORY, ORR_BOUND_AREA},
    {ORR_BOUND_INTEGER_AREA, ORR_BOUND_AREA},
    {ORR_BOUND_INTEGER, ORR_BOUND_PRECEDENCE},
    {ORR_BOUND_INTEGER, ORR_BOUND_PATHS},
    {ORR_BOUND_EXACT, ORR_BOUND_INTEGER},
    {ORR_BOUND_EXACT, ORR_BOUND_INTEGER_AREA},
};

static void check_one(const struct orr_bound_result *r, double optimum,
                      unsigned number)
{
    const char *name = orr_bound_method_name(r->method);
    bool has_value =
        r->outcome == ORR_BOUND_OPTIMAL || r->outcome == ORR_BOUND_TIME_LIMIT;

    if (!has_value) {
        ck_assert_msg(isnan(r->ms) && r->why && r->why[0],
                      "graph %u: %s has neither value nor reason", number,
                      name);
        ck_assert_msg(!r->limit, "graph %u: %s is limited by %s without value",
                      number, name, r->limit);
        ck_assert_msg(r->outcome == ORR_BOUND_SKIPPED,
                      "graph %u: %s has no value: %s", number, name, r->why);
        return;
    }
    ck_assert_msg(isfinite(r->ms) && r->ms >= 0 && r->proved,
                  "graph %u: %s says %g, not proved", number, name, r->ms);
    ck_assert_msg(r->ms <= optimum * (1 + 1e-9),
                  "graph %u: %s says %.17g, but %.17g is possible", number,
                  name, r->ms, optimum);
    ck_assert_msg(isnan(r->upper_ms) || r->upper_ms >= r->ms,
                  "graph %u: %s is above its own solution", number, name);
}

static void check_pairs(const struct orr_bound_result *results, unsigned number)
{
    for (unsigned i = 0; i < sizeof(better) / sizeof(better[0]); i++) {
        const struct orr_bound_result *more = &results[better[i][0]];
        const struct orr_bound_result *less = &results[better[i][1]];

        if (more->outcome == ORR_BOUND_OPTIMAL && isfinite(less->ms))
            ck_assert_msg(more->ms >= less->ms * (1 - 2e-4),
                          "graph %u: %s says %.17g, less than %s with %.17g",
                          number, orr_bound_method_name(more->method), more->ms,
                          orr_bound_method_name(less->method), less->ms);
    }
}

static void solve(const struct puzzle *p, bool across_nodes,
                  struct verdict *ret)
{
    /* Some numbers differ too much in magnitude for a solver, which then takes
     * long. */
    const struct orr_bound_options limits = {.seconds = 0.5};
    static struct picture pic;
    const struct orr_bound_instance_options options = {.across_nodes =
                                                           across_nodes};
    struct orr_bound_instance *in;
    struct orr_error err = {""};

    draw_picture(&pic, p);
    ck_assert_msg(orr_graph_check(&pic.graph, &err) == 0, "%s", err.text);
    ck_assert_msg(
        orr_bound_instance_new(&pic.graph, &options, &in, NULL, &err) == 0,
        "%s", err.text);
    add_wide_variants(in, p);
    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        ck_assert_int_eq(orr_bound_compute(in, (enum orr_bound_method)m,
                                           &limits, &ret->results[m]),
                         0);
    orr_bound_instance_free(in);
    ret->optimum = shortest(p);
}

START_TEST(no_bound_is_above_the_optimum_and_the_exact_one_is_it)
{
    unsigned claimed = 0;

    for (unsigned i = 0; i < BLOCK; i++) {
        unsigned number = (unsigned)_i * BLOCK + i;
        struct puzzle p = draw_puzzle(number);
        struct verdict v;
        const struct orr_bound_result *exact = &v.results[ORR_BOUND_EXACT];

        solve(&p, /* across_nodes= */ false, &v);
        for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
            check_one(&v.results[m], v.optimum, number);
        check_pairs(v.results, number);
        if (exact->outcome == ORR_BOUND_OPTIMAL) {
            ck_assert_msg(exact->ms >= v.optimum * (1 - 1e-9),
                          "graph %u: the optimum is not %.17g but %.17g",
                          number, exact->ms, v.optimum);
            claimed++;
        }
        for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
            orr_bound_result_done(&v.results[m]);
    }
    ck_assert_uint_ge(claimed, BLOCK * 95 / 100);
}
END_TEST

/* -- what the runtime takes -- */

enum { COSTLY_GRAPHS = 500, COSTLY_TASKS = 5, COSTLY_WORKERS = 2 };

/* Who submits: threads 0 and up, NOBODY_KNOWN, or the kernel of task s - IN_TASK. */
enum { THREADS = 3, NOBODY_KNOWN = 1000, IN_TASK = 2000 };

/* A program, and where each worker of a schedule is: when its thread and its device are
 * free (one and the same of a processor), and whether it has executed a task. */
struct costly {
    const struct puzzle *p;
    const struct orr_graph_costs *costs;
    unsigned naccesses[TASKS], submitter[TASKS];
    bool device[CLASSES], awaited[TYPES][CLASSES];
    int only[TASKS]; /* the worker that can run it, class * WORKERS + number; -1: all */
    double there[TASKS]; /* when a thread has submitted the task */
    bool done[TASKS], used[CLASSES][WORKERS];
    double start[TASKS], end[TASKS];
    double thread_free[CLASSES][WORKERS], device_free[CLASSES][WORKERS];
    unsigned placed;
    double best;
};

static void costly_submissions(struct costly *s)
{
    double now[THREADS] = {0};

    for (unsigned t = 0; t < s->p->ntasks; t++) {
        bool root = true;

        if (s->submitter[t] >= THREADS)
            continue;
        s->there[t] = now[s->submitter[t]];
        for (unsigned b = 0; b < s->p->ntasks; b++)
            root = root && !s->p->before[b][t];
        now[s->submitter[t]] +=
            s->costs->submit_ms + s->naccesses[t] * s->costs->submit_access_ms +
            (root ? s->costs->submit_ready_ms : 0);
    }
}

static void costly_rest(struct costly *s, double length);

/* The worker asks for the data, which takes it time, once the task is there and it has
 * nothing to wait for, and then executes it; on a device beside itself, if the kernel is
 * asynchronous, after those before. */
static void costly_place(struct costly *s, unsigned t, unsigned c, unsigned w,
                         double ready, double length)
{
    double ms = s->p->ms[s->p->type[t]][c];
    double thread = s->thread_free[c][w], device = s->device_free[c][w], asked;
    bool used = s->used[c][w];

    if (!isfinite(ms) || (s->only[t] >= 0 && s->only[t] != (int)(c * WORKERS + w)))
        return;
    asked = fmax(ready, thread + (used ? s->costs->progress_ms : 0)) +
            s->costs->fetch_ms * s->naccesses[t];
    s->start[t] = fmax(asked, device);
    if (s->device[c] && s->awaited[s->p->type[t]][c])
        ms = fmax(ms, s->costs->queue_ms);
    s->end[t] = s->device_free[c][w] = s->start[t] + ms;
    s->thread_free[c][w] = s->device[c] && !s->awaited[s->p->type[t]][c]
                               ? asked + s->costs->queue_ms
                               : s->end[t];
    s->done[t] = s->used[c][w] = true;
    s->placed++;
    costly_rest(s, fmax(length, s->end[t]));
    s->placed--;
    s->done[t] = false;
    s->used[c][w] = used;
    s->thread_free[c][w] = thread;
    s->device_free[c][w] = device;
}

/* All orders on all workers: each schedule in which no task could begin earlier is that
 * of some order. A task that another one submits is there when that has begun. */
static void costly_rest(struct costly *s, double length)
{
    if (length >= s->best)
        return;
    if (s->placed == s->p->ntasks)
        s->best = length;
    for (unsigned t = 0; t < s->p->ntasks; t++) {
        double ready = s->there[t];
        bool can = !s->done[t];

        if (s->submitter[t] >= IN_TASK) {
            can = can && s->done[s->submitter[t] - IN_TASK];
            ready = s->start[s->submitter[t] - IN_TASK];
        }
        for (unsigned b = 0; b < s->p->ntasks && can; b++)
            if (s->p->before[b][t]) {
                can = s->done[b];
                ready = fmax(ready, s->end[b]);
            }
        if (s->submitter[t] < THREADS)
            ready += s->costs->push_ms;
        for (unsigned c = 0; c < CLASSES && can; c++)
            for (unsigned w = 0; w < s->p->nworkers[c]; w++)
                costly_place(s, t, c, w, ready, length);
    }
}

static double draw_cost(uint64_t *rng)
{
    return draw(rng, 3) ? (double)draw(rng, 5) * 0.5 : 0;
}

/* Another type, which only that worker can run. */
static void picture_only(struct picture *pic, unsigned t, unsigned class, unsigned w)
{
    struct orr_graph *g = &pic->graph;
    unsigned k = g->ntypes++, n = 0;

    pic->types[k] = pic->types[pic->tasks[t].type];
    pic->types[k].footprint = k;
    memcpy(pic->mean[k], pic->types[k].mean_ms, sizeof(pic->mean[k]));
    pic->types[k].mean_ms = pic->mean[k];
    for (unsigned v = 0; v < g->nworkers; v++) {
        if (pic->workers[v].node != class || n++ != w)
            pic->mean[k][v] = INFINITY;
    }
    pic->tasks[t].type = k;
}

static void picture_costs(struct picture *pic, const struct costly *s)
{
    pic->graph.costs = *s->costs;
    for (unsigned w = 0; w < pic->graph.nworkers; w++) {
        unsigned c = pic->workers[w].node;

        pic->workers[w].blocking = !s->device[c];
        for (unsigned k = 0; k < s->p->ntypes; k++) {
            pic->awaited[k][w] = s->device[c] && s->awaited[k][c];
            pic->types[k].awaited = pic->awaited[k];
        }
    }
    for (unsigned t = 0; t < s->p->ntasks; t++) {
        struct orr_graph_task *task = &pic->tasks[t];

        task->naccesses = s->naccesses[t];
        task->by = s->submitter[t] >= IN_TASK        ? ORR_GRAPH_BY_TASK
                   : s->submitter[t] == NOBODY_KNOWN ? ORR_GRAPH_BY_OTHER
                                                     : ORR_GRAPH_BY_THREAD;
        task->submitter = s->submitter[t] % NOBODY_KNOWN;
        if (s->only[t] >= 0)
            picture_only(pic, t, (unsigned)s->only[t] / WORKERS,
                         (unsigned)s->only[t] % WORKERS);
    }
}

static struct orr_bound_result costly_bound(const struct costly *s,
                                            enum orr_bound_method method)
{
    const struct orr_bound_options limits = {.seconds = 0.5};
    const struct orr_bound_instance_options options = {.across_nodes = false};
    struct orr_bound_instance *in;
    struct orr_bound_result result;
    struct orr_error err = {""};
    static struct picture pic;

    draw_picture(&pic, s->p);
    picture_costs(&pic, s);
    ck_assert_msg(
        orr_bound_instance_new(&pic.graph, &options, &in, NULL, &err) == 0, "%s",
        err.text);
    ck_assert_int_eq(orr_bound_compute(in, method, &limits, &result), 0);
    orr_bound_instance_free(in);
    return result;
}

/* Whether some program's tasks have several threads, are for one worker, … */
enum { PLAIN, THREADED, BOUND, NESTED, QUEUED, NFEATURES };

static void draw_submitters(uint64_t *rng, struct costly *s, bool *has)
{
    unsigned nthreads = 1 + draw(rng, THREADS), luck = draw(rng, 3);

    for (unsigned t = 0; t < s->p->ntasks; t++) {
        s->submitter[t] = draw(rng, nthreads);
        has[THREADED] |= s->submitter[t] > 0;
        if (luck > 0 || draw(rng, 3) > 0)
            continue;
        s->submitter[t] = t && draw(rng, 3) ? IN_TASK + draw(rng, t) : NOBODY_KNOWN;
        has[NESTED] |= s->submitter[t] >= IN_TASK;
    }
}

static void draw_workers(uint64_t *rng, struct costly *s, bool *has)
{
    bool binds = draw(rng, 2), mixes = draw(rng, 2);

    for (unsigned c = 0; c < CLASSES; c++) {
        s->device[c] = c == 1 && draw(rng, 3);
        for (unsigned k = 0; k < s->p->ntypes; k++)
            s->awaited[k][c] = mixes && draw(rng, 2);
        has[QUEUED] |= s->device[c] && s->costs->queue_ms > 0;
    }
    for (unsigned t = 0; t < s->p->ntasks; t++) {
        unsigned c = draw(rng, CLASSES);

        s->only[t] = -1;
        if (!binds || draw(rng, 2) || !isfinite(s->p->ms[s->p->type[t]][c]))
            continue;
        s->only[t] = (int)(c * WORKERS + draw(rng, s->p->nworkers[c]));
        has[BOUND] = true;
    }
}

struct tightness {
    unsigned n, nreached;
    double sum, without; /* of bounds, by the optimum; without costs */
};

static void costly_count(struct tightness *to, double ms, double without,
                         double best)
{
    to->n++;
    to->sum += ms / best;
    to->without += without / best;
    to->nreached += ms >= best * (1 - 1e-6);
}

static void costly_check(unsigned number, struct tightness *tightness)
{
    struct puzzle p = draw_puzzle(number);
    uint64_t rng = rng_of(number + 1000000);
    struct orr_graph_costs costs = {
        draw_cost(&rng), draw_cost(&rng), draw_cost(&rng), draw_cost(&rng),
        draw_cost(&rng), draw_cost(&rng), draw_cost(&rng)};
    struct costly s = {.p = &p, .costs = &costs, .best = INFINITY};
    struct orr_bound_result result, without;
    bool has[NFEATURES] = {false};

    p.ntasks = p.ntasks > COSTLY_TASKS ? COSTLY_TASKS : p.ntasks;
    memset(p.wide, 0, sizeof(p.wide));
    for (unsigned c = 0; c < CLASSES; c++)
        p.nworkers[c] =
            p.nworkers[c] > COSTLY_WORKERS ? COSTLY_WORKERS : p.nworkers[c];
    draw_submitters(&rng, &s, has);
    draw_workers(&rng, &s, has);
    for (unsigned t = 0; t < p.ntasks; t++)
        s.naccesses[t] = draw(&rng, 4);
    costly_submissions(&s);
    costly_rest(&s, 0);
    result = costly_bound(&s, ORR_BOUND_RUNTIME);
    without = costly_bound(&s, ORR_BOUND_PRECEDENCE);
    check_one(&result, s.best, number);
    if (isfinite(result.ms) && isfinite(without.ms) && s.best > 0) {
        has[PLAIN] = !has[THREADED] && !has[BOUND] && !has[NESTED] && !has[QUEUED];
        for (unsigned f = 0; f < NFEATURES; f++)
            if (has[f])
                costly_count(&tightness[f], result.ms, without.ms, s.best);
        costly_count(&tightness[NFEATURES], result.ms, without.ms, s.best);
    }
    orr_bound_result_done(&result);
    orr_bound_result_done(&without);
}

START_TEST(no_schedule_with_costs_is_below_its_bound)
{
    static const char *const names[] = {
        "with none of that", "with several threads", "with tasks for one worker",
        "with tasks in tasks", "with queues of devices", "in all"};
    struct tightness tightness[NFEATURES + 1] = {{0}};

    for (unsigned number = 0; number < COSTLY_GRAPHS; number++)
        costly_check(number, tightness);
    for (unsigned f = 0; f <= NFEATURES; f++) {
        const struct tightness *t = &tightness[f];

        printf("# %3u graphs %s: %.3f of the optimum on average, %u reach it; "
               "without costs %.3f\n",
               t->n, names[f], t->sum / t->n, t->nreached, t->without / t->n);
        ck_assert_uint_ge(t->n, COSTLY_GRAPHS / 20);
        ck_assert_double_ge(t->sum / t->n, 0.75);
    }
    ck_assert_uint_ge(tightness[NFEATURES].n, COSTLY_GRAPHS * 9 / 10);
}
END_TEST

/* A search that finds too long schedules would let too high bounds pass. */
START_TEST(the_check_finds_known_errors)
{
    /* Five equal tasks on two workers; three on one, with a class that takes
     * twice as long; a task on two workers at once, after another. */
    struct puzzle equal = {
        .nworkers = {2, 1}, .ntypes = 1, .ntasks = 5, .ms = {{3, INFINITY}}};
    struct puzzle affine = {
        .nworkers = {1, 1}, .ntypes = 1, .ntasks = 3, .ms = {{2, 4}}};
    struct puzzle wide = {.nworkers = {2, 1},
                          .ntypes = 2,
                          .ntasks = 2,
                          .ms = {{5, 9}, {6, NAN}},
                          .wide = {{0, 0, 0}, {0, 2, 3}},
                          .type = {0, 1}};

    wide.before[0][1] = true;
    ck_assert_double_eq(shortest(&equal), 9);
    ck_assert_double_eq(shortest(&affine), 4);
    ck_assert_double_eq(shortest(&wide), 8);
}
END_TEST

SUITE_MAIN(bound_random)
{
    bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    Suite *suite = suite_create("bound-random");
    TCase *tc = tcase_create("random");

    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, the_check_finds_known_errors);
    tcase_add_test(tc, no_schedule_with_costs_is_below_its_bound);
    tcase_add_loop_test(tc,
                        no_bound_is_above_the_optimum_and_the_exact_one_is_it,
                        0, all ? BLOCKS : 1);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
