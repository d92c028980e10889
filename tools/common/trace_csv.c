/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/trace_csv.c - see trace_csv.h. */
#include "tools/common/trace_csv.h"

#include "core/base/grow.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field {
    RECORD,
    START,
    END,
    WORKER,
    JOB,
    NAME,
    PRIORITY,
    NODE,
    FROM,
    BYTES,
    KIND,
    HANDLE,
    CHANGE,
    FOOTPRINT,
    GFLOP,
    TAG,
    NFIELDS,
    /* These an older file may lack. */
    ITERATION = NFIELDS,
    SUBITERATION,
    MOST_FIELDS
};

static const char header[] =
    "record,start_ms,end_ms,worker,job,name,priority,node,from,bytes,kind,"
    "handle,change,footprint,gflop,tag";

enum { MAX_WORKERS = 65536, MAX_NODES = 65536, MAX_RANKS = 1 << 20 };

/* What is known of a job before it ran. */
struct stages {
    double submitted, ready, taken; /* NaN: not known */
    size_t task;                    /* its place + 1; 0: not known */
    enum trace_submitter by;
    unsigned by_worker;
    const char *source; /* NULL: not known */
};

struct reader {
    struct trace *trace;
    struct stages *stages; /* by job */
    uint64_t njobs, most_jobs;
    bool lost;        /* no memory */
    double end, last; /* of the trace, as its workers say; of what was read */
    double called;    /* of the next message; infinite: as it began */
};

/* Makes room for one more item. */
static bool reader_grow(struct reader *r, void *items, size_t n, size_t size)
{
    r->lost |= !orr_array_reserve(items, n, size);
    return !r->lost;
}

static bool add_step(struct reader *r, struct trace_steps *steps,
                     struct trace_step step)
{
    if (!reader_grow(r, &steps->items, steps->n, sizeof(step)))
        return false;
    steps->items[steps->n++] = step;
    return true;
}

/* Splits a line of RFC 4180 in place; false: it has not NFIELDS of them. Others that
 * it lacks are empty. */
static bool split_csv_line(char *line, char *fields[MOST_FIELDS])
{
    static char none[] = "";
    unsigned n = 0, given;
    char *at = line;

    while (n < MOST_FIELDS) {
        char *to = at;
        bool quoted = *at == '"';

        fields[n++] = to;
        at += quoted;
        while (*at && (quoted || (*at != ',' && *at != '\n'))) {
            if (quoted && *at == '"' && *++at != '"') {
                quoted = false;
                continue;
            }
            *to++ = *at++;
        }
        if (*at != ',') {
            *to = '\0';
            break;
        }
        at++;
        *to = '\0';
    }
    for (given = n; n < MOST_FIELDS; n++)
        fields[n] = none;
    return given >= NFIELDS;
}

static const char *text(struct reader *r, const char *name)
{
    const char *kept = orr_texts_add(&r->trace->names, name);

    r->lost |= !kept;
    return kept;
}

/* A number from 0 to below `limit`; false: it is none. */
static bool read_csv_index(const char *field, unsigned limit, unsigned *ret)
{
    char *end;
    unsigned long value = strtoul(field, &end, 10);

    *ret = (unsigned)value;
    return end != field && *end == '\0' && *field != '-' && value < limit;
}

static bool read_csv_node(struct reader *r, const char *field, unsigned *ret)
{
    if (!read_csv_index(field, MAX_NODES, ret))
        return false;
    if (*ret >= r->trace->nnodes)
        r->trace->nnodes = *ret + 1;
    return true;
}

/* Jobs are numbered in order of submission, so that there are no more than the
 * file has bytes, but for those that no record was made of. */
static struct stages *stages_of(struct reader *r, uint64_t job)
{
    uint64_t n = r->njobs;
    struct stages *moved;

    if (job > r->most_jobs)
        return NULL;
    if (job < n)
        return &r->stages[job];
    n = job < 1024 ? 1024 : 2 * job;
    moved = realloc(r->stages, n * sizeof(*moved));
    if (!moved) {
        r->lost = true;
        return NULL;
    }
    for (uint64_t j = r->njobs; j < n; j++)
        moved[j] = (struct stages){NAN, NAN, NAN, 0, TRACE_BY_MAIN, 0, NULL};
    r->stages = moved;
    r->njobs = n;
    return &r->stages[job];
}

