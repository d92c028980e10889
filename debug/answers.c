/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug/answers.c - see answers.h. */
#include "debug/answers.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"
#include "core/cost/row.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/registry.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/observe/json_text.h"
#include "core/observe/waiting.h"
#include "core/sched/sched.h"
#include "core/worker/workers.h"
#include "debug/event.h"
#include "debug/source.h"

enum { MOST = 40, TEXT = 2048, IDLE = 8 };

/* --- items --- */

const char *debug_word(const struct debug_answer *answer, const char *key)
{
    size_t length = strlen(key);

    for (char *const *word = answer->words; *word; word++)
        if (!strncmp(*word, key, length) && (*word)[length] == '=')
            return *word + length + 1;
    return NULL;
}

void debug_item(struct debug_answer *answer)
{
    fputs(answer->n++ ? ",{" : "{\"answer\":[{", answer->to);
    if (debug_rank_of(answer->rt) >= 0)
        fprintf(answer->to, "\"rank\":%d,", debug_rank_of(answer->rt));
}

void debug_number(struct debug_answer *answer, const char *key, double value)
{
    if (isfinite(value))
        orr_fprintf(answer->to, "\"%s\":%.15g,", key, value);
}

void debug_name(struct debug_answer *answer, const char *key, const char *value)
{
    fprintf(answer->to, "\"%s\":", key);
    orr_json_text(answer->to, value);
    fputc(',', answer->to);
}

void debug_source(struct debug_answer *answer, const struct orr_job *job)
{
    char members[PATH_MAX + 200] = "";
    FILE *to = fmemopen(members, sizeof(members) - 1, "w");

    if (!to)
        return;
    debug_source_write(answer->rt, job, to);
    fclose(to);
    if (*members)
        fprintf(answer->to, "%s,", members + 1); /* without the comma before it */
}

/* `rank`: that it begins with, -1: none. */
static __attribute__((format(printf, 4, 0))) void put_text(FILE *to, int rank,
                                                           const char *key,
                                                           const char *format,
                                                           va_list arguments)
{
    char text[TEXT] = "";
    int n = rank >= 0 ? snprintf(text, sizeof(text), "rank %d: ", rank) : 0;

    orr_vsnprintf(text + n, sizeof(text) - (size_t)n, format, arguments);
    fprintf(to, "\"%s\":", key);
    orr_json_text(to, text);
    fputc('}', to);
}

void debug_text(struct debug_answer *answer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    put_text(answer->to, answer->names_rank ? debug_rank_of(answer->rt) : -1,
             "text", format, arguments);
    va_end(arguments);
}

void debug_no_answer(struct debug_answer *answer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputc('{', answer->to);
    put_text(answer->to, -1, "error", format, arguments);
    va_end(arguments);
}

/* --- words --- */

struct debug_words debug_job_words(const struct orr_job *job)
{
    struct debug_words words;

    if (job->task && job->id)
        snprintf(words.text, sizeof(words.text), "%.200s #%llu", orr_job_name(job),
                 (unsigned long long)job->id);
    else
        snprintf(words.text, sizeof(words.text), "%s", orr_waiting_name(job).text);
    return words;
}

struct debug_words debug_date_words(double us)
{
    struct debug_words words;

    orr_snprintf(words.text, sizeof(words.text), "%.6g ms", us / 1e3);
    return words;
}

struct debug_words debug_nodes_words(const struct orr_runtime *rt, uint64_t nodes)
{
    struct debug_words words = {""};
    size_t n = 0;

    for (unsigned node = 0; node < rt->nodes->n && n < sizeof(words.text) - 40; node++)
        if (nodes >> node & 1)
            n += (size_t)snprintf(words.text + n, sizeof(words.text) - n, "%s%.36s",
                                  n ? ", " : "", rt->machine->nodes[node].name);
    return words;
}

