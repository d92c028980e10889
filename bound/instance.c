/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/instance.c - classes of workers, variants of types, tasks in order. No
 * state; any thread.
 */
#include "bound/instance.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State while an instance is made. `ms` are the durations that count, type by
 * worker: INFINITY where there is none, known to be so or not. */
struct making {
    const struct orr_graph *graph;
    const struct orr_bound_instance_options *options;
    struct orr_bound_instance *in;
    double *ms;
};

static double *ms_of(const struct making *m, unsigned type, unsigned worker)
{
    return &m->ms[(size_t)type * m->graph->nworkers + worker];
}

/* -- durations -- */

static void making_read_durations(const struct making *m, unsigned *ret_unknown)
{
    unsigned unknown = 0;

    for (unsigned k = 0; k < m->graph->ntypes; k++) {
        const struct orr_graph_task_type *type = &m->graph->types[k];

        for (unsigned w = 0; w < m->graph->nworkers; w++) {
            double mean = type->mean_ms[w];
            double less = m->options->optimism * type->deviation_ms[w];

            if (isnan(mean) && m->in->types[k].ntasks)
                unknown++;
            *ms_of(m, k, w) =
                isfinite(mean) ? fmax(0, mean - less) : (double)INFINITY;
        }
    }
    if (ret_unknown)
        *ret_unknown = unknown;
}

/* Adds a type to the list of those that are named in an error. */
static void name_type(char *list, size_t size,
                      const struct orr_graph_task_type *k)
{
    size_t used = strlen(list);

    if (used + 1 < size)
        snprintf(list + used, size - used, "%s%s (footprint %08x)",
                 used ? ", " : "", k->symbol, k->footprint);
}

/* Every type with tasks needs a worker. */
static int check_types(const struct making *m, struct orr_error *err)
{
    char unable[400] = "", unknown[400] = "";

    for (unsigned k = 0; k < m->graph->ntypes; k++) {
        const struct orr_graph_task_type *type = &m->graph->types[k];
        bool known = false, able = false;

        for (unsigned w = 0; w < m->graph->nworkers; w++) {
            known = known || isfinite(*ms_of(m, k, w));
            able = able || isnan(type->mean_ms[w]);
        }
        if (m->in->types[k].ntasks == 0 || known)
            continue;
        name_type(able ? unknown : unable,
                  able ? sizeof(unknown) : sizeof(unable), type);
    }
    if (unable[0])
        return orr_fail(err, -ENODEV,
                        "No worker of this machine can run: %s. Choose a "
                        "machine with workers for it, or give the codelet an "
                        "implementation for one.",
                        unable);
    if (unknown[0])
        return orr_fail(err, -ENODATA,
                        "No worker has an estimate in the model of: %s. "
                        "Calibrate first (STARPU_CALIBRATE=1, or orrery "
                        "calibrate).",
                        unknown);
    return 0;
}

/* -- classes -- */

static bool durations_are_near(double a, double b, double share)
{
    if (isinf(a) || isinf(b))
        return isinf(a) && isinf(b);
    return fabs(a - b) <= share * fmin(a, b);
}

static bool workers_are_alike(const struct making *m, unsigned v, unsigned w)
{
    if (!m->options->across_nodes &&
        m->graph->workers[v].node != m->graph->workers[w].node)
        return false;
    for (unsigned k = 0; k < m->graph->ntypes; k++)
        if (m->in->types[k].ntasks &&
            !durations_are_near(*ms_of(m, k, v), *ms_of(m, k, w),
                                m->options->merge))
            return false;
    return true;
}

/* Whether no earlier worker of the class computes in this one's node. */
static bool is_new_node(const struct making *m, unsigned c, unsigned worker)
{
    for (unsigned w = 0; w < worker; w++)
        if (m->in->class_of[w] == c &&
            m->graph->workers[w].node == m->graph->workers[worker].node)
            return false;
    return true;
}

/* Puts a worker into the first class whose first worker equals it. */
static void classify_worker(struct making *m, unsigned worker)
{
    struct orr_bound_instance *in = m->in;
    struct orr_bound_class *class;
    unsigned c = 0;

    while (c < in->nclasses &&
           !workers_are_alike(m, in->classes[c].worker, worker))
        c++;
    class = &in->classes[c];
    if (c == in->nclasses) {
        in->nclasses++;
        class->worker = worker;
        class->node = m->graph->workers[worker].node;
    }
    class->size++;
    class->nodes += is_new_node(m, c, worker);
    in->class_of[worker] = c;
}

/* Replaces the durations of a class's first worker by the least of all. */
static void take_least(struct making *m)
{
    for (unsigned k = 0; k < m->graph->ntypes; k++)
        for (unsigned w = 0; w < m->graph->nworkers; w++) {
            const struct orr_bound_class *class =
                &m->in->classes[m->in->class_of[w]];
            double *least = ms_of(m, k, class->worker);
            double own = *ms_of(m, k, w);

            if (m->in->types[k].ntasks == 0)
                continue;
            m->in->merged = m->in->merged || own != *least;
            *least = fmin(*least, own);
        }
}

