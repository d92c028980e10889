/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/gpu/gpu.h - the driver of GPUs, for vendors whose libraries agree:
 * CUDA's driver interface and HIP. A folder per vendor (cuda/, hip/) has a table
 * with its names and with what differs. Nothing of a vendor's is needed to build
 * it: its library is opened when a machine is, if there is one.
 *
 *   api.h, api.c   the library: entry points, codes
 *   find.c         which devices there are, which are used
 *   driver.c       the table of operations; opening and closing
 *   memory.c       memory of devices, pinned memory of the host
 *   queue.c        queues: ends that are posted, events, waits
 *   kernel.c       kernels
 *   bytes.c        copies
 *
 * Each device has its primary context, which is also that of the vendor's runtime
 * library in the application: cudaStream_t, pointers and the current device mean
 * the same on both sides. It has a memory node, a stream for each direction of
 * copies, and one or several workers with a stream each. None of them waits for
 * the vendor's default stream.
 *
 * Vendors' calls may come from any thread. What they call, on threads of their
 * own, only posts.
 */
#pragma once

#include <pthread.h>

#include "core/device/gpu/api.h"
#include "core/device/open.h"

struct gpu;
struct gpu_device;

struct orr_queue {
    struct gpu_device *device; /* NULL: not open */
    gpu_stream_t stream;       /* owned */
    /* Calls back at ends, so that what comes after an end in the queue does not
     * wait for the host; owned, as is the event that joins the two. */
    gpu_stream_t ends;
    gpu_event_t end;
    gpu_event_t passed; /* what other queues wait for in this one; owned */
};

/* A kernel under way, in kernel->machine_link[0]. Its worker takes it; who serves
 * the node's mailbox frees it, maybe another worker of the device. */
struct gpu_run {
    _Atomic(struct gpu_device *) device; /* NULL: free, with release */
    gpu_event_t begin, end;    /* in the queue before and after it; owned */
    struct orr_post *post;     /* the kernel's */
    int code;                  /* what the end says */
    bool timed;                /* `end' has been recorded behind it */
};

struct gpu_worker {
    struct orr_queue kernels;
    unsigned next; /* [worker] where the next free run is looked for */
    struct gpu_run runs[ORR_MOST_QUEUED];
};

struct gpu_device {
    struct gpu *driver;
    int number; /* the vendor's */
    gpu_device_t id;
    size_t memory; /* bytes */
    char name[64], bus[16];
    /* -- of a device that is used -- */
    bool used;
    unsigned node;
    gpu_context_t context; /* NULL: not retained */
    atomic_bool lost;      /* [atomic] relaxed: it is only a hint */
    atomic_bool full; /* [atomic] relaxed: it gave no memory, which was said */
    uintptr_t byte;        /* of null kernels */
    struct orr_queue queues[ORR_QUEUE_USES]; /* but that of kernels */
    struct gpu_worker *workers;              /* owned, driver->per_device */
};

/* A strided copy that is made as one: rows of `width` bytes, `height` of them
 * `pitch` bytes apart, and that `depth` times, `slice` rows apart. */
struct gpu_box_end {
    uintptr_t address;
    struct gpu_device *device; /* NULL: main memory */
    size_t pitch, slice;
};
struct gpu_box {
    struct gpu_box_end src, dst;
    size_t width, height, depth;
};

/* What vendors do differently. Each entry returns a code of the vendor's; devices
 * are used, streams are of the device that is current. */
struct gpu_vendor {
    const char *name;     /* "cuda", for messages */
    const char *display;  /* "CUDA" */
    const char *variable; /* "CUDA", inside STARPU_<…> */
    enum starpu_worker_archtype type;
    enum starpu_node_kind memory;
    const struct gpu_library *library;
    const struct orr_driver_ops *ops; /* GPU_DRIVER_OPS */

    /* The device's context, which is kept until it is released. */
    int (*retain)(struct gpu_device *device);
    int (*release)(struct gpu_device *device);
    /* Makes the device current in this thread. */
    int (*use)(const struct gpu_device *device);
    /* The same, and back to what was current. */
    int (*enter)(const struct gpu_device *device, intptr_t *ret_before);
    void (*leave)(const struct gpu_device *device, intptr_t before);
    /* Lets the current device read and write the peer's memory. */
    int (*open_peer)(const struct gpu_device *peer);
    int (*copy_peer)(const struct gpu_device *dst_device, uintptr_t dst,
                     const struct gpu_device *src_device, uintptr_t src,
                     size_t size, gpu_stream_t stream);
    int (*copy_box)(struct gpu *driver, const struct gpu_box *box,
                    gpu_stream_t stream);
};

/* Each vendor's, in its folder. */
extern const struct gpu_vendor orr_gpu_cuda, orr_gpu_hip;

struct gpu {
    struct orr_driver head; /* first */
    const struct gpu_vendor *vendor;
    struct gpu_api api;
    const struct orr_gpu_options *options; /* lent while it is opened */
    pthread_mutex_t events;                /* of events that are recorded */
    atomic_bool pinning_failed;            /* [atomic] relaxed: it was said */
    struct gpu_mark *marks; /* [events] of those that have happened; owned */
    void **handles[8];      /* handles.h; owned arrays, of lent handles */
    unsigned per_device;    /* workers */
    unsigned ndevices;
    struct gpu_device devices[STARPU_MAXCUDADEVS];
};

/* -- driver.c -- */

void gpu_close(struct orr_driver *driver);