const char *debug_mode_words(unsigned mode)
{
    if (mode & STARPU_REDUX)
        return "adds to";
    if (mode & STARPU_SCRATCH)
        return "has as scratch";
    if ((mode & STARPU_RW) == STARPU_RW)
        return mode & STARPU_COMMUTE ? "changes, in any order," : "reads and writes";
    return mode & STARPU_W ? "writes" : "reads";
}

const char *debug_state_word(const struct orr_job *job)
{
    static const char *const states[] = {
        [ORR_JOB_NEW] = "new",           [ORR_JOB_BLOCKED] = "blocked",
        [ORR_JOB_CLAIMING] = "claiming", [ORR_JOB_READY] = "ready",
        [ORR_JOB_FETCHING] = "fetching", [ORR_JOB_RUNNING] = "running",
        [ORR_JOB_SUSPENDED] = "waiting", [ORR_JOB_DONE] = "over",
    };

    return states[orr_job_state(job)];
}

/* --- what there is --- */

struct jobs {
    const struct orr_job **at; /* owned */
    size_t n, room;
    bool (*wanted)(const struct orr_job *job, const void *arg);
    const void *arg;
};

static void add_job(struct orr_job *job, void *arg)
{
    struct jobs *jobs = arg;

    if (!jobs->wanted(job, jobs->arg))
        return;
    if (jobs->n == jobs->room) {
        jobs->room = jobs->room ? 2 * jobs->room : 64;
        jobs->at = realloc(jobs->at, jobs->room * sizeof(*jobs->at));
        if (!jobs->at)
            abort();
    }
    jobs->at[jobs->n++] = job;
}

static int by_number(const void *a, const void *b)
{
    const struct orr_job *x = *(const struct orr_job *const *)a;
    const struct orr_job *y = *(const struct orr_job *const *)b;

    return (x->id > y->id) - (x->id < y->id);
}

static int by_urgency(const void *a, const void *b)
{
    const struct orr_job *x = *(const struct orr_job *const *)a;
    const struct orr_job *y = *(const struct orr_job *const *)b;

    if (x->priority != y->priority)
        return x->priority < y->priority ? 1 : -1;
    return by_number(a, b);
}

static bool has_number(const struct orr_job *job, const void *arg)
{
    return job->task && job->id == *(const uint64_t *)arg;
}

const struct orr_job *debug_find_task(const struct orr_runtime *rt, uint64_t number)
{
    struct jobs jobs = {.wanted = has_number, .arg = &number};
    const struct orr_job *job;

    orr_waiting_each(rt, add_job, &jobs);
    job = jobs.n ? jobs.at[0] : NULL;
    free(jobs.at);
    return job;
}

const struct orr_worker *debug_find_worker(const struct orr_runtime *rt, const char *name)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10);

    if (*name && !*end)
        return number < rt->workers->n ? &rt->workers->at[number] : NULL;
    for (unsigned w = 0; w < rt->workers->n; w++)
        if (!strcmp(rt->workers->at[w].desc->name, name))
            return &rt->workers->at[w];
    return NULL;
}

const struct orr_handle *debug_find_data(const struct orr_runtime *rt, const char *name)
{
    char *end;
    uint64_t number = strtoull(name, &end, 10);

    orr_list_foreach (link, &rt->data->handles) {
        const struct orr_handle *handle = orr_container(link, struct orr_handle, all);

        if (*end || end == name ? !strcmp(orr_handle_label(handle).text, name)
                                : handle->id == number)
            return handle;
    }
    return NULL;
}

/* --- workers --- */

struct of_worker {
    const struct orr_worker *worker;
    enum orr_job_state state;
};

static bool is_of_worker(const struct orr_job *job, const void *arg)
{
    const struct of_worker *of = arg;

    return job->task && job->worker == (int)of->worker->id && orr_job_state(job) == of->state;
}

