/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/replicas.c - see replicas.h. */
#include "import/replicas.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/base/grow.h"

#define MANY_TASKS (1u << 26)

/* What a task of the exchange computes is small beside what it waits for. 0 would mean that
 * the time is not known. */
#define STEP_US 0.001

struct replicas {
    struct flow *flow; /* the copies */
    struct flow of;    /* what it had: its tasks and data alone */
    size_t n;
    size_t *datum;     /* by datum of the original and replica: its number */
    const bool *once_tasks, *once_data; /* which all replicas share; NULL: none */
    size_t *order;     /* the tasks in order of submission */
    size_t *task;      /* by task of the original and replica: its number */
    size_t parts;      /* first of n * n data: the parts of what is exchanged; FLOW_NONE */
    int64_t ndevices;  /* of one */
};

static size_t *number_of(struct replicas *r, size_t task, size_t replica)
{
    return &r->task[task * r->n + replica];
}

static size_t datum_of(const struct replicas *r, size_t datum, size_t replica)
{
    return r->datum[datum * r->n + replica];
}

static bool is_shared_task(const struct replicas *r, size_t task)
{
    return r->once_tasks && r->once_tasks[task];
}

static bool is_shared_datum(const struct replicas *r, size_t datum)
{
    return r->once_data && r->once_data[datum];
}

/* --- data --- */

static int copy_data(struct replicas *r, size_t replica, double bytes)
{
    for (size_t d = 0; d < r->of.ndata; d++) {
        const struct flow_datum *from = &r->of.data[d];
        bool is_queue = d == r->flow->exchanged;
        struct flow_datum *to;
        char name[160];
        size_t made;

        if (is_shared_datum(r, d) && replica > 0) {
            r->datum[d * r->n + replica] = datum_of(r, d, 0);
            continue;
        }
        if (is_shared_datum(r, d))
            snprintf(name, sizeof(name), "%.150s", from->name ? from->name : "");
        else
            snprintf(name, sizeof(name), "replica %zu: %.120s", replica,
                     from->name ? from->name : "");
        made = flow_add_datum(r->flow, from->name ? name : NULL,
                              is_queue ? (uint64_t)fmax((double)from->bytes, bytes) : from->bytes);
        if (made == FLOW_NONE)
            return -ENOMEM;
        r->datum[d * r->n + replica] = made;
        to = &r->flow->data[made];
        to->home = from->home;
        to->has_home = from->has_home;
        to->is_file = from->is_file;
        to->ncoordinates = from->ncoordinates;
        memcpy(to->coordinates, from->coordinates, sizeof(to->coordinates));
    }
    return 0;
}

static size_t part_of(const struct replicas *r, size_t replica, size_t part)
{
    return r->parts + (replica % r->n) * r->n + part % r->n;
}

static int make_parts(struct replicas *r, double bytes)
{
    r->parts = bytes > 0 ? r->flow->ndata : FLOW_NONE;
    for (size_t i = 0; bytes > 0 && i < r->n * r->n; i++)
        if (flow_add_datum(r->flow, NULL, (uint64_t)ceil(bytes / (double)r->n)) == FLOW_NONE)
            return -ENOMEM;
    return 0;
}

/* --- tasks --- */

/* What replica `of` of the original is to, or waits for: of what all share each one, once. */
static int copy_lists_of(struct replicas *r, size_t t, size_t of, size_t to)
{
    const struct flow_task *from = &r->of.tasks[t];
    int rc = 0;

    for (size_t u = 0; !rc && u < from->nuses; u++)
        if (of == 0 || !is_shared_task(r, t) || !is_shared_datum(r, from->uses[u].datum))
            rc = flow_use(&r->flow->tasks[to], datum_of(r, from->uses[u].datum, of),
                          from->uses[u].mode);
    for (size_t b = 0; !rc && b < from->nbefore; b++)
        if (of == 0 || !is_shared_task(r, t) || !is_shared_task(r, from->before[b]))
            rc = flow_wait(&r->flow->tasks[to], *number_of(r, from->before[b], of));
    for (size_t b = 0; !rc && b < from->nend_before; b++)
        if (of == 0 || !is_shared_task(r, t) || !is_shared_task(r, from->end_before[b]))
            rc = flow_end_wait(&r->flow->tasks[to], *number_of(r, from->end_before[b], of));
    return rc;
}

/* A task that all share has to do with every replica. */
static int copy_lists(struct replicas *r, size_t t, size_t replica)
{
    size_t to = *number_of(r, t, replica);
    int rc = 0;

    if (!is_shared_task(r, t))
        return copy_lists_of(r, t, replica, to);
    for (size_t of = 0; !rc && replica == 0 && of < r->n; of++)
        rc = copy_lists_of(r, t, of, to);
    return rc;
}

