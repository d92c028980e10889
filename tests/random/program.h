/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/program.h - a random program: a machine, and on it one graph
 * after the other, each a list of calls on some data. Plain values without
 * pointers, so that the shrinker copies and edits them as it likes.
 *
 * What generate.c draws and shrink.c leaves over may make no sense (a value
 * read that nobody wrote, a wait for oneself); legal.c makes of it a program
 * that has one result, and that is what is run, printed and asked the oracle.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "bytes.h"
#include "shape_calls.h"

enum {
    MAX_BUFFERS = 8,
    MAX_DATA = 20,
    MAX_TASKS = 64, /* a bit each */
    MAX_CALLS = 256,
    MAX_THREADS = 3,
    MAX_GPUS = 4,
    MAX_RAMS = 4,
    MAX_CPUS = 6,
    MAX_WORKERS = MAX_CPUS + MAX_GPUS,
    MAX_GRAPHS = 64, /* on one machine */
    MAX_PLANS = 2,
    SHARED = MAX_THREADS,
};

/* -- the machine -- */

struct machine {
    bool real;
    bool loopback; /* real: the GPUs are loopback devices */
    uint8_t ncpu, ngpu, nram;
    uint8_t gpu_mib[MAX_GPUS]; /* what data may take there */
    uint16_t ram_kib;          /* of each NUMA node, or of the one; 0: enough */
    bool disk;                 /* what main memory has no room for goes there */
    uint16_t peers;    /* bit 4 i + j: GPU i copies to GPU j by itself */
    uint8_t gpu_speed; /* times as fast as a CPU */
    uint8_t sched;     /* among schedulers[] */
    uint8_t eviction;  /* among evictions[] */
    bool prefetch;
    uint8_t pipeline;
    bool contexts; /* there is a second one, of all workers */
    uint8_t queued; /* STARPU_NTASKS_THRESHOLD, 0: unset */
};

extern const char *const schedulers[];
extern const unsigned nschedulers;
extern const char *const evictions[];
extern const unsigned nevictions;

/* -- data -- */

enum data_kind {
    DATA_CHAIN,   /* each value depends on all before it */
    DATA_COUNTER, /* only added to, in whatever order */
    DATA_SCRATCH,
};

struct data {
    uint8_t kind;
    struct shape shape;
    int8_t home;                /* a node of main memory, -1: none */
    bool disordered;            /* without sequential consistency */
    uint8_t owner;              /* the thread that uses it, or SHARED */
    int8_t parent;              /* whose piece it is, -1: nobody's */
    uint8_t part;               /* which piece */
    uint8_t plan;               /* … of which plan */
    bool planned;               /* it is cut by plans, while it is used */
    struct cut cuts[MAX_PLANS]; /* how it may be cut; more than once by plans
                                 * only */
    bool arbitered;             /* has the arbiter of the graph */
    bool redux;                 /* has the methods for reductions */
    uint8_t through; /* bits of nodes to which each value is written */
    bool in_core;    /* does not go to a disk */
    bool unimportant;
};

/* -- calls -- */

enum call_kind {
    CALL_REGISTER,
    CALL_FORK, /* the other threads begin */
    CALL_TASK,
    CALL_ACQUIRE,
    CALL_RELEASE,
    CALL_PREFETCH,
    CALL_WONT_USE,
    CALL_EVICT,
    CALL_INVALIDATE,
    CALL_COPY, /* of datum `from` to this one */
    CALL_PARTITION,
    CALL_UNPARTITION,
    CALL_SWITCH, /* of planned data: to `mode`, from `how` */
    CALL_WAIT_ALL,
    CALL_WAIT_TASK,
    CALL_WAIT_TAG,
    CALL_JOIN, /* the other threads have ended */
    CALL_UNREGISTER,
    CALL_KINDS,
};

/* What of planned data is used. */
enum plan_use {
    PLAN_NONE, /* there is no such plan now */
    PLAN_IDLE, /* not its pieces */
    PLAN_READ,
    PLAN_WRITE,
};

/* How an access, a prefetch, an end is asked for. */
enum how {
    HOW_WAIT = 0,
    HOW_CALLBACK = 1, /* CALL_ACQUIRE: it also releases */
    HOW_TRY = 2,      /* CALL_ACQUIRE: released at once, if there was one */
    HOW_SUBMIT = 1,   /* CALL_UNREGISTER, _INVALIDATE, _PREFETCH, _COPY */
    HOW_IDLE = 2,     /* CALL_PREFETCH */
    HOW_DROP = 2,     /* CALL_UNREGISTER: without coherency */
    NHOWS = 3,
};

