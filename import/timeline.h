/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/timeline.h - what ran where and when, as readers of timelines find it: slices in
 * rows, which are threads or queues of devices. timeline_device.c and timeline_threads.c
 * make tasks of that, timeline_csv.c a trace. One thread.
 */
#pragma once

#include "import/flow.h"

enum slice_kind {
    SLICE_WORK,   /* of a thread: an operator, a function */
    SLICE_TASK,   /* the same, of a file that says which slices are tasks */
    SLICE_SPAN,   /* an annotation: a name for what is inside */
    SLICE_CALL,   /* of a device's library: a launch, a wait */
    SLICE_KERNEL, /* of a device */
    SLICE_COPY,
};

enum copy_way { COPY_INSIDE, COPY_TO_DEVICE, COPY_FROM_DEVICE };

#define SLICE_NO_NUMBER (-1)

struct timeline_slice {
    enum slice_kind kind;
    enum copy_way way;
    const char *name;      /* the timeline's, as all names here */
    const char *field;     /* what --kinds asks for, or NULL */
    size_t row, parent;    /* parent: the slice of its row that it is in, or FLOW_NONE */
    double start, end;     /* µs */
    int64_t correlation;   /* of a call and of what it launched */
    int64_t operation;     /* the number of the operator, also of what it called */
    bool waits;            /* a call: for the device */
    bool has_shape;
    uint32_t shape;        /* a hash of what its time depends on */
    double bytes;          /* of a copy */
    int64_t
        peer; /* of a copy to a device: from the device peer - 1; 0: the host */
};

struct timeline_row {
    const char *process, *thread;           /* what tells them from others */
    const char *process_name, *thread_name; /* NULL: the file has none */
    bool queue; /* of a device; perhaps it has a thread_name */
    int64_t device, stream;
};

/* At least so many bytes were in use on the device. */
struct timeline_memory {
    int64_t device;
    double bytes;
};

/* What is queued in `row` behind the call with this correlation waits for what was in
 * `before` when the call `record` was made (SLICE_NO_NUMBER: when the former was). Without
 * `before` (FLOW_NONE) it is the call that waits, for `row` alone. */
struct timeline_wait {
    size_t row, before;
    int64_t correlation, record;
};

/* An arrow from one slice to another; ends are found by row and time. */
struct timeline_arrow {
    int64_t id;
    const char *category;
    size_t row;
    double time;
    bool begins;
    bool inside; /* its end is the slice around it, not the next one */
};

struct timeline {
    struct flow *flow; /* messages and notes are its */
    struct timeline_slice *slices;
    struct timeline_row *rows;
    struct timeline_wait *waits;
    struct timeline_arrow *arrows;
    struct timeline_memory *memories;
    size_t *steps; /* slices that are repetitions, by start; since timeline_end */
    size_t nslices, nrows, nwaits, narrows, nsteps, nmemories;
    struct flow_index row_names, text_numbers;
    char **texts; /* owned */
    size_t ntexts;
    const char *field; /* of the user's rules, borrowed; or NULL */
};

void timeline_init(struct timeline *timeline, struct flow *flow);
void timeline_done(struct timeline *timeline);

/* The text, kept once; NULL without memory, with a message. */
const char *timeline_text(struct timeline *timeline, const char *text);

/* The row of that thread, and of that queue; FLOW_NONE without memory, with a message. */
size_t timeline_thread(struct timeline *timeline, const char *process, const char *thread);
size_t timeline_queue(struct timeline *timeline, int64_t device, int64_t stream);

/* A slice more of that name; NULL without memory, with a message. */
struct timeline_slice *timeline_add(struct timeline *timeline, enum slice_kind kind,
                                    size_t row, const char *name);

/* The device had so many bytes in use. Errors, with a message: -ENOMEM. */
int timeline_memory(struct timeline *timeline, int64_t device, double bytes);

/* The most that was in use, 0: not known. */
double timeline_most_memory(const struct timeline *timeline, int64_t device);

/* All is there: times count from the first start; sorts slices by their starts, longer ones first, and finds what they are
 * in. Errors, with a message: -EINVAL: there are none; -ENOMEM. */
int timeline_end(struct timeline *timeline);

/* Adds to a hash; begin with 0. */
uint32_t timeline_hash(uint32_t hash, const char *text);

/* "void at::native::kernel<4, float>(int, float*)" becomes "at::native::kernel"; owned,
 * NULL without memory. */
char *timeline_short_name(const char *name);

/* Whether something ran on a device. */
bool timeline_has_devices(const struct timeline *timeline);

/* "GPU 0 stream 7", "python 4711, thread 4712": NULL without memory. Owned. */
char *timeline_row_name(const struct timeline *timeline, size_t row);

/* --- tasks: timeline_device.c, timeline_threads.c --- */

/* Kernels and copies of devices, and what launches them, on the device of the same number or,
 * with `any_device`, on those that the policy chooses. Errors, with a message. */
int timeline_device_tasks(struct timeline *timeline, bool any_device);

/* Slices of threads, where no device is. Errors, with a message. */
int timeline_thread_tasks(struct timeline *timeline);

/* The number of the repetition at that time, as annotations such as ProfilerStep#3 have
 * it; -1: none. */
int64_t timeline_iteration(const struct timeline *timeline, double us);

/* --- readers --- */

/* Trace events in JSON: chrome.c. `text` has a 0 behind it; `cut`: it is known to be a part
 * of the file. Errors, with a message. */
int timeline_read_events(struct timeline *timeline, const char *text, size_t size, bool cut);

/* A trace in Paje's format: paje.c. Errors, with a message. */
int timeline_read_paje(struct timeline *timeline, FILE *file);

/* tasks.rec and trace.rec of StarPU's trace tools: rec_timeline.c. Errors, with a message. */
int timeline_read_rec(struct timeline *timeline, const char *path);

/* Whether a file that begins so is in that format. */
bool timeline_begins_paje(const char *text);
bool timeline_begins_trace_rec(const char *text);

/* The file, whatever format of timelines it has: timelines.c. Errors, with a message. */
int timeline_read(struct timeline *timeline, const char *path);

/* --- a trace in CSV (docs/TRACES.md): timeline_csv.c --- */
int timeline_write_csv(const struct timeline *timeline, FILE *out);