/* The letters of a worker's type: workers are named after it, then numbered. */
static size_t letters_of(const struct making *m, unsigned worker)
{
    return strcspn(m->graph->workers[worker].name, " 0123456789");
}

static bool same_type(const struct making *m, unsigned v, unsigned w)
{
    return letters_of(m, v) == letters_of(m, w) &&
           strncmp(m->graph->workers[v].name, m->graph->workers[w].name,
                   letters_of(m, v)) == 0;
}

/* "9 CPU cores", "3 CUDA devices", "CUDA 1": those of class `c` whose type is that
 * of `first`; nothing where an earlier one has it. */
static void name_part(const struct making *m, unsigned c, unsigned first,
                      FILE *to)
{
    const struct orr_bound_class *class = &m->in->classes[c];
    const char *worker = m->graph->workers[first].name;
    int letters = (int)letters_of(m, first);
    unsigned n = 0;

    for (unsigned w = class->worker, met = 0; met < class->size; w++) {
        if (m->in->class_of[w] != c)
            continue;
        met++;
        if (!same_type(m, w, first))
            continue;
        if (w < first)
            return;
        n++;
    }
    if (first != class->worker)
        fputs(" and ", to);
    if (n == 1)
        fputs(worker, to);
    else if (letters == 0)
        fprintf(to, "%u workers like %s", n, worker);
    else
        fprintf(to, "%u %.*s %s", n, letters, worker,
                letters == 3 && !strncmp(worker, "CPU", 3) ? "cores"
                                                           : "devices");
}

static int name_class(const struct making *m, unsigned c)
{
    struct orr_bound_class *class = &m->in->classes[c];
    size_t size;
    FILE *to = open_memstream(&class->name, &size);

    if (!to) {
        class->name = NULL;
        return -ENOMEM;
    }
    for (unsigned w = class->worker, met = 0; met < class->size; w++)
        if (m->in->class_of[w] == c) {
            /* One after the other they are many. */
            if (!met || m->in->class_of[w - 1] != c || !same_type(m, w - 1, w))
                name_part(m, c, w, to);
            met++;
        }
    if (fclose(to) == 0)
        return 0;
    free(class->name);
    class->name = NULL;
    return -ENOMEM;
}

/* Classes with the same name get the number of their first worker. */
static int tell_apart(const struct making *m, unsigned c)
{
    const struct orr_bound_instance *in = m->in;
    bool alike = false;
    char *longer;

    for (unsigned d = 0; d < c; d++)
        alike = alike || strcmp(in->classes[c].name, in->classes[d].name) == 0;
    if (!alike)
        return 0;
    if (asprintf(&longer, "%s from %s", in->classes[c].name,
                 m->graph->workers[in->classes[c].worker].name) < 0)
        return -ENOMEM;
    free(in->classes[c].name);
    in->classes[c].name = longer;
    return 0;
}

static int making_classify_workers(struct making *m)
{
    int rc = 0;

    for (unsigned w = 0; w < m->graph->nworkers; w++)
        classify_worker(m, w);
    take_least(m);
    for (unsigned c = 0; c < m->in->nclasses && rc == 0; c++)
        rc = name_class(m, c);
    for (unsigned c = m->in->nclasses; c-- > 1 && rc == 0;)
        rc = tell_apart(m, c);
    return rc;
}

static void making_add_variants(struct making *m)
{
    struct orr_bound_instance *in = m->in;

    for (unsigned k = 0; k < in->ntypes; k++) {
        struct orr_bound_task_type *type = &in->types[k];

        type->first_variant = in->nvariants;
        type->best_ms = INFINITY;
        for (unsigned c = 0; c < in->nclasses && type->ntasks; c++) {
            double ms = *ms_of(m, k, in->classes[c].worker);

            if (!isfinite(ms))
                continue;
            in->variants[in->nvariants++] =
                (struct orr_bound_variant){c, 1, ms};
            type->best_ms = fmin(type->best_ms, ms);
        }
        type->nvariants = in->nvariants - type->first_variant;
    }
}

/* -- tasks -- */

/* Edges, each once: `mark` has, per task, the last one that it was an earlier
 * task of, plus 1. */
static void make_edges(struct orr_bound_instance *in, unsigned *mark)
{
    const struct orr_graph *graph = in->graph;

    for (unsigned i = 0; i < in->ntasks; i++) {
        const struct orr_graph_task *task = &graph->tasks[i];

        in->first_pred[i] = in->nedges;
        for (unsigned d = 0; d < task->ndeps; d++) {
            unsigned earlier = graph->deps[task->first_dep + d].task;

            if (mark[earlier] == i + 1)
                continue;
            mark[earlier] = i + 1;
            in->preds[in->nedges++] = earlier;
            in->first_succ[earlier + 1]++;
        }
    }
    in->first_pred[in->ntasks] = in->nedges;
    for (unsigned i = 0; i < in->ntasks; i++)
        in->first_succ[i + 1] += in->first_succ[i];
    memcpy(mark, in->first_succ, in->ntasks * sizeof(*mark));
    for (unsigned i = 0; i < in->ntasks; i++)
        for (unsigned e = in->first_pred[i]; e < in->first_pred[i + 1]; e++)
            in->succs[mark[in->preds[e]]++] = i;
}

