/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/chrome.c - trace events in JSON: those of Chrome and Perfetto, of PyTorch's profiler
 * (Kineto), and our own. Slices are X, or B and E; M names rows, s, t and f are arrows. Times
 * are µs. A value of another type than the format has there is refused with the event's
 * number; null counts as nothing.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "import/json_events.h"
#include "import/json_words.h"
#include "import/timeline.h"

struct opened {
    size_t row, slice;
};

struct process_name {
    const char *process, *name; /* the timeline's */
};

struct chrome {
    struct timeline *timeline;
    struct flow *flow;
    struct json_events events;
    struct opened *open; /* B without their E */
    struct process_name *processes;
    size_t nopen, nprocesses;
    double last; /* µs: of the latest event */
};

/* --- values --- */

static int wrong_type(const struct chrome *c, const json_t *value, const char *name,
                      enum wanted wanted)
{
    return flow_wrong(c->flow, "event %zu: %s is %s, not %s", c->events.n, name,
                      json_type_word(value), json_wanted_word(wanted));
}

/* The member of that name in *ret, NULL without. */
static int get(const struct chrome *c, const json_t *object, const char *name,
               enum wanted wanted, const json_t **ret)
{
    const json_t *value = json_object_get(object, name);

    *ret = value && !json_is_null(value) ? value : NULL;
    return *ret && !json_is_wanted(*ret, wanted) ? wrong_type(c, *ret, name, wanted) : 0;
}

static int get_text(const struct chrome *c, const json_t *object, const char *name,
                    const char **ret)
{
    const json_t *value;
    int rc = get(c, object, name, TEXT, &value);

    *ret = rc || !value ? "" : json_string_value(value);
    return rc;
}

/* *ret is left alone where there is none. */
static int get_number(const struct chrome *c, const json_t *object, const char *name, double *ret)
{
    const json_t *value;
    int rc = get(c, object, name, NUMBER, &value);

    if (!rc && value)
        *ret = json_number_value(value);
    return rc;
}

/* A whole number, which some write as text; `none` where there is neither. */
static int64_t whole_number(const json_t *object, const char *name, int64_t none)
{
    const json_t *value = json_object_get(object, name);
    char *end;
    long long number;

    if (json_is_integer(value))
        return json_integer_value(value);
    if (json_is_real(value) && fabs(json_real_value(value)) < 9e15)
        return (int64_t)json_real_value(value);
    if (!json_is_string(value) || !*json_string_value(value))
        return none;
    number = strtoll(json_string_value(value), &end, 10);
    return *end ? none : number;
}

/* pid and tid are numbers or texts. */
static void id_text(const json_t *event, const char *name, char *ret, size_t size)
{
    const json_t *value = json_object_get(event, name);

    if (json_is_string(value))
        snprintf(ret, size, "%s", json_string_value(value));
    else if (json_is_number(value))
        orr_snprintf(ret, size, "%.0f", json_number_value(value));
    else
        *ret = '\0';
}

static size_t row_of_thread(struct chrome *c, const json_t *event)
{
    char process[128], thread[128];

    id_text(event, "pid", process, sizeof(process));
    id_text(event, "tid", thread, sizeof(thread));
    return timeline_thread(c->timeline, process, thread);
}

static size_t row_of_queue(struct chrome *c, const json_t *event, const json_t *args)
{
    int64_t device = whole_number(args, "device", whole_number(event, "pid", 0));
    int64_t stream = whole_number(args, "stream", whole_number(event, "tid", 0));

    return timeline_queue(c->timeline, device, stream);
}

/* --- sorts of slices --- */

static const struct category {
    const char *name;
    enum slice_kind kind;
} categories[] = {
    {"kernel", SLICE_KERNEL},       {"Kernel", SLICE_KERNEL},
    {"gpu_memset", SLICE_KERNEL},   {"Memset", SLICE_KERNEL},
    {"gpu_memcpy", SLICE_COPY},     {"Memcpy", SLICE_COPY},
    {"cuda_runtime", SLICE_CALL},   {"Runtime", SLICE_CALL},
    {"cuda_driver", SLICE_CALL},    {"hip_runtime", SLICE_CALL},
    {"user_annotation", SLICE_SPAN},
    {"task", SLICE_TASK},
};

/* Repeat what others say, or are the profiler's own. */
static const char *const left_out[] = {"python_function", "gpu_user_annotation", "Trace",
                                       "overhead", "cuda_profiler_range", "state"};

