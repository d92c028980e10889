/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/steps/world.h - what the explored programs have in common: a run of the
 * library on a machine of the test's own, data, jobs that check their values
 * against the sequential oracle, and what must be true of all at every switch
 * and at the end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/data/data.h"
#include "core/data/handle.h"
#include "core/data/node.h"
#include "core/data/request.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "tests/steps/explore.h"

enum { WORLD_DATA = 4, WORLD_JOBS = 32, WORLD_WORKERS = 4 };

/* Bytes of a datum: two words, the second the complement of the first. */
#define DATUM_SIZE 16

struct world_spec {
    unsigned nram;  /* nodes of main memory; 0: one */
    unsigned ncpus; /* CPU workers in each of them */
    unsigned ndevices;
    bool peers;           /* devices copy to each other */
    unsigned room;        /* data that a device has room for; 0: no limit */
    unsigned ram_room;    /* the same for a node of main memory */
    const char *eviction; /* ORRERY_EVICTION; NULL: the default */
    bool loops; /* workers run core/loop/loop.c, started by the case */
};

struct datum {
    struct orr_handle *handle; /* NULL: it was unregistered */
    uint64_t home[2];
    uint64_t value;            /* that it must have now */
    bool unknown;              /* … not: invalidated */
    unsigned readers, writers; /* that are under way */
    unsigned nlog;
    uint64_t log[WORLD_JOBS]; /* writers in the order of execution */
    unsigned wrote[STEP_CONTEXTS], used[STEP_CONTEXTS]; /* the last ordered
                                * access of each submitter */
};

extern struct orr_runtime *world;
extern struct datum data[WORLD_DATA];

/* Opens the run; once in a process. */
void world_open(const struct world_spec *spec);

/* A thread of the application: body((unsigned)number). From `begin`. */
void world_thread(unsigned number, void (*body)(unsigned));

/* A worker in the simple loop of this test: runs jobs of its node. A daemon. */
void world_worker(unsigned worker);

/* Starts each schedule; data are made and have the value 1 at home. */
void world_begin(unsigned ndata);

/* Ends it: checks and frees everything. */
void world_end(void);

/* At each switch. */
void world_look(void);

/* --- jobs --- */

struct orr_job *world_job(unsigned thread, unsigned naccesses);

/* Its next access. */
void world_use(struct orr_job *job, struct datum *datum, uint32_t mode,
               bool ordered);

/* It runs in main memory without fetching (-1), or is fetched to a node. */
void world_submit(struct orr_job *job, int node);

/* All three, with one ordered access. */
void world_submit_one(unsigned thread, struct datum *datum, uint32_t mode,
                      int node);

/* Runs the job if it is ready and no other thread has it. */
void world_run(uint64_t id);

/* Takes the job that has become ready and runs it: those without node. Returns
 * when `njobs` jobs have ended. Parks. */
void world_help(unsigned njobs);

unsigned world_ended(void);

/* What the application, which has acquired the datum, finds and leaves there. */
void world_read(struct datum *datum, unsigned node);
void world_write(struct datum *datum, unsigned node);

/* The value that is now on the node is right; at the end. */
void world_expect(struct datum *datum, unsigned node);

/* --- tasks, with workers in their own loop --- */

/* A task with a kernel that checks its data as jobs do. */
void world_task(unsigned ndata, struct datum *const *which, uint32_t mode,
                int worker);
