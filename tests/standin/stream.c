/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/stream.c - see private.h: streams, each a thread with a queue, and
 * events. An event is what was last recorded in it: who waits has a reference to
 * that record, and a later one does not concern him.
 */
#include "private.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/race.h"

/* -- failures -- */

/* What has failed in a stream, until somebody is told: who is called back there,
 * or in a stream that waits for an event behind it. */
struct fate {
    atomic_uint references;
    atomic_int code;
};

static struct fate *fate_new(void)
{
    struct fate *fate = calloc(1, sizeof(*fate));

    if (fate)
        atomic_init(&fate->references, 1);
    return fate;
}

static struct fate *fate_ref(struct fate *fate)
{
    atomic_fetch_add(&fate->references, 1);
    return fate;
}

static void fate_unref(struct fate *fate)
{
    if (atomic_fetch_sub(&fate->references, 1) == 1)
        free(fate);
}

/* -- records -- */

struct record {
    atomic_uint references;
    struct fate *fate; /* of the stream where it is made; a reference */
    pthread_mutex_t lock;
    struct bell changed;
    bool made;    /* [lock] */
    int code;     /* [lock] what had failed by then */
    double at_us; /* [lock] when */
};

static struct record *record_new(struct fate *fate)
{
    struct record *record = calloc(1, sizeof(*record));

    if (!record)
        return NULL;
    atomic_init(&record->references, 1);
    record->fate = fate_ref(fate);
    pthread_mutex_init(&record->lock, NULL);
    bell_init(&record->changed);
    return record;
}

static struct record *record_ref(struct record *record)
{
    if (record)
        atomic_fetch_add(&record->references, 1);
    return record;
}

static void record_unref(struct record *record)
{
    if (!record || atomic_fetch_sub(&record->references, 1) > 1)
        return;
    pthread_mutex_destroy(&record->lock);
    bell_done(&record->changed);
    fate_unref(record->fate);
    free(record);
}

static void record_make(struct record *record)
{
    pthread_mutex_lock(&record->lock);
    record->made = true;
    record->code = atomic_load(&record->fate->code);
    record->at_us = clock_now_us();
    bell_ring(&record->changed);
    pthread_mutex_unlock(&record->lock);
}

/* What had failed before it. */
static int record_await(struct record *record)
{
    int code;

    pthread_mutex_lock(&record->lock);
    while (!record->made)
        bell_wait(&record->changed, &record->lock);
    code = record->code;
    pthread_mutex_unlock(&record->lock);
    return code;
}

/* -- operations -- */

enum verb { COPY, FILL, KERNEL, CALLBACK, RECORD, WAIT };

struct op {
    struct op *next;
    enum verb verb;
    struct copy copy;
    unsigned char value;
    union {
        void (*kernel)(void *);
        void (*callback)(void *, int, void *);
    } call;
    void *arg;
    struct record *record; /* a reference */
};

struct stream {
    struct stream *next; /* [device's lock] */
    struct device *device;
    bool blocking; /* towards the default stream */
    bool has_kernels; /* [who puts them there] */
    atomic_bool has_copies;
    uint64_t random;
    double reached_us; /* [runner] when the device came to where the stream is */
    struct fate *fate; /* a reference */
    struct runner runner;
    pthread_mutex_t lock;
    struct bell changed;
    struct op *first, *last; /* [lock] */
    bool stop;               /* [lock] */
};

/* On a clock of the program's. A kernel's function runs in the middle of it. */
static double length_us(const struct op *op)
{
    const struct options *options = &gpus.options;
    const struct copy *copy = &op->copy;
    size_t bytes = copy->width * copy->height * copy->depth;

    if (op->verb == KERNEL)
        return options->kernel_us;
    if (op->verb != COPY)
        return 0;
    return options->copy_us +
           (options->bandwidth ? (double)bytes / options->bandwidth : 0);
}

static char *at(struct device *device, uintptr_t address)
{
    return device ? device->open + (address - (uintptr_t)device->closed)
                  : (char *)address;
}

