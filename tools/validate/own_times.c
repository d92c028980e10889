/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/own_times.c - see own_times.h. */
#include "tools/validate/own_times.h"

#include "record/models.h"
#include "record/read.h"
#include "record/write.h"
#include "tools/common/trace_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is written, and from what. */
struct own_times {
    struct orr_record_reader *reader; /* owned */
    struct orr_record_writer writer;
    struct trace trace; /* its tasks in the order of their jobs */
    uint64_t nmodels;   /* of the record */
    size_t nsubmitted;
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

static void own_times_write_codelet(struct own_times *own, const struct orr_call *from)
{
    struct orr_call call = *from;

    if (call.model == 0) {
        call.model = own->nmodels + call.id;
        own_times_write_model(own, call.model);
    }
    call.flags = 0; /* it is not executed in the simulation, which has its time */
    orr_record_write(&own->writer, &call);
}

static int own_times_write_submit(struct own_times *own, const struct orr_call *from,
                        struct orr_error *err)
{
    struct orr_call call = *from;
    const struct trace_task *task = &own->trace.tasks[own->nsubmitted];
    double us, times[ORR_NKINDS];

    if (call.codelet == 0) { /* nothing runs */
        orr_record_write(&own->writer, &call);
        return 0;
    }
    if (own->nsubmitted++ == own->trace.ntasks)
        return orr_fail(err, -EINVAL, "%s: more tasks than ran",
                        orr_record_where(own->reader));
    us = task_us(&own->trace, task);
    for (int kind = 0; kind < ORR_NKINDS; kind++)
        times[kind] = us;
    call.times = (struct orr_reals){times, ORR_NKINDS};
    orr_record_write(&own->writer, &call);
    return 0;
}

static int own_times_write_call(struct own_times *own, const struct orr_call *call,
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
    case ORR_CALL_END:
        return 0; /* the writer's own */
    default:
        orr_record_write(&own->writer, call);
        return 0;
    }
}

/* Models that codelets without one get come behind those there are. */
static int own_times_count_models(const char *calls, uint64_t *ret, struct orr_error *err)
{
    struct orr_record_reader *reader;
    const struct orr_call *call;
    int rc = orr_record_open(calls, &reader, err);

    if (rc < 0)
        return rc;
    while ((rc = orr_record_next(reader, &call, err)) > 0)
        if (call->verb == ORR_CALL_MODEL && call->id > *ret)
            *ret = call->id;
    orr_record_close(reader);
    return rc;
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
    if (rc == 0 && own->nsubmitted != own->trace.ntasks)
        rc = orr_fail(err, -EINVAL,
                      "%zu tasks were submitted, and %zu ran: those of the "
                      "library itself have no calls",
                      own->nsubmitted, own->trace.ntasks);
    return rc < 0 ? rc : ended;
}

int own_times_write(const char *calls, const char *trace, const char *path,
                    struct orr_error *err)
{
    struct own_times own = {0};
    int rc = own_times_count_models(calls, &own.nmodels, err);

    if (rc < 0 || (rc = trace_csv_read(trace, &own.trace, err)) < 0)
        return rc;
    qsort(own.trace.tasks, own.trace.ntasks, sizeof(*own.trace.tasks),
          compare_jobs);
    rc = orr_record_open(calls, &own.reader, err);
    if (rc == 0) {
        own.writer.file = fopen(path, "w");
        if (!own.writer.file)
            rc = orr_fail(err, -errno, "%s: %s", path, strerror(errno));
    }
    if (own.writer.file) {
        rc = own_times_write_calls(&own, err);
        if (fclose(own.writer.file) != 0 && rc == 0)
            rc = orr_fail(err, -EIO, "%s: %s", path, strerror(errno));
    }
    if (own.reader)
        orr_record_close(own.reader);
    trace_csv_done(&own.trace);
    return rc;
}
