/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/paje.c - the record as a Pajé file, with the event numbers and
 * names that tools for StarPU read (ViTE, PajeNG, StarVZ). No addresses and no
 * dates: equal runs give equal bytes. One thread.
 */
#include "core/observe/trace_file.h"

#include "core/observe/decimal.h"
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
    FILE *file;
    const struct orr_trace *trace;
    const struct orr_timeline *line;
    const struct orr_entities *entities;
    enum orr_trace_state *states;    /* of each worker, beside its tasks */
    struct orr_executing *executing; /* tasks of each worker */
    struct curve counters[ORR_TRACE_NCOUNTERS];
    struct curve *memories; /* bytes, nnodes */
    bool changed;           /* some curve has, … */
    double changed_at;      /* … at this time */
    char text[ORR_DECIMAL_SIZE];
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

static const struct entity copies[ORR_TRACE_NCOPY_KINDS] = {
    [ORR_TRACE_FETCH] = {"F", "Fetch", "0.85 0.33 0.31"},
    [ORR_TRACE_TASK_PREFETCH] = {"TF", "TaskPrefetch", "0.36 0.54 0.66"},
    [ORR_TRACE_PREFETCH] = {"PF", "Prefetch", "0.40 0.70 0.40"},
    [ORR_TRACE_IDLE_FETCH] = {"IF", "IdleFetch", "0.70 0.70 0.40"},
    /* A fetch like others, with an event at each end. */
    [ORR_TRACE_WRITEBACK] = {"F", "Fetch", "0.85 0.33 0.31"},
};

static const struct entity counters[ORR_TRACE_NCOUNTERS] = {
    [ORR_TRACE_NSUBMITTED] = {"nsubmitted",
                              "Number of Submitted Uncompleted Tasks", "0 0 0"},
    [ORR_TRACE_NREADY] = {"nready", "Number of Ready Tasks", "0 0 0"},
};

static const char *const palette[] = {
    "0.20 0.47 0.74", "0.93 0.53 0.18", "0.24 0.63 0.29", "0.79 0.22 0.24",
    "0.53 0.37 0.71", "0.55 0.34 0.29", "0.87 0.47 0.73", "0.45 0.45 0.45",
    "0.70 0.71 0.18", "0.12 0.69 0.76"};

/* Numbers, names and fields of the events, as FORMATS of StarPU's users. */
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

static void write_definitions(FILE *file)
{
    size_t n = sizeof(definitions) / sizeof(*definitions);

    for (size_t i = 0; i < n; i++) {
        const char *at = definitions[i].fields;

        fprintf(file, "%%EventDef\t%s\t%d\n", definitions[i].name,
                definitions[i].id);
        if (definitions[i].timed)
            fputs("%\tTime\tdate\n", file);
        while (*at) {
            size_t length = strcspn(at, " ");

            /* A counter's value is the one number among the values. */
            fprintf(file, "%%\t%.*s\t%s\n", (int)length, at,
                    definitions[i].id >= 13 && definitions[i].id <= 15 &&
                            !strncmp(at, "Value", length)
                        ? "double"
                        : field_type(at, length));
            at += length + (at[length] == ' ');
        }
        fputs("%EndEventDef\n", file);
    }
}

/* A text in double quotes, safe as orr_trace_safe_text says. */
static void write_quoted(FILE *file, const char *text)
{
    char *safe = orr_trace_safe_text(text);

    fprintf(file, "\"%s\"", safe ? safe : "-");
    free(safe);
}