static void do_copy(const struct copy *copy, size_t width)
{
    char *dst = at(copy->dst_device, copy->dst);
    const char *src = at(copy->src_device, copy->src);

    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            orr_race_copy(dst + z * copy->dst_slice + y * copy->dst_pitch,
                          src + z * copy->src_slice + y * copy->src_pitch,
                          width);
}

/* This thread is a callback's: it may not call the vendor. */
_Thread_local bool in_callback;

static void do_callback(struct stream *stream, const struct op *op)
{
    int broken, code;

    /* Several may be on their way to the host at once. */
    if (gpus.options.latency_us)
        clock_wait(stream->reached_us + gpus.options.latency_us);
    broken = __atomic_load_n(&stream->device->broken, __ATOMIC_RELAXED);
    code = atomic_exchange(&stream->fate->code, OK);
    if (broken)
        code = broken;
    in_callback = true;
    op->call.callback(stream, code, op->arg);
    in_callback = false;
}

/* Bytes and kernels; nothing of it happens on a device that is broken. */
static void do_work(struct stream *stream, const struct op *op)
{
    struct device *device = stream->device;

    if (gpus_fault(FAULT_LOST))
        __atomic_store_n(&device->broken, LAUNCH_FAILED, __ATOMIC_RELAXED);
    if (__atomic_load_n(&device->broken, __ATOMIC_RELAXED))
        return;
    if (op->verb == COPY) {
        bool fails = gpus_fault(FAULT_COPY);

        if (op->copy.src_device && op->copy.dst_device &&
            op->copy.src_device != op->copy.dst_device)
            fails |= gpus_fault(FAULT_PEER);
        do_copy(&op->copy, fails ? op->copy.width / 2 : op->copy.width);
        if (fails)
            atomic_store(&stream->fate->code, UNKNOWN);
    } else if (op->verb == FILL) {
        memset(at(device, op->copy.dst), op->value, op->copy.width);
    } else if (gpus_fault(FAULT_KERNEL)) {
        atomic_store(&stream->fate->code, UNKNOWN);
    } else {
        op->call.kernel(op->arg);
    }
}

static void await(struct stream *stream, struct record *record)
{
    int code = record_await(record);

    if (record->at_us > stream->reached_us)
        stream->reached_us = record->at_us;
    if (!code)
        return;
    atomic_store(&record->fate->code, OK); /* it is told here */
    atomic_store(&stream->fate->code, code);
}

static void perform(struct stream *stream, const struct op *op)
{
    switch (op->verb) {
    case COPY:
    case FILL:
    case KERNEL:
        do_work(stream, op);
        break;
    case CALLBACK:
        do_callback(stream, op);
        break;
    case RECORD:
        record_make(op->record);
        break;
    case WAIT:
        await(stream, op->record);
        break;
    }
    if (op->verb != CALLBACK && op->verb != WAIT)
        stream->reached_us = clock_now_us();
    record_unref(op->record);
}

static struct op *take(struct stream *stream)
{
    struct op *op;

    pthread_mutex_lock(&stream->lock);
    while (!stream->first && !stream->stop)
        bell_wait(&stream->changed, &stream->lock);
    op = stream->first;
    if (op)
        stream->first = op->next;
    if (!stream->first)
        stream->last = NULL;
    pthread_mutex_unlock(&stream->lock);
    return op;
}

static void serve(void *arg)
{
    struct stream *stream = arg;
    struct op *op;

    while ((op = take(stream))) {
        double takes = length_us(op);
        bool kernel = op->verb == KERNEL;

        clock_hold(&stream->random, kernel ? takes / 2 : takes);
        perform(stream, op);
        free(op);
        if (kernel)
            clock_hold(&stream->random, takes / 2);
    }
}

/* -- streams -- */

int stream_create(struct device *device, bool blocking, struct stream **ret)
{
    struct stream *stream = calloc(1, sizeof(*stream));
    struct fate *fate = fate_new();

    if (!stream || !fate) {
        free(stream);
        free(fate);
        return OUT_OF_MEMORY;
    }
    stream->fate = fate;
    stream->device = device;
    stream->blocking = blocking;
    stream->random = clock_seed();
    pthread_mutex_init(&stream->lock, NULL);
    bell_init(&stream->changed);
    if (runner_start(&stream->runner, serve, stream) != 0) {
        free(stream);
        free(fate);
        return OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&device->lock);
    stream->next = device->streams;
    device->streams = stream;
    pthread_mutex_unlock(&device->lock);
    *ret = stream;
    return OK;
}

