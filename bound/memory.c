/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/memory.c - the area bound with the copies that small memories cost. No
 * state; any thread.
 *
 * The idea is that of Hong and Kung (I/O complexity: the red-blue pebble game,
 * STOC 1981), in the form of Irony, Toledo and Tiskin (Communication lower
 * bounds for distributed-memory matrix multiplication, JPDC 64, 2004), with the
 * inequality of Loomis and Whitney (1949); made for any graph, because what it
 * needs is counted on the graph itself.
 *
 * Segments. Consider a memory node of capacity M and a schedule. A datum
 * arrives there when a copy of it into the node is complete, or when a task
 * that writes it without reading it starts there; A is the sum of the bytes of
 * all arrivals. Order arrivals and starts of tasks by time, arrivals first. Cut
 * this sequence after the arrival with which the bytes since the last cut reach
 * s. A segment that is cut off has at least s bytes of arrivals: with K cuts,
 * A ≥ K·s. A task that starts in a segment finds its data in the node, so they
 * were there when the segment began (at most M bytes) or arrived in it before,
 * with less than s bytes, as the cutting arrival is the segment's last. (A
 * datum that a task both reads and writes was there before; one that it only
 * writes arrives.) So all tasks of a segment access distinct data of at most M
 * + s bytes, and in the first segment, if no datum is at home in the node, s
 * bytes. Let P(B) be at least the number of tasks of a family that can be found
 * whose distinct data have at most B bytes. Of n tasks of the family on the
 * node,
 *   n ≤ P(s) + K·P(M + s),  so  A ≥ s·(n − P(s)) / P(M + s),
 * which is linear in n and holds for any s; rows for several s are used. Over
 * the k nodes of a group the rows add up, with P(s) k times.
 *
 * P(B). A family's tasks have a datum at each position (buffer). Let N_p be the
 * number of distinct data found at position p. With at most μ_p tasks that
 * share their datum at p there are at most μ_p·N_p tasks; with at most μ_pq
 * that share both, μ_pq·N_p·N_q. For three positions label the tasks: for
 * positions p and q take the bipartite graph of data at p and data at q, with
 * an edge per task; a task's label pq is the component of its edge, which
 * either datum alone distinguishes. So the datum at p determines labels pq and
 * pr, that at q determines pq and qr, that at r determines pr and qr. Points
 * (pq, pr, qr) have projections of at most N_p, N_q, N_r points, so there are
 * at most √(N_p·N_q·N_r) of them (Loomis and Whitney), and with at most μ tasks
 * of equal labels at most μ·√(N_p·N_q·N_r) tasks. In a product of matrices the
 * labels are the three loop indices. N_p is at most the number of the smallest
 * data at p that fit in B. Where positions have no datum in common they share
 * B: the product is largest when the budget is shared out evenly (inequality of
 * means).
 *
 * Data of which it is not known who reads what (versions.h) are not counted on:
 * tasks that access one are in no family.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/copies.h"

#define MOST_TASKS     20000
#define MOST_POSITIONS 5 /* the first ones count */

/* Sizes of segments that are tried, in capacities. */
static const double segments[] = {0.125, 0.25, 0.5, 1, 2, 4, 8};

/* Tasks of one type, or of all types with as many positions. */
struct family {
    unsigned ntasks, npositions;
    unsigned *tasks;
    unsigned *data;                /* per task and position */
    double *sizes[MOST_POSITIONS]; /* of distinct data, sorted, summed up */
    unsigned ndata[MOST_POSITIONS];
    double least[MOST_POSITIONS];       /* bytes of the smallest */
    unsigned shared_by[MOST_POSITIONS]; /* μ_p */
    unsigned part[MOST_POSITIONS]; /* positions with data in common: equal */
    double pairs[MOST_POSITIONS][MOST_POSITIONS];                   /* μ_pq */
    double triples[MOST_POSITIONS][MOST_POSITIONS][MOST_POSITIONS]; /* μ */
};

static unsigned family_datum(const struct family *f, unsigned task,
                             unsigned position)
{
    return f->data[(size_t)task * f->npositions + position];
}

static int double_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct key {
    uint64_t a, b;
};

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* The most keys that are equal. Sorts them. */
static unsigned most_equal(struct key *keys, unsigned n)
{
    unsigned most = 0, run = 0;

    qsort(keys, n, sizeof(*keys), by_key);
    for (unsigned i = 0; i < n; i++) {
        run = i && by_key(&keys[i - 1], &keys[i]) == 0 ? run + 1 : 1;
        most = run > most ? run : most;
    }
    return most;
}