static const struct orr_job *job_on(const struct orr_runtime *rt,
                                    const struct orr_worker *worker, enum orr_job_state state)
{
    const struct of_worker of = {worker, state};
    struct jobs jobs = {.wanted = is_of_worker, .arg = &of};
    const struct orr_job *job;

    orr_waiting_each(rt, add_job, &jobs);
    if (jobs.n)
        qsort(jobs.at, jobs.n, sizeof(*jobs.at), by_number);
    job = jobs.n ? jobs.at[0] : NULL;
    free(jobs.at);
    return job;
}

struct debug_words debug_worker_words(const struct orr_runtime *rt,
                                      const struct orr_worker *worker)
{
    static const struct {
        enum orr_job_state state;
        const char *does;
    } states[] = {{ORR_JOB_RUNNING, "executes"},
                  {ORR_JOB_FETCHING, "waits for the data of"},
                  {ORR_JOB_SUSPENDED, "has stopped in"}};
    struct debug_words words;

    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        const struct orr_job *job = job_on(rt, worker, states[i].state);
        bool since = job && job->state == ORR_JOB_RUNNING && job->kernel &&
                     job->kernel->start > 0;

        if (!job)
            continue;
        snprintf(words.text, sizeof(words.text), "%s %.200s%s%.40s", states[i].does,
                 debug_job_words(job).text, since ? " since " : "",
                 since ? debug_date_words(job->kernel->start).text : "");
        return words;
    }
    snprintf(words.text, sizeof(words.text), "%s",
             atomic_load(&worker->disabled)                        ? "is disabled"
             : orr_worker_is_blocked(worker)                       ? "is blocked"
             : atomic_load(&worker->state) == ORR_WORKER_IDLE      ? "has nothing to do"
                                                                   : "looks for a task");
    return words;
}

static void list_workers(struct debug_answer *answer)
{
    struct orr_runtime *rt = answer->rt;

    for (unsigned w = 0; w < rt->workers->n; w++) {
        const struct orr_worker *worker = &rt->workers->at[w];
        unsigned long n = atomic_load(&worker->ntasks);

        debug_item(answer);
        debug_number(answer, "worker", w);
        debug_name(answer, "name", worker->desc->name);
        debug_number(answer, "tasks", (double)n);
        debug_number(answer, "busy", worker->busy_us);
        debug_text(answer, "%u %s %s; %lu task%s so far, %s of work", w, worker->desc->name,
                   debug_worker_words(rt, worker).text, n, n == 1 ? "" : "s",
                   debug_date_words(worker->busy_us).text);
    }
}

/* --- tasks --- */

static void put_task(struct debug_answer *answer, const struct orr_job *job)
{
    const struct orr_runtime *rt = answer->rt;
    const char *state = debug_state_word(job);
    bool placed = job->worker >= 0 && orr_job_state(job) > ORR_JOB_READY;
    char priority[40] = "";

    debug_item(answer);
    debug_number(answer, "task", (double)job->id);
    debug_name(answer, "name", orr_job_name(job));
    debug_name(answer, "state", state);
    debug_number(answer, "priority", job->priority);
    debug_source(answer, job);
    if (placed)
        debug_number(answer, "on", job->worker);
    if (job->priority)
        snprintf(priority, sizeof(priority), ", priority %d", job->priority);
    debug_text(answer, "%s: %s%s%s%s", debug_job_words(job).text, state, placed ? " on " : "",
               placed ? rt->workers->at[job->worker].desc->name : "", priority);
}

struct filter {
    const char *state, *name;
};

static bool passes(const struct orr_job *job, const void *arg)
{
    const struct filter *filter = arg;

    return job->task && job->id &&
           (!filter->state || !strcmp(debug_state_word(job), filter->state)) &&
           (!filter->name || !strcmp(orr_job_name(job), filter->name));
}

