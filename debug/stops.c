/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* debug/stops.c - see stops.h. */
#include "debug/stops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"
#include "core/data/handle.h"
#include "core/data/label.h"
#include "core/exec/runtime.h"
#include "core/job/count.h"
#include "core/job/job.h"
#include "core/worker/workers.h"
#include "debug/source.h"

/* --- from a request --- */

static const char *const fields[DEBUG_NFIELDS] = {
    [DEBUG_FIELD_DATE] = "date",         [DEBUG_FIELD_TASK] = "task",
    [DEBUG_FIELD_PRIORITY] = "priority", [DEBUG_FIELD_BYTES] = "bytes",
    [DEBUG_FIELD_READY] = "ready",       [DEBUG_FIELD_UNFINISHED] = "unfinished",
};

static const struct {
    const char *sign;
    enum debug_relation relation;
} relations[] = {{"<=", DEBUG_AT_MOST}, {">=", DEBUG_AT_LEAST}, {"==", DEBUG_EQUAL},
                 {"!=", DEBUG_DIFFERENT}, {"<", DEBUG_LESS},    {">", DEBUG_MORE}};

/* "bytes>1000000" */
static int read_condition(const char *text, struct debug_condition *ret)
{
    size_t length = strcspn(text, "<>=!");
    char *end;

    for (unsigned field = 0; field < DEBUG_NFIELDS; field++) {
        if (strlen(fields[field]) != length || strncmp(fields[field], text, length) != 0)
            continue;
        for (size_t i = 0; i < sizeof(relations) / sizeof(*relations); i++) {
            const char *sign = relations[i].sign;

            if (strncmp(text + length, sign, strlen(sign)) != 0)
                continue;
            *ret = (struct debug_condition){
                field, relations[i].relation,
                orr_strtod(text + length + strlen(sign), &end)};
            return end == text + length + strlen(sign) || *end ? -EINVAL : 0;
        }
    }
    return -EINVAL;
}

static int set_text(char *to, const char *value)
{
    if (strlen(value) >= DEBUG_STOP_NAME)
        return -EINVAL;
    strcpy(to, value);
    return 0;
}

static int set_condition(struct debug_stop *stop, const char *value)
{
    return stop->nconditions == DEBUG_CONDITIONS
               ? -EINVAL
               : read_condition(value, &stop->conditions[stop->nconditions++]);
}

static int set_kind(struct debug_stop *stop, const char *value)
{
    uint32_t kinds = debug_kinds_named(value);

    stop->kinds |= kinds;
    return kinds ? 0 : -EINVAL;
}

static int set_word(struct debug_stop *stop, const char *word)
{
    const char *value = strchr(word, '=');
    size_t length = value ? (size_t)(value++ - word) : 0;

#define IS(key) (length == strlen(key) && !strncmp(word, key, length))
    if (IS("id"))
        stop->id = (unsigned)strtoul(value, NULL, 10);
    else if (IS("kind"))
        return set_kind(stop, value);
    else if (IS("task"))
        stop->task = strtoull(value, NULL, 10);
    else if (IS("name"))
        return set_text(stop->name, value);
    else if (IS("line"))
        return strlen(value) < sizeof(stop->line) ? (strcpy(stop->line, value), 0) : -EINVAL;
    else if (IS("data"))
        return set_text(stop->data, value);
    else if (IS("worker"))
        return set_text(stop->worker, value);
    else if (IS("rank")) {
        stop->ranked = true;
        stop->rank = (int)strtol(value, NULL, 10);
    } else if (IS("at"))
        stop->at = orr_strtod(value, NULL);
    else if (IS("watch"))
        stop->watches = true;
    else if (IS("if"))
        return set_condition(stop, value);
    else
        return -EINVAL;
#undef IS
    return 0;
}

int debug_stops_add(struct debug_stops *stops, char *const *words, const char **reterr_word)
{
    struct debug_stop stop = {0};

    *reterr_word = "stop";
    if (stops->n == DEBUG_STOPS)
        return -ENOSPC;
    for (; *words; words++)
        if (set_word(&stop, *words) < 0) {
            *reterr_word = *words;
            return -EINVAL;
        }
    stops->at[stops->n++] = stop;
    return 0;
}

/* --- whether an event is one of them --- */