/* Whether the slice counts; what it is. */
static bool kind_of_category(const char *category, enum slice_kind *ret)
{
    *ret = SLICE_WORK;
    for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
        if (!strcmp(category, left_out[i]))
            return false;
    for (size_t i = 0; i < sizeof(categories) / sizeof(*categories); i++)
        if (!strcmp(category, categories[i].name))
            *ret = categories[i].kind;
    return true;
}

static enum copy_way way_of_copy(const char *name)
{
    if (strstr(name, "HtoD") || strstr(name, "HostToDevice"))
        return COPY_TO_DEVICE;
    if (strstr(name, "DtoH") || strstr(name, "DeviceToHost"))
        return COPY_FROM_DEVICE;
    return COPY_INSIDE;
}

static bool call_waits(const char *name)
{
    return strstr(name, "Synchronize") || !strcmp(name, "cudaMemcpy") ||
           !strcmp(name, "hipMemcpy");
}

/* --- slices --- */

/* What a kernel's time depends on, as far as the event says. */
static int hash_shape(const struct chrome *c, const json_t *args, struct timeline_slice *slice)
{
    static const char *const shapes[] = {"grid", "block", "Input Dims", "Input type"};

    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        const json_t *value = json_object_get(args, shapes[i]);
        char *text;

        if (!value || (json_is_array(value) && !json_array_size(value)))
            continue;
        text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        if (!text)
            return flow_no_memory(c->flow);
        slice->shape = timeline_hash(slice->shape, text);
        slice->has_shape = true;
        free(text);
    }
    return 0;
}

/* What tasks of ours say. */
static void take_footprint(const json_t *args, struct timeline_slice *slice)
{
    const json_t *footprint = json_object_get(args, "footprint");

    if (!json_is_string(footprint))
        return;
    slice->shape = (uint32_t)strtoul(json_string_value(footprint), NULL, 16);
    slice->has_shape = true;
}

/* What --kinds asks for, of the event or its args. */
static int take_field(const struct chrome *c, const json_t *event, const json_t *args,
                      struct timeline_slice *slice)
{
    const char *field = c->timeline->field;
    const json_t *value = field ? json_object_get(args, field) : NULL;
    char number[32];

    if (field && !value)
        value = json_object_get(event, field);
    if (json_is_string(value))
        slice->field = timeline_text(c->timeline, json_string_value(value));
    else if (json_is_number(value)) {
        orr_snprintf(number, sizeof(number), "%.15g", json_number_value(value));
        slice->field = timeline_text(c->timeline, number);
    } else {
        return 0;
    }
    return slice->field ? 0 : -ENOMEM; /* with a message */
}

static int get_args(const struct chrome *c, const json_t *event, const json_t **ret)
{
    return get(c, event, "args", OBJECT, ret);
}

static int fill_slice(struct chrome *c, const json_t *event, const json_t *args,
                      struct timeline_slice *slice)
{
    int rc;

    slice->correlation = whole_number(args, "correlation", SLICE_NO_NUMBER);
    slice->operation = whole_number(args, "External id",
                                    whole_number(args, "external id", SLICE_NO_NUMBER));
    slice->way = slice->kind == SLICE_COPY ? way_of_copy(slice->name) : COPY_INSIDE;
    slice->waits = slice->kind == SLICE_CALL && call_waits(slice->name);
    take_footprint(args, slice);
    rc = get_number(c, args, "bytes", &slice->bytes);
    if (!rc && (slice->bytes < 0 || slice->bytes >= 1e18))
        rc = flow_wrong(c->flow, "event %zu: %g bytes", c->events.n, slice->bytes);
    if (!rc)
        rc = hash_shape(c, args, slice);
    return rc ? rc : take_field(c, event, args, slice);
}

static int get_time(struct chrome *c, const json_t *event, double *ret)
{
    int rc;

    *ret = (double)NAN;
    rc = get_number(c, event, "ts", ret);
    if (!rc && !(fabs(*ret) < 1e18))
        rc = flow_wrong(c->flow, "event %zu has no time, \"ts\"", c->events.n);
    if (!rc && *ret > c->last)
        c->last = *ret;
    return rc;
}

