/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/own_times.c - see own_times.h. */
#include "tools/validate/own_times.h"

#include "core/base/grow.h"
#include "record/models.h"
#include "record/read.h"
#include "record/write.h"
#include "tools/common/tool.h"
#include "tools/common/trace_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tasks that no call has submitted, such as those of a reduction. */
struct made_tasks {
    const char *name; /* of the trace */
    double us;        /* of all */
    size_t n;
};

/* What is written, and from what. */
struct own_times {
    struct orr_record_reader *reader; /* owned */
    struct orr_record_writer writer;
    struct trace trace; /* its tasks in the order of their jobs */
    size_t at;          /* the next one of these */
    uint64_t nmodels, ncodelets; /* of the record, by their numbers */
    size_t nsubmitted;           /* of tasks with a codelet */
    char **codelets;             /* owned: their names */
    struct made_tasks *made;     /* owned */
    size_t nmade;
};

static int compare_jobs(const void *a, const void *b)
{
    const struct trace_task *x = a, *y = b;

    return (x->job > y->job) - (x->job < y->job);
}

/* µs on a processor; what waits meanwhile does not keep it. */
static double task_us(const struct trace *trace, const struct trace_task *task)
{
    double ms = task->end - task->start;

    for (size_t i = 0; i < trace->nwaits; i++)
        if (trace->waits[i].job == task->job)
            ms -= trace->waits[i].end - trace->waits[i].start;
    return ms > 0 ? 1e3 * ms : 0;
}

/* Its model is one whose tasks bring their times. */
static void own_times_write_model(struct own_times *own, uint64_t number)
{
    struct orr_call call = orr_call_none;

    call.verb = ORR_CALL_MODEL;
    call.id = number;
    call.kind = "per-arch";
    call.flags = ORR_MODEL_TIMES;
    orr_record_write(&own->writer, &call);
}

static void own_times_write_codelet(struct own_times *own,
                                    const struct orr_call *from)
{
    struct orr_call call = *from;
    const char *name = call.name ? call.name : call.called;

    free(own->codelets[call.id]);
    own->codelets[call.id] = name ? strdup(name) : NULL;
    if (call.model == 0) {
        call.model = own->nmodels + call.id;
        own_times_write_model(own, call.model);
    }
    call.flags = 0; /* it is not executed in the simulation, which has its time */
    orr_record_write(&own->writer, &call);
}

static int own_times_note_made(struct own_times *own,
                               const struct trace_task *task)
{
    struct made_tasks *made;
    size_t i = 0;

    while (i < own->nmade && strcmp(own->made[i].name, task->name) != 0)
        i++;
    if (i == own->nmade) {
        made = orr_array_add(own->made, own->nmade);
        if (!made)
            return -ENOMEM;
        *made = (struct made_tasks){.name = task->name};
    }
    own->made[i].us += task_us(&own->trace, task);
    own->made[i].n++;
    return 0;
}

/* As ORRERY_ASSUME takes them: the mean of each name. */
static int own_times_assume_made(const struct own_times *own, char **ret)
{
    char *text = NULL;

    for (size_t i = 0; i < own->nmade; i++) {
        const struct made_tasks *made = &own->made[i];
        char *more = tool_format("%s%skernel[\"%s\"] = %.6gus",
                                 text ? text : "", text ? "; " : "", made->name,
                                 made->us / (double)made->n);

        free(text);
        text = more;
        if (!text)
            return -ENOMEM;
    }
    *ret = text;
    return 0;
}

/* Whether it may be the task of that call. Where as many ran as were submitted, each is
 * the one in its place. */
static bool is_task_of(const struct own_times *own, const struct orr_call *call,
                       const struct trace_task *task)
{
    const char *name = call->name ? call->name : own->codelets[call->codelet];

    return own->nsubmitted == own->trace.ntasks || !name || !task->name ||
           !strcmp(name, task->name);
}

static int own_times_write_submit(struct own_times *own,
                                  const struct orr_call *from,
                                  struct orr_error *err)
{
    struct orr_call call = *from;
    const struct trace_task *tasks = own->trace.tasks;
    double us, times[ORR_NKINDS];

    if (call.codelet == 0) { /* nothing runs */
        orr_record_write(&own->writer, &call);
        return 0;
    }
    while (own->at < own->trace.ntasks &&
           !is_task_of(own, &call, &tasks[own->at]))
        if (own_times_note_made(own, &tasks[own->at++]) < 0)
            return orr_fail(err, -ENOMEM, "out of memory");
    if (own->at == own->trace.ntasks)
        return orr_fail(err, -EINVAL, "%s: the task did not run",
                        orr_record_where(own->reader));
    us = task_us(&own->trace, &tasks[own->at++]);
    for (int kind = 0; kind < ORR_NKINDS; kind++)
        times[kind] = us;
    call.times = (struct orr_reals){times, ORR_NKINDS};
    orr_record_write(&own->writer, &call);
    return 0;
}