static int copy_task(struct replicas *r, size_t t, size_t replica)
{
    const struct flow_task *from = &r->of.tasks[t];
    struct flow_task *to, fresh;
    int rc;

    if (is_shared_task(r, t) && replica > 0) {
        *number_of(r, t, replica) = *number_of(r, t, 0);
        return 0;
    }
    to = flow_add_task(r->flow);
    if (!to)
        return -ENOMEM;
    fresh = *to;
    *to = *from;
    to->kernel = to->model = to->name = NULL;
    to->uses = fresh.uses;
    to->before = to->end_before = fresh.before;
    to->nuses = to->nbefore = to->nend_before = 0;
    to->workers = NULL;
    to->nworkers = 0;
    to->worker = -1;
    to->tagged = false; /* a tag is that of one task */
    if (from->device >= 0)
        to->device = from->device + (int64_t)replica * r->ndevices;
    to->order = r->flow->ntasks;
    *number_of(r, t, replica) = r->flow->ntasks - 1;
    rc = flow_text(&to->kernel, from->kernel);
    if (!rc)
        rc = flow_text(&to->model, from->model);
    if (!rc)
        rc = flow_text(&to->name, from->name);
    return rc;
}

/* --- the exchange --- */

/* A task of the exchange, where the replica's queue is. */
static int add_step(struct replicas *r, const struct flow_task *behind, size_t replica,
                    const char *kernel, uint32_t mode)
{
    struct flow_task *task = flow_add_task(r->flow);

    if (!task || flow_text(&task->kernel, kernel))
        return -ENOMEM;
    task->us = STEP_US;
    for (unsigned k = 0; k < ORR_NKINDS; k++)
        task->times[k] = k != ORR_KIND_CPU ? STEP_US : (double)NAN;
    task->kind_of_worker = ORR_KIND_CUDA + 1;
    task->iteration = behind->iteration;
    if (behind->device >= 0)
        task->device = behind->device + (int64_t)replica * r->ndevices;
    task->order = r->flow->ntasks;
    return flow_use(task, datum_of(r, r->flow->exchanged, replica), mode);
}

static int use_in_step(struct replicas *r, size_t datum, uint32_t mode)
{
    return flow_use(&r->flow->tasks[r->flow->ntasks - 1], datum, mode);
}

/* Each begins, or ends, with all of its parts. */
static int add_ends(struct replicas *r, const struct flow_task *behind, const char *kernel,
                    uint32_t mode)
{
    int rc = 0;

    for (size_t replica = 0; !rc && replica < r->n; replica++) {
        rc = add_step(r, behind, replica, kernel, STARPU_RW);
        for (size_t part = 0; !rc && part < r->n; part++)
            rc = use_in_step(r, part_of(r, replica, part), mode);
    }
    return rc;
}

/* In that step the replica takes a part of its neighbour's. */
static int take_part(struct replicas *r, const struct flow_task *behind, size_t step,
                     size_t replica)
{
    bool sums = step < r->n - 1;
    size_t part = replica + 2 * r->n - (sums ? step + 1 : step - (r->n - 1));
    int rc = add_step(r, behind, replica, sums ? "add neighbour's" : "take neighbour's", STARPU_R);

    if (!rc)
        rc = use_in_step(r, part_of(r, replica + r->n - 1, part), STARPU_R);
    if (!rc)
        rc = use_in_step(r, part_of(r, replica, part), sums ? STARPU_RW : STARPU_W);
    return rc;
}

/* Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations", 2009: first each part is added up around the ring, then the sums go round.
 * A device sends or receives at one time, as the simulated machine has it: each second one
 * receives first, and then the others, so that none waits for more than one neighbour. */
static int add_exchange(struct replicas *r, const struct flow_task *behind)
{
    int rc = add_ends(r, behind, "gradients", STARPU_W);

    for (size_t step = 0; !rc && step < 2 * (r->n - 1); step++) {
        size_t first = r->flow->ntasks;

        for (size_t replica = 0; !rc && replica < r->n; replica += 2)
            rc = take_part(r, behind, step, replica);
        for (size_t replica = 1; !rc && replica < r->n; replica += 2) {
            size_t before = first + replica / 2, after = first + (replica + 1) % r->n / 2;

            rc = take_part(r, behind, step, replica);
            if (!rc)
                rc = flow_wait(&r->flow->tasks[r->flow->ntasks - 1], before);
            if (!rc && after != before)
                rc = flow_wait(&r->flow->tasks[r->flow->ntasks - 1], after);
        }
    }
    return rc ? rc : add_ends(r, behind, "sums", STARPU_R);
}

