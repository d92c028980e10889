/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/deadlock.c - see deadlock.h. Runs when no context can go on: takes
 * no locks, need not be fast.
 */
#include "core/observe/deadlock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/plan.h"
#include "core/device/simulated.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/job/nest.h"
#include "core/observe/sources.h"
#include "core/observe/views.h"
#include "core/observe/waiting.h"
#include "core/sched/sched.h"
#include "core/slab_set.h"
#include "core/task/again.h"
#include "core/task/tag.h"
#include "core/worker/workers.h"

#define MAX_LINES 20

struct report {
    struct orr_runtime *runtime;
    void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    unsigned n;  /* lines there are */
    bool causes; /* this round: what waits for none; else the rest */
};

#define SAY(report, ...)                                                       \
    do {                                                                       \
        if ((report)->n++ < MAX_LINES)                                         \
            (report)->say("  " __VA_ARGS__);                                   \
    } while (0)

/* --- contexts --- */

struct search {
    const struct orr_context *wanted;
    bool found;
};

static void compare_context(struct orr_context *context, void *arg)
{
    struct search *search = arg;

    search->found |= context == search->wanted;
}

/* The context that holds what this one waits for; NULL if it waits for none, or
 * for one that has ended and does not exist any more. */
static const struct orr_context *holder_of(struct orr_runtime *rt,
                                           const struct orr_context *context)
{
    struct search search = {0};

    if (!context->awaited || !context->awaited->held_by)
        return NULL;
    search.wanted = *context->awaited->held_by;
    rt->exec->ops->each(rt->exec, compare_context, &search);
    return search.found ? search.wanted : NULL;
}

static const char *context_name(const struct orr_context *context)
{
    return context->name ? context->name : "another context";
}

/* Whether the application has acquired data that the context waits for. */
static bool waits_for_acquired(const struct orr_context *context)
{
    const struct orr_awaited *awaited = context->awaited;

    return awaited && awaited->data &&
           !orr_list_empty(&awaited->data->acquired);
}

/* A worker that has nothing to do, or a stack of one on which nothing runs. */
static bool is_at_rest(const struct orr_context *context)
{
    return context->worker &&
           (!context->awaited ||
            atomic_load(&context->worker->state) == ORR_WORKER_IDLE);
}

static void say_context(struct orr_context *context, void *arg)
{
    struct report *report = arg;
    const struct orr_awaited *awaited = context->awaited;
    const struct orr_context *holder = holder_of(report->runtime, context);
    struct orr_job_words what = orr_waiting_awaited(context);

    /* Kernels are among the jobs; drivers wait for work. */
    if (context->runtime != report->runtime || is_at_rest(context) ||
        context->suspends_at)
        return;
    if (holder)
        SAY(report, "%s waits for %s that %s holds", context_name(context),
            what.text, holder == context ? "it" : context_name(holder));
    else if (awaited && awaited->held_by)
        SAY(report, "%s waits for %s of a thread that has ended",
            context_name(context), what.text);
    else
        SAY(report, "%s waits for %s%s", context_name(context), what.text,
            waits_for_acquired(context)
                ? ", which the application has acquired and not released "
                  "(starpu_data_release)"
                : "");
}

/* --- since when --- */

static void find_spinner(struct orr_context *context, void *arg)
{
    const struct orr_context **last = arg;

    if (context->spins &&
        (!*last || context->spins_since > (*last)->spins_since))
        *last = context;
}

/* Virtual time has passed for a context that asks repeatedly, without a change, so the
 * present date says nothing about it. */
static void say_since_when(struct orr_runtime *rt)
{
    const struct orr_context *spinner = NULL;

    rt->exec->ops->each(rt->exec, find_spinner, &spinner);
    if (spinner)
        orr_log_error("deadlock: nothing can go on any more, and %s has asked "
                      "in vain since %.3f ms of virtual time; unfinished "
                      "tasks: %lu",
                      context_name(spinner), spinner->spins_since / 1e3,
                      orr_count_unfinished(rt));
    else
        orr_log_error("deadlock: nothing can go on any more at %.3f ms%s; "
                      "unfinished tasks: %lu",
                      orr_exec_now(rt->exec) / 1e3,
                      rt->exec->virtual_time ? " of virtual time" : "",
                      orr_count_unfinished(rt));
}

