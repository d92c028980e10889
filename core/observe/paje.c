/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/paje.c - the record as a Pajé file, with the event numbers and
 * names that tools for StarPU read (ViTE, PajeNG, StarVZ). No addresses and no
 * dates: equal runs give equal bytes. One thread.
 */
#include "core/observe/formats.h"

#include "core/base/out.h"
#include "core/observe/entities.h"
#include "core/observe/executing.h"
#include "core/observe/origins.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A value that changes over time. */
struct curve {
    int64_t value;
    bool changed; /* since it was written */
};

/* The state of the writer. */
struct paje {
    struct orr_out *out; /* where it writes now */
    const struct orr_trace *trace;
    struct orr_entities entities;
    const char *taken[ORR_TRACE_NSTATES + 1]; /* by aliases of states */
    struct orr_origins origins;
    enum orr_trace_state *states;    /* of each worker, beside its tasks */
    struct orr_executing *executing; /* tasks of each worker */
    struct curve counters[ORR_TRACE_NCOUNTERS];
    struct curve *memories;     /* bytes, nnodes */
    bool changed;               /* some curve has, … */
    double changed_at;          /* … at this time */
    unsigned long long nsteals; /* written */
    struct orr_same time;       /* ms */
    struct orr_same gflop;
};

struct entity {
    const char *alias, *name, *colour;
};

static const struct entity states[ORR_TRACE_NSTATES] = {
    [ORR_TRACE_IDLE] = {"I", "Idle", "0.90 0.90 0.92"},
    [ORR_TRACE_INITIALIZING] = {"In", "Initializing", "0.60 0.60 0.75"},
    [ORR_TRACE_DEINITIALIZING] = {"D", "Deinitializing", "0.55 0.55 0.60"},
    [ORR_TRACE_FETCHING] = {"Fi", "FetchingInput", "0.95 0.75 0.40"},
    [ORR_TRACE_PUSHING] = {"Po", "PushingOutput", "0.85 0.65 0.45"},
    [ORR_TRACE_CALLBACK] = {"C", "Callback", "0.65 0.50 0.80"},
    [ORR_TRACE_OVERHEAD] = {"B", "Overhead", "0.80 0.45 0.45"},
    [ORR_TRACE_SCHEDULING] = {"Sc", "Scheduling", "0.55 0.70 0.90"},
    [ORR_TRACE_SLEEPING] = {"Sl", "Sleeping", "0.80 0.80 0.85"},
    [ORR_TRACE_PROGRESSING] = {"P", "Progressing", "0.60 0.80 0.60"},
    [ORR_TRACE_SUSPENDED] = {"Sp", "Suspended", "0.90 0.80 0.55"},
};

const char *orr_paje_state_name(enum orr_trace_state state)
{
    return states[state].name;
}

/* StarVZ selects them by these names. */
static const struct entity copies[ORR_TRACE_NCOPY_KINDS] = {
    [ORR_TRACE_FETCH] = {"F", "Intra-node data Fetch", "0.85 0.33 0.31"},
    [ORR_TRACE_TASK_PREFETCH] = {"TF", "Intra-node data TaskPreFetch",
                                 "0.36 0.54 0.66"},
    [ORR_TRACE_PREFETCH] = {"PF", "Intra-node data PreFetch", "0.40 0.70 0.40"},
    [ORR_TRACE_IDLE_FETCH] = {"IF", "Intra-node data IdleFetch",
                              "0.70 0.70 0.40"},
    /* A fetch like others, with an event at each end. */
    [ORR_TRACE_WRITEBACK] = {"F", "Intra-node data Fetch", "0.85 0.33 0.31"},
};

static const struct entity counters[ORR_TRACE_NCOUNTERS] = {
    [ORR_TRACE_NSUBMITTED] = {"nsubmitted",
                              "Number of Submitted Uncompleted Tasks", "0 0 0"},
    [ORR_TRACE_NREADY] = {"nready", "Number of Ready Tasks", "0 0 0"},
};

/* The first few differ in lightness, so that pictures can be printed in grey. */
static const char *const palette[] = {
    "0.13 0.33 0.66", "0.98 0.75 0.35", "0.24 0.63 0.29", "0.42 0.04 0.12",
    "0.76 0.60 0.84", "0.96 0.92 0.55", "0.08 0.50 0.58", "0.86 0.42 0.28",
    "0.28 0.22 0.20", "0.85 0.80 0.78"};

