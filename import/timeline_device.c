/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/timeline_device.c - tasks of what ran on devices, see timeline.h.
 *
 * A kernel is a task of a device. What is in one queue goes on one after the other: its
 * tasks write one datum, which has a share of the memory that the device had: where a policy
 * may choose the device, one that knows of transfers leaves the queue where it is. A copy is a task that takes
 * no time and reads a datum which the host has written, or writes one that the host reads:
 * how long that takes is the machine's matter. What a process did between two launches, and
 * did not spend waiting for a device, is a task of a processor, behind the one before; what
 * is launched waits for it. Threads of a process count as one, since they hand work to each
 * other: what they did at the same time counts once.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "import/kinds.h"
#include "import/means.h"
#include "import/timeline.h"

/* What was put into a queue. */
struct operation {
    size_t task;
    double launch, end; /* µs, in the timeline */
};

struct queue {
    struct operation *operations; /* in order of launches */
    size_t n;
    size_t datum;   /* FLOW_NONE: not yet */
    size_t *before; /* what the next operation waits for */
    size_t nbefore;
    size_t ncopies;
    size_t waited; /* of its operations the host has waited for so many */
};

/* A datum that the host reads once it is there. */
struct arrival {
    size_t datum;
    double end;
};

/* What the threads of one process do. */
struct host {
    const char *process;
    size_t last;       /* task, or FLOW_NONE */
    double now;        /* µs: until then all is in tasks … */
    double own;        /* … but so much, before it waited for the device */
    double end;        /* its last slice ends */
    size_t *before;    /* what its next task waits for */
    size_t nbefore;
    struct arrival *arrivals;
    size_t narrivals;
    bool launches;
};

/* A number and the slice that has it. */
struct numbered {
    int64_t number;
    size_t slice;
};

struct numbers {
    struct numbered *items; /* sorted */
    size_t n;
};

struct device_tasks {
    struct timeline *timeline;
    struct flow *flow;
    struct queue *queues; /* by row */
    struct host *hosts;
    size_t nhosts;
    struct numbers launched;   /* kernels and copies, by correlation */
    struct numbers calls;      /* by correlation */
    struct numbers operators;  /* by their number */
    struct numbers waits;      /* the timeline's, by correlation of the call */
    size_t orphans, collectives;
    bool any_device;
};

/* µs: what a task takes that takes no time, since 0 means that the time is not known. */
#define NO_TIME 0.001

/* --- numbers --- */

static int numbers_compare(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->slice > y->slice) - (x->slice < y->slice);
}

static int numbers_add(struct device_tasks *d, struct numbers *numbers, int64_t number, size_t slice)
{
    struct numbered *added =
        number < 0 ? NULL : orr_array_add(numbers->items, numbers->n);

    if (added)
        *added = (struct numbered){number, slice};
    return added || number < 0 ? 0 : flow_no_memory(d->flow);
}

/* The place of the first one that has it; `n` without. */
static size_t numbers_find(const struct numbers *numbers, int64_t number)
{
    size_t low = 0, high = numbers->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (numbers->items[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < numbers->n && numbers->items[low].number == number ? low : numbers->n;
}

/* The slice with that number; NULL without. */
static const struct timeline_slice *numbers_slice(const struct device_tasks *d,
                                                  const struct numbers *numbers, int64_t number)
{
    size_t place = number < 0 ? numbers->n : numbers_find(numbers, number);

    return place < numbers->n ? &d->timeline->slices[numbers->items[place].slice] : NULL;
}

static int number_slices(struct device_tasks *d)
{
    struct numbers *const all[] = {&d->launched, &d->calls, &d->operators, &d->waits};
    int rc = 0;

    for (size_t s = 0; !rc && s < d->timeline->nslices; s++) {
        const struct timeline_slice *slice = &d->timeline->slices[s];

        if (slice->kind >= SLICE_KERNEL)
            rc = numbers_add(d, &d->launched, slice->correlation, s);
        else if (slice->kind == SLICE_CALL)
            rc = numbers_add(d, &d->calls, slice->correlation, s);
        else if (slice->kind == SLICE_WORK)
            rc = numbers_add(d, &d->operators, slice->operation, s);
    }
    for (size_t w = 0; !rc && w < d->timeline->nwaits; w++)
        rc = numbers_add(d, &d->waits, d->timeline->waits[w].correlation, w);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i]->n)
            qsort(all[i]->items, all[i]->n, sizeof(*all[i]->items), numbers_compare);
    return rc;
}

