/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/calls.c - see calls.h: the file, whose calls are in it, the time
 * between them, and what is said at the end.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/log.h"
#include "core/job/job.h"
#include "core/observe/calls_private.h"
#include "core/observe/output_path.h"
#include "core/observe/views.h"
#include "core/sched/ctxs.h"
#include "core/sched/sched.h"

static const struct orr_observer calls_observer;

/* --- the file --- */

static void put_run(struct orr_calls *calls, const struct starpu_conf *conf)
    ORR_REQUIRES(calls->lock)
{
    const struct orr_runtime *rt = calls->rt;
    struct orr_call run = orr_call_none;

    run.verb = ORR_CALL_RUN;
    run.machine = rt->machine->name;
    run.host = calls->timed ? rt->machine->host : NULL;
    if (!conf || !conf->sched_policy)
        run.scheduler = rt->sched_ctxs->at[0]->ops->name;
    if (conf) {
        run.ncpus = conf->ncpus;
        run.ncuda = conf->ncuda;
        run.nopencl = conf->nopencl;
        run.reserved = conf->reserve_ncpus;
        run.combined = conf->single_combined_worker > 0;
        run.calibrate = conf->calibrate > 0 ? (uint64_t)conf->calibrate : 0;
        run.least = conf->global_sched_ctx_min_priority;
        run.most = conf->global_sched_ctx_max_priority;
    }
    orr_record_write(&calls->writer, &run);
    if (conf && conf->sched_policy)
        orr_calls_count(calls, "a scheduling policy of the application's own");
}

int orr_calls_open(struct orr_runtime *rt, struct orr_error *err)
{
    const char *path = orr_config_string(&rt->config, ORR_CFG_RECORD);
    struct orr_calls *calls;
    int rc;

    if (!path)
        return 0;
    calls = calloc(1, sizeof(*calls));
    if (!calls)
        return orr_fail(err, -ENOMEM, "out of memory");
    rc = orr_result_open(path, &calls->result);
    if (rc) {
        free(calls);
        return orr_fail(err, rc, "ORRERY_RECORD=%s: %s", path, strerror(-rc));
    }
    calls->rt = rt;
    orr_lock_init(&calls->lock, ORR_RANK_RUNTIME);
    calls->writer.file = calls->result.file;
    calls->writer.binary = orr_record_is_binary_name(path);
    rt->views->calls = calls;
    orr_observers_add(&rt->observers, &calls_observer);
    orr_observers_want(&rt->observers, &calls_observer, ORR_TOLD_ALL, true);
    return 0;
}

/* Its file is about to be closed. NULL: there is none, or it was. */
static struct orr_calls *calls_take(struct orr_runtime *rt)
{
    struct orr_calls *calls = rt->views->calls;

    if (calls)
        orr_observers_want(&rt->observers, &calls_observer, ORR_TOLD_ALL,
                           false);
    rt->views->calls = NULL;
    return calls;
}

void orr_calls_begin(struct orr_runtime *rt, const struct starpu_conf *conf)
{
    struct orr_calls *calls = rt->views->calls;

    /* Code between calls takes no virtual time. */
    rt->views->listens =
        calls || (rt->views->follows && !rt->exec->virtual_time);
    orr_application_return(rt); /* from starpu_init */
    if (!calls)
        return;
    orr_record_begin(&calls->writer);
    orr_lock(&calls->lock);
    calls->begun = true;
    calls->timed = !rt->machine->kernels_take_their_length &&
                   orr_config_bool(&rt->config, ORR_CFG_RECORD_TIMES);
    put_run(calls, conf);
    orr_unlock(&calls->lock);
    calls->since = orr_exec_now(rt->exec);
}

void orr_calls_abandon(struct orr_runtime *rt)
{
    struct orr_calls *calls = calls_take(rt);

    if (!calls)
        return;
    (void)orr_result_close(&calls->result, -ECANCELED);
    free(calls->writer.line);
    free(calls);
}

static void put_notes(struct orr_calls *calls)
{
    char text[256];
    struct orr_call note = orr_call_none;

    note.verb = ORR_CALL_NOTE;
    note.text = text;
    for (unsigned i = 0; i < calls->nnotes; i++) {
        snprintf(text, sizeof(text), "%s (%lu)", calls->notes[i].what,
                 calls->notes[i].n);
        orr_record_write(&calls->writer, &note);
    }
}

static int end_file(struct orr_calls *calls, const char *how) ORR_REQUIRES(calls->lock)
{
    char *path = orr_output_path(calls->rt, ORR_CFG_RECORD);
    /* Other ranks have opened it, too, before they knew that they are ranks. */
    int rc, renamed = path ? orr_result_rename(&calls->result, path) : -ENOMEM;

    free(path);
    orr_calls_put_rows(calls);
    put_notes(calls);
    rc = orr_record_end(&calls->writer, strcmp(how, "shutdown") ? how : NULL);
    if (!rc && calls->failed)
        rc = -ENOMEM;
    return orr_result_close(&calls->result, rc ? rc : renamed);
}