/* Numbers, names and fields of the events, as readers of StarPU's traces expect
 * them. */
static const struct {
    int id;
    const char *name;
    const char *fields; /* blank separated, after Time where `timed` */
    bool timed;
} definitions[] = {
    {1, "PajeDefineContainerType", "Alias Type Name", false},
    {2, "PajeDefineEventType", "Alias Type Name Color", false},
    {3, "PajeDefineStateType", "Alias Type Name", false},
    {4, "PajeDefineVariableType", "Alias Type Name Color", false},
    {5, "PajeDefineLinkType",
     "Alias Type StartContainerType EndContainerType Name", false},
    {6, "PajeDefineEntityValue", "Alias Type Name Color", false},
    {7, "PajeCreateContainer", "Alias Type Container Name", true},
    {8, "PajeDestroyContainer", "Name Type", true},
    {9, "PajeNewEvent", "Type Container Value", true},
    {10, "PajeSetState", "Container Type Value", true},
    {11, "PajePushState", "Container Type Value", true},
    {12, "PajePopState", "Container Type", true},
    {13, "PajeSetVariable", "Container Type Value", true},
    {14, "PajeAddVariable", "Type Container Value", true},
    {15, "PajeSubVariable", "Type Container Value", true},
    {18, "PajeStartLink", "Type Container Value StartContainer Key", true},
    {19, "PajeEndLink", "Type Container Value EndContainer Key", true},
    {20, "PajeSetState",
     "Container Type Value Size Params Footprint Tag JobId SubmitOrder "
     "Priority GFlop X Y Iteration Subiteration NumaNodes",
     true},
    {24, "PajeStartLink",
     "Type Container Value StartContainer Key Handle HName X Y", true},
};

static const char *field_type(const char *field, size_t length)
{
    if (length == 5 && !strncmp(field, "Color", length))
        return "color";
    if (length == 5 && !strncmp(field, "GFlop", length))
        return "double";
    return "string";
}

static void write_definitions(struct orr_out *out)
{
    size_t n = sizeof(definitions) / sizeof(*definitions);

    for (size_t i = 0; i < n; i++) {
        const char *at = definitions[i].fields;

        ORR_PUT(out, "%EventDef\t");
        orr_print(out, "%s\t%d\n", definitions[i].name, definitions[i].id);
        if (definitions[i].timed)
            ORR_PUT(out, "%\tTime\tdate\n");
        while (*at) {
            size_t length = strcspn(at, " ");

            ORR_PUT(out, "%\t");
            orr_put(out, at, length);
            /* A counter's value is the one number among the values. */
            orr_print(out, "\t%s\n",
                      definitions[i].id >= 13 && definitions[i].id <= 15 &&
                              !strncmp(at, "Value", length)
                          ? "double"
                          : field_type(at, length));
            at += length + (at[length] == ' ');
        }
        ORR_PUT(out, "%EndEventDef\n");
    }
}

/* A text in double quotes, safe as orr_trace_safe_text says. */
static void write_quoted(struct orr_out *out, const char *text)
{
    char *safe = orr_trace_safe_text(text);

    orr_print(out, "\"%s\"", safe ? safe : "-");
    free(safe);
}

static void write_types(struct orr_out *out)
{
    ORR_PUT(out, "1\tMPIP\t0\t\"MPI Program\"\n"
                 "1\tP\tMPIP\t\"Program\"\n"
                 "1\tMn\tP\t\"Memory Node\"\n"
                 "1\tT\tMn\t\"Thread\"\n"
                 "1\tMm\tMn\t\"Memory Manager\"\n"
                 "1\tW\tT\t\"Worker\"\n"
                 "1\tSc\tP\t\"Scheduler State\"\n"
                 "2\tWb\tMm\t\"WritingBack Start\"\t\"0.60 0.40 0.65\"\n"
                 "2\tWbE\tMm\t\"WritingBack End\"\t\"0.60 0.40 0.65\"\n"
                 "3\tWS\tW\t\"Worker State\"\n");
    for (int i = 0; i < ORR_TRACE_NCOUNTERS; i++)
        orr_print(out, "4\t%s\tSc\t\"%s\"\t\"%s\"\n", counters[i].alias,
                  counters[i].name, counters[i].colour);
    ORR_PUT(out, "4\tuse\tMm\t\"Used (MB)\"\t\"0.35 0.60 0.70\"\n");
    for (int i = 0; i < ORR_TRACE_WRITEBACK; i++)
        orr_print(out, "5\t%s\tP\tMm\tMm\t\"%s\"\n", copies[i].alias,
                  copies[i].name);
}