/* What its own kernels took is not what counts. */
static void own_times_write_run(struct own_times *own,
                                const struct orr_call *from)
{
    struct orr_call call = *from;

    call.host = NULL;
    orr_record_write(&own->writer, &call);
}

static int own_times_write_call(struct own_times *own,
                                const struct orr_call *call,
                                struct orr_error *err)
{
    switch (call->verb) {
    case ORR_CALL_MODEL:
        own_times_write_model(own, call->id);
        return 0;
    case ORR_CALL_CODELET:
        own_times_write_codelet(own, call);
        return 0;
    case ORR_CALL_SUBMIT:
        return own_times_write_submit(own, call, err);
    case ORR_CALL_END: /* the writer's own */
    case ORR_CALL_TOOK: /* those of the trace count */
    case ORR_CALL_ROW:
        return 0;
    case ORR_CALL_RUN:
        own_times_write_run(own, call);
        return 0;
    default:
        orr_record_write(&own->writer, call);
        return 0;
    }
}

/* Models that codelets without one get come behind those there are. */
static int own_times_count(struct own_times *own, const char *calls,
                           struct orr_error *err)
{
    struct orr_record_reader *reader;
    const struct orr_call *call;
    int rc = orr_record_open(calls, &reader, err);

    if (rc < 0)
        return rc;
    while ((rc = orr_record_next(reader, &call, err)) > 0) {
        if (call->verb == ORR_CALL_MODEL && call->id > own->nmodels)
            own->nmodels = call->id;
        if (call->verb == ORR_CALL_CODELET && call->id > own->ncodelets)
            own->ncodelets = call->id;
        own->nsubmitted += call->verb == ORR_CALL_SUBMIT && call->codelet > 0;
        if (call->verb == ORR_CALL_SUBMIT && call->codelet > own->ncodelets)
            rc = orr_fail(err, -EINVAL, "%s: there is no such codelet",
                          orr_record_where(reader));
        if (rc < 0)
            break;
    }
    orr_record_close(reader);
    if (rc == 0)
        own->codelets = calloc(own->ncodelets + 1, sizeof(*own->codelets));
    return rc == 0 && !own->codelets ? -ENOMEM : rc;
}

static int own_times_write_calls(struct own_times *own, struct orr_error *err)
{
    const struct orr_call *call;
    int rc, ended;

    orr_record_begin(&own->writer);
    while ((rc = orr_record_next(own->reader, &call, err)) > 0)
        if ((rc = own_times_write_call(own, call, err)) < 0)
            break;
    ended = orr_record_end(&own->writer, NULL);
    while (rc == 0 && own->at < own->trace.ntasks)
        rc = own_times_note_made(own, &own->trace.tasks[own->at++]);
    return rc < 0 ? rc : ended;
}

static int own_times_write_file(struct own_times *own, const char *path,
                                struct orr_error *err)
{
    int rc;

    own->writer.file = fopen(path, "w");
    if (!own->writer.file)
        return orr_fail(err, -errno, "%s: %s", path, strerror(errno));
    rc = own_times_write_calls(own, err);
    if (fclose(own->writer.file) != 0 && rc == 0)
        rc = orr_fail(err, -EIO, "%s: %s", path, strerror(errno));
    return rc;
}

int own_times_write(const char *calls, const char *trace, const char *path,
                    char **ret_assumed, struct orr_error *err)
{
    struct own_times own = {0};
    int rc = own_times_count(&own, calls, err);

    if (rc == 0)
        rc = trace_csv_read(trace, &own.trace, err);
    if (rc < 0)
        goto free_names;
    qsort(own.trace.tasks, own.trace.ntasks, sizeof(*own.trace.tasks),
          compare_jobs);
    rc = orr_record_open(calls, &own.reader, err);
    if (rc == 0) {
        rc = own_times_write_file(&own, path, err);
        orr_record_close(own.reader);
    }
    if (rc == 0)
        rc = own_times_assume_made(&own, ret_assumed);
    trace_csv_done(&own.trace);
free_names:
    for (uint64_t i = 0; own.codelets && i <= own.ncodelets; i++)
        free(own.codelets[i]);
    free(own.codelets);
    free(own.made);
    return rc;
}