/* Whether there can be such a time: 30 years are 1e12 ms. */
static bool is_moment(double ms)
{
    return fabs(ms) <= 1e12; /* nor of what is no number */
}

/* Whether there can be so many more, or fewer, tasks at once. */
static bool is_change(double change)
{
    return fabs(change) <= INT_MAX;
}

static bool take_worker(struct reader *r, char **f)
{
    struct trace *trace = r->trace;
    struct trace_worker worker = {text(r, f[NAME]), 0};
    unsigned number;

    if (!worker.name || !read_csv_index(f[WORKER], MAX_WORKERS, &number) ||
        number != trace->nworkers || !read_csv_node(r, f[NODE], &worker.node) ||
        !reader_grow(r, &trace->workers, trace->nworkers, sizeof(worker)))
        return false;
    trace->workers[trace->nworkers++] = worker;
    r->end = atof(f[END]);
    return true;
}

/* Of a loop; -1: none. */
static int64_t level(const char *field)
{
    return *field ? strtoll(field, NULL, 10) : -1;
}

static bool take_task(struct reader *r, char **f)
{
    struct trace *trace = r->trace;
    struct trace_task task = {.job = strtoull(f[JOB], NULL, 10),
                              .tag = strtoull(f[TAG], NULL, 16),
                              .name = text(r, f[NAME]),
                              .priority = atoi(f[PRIORITY]),
                              .footprint =
                                  (uint32_t)strtoul(f[FOOTPRINT], NULL, 16),
                              .bytes = atof(f[BYTES]),
                              .gflop = atof(f[GFLOP]),
                              .iteration = level(f[ITERATION]),
                              .subiteration = level(f[SUBITERATION]),
                              .start = atof(f[START]),
                              .end = atof(f[END])};

    if (!task.name ||
        !read_csv_index(f[WORKER], trace->nworkers, &task.worker) ||
        !(task.start <= task.end) || !isfinite(task.end) ||
        !stages_of(r, task.job) ||
        !reader_grow(r, &trace->tasks, trace->ntasks, sizeof(task)))
        return false;
    trace->tasks[trace->ntasks++] = task;
    return true;
}

static bool take_copy(struct reader *r, char **f)
{
    struct trace *trace = r->trace;
    struct trace_copy copy = {.job = strtoull(f[JOB], NULL, 10),
                              .handle = strtoull(f[HANDLE], NULL, 10),
                              .name = text(r, f[NAME]),
                              .kind = text(r, f[KIND]),
                              .bytes = atof(f[BYTES]),
                              .start = atof(f[START]),
                              .end = atof(f[END])};

    if (!copy.name || !copy.kind || !read_csv_node(r, f[FROM], &copy.from) ||
        !read_csv_node(r, f[NODE], &copy.to) || !(copy.start <= copy.end) ||
        !isfinite(copy.end) ||
        !reader_grow(r, &trace->copies, trace->ncopies, sizeof(copy)))
        return false;
    trace->copies[trace->ncopies++] = copy;
    return true;
}

static bool read_ready_row(struct reader *r, char **f, struct trace_step step)
{
    struct stages *stages = stages_of(r, strtoull(f[JOB], NULL, 10));

    if (!stages || !is_change(step.change))
        return false;
    if (step.change > 0)
        stages->ready = step.time;
    else
        stages->taken = step.time;
    return add_step(r, &r->trace->ready, step);
}

static bool take_submitted(struct reader *r, char **f, struct trace_step step)
{
    struct stages *stages = stages_of(r, strtoull(f[JOB], NULL, 10));

    if (!stages || !is_change(step.change) ||
        (*f[WORKER] &&
         !read_csv_index(f[WORKER], r->trace->nworkers, &stages->by_worker)))
        return false;
    if (step.change > 0) {
        stages->submitted = step.time;
        if (*f[NAME])
            stages->source = text(r, f[NAME]);
        r->trace->begin = fmin(r->trace->begin, step.time);
        r->trace->last_submission = step.time;
        stages->by = *f[WORKER]                  ? TRACE_BY_TASK
                     : strcmp(f[KIND], "thread") ? TRACE_BY_MAIN
                                                 : TRACE_BY_THREAD;
        r->trace->last_by = stages->by;
    }
    return add_step(r, &r->trace->submitted, step);
}

