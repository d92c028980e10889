/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/socl.h - the objects of an OpenCL implementation whose devices are the workers
 * of a run. Each begins with the table that the loader calls through. See README.md.
 *
 * One lock guards all objects. It is the run's own kind of lock: simulated, there is one
 * thread, which never leaves a context while it has the lock. No function of the user's and
 * none of a device's is called under it; those of the runtime that do not wait are.
 *
 * Reference counts are those of OpenCL: the last one ends an object. An object holds those
 * that it names (a kernel its program, a command its buffers). Objects that the last
 * reference leaves in a callback of the runtime, which may not wait, go at the next call of
 * the application: socl_sweep().
 */
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <stdbool.h>

#include <orrery.h>
#include <starpu.h>

#include "opencl/count.h"

#define SOCL_MAX_DEVICES STARPU_NMAXWORKERS

/* Properties of contexts, as SOCL has them. */
#define CL_CONTEXT_SCHEDULER_SOCL 0xFF01 /* const char *: a policy of the runtime */
#define CL_CONTEXT_NAME_SOCL      0xFF02 /* const char * */

/* What orders commands. */
enum socl_order {
    SOCL_ORDER_QUEUE = 1, /* in-order queues; wait lists and barriers count always */
    SOCL_ORDER_DATA = 2,  /* commands that use the same buffers */
};

struct socl_head {
    const cl_icd_dispatch *dispatch; /* first, in each object */
    unsigned refs;                   /* [lock] */
};

struct _cl_platform_id {
    const cl_icd_dispatch *dispatch;
};

struct _cl_device_id {
    const cl_icd_dispatch *dispatch;
    int worker, node;
    cl_device_id below;        /* of a real machine: the device itself */
    cl_context context;        /* likewise, its context */
    cl_device_type type;
    struct orrery_rates rates; /* of a simulated one */
    char name[128];
};

/* A device of another implementation that computes here, and what it needs. */
struct socl_host {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
};

enum { SOCL_BUCKETS = 256 };

/* All that the process has once. */
enum { SOCL_READS = 32 };

/* Memory of the program's to which values were read. */
struct socl_read {
    char *begin;
    size_t bytes;
};

struct socl {
    starpu_pthread_mutex_t lock;
    starpu_pthread_cond_t changed; /* [lock] the status of a command */
    int started;                   /* [lock] 1: there is a run; -1: it is over */
    bool simulated, runs_kernels;  /* [const] from the start on */
    bool force_dynamic;            /* [const] */
    unsigned order;                /* [const] enum socl_order */
    char *scalars;                 /* [const] SOCL_MODEL_SCALARS or NULL */
    unsigned ndevices;             /* [const] */
    struct _cl_device_id *devices; /* [const] owned */
    uint64_t nmems;                /* [lock] numbers that were given */
    cl_mem mems;                   /* [lock] those that exist */
    cl_mem dead_mems;              /* [atomic] for socl_sweep() … */
    cl_context dead_contexts;      /* … likewise */
    cl_event user_events;          /* [lock] whose status nobody has set */
    struct socl_codelet *codelets; /* [lock] of the run */
    struct socl_taught *taught[SOCL_BUCKETS]; /* [lock] footprints that have a time */
    struct socl_host host;         /* [simulation] */
    struct socl_read reads[SOCL_READS]; /* [lock] the last ones */
    unsigned nreads;                    /* [lock] */
};
extern struct socl socl;

struct _cl_context {
    struct socl_head head;
    unsigned n;
    cl_device_id *devices;             /* owned */
    cl_context_properties *properties; /* owned */
    size_t nproperties;                /* with the 0 behind them */
    unsigned sched_ctx;
    bool owns_sched_ctx;
    cl_context next; /* of socl.dead_contexts */
};

struct _cl_command_queue {
    struct socl_head head;
    cl_context context;
    cl_device_id device; /* NULL: each command goes where the policy says */
    cl_device_id shown;  /* what CL_QUEUE_DEVICE answers */
    cl_command_queue_properties properties;
    /* They hold the queue: once the application has released it, only while they run. */
    cl_event last;    /* [lock] owned reference, or NULL: in order, the last command */
    cl_event barrier; /* [lock] likewise: what all later ones wait for */
    bool released;    /* [lock] the application has, at least once */
    cl_event first_pending; /* [lock] commands that have not ended */
};

/* Commands, each with a reference. Those that have ended are left out when it grows. */
struct socl_events {
    cl_event *at; /* owned */
    unsigned n, room;
};