static void calls_free(struct orr_calls *calls)
{
    orr_numbers_free(&calls->tasks);
    orr_numbers_free(&calls->codelets);
    orr_numbers_free(&calls->models);
    orr_numbers_free(&calls->places);
    orr_calls_free_rows(calls);
    free(calls->unnamed);
    free(calls->scratch);
    free(calls);
}

/* Where the process is about to end, other threads may still be in here: they find the lock
 * taken, for good. */
void orr_calls_close(struct orr_runtime *rt, const char *how) ORR_UNCHECKED
{
    struct orr_calls *calls = calls_take(rt);
    int rc;

    if (!calls)
        return;
    orr_lock(&calls->lock);
    rc = end_file(calls, how);
    if (rc)
        orr_log_error("the record was not written to %s: %s",
                      orr_config_string(&rt->config, ORR_CFG_RECORD),
                      strerror(-rc));
    if (strcmp(how, "shutdown"))
        return;
    orr_unlock(&calls->lock);
    calls_free(calls);
}

/* --- priorities --- */

bool orr_calls_widen(const struct orr_sched *sched)
{
    return sched->runtime->views->calls && !sched->id && !sched->min_given &&
           !sched->max_given && sched->min_priority == sched->max_priority;
}

static void put_range(struct orr_calls *calls, const struct orr_sched *sched,
                      uint64_t asked)
    ORR_REQUIRES(calls->lock)
{
    struct orr_call call = orr_call_none;
    bool widened = orr_calls_widen(sched);
    int least = widened ? INT_MIN : sched->min_priority;
    int most = widened ? INT_MAX : sched->max_priority;

    if (calls->asked == asked && calls->least == least && calls->most == most)
        return;
    calls->asked = asked;
    atomic_store(&calls->widened, widened);
    call.verb = ORR_CALL_RANGE;
    call.least = calls->least = least;
    call.most = calls->most = most;
    call.value = asked;
    orr_record_write(&calls->writer, &call);
    orr_calls_count(
        calls, widened
                   ? "questions for the policy's range of priorities, which has "
                     "none: the answer was the widest range, and a replay's "
                     "tasks have the nearest priority of its policy"
                   : "questions for the policy's range of priorities: under a "
                     "policy with another range the application may choose "
                     "other ones, a replay changes the least and the greatest");
}

/* The run goes on with the priority that its policy has. */
static void narrow_priority(struct orr_calls *calls, struct orr_job *job)
{
    if (!atomic_load_explicit(&calls->widened, memory_order_relaxed) ||
        job->sched_ctx || job->priority == STARPU_DEFAULT_PRIO)
        return;
    job->priority = calls->rt->sched_ctxs->at[0]->min_priority;
    job->task->priority = job->priority;
}

/* A replay under another policy gives its tasks that one's priorities. */
static void calls_ask_range(struct orr_calls *calls,
                            const struct orr_sched *sched, uint64_t asked)
{
    orr_lock(&calls->lock);
    if (orr_calls_listens(calls) && !sched->id)
        put_range(calls, sched, calls->asked | asked);
    orr_unlock(&calls->lock);
}

/* --- whose calls --- */

bool orr_calls_listens(const struct orr_calls *calls)
{
    return calls->begun && calls->muted != orr_self;
}

void orr_calls_mute(struct orr_runtime *rt, bool mute)
{
    if (rt->views->calls && orr_self == rt->main)
        rt->views->calls->muted = mute ? orr_self : NULL;
}

void orr_calls_count(struct orr_calls *calls, const char *what)
{
    for (unsigned i = 0; i < calls->nnotes; i++)
        if (!strcmp(calls->notes[i].what, what)) {
            calls->notes[i].n++;
            return;
        }
    if (calls->nnotes < ORR_CALLS_NOTES)
        calls->notes[calls->nnotes++] =
            (struct orr_calls_note_count){.what = what, .n = 1};
}

static void calls_note(struct orr_calls *calls, const char *what)
{
    orr_lock(&calls->lock);
    if (orr_calls_listens(calls))
        orr_calls_count(calls, what);
    orr_unlock(&calls->lock);
}

uint64_t *orr_calls_list(struct orr_calls *calls, size_t n)
{
    if (orr_grow(&calls->scratch, &calls->room, n, sizeof(*calls->scratch)) ==
        0)
        return calls->scratch;
    calls->failed = true;
    return NULL;
}

/* --- lines --- */

/* What another context, or a replay in a callback, could not do at this place. */
static bool waits(const struct orr_call *call)
{
    switch (call->verb) {
    case ORR_CALL_WAIT_TASK:
    case ORR_CALL_WAIT_ALL:
    case ORR_CALL_WAIT_READY:
    case ORR_CALL_TAG_WAIT:
    case ORR_CALL_RELEASE:
    case ORR_CALL_SLEEP:
    case ORR_CALL_WAIT_MESSAGE:
    case ORR_CALL_WAIT_MESSAGES:
    case ORR_CALL_BARRIER:
        return true;
    case ORR_CALL_ACQUIRE:
        return call->how != ORR_HOW_CALLBACK;
    default:
        return false;
    }
}