static void write_types(FILE *file)
{
    fputs("1\tMPIP\t0\t\"MPI Program\"\n"
          "1\tP\tMPIP\t\"Program\"\n"
          "1\tMn\tP\t\"Memory Node\"\n"
          "1\tT\tMn\t\"Thread\"\n"
          "1\tMm\tMn\t\"Memory Manager\"\n"
          "1\tW\tT\t\"Worker\"\n"
          "1\tSc\tP\t\"Scheduler\"\n"
          "2\tWb\tMm\t\"Write back\"\t\"0.60 0.40 0.65\"\n"
          "2\tWbE\tMm\t\"End of write back\"\t\"0.60 0.40 0.65\"\n"
          "3\tWS\tW\t\"Worker State\"\n",
          file);
    for (int i = 0; i < ORR_TRACE_NCOUNTERS; i++)
        fprintf(file, "4\t%s\tSc\t\"%s\"\t\"%s\"\n", counters[i].alias,
                counters[i].name, counters[i].colour);
    fputs("4\tuse\tMm\t\"Used (MB)\"\t\"0.35 0.60 0.70\"\n", file);
    for (int i = 0; i < ORR_TRACE_WRITEBACK; i++)
        fprintf(file, "5\t%s\tP\tMm\tMm\t\"%s\"\n", copies[i].alias,
                copies[i].name);
}

/* Traces without marks have no such types. */
static void write_mark_types(const struct paje *paje)
{
    if (paje->line->nmarks)
        fputs("2\tprog_event\tP\t\"Event of the program\"\t\"0.20 0.20 0.20\"\n"
              "2\tuser_event\tP\t\"Event of the user\"\t\"0.20 0.20 0.20\"\n",
              paje->file);
}

/* The names of tasks, in each colour that the program gave them: those with an
 * alias that is not their name, or the others. */
static void write_entities(const struct paje *paje, bool renamed)
{
    size_t ncolours = sizeof(palette) / sizeof(*palette);

    for (size_t i = 0; i < paje->entities->n; i++) {
        const struct orr_entity *entity = &paje->entities->items[i];
        unsigned colour = entity->colour;

        if ((strcmp(entity->alias, entity->shown) != 0) != renamed)
            continue;
        fprintf(paje->file, "6\t\"%s\"\tWS\t\"%s\"\t", entity->alias,
                entity->shown);
        if (colour)
            fprintf(paje->file, "\"%.2f %.2f %.2f\"\n",
                    (colour >> 16 & 255) / 255.0, (colour >> 8 & 255) / 255.0,
                    (colour & 255) / 255.0);
        else
            fprintf(paje->file, "\"%s\"\n", palette[entity->rank % ncolours]);
    }
}

/* What workers show. pj_dump refuses a value whose name is the alias of one
 * before it. */
static void write_values(const struct paje *paje)
{
    write_entities(paje, true);
    for (int i = 0; i < ORR_TRACE_NSTATES; i++)
        if (i != ORR_TRACE_SUSPENDED || paje->line->suspends)
            fprintf(paje->file, "6\t%s\tWS\t\"%s\"\t\"%s\"\n", states[i].alias,
                    states[i].name, states[i].colour);
    write_entities(paje, false);
}

/* The moment as ms since the trace's start, until the next call. */
static const char *ms(struct paje *paje, double time)
{
    return orr_decimal((time - paje->trace->start) / 1000.0, 9, paje->text);
}

static void write_containers(const struct paje *paje)
{
    const struct orr_trace *trace = paje->trace;
    FILE *file = paje->file;

    fputs("7\t0.000000000\tMPIroot\tMPIP\t0\troot\n"
          "7\t0.000000000\tp\tP\tMPIroot\tprogram\n"
          "7\t0.000000000\tsched\tSc\tp\tscheduler\n",
          file);
    for (unsigned n = 0; n < trace->nnodes; n++)
        fprintf(file,
                "7\t0.000000000\tmn%u\tMn\tp\tMEMNODE%u\n"
                "7\t0.000000000\tmm%u\tMm\tmn%u\tMEMMANAGER%u\n"
                "13\t0.000000000\tmm%u\tuse\t0\n",
                n, n, n, n, n, n);
    for (unsigned w = 0; w < trace->nworkers; w++)
        fprintf(file,
                "7\t0.000000000\tt%u\tT\tmn%u\tT%d\n"
                "7\t0.000000000\tw%u\tW\tt%u\t%s\n"
                "10\t0.000000000\tw%u\tWS\tI\n",
                w, trace->workers[w].node,
                trace->workers[w].cpu < 0 ? (int)w : trace->workers[w].cpu, w,
                w, trace->workers[w].name, w);
    for (int i = 0; i < ORR_TRACE_NCOUNTERS; i++)
        fprintf(file, "13\t0.000000000\tsched\t%s\t0\n", counters[i].alias);
}

