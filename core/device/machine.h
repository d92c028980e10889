/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/machine.h - the interface of a machine: its workers, its memory
 * nodes, and how to allocate, copy and compute on them. Real devices and the
 * simulator each fill one `struct orr_machine`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/error.h"
#include "core/base/exec.h"

struct orr_cpus;
struct orr_copy;
struct orr_driver;
struct orr_job;
struct orr_kernel;
struct orr_machine;
struct orr_pinned;
struct orr_queue;
struct orr_runtime;

/* One memory node. Node 0 is main memory, and so are those after it whose kind
 * is CPU RAM. */
struct orr_node_desc {
    enum starpu_node_kind kind;
    int devid;         /* number among the devices of its type */
    int os_number;     /* the system's, of a NUMA node */
    size_t capacity;   /* bytes usable for data, 0: unlimited */
    /* Bytes that tasks which say how much they need may take beside data, all at once;
     * 0: unlimited. */
    size_t task_memory;
    char name[32];     /* "NUMA 0", "CUDA 1" */
    char bus[16];      /* where its device is, "3b:00.0" (choice.h); or empty */
    bool suballocated; /* small blocks are carved from 32 MiB chunks */
    bool host_addressable;     /* the host reads and writes it by its addresses:
                            * main memory, and what is simulated with memory */
    bool handles;              /* its addresses are handles of buffers: where in
                                * one bytes are is an offset beside it */
    bool stores; /* it takes what main memory has no room for, and no worker
                  * computes there: a disk */
    bool copies_wait; /* who starts a copy to or from it waits for its end */
    struct orr_driver *driver; /* whose memory it is; lent by the machine */
};

/* Whether it is main memory, which all processors can address. */
static inline bool orr_node_is_main(const struct orr_node_desc *node)
{
    return node->kind == STARPU_CPU_RAM;
}

/* Kernels that are faster on a worker than their models estimate. */
struct orr_kernel_speed {
    char *pattern; /* "name" in quotation marks: this name; with * or ?: names
                      * that match; else names that contain it; owned */
    double speed;  /* their durations are divided by it */
    bool met;      /* some kernel was one of them; atomic, relaxed */
};

/* Workers with the same ones share a list. */
struct orr_kernel_speeds {
    struct orr_kernel_speed *items; /* owned */
    unsigned n;
};

/* What a worker draws more than when it is idle, W; NaN: not stated. */
struct orr_kernel_power {
    char *kernel; /* owned: the symbol of its model, else the codelet's name */
    double watts; /* while it executes that */
};

struct orr_worker_powers {
    double busy;                    /* while it executes any other kernel */
    struct orr_kernel_power *items; /* owned */
    unsigned n;
};

/* A what-if edit of a simulated machine, and what it concerns. */
struct orr_machine_edit {
    char *edit;    /* owned, as written */
    char *text;    /* owned: what it has changed, a sentence */
    char *members; /* owned: of a JSON object, without braces */
    char *kernel;  /* owned: pattern of the kernels it concerns, or NULL */
    bool effect;   /* it has changed something that exists */
    bool values;   /* it changes values of workers or links, not counts */
    bool *workers; /* owned, nworkers: those that it concerns */
    bool *pairs;   /* owned, by orr_machine_pair: copies that it concerns */
};

/* One worker. */
struct orr_worker_desc {
    enum starpu_worker_archtype type;
    int devid;         /* number among the devices of its type */
    void *handle;      /* what names it in struct starpu_driver; NULL: devid */
    unsigned node;     /* memory node it computes in */
    unsigned stream;   /* which of its device's workers, from 0 */
    int cpu;           /* logical processor to bind to, -1: none */
    bool beside;       /* of a device: it shares that of the worker before it */
    unsigned pipeline; /* tasks in flight at once, at least 1 */
    bool async;        /* kernels flagged asynchronous run beside the worker */
    double speed;      /* core divides model times by it; 1 by default */
    /* Published rates, of simulated machines that state them; 0: unknown. flop per µs
     * in single and double precision, bytes per µs of the memory. */
    double flops32, flops64, bytes;
    /* 0: uses the models of its own device number, else for this one less 1. */
    unsigned models_of;
    struct orr_kernel_speeds *kernels; /* lent by the machine; NULL: none */
    /* lent by the machine; NULL: none are stated */
    struct orr_worker_powers *powers;
    struct orr_driver *driver;         /* operates it; lent by the machine */
    char name[64];                     /* "CUDA 0.0 (Tesla M2070 4.7 GiB)" */
};