/* Traces without marks, or steals, have no such types. */
static void write_rare_types(struct orr_out *out,
                             const struct orr_trace_whole *whole)
{
    if (whole->nsteals)
        ORR_PUT(out, "5\tWSL\tP\tW\tW\t\"Work steal\"\n");
    if (whole->nmarks)
        ORR_PUT(out,
                "2\tprog_event\tP\t\"program event type\"\t\"0.20 0.20 0.20\"\n"
                "2\tuser_event\tP\t\"user event type\"\t\"0.20 0.20 0.20\"\n");
}

/* The names of tasks, in each colour that the program gave them: those with an
 * alias that is not their name, or the others. */
static void write_entities(struct paje *paje, bool renamed)
{
    struct orr_out *out = paje->out;
    size_t ncolours = sizeof(palette) / sizeof(*palette);

    for (size_t i = 0; i < paje->entities.n; i++) {
        const struct orr_entity *entity = &paje->entities.items[i];
        unsigned colour = entity->colour;

        if ((strcmp(entity->alias, entity->shown) != 0) != renamed)
            continue;
        orr_print(out, "6\t\"%s\"\tWS\t\"%s\"\t\"", entity->alias,
                  entity->shown);
        if (colour) {
            orr_put_decimal(out, (colour >> 16 & 255) / 255.0, 2);
            orr_put_byte(out, ' ');
            orr_put_decimal(out, (colour >> 8 & 255) / 255.0, 2);
            orr_put_byte(out, ' ');
            orr_put_decimal(out, (colour & 255) / 255.0, 2);
        } else {
            orr_put_text(out, palette[entity->rank % ncolours]);
        }
        ORR_PUT(out, "\"\n");
    }
}

/* What workers show. pj_dump refuses a value whose name is the alias of one
 * before it. */
static void write_values(struct paje *paje, const struct orr_trace_whole *whole)
{
    write_entities(paje, true);
    for (int i = 0; i < ORR_TRACE_NSTATES; i++)
        if (i != ORR_TRACE_SUSPENDED || whole->suspends)
            orr_print(paje->out, "6\t%s\tWS\t\"%s\"\t\"%s\"\n", states[i].alias,
                      states[i].name, states[i].colour);
    write_entities(paje, false);
}

/* The moment as ms since the trace's start. */
static void put_ms(struct paje *paje, double time)
{
    orr_put_same(paje->out, &paje->time, (time - paje->trace->start) / 1000.0,
                 9);
}

static void write_containers(struct paje *paje)
{
    const struct orr_trace *trace = paje->trace;
    struct orr_out *out = paje->out;

    ORR_PUT(out, "7\t0.000000000\tMPIroot\tMPIP\t0\troot\n"
                 "7\t0.000000000\tp\tP\tMPIroot\tprogram\n"
                 "7\t0.000000000\tsched\tSc\tp\tscheduler\n");
    for (unsigned n = 0; n < trace->nnodes; n++)
        orr_print(out,
                  "7\t0.000000000\tmn%u\tMn\tp\tMEMNODE%u\n"
                  "7\t0.000000000\tmm%u\tMm\tmn%u\tMEMMANAGER%u\n"
                  "13\t0.000000000\tmm%u\tuse\t0\n",
                  n, n, n, n, n, n);
    for (unsigned w = 0; w < trace->nworkers; w++)
        orr_print(out,
                  "7\t0.000000000\tt%u\tT\tmn%u\tT%d\n"
                  "7\t0.000000000\tw%u\tW\tt%u\t%s\n"
                  "10\t0.000000000\tw%u\tWS\tI\n",
                  w, trace->workers[w].node,
                  trace->workers[w].cpu < 0 ? (int)w : trace->workers[w].cpu, w,
                  w, trace->workers[w].name, w);
    for (int i = 0; i < ORR_TRACE_NCOUNTERS; i++)
        orr_print(out, "13\t0.000000000\tsched\t%s\t0\n", counters[i].alias);
}