static void write_state(struct paje *paje, unsigned worker, double time)
{
    orr_print(paje->file, "10\t%s\tw%u\tWS\t%s\n", ms(paje, time), worker,
              states[paje->states[worker]].alias);
}

/* The worker shows the task from then on. */
static void write_execution(struct paje *paje, unsigned worker,
                            const struct orr_trace_task *task, double time)
{
    static const int64_t none[2] = {0, -1};
    const int64_t *levels =
        orr_trace_iteration_levels(paje->trace, task->iteration);
    char gflop[ORR_DECIMAL_SIZE];

    if (!levels)
        levels = none;
    orr_print(
        paje->file,
        "20\t%s\tw%u\tWS\t\"%s\"\t%zu\t\"-\"\t%08x\t%016llx\t%llu\t%llu\t%d\t%s\t0\t0\t%lld\t%lld\t"
        "\"%u\"\n",
        ms(paje, time), worker, orr_entities_get(paje->entities, task)->alias,
        task->size, task->footprint, (unsigned long long)task->tag,
        (unsigned long long)task->job, (unsigned long long)task->submit_order,
        task->priority, orr_decimal(task->gflop, 6, gflop),
        (long long)levels[0], (long long)levels[1],
        paje->trace->workers[worker].node);
}

/* A task begins, ends, is suspended or goes on. */
static int write_task(struct paje *paje, const struct orr_moment *moment)
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

static void write_copy(struct paje *paje, const struct orr_moment *moment)
{
    const struct orr_trace_copy *copy = &moment->event->u.copy;
    const char *alias = copies[copy->kind].alias;
    const char *time = ms(paje, moment->time);

    if (copy->kind == ORR_TRACE_WRITEBACK)
        orr_print(paje->file, "9\t%s\t%s\tmm%u\t%llx\n", time,
                  moment->end ? "WbE" : "Wb", copy->src,
                  (unsigned long long)copy->handle);
    if (moment->end)
        orr_print(paje->file, "19\t%s\t%s\tp\t%zu\tmm%u\tcom_%llu\n", time,
                  alias, copy->size, copy->dst, (unsigned long long)copy->id);
    else {
        orr_print(paje->file, "24\t%s\t%s\tp\t%zu\tmm%u\tcom_%llu\t%llx\t",
                  time, alias, copy->size, copy->src,
                  (unsigned long long)copy->id,
                  (unsigned long long)copy->handle);
        write_quoted(paje->file, copy->name ? copy->name : "");
        fputs_unlocked("\t0\t0\n", paje->file);
    }
}

static void write_mark(struct paje *paje, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;

    fprintf(paje->file, "9\t%s\t%s\tp\t", ms(paje, moment->time),
            event->u.mark.numbered ? "user_event" : "prog_event");
    write_quoted(paje->file, event->u.mark.text);
    fputc('\n', paje->file);
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
    char used[ORR_DECIMAL_SIZE];
    const char *time;

    if (!paje->changed)
        return;
    time = ms(paje, paje->changed_at);
    for (int i = 0; i < ORR_TRACE_NCOUNTERS; i++)
        if (paje->counters[i].changed)
            orr_print(paje->file, "13\t%s\tsched\t%s\t%lld\n", time,
                      counters[i].alias, (long long)paje->counters[i].value);
    for (unsigned n = 0; n < paje->trace->nnodes; n++)
        if (paje->memories[n].changed)
            orr_print(
                paje->file, "13\t%s\tmm%u\tuse\t%s\n", time, n,
                orr_decimal((double)paje->memories[n].value / 1e6, 6, used));
    for (int i = 0; i < ORR_TRACE_NCOUNTERS; i++)
        paje->counters[i].changed = false;
    for (unsigned n = 0; n < paje->trace->nnodes; n++)
        paje->memories[n].changed = false;
    paje->changed = false;
}