static bool read_state_row(struct reader *r, char **f, double time)
{
    struct trace *trace = r->trace;
    struct trace_state state = {.kind = text(r, f[KIND]), .time = time};

    if (!state.kind ||
        !read_csv_index(f[WORKER], trace->nworkers, &state.worker) ||
        !reader_grow(r, &trace->states, trace->nstates, sizeof(state)))
        return false;
    trace->states[trace->nstates++] = state;
    return true;
}

static bool take_wait(struct reader *r, char **f)
{
    struct trace *trace = r->trace;
    struct trace_wait wait = {.job = strtoull(f[JOB], NULL, 10),
                              .start = atof(f[START]),
                              .end = atof(f[END])};

    if (!(wait.start <= wait.end) || !isfinite(wait.end) ||
        !reader_grow(r, &trace->waits, trace->nwaits, sizeof(wait)))
        return false;
    trace->waits[trace->nwaits++] = wait;
    return true;
}

static bool take_steal(struct reader *r, char **f, double time)
{
    struct trace *trace = r->trace;
    struct trace_steal steal = {.job = strtoull(f[JOB], NULL, 10),
                                .time = time};

    if (!read_csv_index(f[WORKER], trace->nworkers, &steal.thief) ||
        !read_csv_index(f[FROM], trace->nworkers, &steal.victim) ||
        !reader_grow(r, &trace->steals, trace->nsteals, sizeof(steal)))
        return false;
    trace->steals[trace->nsteals++] = steal;
    return true;
}

static bool take_mark(struct reader *r, char **f, double time)
{
    struct trace *trace = r->trace;
    struct trace_mark mark = {text(r, f[NAME]), time};

    if (!mark.text ||
        !reader_grow(r, &trace->marks, trace->nmarks, sizeof(mark)))
        return false;
    trace->marks[trace->nmarks++] = mark;
    return true;
}

static bool take_doing(struct reader *r, char **f)
{
    struct trace *trace = r->trace;
    struct trace_doing doing = {.call = text(r, f[NAME]),
                                .waits = !strcmp(f[KIND], "waiting"),
                                .start = atof(f[START]),
                                .end = atof(f[END])};

    if (!doing.call || !(doing.start <= doing.end) || !isfinite(doing.end) ||
        !reader_grow(r, &trace->doings, trace->ndoings, sizeof(doing)))
        return false;
    trace->doings[trace->ndoings++] = doing;
    return true;
}

static bool take_allocation(struct reader *r, char **f)
{
    struct trace *trace = r->trace;
    struct trace_allocation allocation = {.frees = !strcmp(f[KIND], "free"),
                                          .start = atof(f[START]),
                                          .end = atof(f[END])};

    if (!read_csv_node(r, f[NODE], &allocation.node) ||
        !(allocation.start <= allocation.end) || !isfinite(allocation.end) ||
        !reader_grow(r, &trace->allocations, trace->nallocations,
                     sizeof(allocation)))
        return false;
    trace->allocations[trace->nallocations++] = allocation;
    return true;
}

static bool take_rank(struct reader *r, char **f)
{
    r->trace->zero = atof(f[CHANGE]);
    return read_csv_index(f[FROM], MAX_RANKS, &r->trace->nranks) &&
           read_csv_index(f[NODE], r->trace->nranks, &r->trace->rank) &&
           isfinite(r->trace->zero);
}

/* `request`: how long the next one waited for its datum. */
static bool take_message(struct reader *r, char **f)
{
    struct trace *trace = r->trace;
    struct trace_message message = {.received = !strcmp(f[KIND], "received"),
                                    .tag = strtoll(f[TAG], NULL, 10),
                                    .number = strtoull(f[CHANGE], NULL, 10),
                                    .bytes = atof(f[BYTES]),
                                    .start = atof(f[START]),
                                    .end = atof(f[END])};

    message.called = r->called < message.start ? r->called : message.start;
    r->called = (double)INFINITY;
    if (!strcmp(f[FROM], "-1"))
        return true; /* a rank that is none of the program's */
    if (!read_csv_index(f[FROM], trace->nranks, &message.peer) ||
        !(message.start <= message.end) || !isfinite(message.end) ||
        !isfinite(message.bytes) ||
        !reader_grow(r, &trace->messages, trace->nmessages, sizeof(message)))
        return false;
    trace->messages[trace->nmessages++] = message;
    return true;
}