/* An event of that number on the worker's state, up to its value. */
static void begin_state(struct paje *paje, const char *number, double time,
                        unsigned worker)
{
    struct orr_out *out = paje->out;

    orr_put_text(out, number);
    put_ms(paje, time);
    ORR_PUT(out, "\tw");
    orr_put_unsigned(out, worker);
    ORR_PUT(out, "\tWS\t");
}

static void write_state(struct paje *paje, unsigned worker, double time)
{
    begin_state(paje, "10\t", time, worker);
    orr_put_text(paje->out, states[paje->states[worker]].alias);
    orr_put_byte(paje->out, '\n');
}

/* The worker shows the task from then on. */
static void write_execution(struct paje *paje, unsigned worker,
                            const struct orr_trace_task *task, double time)
{
    static const int64_t none[2] = {0, -1};
    const int64_t *levels =
        orr_trace_iteration_levels(paje->trace, task->iteration);
    struct orr_out *out = paje->out;

    if (!levels)
        levels = none;
    begin_state(paje, "20\t", time, worker);
    orr_put_byte(out, '"');
    orr_put_text(out, orr_entities_get(&paje->entities, task)->alias);
    ORR_PUT(out, "\"\t");
    orr_put_unsigned(out, task->size);
    ORR_PUT(out, "\t\"-\"\t");
    orr_put_hex(out, task->footprint, 8);
    orr_put_byte(out, '\t');
    orr_put_hex(out, task->tag, 16);
    orr_put_byte(out, '\t');
    orr_put_unsigned(out, task->job);
    orr_put_byte(out, '\t');
    orr_put_unsigned(out, task->job);
    orr_put_byte(out, '\t');
    orr_put_signed(out, task->priority);
    orr_put_byte(out, '\t');
    orr_put_same(out, &paje->gflop, task->gflop, 6);
    ORR_PUT(out, "\t0\t0\t");
    orr_put_signed(out, levels[0]);
    orr_put_byte(out, '\t');
    orr_put_signed(out, levels[1]);
    ORR_PUT(out, "\t\"");
    orr_put_unsigned(out, paje->trace->workers[worker].node);
    ORR_PUT(out, "\"\n");
}

/* A task begins, ends, is suspended or goes on. */
static int paje_write_task(struct paje *paje, const struct orr_moment *moment)
{
    unsigned worker = moment->event->worker;
    const struct orr_trace_task *task;
    bool changed;
    int rc;

    if (worker >= paje->trace->nworkers)
        return 0;
    rc = orr_executing_step(&paje->executing[worker], moment, &changed);
    if (rc < 0 || !changed)
        return rc;
    task = orr_executing_current(&paje->executing[worker]);
    if (task)
        write_execution(paje, worker, task, moment->time);
    else
        write_state(paje, worker, moment->time);
    return 0;
}

static void paje_write_copy(struct paje *paje, const struct orr_moment *moment)
{
    const struct orr_trace_copy *copy = &moment->event->u.copy;
    struct orr_out *out = paje->out;

    if (copy->kind == ORR_TRACE_WRITEBACK) {
        ORR_PUT(out, "9\t");
        put_ms(paje, moment->time);
        orr_print(out, "\t%s\tmm%u\t%llx\n", moment->end ? "WbE" : "Wb",
                  copy->src, (unsigned long long)copy->handle);
    }
    if (moment->end)
        ORR_PUT(out, "19\t");
    else
        ORR_PUT(out, "24\t");
    put_ms(paje, moment->time);
    orr_put_byte(out, '\t');
    orr_put_text(out, copies[copy->kind].alias);
    ORR_PUT(out, "\tp\t");
    orr_put_unsigned(out, copy->size);
    ORR_PUT(out, "\tmm");
    orr_put_unsigned(out, moment->end ? copy->dst : copy->src);
    ORR_PUT(out, "\tcom_");
    orr_put_unsigned(out, copy->id);
    if (moment->end) {
        orr_put_byte(out, '\n');
        return;
    }
    orr_put_byte(out, '\t');
    orr_put_hex(out, copy->handle, 1);
    orr_put_byte(out, '\t');
    write_quoted(out, copy->name ? copy->name : "");
    ORR_PUT(out, "\t0\t0\n");
}