enum where { WHERE_ANY, WHERE_CPU, WHERE_CUDA, NWHERES };

/* On which nodes a task's buffers are used: place_of(). */
enum places {
    PLACES_WORKER, /* its worker's */
    PLACES_MAIN,
    PLACES_NEAR,  /* that, if the value is there and not on the worker's */
    PLACES_MIXED, /* in turns: the worker's and main memory */
    PLACES_FIRST, /* in turns: node 1 and the worker's */
    NPLACES
};

struct access {
    uint8_t data;
    uint16_t mode;
    bool disordered; /* its flag in handles_sequential_consistency is 0 */
};

struct call {
    uint8_t kind;
    uint8_t thread;
    bool automatic; /* put there by legal.c, which does it anew each time */
    uint8_t how;
    uint8_t data;
    uint8_t node;
    uint16_t mode;
    uint8_t from;    /* CALL_COPY */
    bool copied;     /* CALL_ACQUIRE: a duplicate, which is looked at when the
                      * acquisition would be released */
    bool downgraded; /* CALL_ACQUIRE: what is held is only read soon */
    uint64_t salt;

    /* CALL_TASK; of CALL_WAIT_TASK and CALL_WAIT_TAG the task's number */
    uint8_t task;
    uint8_t nbuffers;
    struct access buffers[MAX_BUFFERS];
    uint8_t length; /* among lengths_us[] */
    uint8_t where;
    uint8_t places;
    int8_t worker; /* -1: any */
    uint16_t refused; /* bits of workers, by can_execute */
    bool paused;      /* submitted during a pause */
    bool in_second;   /* in the second context … */
    uint8_t away;     /* … without this worker, + 1; 0: with all */
    int8_t priority;
    bool async;       /* the CUDA kernel is */
    bool disordered;  /* task->sequential_consistency is 0 */
    bool synchronous; /* submission waits */
    bool by_tags;     /* what it comes after is said with tags */
    uint64_t after;   /* tasks that it waits for: because it was drawn so */
    uint64_t needs; /* … because order has to come from somewhere: legal.c */
};

extern const unsigned lengths_us[];
extern const unsigned nlengths;

struct graph {
    uint64_t seed; /* for messages */
    uint8_t ndata, nthreads;
    uint16_t ncalls;
    struct data data[MAX_DATA];
    struct call calls[MAX_CALLS];
    /* Set by legal.c: tasks that have a tag, are waited for, are declared
     * dependencies of others. */
    uint64_t tagged, awaited, kept;
};

struct program {
    struct machine machine;
    bool spoilt; /* some tasks do not write, to see what comes of it */
    unsigned ngraphs;
    struct graph graphs[MAX_GRAPHS];
};

/* What is so while a thread submits a task, and ends before its next call of
 * another sort: such a call may wait for what cannot go on until then. */
struct around {
    bool paused;
    uint8_t away; /* worker + 1 */
};

/* -- questions -- */

struct around around_call(const struct call *call);

/* Of buffer k, as codelets have it in nodes[]. */
int place_of(enum places places, unsigned k);

static inline uint64_t bit(unsigned i)
{
    return UINT64_C(1) << i;
}

static inline size_t data_words(const struct data *data)
{
    return shape_words(&data->shape);
}

static inline size_t data_bytes(const struct data *data)
{
    return shape_bytes(&data->shape);
}

/* At home. */
static inline bool data_has_memory(const struct data *data)
{
    return data->home >= 0 && data->parent < 0 && data->shape.layout != NOTHING;
}

/* With those where nothing runs: a disk is the last one. */
static inline unsigned machine_nodes(const struct machine *machine)
{
    return machine->nram + machine->ngpu + machine->disk;
}

static inline unsigned machine_workers(const struct machine *machine)
{
    return machine->ncpu + machine->ngpu;
}

/* Whether it has a value without being written: the init codelet's, all zero. */
bool data_makes_first(const struct data *data);

/* What an access with the mode does with the words of the datum. */
enum use use_of(const struct data *data, unsigned mode);

/* The node of an acquisition is one whose memory the program may look at. */
bool is_main(const struct machine *machine, unsigned node);