struct _cl_mem {
    struct socl_head head;
    cl_context context;
    cl_mem parent; /* of a sub-buffer: whose bytes it has; reference */
    cl_mem_flags flags;
    size_t origin, size;
    char *host;         /* bytes in main memory; of a parent's */
    void *given;        /* host_ptr of the application */
    char *owned;        /* … if it was allocated */
    bool written;       /* [lock] some command has given it a value */
    starpu_data_handle_t handle; /* of a sub-buffer NULL if it has no data of its own */
    uint64_t number;    /* the order in which several are taken */
    unsigned nmapped;   /* [lock] regions mapped now … */
    bool mapped_for_writing; /* … and how it is held */
    unsigned map_count; /* [lock] as asked: CL_MEM_MAP_COUNT */
    /* [lock] Order by data: the last command that changes it, those that read it since;
     * references. */
    cl_event writer;
    struct socl_events readers;
    /* [lock] Of a buffer that has parts (parts.c): */
    cl_mem parts, next_part; /* those that have their own data */
    bool apart;              /* commands use the parts' data, not its own */
    unsigned nreturns;       /* to the whole, for devices */
    unsigned nleaving;       /* parts whose values are on their way to it */
    cl_event changed;        /* reference, or NULL: the last change of that */
    struct socl_events users; /* since then */
    struct socl_destructor *destructors; /* [lock] last one first */
    cl_mem next, *link; /* [lock] in socl.mems */
    cl_mem next_dead;   /* in socl.dead_mems */
};

struct socl_destructor {
    struct socl_destructor *next;
    void(CL_CALLBACK *call)(cl_mem, void *);
    void *data;
};

/* A program as a device's own implementation has it. */
struct socl_built {
    cl_program program; /* NULL: not built, or simulated */
    cl_build_status status;
    char *log, *options; /* owned */
};

struct _cl_program {
    struct socl_head head;
    cl_context context;
    char *source;            /* owned; NULL: of binaries, or linked */
    char *linked;            /* owned: all that was compiled or linked, or NULL */
    unsigned n;              /* of devices, those of the context at first … */
    cl_device_id *devices;   /* … owned */
    struct socl_built *built; /* owned, by device */
    cl_program_binary_type binary_type;
    struct socl_source *scanned; /* owned: what is known of its kernels; NULL: nothing */
    char *options;               /* owned: of the last build */
    cl_program host;             /* built for kernels that a simulation executes */
    bool host_failed;
    unsigned nkernels;           /* [lock] that exist */
};

/* The value of an argument. */
struct socl_arg {
    bool set, local;
    size_t size;
    cl_mem mem;   /* reference, or NULL: none, or a null pointer */
    bool pointer; /* `value` is a buffer's, or null */
    char *value;  /* owned, of `size` bytes; of local memory NULL */
};

struct _cl_kernel {
    struct socl_head head;
    cl_program program;
    char *name;                        /* owned */
    const struct socl_function *known; /* of the source; NULL: of binaries */
    unsigned n;
    struct socl_arg *args; /* [lock] owned */
    cl_kernel *below;      /* owned: by device of the program, each [its worker] */
    cl_kernel host;        /* [simulation] owned */
    struct socl_count count;   /* [lock] of the values before: */
    double *counted_values;    /* owned */
    bool counted;
};

struct socl_callback {
    struct socl_callback *next;
    cl_int when;
    void(CL_CALLBACK *call)(cl_event, cl_int, void *);
    void *data;
};

/* A command, and the event by which it is known. */
struct _cl_event {
    struct socl_head head;
    cl_context context;     /* reference */
    cl_command_queue queue; /* reference; NULL: a user event */
    cl_command_type type;
    struct starpu_task *task; /* owned */
    cl_int status;            /* [lock] CL_QUEUED down to CL_COMPLETE, or an error */
    cl_int error;             /* [its task] what its end will be */
    bool handed;              /* [lock] its task was submitted */
    double queued, submitted, started, ended; /* µs of the run */
    struct socl_callback *callbacks;          /* [lock] */
    cl_event *waits;                          /* owned references until it begins */
    unsigned nwaits;
    /* What it does; owned, freed at its end. */
    bool covers; /* a marker or barrier: all that was before it has ended at its end */
    void (*begin)(cl_event event); /* a command of the host's: in a callback of the run */
    struct socl_work *work;
    cl_event next, *link; /* [lock] among its queue's, the user events, or those to submit */
};

/* -- start.c: the run -- */