/* The table of a vendor's driver. */
#define GPU_DRIVER_OPS(vendor)                                                 \
    {                                                                          \
        .name = vendor, .close = gpu_close, .alloc = gpu_alloc,                \
        .free = gpu_free, .pinned_alloc = gpu_pinned_alloc,                    \
        .pinned_free = gpu_pinned_free, .pin = gpu_pin, .unpin = gpu_unpin,    \
        .copy_start = orr_driver_copy_start, .raw_copy = gpu_raw_copy,         \
        .copy_levels = GPU_COPY_LEVELS, .call_method = gpu_call_method,        \
        .kernel_start = gpu_kernel_start, .in_order = true,                    \
        .null_kernel = gpu_null_kernel, .queue = gpu_queue,                    \
        .notify = gpu_notify, .record = gpu_record, .wait = gpu_wait,          \
        .after = gpu_after, .worker_queue = gpu_worker_queue,                  \
    }

/* What a vendor's orr_driver_<name>_open is. */
int gpu_open(const struct gpu_vendor *vendor,
             const struct orr_gpu_options *options, bool leave_processors,
             struct orr_machine *machine, struct orr_driver **ret,
             struct orr_error *err);

/* The vendor's driver of that machine, or NULL. */
struct gpu *orr_gpu_of(const struct orr_machine *machine,
                       const struct gpu_vendor *vendor);

/* Its device whose memory the node is, or NULL. */
struct gpu_device *orr_gpu_on_node(struct gpu *driver, unsigned node);

/* The device and the stream of a worker; NULL: it is none of the driver's. */
struct gpu_device *orr_gpu_of_worker(struct gpu *driver, unsigned worker);
struct gpu_worker *orr_gpu_worker(struct gpu *driver, unsigned worker);

/* Says what has failed, and notes whether the device is lost: -ENOMEM, -ENODEV or
 * -EIO; 0 for success. `what` is "a copy of 12 bytes". */
int orr_gpu_report(struct gpu_device *device, const char *what, int code);

/* -- find.c -- */

/* Fills the devices that there are, and says which ones to use, by number, in
 * chosen[STARPU_MAXCUDADEVS]. Errors: -EINVAL with a message. */
int gpu_find(struct gpu *driver, unsigned *chosen, unsigned *ret_n,
             struct orr_error *err);

/* -- memory.c: the driver's operations -- */

int gpu_alloc(struct orr_driver *driver, unsigned node, size_t size,
              uintptr_t *ret);
void gpu_free(struct orr_driver *driver, unsigned node, uintptr_t address,
              size_t size);
int gpu_pinned_alloc(struct orr_driver *driver, unsigned node, size_t size,
                     uintptr_t *ret);
void gpu_pinned_free(struct orr_driver *driver, unsigned node,
                     uintptr_t address, size_t size);
int gpu_pin(struct orr_driver *driver, void *address, size_t size);
int gpu_unpin(struct orr_driver *driver, void *address, size_t size);

/* -- queue.c; the device is current when a queue is opened or closed -- */

int gpu_queue_open(struct orr_queue *queue, struct gpu_device *device);
void gpu_queue_close(struct orr_queue *queue);

/* Calls back when what is in the queue now has ended: `mark` is recorded there.
 * The device is current. A code. */
int gpu_call_at_end(struct orr_queue *queue, gpu_event_t mark,
                    gpu_callback_t call, void *arg);

/* Makes the post of a queue in which that has failed. */
void gpu_post_failure(struct orr_queue *queue, struct orr_post *post, int code);

/* The driver's operations. */
struct orr_queue *gpu_queue(struct orr_driver *driver, unsigned node,
                            enum orr_queue_use use);
void gpu_notify(struct orr_queue *queue, struct orr_post *post);
void gpu_record(struct orr_queue *queue, struct orr_event *event);
void gpu_wait(struct orr_queue *queue, struct orr_event *event);
void gpu_after(struct orr_queue *later, struct orr_queue *earlier);
struct orr_queue *gpu_worker_queue(struct orr_driver *driver, unsigned worker);

/* What is put into `later` from now on begins when what is in `earlier` now has ended;
 * streams of anybody's, of these devices of one driver. As orr_gpu_report(). */
int orr_gpu_stream_after(struct gpu_device *later_device, gpu_stream_t later,
                         struct gpu_device *earlier_device,
                         gpu_stream_t earlier);

int gpu_call_method(struct orr_driver *driver, int (*method)(void), void *src,
                    unsigned src_node, void *dst, unsigned dst_node,
                    struct orr_async *async);

/* Releases what is left of events that have happened. */
void gpu_marks_done(struct gpu *driver);

/* -- kernel.c -- */

void gpu_worker_done(struct gpu_device *device, struct gpu_worker *worker);
int gpu_kernel_start(struct orr_driver *driver, struct orr_kernel *kernel);
int gpu_null_kernel(struct orr_driver *driver, unsigned worker);

/* -- bytes.c -- */

/* Strides that a device copies as one: a box. */
enum { GPU_COPY_LEVELS = 2 };

int gpu_raw_copy(struct orr_driver *driver, const struct orr_raw_copy *raw,
                 struct orr_async *async);

/* Copies on a stream of the caller's, or, if that is NULL, on the device's own
 * until it has ended. -EAGAIN, 0, -EIO, -ENODEV. */
int orr_gpu_copy(struct gpu *driver, const struct orr_raw_copy *raw,
                 gpu_stream_t stream);