static bool take_clocks(struct reader *r, char **f)
{
    struct trace *trace = r->trace;
    struct trace_clocks clocks = {atof(f[START]), atof(f[END]), atof(f[CHANGE])};

    if (!(clocks.start <= clocks.end) || !isfinite(clocks.end) ||
        !isfinite(clocks.offset))
        return false;
    trace->clocks[trace->nclocks > 0] = clocks;
    trace->nclocks = trace->nclocks ? 2 : 1;
    return true;
}

/* What traces of several ranks have more. */
static bool take_rank_row(struct reader *r, char **f, double start)
{
    if (!strcmp(f[RECORD], "message"))
        return take_message(r, f);
    if (!strcmp(f[RECORD], "clocks"))
        return take_clocks(r, f);
    if (!strcmp(f[RECORD], "rank"))
        return take_rank(r, f);
    if (!strcmp(f[RECORD], "request"))
        r->called = start;
    return true;
}

static bool take_row(struct reader *r, char **f)
{
    struct trace_step step = {atof(f[START]), atof(f[CHANGE]), 0};
    double end = atof(f[END]);

    if (!is_moment(step.time) || !is_moment(end) || !isfinite(step.change))
        return false;
    if (strcmp(f[RECORD], "worker") != 0)
        r->last = fmax(r->last, end);
    if (!strcmp(f[RECORD], "task"))
        return take_task(r, f);
    if (!strcmp(f[RECORD], "copy"))
        return take_copy(r, f);
    if (!strcmp(f[RECORD], "ready"))
        return read_ready_row(r, f, step);
    if (!strcmp(f[RECORD], "submitted"))
        return take_submitted(r, f, step);
    if (!strcmp(f[RECORD], "worker"))
        return take_worker(r, f);
    if (!strcmp(f[RECORD], "memory"))
        return read_csv_node(r, f[NODE], &step.node) &&
               add_step(r, &r->trace->memory, step);
    if (!strcmp(f[RECORD], "state"))
        return read_state_row(r, f, step.time);
    if (!strcmp(f[RECORD], "suspended"))
        return take_wait(r, f);
    if (!strcmp(f[RECORD], "steal"))
        return take_steal(r, f, step.time);
    if (!strcmp(f[RECORD], "application"))
        return take_doing(r, f);
    if (!strcmp(f[RECORD], "allocation"))
        return take_allocation(r, f);
    if (!strcmp(f[RECORD], "mark"))
        return take_mark(r, f, step.time);
    if (!strcmp(f[RECORD], "dropped"))
        r->trace->dropped += step.change;
    return take_rank_row(r, f, step.time);
}

/* --- in order --- */