static void paje_write_mark(struct paje *paje, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;
    struct orr_out *out = paje->out;

    ORR_PUT(out, "9\t");
    put_ms(paje, moment->time);
    orr_print(out, "\t%s\tp\t",
              event->u.mark.numbered ? "user_event" : "prog_event");
    write_quoted(out, event->u.mark.text);
    orr_put_byte(out, '\n');
}

/* Writes an arrow that takes no time from the victim to the thief. */
static void paje_write_steal(struct paje *paje, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;
    struct orr_out *out = paje->out;
    unsigned long long number = ++paje->nsteals;

    if (event->worker >= paje->trace->nworkers ||
        event->u.steal.victim >= paje->trace->nworkers)
        return;
    ORR_PUT(out, "18\t");
    put_ms(paje, moment->time);
    orr_print(out, "\tWSL\tp\t%llu\tw%u\tsteal_%llu\n19\t",
              (unsigned long long)event->u.steal.job, event->u.steal.victim,
              number);
    put_ms(paje, moment->time);
    orr_print(out, "\tWSL\tp\t%llu\tw%u\tsteal_%llu\n",
              (unsigned long long)event->u.steal.job, event->worker, number);
}

static void change_curve(struct paje *paje, struct curve *curve, int64_t change,
                         double time)
{
    curve->value += change;
    curve->changed = true;
    paje->changed = true;
    paje->changed_at = time;
}

/* What has changed at one time is written once, when that is over: the values
 * in between lasted no time. */
static void write_curves(struct paje *paje)
{
    struct orr_out *out = paje->out;
    double time = paje->changed_at;

    if (!paje->changed)
        return;
    for (int i = 0; i < ORR_TRACE_NCOUNTERS; i++) {
        if (!paje->counters[i].changed)
            continue;
        ORR_PUT(out, "13\t");
        put_ms(paje, time);
        ORR_PUT(out, "\tsched\t");
        orr_put_text(out, counters[i].alias);
        orr_put_byte(out, '\t');
        orr_put_signed(out, paje->counters[i].value);
        orr_put_byte(out, '\n');
        paje->counters[i].changed = false;
    }
    for (unsigned n = 0; n < paje->trace->nnodes; n++) {
        if (!paje->memories[n].changed)
            continue;
        ORR_PUT(out, "13\t");
        put_ms(paje, time);
        orr_print(out, "\tmm%u\tuse\t", n);
        orr_put_decimal(out, (double)paje->memories[n].value / 1e6, 6);
        orr_put_byte(out, '\n');
        paje->memories[n].changed = false;
    }
    paje->changed = false;
}

static int paje_write_moment(struct paje *paje, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;

    if (moment->time > paje->changed_at)
        write_curves(paje);
    switch (event->type) {
    case ORR_EVENT_TASK:
    case ORR_EVENT_SUSPENSION:
        return paje_write_task(paje, moment);
    case ORR_EVENT_COPY:
        paje_write_copy(paje, moment);
        break;
    case ORR_EVENT_STATE:
        if (event->worker >= paje->trace->nworkers)
            break;
        paje->states[event->worker] = event->which;
        if (!orr_executing_current(&paje->executing[event->worker]))
            write_state(paje, event->worker, moment->time);
        break;
    case ORR_EVENT_COUNT:
        change_curve(paje, &paje->counters[event->which], event->step,
                     moment->time);
        break;
    case ORR_EVENT_MEMORY:
        if (event->u.memory.node < paje->trace->nnodes)
            change_curve(paje, &paje->memories[event->u.memory.node],
                         event->u.memory.change, moment->time);
        break;
    case ORR_EVENT_STEAL:
        paje_write_steal(paje, moment);
        break;
    case ORR_EVENT_APPLICATION:
    case ORR_EVENT_ALLOCATION:
        break; /* not recorded: orr_trace_shows_application */
    case ORR_EVENT_MESSAGE:
    case ORR_EVENT_CLOCKS:
        break; /* of a file of several ranks */
    case ORR_EVENT_MARK:
        paje_write_mark(paje, moment);
        break;
    }
    return 0;
}