/* --- jobs --- */

static void say_edge(const struct orr_job *job, const struct orr_job *before, void *arg)
{
    struct report *report = arg;

    SAY(report, "%s%s", orr_source_words(report->runtime, job).text,
        orr_waiting_for(job, before).text);
}

static void visit_job(struct orr_job *job, void *arg)
{
    struct report *report = arg;
    struct orr_sentence alone;

    if (report->causes && orr_waiting_itself(job)) {
        alone = orr_waiting_alone(report->runtime, job);
        if (*alone.text)
            SAY(report, "%s%s", orr_source_words(report->runtime, job).text, alone.text);
    }
    if (report->causes != orr_waiting_itself(job))
        orr_waiting_behind(job, say_edge, report);
}

static void visit_jobs(struct report *report, bool causes)
{
    report->causes = causes;
    orr_waiting_each(report->runtime, visit_job, report);
}

/* --- tags --- */

static void say_tag(const struct orr_job *job, starpu_tag_t before, bool bound,
                    void *arg)
{
    struct report *report = arg;

    if (report->causes == bound)
        return;
    SAY(report, "%s%s waits for tag %llu, %s", orr_source_words(report->runtime, job).text,
        orr_waiting_name(job).text, (unsigned long long)before,
        bound ? "whose task has not ended"
              : "which no task carries and starpu_tag_notify_from_apps was "
                "not called for");
}

static void visit_tags(struct report *report, bool causes)
{
    report->causes = causes;
    orr_tags_each_missing(report->runtime, say_tag, report);
}

/* --- tasks that run more than once --- */

static const char *name_of_task(const struct starpu_task *task)
{
    if (task->name)
        return task->name;
    return task->cl && task->cl->name ? task->cl->name : "?";
}

static void say_again(const struct orr_job *job,
                      const struct starpu_task *before, bool underway,
                      bool back, void *arg)
{
    struct report *report = arg;

    if (job->state == ORR_JOB_NEW || report->causes == underway)
        return;
    if (back)
        SAY(report,
            "%s%s, which regenerates, waits for task `%s', which its last run "
            "let go, to end",
            orr_source_words(report->runtime, job).text, orr_waiting_name(job).text,
            name_of_task(before));
    else
        SAY(report, "%s%s waits for one more run of task `%s'%s",
            orr_source_words(report->runtime, job).text, orr_waiting_name(job).text,
            name_of_task(before), underway ? "" : ", which was not submitted again");
}

static void visit_agains(struct report *report, bool causes)
{
    report->causes = causes;
    orr_agains_each_missing(report->runtime, say_again, report);
}

static void say_contexts(struct report *report)
{
    struct orr_runtime *rt = report->runtime;

    rt->exec->ops->each(rt->exec, say_context, report);
}

/* --- what waits for nothing that is known --- */

/* Steps back along a chain of jobs of which each waits for the next. */
enum { MAX_STEPS = 1000 };

struct back {
    const struct orr_job
        *job; /* which is not ready; NULL: none was found yet */
    const struct orr_job *before; /* what it waits for, or NULL */
};

static void compare_job(const struct orr_job *job, const struct orr_job *before,
                        void *arg)
{
    struct back *back = arg;

    if (job == back->job)
        back->before = before;
}

static void look_before(struct orr_job *job, void *arg)
{
    struct back *back = arg;

    if (!back->before)
        orr_waiting_behind(job, compare_job, back);
}

static void find_blocked(struct orr_job *job, void *arg)
{
    struct back *back = arg;

    if (!back->job && job->state == ORR_JOB_BLOCKED)
        back->job = job;
}

/* A job that is held back by none there is: from any that waits, along what each waits for. NULL:
 * that way leads into a circle. */