static int compare_tasks(const void *a, const void *b)
{
    const struct trace_task *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static int compare_copies(const void *a, const void *b)
{
    const struct trace_copy *x = a, *y = b;

    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static int trace_wait_compare_task(const void *a, const void *b)
{
    const struct trace_wait *x = a, *y = b;

    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static int compare_doings(const void *a, const void *b)
{
    const struct trace_doing *x = a, *y = b;

    return (x->start > y->start) - (x->start < y->start);
}

static int compare_messages(const void *a, const void *b)
{
    const struct trace_message *x = a, *y = b;

    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

/* Finds the tasks of the waits. One whose task had not ended is left out. */
static void place_waits(struct reader *r)
{
    struct trace *trace = r->trace;
    size_t n = 0;

    for (size_t t = 0; trace->nwaits && t < trace->ntasks; t++)
        r->stages[trace->tasks[t].job].task = t + 1;
    for (size_t w = 0; w < trace->nwaits; w++) {
        struct trace_wait wait = trace->waits[w];
        size_t place = wait.job < r->njobs ? r->stages[wait.job].task : 0;
        const struct trace_task *task;

        if (!place)
            continue;
        task = &trace->tasks[place - 1];
        wait.task = place - 1;
        wait.start = fmax(wait.start, task->start);
        wait.end = fmin(wait.end, task->end);
        if (wait.start < wait.end)
            trace->waits[n++] = wait;
    }
    trace->nwaits = n;
    if (n)
        qsort(trace->waits, n, sizeof(*trace->waits), trace_wait_compare_task);
}

/* A stage cannot be later than the next one. */
static double at_most(double time, double limit)
{
    return time <= limit ? time : limit;
}

static void reader_complete_trace(struct reader *r)
{
    struct trace *trace = r->trace;

    if (trace->ntasks)
        qsort(trace->tasks, trace->ntasks, sizeof(*trace->tasks),
              compare_tasks);
    if (trace->ncopies)
        qsort(trace->copies, trace->ncopies, sizeof(*trace->copies),
              compare_copies);
    if (trace->ndoings)
        qsort(trace->doings, trace->ndoings, sizeof(*trace->doings),
              compare_doings);
    if (trace->nmessages)
        qsort(trace->messages, trace->nmessages, sizeof(*trace->messages),
              compare_messages);
    for (size_t t = 0; t < trace->ntasks; t++) {
        struct trace_task *task = &trace->tasks[t];
        const struct stages *stages = &r->stages[task->job];

        task->by = stages->by;
        task->by_worker = stages->by_worker;
        task->source = stages->source;
        task->taken = at_most(stages->taken, task->start);
        task->ready = at_most(stages->ready, task->taken);
        task->submitted = at_most(stages->submitted, task->ready);
        trace->end = fmax(trace->end, task->end);
        trace->begin = fmin(trace->begin, task->submitted);
    }
    place_waits(r);
    if (!trace->ntasks)
        trace->begin = trace->end = 0;
}

static int read_rows(struct reader *r, FILE *file, const char *path,
                     struct orr_error *err)
{
    char *line = NULL, *fields[MOST_FIELDS];
    size_t size = 0;
    unsigned long number = 1;
    int rc = 0;

    if (getline(&line, &size, file) <= 0 ||
        strncmp(line, header, sizeof(header) - 1) != 0)
        rc = orr_fail(
            err, -EINVAL,
            "%s: no trace in CSV (orrery trace -o FILE.csv writes one)", path);
    while (rc == 0 && getline(&line, &size, file) > 0) {
        number++;
        if (split_csv_line(line, fields) && take_row(r, fields))
            continue;
        rc = r->lost ? orr_fail(err, -ENOMEM, "out of memory")
                     : orr_fail(err, -EINVAL, "%s:%lu: no record of a trace",
                                path, number);
    }
    if (rc == 0 && ferror(file))
        rc = orr_fail(err, -EIO, "%s: cannot be read", path);
    /* Something ends at the end of the trace. */
    if (rc == 0 && r->last < r->end)
        rc =
            orr_fail(err, -EINVAL,
                     "%s: what follows line %lu is missing: it ends at %.3f ms "
                     "of %.3f",
                     path, number, r->last, r->end);
    free(line);
    return rc;
}

/* Bytes of the file; what is no file may have any number. */
static uint64_t file_size_bytes(FILE *file)
{
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;

    if (length < 0)
        return UINT32_MAX;
    rewind(file);
    return (uint64_t)length;
}

int trace_csv_parse(FILE *file, const char *name, struct trace *ret,
                    struct orr_error *err)
{
    struct trace trace = {.begin = (double)INFINITY};
    struct reader r = {.trace = &trace,
                       .most_jobs = file_size_bytes(file),
                       .called = (double)INFINITY};
    int rc = read_rows(&r, file, name, err);

    if (rc == 0)
        reader_complete_trace(&r);
    free(r.stages);
    if (rc)
        trace_csv_done(&trace);
    else
        *ret = trace;
    return rc;
}

int trace_csv_read(const char *path, struct trace *ret, struct orr_error *err)
{
    FILE *file = fopen(path, "re");
    int rc;

    if (!file)
        return orr_fail(err, -errno, "%s: %s", path, strerror(errno));
    rc = trace_csv_parse(file, path, ret, err);
    fclose(file);
    return rc;
}

bool trace_csv_is_one(const char *path)
{
    FILE *file = fopen(path, "re");
    char begin[sizeof(header) - 1];
    bool is_one = file &&
                  fread(begin, 1, sizeof(begin), file) == sizeof(begin) &&
                  !memcmp(begin, header, sizeof(begin));

    if (file)
        fclose(file);
    return is_one;
}

/* A row of it stands behind the workers, if at all. */
static bool find_rank_row(FILE *file, struct trace *ret)
{
    struct reader r = {.trace = ret};
    char *line = NULL, *fields[MOST_FIELDS];
    size_t size = 0;
    bool found = false;

    while (getline(&line, &size, file) > 0 && !strncmp(line, "worker,", 7))
        continue;
    if (line && !feof(file) && !strncmp(line, "rank,", 5))
        found = split_csv_line(line, fields) && take_rank(&r, fields);
    free(line);
    return found;
}

bool trace_csv_has_rank(const char *path, unsigned *rank, unsigned *nranks)
{
    FILE *file = trace_csv_is_one(path) ? fopen(path, "re") : NULL;
    struct trace trace = {0};
    bool found = false;
    int c;

    if (!file)
        return false;
    do
        c = fgetc(file);
    while (c != '\n' && c != EOF);
    found = find_rank_row(file, &trace);
    fclose(file);
    *rank = trace.rank;
    *nranks = trace.nranks;
    return found;
}

static void map_steps(struct trace_steps *steps, double (*map)(void *, double), void *arg)
{
    for (size_t i = 0; i < steps->n; i++)
        steps->items[i].time = map(arg, steps->items[i].time);
}

static void map_tasks(struct trace *trace, double (*map)(void *, double), void *arg)
{
    for (size_t t = 0; t < trace->ntasks; t++) {
        struct trace_task *task = &trace->tasks[t];

        task->submitted = map(arg, task->submitted);
        task->ready = map(arg, task->ready);
        task->taken = map(arg, task->taken);
        task->start = map(arg, task->start);
        task->end = map(arg, task->end);
    }
}

#define MAP_SPANS(items, n)                                                    \
    for (size_t i_ = 0; i_ < (n); i_++) {                                      \
        (items)[i_].start = map(arg, (items)[i_].start);                       \
        (items)[i_].end = map(arg, (items)[i_].end);                           \
    }
#define MAP_TIMES(items, n)                                                    \
    for (size_t i_ = 0; i_ < (n); i_++)                                        \
        (items)[i_].time = map(arg, (items)[i_].time);

void trace_csv_map(struct trace *trace, double (*map)(void *arg, double time), void *arg)
{
    map_tasks(trace, map, arg);
    map_steps(&trace->submitted, map, arg);
    map_steps(&trace->ready, map, arg);
    map_steps(&trace->memory, map, arg);
    MAP_SPANS(trace->copies, trace->ncopies)
    MAP_SPANS(trace->waits, trace->nwaits)
    MAP_SPANS(trace->allocations, trace->nallocations)
    MAP_SPANS(trace->doings, trace->ndoings)
    MAP_SPANS(trace->messages, trace->nmessages)
    for (size_t m = 0; m < trace->nmessages; m++)
        trace->messages[m].called = map(arg, trace->messages[m].called);
    MAP_TIMES(trace->states, trace->nstates)
    MAP_TIMES(trace->steals, trace->nsteals)
    MAP_TIMES(trace->marks, trace->nmarks)
    if (trace->ntasks) {
        trace->begin = map(arg, trace->begin);
        trace->end = map(arg, trace->end);
        trace->last_submission = map(arg, trace->last_submission);
    }
}

#undef MAP_SPANS
#undef MAP_TIMES

void trace_csv_done(struct trace *trace)
{
    free(trace->workers);
    free(trace->tasks);
    free(trace->copies);
    free(trace->submitted.items);
    free(trace->ready.items);
    free(trace->memory.items);
    free(trace->states);
    free(trace->waits);
    free(trace->steals);
    free(trace->marks);
    free(trace->doings);
    free(trace->allocations);
    free(trace->messages);
    orr_texts_done(&trace->names);
}