/* --- tasks --- */

static int list_add(struct device_tasks *d, size_t **list, size_t *n, size_t value)
{
    size_t *added = orr_array_add(*list, *n);

    if (added)
        *added = value;
    return added ? 0 : flow_no_memory(d->flow);
}

/* The task waits for all of the list, which is empty then. */
static int wait_for_list(struct device_tasks *d, size_t task, size_t *list, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        if (flow_wait(&d->flow->tasks[task], list[i]))
            return flow_no_memory(d->flow);
    *n = 0;
    return 0;
}

/* A task more, whose kernel has the name, short where no rule has chosen it; FLOW_NONE, with
 * a message. */
static size_t add_task(struct device_tasks *d, const char *name, const char *field, double us,
                       unsigned kind, double at)
{
    struct flow_task *task = flow_add_task(d->flow);

    if (!task) {
        flow_no_memory(d->flow);
        return FLOW_NONE;
    }
    task->us = fmax(us, NO_TIME);
    task->kind_of_worker = kind + 1;
    task->order = d->flow->ntasks;
    task->iteration = timeline_iteration(d->timeline, at);
    if (flow_set_kind(d->flow, task, name, field))
        return FLOW_NONE;
    if (!task->chosen) {
        free(task->kernel);
        task->kernel = timeline_short_name(name);
    }
    if (task->kernel)
        return d->flow->ntasks - 1;
    flow_no_memory(d->flow);
    return FLOW_NONE;
}

/* What the host did since the task before: `us`, ending at `end`. */
static size_t add_host_task(struct device_tasks *d, struct host *host, const char *name,
                            const char *field, double us, double end)
{
    size_t task = add_task(d, name, field, us, ORR_KIND_CPU, end), kept = 0;
    int rc = task == FLOW_NONE ? -ENOMEM : 0;

    if (!rc && host->last != FLOW_NONE && flow_wait(&d->flow->tasks[task], host->last))
        rc = flow_no_memory(d->flow);
    if (!rc)
        rc = wait_for_list(d, task, host->before, &host->nbefore);
    for (size_t a = 0; !rc && a < host->narrivals; a++) {
        if (host->arrivals[a].end > end)
            host->arrivals[kept++] = host->arrivals[a];
        else if (flow_use(&d->flow->tasks[task], host->arrivals[a].datum, STARPU_R))
            rc = flow_no_memory(d->flow);
    }
    if (rc)
        return FLOW_NONE;
    host->narrivals = kept;
    host->last = task;
    return task;
}

/* --- queues --- */

/* The share of the memory that its device had: at least as much as one copy brought. */
static double queue_bytes(const struct device_tasks *d, size_t row)
{
    const struct timeline *timeline = d->timeline;
    double bytes = timeline_most_memory(timeline, timeline->rows[row].device);
    size_t queues = 0;

    for (size_t r = 0; r < timeline->nrows; r++)
        queues += timeline->rows[r].queue && timeline->rows[r].device == timeline->rows[row].device;
    for (size_t s = 0; s < timeline->nslices; s++) {
        const struct timeline_slice *slice = &timeline->slices[s];

        if (slice->way == COPY_TO_DEVICE &&
            timeline->rows[slice->row].device == timeline->rows[row].device)
            bytes = fmax(bytes, slice->bytes);
    }
    return floor(bytes / (double)queues);
}