static bool is_compared(const struct debug_condition *condition, double value)
{
    switch (condition->relation) {
    case DEBUG_LESS:
        return value < condition->value;
    case DEBUG_AT_MOST:
        return value <= condition->value;
    case DEBUG_EQUAL:
        return !(value < condition->value) && !(value > condition->value);
    case DEBUG_DIFFERENT:
        return value < condition->value || value > condition->value;
    case DEBUG_AT_LEAST:
        return value >= condition->value;
    default:
        return value > condition->value;
    }
}

/* An event without such a thing does not meet the condition. */
static bool holds(const struct orr_runtime *rt, const struct debug_event *event,
                  const struct debug_condition *condition)
{
    struct orr_runtime *all = (struct orr_runtime *)(uintptr_t)rt;

    switch (condition->field) {
    case DEBUG_FIELD_DATE:
        return is_compared(condition, event->date);
    case DEBUG_FIELD_TASK:
        return event->job && is_compared(condition, (double)event->job->id);
    case DEBUG_FIELD_PRIORITY:
        return event->job && is_compared(condition, event->job->priority);
    case DEBUG_FIELD_BYTES:
        return event->handle && is_compared(condition, (double)event->handle->size);
    case DEBUG_FIELD_READY:
        return is_compared(condition, (double)orr_count_ready(all));
    default:
        return is_compared(condition, (double)orr_count_unfinished(all));
    }
}

static bool is_named(const struct debug_stop *stop, const struct debug_event *event)
{
    return event->job && event->job->task && !strcmp(orr_job_name(event->job), stop->name);
}

/* By its name, or its number. */
static bool is_datum(const struct debug_stop *stop,
                     const struct orr_handle *handle)
{
    char *end;
    unsigned long long number = strtoull(stop->data, &end, 10);

    return *end || end == stop->data
               ? !strcmp(orr_handle_label(handle).text, stop->data)
               : handle->id == number;
}

/* Also of a task that uses the datum; of one that is watched only if it changes that. */
static bool is_about_data(const struct debug_stop *stop, const struct debug_event *event)
{
    const struct orr_job *job = event->job;

    if (event->handle && (!stop->watches || event->kind != DEBUG_SEND))
        return is_datum(stop, event->handle);
    if (stop->watches && event->kind != DEBUG_START && event->kind != DEBUG_END)
        return false;
    for (unsigned i = 0; job && i < job->naccesses; i++)
        if ((!stop->watches || job->accesses[i].mode & STARPU_W) &&
            is_datum(stop, job->accesses[i].handle))
            return true;
    return false;
}

static bool is_at(const struct debug_stop *stop, const struct orr_runtime *rt,
                  const struct debug_event *event)
{
    char *end;
    unsigned long number = strtoul(stop->worker, &end, 10);

    if (event->worker)
        return *end ? !strcmp(event->worker->desc->name, stop->worker)
                    : event->worker->id == number;
    return (event->dst >= 0 && !strcmp(rt->machine->nodes[event->dst].name, stop->worker)) ||
           (event->src >= 0 && !strcmp(rt->machine->nodes[event->src].name, stop->worker));
}

static bool is_one(const struct debug_stop *stop, const struct orr_runtime *rt,
                   const struct debug_event *event)
{
    if (*stop->line &&
        !(event->kind == DEBUG_SUBMIT && debug_source_is_line(rt, event->job, stop->line)))
        return false;
    if (stop->ranked && event->rank != stop->rank)
        return false;
    if (stop->kinds && !(stop->kinds >> event->kind & 1))
        return false;
    if (stop->at > 0 && !(event->before < stop->at && event->date >= stop->at))
        return false;
    if (stop->task && (!event->job || event->job->id != stop->task))
        return false;
    if ((*stop->name && !is_named(stop, event)) ||
        (*stop->data && !is_about_data(stop, event)) ||
        (*stop->worker && !is_at(stop, rt, event)))
        return false;
    for (unsigned i = 0; i < stop->nconditions; i++)
        if (!holds(rt, event, &stop->conditions[i]))
            return false;
    return true;
}

unsigned debug_stops_find(const struct debug_stops *stops, const struct orr_runtime *rt,
                          const struct debug_event *event)
{
    for (unsigned i = 0; i < stops->n; i++)
        if (is_one(&stops->at[i], rt, event))
            return stops->at[i].id;
    return 0;
}