/* Starts it with the first call that needs devices. CL_SUCCESS, or an error of OpenCL. */
cl_int socl_start(void);
/* Ends it, once, when all commands have ended. */
void socl_stop(void);
void socl_lock(void);
void socl_unlock(void);
/* Frees what was left to be freed. Not under the lock. */
void socl_sweep(void);
/* A callback of the run is on the stack of this thread, or it has the lock: it may not
 * wait, and what it leaves is put aside for socl_sweep(). */
extern _Thread_local unsigned socl_inside;
double socl_now(void); /* µs */

/* The table of an object of another implementation. */
#define SOCL_BELOW(object) (*(const cl_icd_dispatch *const *)(const void *)(object))

/* -- dispatch.c -- */
extern cl_icd_dispatch socl_dispatch;
extern struct _cl_platform_id socl_platform;
void socl_fill_dispatch(void);

/* Each of these puts its functions into the table. */
void socl_fill_contexts(cl_icd_dispatch *to);
void socl_fill_copies(cl_icd_dispatch *to);
void socl_fill_devices(cl_icd_dispatch *to);
void socl_fill_events(cl_icd_dispatch *to);
void socl_fill_kernels(cl_icd_dispatch *to);
void socl_fill_maps(cl_icd_dispatch *to);
void socl_fill_mems(cl_icd_dispatch *to);
void socl_fill_programs(cl_icd_dispatch *to);
void socl_fill_queues(cl_icd_dispatch *to);
void socl_fill_ranges(cl_icd_dispatch *to);
void socl_fill_refusals(cl_icd_dispatch *to);
void socl_fill_transfers(cl_icd_dispatch *to);

/* -- answer.c: what functions return -- */

/* One answer of a query: `n` bytes. CL_INVALID_VALUE: they do not fit. */
cl_int socl_answer(const void *value, size_t n, size_t size, void *to, size_t *ret);
cl_int socl_answer_text(const char *text, size_t size, void *to, size_t *ret);
#define SOCL_ANSWER(type, ...)                                                           \
    do {                                                                                 \
        type answer_ = (type)(__VA_ARGS__);                                              \
        return socl_answer(&answer_, sizeof(answer_), size, to, ret);                    \
    } while (0)
/* Returns NULL. */
void *socl_fail(cl_int *ret_error, cl_int error);

/* -- objects: NULL and those of others are not one of ours -- */

static inline bool socl_is(const void *object)
{
    return object && SOCL_BELOW(object) == &socl_dispatch;
}
void socl_retain(struct socl_head *head);
/* Whether that was the last one. */
bool socl_drop(struct socl_head *head);
void socl_context_unref(cl_context context);
void socl_queue_unref(cl_command_queue queue);
void socl_mem_unref(cl_mem mem);
void socl_program_unref(cl_program program);
void socl_kernel_unref(cl_kernel kernel);
void socl_event_unref(cl_event event);
/* The index among the context's or the program's; -1: none of them. */
int socl_find_device(const cl_device_id *devices, unsigned n, cl_device_id device);

/* -- event.c: commands -- */

/* What a command uses of a buffer. */
struct socl_use {
    cl_mem mem;
    /* R; W: all its bytes get a value; RW. From the submission on, as it is for the data. */
    enum starpu_data_access_mode mode;
    cl_mem data; /* from the submission on: mem, or the buffer that it is a part of */
    size_t copied; /* bytes that the host copies from or to it … */
    char *to;      /* … to there, one after the other; NULL: elsewhere */
};

/* What a command does, and holds until its end. */
struct socl_work {
    struct socl_use *uses; /* owned, with a reference each */
    unsigned nuses;
    void (*free)(struct socl_work *work); /* what else it has; may be NULL */
    unsigned at;                          /* of uses: taken so far */
};

/* A wait list as the application gives it. */
struct socl_waits {
    cl_uint n;
    const cl_event *events;
};
/* CL_SUCCESS, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_CONTEXT. */
cl_int socl_check_waits(cl_context context, struct socl_waits waits);

/* Makes a command of a queue: with a begin, one of the host's, whose task ends when
 * socl_command_end() is called; else the task is filled in by the caller. The work is the
 * command's from here on, also after an error. */
cl_int socl_command_new(cl_command_queue queue, cl_command_type type,
                        struct socl_work *work, void (*begin)(cl_event event),
                        cl_event *ret);
/* Puts it into its queue; then *ret_event, if wanted, has a reference for the application,
 * and with `blocking` it has ended on return. The caller has no reference any more. */
cl_int socl_command_submit(cl_event command, struct socl_waits waits, bool blocking,
                           cl_event *ret_event);
/* A marker, or with `barrier` what later commands wait for. */
cl_int socl_marker(cl_command_queue queue, cl_command_type type, struct socl_waits waits,
                   bool barrier, cl_event *ret_event);