/* The queue's datum, which the task writes behind the one before. */
static int use_queue(struct device_tasks *d, size_t row, size_t task)
{
    struct queue *queue = &d->queues[row];
    bool is_first = queue->datum == FLOW_NONE;
    double bytes = is_first ? queue_bytes(d, row) : 0;
    char *name = NULL;

    if (is_first) {
        name = timeline_row_name(d->timeline, row);
        queue->datum = name ? flow_add_datum(d->flow, name, (uint64_t)bytes) : FLOW_NONE;
        free(name);
    }
    if (queue->datum == FLOW_NONE)
        return flow_no_memory(d->flow);
    if (is_first && bytes < 1 &&
        flow_note(d->flow, "the file does not say how much memory devices had: a queue moves "
                           "to another device in no time"))
        return flow_no_memory(d->flow);
    return flow_use(&d->flow->tasks[task], queue->datum, is_first ? STARPU_W : STARPU_RW)
               ? flow_no_memory(d->flow)
               : 0;
}

static int64_t device_of_row(const struct device_tasks *d, size_t row)
{
    int64_t device = d->timeline->rows[row].device;

    return device > 0 && device < UINT16_MAX ? device : 0;
}

/* A hash of what the kernel's time depends on: its whole name, its grid, and the shapes
 * that its operator had. */
static void set_footprint(const struct device_tasks *d, const struct timeline_slice *slice,
                          struct flow_task *task)
{
    const struct timeline_slice *call = numbers_slice(d, &d->calls, slice->correlation);
    int64_t number = slice->operation >= 0 ? slice->operation : call ? call->operation
                                                                     : SLICE_NO_NUMBER;
    const struct timeline_slice *operator = numbers_slice(d, &d->operators, number);

    char bytes[32];

    orr_snprintf(bytes, sizeof(bytes), "%.0f", slice->bytes);
    task->footprint = timeline_hash(timeline_hash(slice->shape, slice->name), bytes);
    if (operator && operator->has_shape)
        task->footprint ^= operator->shape;
    task->has_footprint = true;
}

/* The datum of a copy. Programs use their buffers again, two of a size in turn: what is
 * new would have to be allocated. The host's side of it is the program's own. */
static size_t buffer_of_copy(struct device_tasks *d, const struct timeline_slice *slice)
{
    struct queue *queue = &d->queues[slice->row];
    char key[96];
    size_t datum;

    orr_snprintf(key, sizeof(key), "%zu %d %.0f %zu", slice->row, (int)slice->way, slice->bytes,
             queue->ncopies++ % 2);
    datum = flow_find(&d->flow->datum_names, key);
    if (datum != FLOW_NONE)
        return datum;
    datum = flow_add_datum(d->flow, NULL, (uint64_t)slice->bytes);
    if (datum == FLOW_NONE || flow_set(&d->flow->datum_names, key, datum)) {
        flow_no_memory(d->flow);
        return FLOW_NONE;
    }
    d->flow->data[datum].has_home = true;
    d->flow->data[datum].home = STARPU_MAIN_RAM;
    return datum;
}

/* A kernel or copy behind what its queue has, and behind the host's task that launched it
 * (FLOW_NONE: nobody did). */
static int add_operation(struct device_tasks *d, const struct timeline_slice *slice,
                         struct host *host, size_t launcher, double launch)
{
    struct queue *queue = &d->queues[slice->row];
    bool moves = slice->kind == SLICE_COPY && slice->way != COPY_INSIDE && slice->bytes >= 1 &&
                 launcher != FLOW_NONE;
    size_t task = add_task(d, slice->name, slice->field,
                           moves ? 0 : slice->end - slice->start, ORR_KIND_CUDA, launch);
    size_t datum = FLOW_NONE;
    struct operation *operation;
    struct arrival *arrival;
    int rc = task == FLOW_NONE ? -ENOMEM : use_queue(d, slice->row, task);

