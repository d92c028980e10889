/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/standin/private.h - a set of GPUs that are threads. cuda.c and hip.c are
 * the vendors' names for it. Results are codes, which both vendors share.
 *
 * Device memory is a range of addresses that nobody may read or write; the bytes
 * are elsewhere (bytes_of). A stream is a thread that takes one operation after
 * the other, each after a random delay; nothing orders two streams but events, the
 * default stream, and who synchronises. Locks are per object, so that a sanitizer
 * of threads finds what an application did not order.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALISED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_READY = 600,
    LAUNCH_REFUSED = 701, /* it is not in the stream */
    PEER_OPEN = 704,
    ALREADY_PINNED = 712,
    NOT_PINNED = 713,
    PEER_REFUSED = 217,
    INVALID_PTX = 218,
    NOT_FOUND = 500,
    LAUNCH_FAILED = 719, /* the device is of no use after that */
    NOT_PERMITTED = 800,
    UNKNOWN = 999,
};

enum { MAX_DEVICES = 8 };

/* -- options.c -- */

enum fault {
    FAULT_ALLOC,
    FAULT_COPY,
    FAULT_PEER,
    FAULT_KERNEL,
    FAULT_LAUNCH,
    FAULT_LOST,
    FAULT_CALL,
    FAULT_NOMEM,
    FAULT_PIN,
    FAULT_WAIT,
    FAULT_COPY_WAIT,
    NFAULTS
};
enum peers { PEERS_ALL, PEERS_NONE, PEERS_REFUSED };

struct options {
    unsigned devices, delay_us;
    bool now;
    unsigned kernel_us, copy_us, bandwidth, latency_us; /* standin.h */
    size_t memory;
    uint64_t seed;
    enum peers peers;
    enum fault fault; /* NFAULTS: none */
    unsigned long at; /* the how manieth */
    bool from_then_on;
};

/* From GPU_STANDIN; what it does not understand ends the program. */
void options_read(struct options *options);

/* -- clock.c: the system's, or the program's -- */

/* Where contexts wait until something has changed, under a lock. */
struct bell {
    pthread_cond_t changed;
    void *waiting[8]; /* contexts of the program's */
    unsigned n;
};

void bell_init(struct bell *bell);
void bell_done(struct bell *bell);
void bell_wait(struct bell *bell, pthread_mutex_t *lock);
void bell_ring(struct bell *bell);

/* What executes body(arg). 0, or an error. */
struct runner {
    pthread_t thread;
    void *context;
};
int runner_start(struct runner *runner, void (*body)(void *), void *arg);
void runner_join(struct runner *runner);

/* That of the program's which is running; NULL: it has none of its own. */
void *clock_context(void);
double clock_now_us(void);
/* Holds an operation back: at random, and for as long as it takes. */
void clock_hold(uint64_t *random, double takes_us);
/* Waits until then. */
void clock_wait(double until_us);
/* The seed of the next stream. */
uint64_t clock_seed(void);

/* -- devices -- */

struct block; /* of memory */
struct stream;

struct device {
    unsigned number;
    pthread_mutex_t lock;
    unsigned retained;       /* [lock] contexts */
    int broken;              /* [atomic] the code after which nothing works */
    char *closed, *open;     /* [const] addresses; where the bytes are */
    struct block *blocks;    /* [lock] by address */
    size_t used, most; /* [lock] bytes that blocks have, and had at most */
    struct stream *streams;  /* [lock] all that there are */
    struct stream *standard; /* [lock] the default one, or NULL */
    bool peers[MAX_DEVICES]; /* [lock] whose memory is open to it */
};

struct gpus {
    struct options options;
    struct device devices[MAX_DEVICES];
    int version;
};

extern struct gpus gpus;

int gpus_init(void);

/* Every call of the vendor's comes here first. OK, or why it cannot be made. */
int gpus_enter(void);
/* Whether the n-th thing of that kind is to fail. */
bool gpus_fault(enum fault fault);

