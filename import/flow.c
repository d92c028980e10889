/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/flow.c - see flow.h. */
#include "import/flow.h"

#include "core/base/grow.h"
#include "core/base/number.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* --- beginning and end --- */

void flow_init(struct flow *flow, const char *path, struct orr_error *err)
{
    *flow = (struct flow){.path = path, .err = err, .exchanged = FLOW_NONE};
}

static void task_done(struct flow_task *task)
{
    free(task->kernel);
    free(task->model);
    free(task->name);
    free(task->uses);
    free(task->before);
    free(task->end_before);
    free(task->workers);
}

void flow_done(struct flow *flow)
{
    for (size_t t = 0; t < flow->ntasks; t++)
        task_done(&flow->tasks[t]);
    for (size_t d = 0; d < flow->ndata; d++)
        free(flow->data[d].name);
    for (size_t n = 0; n < flow->nnotes; n++)
        free(flow->notes[n]);
    free(flow->tasks);
    free(flow->data);
    free(flow->notes);
    flow_index_done(&flow->task_names);
    flow_index_done(&flow->datum_names);
}

int flow_wrong(struct flow *flow, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    orr_vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return flow->line
               ? orr_fail(flow->err, -EINVAL, "%s:%lu: %s", flow->path,
                          flow->line, text)
               : orr_fail(flow->err, -EINVAL, "%s: %s", flow->path, text);
}

int flow_no_memory(struct flow *flow)
{
    return orr_fail(flow->err, -ENOMEM, "%s: out of memory", flow->path);
}

int flow_read_line(struct flow *flow, FILE *file, char **line, size_t *room)
{
    ssize_t n;

    errno = 0;
    n = getline(line, room, file);
    if (n < 0 && (ferror(file) || errno == ENOMEM))
        return orr_fail(flow->err, errno ? -errno : -EIO, "%s: %s", flow->path,
                        strerror(errno ? errno : EIO));
    if (n < 0)
        return 0;
    flow->line++;
    if (strlen(*line) != (size_t)n)
        return flow_wrong(flow, "a byte 0: this is no text");
    (*line)[strcspn(*line, "\r\n")] = '\0';
    return 1;
}

/* --- tasks and data --- */

struct flow_task *flow_add_task(struct flow *flow)
{
    struct flow_task *task = orr_array_add(flow->tasks, flow->ntasks);

    if (!task)
        return NULL;
    task->us = (double)NAN;
    task->ran = task->worker = task->device = task->iteration = -1;
    return task;
}

size_t flow_add_datum(struct flow *flow, const char *name, uint64_t bytes)
{
    struct flow_datum *datum =
        orr_array_add(flow->data, flow->ndata);

    if (!datum || flow_text(&datum->name, name))
        return FLOW_NONE;
    datum->bytes = bytes;
    datum->home = -1;
    return flow->ndata - 1;
}

int flow_use(struct flow_task *task, size_t datum, uint32_t mode)
{
    struct flow_use *use = orr_array_add(task->uses, task->nuses);

    if (!use)
        return -ENOMEM;
    *use = (struct flow_use){datum, mode};
    return 0;
}

int flow_wait(struct flow_task *task, size_t before)
{
    size_t *to = orr_array_add(task->before, task->nbefore);

    if (to)
        *to = before;
    return to ? 0 : -ENOMEM;
}

int flow_end_wait(struct flow_task *task, size_t before)
{
    size_t *to = orr_array_add(task->end_before, task->nend_before);

    if (to)
        *to = before;
    return to ? 0 : -ENOMEM;
}

int flow_text(char **to, const char *text)
{
    char *copy = text ? strdup(text) : NULL;

    if (text && !copy)
        return -ENOMEM;
    free(*to);
    *to = copy;
    return 0;
}

int flow_note(struct flow *flow, const char *format, ...)
{
    char text[256], **place;
    va_list args;

    va_start(args, format);
    orr_vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (size_t n = 0; n < flow->nnotes; n++)
        if (!strcmp(flow->notes[n], text))
            return 0;
    place = orr_array_add(flow->notes, flow->nnotes);
    if (place)
        *place = strdup(text);
    return place && *place ? 0 : -ENOMEM;
}

/* --- names --- */

struct name {
    size_t number;
    const char *name; /* behind it, or the one that is looked for */
};

static int flow_name_compare(const void *a, const void *b)
{
    const struct name *x = a, *y = b;

    return strcmp(x->name, y->name);
}

size_t flow_find(const struct flow_index *index, const char *name)
{
    struct name key = {0, name}, **found;

    found = tfind(&key, &index->root, flow_name_compare);
    return found ? (*found)->number : FLOW_NONE;
}

int flow_set(struct flow_index *index, const char *name, size_t number)
{
    size_t length = strlen(name) + 1;
    struct name *entry, **there;

    if (flow_find(index, name) != FLOW_NONE)
        return flow_find(index, name) == number ? 0 : -EEXIST;
    entry = malloc(sizeof(*entry) + length);
    if (!entry)
        return -ENOMEM;
    entry->number = number;
    entry->name = memcpy(entry + 1, name, length);
    there = tsearch(entry, &index->root, flow_name_compare);
    if (!there)
        free(entry);
    return there ? 0 : -ENOMEM;
}

void flow_index_done(struct flow_index *index)
{
    tdestroy(index->root, free);
    index->root = NULL;
}