    if (!rc)
        rc = wait_for_list(d, task, queue->before, &queue->nbefore);
    if (!rc && launcher != FLOW_NONE && flow_wait(&d->flow->tasks[task], launcher))
        rc = flow_no_memory(d->flow);
    if (!rc && moves) {
        datum = buffer_of_copy(d, slice);
        rc = datum == FLOW_NONE ? -ENOMEM : 0;
    }
    if (!rc && moves && slice->way == COPY_TO_DEVICE &&
        (flow_use(&d->flow->tasks[launcher], datum, STARPU_W) ||
         flow_use(&d->flow->tasks[task], datum, STARPU_R)))
        rc = flow_no_memory(d->flow);
    if (!rc && moves && slice->way == COPY_FROM_DEVICE) {
        arrival = orr_array_add(host->arrivals, host->narrivals);
        if (!arrival || flow_use(&d->flow->tasks[task], datum, STARPU_W))
            return flow_no_memory(d->flow);
        *arrival = (struct arrival){datum, slice->end};
    }
    operation = rc ? NULL : orr_array_add(queue->operations, queue->n);
    if (!operation)
        return rc ? rc : flow_no_memory(d->flow);
    *operation = (struct operation){task, launch, slice->end};
    set_footprint(d, slice, &d->flow->tasks[task]);
    if (!d->any_device)
        d->flow->tasks[task].device = device_of_row(d, slice->row);
    d->orphans += launcher == FLOW_NONE;
    d->collectives += strstr(slice->name, "nccl") != NULL;
    return 0;
}

/* How many of the queue's operations had been launched before. */
static size_t launched_before(const struct queue *queue, double us)
{
    size_t n = queue->n;

    while (n > 0 && queue->operations[n - 1].launch >= us)
        n--;
    return n;
}

/* --- waits --- */

/* The host waits for what had ended of that queue when it went on. */
static int wait_for_queue(struct device_tasks *d, struct host *host, size_t row, double us)
{
    struct queue *queue = &d->queues[row];
    size_t n = queue->n;

    while (n > queue->waited && queue->operations[n - 1].end > us)
        n--;
    if (n == queue->waited)
        return 0;
    queue->waited = n;
    return list_add(d, &host->before, &host->nbefore, queue->operations[n - 1].task);
}

/* The next of the file's waits that belong to the call; *place is 0 at first. NULL behind the
 * last one. */
static const struct timeline_wait *next_wait(const struct device_tasks *d,
                                             const struct timeline_slice *call, size_t *place)
{
    size_t first = call->correlation < 0 ? d->waits.n
                                         : numbers_find(&d->waits, call->correlation);
    size_t i = first + (*place)++;

    return i < d->waits.n && d->waits.items[i].number == call->correlation
               ? &d->timeline->waits[d->waits.items[i].slice]
               : NULL;
}

/* The row for which alone the call waits; FLOW_NONE: for all. */
static size_t row_of_wait(const struct device_tasks *d, const struct timeline_slice *call)
{
    const struct timeline_wait *wait;
    size_t place = 0;

    while ((wait = next_wait(d, call, &place)))
        if (wait->before == FLOW_NONE)
            return wait->row;
    return FLOW_NONE;
}

/* The call ends when the device has done what was asked for; before that the host worked. */
static int host_waits(struct device_tasks *d, struct host *host, const struct timeline_slice *call)
{
    size_t only = row_of_wait(d, call);
    int rc = 0;

    host->own += fmax(0, call->start - host->now);
    host->now = fmax(host->now, call->end);
    if (host->own > 0) {
        double own = host->own;

        host->own = 0;
        if (add_host_task(d, host, call->name, call->field, own, call->start) == FLOW_NONE)
            return -ENOMEM; /* with a message */
    }
    for (size_t r = 0; !rc && r < d->timeline->nrows; r++)
        if (d->timeline->rows[r].queue && (only == FLOW_NONE || r == only))
            rc = wait_for_queue(d, host, r, call->end);
    return rc;
}

/* What comes next in the queue waits for what was in another one. */
static int queue_waits(struct device_tasks *d, const struct timeline_wait *wait,
                       const struct timeline_slice *call)
{
    const struct timeline_slice *record = numbers_slice(d, &d->calls, wait->record);
    const struct queue *other = &d->queues[wait->before];
    size_t n = launched_before(other, record ? record->start : call->start);

    return n ? list_add(d, &d->queues[wait->row].before, &d->queues[wait->row].nbefore,
                        other->operations[n - 1].task)
             : 0;
}

/* --- the host --- */

static struct host *host_of(struct device_tasks *d, const struct timeline_slice *slice)
{
    const char *process = d->timeline->rows[slice->row].process;
    struct host *host;

    for (size_t h = 0; h < d->nhosts; h++)
        if (d->hosts[h].process == process)
            return &d->hosts[h];
    host = orr_array_add(d->hosts, d->nhosts);
    if (!host) {
        flow_no_memory(d->flow);
        return NULL;
    }
    host->process = process;
    host->last = FLOW_NONE;
    host->now = slice->start;
    return host;
}

