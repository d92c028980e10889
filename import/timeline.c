/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/timeline.c - see timeline.h: rows, slices, names. */
#include "import/timeline.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/number.h"

void timeline_init(struct timeline *timeline, struct flow *flow)
{
    *timeline = (struct timeline){.flow = flow};
}

void timeline_done(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->ntexts; i++)
        free(timeline->texts[i]);
    free(timeline->texts);
    free(timeline->slices);
    free(timeline->rows);
    free(timeline->steps);
    free(timeline->waits);
    free(timeline->arrows);
    free(timeline->memories);
    flow_index_done(&timeline->row_names);
    flow_index_done(&timeline->text_numbers);
}

const char *timeline_text(struct timeline *timeline, const char *text)
{
    size_t number = flow_find(&timeline->text_numbers, text);
    char **place;

    if (number != FLOW_NONE)
        return timeline->texts[number];
    number = timeline->ntexts;
    place = orr_array_add(timeline->texts, timeline->ntexts);
    if (place)
        *place = strdup(text);
    if (place && *place && flow_set(&timeline->text_numbers, text, number) == 0)
        return *place;
    flow_no_memory(timeline->flow);
    return NULL;
}

/* --- rows --- */

static size_t find_or_add_row(struct timeline *timeline, const char *key)
{
    size_t row = flow_find(&timeline->row_names, key);

    if (row != FLOW_NONE)
        return row;
    row = timeline->nrows;
    if (orr_array_add(timeline->rows, timeline->nrows) &&
        flow_set(&timeline->row_names, key, row) == 0)
        return row;
    flow_no_memory(timeline->flow);
    return FLOW_NONE;
}

size_t timeline_thread(struct timeline *timeline, const char *process, const char *thread)
{
    char *key;
    size_t row;

    if (orr_asprintf(&key, "%s\n%s", process, thread) < 0) {
        flow_no_memory(timeline->flow);
        return FLOW_NONE;
    }
    row = find_or_add_row(timeline, key);
    free(key);
    if (row == FLOW_NONE || timeline->rows[row].process)
        return row;
    timeline->rows[row].process = timeline_text(timeline, process);
    timeline->rows[row].thread = timeline_text(timeline, thread);
    return timeline->rows[row].process && timeline->rows[row].thread ? row : FLOW_NONE;
}

size_t timeline_queue(struct timeline *timeline, int64_t device, int64_t stream)
{
    char key[64];
    size_t row;

    snprintf(key, sizeof(key), "queue\n%" PRId64 "\n%" PRId64, device, stream);
    row = find_or_add_row(timeline, key);
    if (row == FLOW_NONE)
        return row;
    timeline->rows[row].queue = true;
    timeline->rows[row].device = device;
    timeline->rows[row].stream = stream;
    return row;
}

char *timeline_row_name(const struct timeline *timeline, size_t row)
{
    const struct timeline_row *r = &timeline->rows[row];
    char *name = NULL;
    int n;

    if (r->queue && !r->thread_name)
        n = orr_asprintf(&name, "GPU %" PRId64 " stream %" PRId64, r->device, r->stream);
    else if (r->thread_name && r->process_name)
        n = orr_asprintf(&name, "%s: %s", r->process_name, r->thread_name);
    else if (r->thread_name)
        n = orr_asprintf(&name, "%s", r->thread_name);
    else
        n = orr_asprintf(&name, "%s %s, thread %s",
                         r->process_name ? r->process_name : "process", r->process, r->thread);
    return n < 0 ? NULL : name;
}

int timeline_memory(struct timeline *timeline, int64_t device, double bytes)
{
    struct timeline_memory *memory = NULL;

    for (size_t m = 0; m < timeline->nmemories && !memory; m++)
        if (timeline->memories[m].device == device)
            memory = &timeline->memories[m];
    if (!memory)
        memory = orr_array_add(timeline->memories, timeline->nmemories);
    if (!memory)
        return flow_no_memory(timeline->flow);
    memory->device = device;
    memory->bytes = fmax(memory->bytes, bytes);
    return 0;
}

double timeline_most_memory(const struct timeline *timeline, int64_t device)
{
    for (size_t m = 0; m < timeline->nmemories; m++)
        if (timeline->memories[m].device == device)
            return timeline->memories[m].bytes;
    return 0;
}

/* --- slices --- */

/* What PyTorch's profiler calls a repetition. */
#define STEP "ProfilerStep#"