static int write_moment(struct paje *paje, const struct orr_moment *moment)
{
    const struct orr_event *event = moment->event;

    if (moment->time > paje->changed_at)
        write_curves(paje);
    switch (event->type) {
    case ORR_EVENT_TASK:
    case ORR_EVENT_SUSPENSION:
        return write_task(paje, moment);
    case ORR_EVENT_COPY:
        write_copy(paje, moment);
        break;
    case ORR_EVENT_STATE:
        if (event->worker >= paje->trace->nworkers)
            break;
        paje->states[event->worker] = event->u.state.id;
        if (!orr_executing_current(&paje->executing[event->worker]))
            write_state(paje, event->worker, moment->time);
        break;
    case ORR_EVENT_COUNT:
        change_curve(paje, &paje->counters[event->u.count.id],
                     event->u.count.change, moment->time);
        break;
    case ORR_EVENT_MEMORY:
        if (event->u.memory.node < paje->trace->nnodes)
            change_curve(paje, &paje->memories[event->u.memory.node],
                         event->u.memory.change, moment->time);
        break;
    case ORR_EVENT_MARK:
        write_mark(paje, moment);
        break;
    }
    return 0;
}

static void write_end(struct paje *paje)
{
    const char *end = ms(paje, paje->line->end);
    unsigned w, n;

    for (w = 0; w < paje->trace->nworkers; w++)
        fprintf(paje->file, "8\t%s\tw%u\tW\n8\t%s\tt%u\tT\n", end, w, end, w);
    for (n = 0; n < paje->trace->nnodes; n++)
        fprintf(paje->file, "8\t%s\tmm%u\tMm\n8\t%s\tmn%u\tMn\n", end, n, end,
                n);
    fprintf(paje->file, "8\t%s\tsched\tSc\n8\t%s\tp\tP\n8\t%s\tMPIroot\tMPIP\n",
            end, end, end);
}

static int write_all(struct paje *paje)
{
    uint64_t dropped = orr_trace_dropped(paje->trace);
    int rc;

    write_definitions(paje->file);
    if (dropped > 0)
        fprintf(paje->file, "# %llu events are missing: out of memory\n",
                (unsigned long long)dropped);
    rc = orr_origins_write(paje->trace, paje->line, "# times of ", paje->file);
    if (rc < 0)
        return rc;
    write_types(paje->file);
    write_mark_types(paje);
    write_values(paje);
    write_containers(paje);
    for (size_t i = 0; i < paje->line->n && rc == 0; i++)
        rc = write_moment(paje, &paje->line->moments[i]);
    write_curves(paje);
    write_end(paje);
    return rc;
}

int orr_paje_write(const struct orr_trace_source *source, FILE *file)
{
    const char *taken[ORR_TRACE_NSTATES + 1] = {NULL};
    const struct orr_trace *trace = source->trace;
    struct paje paje = {.file = file, .trace = trace, .line = source->line};
    struct orr_entities entities = {0};
    int result;

    for (int i = 0; i < ORR_TRACE_NSTATES; i++)
        taken[i] = states[i].alias;
    result = orr_entities_init(paje.line, taken, &entities);
    paje.entities = &entities;
    paje.states = calloc(trace->nworkers + 1, sizeof(*paje.states));
    paje.executing = calloc(trace->nworkers + 1, sizeof(*paje.executing));
    paje.memories = calloc(trace->nnodes + 1, sizeof(*paje.memories));
    if (!paje.states || !paje.executing || !paje.memories)
        result = -ENOMEM;
    if (result == 0)
        result = write_all(&paje);
    free(paje.memories);
    for (unsigned w = 0; paje.executing && w < trace->nworkers; w++)
        orr_executing_done(&paje.executing[w]);
    free(paje.executing);
    free(paje.states);
    orr_entities_done(&entities);
    return result;
}
