/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/fake_runtime.h - a runtime on a machine that the test defines,
 * with all of core but its workers' loop: nothing happens unless the test calls
 * it. Copies stay under way until the test ends them, a context that would wait
 * calls the test, the clock stands. One thread.
 *
 * Whatever the test does, this is checked all along: no handle is locked while
 * memory is allocated, a method of an interface is called or a context is
 * woken, no device is given more memory than it has, and in the end nothing is
 * left.
 *
 * The linker sends the library's allocations through here (-Wl,--wrap=...).
 */
#pragma once

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/data/eviction.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/request.h"
#include "core/job/job.h"
#include "core/runtime_members.h"

#define FAKE_NODES   8
#define FAKE_WORKERS 16
#define FAKE_JOBS    4096
#define FAKE_COPIES  64
#define FAKE_SIZE    64
#define FAKE_MAIN    31 /* the bit of main among those of workers */

/* What a machine has; zero is main memory without workers. */
struct fake_spec {
    unsigned nram;     /* nodes of main memory; 0: one */
    unsigned ncpus;    /* CPU workers in each of them */
    unsigned ndevices; /* each with a node and a worker; numbered after those */
    uint64_t empty;    /* bits of nodes without workers all the same */
    bool peers;        /* devices copy to each other */
    bool simulated;
    size_t ram_bytes, device_bytes;      /* of each node; 0: no limit */
    const struct orr_eviction *eviction; /* NULL: lru */
};

struct fake {
    struct orr_runtime rt;
    struct orr_runtime_members members; /* its */
    struct orr_machine machine;
    double now; /* µs */
    /* Copies under way, in the order in which they were started. */
    struct orr_copy *copies[FAKE_COPIES];
    unsigned ncopies, nstarted;
    size_t bytes[FAKE_NODES];  /* allocated on the machine */
    uint64_t no_memory;        /* bits of nodes whose machine has none left */
    struct orr_slab *no_slab;  /* which gives no objects any more, or NULL */
    long out[3];               /* requests, edges, jobs taken from slabs and not
                                * given back */
    unsigned long ntaken;      /* objects ever taken */
    unsigned woken;            /* bits of workers and FAKE_MAIN */
    uint64_t ready[FAKE_JOBS]; /* ids of the jobs that became ready */
    unsigned nready;
    /* By id: how often a job was notified that its data are there. */
    unsigned arrived[FAKE_JOBS];
    /* Called while a context waits, until its condition holds; NULL: the wait
     * would not end, and the test fails. */
    void (*meanwhile)(void);
    /* The handle that another thread has locked, or NULL. */
    const struct orr_handle *held;
    /* Called when memory for a handle is allocated or freed on a node. */
    void (*allocating)(unsigned node);
};

enum { FAKE_REQUESTS, FAKE_EDGES, FAKE_OBJECTS };

extern struct fake fake;

void fake_open(const struct fake_spec *spec);

/* Ends the run; checks that nothing is left of it. */
void fake_close(void);

/* From now on the caller is that worker, or main if -1. */
void fake_be(int worker);

/* The first worker that computes in the node, -1 for none. */
int fake_driver(unsigned node);

/* Lets n more allocations succeed and refuses the one after them; -1: none.
 * Returns what is left of the n of the last call, -1 once one was refused.
 * Meanwhile the test may not assert: Check's own allocations count. */
long fake_refuse(long n);

/* --- data --- */

/* A handle of that many bytes whose memory is on the node `home`, or without a
 * value if -1. */
struct orr_handle *fake_handle(int home, size_t size);

/* What is in its memory on a node; the bytes of others are the machine's. */
void fake_set(struct orr_handle *handle, unsigned node, uint64_t value);
uint64_t fake_get(const struct orr_handle *handle, unsigned node);

bool fake_is_valid(const struct orr_handle *handle, unsigned node);
bool fake_is_allocated(const struct orr_handle *handle, unsigned node);

/* A kernel that ran on the node, or the application there, has written the
 * value, which is the only one from now on. Its memory is there. */
void fake_overwrite(struct orr_handle *handle, unsigned node, uint64_t value);

/* A datum of FAKE_SIZE bytes that only the node has, a job wrote it there. All
 * counters are reset. */
struct orr_handle *fake_only_on(unsigned node, uint64_t value);

/* Neither a job nor a request uses the datum. */
void fake_assert_idle(struct orr_handle *handle);

/* --- jobs --- */

/* A job with room for n accesses, which the test may look at until the end. */
struct orr_job *fake_job(unsigned n);

/* Its next access, ordered. */
struct orr_access *fake_use(struct orr_job *job, struct orr_handle *handle,
                            uint32_t mode);

/* Submits it: it may have become ready on return. */
void fake_submit(struct orr_job *job);

/* The three at once, with one datum. */
struct orr_job *fake_submit_one(struct orr_handle *handle, uint32_t mode);

/* How often it became ready. */
unsigned fake_readied(const struct orr_job *job);

/* The job is ready and the first worker of the node, or main, requests its
 * data: what orr_job_fetch returns. The worker looks at its node afterwards. */
bool fake_fetch(struct orr_job *job, unsigned node);

/* How often it was notified that its data are there. */
unsigned fake_told(const struct orr_job *job);

/* All its data were fetched: it runs and writes that value. */
void fake_run(struct orr_job *job, uint64_t value);

/* It ends, whether it was ready only or has run. */
void fake_end(struct orr_job *job);

/* Both. */
void fake_finish(struct orr_job *job, uint64_t value);

/* A job with one datum whose order it does not keep. */
struct orr_job *fake_unordered(struct orr_handle *handle, uint32_t mode);

/* Such a job, whose data are not all in the node yet. */
struct orr_job *fake_ask(struct orr_handle *handle, uint32_t mode,
                         unsigned node);

/* All that a job does, with one datum, as soon as the node has it. */
void fake_task(struct orr_handle *handle, uint32_t mode, unsigned node,
               uint64_t value);

/* --- transfers --- */

/* orr_request_need with its lock, as many spares as it wants, and what is put
 * off. */
int fake_need(struct orr_handle *handle, unsigned node, bool reads,
              enum orr_fetch_level level, struct orr_access *access);

/* A progress worker of the node starts what it can. */
void fake_progress(unsigned node);

/* Ends a copy that is under way: the i-th. */
void fake_end_copy(unsigned i);

/* Progress workers that were woken start what they can, and copies end, the
 * oldest first, until nothing happens any more. */
void fake_settle(void);

/* What orr_handle_will_be_written_locked says. */
bool fake_will_be_written(struct orr_handle *handle);
