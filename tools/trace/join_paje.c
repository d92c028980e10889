/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/join_paje.c - see join_paje.h. Containers, types and names are those of a
 * file of one process (core/observe/paje.c), with the rank before their aliases. Events are
 * sorted before they are written: readers want them in order of time.
 */
#include "tools/trace/join_paje.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/result.h"
#include "core/observe/entities.h"
#include "core/observe/formats.h"
#include "tools/common/pair_messages.h"
#include "tools/common/rank_traces.h"

enum what { STATE, TASK_ENDS, TASK_BEGINS, COUNT, MEMORY, LINK_BEGINS, LINK_ENDS };

struct event {
    double time; /* ms */
    enum what what;
    unsigned rank, place; /* place: worker or node; of a count 0: submitted, 1: ready */
    const char *name;     /* of a state or task; of a link "F", "MPIL" */
    double change;
    uint64_t job;
    size_t link; /* its number */
    size_t order;
};

/* What a worker shows. */
struct worker {
    const char *state, *task;
};

struct writing {
    const struct rank_traces *traces;
    FILE *out;
    struct event *events;
    size_t nevents, room, nlinks, nmessages;
    const char **names; /* of states and tasks, sorted, each once */
    size_t nnames;
    struct worker **workers; /* by rank */
    double **memory;         /* by rank and node: bytes */
    double (*counts)[2];     /* by rank: submitted, ready */
    bool lost;
};

/* --- collecting --- */

/* The name in Pajé files of a state, by that in the trace. */
static const char *state_name(const char *kind)
{
    for (int s = 0; s < ORR_TRACE_NSTATES; s++)
        if (!strcmp(orr_trace_state_name((enum orr_trace_state)s), kind))
            return orr_paje_state_name((enum orr_trace_state)s);
    return kind;
}

static void add(struct writing *w, struct event event)
{
    if (orr_grow(&w->events, &w->room, w->nevents + 1, sizeof(event)) < 0) {
        w->lost = true;
        return;
    }
    event.order = w->nevents;
    w->events[w->nevents++] = event;
}

static void add_link(struct writing *w, const char *type, struct event from, struct event to)
{
    from.name = to.name = type;
    from.link = to.link = ++w->nlinks;
    from.what = LINK_BEGINS;
    to.what = LINK_ENDS;
    to.time = fmax(to.time, from.time);
    add(w, from);
    add(w, to);
}

static void add_steps(struct writing *w, unsigned rank, const struct trace_steps *steps,
                      enum what what, unsigned which)
{
    for (size_t i = 0; i < steps->n; i++)
        add(w, (struct event){.time = steps->items[i].time,
                              .what = what,
                              .rank = rank,
                              .place = what == MEMORY ? steps->items[i].node : which,
                              .change = steps->items[i].change});
}

static void add_rank(struct writing *w, const struct trace *trace)
{
    for (size_t s = 0; s < trace->nstates; s++)
        add(w, (struct event){.time = trace->states[s].time,
                              .what = STATE,
                              .rank = trace->rank,
                              .place = trace->states[s].worker,
                              .name = state_name(trace->states[s].kind)});
    for (size_t t = 0; t < trace->ntasks; t++) {
        const struct trace_task *task = &trace->tasks[t];
        struct event event = {.time = task->start,
                              .what = TASK_BEGINS,
                              .rank = trace->rank,
                              .place = task->worker,
                              .name = task->name,
                              .job = task->job};

        add(w, event);
        event.time = task->end;
        event.what = TASK_ENDS;
        add(w, event);
    }
    for (size_t c = 0; c < trace->ncopies; c++) {
        const struct trace_copy *copy = &trace->copies[c];

        add_link(w, "F",
                 (struct event){.time = copy->start, .rank = trace->rank, .place = copy->from},
                 (struct event){.time = copy->end, .rank = trace->rank, .place = copy->to});
    }
    add_steps(w, trace->rank, &trace->submitted, COUNT, 0);
    add_steps(w, trace->rank, &trace->ready, COUNT, 1);
    add_steps(w, trace->rank, &trace->memory, MEMORY, 0);
}

static void add_message(void *arg, const struct message_end *sent,
                        const struct message_end *received)
{
    struct writing *w = arg;
    const struct trace *from = &w->traces->of[sent->from], *to = &w->traces->of[received->to];

    add_link(w, "MPIL",
             (struct event){.time = from->messages[sent->index].start, .rank = from->rank},
             (struct event){.time = to->messages[received->index].end, .rank = to->rank});
    w->nmessages++;
}