/* Of a command of the host's: it has been done, or failed. */
void socl_command_end(cl_event command, cl_int error);
/* A command has begun; false: what it waits for has failed, so that it does nothing. */
bool socl_command_begin(cl_event command);
/* Waits until all of a queue's commands have ended. */
void socl_queue_finish(cl_command_queue queue);

/* Takes the buffers that the command uses, on that node, each with its mode, by their
 * numbers; then calls `then`, which releases them. */
/* How many of the bytes of the program's memory, to which a value is read, have no pages yet:
 * all or none, by three of them. */
size_t socl_first_use(char *to, size_t bytes);

void socl_take_all(cl_event command, void (*then)(cl_event command));
void socl_release_all(cl_event command);

/* Under the lock. false: no memory. */
bool socl_events_add(struct socl_events *events, cl_event event);
void socl_events_clear(struct socl_events *events);
/* A command of no queue after all that use the buffer, and before all that will. Under the
 * lock; the work as that of socl_command_new(). The caller submits it when it has unlocked.
 * NULL: no memory. */
cl_event socl_change_new(cl_mem whole, struct socl_work *work, void (*begin)(cl_event event));

/* Work for `n` uses, of so many bytes all in all; NULL: no memory. */
void *socl_work_new(size_t bytes, unsigned n);
/* Gives up what was not made a command. NULL is nothing. */
void socl_work_free(struct socl_work *work);
void socl_work_use(struct socl_work *work, cl_mem mem,
                   enum starpu_data_access_mode mode);

/* -- mem.c, context.c -- */
/* Parts of socl_sweep(). */
void socl_mems_sweep(void);
void socl_contexts_sweep(void);
/* The data of all that the application has not released leave the run. */
void socl_mems_leave(void);

/* The buffer that has the data. */
static inline cl_mem socl_whole(cl_mem mem)
{
    return mem->parent ? mem->parent : mem;
}

/* Where the bytes of a use are in its data. */
static inline size_t socl_origin(const struct socl_use *use)
{
    return use->mem == use->data ? 0 : use->mem->origin;
}

/* -- parts.c: buffers that are used by their parts -- */

/* A sub-buffer was made: it gets data of its own if that can be. */
void socl_part_enter(cl_mem part);
/* One that has such goes: the whole has its bytes on return. */
void socl_part_leave(cl_mem part);
/* Under the lock, which it may leave meanwhile: waits until those have gone that go. */
void socl_parts_settle(const struct socl_work *work);
/* Chooses the data of each use, and its mode. Adds commands to the list `changes` that have
 * to be submitted before. Under the lock. `maps`: the command maps or unmaps; `device`: it is
 * a device's. false: no memory. */
bool socl_choose_data(struct socl_work *work, bool maps, bool device, cl_event *changes);

/* -- codelet.c: tasks for devices -- */

/* All kernels of a name. */
struct socl_codelet {
    struct socl_codelet *next;
    struct starpu_codelet codelet;
    struct starpu_perfmodel model;
    char *name; /* owned */
};
/* NULL: no memory. */
struct socl_codelet *socl_codelet_of(const char *name);

/* The argument of the tasks: a command whose work begins so. */
struct socl_device_work {
    struct socl_work head;
    cl_event command;
    uint32_t footprint;
    bool counted; /* these are known: */
    double flops32, flops64, ints, bytes;
    /* Puts it into the queue of its device; in its worker. A buffer for each use. */
    cl_int (*launch)(struct socl_device_work *work, cl_device_id device,
                     cl_command_queue queue, const cl_mem *buffers);
    /* The same on main memory. */
    cl_int (*on_host)(struct socl_device_work *work, void *const *buffers);
};
/* The task's data, of uses whose data are chosen. false: no memory. */
bool socl_device_set_data(struct starpu_task *task, const struct socl_work *work);
cl_int socl_device_submit(cl_command_queue queue, cl_command_type type, const char *name,
                          struct socl_device_work *work, struct socl_waits waits,
                          bool blocking, cl_event *ret_event);

/* -- program.c -- */

/* The names of its kernels, with `;' between; for free(). NULL: no memory. */
char *socl_program_kernels(cl_program program);
/* Built for the host's implementation, lent; NULL: it cannot be, which was said. */
cl_program socl_program_on_host(cl_program program);

/* Of simulated devices: work-items that go together. */
enum { SOCL_WARP = 32 };

/* -- host.c: kernels that a simulation executes -- */

/* NULL: there is none, with a message. */
const struct socl_host *socl_host(void);