/* This thread's device; that of contexts of the program's is forgotten. */
void currents_forget(void);
int current_set(struct device *device);
int current_push(struct device *device);
int current_pop(struct device **ret);
struct device *current(void);
/* … which works; a code. */
int current_get(struct device **ret);

/* -- memory.c -- */

int memory_init(struct device *device, size_t size);
int memory_alloc(struct device *device, size_t size, uintptr_t *ret);
int memory_free(struct device *device, uintptr_t address);
/* The device that has the address; NULL: none. */
struct device *memory_owner(uintptr_t address);
/* The block that has the address. A code. */
int memory_range(uintptr_t address, uintptr_t *ret_base, size_t *ret_size);
/* Whether all these bytes are of one block of the device. */
bool memory_holds(struct device *device, uintptr_t address, size_t size);
/* Managed memory: of the host and all devices, at one address. */
int managed_alloc(size_t size, uintptr_t *ret);
int managed_free(uintptr_t address);
bool managed_holds(uintptr_t address, size_t size);
/* Of a device's memory, or managed; NULL: neither. */
void *bytes_of(const void *address);
int pin(void *address, size_t size);
int unpin(void *address);

/* -- stream.c -- */

struct record; /* of an event, in a stream */

struct event {
    struct device *device;
    bool timed;
    pthread_mutex_t lock;
    struct record *last; /* [lock] a reference, or NULL */
};

/* Bytes from one place to another: width, height, depth as in a box. */
struct copy {
    struct device *src_device, *dst_device; /* NULL: the host */
    uintptr_t src, dst;
    size_t src_pitch, dst_pitch, src_slice, dst_slice; /* bytes; bytes */
    size_t width, height, depth;
};

int stream_create(struct device *device, bool blocking, struct stream **ret);
int stream_destroy(struct stream *stream);
int stream_synchronize(struct stream *stream);
/* NULL is the current device's default stream. A code. */
int stream_of(void *handle, struct stream **ret);
int put_copy(struct stream *stream, const struct copy *copy);
int put_fill(struct stream *stream, uintptr_t dst, unsigned char value,
             size_t size);
int put_kernel(struct stream *stream, void (*function)(void *), void *arg);
int put_callback(struct stream *stream, void (*function)(void *, int, void *),
                 void *arg);
int put_record(struct stream *stream, struct event *event);
int put_wait(struct stream *stream, struct event *event);
/* Waits for all streams of the device. */
void device_synchronize(struct device *device);

int event_create(bool timed, struct event **ret);
int event_destroy(struct event *event);
int event_elapsed(float *ret_ms, struct event *from, struct event *to);

/* -- module.c -- */

struct module;
struct function;

/* For the current device. A code. */
int module_load(const char *text, struct module **ret);
int module_unload(struct module *module);
int module_find(struct module *module, const char *name, struct function **ret);
int function_launch(struct function *function, const unsigned grid[3],
                    const unsigned block[3], void *stream, void **parameters);

/* -- calls.c: what both vendors' calls do -- */

int call_count(int *ret);
int call_device(int *ret, int number);
int call_name(char *name, int size, int device);
int call_memory(size_t *ret, int device);
int call_bus(char *name, int size, int device);
int call_can_access(int *ret, int device, int peer);
int call_open_peer(struct device *peer);
int call_alloc(uintptr_t *ret, size_t size);
int call_managed_alloc(uintptr_t *ret, size_t size, unsigned flags);
int call_free(uintptr_t address);
int call_range(uintptr_t *ret_base, size_t *ret_size, uintptr_t address);
int call_host_alloc(void **ret, size_t size);
int call_host_free(void *address);
int call_stream_create(void **ret, unsigned flags);
int call_copy(uintptr_t dst, bool dst_device, uintptr_t src, bool src_device,
              size_t size, void *stream);
int call_box(struct copy *copy, void *stream);
int call_fill(uintptr_t dst, unsigned char value, size_t size, void *stream);
const char *call_words(int code);