static void add_messages(struct writing *w)
{
    struct message_end *ends = NULL;
    size_t n = 0, room = 0;

    for (unsigned r = 0; r < w->traces->n; r++)
        for (size_t m = 0; m < w->traces->of[r].nmessages && !w->lost; m++) {
            const struct trace_message *message = &w->traces->of[r].messages[m];

            w->lost = orr_grow(&ends, &room, n + 1, sizeof(*ends)) < 0;
            if (!w->lost)
                ends[n++] = (struct message_end){
                    .from = message->received ? message->peer : r,
                    .to = message->received ? r : message->peer,
                    .received = message->received,
                    .tag = message->tag,
                    .number = message->number,
                    .time = message->called,
                    .index = m,
                };
        }
    pair_messages(ends, n, add_message, w);
    free(ends);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_name(const struct event *event)
{
    return event->what == STATE || event->what == TASK_BEGINS;
}

static void collect_names(struct writing *w)
{
    size_t n = 0;

    w->names = malloc((w->nevents + 1) * sizeof(*w->names));
    w->lost |= !w->names;
    for (size_t e = 0; w->names && e < w->nevents; e++)
        if (has_name(&w->events[e]))
            w->names[n++] = w->events[e].name;
    if (w->names && n)
        qsort(w->names, n, sizeof(*w->names), by_name);
    for (size_t i = 0; w->names && i < n; i++)
        if (i == 0 || strcmp(w->names[i], w->names[w->nnames - 1]) != 0)
            w->names[w->nnames++] = w->names[i];
}

/* In order of time; what begins at once with what ends stands behind it. */
static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* --- writing --- */

/* What workers show at first. */
static const char idle[] = "Idle";

static const char definitions[] =
    "%EventDef\tPajeDefineContainerType\t1\n%\tAlias\tstring\n%\tType\tstring\n"
    "%\tName\tstring\n%EndEventDef\n"
    "%EventDef\tPajeDefineStateType\t3\n%\tAlias\tstring\n%\tType\tstring\n"
    "%\tName\tstring\n%EndEventDef\n"
    "%EventDef\tPajeDefineVariableType\t4\n%\tAlias\tstring\n%\tType\tstring\n"
    "%\tName\tstring\n%\tColor\tcolor\n%EndEventDef\n"
    "%EventDef\tPajeDefineLinkType\t5\n%\tAlias\tstring\n%\tType\tstring\n"
    "%\tStartContainerType\tstring\n%\tEndContainerType\tstring\n%\tName\tstring\n"
    "%EndEventDef\n"
    "%EventDef\tPajeDefineEntityValue\t6\n%\tAlias\tstring\n%\tType\tstring\n"
    "%\tName\tstring\n%\tColor\tcolor\n%EndEventDef\n"
    "%EventDef\tPajeCreateContainer\t7\n%\tTime\tdate\n%\tAlias\tstring\n"
    "%\tType\tstring\n%\tContainer\tstring\n%\tName\tstring\n%EndEventDef\n"
    "%EventDef\tPajeDestroyContainer\t8\n%\tTime\tdate\n%\tName\tstring\n"
    "%\tType\tstring\n%EndEventDef\n"
    "%EventDef\tPajeSetState\t10\n%\tTime\tdate\n%\tContainer\tstring\n"
    "%\tType\tstring\n%\tValue\tstring\n%\tJobId\tstring\n%EndEventDef\n"
    "%EventDef\tPajeSetVariable\t13\n%\tTime\tdate\n%\tContainer\tstring\n"
    "%\tType\tstring\n%\tValue\tdouble\n%EndEventDef\n"
    "%EventDef\tPajeStartLink\t18\n%\tTime\tdate\n%\tType\tstring\n"
    "%\tContainer\tstring\n%\tValue\tstring\n%\tStartContainer\tstring\n%\tKey\tstring\n"
    "%EndEventDef\n"
    "%EventDef\tPajeEndLink\t19\n%\tTime\tdate\n%\tType\tstring\n"
    "%\tContainer\tstring\n%\tValue\tstring\n%\tEndContainer\tstring\n%\tKey\tstring\n"
    "%EndEventDef\n";

static const char types[] =
    "1\tMPIP\t0\t\"MPI Program\"\n1\tP\tMPIP\t\"Program\"\n1\tMn\tP\t\"Memory Node\"\n"
    "1\tT\tMn\t\"Thread\"\n1\tMm\tMn\t\"Memory Manager\"\n1\tW\tT\t\"Worker\"\n"
    "1\tSc\tP\t\"Scheduler State\"\n1\tMPICt\tP\t\"MPI Communication Thread\"\n"
    "3\tWS\tW\t\"Worker State\"\n"
    "4\tnsubmitted\tSc\t\"Number of Submitted Uncompleted Tasks\"\t\"0 0 0\"\n"
    "4\tnready\tSc\t\"Number of Ready Tasks\"\t\"0 0 0\"\n"
    "4\tuse\tMm\t\"Used (MB)\"\t\"0.35 0.60 0.70\"\n"
    "5\tF\tP\tMm\tMm\t\"Intra-node data Fetch\"\n"
    "5\tMPIL\tMPIP\tMPICt\tMPICt\t\"MPI communication\"\n";

static void write_quoted(struct writing *w, const char *text)
{
    char *safe = orr_trace_safe_text(text);

    w->lost |= !safe;
    fprintf(w->out, "\"%s\"", safe ? safe : "-");
    free(safe);
}

/* Neighbours differ in lightness. pj_dump refuses a value whose name is the alias of one
 * before it: no kernel is called like these. */
static void write_values(struct writing *w)
{
    static const char *const palette[] = {"0.13 0.33 0.66", "0.98 0.75 0.35", "0.24 0.63 0.29",
                                          "0.42 0.04 0.12", "0.76 0.60 0.84",
                                          "0.96 0.92 0.55"};

    fprintf(w->out, "6\t~I\tWS\t\"%s\"\t\"0.95 0.95 0.95\"\n", idle);
    for (size_t i = 0; i < w->nnames; i++) {
        fprintf(w->out, "6\t~%zu\tWS\t", i);
        write_quoted(w, w->names[i]);
        fprintf(w->out, "\t\"%s\"\n", palette[i % (sizeof(palette) / sizeof(*palette))]);
    }
}

static void write_containers(struct writing *w, const struct trace *trace)
{
    unsigned r = trace->rank;

    fprintf(w->out,
            "7\t0\t%u_p\tP\tMPIroot\t\"rank %u\"\n7\t0\t%u_sched\tSc\t%u_p\t\"%u_scheduler\"\n"
            "7\t0\t%u_mpict\tMPICt\t%u_p\t\"%u_mpict\"\n",
            r, r, r, r, r, r, r, r);
    for (unsigned n = 0; n < trace->nnodes; n++)
        fprintf(w->out,
                "7\t0\t%u_mn%u\tMn\t%u_p\t\"%u_MEMNODE%u\"\n"
                "7\t0\t%u_mm%u\tMm\t%u_mn%u\t\"%u_MEMMANAGER%u\"\n",
                r, n, r, r, n, r, n, r, n, r, n);
    for (unsigned k = 0; k < trace->nworkers; k++) {
        char name[96];

        snprintf(name, sizeof(name), "%u_%s", r, trace->workers[k].name);
        fprintf(w->out, "7\t0\t%u_t%u\tT\t%u_mn%u\t\"%u_T%u\"\n7\t0\t%u_w%u\tW\t%u_t%u\t", r, k,
                r, trace->workers[k].node, r, k, r, k, r, k);
        write_quoted(w, name);
        fprintf(w->out, "\n10\t0\t%u_w%u\tWS\t~I\t\"\"\n", r, k);
    }
}

static size_t number_of(const struct writing *w, const char *name)
{
    const char **found = bsearch(&name, w->names, w->nnames, sizeof(*w->names), by_name);

    return (size_t)(found - w->names);
}

static void write_shown(struct writing *w, const struct event *event)
{
    const struct worker *worker = &w->workers[event->rank][event->place];
    const char *name = worker->task ? worker->task : worker->state;

    fprintf(w->out, "10\t%.9f\t%u_w%u\tWS\t", event->time, event->rank, event->place);
    if (!name || (!worker->task && !strcmp(name, idle)))
        fputs("~I", w->out);
    else
        fprintf(w->out, "~%zu", number_of(w, name));
    if (worker->task && event->what == TASK_BEGINS)
        fprintf(w->out, "\t\"%llu\"\n", (unsigned long long)event->job);
    else
        fputs("\t\"\"\n", w->out);
}

static void write_link(struct writing *w, const struct event *event)
{
    bool message = !strcmp(event->name, "MPIL");
    char container[32];

    if (message)
        snprintf(container, sizeof(container), "%u_mpict", event->rank);
    else
        snprintf(container, sizeof(container), "%u_mm%u", event->rank, event->place);
    fprintf(w->out, "%d\t%.9f\t%s\t", event->what == LINK_BEGINS ? 18 : 19, event->time,
            event->name);
    if (message)
        fputs("MPIroot", w->out);
    else
        fprintf(w->out, "%u_p", event->rank);
    fprintf(w->out, "\t%s\t%s\tl%zu\n", message ? "message" : "copy", container, event->link);
}

static void write_event(struct writing *w, const struct event *event)
{
    static const char *const counters[] = {"nsubmitted", "nready"};
    struct worker *worker;

    switch (event->what) {
    case STATE:
    case TASK_BEGINS:
    case TASK_ENDS:
        worker = &w->workers[event->rank][event->place];
        if (event->what == STATE)
            worker->state = event->name;
        else
            worker->task = event->what == TASK_BEGINS ? event->name : NULL;
        if (event->what != STATE || !worker->task)
            write_shown(w, event);
        break;
    case COUNT:
        w->counts[event->rank][event->place] += event->change;
        fprintf(w->out, "13\t%.9f\t%u_sched\t%s\t%.0f\n", event->time, event->rank,
                counters[event->place], w->counts[event->rank][event->place]);
        break;
    case MEMORY:
        w->memory[event->rank][event->place] += event->change;
        fprintf(w->out, "13\t%.9f\t%u_mm%u\tuse\t%.6f\n", event->time, event->rank,
                event->place, w->memory[event->rank][event->place] / 1e6);
        break;
    default:
        write_link(w, event);
    }
}

static void write_end(struct writing *w, double end)
{
    for (unsigned r = 0; r < w->traces->n; r++) {
        const struct trace *trace = &w->traces->of[r];

        for (unsigned k = 0; k < trace->nworkers; k++)
            fprintf(w->out, "8\t%.9f\t%u_w%u\tW\n8\t%.9f\t%u_t%u\tT\n", end, r, k, end, r, k);
        for (unsigned n = 0; n < trace->nnodes; n++)
            fprintf(w->out, "8\t%.9f\t%u_mm%u\tMm\n8\t%.9f\t%u_mn%u\tMn\n", end, r, n, end, r,
                    n);
        fprintf(w->out, "8\t%.9f\t%u_mpict\tMPICt\n8\t%.9f\t%u_sched\tSc\n8\t%.9f\t%u_p\tP\n",
                end, r, end, r, end, r);
    }
    fprintf(w->out, "8\t%.9f\tMPIroot\tMPIP\n", end);
}

/* Pajé has no time before 0: a clock that is behind rank 0's may have been there. */
static double write_events(struct writing *w)
{
    double end = 0;

    for (size_t e = 0; e < w->nevents; e++) {
        w->events[e].time = fmax(w->events[e].time, 0);
        end = fmax(end, w->events[e].time);
    }
    if (w->nevents)
        qsort(w->events, w->nevents, sizeof(*w->events), by_time);
    for (size_t e = 0; e < w->nevents; e++)
        write_event(w, &w->events[e]);
    return end;
}

static void write_all(struct writing *w)
{
    fputs(definitions, w->out);
    fputs(types, w->out);
    write_values(w);
    fputs("7\t0\tMPIroot\tMPIP\t0\troot\n", w->out);
    for (unsigned r = 0; r < w->traces->n; r++)
        write_containers(w, &w->traces->of[r]);
    write_end(w, write_events(w));
}

/* --- all of it --- */

static void writing_init(struct writing *w, const struct rank_traces *traces)
{
    *w = (struct writing){.traces = traces};
    w->workers = calloc(traces->n, sizeof(*w->workers));
    w->memory = calloc(traces->n, sizeof(*w->memory));
    w->counts = calloc(traces->n, sizeof(*w->counts));
    w->lost = !w->workers || !w->memory || !w->counts;
    for (unsigned r = 0; r < traces->n && !w->lost; r++) {
        w->workers[r] = calloc(traces->of[r].nworkers + 1, sizeof(**w->workers));
        w->memory[r] = calloc(traces->of[r].nnodes + 1, sizeof(**w->memory));
        w->lost = !w->workers[r] || !w->memory[r];
        add_rank(w, &traces->of[r]);
    }
    add_messages(w);
    collect_names(w);
}

static void writing_done(struct writing *w)
{
    for (unsigned r = 0; r < w->traces->n; r++) {
        if (w->workers)
            free(w->workers[r]);
        if (w->memory)
            free(w->memory[r]);
    }
    free(w->workers);
    free(w->memory);
    free(w->counts);
    free(w->names);
    free(w->events);
}

int join_paje(char *const *files, unsigned n, const char *path, size_t *ret_links,
              struct orr_error *err)
{
    struct rank_traces traces;
    struct orr_result result;
    struct writing w;
    int rc = rank_traces_read(files, n, &traces, err);

    if (!rc) {
        rc = orr_result_open(path, &result);
        if (rc)
            orr_fail(err, rc, "%s: %s", path, strerror(-rc));
    }
    if (!rc) {
        writing_init(&w, &traces);
        w.out = result.file;
        if (!w.lost)
            write_all(&w);
        *ret_links = w.nmessages;
        rc = orr_result_close(&result, w.lost ? -ENOMEM : 0);
        if (rc)
            orr_fail(err, rc, "%s: %s", path, strerror(-rc));
        writing_done(&w);
    }
    rank_traces_done(&traces);
    return rc;
}
