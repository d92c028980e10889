/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/entries.h - what the entries of compilers (openmp/) call beside the public
 * functions of starpu_openmp.h: constructs that these have no function for, and tasks
 * without a structure of two and a half kilobytes each. Callers are OpenMP tasks, but
 * where it says otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <starpu.h>

/* Whether the calling context executes an OpenMP task. Any thread. */
bool orr_openmp_is_task(void);

/* --- tasks --- */

/* What a task construct has in the program's text: a body, a name. */
struct orr_openmp_construct;

/* Made once for a body and a name, both of which stay; NULL without memory; by malloc. The
 * body gets no buffers. */
struct orr_openmp_construct *orr_openmp_construct(starpu_cpu_func_t body,
                                                        const char *name);

/* A mode beside StarPU's: tasks with it use the datum together, but not with readers. */
#define ORR_OPENMP_SET ((enum starpu_data_access_mode)(STARPU_R | STARPU_COMMUTE))

/* A datum of a depend clause: what is there is not touched. */
struct orr_openmp_use {
    const void *address;
    enum starpu_data_access_mode mode;
};

struct orr_openmp_task {
    void *arg; /* by malloc; freed when the task has ended */
    size_t nuses;
    const struct orr_openmp_use *uses; /* no address twice */
    int priority;
    bool deferred, final;
    bool detached; /* it may end after its body: see orr_openmp_hold_end */
};

/* The caller meets the construct. */
void orr_openmp_create(const struct orr_openmp_construct *construct,
                       const struct orr_openmp_task *task);

/* Waits for the caller's earlier tasks with such uses. */
void orr_openmp_wait_for(size_t nuses, const struct orr_openmp_use *uses);

/* The caller is a task of its own from now on, executed in place, until `end`, which gets
 * what begin has returned. */
void *orr_openmp_begin_in_place(bool final);
void orr_openmp_end_in_place(void *begun);

/* In the body of a detached task: it does not end before orr_openmp_release_end, which
 * any thread may call, with the task that this returns. */
struct starpu_task *orr_openmp_hold_end(void);
void orr_openmp_release_end(struct starpu_task *task);

/* Other tasks may go first. */
void orr_openmp_yield(void);

/* --- what entries keep --- */

/* A place in the calling task, NULL at first, for memory by malloc that is freed with the
 * task. The other is copied to tasks that it creates, and to threads of regions; nothing
 * frees what it points to. */
void **orr_openmp_kept(void);
void **orr_openmp_inherited(void);

/* --- regions --- */

/* The caller is the only thread of a region from now on, until `end`. */
void orr_openmp_begin_serial(void);
void orr_openmp_end_serial(void);

/* --- constructs of a region's threads --- */

/* Memory of n bytes, zeroed, that the threads of the team have together, each of which
 * meets the construct; until all have left it. */
struct orr_openmp_shared;
struct orr_openmp_shared *orr_openmp_share(size_t n, void **ret_memory);
void orr_openmp_leave(struct orr_openmp_shared *shared);
/* The caller waits until holds(memory, arg); what another thread does for that it does
 * inside of orr_openmp_change. Both call their function with a lock held. */
void orr_openmp_wait_until(struct orr_openmp_shared *shared,
                           bool (*holds)(void *memory, const void *arg), void *memory,
                           const void *arg);
void orr_openmp_change(struct orr_openmp_shared *shared,
                       void (*change)(void *memory, const void *arg), void *memory,
                       const void *arg);

/* The calling thread leaves the loop that it is in, if it is in one. */
void orr_openmp_leave_loop(void);

/* single copyprivate: the first thread gets NULL, and calls `publish` with its data; the
 * others wait for these. The data stay until all have met at a barrier. */
void *orr_openmp_copy_begin(void);
void orr_openmp_copy_publish(void *data);

/* --- cancellation: nothing is ever cancelled where OMP_CANCELLATION is not true --- */

enum orr_openmp_cancellable { ORR_OPENMP_PARALLEL, ORR_OPENMP_LOOP, ORR_OPENMP_TASKGROUP };

/* Cancels the caller's innermost one; true: the caller goes to its end. */
bool orr_openmp_cancel(enum orr_openmp_cancellable what);

/* Whether it was cancelled. */
bool orr_openmp_is_cancelled(enum orr_openmp_cancellable what);

/* A barrier; true: the region was cancelled, and the caller goes to its end. */
bool orr_openmp_barrier(void);