/* Of a simulated machine: how many workers of a type there would be without what the
 * program asks for, and what it asks for; -1: nothing. */
struct orr_asked {
    enum starpu_worker_archtype type;
    unsigned there;
    int asked;
};

enum { ORR_NASKED = 3 };

/* Virtual microseconds that the runtime's own work takes; all 0 on a real
 * machine, where it takes real time. docs/COSTS.md gives defaults. */
struct orr_costs {
    double submit;       /* a submission */
    double submit_per_buffer; /* … and what each of its buffers adds */
    double push;         /* a ready task entering the scheduler */
    double fetch;        /* per buffer of a task whose input is fetched */
    double device_alloc; /* an allocation from the device driver */
    double device_free;
    double pinned_alloc_per_mib; /* pinned main memory */
    /* Copies into main memory, or a device's, that nobody has used. */
    double first_use_per_mib;
    double device_first_use_per_mib;
    double kernel_queue; /* handing a kernel to an asynchronous device */
    double kernel_latency; /* … until that begins it, if it is idle */
    double copy_queue;   /* handing over a copy */
    double progress;     /* a worker polling for its next action */
};

/* The end of an operation, on its way from any thread to who drives the node:
 * mailbox.h. */
struct orr_mailbox;
struct orr_post {
    struct orr_post *next;
    struct orr_mailbox *mailbox; /* lent; set by who starts the operation */
    int error; /* 0, or what was found to have failed at the end only: -EIO,
                * -ENODEV */
    unsigned *outside; /* what the post counts down, mailbox.h, or NULL */
    /* Called once, by a context that looks into the mailbox. */
    void (*arrived)(struct orr_post *post);
};

/* What `async_data` of an interface's copy methods leads to: where its raw copies
 * go. */
struct orr_async {
    struct orr_driver *driver;
    struct orr_queue *queue; /* NULL: nothing is asynchronous */
    int error;               /* the first failure of a copy, -EIO or -ENODEV;
                              * written before the post is made */
    bool used;               /* something was put into the queue */
};

/* A copy between two nodes. Core owns it, from copy_start until `done` has
 * been called; drivers use `machine_link` as they like in between. */
struct orr_copy {
    unsigned src, dst; /* memory nodes; equal: within main memory */
    size_t size;       /* bytes, > 0 */
    uint64_t id;       /* unique, in order of creation */
    /* Moves the bytes with the data interface's methods: those that are written
     * on raw copies put them into the queue of `async` and it returns -EAGAIN.
     * NULL: all is done on return, with 0. Called once per start where nodes
     * have real memory, never else. Errors: -EIO, -ENODEV. */
    int (*perform)(struct orr_copy *copy, struct orr_async *async);
    /* Called exactly once when the copy is complete, from any context (also the
     * machine's own), no lock held, never from inside copy_start when
     * simulated. It wakes the waiting contexts and does not block. What failed
     * is in async.error. */
    void (*done)(struct orr_copy *copy);
    /* Called once when all of it is in a queue and none has failed, before `done`; never
     * by a simulated machine. NULL: nobody wants that. */
    void (*queued)(struct orr_copy *copy);
    size_t fresh; /* bytes of these that go to memory which nobody has used:
                   * costs.first_use_per_mib; machines that are simulated look at it */
    bool behind; /* its queue waits for the kernels that workers of `src`, which are its
                  * driver's, have in theirs: see `after` in driver.h */
    struct orr_async async;
    struct orr_post post; /* leads to `done`, for drivers whose copies end on
                           * threads of their own */
    void *machine_link[4];
    double waited; /* µs until the engine took it, from a simulated machine; else 0 */
};