static void put_jobs(struct debug_answer *answer, struct jobs *jobs,
                     int (*order)(const void *, const void *), const char *none)
{
    const char *max = debug_word(answer, "max");
    size_t most = max ? strtoul(max, NULL, 10) : MOST;

    orr_waiting_each(answer->rt, add_job, jobs);
    if (jobs->n)
        qsort(jobs->at, jobs->n, sizeof(*jobs->at), order);
    for (size_t i = 0; i < jobs->n && i < most; i++)
        put_task(answer, jobs->at[i]);
    if (jobs->n > most) {
        debug_item(answer);
        debug_number(answer, "more", (double)(jobs->n - most));
        debug_text(answer, "and %zu more", jobs->n - most);
    }
    if (!jobs->n) {
        debug_item(answer);
        debug_text(answer, "%s", none);
    }
    free(jobs->at);
}

static void list_tasks(struct debug_answer *answer)
{
    struct filter filter = {debug_word(answer, "state"), debug_word(answer, "name")};
    struct jobs jobs = {.wanted = passes, .arg = &filter};

    put_jobs(answer, &jobs, by_number,
             filter.state || filter.name ? "no such task is submitted and not over"
                                         : "no task is submitted and not over");
}

static void list_ready(struct debug_answer *answer)
{
    struct filter filter = {"ready", NULL};
    struct jobs jobs = {.wanted = passes, .arg = &filter};

    put_jobs(answer, &jobs, by_urgency, "no task is ready");
}

/* NULL after an error was answered. */
static const struct orr_job *task_asked(struct debug_answer *answer)
{
    const char *number = debug_word(answer, "task");
    const struct orr_job *job =
        number ? debug_find_task(answer->rt, strtoull(number, NULL, 10)) : NULL;

    if (!job)
        debug_no_answer(answer,
                        "task #%s is over, or was not submitted yet: `info tasks' has those "
                        "that are under way",
                        number ? number : "?");
    return job;
}

static void say_follower(const struct orr_job *job, const struct orr_job *before, void *arg)
{
    struct debug_answer *answer = arg;

    (void)before;
    debug_item(answer);
    debug_number(answer, "follower", (double)job->id);
    debug_text(answer, "  %s waits for it", debug_job_words(job).text);
}

static void show_task(struct debug_answer *answer)
{
    const struct orr_job *job = task_asked(answer);

    if (!job)
        return;
    put_task(answer, job);
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        debug_item(answer);
        debug_name(answer, "data", orr_handle_label(access->handle).text);
        debug_number(answer, "mode", access->mode);
        debug_text(answer, "  %s %s, %zu bytes, on %s%s", debug_mode_words(access->mode),
                   orr_handle_label(access->handle).text, access->handle->size,
                   atomic_load(&access->handle->valid)
                       ? debug_nodes_words(answer->rt, atomic_load(&access->handle->valid)).text
                       : "no node yet",
                   access->granted || !access->ordered ? "" : "; it is not its turn");
    }
    orr_waiting_behind(job, say_follower, answer);
}

/* What the policy compares now; owned. NULL: it compares no times, or the task is not about
 * to be given to it. */
static struct orr_expected *expect(const struct debug_answer *answer)
{
    const struct debug_event *event = answer->event;
    struct orr_sched *sched;
    struct orr_expected *expected;

    if (event->kind != DEBUG_READY)
        return NULL;
    sched = orr_sched_of(answer->rt, event->job);
    if (!sched->ops->compare)
        return NULL;
    expected = malloc(answer->rt->workers->n * sizeof(*expected));
    if (expected)
        sched->ops->compare(sched, (struct orr_job *)(uintptr_t)event->job, expected);
    return expected;
}

/* The first with the least cost; all workers: of no class. */
static const struct orr_worker *least_cost(const struct orr_runtime *rt,
                                           const struct orr_expected *expected, int class_id)
{
    const struct orr_worker *best = NULL;

    for (unsigned w = 0; expected && w < rt->workers->n; w++) {
        const struct orr_worker *worker = &rt->workers->at[w];

        if ((class_id < 0 || worker->class_id == (unsigned)class_id) &&
            (best ? expected[w].cost < expected[best->id].cost : !isnan(expected[w].cost)))
            best = worker;
    }
    return best;
}