static const struct orr_job *find_lost(struct orr_runtime *rt)
{
    struct back back = {0};

    orr_waiting_each(rt, find_blocked, &back);
    for (unsigned i = 0; back.job && i < MAX_STEPS; i++) {
        back.before = NULL;
        orr_waiting_each(rt, look_before, &back);
        if (!back.before)
            return back.job->state == ORR_JOB_BLOCKED ? back.job : NULL;
        back.job = back.before;
    }
    return NULL;
}

static void say_why_without_roots(struct report *report)
{
    const struct orr_job *lost = find_lost(report->runtime);

    if (lost)
        report->say(
            "  %s is held back by nothing that there is: that is a fault of Orrery's, "
            "not of the program; please report it with these lines",
            orr_waiting_name(lost).text);
    else
        report->say("  They wait for each other in a circle, which no order of "
                    "them can satisfy: leave one of these dependencies out");
}

/* Which tasks wait for what, the roots first. Without roots (`roots`: some were printed
 * before) the tasks wait in a circle, or for what was lost. */
static void say_tasks(struct report *report, bool roots)
{
    unsigned before = report->n;

    visit_jobs(report, true);
    visit_tags(report, true);
    visit_agains(report, true);
    roots |= report->n > before;
    before = report->n;
    visit_jobs(report, false);
    visit_tags(report, false);
    visit_agains(report, false);
    if (report->n > MAX_LINES)
        report->say("  and %u more", report->n - MAX_LINES);
    if (!roots && report->n > before)
        say_why_without_roots(report);
}

static void deadlock_explain(struct orr_runtime *rt)
{
    struct report report = {.runtime = rt, .say = orr_log_error};
    bool roots = orr_memory_explain(rt);

    say_contexts(&report);
    say_tasks(&report, roots);
}

void orr_deadlock_explain(struct orr_runtime *rt)
{
    say_since_when(rt);
    deadlock_explain(rt);
}

void orr_deadlock_explain_left(struct orr_runtime *rt)
{
    struct report report = {.runtime = rt, .say = orr_log_warning};
    unsigned long n = orr_count_unfinished(rt);

    orr_log_warning(
        "starpu_shutdown: %lu submitted task%s dropped, since nothing "
        "is left that could let %s go on",
        n, n == 1 ? " is" : "s are", n == 1 ? "it" : "them");
    say_tasks(&report, false);
}

/* --- the real machine --- */

static void say_others(void)
{
    orr_log_error(
        "  Waiting: threads that the library does not know may "
        "change that. STARPU_WATCHDOG_TIMEOUT=MICROSECONDS with "
        "STARPU_WATCHDOG_CRASH=1 ends a run in which no task ends for "
        "so long.");
}

/* Whether tasks, or main, wait for each other, or for memory, and says for what. */
static bool explain_rest(struct orr_runtime *rt)
{
    unsigned nsuspended = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        nsuspended += rt->workers->at[w].nsuspended;
    if (nsuspended == 0 && !waits_for_acquired(rt->main))
        return orr_memory_explain(rt);
    orr_deadlock_explain(rt);
    return true;
}

static void check_ready(void *object, void *arg)
{
    struct orr_job *job = object;

    if (atomic_load(&job->refs) > 0 && job->state == ORR_JOB_READY && job->task)
        orr_sched_check_lost(arg, job);
}

/* A policy may have kept for all workers what those of a device that was lost since
 * were to take. */
static void check_lost(struct orr_runtime *rt)
{
    struct orr_runtime *outer = orr_self->runtime;

    if (!atomic_load_explicit(&rt->nodes->lost, memory_order_relaxed))
        return;
    orr_self->runtime = rt; /* the context may be a driver's */
    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        orr_slab_each(rt->slabs->jobs[i], check_ready, rt);
    orr_self->runtime = outer;
}

static void look_for_held(void *object, void *arg)
{
    const struct orr_job *job = object;
    bool *held = arg;

    *held |=
        atomic_load(&job->refs) > 0 && job->task && orr_waiting_has_run(job);
}

/* Whether something that the program does itself holds the end of a task back, as that of
 * OpenMP's detached tasks, while nobody executes any. */