/* A kernel of one task on one worker. Core owns it, as with copies. */
struct orr_kernel {
    unsigned worker;
    bool async;      /* the codelet's flag for this implementation */
    int error;       /* set by the driver: -EAGAIN, it was not begun; -EIO;
                      * -ENODEV, the device is lost */
    int found;       /* core's: the same, of what a function of the library's
                      * own has found to have failed; 0: nothing */
    unsigned ntries; /* that failed */
    double duration; /* µs predicted by the model and the worker's speeds;
                      * simulated machines take it as the true one. NaN never
                      * reaches a machine. */
    double
        latency; /* µs from its start until a simulated device that is idle begins it */
    double bytes; /* which a processor's kernel moves from and to memory, if it touches
                   * all of its data once; 0: not known, or not on one */
    uint64_t id;
    struct orr_runtime *runtime; /* whose it is */
    struct orr_job *job;         /* … and the job that it executes, or NULL */
    /* Runs the user's function. Real machines call it, in any context;
     * simulated ones when kernels are run. Never blocks. */
    void (*run)(struct orr_kernel *kernel);
    /* As with copies; only for kernels started with result 0. */
    void (*done)(struct orr_kernel *kernel);
    struct orr_post post; /* leads to `done` */
    double start, end; /* µs, set by the machine before it reports the end */
    /* µs of the kernel's run in which its task waited and the worker did other
     * things; who notes `start` before the run begins at 0. */
    double away, thread_away; /* the latter of the thread's own time */
    bool recorded; /* core's: the application gave its length */
    bool timed;  /* core's: a model learns from its length */
    bool coarse; /* core's: nobody wants to know exactly when it started and ended */
    double lost; /* µs of that in which other programs had the processor, of one that
                  * is timed, where the driver knows; core has made it 0 */
    struct orr_context *waits; /* while its task is suspended, who it is */
    uint32_t traced;           /* orr_trace_begin's ticket while it runs */
    void *machine_link[2];
};

/* µs that its worker spent on it. */
static inline double orr_kernel_length(const struct orr_kernel *kernel)
{
    return kernel->end - kernel->start - kernel->away;
}

/* A disk that is to become a memory node. */
struct orr_disk_options {
    const struct starpu_disk_ops *ops; /* lent until the machine is closed */
    void *parameter;                   /* ops->plug's */
    starpu_ssize_t size;               /* bytes, negative: unlimited */
    const char *directory; /* the parameter, if objects are files there */
};

struct orr_machine_ops {
    /* Ends everything: all contexts but the caller's (main) have been joined,
     * but those of drivers. Frees the machine. The caller continues as an
     * ordinary thread. */
    void (*close)(struct orr_machine *machine);
    /* Fills the node after the last one, and its links, for which there is room
     * (spare_nodes); who calls then counts it. Any context of the application.
     * -ENOENT with a message when the disk does not answer. */
    int (*add_disk)(struct orr_machine *machine,
                    const struct orr_disk_options *disk, struct orr_error *err);
};

/* A link that copies share. */
struct orr_machine_link {
    char *name;       /* owned */
    double bandwidth; /* bytes per µs for all copies together; INFINITY: they
                       * do not share it */
};

/* A figure of a simulated machine that was multiplied, and within what nine of ten such
 * factors are: 1 / (1 + error) … 1 + error. */
struct orr_machine_drawn {
    char *figure; /* "pcie bandwidth 54.2 GB/s" */
    double factor, error;
    bool measured; /* the error is the spread of its measures */
};

/* The links of a direct copy: route_links[first_link … + nlinks). */
struct orr_machine_route {
    unsigned src, dst, first_link, nlinks;
    double latency; /* µs */
};