/* `left` is scratch. The graph has no cycle, so all are placed. */
static void instance_sort_topologically(struct orr_bound_instance *in,
                                        unsigned *left)
{
    unsigned n = 0;

    for (unsigned i = 0; i < in->ntasks; i++) {
        left[i] = in->first_pred[i + 1] - in->first_pred[i];
        if (left[i] == 0)
            in->order[n++] = i;
    }
    for (unsigned head = 0; head < n; head++) {
        unsigned i = in->order[head];

        for (unsigned e = in->first_succ[i]; e < in->first_succ[i + 1]; e++)
            if (--left[in->succs[e]] == 0)
                in->order[n++] = in->succs[e];
    }
}

static int instance_add_tasks(struct orr_bound_instance *in)
{
    unsigned *scratch = orr_bound_array(in->ntasks, sizeof(*scratch));

    if (!scratch)
        return -ENOMEM;
    make_edges(in, scratch);
    instance_sort_topologically(in, scratch);
    free(scratch);
    return 0;
}

static int instance_allocate(struct making *m)
{
    const struct orr_graph *graph = m->graph;
    struct orr_bound_instance *in = m->in;
    size_t workers = graph->nworkers, types = graph->ntypes;
    size_t tasks = graph->ntasks, deps = graph->ndeps;

    m->ms = orr_bound_array(types * workers, sizeof(*m->ms));
    in->classes = orr_bound_array(workers, sizeof(*in->classes));
    in->class_of = orr_bound_array(workers, sizeof(*in->class_of));
    in->types = orr_bound_array(types, sizeof(*in->types));
    in->variants = orr_bound_array(types * workers, sizeof(*in->variants));
    in->type = orr_bound_array(tasks, sizeof(*in->type));
    in->order = orr_bound_array(tasks, sizeof(*in->order));
    in->first_pred = orr_bound_array(tasks + 1, sizeof(*in->first_pred));
    in->first_succ = orr_bound_array(tasks + 1, sizeof(*in->first_succ));
    in->preds = orr_bound_array(deps, sizeof(*in->preds));
    in->succs = orr_bound_array(deps, sizeof(*in->succs));
    return m->ms && in->classes && in->class_of && in->types && in->variants &&
                   in->type && in->order && in->first_pred && in->first_succ &&
                   in->preds && in->succs
               ? 0
               : -ENOMEM;
}

static void instance_count_tasks(struct orr_bound_instance *in)
{
    for (unsigned k = 0; k < in->ntypes; k++)
        in->types[k].symbol = in->graph->types[k].symbol;
    for (unsigned i = 0; i < in->ntasks; i++) {
        in->type[i] = in->graph->tasks[i].type;
        in->types[in->type[i]].ntasks++;
    }
}

static int instance_make(struct making *m, unsigned *ret_unknown,
                         struct orr_error *err)
{
    int rc = instance_allocate(m);

    if (rc)
        return orr_fail(err, rc, "Out of memory.");
    instance_count_tasks(m->in);
    making_read_durations(m, ret_unknown);
    rc = check_types(m, err);
    if (rc)
        return rc;
    rc = making_classify_workers(m);
    if (rc == 0) {
        making_add_variants(m);
        rc = instance_add_tasks(m->in);
    }
    return rc ? orr_fail(err, rc, "Out of memory.") : 0;
}

int orr_bound_instance_new(const struct orr_graph *graph,
                           const struct orr_bound_instance_options *options,
                           struct orr_bound_instance **ret,
                           unsigned *ret_unknown, struct orr_error *err)
{
    struct making m = {.graph = graph, .options = options};
    unsigned unknown = 0;
    int rc;

    if (graph->ntasks == 0)
        return orr_fail(err, -ENODATA, "The graph has no task.");
    m.in = calloc(1, sizeof(*m.in));
    if (!m.in)
        return orr_fail(err, -ENOMEM, "Out of memory.");
    m.in->graph = graph;
    m.in->ntypes = graph->ntypes;
    m.in->ntasks = graph->ntasks;
    rc = instance_make(&m, &unknown, err);
    free(m.ms);
    if (rc) {
        orr_bound_instance_free(m.in);
        return rc;
    }
    if (ret_unknown)
        *ret_unknown = unknown;
    *ret = m.in;
    return 0;
}

void orr_bound_instance_free(struct orr_bound_instance *in)
{
    if (!in)
        return;
    for (unsigned c = 0; in->classes && c < in->nclasses; c++)
        free(in->classes[c].name);
    free(in->classes);
    free(in->types);
    free(in->variants);
    free(in->type);
    free(in->order);
    free(in->first_pred);
    free(in->preds);
    free(in->first_succ);
    free(in->succs);
    free(in->class_of);
    free(in);
}