static bool uses_queue(const struct replicas *r, const struct flow_task *task)
{
    for (size_t u = 0; u < task->nuses; u++)
        if (task->uses[u].datum == r->flow->exchanged)
            return true;
    return false;
}

/* Which is the last task of its iteration that uses the queue. */
static bool *find_ends(const struct replicas *r)
{
    bool *ends = calloc(r->of.ntasks + 1, sizeof(*ends));
    const struct flow_task *later = NULL;

    for (size_t i = r->of.ntasks; ends && i-- > 0;) {
        const struct flow_task *task = &r->of.tasks[r->order[i]];

        if (!uses_queue(r, task))
            continue;
        ends[r->order[i]] = !later || later->iteration != task->iteration;
        later = task;
    }
    return ends;
}

/* --- all of it --- */

/* In turn, so that none is ahead of others where the policy keeps their order. */
static int copy_tasks(struct replicas *r)
{
    bool *ends = r->parts == FLOW_NONE ? NULL : find_ends(r);
    int rc = ends || r->parts == FLOW_NONE ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < r->of.ntasks; i++) {
        size_t t = r->order[i];

        for (size_t replica = 0; !rc && replica < r->n; replica++)
            rc = copy_task(r, t, replica);
        if (!rc && ends && ends[t])
            rc = add_exchange(r, &r->of.tasks[t]);
    }
    for (size_t t = 0; !rc && t < r->of.ntasks; t++)
        for (size_t replica = 0; !rc && replica < r->n; replica++)
            rc = copy_lists(r, t, replica);
    free(ends);
    return rc;
}

static int replicate(struct replicas *r, double bytes)
{
    int rc = 0;

    r->task = calloc(r->of.ntasks * r->n + 1, sizeof(*r->task));
    r->datum = calloc(r->of.ndata * r->n + 1, sizeof(*r->datum));
    r->order = calloc(r->of.ntasks + 1, sizeof(*r->order));
    rc = r->task && r->datum && r->order ? 0 : -ENOMEM;
    for (size_t t = 0; !rc && t < r->of.ntasks; t++)
        r->order[t] = t;
    if (!rc)
        qsort_r(r->order, r->of.ntasks, sizeof(*r->order), flow_compare_order, r->of.tasks);
    for (size_t replica = 0; !rc && replica < r->n; replica++)
        rc = copy_data(r, replica, bytes);
    if (!rc)
        rc = make_parts(r, bytes);
    if (!rc)
        rc = copy_tasks(r);
    if (!rc && bytes > 0)
        rc = flow_note(r->flow, "replicas exchange behind each iteration, beside nothing else: "
                                "programs that begin earlier take less");
    free(r->task);
    free(r->datum);
    free(r->order);
    return rc;
}

static int copy_flow(struct replicas *r, double bytes)
{
    struct flow *flow = r->flow;
    int rc;

    flow->line = 0;
    if (r->n == 0 || flow->ntasks > MANY_TASKS / r->n || flow->ndata > MANY_TASKS / r->n)
        return flow_wrong(flow, "%zu replicas of %zu tasks", r->n, flow->ntasks);
    for (size_t t = 0; t < flow->ntasks; t++)
        if (flow->tasks[t].device >= r->ndevices)
            r->ndevices = flow->tasks[t].device + 1;
    r->of.tasks = flow->tasks;
    r->of.data = flow->data;
    r->of.ntasks = flow->ntasks;
    r->of.ndata = flow->ndata;
    flow->tasks = NULL;
    flow->data = NULL;
    flow->ntasks = flow->ndata = 0;
    rc = replicate(r, bytes);
    flow_done(&r->of);
    return rc ? flow_no_memory(flow) : 0;
}

int flow_replicate(struct flow *flow, size_t n, double bytes)
{
    struct replicas r = {.flow = flow, .n = n};

    flow->line = 0;
    if (bytes > 0 && flow->exchanged == FLOW_NONE)
        return flow_wrong(flow, "--exchange is for timelines with kernels of devices");
    return copy_flow(&r, bytes);
}

int flow_scale(struct flow *flow, size_t n)
{
    struct replicas r = {.flow = flow, .n = n};
    bool *tasks, *data;
    int rc;

    flow->line = 0;
    if (!flow->has_all_waits)
        return flow_wrong(flow, "--scale is for workflows and graphs, which say what each task "
                                "waits for");
    tasks = calloc(flow->ntasks + 1, sizeof(*tasks));
    data = calloc(flow->ndata + 1, sizeof(*data));
    rc = tasks && data ? flow_find_single(flow, tasks, data) : flow_no_memory(flow);
    r.once_tasks = tasks;
    r.once_data = data;
    if (!rc)
        rc = copy_flow(&r, 0);
    free(tasks);
    free(data);
    return rc;
}