static bool has_held(struct orr_runtime *rt)
{
    bool held = false;

    for (unsigned i = 0; i < ORR_JOB_SLABS; i++)
        orr_slab_each(rt->slabs->jobs[i], look_for_held, &held);
    return held;
}

/* A wait that only unknown threads could end: said at once, and once; if there are no
 * such threads the run ends. Where a task's end is held back they are likely to be about
 * to end it: look_for_stall() says it after a while. */
static void say_certain(struct orr_runtime *rt, bool alone)
{
    check_lost(rt);
    if (!alone && (rt->views->said_full || has_held(rt)))
        return;
    rt->views->said_full = explain_rest(rt);
    if (rt->views->said_full && alone)
        orr_runtime_fail(rt);
    if (rt->views->said_full)
        say_others();
}

/* Threads of the application may be in any code, also in the library: what tasks wait
 * for may change while this is printed. */
static void say_numbers(struct orr_runtime *rt, unsigned long n, double since)
{
    char what[ORR_AWAITED_TEXT];
    bool seen;

    if (n > 0)
        orr_log_error(
            "nothing has gone on for %.3g s: %lu submitted tasks have not "
            "ended, and no worker has one that it could begin",
            since / 1e6, n);
    else if (orr_context_tell(rt->main, what, sizeof(what), &seen))
        orr_log_error("nothing has gone on for %.3g s: no task is submitted, "
                      "and %s waits for %s",
                      since / 1e6, context_name(rt->main), what);
    orr_log_error(
        "  Waiting: threads of the application that are under way may "
        "change that. What waits for what: orrery debug --attach %ld",
        (long)getpid());
}

static void say_stall(struct orr_runtime *rt, enum orr_parked who,
                      unsigned long n, double since)
{
    if (who == ORR_PARKED_OWN) {
        say_numbers(rt, n, since);
        return;
    }
    if (who == ORR_PARKED_ALL) {
        orr_deadlock_explain(rt);
        orr_log_error("  The program waits for ever (STARPU_WATCHDOG_CRASH=1 "
                      "aborts it)");
        return;
    }
    orr_log_error("nothing has gone on for %.3g s; unfinished tasks: %lu",
                  since / 1e6, n);
    deadlock_explain(rt);
    say_others();
}

/* Tasks that wait for something are no mistake while a thread may still do it, nor is a
 * call that waits where there are no tasks: this is only said, once, after a while.
 * Returns how much of that while is left. */
static double look_for_stall(struct orr_runtime *rt, enum orr_parked who,
                             double since)
{
    double patience =
        orr_config_double(&rt->config, ORR_CFG_STALL_TIMEOUT) * 1e6;
    unsigned long n = orr_count_unfinished(rt);

    if (!(patience > 0) || (n == 0 && !rt->main->awaited) ||
        rt->views->said_stall || rt->views->said_full)
        return ORR_FOREVER;
    if (who != ORR_PARKED_ALL && since < patience)
        return patience - since;
    if (orr_drop_left(rt))
        return ORR_FOREVER;
    rt->views->said_stall = true;
    say_stall(rt, who, n, since);
    if (who == ORR_PARKED_ALL &&
        orr_config_bool(&rt->config, ORR_CFG_WATCHDOG_CRASH))
        abort();
    return ORR_FOREVER;
}

/* Whether a task or a value goes elsewhere, so that others find memory. A worker whose
 * context this is may have been told to look again, as if it were awake. */
static bool relieve(struct orr_runtime *rt)
{
    struct orr_runtime *outer = orr_self->runtime;
    bool done;

    orr_self->runtime = rt; /* the context may be a driver's */
    done = orr_memory_relieve(rt);
    orr_self->runtime = outer;
    if (done)
        orr_context_wake(orr_self);
    return done;
}

double orr_deadlock_all_parked(void *arg, enum orr_parked who, double since)
{
    struct orr_runtime *rt = arg;

    if (who != ORR_PARKED_OWN && !(since > 0)) {
        if (relieve(rt) || orr_drop_left(rt))
            return ORR_FOREVER;
        say_certain(rt, who == ORR_PARKED_ALL);
    }
    return look_for_stall(rt, who, since);
}