/* Behind what is said of a class. */
static struct debug_words say_expected(struct debug_answer *answer,
                                       const struct orr_expected *expected, unsigned class_id)
{
    const struct orr_worker *best = least_cost(answer->rt, expected, (int)class_id);
    const struct orr_worker *chosen = least_cost(answer->rt, expected, -1);
    struct debug_words words = {""};

    if (!best)
        return words;
    debug_name(answer, "best", best->desc->name);
    debug_number(answer, "end", expected[best->id].end_us);
    debug_number(answer, "cost", expected[best->id].cost);
    snprintf(words.text, sizeof(words.text), "; expected to end at %.40s on %.100s, cost %.40s%s",
             debug_date_words(expected[best->id].end_us).text, best->desc->name,
             debug_date_words(expected[best->id].cost).text,
             best == chosen ? ": the policy's choice" : "");
    return words;
}

/* What policies that estimate compare: when the worker is free, what is missing there and
 * how long the task takes. */
static void show_choice(struct debug_answer *answer)
{
    const struct orr_job *job = task_asked(answer);
    struct orr_runtime *rt = answer->rt;
    struct orr_expected *expected;

    if (!job)
        return;
    expected = job == answer->event->job ? expect(answer) : NULL;
    for (unsigned k = 0; k < rt->workers->nclasses; k++) {
        const struct orr_worker_class *class = &rt->workers->classes[k];
        const struct orr_worker *first = &rt->workers->at[class->members[0]];
        bool able = job->costs && job->costs->able[k];
        double length = able ? orr_cost_length(job->costs, k, 0) : (double)NAN;
        size_t missing = 0;

        for (unsigned i = 0; i < job->naccesses; i++)
            if (job->accesses[i].mode & STARPU_R &&
                !(atomic_load(&job->accesses[i].handle->valid) >> class->node & 1))
                missing += job->accesses[i].handle->size;
        debug_item(answer);
        debug_name(answer, "worker", first->desc->name);
        debug_number(answer, "workers", class->nworkers);
        debug_number(answer, "length", length);
        debug_number(answer, "missing", (double)missing);
        if (!able)
            debug_text(answer, "%s cannot run it", first->desc->name);
        else
            debug_text(answer, "%s%s: %s, %zu bytes of its data are not there%s",
                       first->desc->name, class->nworkers > 1 ? " and its like" : "",
                       isfinite(length) ? debug_date_words(length).text : "time not known",
                       missing, say_expected(answer, expected, k).text);
    }
    free(expected);
}

/* --- where it stands --- */

static void put_event(struct debug_answer *answer)
{
    /* The event may be another rank's than the one that is asked. */
    const struct orr_runtime *of = debug_run_of_rank(answer->event->rank);

    fputs(answer->n++ ? ",{" : "{\"answer\":[{", answer->to);
    debug_event_write(of ? of : answer->rt, answer->event, answer->to);
    fputc('}', answer->to);
}

/* What they do; of many that are idle how many, and the first ones. */
static void show_workers(struct debug_answer *answer)
{
    struct orr_runtime *rt = answer->rt;
    const char *idle = "has nothing to do";
    char names[200] = "";
    unsigned nidle = 0, named = 0;

    for (unsigned w = 0; w < rt->workers->n; w++)
        nidle +=
            !strcmp(debug_worker_words(rt, &rt->workers->at[w]).text, idle);
    for (unsigned w = 0; w < rt->workers->n; w++) {
        const struct orr_worker *worker = &rt->workers->at[w];
        struct debug_words words = debug_worker_words(rt, worker);
        size_t length = strlen(names);

        if (nidle > IDLE && !strcmp(words.text, idle)) {
            if (named++ < 4)
                snprintf(names + length, sizeof(names) - length, "%s%.40s",
                         length ? ", " : "", worker->desc->name);
            continue;
        }
        debug_item(answer);
        debug_number(answer, "worker", w);
        debug_text(answer, "%s %s", worker->desc->name, words.text);
    }
    if (nidle <= IDLE)
        return;
    debug_item(answer);
    debug_number(answer, "idle", nidle);
    debug_text(answer,
               "%u workers have nothing to do: %s and %u more (`info workers')",
               nidle, names, nidle - 4);
}