/* Returns whether the line is to be left out. */
static bool is_foreign(struct orr_calls *calls, struct orr_call *call)
    ORR_REQUIRES(calls->lock)
{
    /* Callbacks of acquisitions end with that: so do a replay's. */
    bool inside = orr_self->frozen || orr_self->job;

    if (inside && call->verb == ORR_CALL_RELEASE)
        return true;
    if (!calls->chained)
        orr_calls_count(
            calls, waits(call) || call->synchronous
                       ? "waits in kernels, callbacks and other threads than "
                         "the main one, which are left out"
                   : inside
                       ? "calls in kernels and callbacks, which depend on when "
                         "tasks end: a replay makes them in the recorded order"
                       : "calls of other threads than the main one: a replay "
                         "makes them in the recorded order");
    call->synchronous = 0;
    return waits(call);
}

/* Times of the real clock are rounded to the nanoseconds that it counts. */
double orr_calls_rounded(const struct orr_calls *calls, double us)
{
    return calls->rt->exec->virtual_time ? us : round(us * 1e3) / 1e3;
}

void orr_calls_lose_wait(struct orr_calls *calls)
{
    if (calls->waits)
        orr_calls_count(
            calls, "waits of the application's own for what tasks do, which "
                   "replays take for its own time");
    calls->waits = NULL;
}

/* µs of the application's until it made the call that is being written. */
static double time_before(struct orr_calls *calls) ORR_REQUIRES(calls->lock)
{
    double entered = calls->rt->views->application.entered;
    double us = entered > calls->since ? entered - calls->since : 0;

    calls->since = fmax(calls->since, entered);
    calls->wrote = true;
    return orr_calls_rounded(calls, us);
}

void orr_calls_put(struct orr_calls *calls, struct orr_call *call)
{
    if (orr_application_runs(calls->rt)) {
        orr_calls_lose_wait(calls);
        call->after = time_before(calls);
    } else if (is_foreign(calls, call))
        return;
    if (!orr_calls_name_data(calls, call))
        return;
    orr_record_write(&calls->writer, call);
}

static void calls_write(struct orr_calls *calls, struct orr_call *call)
{
    orr_lock(&calls->lock);
    if (orr_calls_listens(calls))
        orr_calls_put(calls, call);
    orr_unlock(&calls->lock);
}

/* The application may do something else where it reads real values. */
static void calls_note_unreal(struct orr_calls *calls, struct orr_call *call)
{
    orr_lock(&calls->lock);
    if (orr_calls_listens(calls)) {
        orr_calls_count(calls, "acquisitions of data whose values mean nothing, since "
                               "other ranks or kernels did not run: control flow may "
                               "depend on them");
        orr_calls_put(calls, call);
    }
    orr_unlock(&calls->lock);
}

/* A replay makes no call that has no line: what it took is as the application's own. */
void orr_calls_leave(struct orr_runtime *rt)
{
    struct orr_calls *calls = rt->views->calls;

    orr_application_return(rt);
    if (!calls || !calls->wrote)
        return;
    calls->since = rt->views->application.returned;
    calls->wrote = false;
}

/* --- the observer --- */

static void calls_given(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_calls *calls = rt->views->calls;

    if (calls) /* else its file has just been closed */
        orr_calls_submit(calls, told->job, told->implicit);
    if (calls)
        narrow_priority(calls, told->job);
}

static void calls_called(struct orr_runtime *rt, const struct orr_told *told)
{
    struct orr_calls *calls = rt->views->calls;
    struct orr_call *call = told->called.call;
    const struct orr_call_about *about = told->called.about;

    if (!calls)
        return;
    switch (call->verb) {
    case ORR_CALL_NOTE:
        calls_note(calls, call->text);
        break;
    case ORR_CALL_UNREAL:
        calls_note_unreal(calls, call);
        break;
    case ORR_CALL_RANGE:
        calls_ask_range(calls, about->sched, call->value);
        break;
    case ORR_CALL_DATA:
        orr_calls_register(calls, about->handle);
        break;
    case ORR_CALL_PARTITION:
    case ORR_CALL_PLAN:
        orr_calls_partition(calls, call, about);
        break;
    case ORR_CALL_REDUCTION:
        orr_calls_reduction(calls, call, about);
        break;
    case ORR_CALL_DEPEND:
    case ORR_CALL_END_DEPEND:
        orr_calls_depend(calls, call, about);
        break;
    case ORR_CALL_ACQUIRE:
        if (about)
            orr_calls_acquire_for_task(calls, call, about->task);
        else
            calls_write(calls, call);
        break;
    default:
        if (!about)
            calls_write(calls, call);
        else if (about->task)
            orr_calls_task(calls, call, about);
        else
            orr_calls_plan(calls, call, about);
        break;
    }
}

static void calls_executed(struct orr_runtime *rt, const struct orr_told *told)
{
    if (rt->views->calls)
        orr_calls_took(rt->views->calls, told->worker, told->job, told->since);
}

static const struct orr_observer calls_observer = {{
    [ORR_TOLD_TASK_EXECUTED] = calls_executed,
    [ORR_TOLD_TASK_GIVEN] = calls_given,
    [ORR_TOLD_CALL] = calls_called,
}};