/* What is in it is done before. */
int stream_destroy(struct stream *stream)
{
    struct device *device = stream->device;
    struct stream **link;

    pthread_mutex_lock(&device->lock);
    for (link = &device->streams; *link != stream;)
        link = &(*link)->next;
    *link = stream->next;
    pthread_mutex_unlock(&device->lock);
    pthread_mutex_lock(&stream->lock);
    stream->stop = true;
    bell_ring(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    runner_join(&stream->runner);
    pthread_mutex_destroy(&stream->lock);
    bell_done(&stream->changed);
    fate_unref(stream->fate);
    free(stream);
    return OK;
}

static int put(struct stream *stream, const struct op *op)
{
    struct op *mine;

    if (gpus.options.now) {
        perform(stream, op);
        return OK;
    }
    mine = malloc(sizeof(*mine));
    if (!mine)
        return OUT_OF_MEMORY;
    *mine = *op;
    mine->next = NULL;
    pthread_mutex_lock(&stream->lock);
    if (stream->last)
        stream->last->next = mine;
    else
        stream->first = mine;
    stream->last = mine;
    bell_ring(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return OK;
}

/* `later` goes on when all that is in `earlier` now is done. */
static int order(struct stream *earlier, struct stream *later)
{
    struct record *record = record_new(earlier->fate);
    int code;

    if (!record)
        return OUT_OF_MEMORY;
    code = put(earlier,
               &(struct op){.verb = RECORD, .record = record_ref(record)});
    if (code == OK)
        code = put(later,
                   &(struct op){.verb = WAIT, .record = record_ref(record)});
    record_unref(record);
    return code;
}

/* The default stream and those that are not told to ignore it wait for each
 * other. */
static int order_default(struct stream *stream)
{
    struct device *device = stream->device;
    int code = OK;

    pthread_mutex_lock(&device->lock);
    if (stream != device->standard && stream->blocking && device->standard)
        code = order(device->standard, stream);
    for (struct stream *s = device->streams; s && stream == device->standard;
         s = s->next)
        if (s->blocking && s != stream && code == OK)
            code = order(s, stream);
    pthread_mutex_unlock(&device->lock);
    return code;
}

static int put_work(struct stream *stream, const struct op *op)
{
    int code = order_default(stream);

    return code ? code : put(stream, op);
}

int stream_of(void *handle, struct stream **ret)
{
    struct device *device;
    int code = current_get(&device);

    if (code)
        return code;
    *ret = handle;
    if (handle)
        return (*ret)->device == device ? OK : INVALID_HANDLE;
    pthread_mutex_lock(&device->lock);
    *ret = device->standard;
    pthread_mutex_unlock(&device->lock);
    if (*ret)
        return OK;
    code = stream_create(device, false, ret);
    pthread_mutex_lock(&device->lock);
    device->standard = *ret;
    pthread_mutex_unlock(&device->lock);
    return code;
}

static int broken(const struct stream *stream)
{
    return __atomic_load_n(&stream->device->broken, __ATOMIC_RELAXED);
}

int put_copy(struct stream *stream, const struct copy *copy)
{
    atomic_store_explicit(&stream->has_copies, true, memory_order_relaxed);
    return put_work(stream, &(struct op){.verb = COPY, .copy = *copy});
}

int put_fill(struct stream *stream, uintptr_t dst, unsigned char value,
             size_t size)
{
    return put_work(stream, &(struct op){.verb = FILL,
                                         .copy = {.dst = dst, .width = size},
                                         .value = value});
}

int put_kernel(struct stream *stream, void (*function)(void *), void *arg)
{
    if (broken(stream))
        return broken(stream);
    if (gpus_fault(FAULT_LAUNCH))
        return LAUNCH_REFUSED;
    stream->has_kernels = true;
    return put_work(
        stream,
        &(struct op){.verb = KERNEL, .call.kernel = function, .arg = arg});
}

int put_callback(struct stream *stream, void (*function)(void *, int, void *),
                 void *arg)
{
    if (broken(stream))
        return broken(stream);
    return put_work(
        stream,
        &(struct op){.verb = CALLBACK, .call.callback = function, .arg = arg});
}

int put_record(struct stream *stream, struct event *event)
{
    struct record *record, *before;
    int code;

    if (broken(stream))
        return broken(stream);
    if (event->device != stream->device)
        return INVALID_HANDLE;
    record = record_new(stream->fate);
    if (!record)
        return OUT_OF_MEMORY;
    pthread_mutex_lock(&event->lock);
    before = event->last;
    event->last = record_ref(record);
    code = put_work(stream, &(struct op){.verb = RECORD, .record = record});
    pthread_mutex_unlock(&event->lock);
    record_unref(before);
    return code;
}

/* An event that was never recorded is passed by. */
int put_wait(struct stream *stream, struct event *event)
{
    struct record *record;

    if (broken(stream))
        return broken(stream);
    pthread_mutex_lock(&event->lock);
    record = record_ref(event->last);
    pthread_mutex_unlock(&event->lock);
    if (!record)
        return OK;
    if ((stream->has_kernels && gpus_fault(FAULT_WAIT)) ||
        (atomic_load_explicit(&stream->has_copies, memory_order_relaxed) &&
         gpus_fault(FAULT_COPY_WAIT))) {
        record_unref(record);
        return OK;
    }
    return put_work(stream, &(struct op){.verb = WAIT, .record = record});
}

/* What a callback would be told the caller is told. */
int stream_synchronize(struct stream *stream)
{
    struct record *record = record_new(stream->fate);
    int code;

    if (!record)
        return OUT_OF_MEMORY;
    code = put_work(stream,
                    &(struct op){.verb = RECORD, .record = record_ref(record)});
    if (code == OK) {
        code = record_await(record);
        if (code)
            atomic_store(&record->fate->code, OK);
        if (broken(stream))
            code = broken(stream);
    }
    record_unref(record);
    return code;
}

void device_synchronize(struct device *device)
{
    struct record *records[64];
    unsigned n = 0;

    pthread_mutex_lock(&device->lock);
    for (struct stream *s = device->streams; s && n < 64; s = s->next) {
        records[n] = record_new(s->fate);
        if (records[n] &&
            put(s, &(struct op){.verb = RECORD,
                                .record = record_ref(records[n])}) == OK)
            n++;
    }
    pthread_mutex_unlock(&device->lock);
    while (n-- > 0) {
        (void)record_await(records[n]);
        record_unref(records[n]);
    }
}

/* -- events -- */

int event_create(bool timed, struct event **ret)
{
    struct device *device;
    int code = current_get(&device);
    struct event *event = calloc(1, sizeof(*event));

    if (code || !event) {
        free(event);
        return code ? code : OUT_OF_MEMORY;
    }
    event->device = device;
    event->timed = timed;
    pthread_mutex_init(&event->lock, NULL);
    *ret = event;
    return OK;
}

int event_destroy(struct event *event)
{
    record_unref(event->last);
    pthread_mutex_destroy(&event->lock);
    free(event);
    return OK;
}

static int time_of(struct event *event, double *ret)
{
    struct record *record;
    int code = INVALID_HANDLE;

    pthread_mutex_lock(&event->lock);
    record = record_ref(event->last);
    pthread_mutex_unlock(&event->lock);
    if (record && event->timed) {
        pthread_mutex_lock(&record->lock);
        code = record->made ? OK : NOT_READY;
        *ret = record->at_us;
        pthread_mutex_unlock(&record->lock);
    }
    record_unref(record);
    return code;
}

int event_elapsed(float *ret_ms, struct event *from, struct event *to)
{
    double begin = 0, end = 0;
    int code = time_of(from, &begin);

    if (!code)
        code = time_of(to, &end);
    if (!code)
        *ret_ms = (float)((end - begin) / 1e3);
    return code;
}
