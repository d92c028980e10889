/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/ompt.c - the front end for runtimes that have OMPT (LLVM's libomp, and
 * those made of it): a tool, whose callbacks are events. Any thread.
 */
#include "record/openmp/ompt_api.h"
#include "record/openmp/recorder.h"

#include <stdbool.h>
#include <stddef.h>

/* --- regions --- */

static void on_parallel_begin(union ompt_data *task, const void *frame, union ompt_data *region,
                              unsigned requested, int flags, const void *code)
{
    (void)task, (void)frame, (void)flags;
    orr_omp_team(requested);
    region->value = orr_omp_number();
    orr_omp_put(ORR_OMP_REGION_BEGIN, 0, 0, region->value, orr_omp_code(code, true));
}

static void on_parallel_end(union ompt_data *region, union ompt_data *task, int flags,
                            const void *code)
{
    (void)task, (void)flags, (void)code;
    orr_omp_put(ORR_OMP_REGION_END, 0, 0, region->value, 0);
}

/* The task of the thread itself, outside of regions, keeps the number 0. */
static void on_implicit_task(int end, union ompt_data *region, union ompt_data *task,
                             unsigned threads, unsigned index, int flags)
{
    if (flags & OMPT_TASK_INITIAL)
        return;
    if (end == OMPT_SCOPE_BEGIN) {
        task->value = orr_omp_number();
        orr_omp_put(ORR_OMP_IMPLICIT_BEGIN, index, threads, task->value, region->value);
    } else {
        orr_omp_put(ORR_OMP_IMPLICIT_END, 0, 0, task->value, 0);
    }
}

/* --- tasks --- */

static void on_task_create(union ompt_data *parent, const void *frame, union ompt_data *task,
                           int flags, int has_dependences, const void *code)
{
    unsigned ours = (flags & OMPT_TASK_UNDEFERRED ? ORR_OMP_AT_ONCE : 0) |
                    (flags & OMPT_TASK_FINAL ? ORR_OMP_FINAL : 0);

    (void)parent, (void)frame, (void)has_dependences;
    if (flags & OMPT_TASK_INITIAL || !(flags & (OMPT_TASK_EXPLICIT | OMPT_TASK_TASKWAIT)))
        return;
    if (flags & OMPT_TASK_TASKWAIT) /* a taskwait with dependences */
        ours = ORR_OMP_UNDEFERRED | ORR_OMP_FINAL;
    task->value = orr_omp_number();
    orr_omp_put(ORR_OMP_CREATE, ours, 0, task->value, orr_omp_code(code, true));
}

static void on_dependences(union ompt_data *task, const struct ompt_dependence *list, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t mode = list[i].type == OMPT_DEPEND_IN              ? ORR_OMP_IN
                        : list[i].type == OMPT_DEPEND_OUT           ? ORR_OMP_OUT
                        : list[i].type == OMPT_DEPEND_INOUT         ? ORR_OMP_INOUT
                        : list[i].type == OMPT_DEPEND_MUTEXINOUTSET ? ORR_OMP_MUTEXINOUTSET
                        : list[i].type == OMPT_DEPEND_INOUTSET      ? ORR_OMP_INOUTSET
                        : list[i].type == OMPT_DEPEND_OUT_ALL ||
                                list[i].type == OMPT_DEPEND_INOUT_ALL
                            ? ORR_OMP_ALL
                            : 0;

        if (mode)
            orr_omp_depend(task->value, mode, list[i].variable.value);
    }
}

static void on_task_schedule(union ompt_data *before, int status, union ompt_data *next)
{
    bool ended = status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL ||
                 status == OMPT_TASK_TASKWAIT_COMPLETE;

    (void)before;
    if (status == OMPT_TASK_DETACH)
        orr_omp_put(ORR_OMP_NOTE, 0, ORR_OMP_DETACH, 0, 0);
    if (next)
        orr_omp_put(ORR_OMP_SWITCH, ended || status == OMPT_TASK_DETACH, 0, next->value, 0);
}

/* What clang calls for a task with if(0), of which OMPT says no more than of any in a team of
 * one thread. */
PUBLIC void __kmpc_omp_task_begin_if0(void *place, int32_t thread, void *task);

PUBLIC void __kmpc_omp_task_begin_if0(void *place, int32_t thread, void *task)
{
    static __typeof__(&__kmpc_omp_task_begin_if0) next;

    if (!next)
        next = (__typeof__(next))orr_omp_next("__kmpc_omp_task_begin_if0");
    if (orr_omp_on())
        orr_omp_put(ORR_OMP_IF0, 0, 0, 0, 0);
    next(place, thread, task);
}

/* --- waits --- */

/* 0: none that is recorded. */
static uint32_t sync_wait(int kind)
{
    if (kind == OMPT_SYNC_TASKWAIT)
        return ORR_OMP_TASKWAIT;
    if (kind == OMPT_SYNC_TASKGROUP)
        return ORR_OMP_GROUP;
    if ((kind >= OMPT_SYNC_BARRIER && kind <= OMPT_SYNC_BARRIER_IMPLEMENTATION) ||
        (kind >= OMPT_SYNC_BARRIER_WORKSHARE && kind <= OMPT_SYNC_BARRIER_TEAMS))
        return ORR_OMP_BARRIER;
    return 0;
}