/* What the call is part of: an operator, where the file says which. */
static const struct timeline_slice *part_of(const struct device_tasks *d,
                                            const struct timeline_slice *call)
{
    const struct timeline_slice *operator = numbers_slice(d, &d->operators, call->operation);

    return operator ? operator : call;
}

/* A call that launches; `first` is the place of the first operation in d->launched. Where it
 * has a copy that ended within it, it waited for that. */
static int host_launches(struct device_tasks *d, struct host *host,
                         const struct timeline_slice *call, size_t first)
{
    const struct timeline_slice *named = part_of(d, call);
    const struct timeline_slice *slices = d->timeline->slices;
    const struct numbered *items = d->launched.items;
    bool waits = false;
    double end, us;
    size_t task;
    int rc = 0;

    for (size_t i = first; i < d->launched.n && items[i].number == call->correlation; i++)
        waits |= slices[items[i].slice].kind == SLICE_COPY &&
                 slices[items[i].slice].end <= call->end;
    end = waits ? call->start : call->end;
    us = host->own + fmax(0, end - host->now);
    host->own = 0;
    host->now = fmax(host->now, end);
    host->launches = true;
    task = add_host_task(d, host, named->name, named->field, us, end);
    if (task == FLOW_NONE)
        return -ENOMEM; /* with a message */
    for (size_t i = first; !rc && i < d->launched.n && items[i].number == call->correlation; i++)
        rc = add_operation(d, &slices[items[i].slice], host, task, call->start);
    return rc || !waits ? rc : host_waits(d, host, call);
}

static int read_call(struct device_tasks *d, const struct timeline_slice *call)
{
    struct host *host = host_of(d, call);
    size_t first = call->correlation < 0 ? d->launched.n
                                         : numbers_find(&d->launched, call->correlation);
    const struct timeline_wait *wait;
    size_t place = 0;
    int rc = host ? 0 : -ENOMEM;

    if (!rc && first < d->launched.n)
        rc = host_launches(d, host, call, first);
    else if (!rc && call->waits)
        rc = host_waits(d, host, call);
    while (!rc && (wait = next_wait(d, call, &place)))
        if (wait->before != FLOW_NONE)
            rc = queue_waits(d, wait, call);
    return rc;
}

/* What the process did behind its last launch. */
static int end_host(struct device_tasks *d, struct host *host)
{
    double rest = host->own + fmax(0, host->end - host->now);

    if (!host->launches || (rest <= 0 && !host->narrivals && !host->nbefore))
        return 0;
    for (size_t a = 0; a < host->narrivals; a++)
        host->arrivals[a].end = host->end;
    return add_host_task(d, host, "host", NULL, rest, host->end) == FLOW_NONE ? -ENOMEM : 0;
}

/* --- all of it --- */

static int read_slices(struct device_tasks *d)
{
    int rc = 0;

    for (size_t s = 0; !rc && s < d->timeline->nslices; s++) {
        const struct timeline_slice *slice = &d->timeline->slices[s];
        struct host *host;

        if (slice->kind >= SLICE_KERNEL) {
            if (!numbers_slice(d, &d->calls, slice->correlation))
                rc = add_operation(d, slice, NULL, FLOW_NONE, slice->start);
            continue;
        }
        host = host_of(d, slice);
        rc = host ? 0 : -ENOMEM;
        if (!rc && slice->end > host->end)
            host->end = slice->end;
        if (!rc && slice->kind == SLICE_CALL)
            rc = read_call(d, slice);
    }
    for (size_t h = 0; !rc && h < d->nhosts; h++)
        rc = end_host(d, &d->hosts[h]);
    return rc;
}