static void show_where(struct debug_answer *answer)
{
    struct orr_runtime *rt = answer->rt;

    put_event(answer);
    debug_item(answer);
    debug_number(answer, "unfinished", (double)orr_count_unfinished(rt));
    debug_number(answer, "ready", (double)orr_count_ready(rt));
    debug_text(answer, "submitted and not over: %lu, of these ready: %lu",
               orr_count_unfinished(rt), orr_count_ready(rt));
    debug_say_application(answer);
    show_workers(answer);
}

/* --- ranks --- */

/* In their order. */
static void list_ranks(struct debug_answer *answer)
{
    struct orr_runtime *own = answer->rt, *rt;

    if (debug_rank_of(own) < 0) {
        debug_no_answer(
            answer,
            "the program has one rank, or has not called starpu_mpi_init yet");
        return;
    }
    for (int rank = 0; rank < (int)own->nranks; rank++) {
        rt = debug_run_of_rank(rank);
        if (!rt)
            continue; /* it has no run yet, or none any more */
        answer->rt = rt;
        debug_item(answer);
        debug_number(answer, "unfinished", (double)orr_count_unfinished(rt));
        debug_number(answer, "ready", (double)orr_count_ready(rt));
        debug_text(
            answer,
            "%s rank %d, on %s: submitted and not over: %lu, of these ready: %lu; %s",
            rt == own ? "*" : " ", rank, rt->machine->name,
            orr_count_unfinished(rt), orr_count_ready(rt),
            debug_application_words(rt).text);
    }
    answer->rt = own;
}

/* --- questions --- */

static void explain_task(struct debug_answer *answer)
{
    const struct orr_job *job = task_asked(answer);

    if (job)
        debug_why_task(answer, job);
}

static void explain_idle(struct debug_answer *answer)
{
    const char *name = debug_word(answer, "worker");
    const struct orr_worker *worker = debug_find_worker(answer->rt, name ? name : "");

    if (worker)
        debug_why_idle(answer, worker);
    else
        debug_no_answer(answer, "there is no worker %s: `info workers' has them",
                        name ? name : "?");
}

void debug_answer(struct orr_runtime *rt, const struct debug_event *event, char *const *words,
                  FILE *to)
{
    static const struct {
        const char *word;
        void (*answer)(struct debug_answer *answer);
    } questions[] = {
        {"event", put_event},      {"where", show_where},
        {"tasks", list_tasks},     {"task", show_task},
        {"ready", list_ready},     {"workers", list_workers},
        {"data", debug_list_data}, {"nodes", debug_list_nodes},
        {"why", explain_task},     {"idle", explain_idle},
        {"choice", show_choice},   {"application", debug_say_application},
        {"ranks", list_ranks},
    };
    struct debug_answer answer = {rt, event, words + 1, to, 0, false};

    if (!rt) {
        debug_no_answer(
            &answer,
            "there is no rank %s with a run now: `info ranks' has those that "
            "have one",
            debug_word(&answer, "rank"));
        return;
    }

    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
        if (*words && !strcmp(questions[i].word, *words)) {
            questions[i].answer(&answer);
            if (answer.n)
                fputs("]}", to);
            return;
        }
    debug_no_answer(&answer, "the run does not understand the question %s",
                    *words ? *words : "");
}
