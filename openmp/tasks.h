/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/tasks.h - what the task constructs of both compilers share: data of depend
 * clauses, events of detached tasks, the parts of taskloops.
 */
#pragma once

#include "openmp/start.h"

/* --- data --- */

/* Those of one construct; an address that comes twice is used once. */
struct openmp_uses {
    size_t n, size;
    bool all;                  /* omp_all_memory */
    struct orr_openmp_use *at; /* `few`, or owned */
    struct orr_openmp_use few[16];
};

void openmp_uses_init(struct openmp_uses *uses);
/* NULL that is written is omp_all_memory, all there is. */
void openmp_uses_add(struct openmp_uses *uses, const void *address,
                     enum starpu_data_access_mode mode);
void openmp_uses_done(struct openmp_uses *uses);

/* A task that writes omp_all_memory comes after all of its siblings that there are, and
 * before those to come: then the caller waits for them, and true says that it has to wait
 * for the task as well. It then uses nothing else. */
bool openmp_uses_await_all(struct openmp_uses *uses);

/* in; out and inout; mutexinoutset, whose tasks come one at a time, in any order; inoutset,
 * whose tasks run together. */
#define OPENMP_IN STARPU_R
#define OPENMP_INOUT STARPU_RW
#define OPENMP_MUTEX ((enum starpu_data_access_mode)(STARPU_RW | STARPU_COMMUTE))
#define OPENMP_SET ORR_OPENMP_SET

/* --- tasks that end when omp_fulfill_event was called --- */

struct openmp_event;

struct openmp_event *openmp_event_new(void);
/* The body of the event's task has ended. The last thing that it does. */
void openmp_event_body_ended(struct openmp_event *event);
/* Any thread. */
void openmp_event_fulfil(struct openmp_event *event);

/* --- taskloops --- */

/* How n iterations are dealt out to tasks. */
struct openmp_parts {
    uint64_t ntasks;
    uint64_t each; /* the iterations of one … */
    uint64_t more; /* … and of so many of the first ones, one more */
};

/* As many tasks, 0: as the team has threads; as many iterations each, or more; or exactly
 * so many, but in the last one. */
struct openmp_parts openmp_parts_by_number(uint64_t n, uint64_t ntasks);
struct openmp_parts openmp_parts_by_grain(uint64_t n, uint64_t grain, bool strict);

/* The iterations of part i. */
uint64_t openmp_part_size(const struct openmp_parts *parts, uint64_t n, uint64_t i);