struct orr_machine {
    int main_cpu; /* [const] the processor kept for main, + 1; 0: none */
    const struct orr_cpus *usable; /* [const] processors that workers could take; NULL:
                                    * simulated */
    const struct orr_machine_ops *ops;
    struct orr_exec *exec;
    /* What it does; core asks for these, never for what it is. */
    bool runs_kernels;        /* kernels and copies touch real memory */
    bool runs_host_functions; /* where kernels are run, those for processors
                               * stand for all others */
    bool kernels_take_their_length; /* a kernel takes the length that core
                                     * predicts: what is not known must be given,
                                     * and nothing is measured */
    bool all_devices; /* a codelet runs wherever it has a time, whatever `where' and its
                       * functions say, and the program has not chosen the workers */
    struct orr_asked asked[ORR_NASKED]; /* simulated; else nothing is there */
    bool models_energy;             /* so is the energy of tasks: there are no
                                     * counters */
    bool crowded; /* workers have all processors: what the application's threads
                   * take of them is lost to a worker that is busy */
    bool host_copies_at_once; /* copies between main memories are made by the
                               * caller, in copy_start */
    char *name;         /* owned: "mirage", or the host's name */
    char *host;         /* owned: host name under which models are looked up */
    char *sampling_dir; /* owned: where its own models lie, or NULL */
    const char *provenance; /* "measured", "derived" or NULL, for tables */
    char *not_measured;     /* owned: which of a measured machine's figures are not
                             * measured, a list in words; NULL: none, or unknown */
    /* the machine's, ndrivers; main memory's first */
    struct orr_driver **drivers;
    unsigned ndrivers;
    /* Where pinned main memory is noted, and whose it is; NULL both: none is.
     * Lent. core/device/pinned.h */
    struct orr_pinned *pinned;
    struct orr_driver *pinner;
    unsigned nnodes, nworkers;
    unsigned spare_nodes; /* so many may come: disks, core/device/driver.h */
    struct orr_node_desc *nodes;     /* owned, nnodes and spare ones */
    struct orr_worker_desc *workers; /* owned, nworkers */
    /* Row-major nworkers × nworkers: for each worker all of them, itself first,
     * then by the distance of their processors. Owned; NULL: unknown. */
    unsigned *neighbours;
    /* The same pairs by worker numbers: how far apart they are, comparable among
     * those of one worker (neighbours.h). Owned; NULL: unknown. */
    unsigned *distances;
    /* By orr_machine_pair, rows of `row` nodes. bandwidth in MB/s (bytes per
     * µs), latency in µs, NaN: unknown. Owned. */
    unsigned row;
    double *bandwidth, *latency;
    bool *direct; /* a copy may go straight from the source to the destination */
    /* How direct copies go, with the links they use. Owned; NULL: each direct
     * pair has a link of its own, as above. */
    struct orr_machine_link *links;
    struct orr_machine_route *routes;
    unsigned *route_links;
    unsigned nlinks, nroutes;
    struct orr_costs costs;
    /* Of simulated machines: lists that workers refer to, and what-if edits.
     * Owned. */
    struct orr_kernel_speeds *kernel_speeds;
    unsigned nkernel_speeds;
    struct orr_worker_powers *powers; /* owned */
    unsigned npowers;                 /* 0: no power is stated */
    /* of all of it when nothing runs, if some are; NaN: not stated */
    double idle_watts;
    struct orr_machine_edit *edits;
    unsigned nedits;
    /* Figures that are off in this draw (ORRERY_SIM_DRAW); owned, the texts, too. */
    struct orr_machine_drawn *drawn;
    unsigned ndrawn;
};

/* Where matrices of pairs of nodes have that of two. While a machine is being
 * made a row is as long as it has nodes. */
static inline size_t orr_machine_pair(const struct orr_machine *machine,
                                      unsigned src, unsigned dst)
{
    return (size_t)src * machine->row + dst;
}

/* A link of that many bytes per µs and µs, on which copies go directly. */
static inline void orr_machine_set_link(struct orr_machine *machine,
                                        unsigned src, unsigned dst,
                                        double bandwidth, double latency)
{
    size_t pair = orr_machine_pair(machine, src, dst);

    machine->bandwidth[pair] = bandwidth;
    machine->latency[pair] = latency;
    machine->direct[pair] = true;
}