/* X or B. */
static int read_slice(struct chrome *c, const json_t *event, bool is_whole)
{
    enum slice_kind kind;
    const char *name, *category;
    const json_t *args = NULL;
    struct timeline_slice *slice;
    struct opened *opened;
    double start, length = 0;
    size_t row;
    int rc = get_text(c, event, "name", &name);

    if (!rc)
        rc = get_text(c, event, "cat", &category);
    if (!rc)
        rc = get_args(c, event, &args);
    if (!rc)
        rc = get_time(c, event, &start);
    if (!rc)
        rc = get_number(c, event, "dur", &length);
    if (!rc && !(length >= 0 && length < 1e18))
        rc = flow_wrong(c->flow, "event %zu takes %g µs", c->events.n, length);
    if (rc || (!kind_of_category(category, &kind) && is_whole))
        return rc;
    if (!is_whole && kind >= SLICE_KERNEL) /* its end would name no queue */
        kind = SLICE_WORK;
    row = kind >= SLICE_KERNEL ? row_of_queue(c, event, args) : row_of_thread(c, event);
    slice = row == FLOW_NONE ? NULL : timeline_add(c->timeline, kind, row, name);
    if (!slice)
        return -ENOMEM; /* with a message */
    slice->start = start;
    slice->end = start + length;
    if (slice->end > c->last)
        c->last = slice->end;
    if (!is_whole) {
        opened = orr_array_add(c->open, c->nopen);
        if (!opened)
            return flow_no_memory(c->flow);
        *opened = (struct opened){row, c->timeline->nslices - 1};
    }
    return fill_slice(c, event, args, slice);
}

/* E: of the last B in its row. What has none is ignored, as viewers do. */
static int end_slice(struct chrome *c, const json_t *event)
{
    double time;
    size_t row;
    int rc = get_time(c, event, &time);

    if (rc)
        return rc;
    row = row_of_thread(c, event);
    if (row == FLOW_NONE)
        return -ENOMEM; /* with a message */
    for (size_t o = c->nopen; o-- > 0;) {
        struct timeline_slice *slice = &c->timeline->slices[c->open[o].slice];

        if (c->open[o].row != row)
            continue;
        slice->end = fmax(slice->start, time);
        memmove(&c->open[o], &c->open[o + 1], (--c->nopen - o) * sizeof(*c->open));
        break;
    }
    return 0;
}

/* --- names of rows, arrows, waits, memory --- */

static int read_name(struct chrome *c, const json_t *event)
{
    const json_t *args;
    const char *what, *name;
    struct process_name *process;
    size_t row;
    int rc = get_text(c, event, "name", &what);
    bool of_process = !rc && !strcmp(what, "process_name");

    if (rc || (!of_process && strcmp(what, "thread_name") != 0))
        return rc;
    rc = get_args(c, event, &args);
    if (!rc)
        rc = get_text(c, args, "name", &name);
    if (rc)
        return rc;
    name = timeline_text(c->timeline, name);
    row = name ? row_of_thread(c, event) : FLOW_NONE;
    if (row == FLOW_NONE)
        return -ENOMEM; /* with a message */
    if (!of_process) {
        c->timeline->rows[row].thread_name = name;
        return 0;
    }
    process = orr_array_add(c->processes, c->nprocesses);
    if (!process)
        return flow_no_memory(c->flow);
    *process = (struct process_name){c->timeline->rows[row].process, name};
    return 0;
}

static int read_arrow(struct chrome *c, const json_t *event, char phase)
{
    struct timeline_arrow *arrow;
    const json_t *id = json_object_get(event, "id");
    const char *category, *binding;
    double time;
    int rc = get_time(c, event, &time);

    if (!rc)
        rc = get_text(c, event, "cat", &category);
    if (!rc)
        rc = get_text(c, event, "bp", &binding);
    if (rc)
        return rc;
    category = timeline_text(c->timeline, category);
    arrow = category ? orr_array_add(c->timeline->arrows, c->timeline->narrows) : NULL;
    if (!arrow)
        return flow_no_memory(c->flow);
    arrow->id = json_is_string(id) ? timeline_hash(0, json_string_value(id))
                                   : whole_number(event, "id", 0);
    arrow->category = category;
    arrow->time = time;
    arrow->begins = phase == 's';
    arrow->inside = phase != 'f' || !strcmp(binding, "e");
    arrow->row = row_of_thread(c, event);
    return arrow->row == FLOW_NONE ? -ENOMEM : 0;
}

