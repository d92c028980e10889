/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/loopback/loopback.h - the parts of the loopback driver, a module: devices
 * that are queues with a context each and memory that the host cannot touch while
 * no operation of the device runs. For tests, and to be read by who writes a
 * driver.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "core/device/driver.h"
#include "core/device/kind.h"

/* What can be made to fail, the n-th time that it is asked for. */
enum loopback_call {
    LOOPBACK_ALLOC,  /* -ENOMEM */
    LOOPBACK_COPY,   /* -EIO, half of the bytes were copied */
    LOOPBACK_START,  /* a kernel is refused: -EAGAIN */
    LOOPBACK_KERNEL, /* a kernel ends with -EIO, nothing was written */
    LOOPBACK_PIN,    /* pinned memory is refused: -ENOMEM */
    LOOPBACK_LOST, /* any of these: from then on the device is gone, -ENODEV */
    LOOPBACK_CALLS
};

/* The settings, read. */
struct loopback_options {
    unsigned devices;
    uint64_t seed;
    size_t memory;     /* bytes per device */
    double delay_us;   /* operations take up to so much longer, at random … */
    double kernel_us;  /* … or kernels exactly so long … */
    double copy_us;    /* … and copies so long, and … */
    double bandwidth;  /* … their bytes at so many per µs; NaN: at random */
    unsigned pipeline; /* tasks in flight per device */
    bool peers;        /* devices copy to each other */
    unsigned fail_at[LOOPBACK_CALLS]; /* 0: never */
    bool fail_on[LOOPBACK_CALLS];     /* each time from then on */
};

extern const struct orr_device_kind loopback_kind;

/* "2 seed=7 mib=4 peers fault=copy@5". Errors: -EINVAL with a message. */
int loopback_options_read(const char *text, struct loopback_options *ret,
                          struct orr_error *err);

/* -- memory -- */

struct loopback_block {
    struct loopback_block *next; /* by address */
    size_t offset, size;
};

/* A piece of address space that is closed to all while nobody has it open. */
struct loopback_memory {
    pthread_mutex_t lock;
    char *base;
    size_t size;
    struct loopback_block *blocks; /* [lock] owned */
    unsigned nopen;                /* [lock] operations that run */
};

int loopback_memory_init(struct loopback_memory *memory, size_t size);
void loopback_memory_done(struct loopback_memory *memory);
/* -ENOMEM, or 0. */
int loopback_memory_alloc(struct loopback_memory *memory, size_t size,
                          uintptr_t *ret);
void loopback_memory_free(struct loopback_memory *memory, uintptr_t address);
void loopback_memory_open(struct loopback_memory *memory);
void loopback_memory_close(struct loopback_memory *memory);
bool loopback_memory_has(const struct loopback_memory *memory,
                         uintptr_t address);
/* Whether the bytes are all of one block. */
bool loopback_memory_holds(struct loopback_memory *memory, uintptr_t address,
                           size_t size);

/* -- pinned main memory: what a program pins it must unpin, once -- */

struct loopback_pin {
    struct loopback_pin *next;
    void *address;
    size_t size;
};

struct loopback_pins {
    pthread_mutex_t lock;
    struct loopback_pin *first; /* [lock] owned */
};

/* -EINVAL: it is pinned, or not; -ENOMEM. */
int loopback_pin(struct orr_driver *driver, void *address, size_t size);
int loopback_unpin(struct orr_driver *driver, void *address, size_t size);

/* Memory of its own; one that is not from there ends the program. */
int loopback_pinned_alloc(struct orr_driver *driver, unsigned node, size_t size,
                          uintptr_t *ret);
void loopback_pinned_free(struct orr_driver *driver, unsigned node,
                          uintptr_t address, size_t size);

/* -- queues -- */

enum loopback_op_kind {
    LOOPBACK_OP_COPY,
    LOOPBACK_OP_RUN,
    LOOPBACK_OP_POST,
    LOOPBACK_OP_RECORD,
    LOOPBACK_OP_WAIT,
};

struct loopback_op {
    struct loopback_op *next;
    enum loopback_op_kind kind;
    struct orr_raw_copy raw;
    struct orr_async *async;
    struct orr_kernel *kernel;
    struct orr_post *post;
    struct orr_event *event;
};

/* Served in order, by a context of its own. */
struct orr_queue {
    struct loopback *driver;
    struct loopback_device *device;
    struct orr_context *context;
    pthread_mutex_t lock;
    struct loopback_op *first, *last; /* [lock] */
    bool stop;                        /* [lock] */
    uint64_t random;                  /* [context] */
    char name[32];
};

struct loopback_device {
    struct loopback_memory memory;
    struct orr_queue queues[ORR_QUEUE_USES];
    unsigned node;
    atomic_bool lost;
};

struct loopback {
    struct orr_driver head; /* first */
    struct loopback_options options;
    atomic_uint ncalls[LOOPBACK_CALLS];
    struct loopback_pins pins;
    unsigned nqueues; /* whose context runs */
    struct loopback_device devices[];
};

/* Starts the context of the queue. Errors: -ENOMEM, -EAGAIN. */
int loopback_queue_start(struct loopback *driver,
                         struct loopback_device *device, unsigned use);
/* Ends it; it is empty. */
void loopback_queue_stop(struct orr_queue *queue);
/* Copies *op to the end of the queue. False without memory. */
bool loopback_queue_put(struct orr_queue *queue, const struct loopback_op *op);

/* -- what the driver does, in the context of a queue or of a caller -- */

/* Moves the bytes; 0, -EIO, -ENODEV. */
int loopback_copy_now(struct loopback *driver, const struct orr_raw_copy *raw);

/* 0, or how the call on the device fails. */
int loopback_fault(struct loopback *driver, struct loopback_device *device,
                   enum loopback_call call);
