/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/versions.c - follows data through a graph. No state; any thread.
 */
#include "bound/versions.h"

#include <errno.h>
#include <stdlib.h>

struct use {
    unsigned task, mode;
};

struct following {
    const struct orr_bound_instance *in;
    struct orr_bound_versions *v;
    unsigned *first_use; /* CSR by datum */
    struct use *uses;
    unsigned *mark; /* per task: the last one of whose preds it is one, + 1 */
};

/* Uses by datum, in order of tasks; a task's accesses of one datum are one. */
static void collect_uses(struct following *f, unsigned *fill)
{
    const struct orr_graph *graph = f->in->graph;

    for (unsigned a = 0; a < graph->naccesses; a++)
        f->first_use[graph->accesses[a].datum + 1]++;
    for (unsigned d = 0; d < graph->ndata; d++)
        f->first_use[d + 1] += f->first_use[d];
    for (unsigned i = 0; i < graph->ntasks; i++) {
        const struct orr_graph_task *task = &graph->tasks[i];

        for (unsigned a = 0; a < task->naccesses; a++) {
            const struct orr_graph_access *access =
                &graph->accesses[task->first_access + a];
            unsigned *n = &fill[access->datum];
            struct use *uses = &f->uses[f->first_use[access->datum]];

            if (*n && uses[*n - 1].task == i)
                uses[*n - 1].mode |= access->mode;
            else
                uses[(*n)++] = (struct use){i, access->mode};
        }
    }
}

static bool has_edge(const struct following *f, unsigned from, unsigned to)
{
    const struct orr_bound_instance *in = f->in;

    for (unsigned e = in->first_pred[to]; e < in->first_pred[to + 1]; e++)
        if (in->preds[e] == from)
            return true;
    return false;
}

/* Whether the writer comes after all uses since the writer before. */
static bool writer_is_last(struct following *f, const struct use *since,
                           unsigned n, unsigned before, unsigned writer)
{
    const struct orr_bound_instance *in = f->in;

    if (n == 0)
        return before == ORR_BOUND_NO_TASK || has_edge(f, before, writer);
    for (unsigned e = in->first_pred[writer]; e < in->first_pred[writer + 1];
         e++)
        f->mark[in->preds[e]] = writer + 1;
    for (unsigned u = 0; u < n; u++)
        if (f->mark[since[u].task] != writer + 1)
            return false;
    return true;
}

/* Whether edges make the uses take place in the order of submission, readers
 * of one value among themselves excepted. */
static bool is_ordered(struct following *f, unsigned datum,
                       const struct use *uses, unsigned n)
{
    bool valued = f->in->graph->data[datum].valued;
    unsigned writer = ORR_BOUND_NO_TASK, since = 0;

    for (unsigned u = 0; u < n; u++) {
        if (uses[u].mode & ORR_GRAPH_READ) {
            if (writer == ORR_BOUND_NO_TASK && !valued)
                return false;
            if (writer != ORR_BOUND_NO_TASK &&
                !has_edge(f, writer, uses[u].task))
                return false;
        }
        if (uses[u].mode & ORR_GRAPH_WRITE) {
            if (!writer_is_last(f, &uses[since], u - since, writer,
                                uses[u].task))
                return false;
            writer = uses[u].task;
            since = u + 1;
        }
    }
    return true;
}

static void follow_datum(struct following *f, unsigned datum,
                         const struct use *uses, unsigned n)
{
    struct orr_bound_versions *v = f->v;
    struct orr_bound_version *version = &v->versions[v->nversions];

    *version =
        (struct orr_bound_version){datum, ORR_BOUND_NO_TASK, v->nreaders, 0};
    for (unsigned u = 0; u < n; u++) {
        if (uses[u].mode & ORR_GRAPH_READ) {
            v->readers[v->nreaders++] = uses[u].task;
            version->nreaders++;
        }
        if (uses[u].mode & ORR_GRAPH_WRITE) {
            if (version->nreaders)
                version = &v->versions[++v->nversions];
            *version =
                (struct orr_bound_version){datum, uses[u].task, v->nreaders, 0};
        }
    }
    if (version->nreaders)
        v->nversions++;
}

int orr_bound_versions_init(struct orr_bound_versions *versions,
                            const struct orr_bound_instance *instance)
{
    const struct orr_graph *graph = instance->graph;
    size_t uses = graph->naccesses, data = graph->ndata;
    struct following f = {.in = instance, .v = versions};
    unsigned *fill = calloc(data + 1, sizeof(*fill));
    int rc = 0;

    *versions = (struct orr_bound_versions){0};
    f.first_use = calloc(data + 2, sizeof(*f.first_use));
    f.uses = calloc(uses + 1, sizeof(*f.uses));
    f.mark = calloc(graph->ntasks + (size_t)1, sizeof(*f.mark));
    /* At most a version per use, and each datum's first. */
    versions->versions = calloc(uses + data + 1, sizeof(*versions->versions));
    versions->readers = calloc(uses + 1, sizeof(*versions->readers));
    versions->loose = calloc(data + 1, sizeof(*versions->loose));
    if (!fill || !f.first_use || !f.uses || !f.mark || !versions->versions ||
        !versions->readers || !versions->loose) {
        orr_bound_versions_done(versions);
        rc = -ENOMEM;
        goto out;
    }
    collect_uses(&f, fill);
    for (unsigned d = 0; d < graph->ndata; d++) {
        const struct use *own = &f.uses[f.first_use[d]];

        versions->loose[d] = !is_ordered(&f, d, own, fill[d]);
        if (!versions->loose[d])
            follow_datum(&f, d, own, fill[d]);
    }
out:
    free(fill);
    free(f.first_use);
    free(f.uses);
    free(f.mark);
    return rc;
}

void orr_bound_versions_done(struct orr_bound_versions *versions)
{
    free(versions->versions);
    free(versions->readers);
    free(versions->loose);
    *versions = (struct orr_bound_versions){0};
}
