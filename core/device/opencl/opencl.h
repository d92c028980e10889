/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/opencl/opencl.h - the parts of the OpenCL driver. Each device has
 * a context of its own, a memory node, a worker, and a command queue in order
 * for each use: kernels, copies in, out and within. An address on such a node
 * is a cl_mem; where in it bytes are, is an offset. So a part of a piece of
 * data is the cl_mem of the whole and an offset, and no sub-buffer, whose start
 * would have to be aligned.
 *
 *   cl.h, cl.c    OpenCL itself: entry points, constants, codes
 *   find.c        which devices there are, which are used
 *   icd.h, icd.c  platforms past the loader
 *   driver.c      the table of operations; opening, memory, kernels
 *   queue.c       queues: ends that are posted, events, waits
 *   bytes.c       copies
 *   program.c     programs, binaries that are kept
 *   pinned.c      main memory that a device copies from without a detour
 *
 * OpenCL may be called by any thread (but for the arguments of one kernel).
 * What it calls, on threads of its own, only posts.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "core/device/open.h"
#include "core/device/opencl/cl.h"

struct opencl;
struct opencl_device;

struct orr_queue {
    struct opencl_device *device;
    cl_command_queue queue;
};

/* An asynchronous kernel under way, in kernel->machine_link[0]. */
struct opencl_run {
    struct opencl_device *device; /* NULL: free */
    cl_event begin, end;          /* in the queue before and after it; owned */
};

struct opencl_device {
    struct opencl *driver;
    cl_platform_id platform;
    cl_device_id id;
    uint64_t type; /* OPENCL_DEVICE_TYPE_… */
    uint32_t vendor;
    size_t memory, alignment; /* bytes */
    char name[64];
    char bus[16];          /* choice.h; empty: unknown, or a processor's */
    unsigned part, nparts; /* which of how many parts it is; 0, 1: a whole */
    int number;
    /* -- of a device that is used -- */
    bool used;
    unsigned node;
    cl_context context;
    atomic_bool full; /* [atomic] relaxed: it gave no memory, which was said */
    struct orr_queue queues[ORR_QUEUE_USES];
    struct opencl_run runs[ORR_MOST_QUEUED]; /* [its worker] */
    cl_kernel null_kernel;                   /* [its worker] owned or NULL */
    /* What its clock's time is behind the machine's, µs; as small as was ever
     * seen, since ends are noticed late. [its worker] */
    double clock;
};

struct opencl {
    struct orr_driver head; /* first */
    struct opencl_api cl;
    pthread_mutex_t events; /* of events that are waited for: queue.c */
    atomic_uint nhappening; /* events whose callbacks may still look here */
    char *program_dir;      /* STARPU_OPENCL_PROGRAM_DIR or NULL; owned */
    atomic_uint npinned;    /* blocks of main memory */
    bool past_loader; /* its platforms are none of the loader's, which refuses
                       * to name them */
    unsigned ndevices;
    struct opencl_device devices[STARPU_MAXOPENCLDEVS];
};

/* -- find.c -- */

/* Whether to look for devices at all: cheap. */
bool opencl_is_wanted(const struct orr_machine_options *options);

/* Fills the devices that there are, cut if the options say so. Errors: -EINVAL with
 * a message. */
int opencl_look(struct opencl *driver,
                const struct orr_machine_options *options,
                struct orr_error *err);
/* Releases those that are parts. */
void opencl_forget(struct opencl *driver);

/* The same, and says how many to use, by number, in
 * chosen[STARPU_MAXOPENCLDEVS]. Errors: -EINVAL with a message. */
int opencl_find(struct opencl *driver,
                const struct orr_machine_options *options, unsigned *chosen,
                unsigned *ret_n, struct orr_error *err);

/* What a platform or a device says in words, for free(); NULL: it does not. */
char *opencl_platform_text(const struct opencl *driver, cl_platform_id platform,
                           uint32_t what);
char *opencl_device_text(const struct opencl_device *device, uint32_t what);

/* -- driver.c -- */

/* The driver of that machine, or NULL. */
struct opencl *orr_opencl_of(const struct orr_machine *machine);

/* Its device whose memory the node is, or NULL. */
struct opencl_device *orr_opencl_on_node(struct opencl *driver, unsigned node);

/* A buffer; with `now` its memory is there on return, even of devices that
 * would allocate at the first use. */
cl_int orr_opencl_alloc(struct opencl_device *device, size_t size,
                        cl_mem_flags flags, bool now, cl_mem *ret);

/* -- queue.c -- */

cl_int opencl_queue_open(struct orr_queue *queue, struct opencl_device *device);
void opencl_queue_close(struct orr_queue *queue);

/* The post is made when what is in the queue now has ended, post->error if it
 * has failed. With `ret` the caller gets the event, too, before the post can
 * arrive. */
void opencl_post_at_end(struct orr_queue *queue, struct orr_post *post,
                        cl_event *ret);

/* The driver's operations. */
void opencl_notify(struct orr_queue *queue, struct orr_post *post);
void opencl_record(struct orr_queue *queue, struct orr_event *event);
void opencl_wait(struct orr_queue *queue, struct orr_event *event);
/* No thread of OpenCL's is in an event's callback, on return. All have happened. */
void opencl_await_callbacks(struct opencl *driver);
int opencl_call_method(struct orr_driver *driver, int (*method)(void),
                       void *src, unsigned src_node, void *dst,
                       unsigned dst_node, struct orr_async *async);

/* -- bytes.c -- */

/* Strides that a device makes as one copy: a box. */
enum { OPENCL_COPY_LEVELS = 2 };

int opencl_raw_copy(struct orr_driver *driver, const struct orr_raw_copy *raw,
                    struct orr_async *async);

/* Copies contiguous bytes, on the device's queue for that direction. `event` is
 * as in starpu_opencl_copy_ram_to_opencl. */
cl_int orr_opencl_copy(struct opencl *driver, const struct orr_raw_copy *raw,
                       cl_event *event);

/* -- pinned.c -- */

/* The driver's operations. */
int opencl_pinned_alloc(struct orr_driver *driver, unsigned node, size_t size,
                        uintptr_t *ret);
void opencl_pinned_free(struct orr_driver *driver, unsigned node,
                        uintptr_t address, size_t size);

/* -- program.c; any thread that may block -- */

/* Compiles a source for all devices that are used. 0; 1 with a message, what
 * was compiled before stays in *ret. */
int orr_opencl_compile(struct opencl *driver, const char *source,
                       const char *options, struct starpu_opencl_program *ret);

/* Writes the binaries of a program to `folder`, reads them. As above. */
int orr_opencl_keep(struct opencl *driver, const char *folder, const char *name,
                    const struct starpu_opencl_program *program);
int orr_opencl_load(struct opencl *driver, const char *folder, const char *name,
                    struct starpu_opencl_program *ret);

/* All of a file, with a zero behind it, for free(); NULL: errno says why. */
char *orr_opencl_read_file(const char *path, size_t *ret_size);

/* The driver's operation: compiled at the first call. */
int opencl_null_kernel(struct orr_driver *driver, unsigned worker);

/* Releases what there is. */
void orr_opencl_unload(struct opencl *driver,
                       const struct starpu_opencl_program *program);