struct timeline_slice *timeline_add(struct timeline *timeline, enum slice_kind kind,
                                    size_t row, const char *name)
{
    const char *kept = timeline_text(timeline, name);
    struct timeline_slice *slice =
        kept ? orr_array_add(timeline->slices, timeline->nslices) : NULL;

    if (!slice) {
        flow_no_memory(timeline->flow);
        return NULL;
    }
    slice->kind = kind;
    slice->row = row;
    slice->name = kept;
    slice->parent = FLOW_NONE;
    slice->correlation = slice->operation = SLICE_NO_NUMBER;
    return slice;
}

/* By start; what is in another one comes behind it. */
static int slices_compare(const void *a, const void *b)
{
    const struct timeline_slice *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Per row the innermost slice that has not ended. */
static int find_parents(struct timeline *timeline)
{
    size_t *open = malloc((timeline->nrows + 1) * sizeof(*open));

    if (!open)
        return flow_no_memory(timeline->flow);
    for (size_t r = 0; r < timeline->nrows; r++)
        open[r] = FLOW_NONE;
    for (size_t s = 0; s < timeline->nslices; s++) {
        struct timeline_slice *slice = &timeline->slices[s];
        size_t *around = &open[slice->row];

        while (*around != FLOW_NONE && timeline->slices[*around].end <= slice->start &&
               timeline->slices[*around].start < slice->start)
            *around = timeline->slices[*around].parent;
        slice->parent = *around;
        *around = s;
    }
    free(open);
    return 0;
}

/* Clocks count from anywhere. */
static void shift_times(struct timeline *timeline)
{
    double first = (double)INFINITY;

    for (size_t s = 0; s < timeline->nslices; s++)
        first = fmin(first, timeline->slices[s].start);
    for (size_t s = 0; s < timeline->nslices; s++) {
        timeline->slices[s].start -= first;
        timeline->slices[s].end -= first;
    }
    for (size_t a = 0; a < timeline->narrows; a++)
        timeline->arrows[a].time -= first;
}

static int find_steps(struct timeline *timeline)
{
    for (size_t s = 0; s < timeline->nslices; s++) {
        size_t *place;

        if (timeline->slices[s].kind != SLICE_SPAN ||
            strncmp(timeline->slices[s].name, STEP, sizeof(STEP) - 1) != 0)
            continue;
        place = orr_array_add(timeline->steps, timeline->nsteps);
        if (!place)
            return flow_no_memory(timeline->flow);
        *place = s;
    }
    return 0;
}

int timeline_end(struct timeline *timeline)
{
    int rc;

    timeline->flow->line = 0;
    if (!timeline->nslices)
        return flow_wrong(timeline->flow, "there is no event in it that takes time");
    shift_times(timeline);
    qsort(timeline->slices, timeline->nslices, sizeof(*timeline->slices), slices_compare);
    rc = find_parents(timeline);
    return rc ? rc : find_steps(timeline);
}

bool timeline_has_devices(const struct timeline *timeline)
{
    for (size_t s = 0; s < timeline->nslices; s++)
        if (timeline->slices[s].kind >= SLICE_KERNEL)
            return true;
    return false;
}

int64_t timeline_iteration(const struct timeline *timeline, double us)
{
    size_t low = 0, high = timeline->nsteps;
    const struct timeline_slice *step;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (timeline->slices[timeline->steps[middle]].start <= us)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return -1;
    step = &timeline->slices[timeline->steps[low - 1]];
    return step->end < us ? -1 : strtol(step->name + sizeof(STEP) - 1, NULL, 10);
}

/* --- names --- */

/* FNV-1a. */
uint32_t timeline_hash(uint32_t hash, const char *text)
{
    hash ^= UINT32_C(2166136261);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT32_C(16777619);
    return hash;
}

char *timeline_short_name(const char *name)
{
    char *text = malloc(strlen(name) + 1), *to = text;
    int depth = 0;

    if (!text)
        return NULL;
    if (!strncmp(name, "void ", 5))
        name += 5;
    for (const char *at = name; *at; at++) {
        if (*at == '(' && !strncmp(at, "(anonymous namespace)", 21)) {
            at += 20;
            if (!strncmp(at + 1, "::", 2))
                at += 2;
            continue;
        }
        if (*at == '(' && depth == 0)
            break; /* its parameters */
        if (*at == '<')
            depth++;
        if (depth == 0)
            *to++ = *at;
        if (*at == '>' && depth > 0)
            depth--;
    }
    while (to > text && isspace((unsigned char)to[-1]))
        to--;
    *to = '\0';
    if (to == text) /* nothing but that */
        strcpy(text, name);
    return text;
}