/* Kineto's "cuda_sync": what a call, or a queue, waited for. */
static int read_wait(struct chrome *c, const json_t *event)
{
    const json_t *args;
    struct timeline_wait wait = {0};
    struct timeline_wait *added;
    const char *name;
    int64_t device, stream, other;
    int rc = get_args(c, event, &args);

    if (!rc)
        rc = get_text(c, event, "name", &name);
    if (rc)
        return rc;
    device = whole_number(args, "device", 0);
    stream = whole_number(args, "stream", SLICE_NO_NUMBER);
    other = whole_number(args, "wait_on_stream", SLICE_NO_NUMBER);
    wait.correlation = whole_number(args, "correlation", SLICE_NO_NUMBER);
    wait.record = whole_number(args, "wait_on_cuda_event_record_corr_id", SLICE_NO_NUMBER);
    if (strcmp(name, "Stream Wait Event") != 0) {
        if (strcmp(name, "Event Sync") == 0)
            stream = other;
        other = SLICE_NO_NUMBER;
    } else if (other < 0) {
        return 0;
    }
    if (stream < 0 || stream >= UINT32_MAX || wait.correlation < 0)
        return 0; /* for all of the device */
    wait.row = timeline_queue(c->timeline, device, stream);
    wait.before = other < 0 ? FLOW_NONE : timeline_queue(c->timeline, device, other);
    if (wait.row == FLOW_NONE || (other >= 0 && wait.before == FLOW_NONE))
        return -ENOMEM; /* with a message */
    added = orr_array_add(c->timeline->waits, c->timeline->nwaits);
    if (!added)
        return flow_no_memory(c->flow);
    *added = wait;
    return 0;
}

/* PyTorch's allocator: how much of a device is in use. */
static int read_memory(struct chrome *c, const json_t *event)
{
    const json_t *args;
    double bytes = 0;
    int rc = get_args(c, event, &args);

    if (!rc)
        rc = get_number(c, args, "Total Allocated", &bytes);
    if (rc || whole_number(args, "Device Type", 0) == 0)
        return rc;
    return timeline_memory(c->timeline, whole_number(args, "Device Id", 0), bytes);
}

/* --- all of it --- */

static int read_event(struct chrome *c, const json_t *event)
{
    const char *phase, *category, *name;
    int rc = get_text(c, event, "ph", &phase);

    if (!rc)
        rc = get_text(c, event, "cat", &category);
    if (!rc && !strcmp(category, "cuda_sync"))
        return read_wait(c, event);
    if (rc)
        return rc;
    switch (*phase) {
    case 'X':
    case 'B':
        return read_slice(c, event, *phase == 'X');
    case 'E':
        return end_slice(c, event);
    case 'M':
        return read_name(c, event);
    case 's':
    case 't':
    case 'f':
        return read_arrow(c, event, *phase);
    case 'i':
        rc = get_text(c, event, "name", &name);
        return rc || strcmp(name, "[memory]") != 0 ? rc : read_memory(c, event);
    default: /* counters, marks, what is not synchronous */
        return 0;
    }
}

/* What was open when the program ended, ends with the file. */
static int end_open_slices(struct chrome *c)
{
    for (size_t o = 0; o < c->nopen; o++)
        c->timeline->slices[c->open[o].slice].end = c->last;
    if (c->nopen && flow_note(c->flow, "%zu slices have no end: that of the file", c->nopen))
        return flow_no_memory(c->flow);
    return 0;
}

static void name_processes(struct chrome *c)
{
    for (size_t p = 0; p < c->nprocesses; p++)
        for (size_t r = 0; r < c->timeline->nrows; r++)
            if (c->timeline->rows[r].process == c->processes[p].process)
                c->timeline->rows[r].process_name = c->processes[p].name;
}

int timeline_read_events(struct timeline *timeline, const char *text, size_t size, bool cut)
{
    struct chrome c = {.timeline = timeline, .flow = timeline->flow, .last = -1e18};
    json_t *event;
    int rc = json_events_begin(&c.events, timeline->flow, text, size);

    while (!rc && (rc = json_events_next(&c.events, &event)) > 0) {
        rc = read_event(&c, event);
        json_decref(event);
    }
    if (!rc && (cut || c.events.is_cut) &&
        flow_note(timeline->flow, "the file ends behind event %zu, in the middle of its list: "
                                  "what comes before that is used",
                  c.events.n))
        rc = flow_no_memory(timeline->flow);
    if (!rc)
        rc = end_open_slices(&c);
    name_processes(&c);
    free(c.open);
    free(c.processes);
    return rc;
}