static void on_sync_wait(int kind, int end, union ompt_data *region, union ompt_data *task,
                         const void *code)
{
    uint32_t wait = sync_wait(kind);

    (void)region, (void)task, (void)code;
    if (wait)
        orr_omp_put(end == OMPT_SCOPE_BEGIN ? ORR_OMP_WAIT_BEGIN : ORR_OMP_WAIT_END, 0, wait, 0,
                    0);
}

static void on_sync(int kind, int end, union ompt_data *region, union ompt_data *task,
                    const void *code)
{
    (void)region, (void)task, (void)code;
    if (kind == OMPT_SYNC_TASKGROUP && end == OMPT_SCOPE_BEGIN)
        orr_omp_put(ORR_OMP_GROUP_BEGIN, 0, 0, 0, 0);
}

static uint32_t mutex_wait(int kind)
{
    return kind == OMPT_MUTEX_ORDERED ? ORR_OMP_ORDERED : ORR_OMP_EXCLUSION;
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t id,
                             const void *code)
{
    (void)hint, (void)impl, (void)id, (void)code;
    orr_omp_put(ORR_OMP_WAIT_BEGIN, 0, mutex_wait(kind), 0, 0);
}

static void on_mutex_acquired(int kind, uint64_t id, const void *code)
{
    (void)id, (void)code;
    orr_omp_put(ORR_OMP_WAIT_END, 0, mutex_wait(kind), 0, 0);
}

static void on_mutex_released(int kind, uint64_t id, const void *code)
{
    (void)id, (void)code;
    if (kind == OMPT_MUTEX_ORDERED)
        orr_omp_put(ORR_OMP_ORDERED_END, 0, 0, 0, 0);
}

/* --- loops, and what is only noted --- */

/* The count of a loop is that of the whole team; how much of it this thread has is not told. */
static void on_work(int kind, int end, union ompt_data *region, union ompt_data *task,
                    uint64_t count, const void *code)
{
    bool loop = kind == OMPT_WORK_LOOP ||
                (kind >= OMPT_WORK_LOOP_STATIC && kind <= OMPT_WORK_LOOP_OTHER);

    (void)region, (void)task, (void)code;
    if (!loop && kind != OMPT_WORK_SECTIONS)
        return;
    if (end == OMPT_SCOPE_BEGIN)
        orr_omp_put(ORR_OMP_LOOP_BEGIN, 0, loop, count, 0);
    else
        orr_omp_put(ORR_OMP_LOOP_END, 0, 0, 0, 0);
}

static void on_cancel(union ompt_data *task, int flags, const void *code)
{
    (void)task, (void)flags, (void)code;
    orr_omp_put(ORR_OMP_NOTE, 0, ORR_OMP_CANCEL, 0, 0);
}

static void on_target(int kind, int end, int device, union ompt_data *task, uint64_t id,
                      const void *code)
{
    (void)kind, (void)device, (void)task, (void)id, (void)code;
    if (end == OMPT_SCOPE_BEGIN)
        orr_omp_put(ORR_OMP_NOTE, 0, ORR_OMP_TARGET, 0, 0);
}

/* --- the tool --- */

static int tool_begin(ompt_lookup lookup, int device, union ompt_data *tool)
{
    static const struct {
        int which;
        ompt_function callback;
    } callbacks[] = {
        {OMPT_CALLBACK_PARALLEL_BEGIN, (ompt_function)on_parallel_begin},
        {OMPT_CALLBACK_PARALLEL_END, (ompt_function)on_parallel_end},
        {OMPT_CALLBACK_IMPLICIT_TASK, (ompt_function)on_implicit_task},
        {OMPT_CALLBACK_TASK_CREATE, (ompt_function)on_task_create},
        {OMPT_CALLBACK_DEPENDENCES, (ompt_function)on_dependences},
        {OMPT_CALLBACK_TASK_SCHEDULE, (ompt_function)on_task_schedule},
        {OMPT_CALLBACK_SYNC_REGION, (ompt_function)on_sync},
        {OMPT_CALLBACK_SYNC_REGION_WAIT, (ompt_function)on_sync_wait},
        {OMPT_CALLBACK_MUTEX_ACQUIRE, (ompt_function)on_mutex_acquire},
        {OMPT_CALLBACK_MUTEX_ACQUIRED, (ompt_function)on_mutex_acquired},
        {OMPT_CALLBACK_MUTEX_RELEASED, (ompt_function)on_mutex_released},
        {OMPT_CALLBACK_WORK, (ompt_function)on_work},
        {OMPT_CALLBACK_CANCEL, (ompt_function)on_cancel},
        {OMPT_CALLBACK_TARGET, (ompt_function)on_target},
    };
    ompt_set_callback set = (ompt_set_callback)lookup("ompt_set_callback");

    (void)device, (void)tool;
    if (!set)
        return 0;
    for (size_t i = 0; i < sizeof(callbacks) / sizeof(*callbacks); i++)
        (void)set(callbacks[i].which, callbacks[i].callback);
    orr_omp_runtime(ORR_OMP_LIBOMP);
    return 1;
}

static void tool_end(union ompt_data *tool)
{
    (void)tool;
}

PUBLIC struct ompt_start_result *ompt_start_tool(unsigned version, const char *runtime);

PUBLIC struct ompt_start_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_start_result result = {tool_begin, tool_end, {0}};

    (void)version, (void)runtime;
    return orr_omp_on() ? &result : NULL;
}