/* -- the data of one position -- */

static int count_position(struct family *f, const struct orr_graph *graph,
                          unsigned p, struct key *keys)
{
    double sum = 0;

    for (unsigned i = 0; i < f->ntasks; i++)
        keys[i] = (struct key){family_datum(f, i, p), 0};
    f->shared_by[p] = most_equal(keys, f->ntasks);
    f->sizes[p] = calloc(f->ntasks + (size_t)1, sizeof(*f->sizes[p]));
    if (!f->sizes[p])
        return -ENOMEM;
    for (unsigned i = 0; i < f->ntasks; i++)
        if (i == 0 || keys[i].a != keys[i - 1].a)
            f->sizes[p][f->ndata[p]++] = graph->data[keys[i].a].bytes;
    qsort(f->sizes[p], f->ndata[p], sizeof(*f->sizes[p]), double_compare);
    f->least[p] = f->sizes[p][0];
    for (unsigned d = 0; d < f->ndata[p]; d++) {
        sum += f->sizes[p][d];
        f->sizes[p][d] = sum;
    }
    return 0;
}

/* How many data of a position fit in so many bytes. */
static double count_fitting_data(const struct family *f, unsigned p,
                                 double bytes)
{
    unsigned low = 0, high = f->ndata[p];

    /* The bytes are raised by as much as rounding may have raised the sums. */
    bytes *= 1 + 1e-9;
    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (f->sizes[p][middle] <= bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Positions that have a datum in common get one part. `at` is scratch: per
 * datum, the last position that had it, plus 1. */
static void family_find_parts(struct family *f, unsigned *at)
{
    for (unsigned p = 0; p < f->npositions; p++)
        f->part[p] = p;
    for (unsigned p = 0; p < f->npositions; p++)
        for (unsigned i = 0; i < f->ntasks; i++) {
            unsigned *last = &at[family_datum(f, i, p)], from, to;

            if (*last) {
                from = f->part[p];
                to = f->part[*last - 1];
                for (unsigned q = 0; q < f->npositions; q++)
                    if (f->part[q] == from)
                        f->part[q] = to;
            }
            *last = p + 1;
        }
    for (unsigned p = 0; p < f->npositions; p++)
        for (unsigned i = 0; i < f->ntasks; i++)
            at[family_datum(f, i, p)] = 0;
}

/* -- labels -- */

static unsigned label_root(unsigned *parent, unsigned n)
{
    while (parent[n] != n)
        n = parent[n] = parent[parent[n]];
    return n;
}

/* Per task, the component of its datum at p in the bipartite graph of p and q.
 * `parent` is scratch: two entries per datum of the graph. */
static void family_label_components(const struct family *f, unsigned p,
                                    unsigned q, unsigned *parent, unsigned *ret)
{
    for (unsigned i = 0; i < f->ntasks; i++) {
        unsigned a = 2 * family_datum(f, i, p),
                 b = 2 * family_datum(f, i, q) + 1;

        parent[a] = a;
        parent[b] = b;
    }
    for (unsigned i = 0; i < f->ntasks; i++)
        parent[label_root(parent, 2 * family_datum(f, i, p))] =
            label_root(parent, 2 * family_datum(f, i, q) + 1);
    for (unsigned i = 0; i < f->ntasks; i++)
        ret[i] = label_root(parent, 2 * family_datum(f, i, p));
}

static void count_pairs_and_triples(struct family *f, struct key *keys,
                                    unsigned *parent, unsigned *labels)
{
    unsigned n = f->ntasks, *pq = labels, *pr = labels + n,
             *qr = labels + 2 * (size_t)n;

    for (unsigned p = 0; p < f->npositions; p++)
        for (unsigned q = p + 1; q < f->npositions; q++) {
            for (unsigned i = 0; i < n; i++)
                keys[i] =
                    (struct key){family_datum(f, i, p), family_datum(f, i, q)};
            f->pairs[p][q] = most_equal(keys, n);
            for (unsigned r = q + 1; r < f->npositions; r++) {
                family_label_components(f, p, q, parent, pq);
                family_label_components(f, p, r, parent, pr);
                family_label_components(f, q, r, parent, qr);
                for (unsigned i = 0; i < n; i++)
                    keys[i] =
                        (struct key){(uint64_t)pq[i] << 32 | pr[i], qr[i]};
                f->triples[p][q][r] = most_equal(keys, n);
            }
        }
}

/* -- P(B) -- */

/* The largest product of N_p over the positions, when their distinct data have
 * at most so many bytes. */
static double largest_position_product(const struct family *f,
                                       const unsigned *positions, unsigned n,
                                       double bytes)
{
    double counted = 1, shared = 1;

    for (unsigned a = 0; a < n; a++) {
        unsigned p = positions[a], together = 0;

        for (unsigned b = 0; b < n; b++)
            together += f->part[positions[b]] == f->part[p];
        counted *= count_fitting_data(f, p, bytes);
        /* Each part gets its positions' share of the budget. */
        shared *= bytes * together / n / f->least[p];
    }
    return fmin(counted, shared * (1 + 1e-9));
}

static double most_tasks(const struct family *f, double bytes)
{
    double most = f->ntasks;

    for (unsigned p = 0; p < f->npositions; p++) {
        most = fmin(most, f->shared_by[p] * count_fitting_data(f, p, bytes));
        for (unsigned q = p + 1; q < f->npositions; q++) {
            most = fmin(most,
                        f->pairs[p][q] * largest_position_product(
                                             f, (unsigned[]){p, q}, 2, bytes));
            for (unsigned r = q + 1; r < f->npositions; r++)
                most = fmin(most, f->triples[p][q][r] *
                                      sqrt(largest_position_product(
                                          f, (unsigned[]){p, q, r}, 3, bytes)));
        }
    }
    return most;
}

/* -- families -- */

static void family_done(struct family *f)
{
    for (unsigned p = 0; p < MOST_POSITIONS; p++)
        free(f->sizes[p]);
    free(f->tasks);
    free(f->data);
}

static bool task_is_of_family(const struct orr_copies *c, unsigned task,
                              unsigned type, unsigned naccesses)
{
    const struct orr_graph *graph = c->in->graph;
    const struct orr_graph_task *t = &graph->tasks[task];

    if ((type < c->in->ntypes && c->in->type[task] != type) ||
        t->naccesses != naccesses)
        return false;
    for (unsigned a = 0; a < t->naccesses; a++)
        if (c->versions.loose[graph->accesses[t->first_access + a].datum])
            return false;
    return true;
}

/* Tasks of a type (or of all, if there is no such type) with so many accesses.
 * Errors: -ENOMEM; end it with family_done all the same. */
static int family_init(struct family *f, const struct orr_copies *c,
                       unsigned type, unsigned naccesses)
{
    const struct orr_graph *graph = c->in->graph;
    size_t tasks = c->in->ntasks;
    struct key *keys = calloc(tasks + 1, sizeof(*keys));
    unsigned *labels = calloc(3 * tasks + 1, sizeof(*labels));
    unsigned *scratch = calloc(2 * (size_t)graph->ndata + 1, sizeof(*scratch));
    int rc = keys && labels && scratch ? 0 : -ENOMEM;

    *f = (struct family){
        .npositions = naccesses < MOST_POSITIONS ? naccesses : MOST_POSITIONS};
    f->tasks = calloc(tasks + 1, sizeof(*f->tasks));
    f->data = calloc(tasks * f->npositions + 1, sizeof(*f->data));
    if (!f->tasks || !f->data)
        rc = -ENOMEM;
    for (unsigned i = 0; !rc && i < tasks; i++) {
        if (!task_is_of_family(c, i, type, naccesses))
            continue;
        for (unsigned p = 0; p < f->npositions; p++)
            f->data[(size_t)f->ntasks * f->npositions + p] =
                graph->accesses[graph->tasks[i].first_access + p].datum;
        f->tasks[f->ntasks++] = i;
    }
    for (unsigned p = 0; !rc && f->ntasks && p < f->npositions; p++)
        rc = count_position(f, graph, p, keys);
    if (!rc && f->ntasks) {
        family_find_parts(f, scratch);
        count_pairs_and_triples(f, keys, scratch, labels);
    }
    free(keys);
    free(labels);
    free(scratch);
    return rc;
}

/* -- rows -- */

/* Bytes that a task writes without reading them. */
static double written_bytes(const struct orr_copies *c, unsigned task)
{
    const struct orr_graph *graph = c->in->graph;
    const struct orr_graph_task *t = &graph->tasks[task];
    double sum = 0;

    for (unsigned a = 0; a < t->naccesses; a++) {
        const struct orr_graph_access *access =
            &graph->accesses[t->first_access + a];

        if (access->mode == ORR_GRAPH_WRITE)
            sum += graph->data[access->datum].bytes;
    }
    return sum / c->unit_bytes;
}

/* A − s·n/P(M + s) ≥ −s·k·P(first)/P(M + s). */
static void add_memory_row(struct orr_copies *c, const struct family *f,
                           unsigned group, double capacity, double segment,
                           double *weight)
{
    const struct orr_graph *graph = c->in->graph;
    double each = most_tasks(f, capacity + segment);
    double first = c->group_is_home[group] ? each : most_tasks(f, segment);
    double price = segment / c->unit_bytes / each;

    if (!(each >= 1) || f->ntasks <= c->group_nodes[group] * first)
        return; /* no bound follows */
    for (unsigned g = 0; g < c->ngroups; g++)
        weight[g] = g == group;
    for (unsigned r = 0; r < graph->nroutes; r++)
        if (c->group[graph->routes[r].dst] == group)
            orr_copies_add_column(c, c->first_flow + r, 1);
    for (unsigned i = 0; i < c->in->ntasks; i++)
        orr_copies_add_place(c, i, weight, written_bytes(c, i));
    for (unsigned i = 0; i < f->ntasks; i++)
        orr_copies_add_place(c, f->tasks[i], weight, -price);
    c->constant += price * c->group_nodes[group] * first;
    orr_copies_end_row(c, true, ORR_COPIES_OTHER, 0);
}

/* Whether each copy into the group passes a link of finite bandwidth. */
static bool is_priced(const struct orr_copies *c, unsigned group)
{
    const struct orr_graph *graph = c->in->graph;
    bool any = false;

    for (unsigned r = 0; r < graph->nroutes; r++) {
        if (c->group[graph->routes[r].dst] != group)
            continue;
        any = true;
        /* Columns of flows without such a link are fixed at 0. */
        if (!(c->lp.columns[c->first_flow + r].upper > 0))
            return false;
    }
    return any;
}

static void add_family(struct orr_copies *c, const struct family *f,
                       double *weight)
{
    const struct orr_graph *graph = c->in->graph;

    for (unsigned g = 0; f->ntasks && g < c->ngroups; g++) {
        double capacity = 0;

        for (unsigned n = 0; n < graph->nnodes; n++)
            if (c->group[n] == g)
                capacity = fmax(capacity, graph->nodes[n].capacity);
        if (!isfinite(capacity) || !(capacity > 0) || !is_priced(c, g))
            continue;
        for (unsigned s = 0; s < sizeof(segments) / sizeof(segments[0]); s++)
            add_memory_row(c, f, g, capacity, segments[s] * capacity, weight);
    }
}

/* A family per type; one per number of accesses, over all types. */
static int add_families(struct orr_copies *c)
{
    double *weight = calloc(c->ngroups + (size_t)1, sizeof(*weight));
    unsigned most = 0;
    int rc = weight ? 0 : -ENOMEM;

    for (unsigned i = 0; i < c->in->ntasks; i++)
        if (c->in->graph->tasks[i].naccesses > most)
            most = c->in->graph->tasks[i].naccesses;
    for (unsigned n = 1; n <= most && n <= MOST_POSITIONS; n++)
        for (unsigned k = 0; !rc && k <= c->in->ntypes; k++) {
            struct family f;

            if (k < c->in->ntypes && c->in->types[k].ntasks == 0)
                continue;
            rc = family_init(&f, c, k, n);
            if (!rc)
                add_family(c, &f, weight);
            family_done(&f);
        }
    free(weight);
    return rc ? rc : c->lp.failed ? -ENOMEM : 0;
}

int orr_bound_memory(const struct orr_bound_instance *in,
                     const struct orr_bound_options *options,
                     struct orr_bound_result *ret)
{
    const struct orr_copies_cutter cutter = {NULL, NULL, NULL};
    struct orr_copies c;
    int rc;

    if (in->ntasks > MOST_TASKS)
        return orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                                 "%u tasks; it takes too long for more than %u",
                                 in->ntasks, MOST_TASKS);
    rc = orr_copies_init(&c, in);
    if (!rc)
        rc = add_families(&c);
    if (!rc)
        rc = orr_copies_solve(&c, options, &cutter, ret);
    if (!rc) /* better where numbers differ by more than programs can have */
        rc = orr_bound_at_least(in, ORR_BOUND_AREA, options, ret);
    orr_copies_done(&c);
    return rc;
}