/* Ends all containers at `end_us`. */
static void write_end(struct paje *paje, double end_us)
{
    char text[ORR_DECIMAL_SIZE];
    const char *end =
        orr_decimal((end_us - paje->trace->start) / 1000.0, 9, text);
    struct orr_out *out = paje->out;

    for (unsigned w = 0; w < paje->trace->nworkers; w++)
        orr_print(out, "8\t%s\tw%u\tW\n8\t%s\tt%u\tT\n", end, w, end, w);
    for (unsigned n = 0; n < paje->trace->nnodes; n++)
        orr_print(out, "8\t%s\tmm%u\tMm\n8\t%s\tmn%u\tMn\n", end, n, end, n);
    orr_print(out, "8\t%s\tsched\tSc\n8\t%s\tp\tP\n8\t%s\tMPIroot\tMPIP\n", end,
              end, end);
}

/* --- the parts --- */

static void paje_done(void *writer)
{
    struct paje *paje = writer;

    orr_entities_done(&paje->entities);
    orr_origins_done(&paje->origins);
    for (unsigned w = 0; paje->executing && w < paje->trace->nworkers; w++)
        orr_executing_done(&paje->executing[w]);
    free(paje->memories);
    free(paje->executing);
    free(paje->states);
    free(paje);
}

static int paje_begin(const struct orr_trace *trace, void **ret)
{
    struct paje *paje = calloc(1, sizeof(*paje));

    if (!paje)
        return -ENOMEM;
    paje->trace = trace;
    orr_same_init(&paje->time);
    orr_same_init(&paje->gflop);
    for (int i = 0; i < ORR_TRACE_NSTATES; i++)
        paje->taken[i] = states[i].alias;
    paje->entities.taken = paje->taken;
    paje->states = calloc(trace->nworkers + 1, sizeof(*paje->states));
    paje->executing = calloc(trace->nworkers + 1, sizeof(*paje->executing));
    paje->memories = calloc(trace->nnodes + 1, sizeof(*paje->memories));
    if (!paje->states || !paje->executing || !paje->memories) {
        paje_done(paje);
        return -ENOMEM;
    }
    *ret = paje;
    return 0;
}

static int paje_learn(void *writer, const struct orr_timeline *part,
                      bool is_all)
{
    struct paje *paje = writer;
    int rc = orr_origins_add(&paje->origins, paje->trace, part);

    if (rc)
        return rc;
    return is_all ? orr_entities_take(&paje->entities, part)
                  : orr_entities_add(&paje->entities, part);
}

static int paje_write_moments(void *writer, const struct orr_timeline *part,
                              struct orr_out *out)
{
    struct paje *paje = writer;
    int rc = 0;

    paje->out = out;
    for (size_t i = 0; i < part->n && rc == 0; i++)
        rc = paje_write_moment(paje, &part->moments[i]);
    return rc;
}

static int paje_write_head(void *writer, const struct orr_trace_whole *whole,
                           struct orr_out *out)
{
    struct paje *paje = writer;
    uint64_t dropped = orr_trace_dropped(paje->trace);

    paje->out = out;
    write_definitions(out);
    if (dropped > 0)
        orr_print(out, "# %llu events are missing: out of memory\n",
                  (unsigned long long)dropped);
    orr_origins_write(&paje->origins, "# times of ", out);
    write_types(out);
    write_rare_types(out, whole);
    write_values(paje, whole);
    write_containers(paje);
    return 0;
}

static int paje_write_tail(void *writer, const struct orr_trace_whole *whole,
                           struct orr_out *out)
{
    struct paje *paje = writer;

    paje->out = out;
    write_curves(paje);
    write_end(paje, whole->end);
    return 0;
}

const struct orr_trace_parts orr_paje_parts = {
    .begin = paje_begin,
    .learn = paje_learn,
    .moments = paje_write_moments,
    .head = paje_write_head,
    .tail = paje_write_tail,
    .free = paje_done,
};