/* µs in which a device had kernels of several queues; *ret_all: of all kernels. */
static double overlap_us(const struct device_tasks *d, double *ret_all)
{
    const struct timeline *timeline = d->timeline;
    double overlap = 0;

    *ret_all = 0;
    for (size_t r = 0; r < timeline->nrows; r++) {
        double busy_until = 0;
        bool is_first = timeline->rows[r].queue; /* of its device */

        for (size_t o = 0; o < r && is_first; o++)
            is_first = !timeline->rows[o].queue ||
                       timeline->rows[o].device != timeline->rows[r].device;
        for (size_t s = 0; is_first && s < timeline->nslices; s++) {
            const struct timeline_slice *slice = &timeline->slices[s];

            if (slice->kind != SLICE_KERNEL ||
                timeline->rows[slice->row].device != timeline->rows[r].device)
                continue;
            *ret_all += slice->end - slice->start;
            overlap += fmax(0, fmin(busy_until, slice->end) - slice->start);
            busy_until = fmax(busy_until, slice->end);
        }
    }
    return overlap;
}

static int say_what_is_lost(const struct device_tasks *d)
{
    size_t queues = 0, waits = 0;
    double all, overlap = overlap_us(d, &all);
    int rc = 0;

    for (size_t r = 0; r < d->timeline->nrows; r++)
        queues += d->timeline->rows[r].queue;
    for (size_t w = 0; w < d->timeline->nwaits; w++)
        waits += d->timeline->waits[w].before != FLOW_NONE;
    if (queues > 1 && !waits)
        rc = flow_note(d->flow, "%zu queues, and no wait of one for another is in the file: if "
                                "events made them wait, that is lost",
                       queues);
    if (!rc && overlap > 0.01 * all)
        rc = flow_note(d->flow, "%.0f %% of the time of kernels was beside others of the same "
                                "device: here a device has one at a time",
                       100 * overlap / all);
    if (!rc && d->orphans)
        rc = flow_note(d->flow, "%zu kernels and copies without a launch in the file: they wait "
                                "for their queue alone",
                       d->orphans);
    if (!rc && d->collectives)
        rc = flow_note(d->flow, "%zu kernels of NCCL take as long as they took there, with what "
                                "they waited for others",
                       d->collectives);
    return rc ? flow_no_memory(d->flow) : 0;
}

static void find_busiest_queue(const struct device_tasks *d)
{
    size_t most = 0;

    for (size_t r = 0; r < d->timeline->nrows; r++)
        if (d->queues[r].n > most) {
            most = d->queues[r].n;
            d->flow->exchanged = d->queues[r].datum;
        }
}

/* Kernels have the mean of those that are alike, on devices of any kind; what the host did
 * is no kernel. */
static int set_times(struct flow *flow)
{
    int rc = means_take(flow);

    for (size_t t = 0; !rc && t < flow->ntasks; t++) {
        struct flow_task *task = &flow->tasks[t];

        if (task->kind_of_worker == ORR_KIND_CPU + 1)
            task->times[ORR_KIND_CPU] = task->us;
        else
            for (unsigned k = ORR_KIND_CUDA; k < ORR_NKINDS; k++)
                task->times[k] = task->times[ORR_KIND_CUDA];
    }
    return rc;
}

int timeline_device_tasks(struct timeline *timeline, bool any_device)
{
    struct device_tasks d = {
        .timeline = timeline, .flow = timeline->flow, .any_device = any_device};
    int rc;

    d.queues = calloc(timeline->nrows + 1, sizeof(*d.queues));
    rc = d.queues ? 0 : flow_no_memory(d.flow);
    for (size_t r = 0; !rc && r < timeline->nrows; r++)
        d.queues[r].datum = FLOW_NONE;
    if (!rc)
        rc = number_slices(&d);
    if (!rc)
        rc = read_slices(&d);
    if (!rc)
        rc = say_what_is_lost(&d);
    if (!rc) {
        find_busiest_queue(&d);
        rc = set_times(d.flow);
    }
    d.flow->costs_in_times = true;
    for (size_t r = 0; d.queues && r < timeline->nrows; r++) {
        free(d.queues[r].operations);
        free(d.queues[r].before);
    }
    for (size_t h = 0; h < d.nhosts; h++) {
        free(d.hosts[h].before);
        free(d.hosts[h].arrivals);
    }
    free(d.queues);
    free(d.hosts);
    free(d.launched.items);
    free(d.calls.items);
    free(d.operators.items);
    free(d.waits.items);
    return rc;
}
