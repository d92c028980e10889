/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* openmp/gomp_task.c - gcc's entries of tasks. */
#include <stdlib.h>
#include <string.h>

#include "openmp/gomp.h"
#include "openmp/reductions.h"
#include "openmp/tasks.h"

/* Bits of gcc's. */
enum {
    FINAL = 1 << 1,
    DEPEND = 1 << 3,
    UP = 1 << 8,
    GRAINSIZE = 1 << 9,
    IF = 1 << 10,
    NOGROUP = 1 << 11,
    REDUCTION = 1 << 12,
    DETACH = 1 << 13,
    STRICT = 1 << 14
};

/* -- data -- */

/* gcc's omp_depend_t: an address, and what is done there. */
struct depobj {
    void *address;
    uintptr_t kind;
};

enum { KIND_IN = 1, KIND_OUT, KIND_INOUT, KIND_MUTEXINOUTSET, KIND_INOUTSET };

static void add_object(struct openmp_uses *uses, const struct depobj *object)
{
    openmp_uses_add(uses, object->address,
                    object->kind == KIND_IN         ? OPENMP_IN
                    : object->kind == KIND_INOUTSET ? OPENMP_SET
                    : object->kind == KIND_MUTEXINOUTSET
                        ? OPENMP_MUTEX
                        : OPENMP_INOUT);
}

/* Two forms: how many, how many of these are written, their addresses; or 0, how many, how
 * many of each of three kinds, their addresses, and objects. */
static void read_depend(struct openmp_uses *uses, void **depend)
{
    size_t n = (size_t)depend[0], nout = (size_t)depend[1], nset = 0, nin = n - nout;
    void **at = depend + 2;

    if (n == 0) {
        n = (size_t)depend[1];
        nout = (size_t)depend[2];
        nset = (size_t)depend[3];
        nin = (size_t)depend[4];
        at = depend + 5;
    }
    for (size_t i = 0; i < n; i++)
        if (i < nout)
            openmp_uses_add(uses, at[i], OPENMP_INOUT);
        else if (i < nout + nset)
            openmp_uses_add(uses, at[i], OPENMP_MUTEX);
        else if (i < nout + nset + nin)
            openmp_uses_add(uses, at[i], OPENMP_IN);
        else
            add_object(uses, at[i]);
}

/* -- tasks -- */

/* The argument of one, in front of its data. */
struct task {
    void (*code)(void *data);
    void *data; /* aligned as the compiler wants it */
    struct openmp_event *event;
};

static void task_body(void *buffers[], void *arg)
{
    const struct task *task = arg;

    (void)buffers;
    task->code(task->data);
    if (task->event)
        openmp_event_body_ended(task->event);
}

/* With a copy of the data, which are the compiler's to copy if they have constructors. */
static struct task *task_new(void (*code)(void *), void *data, void (*copy)(void *, void *),
                             long size, long align)
{
    struct task *task = malloc(sizeof(*task) + (size_t)size + (size_t)align);
    uintptr_t at = (uintptr_t)(task + 1);

    if (!task)
        openmp_refuse("there is no memory", "for a task");
    at = (at + (uintptr_t)align - 1) & ~((uintptr_t)align - 1);
    *task = (struct task){.code = code, .data = (void *)at};
    if (copy)
        copy(task->data, data);
    else if (size > 0)
        memcpy(task->data, data, (size_t)size);
    return task;
}

static void create(struct task *task, const struct openmp_uses *uses, int priority,
                   bool deferred, bool final)
{
    struct orr_openmp_task created = {
        .arg = task,
        .nuses = uses ? uses->n : 0,
        .uses = uses ? uses->at : NULL,
        .priority = priority,
        .deferred = deferred,
        .final = final,
        .detached = task->event != NULL,
    };

    orr_openmp_create(openmp_construct((const void *)(uintptr_t)task->code, task_body),
                      &created);
}

ENTRY void GOMP_task(void (*code)(void *), void *data, void (*copy)(void *, void *), long size,
                     long align, bool deferred, unsigned flags, void **depend, int priority,
                     void *detach)
{
    struct openmp_uses uses;
    struct task *task;
    bool all;

    openmp_enter("task");
    if (flags & DETACH) { /* the handle is in a variable, and where the data begin */
        struct openmp_event *event = openmp_event_new();

        *(void **)detach = event;
        if (data)
            *(void **)data = event;
        task = task_new(code, data, copy, size, align);
        task->event = event;
    } else {
        task = task_new(code, data, copy, size, align);
    }
    if (!(flags & DEPEND)) {
        create(task, NULL, priority, deferred, flags & FINAL);
        return;
    }
    openmp_uses_init(&uses);
    read_depend(&uses, depend);
    all = openmp_uses_await_all(&uses);
    create(task, &uses, priority, deferred, flags & FINAL);
    if (all)
        starpu_omp_taskwait();
    openmp_uses_done(&uses);
}

ENTRY void GOMP_taskwait(void)
{
    openmp_enter("taskwait");
    starpu_omp_taskwait();
}

ENTRY void GOMP_taskwait_depend(void **depend)
{
    struct openmp_uses uses;

    openmp_enter("taskwait");
    openmp_uses_init(&uses);
    read_depend(&uses, depend);
    if (!openmp_uses_await_all(&uses))
        orr_openmp_wait_for(uses.n, uses.at);
    openmp_uses_done(&uses);
}

ENTRY void GOMP_taskyield(void)
{
    openmp_enter("taskyield");
    orr_openmp_yield();
}

ENTRY void GOMP_taskgroup_start(void)
{
    openmp_enter("taskgroup");
    starpu_omp_taskgroup_inline_begin();
}

ENTRY void GOMP_taskgroup_end(void)
{
    starpu_omp_taskgroup_inline_end();
}

/* -- reductions over tasks -- */

ENTRY void GOMP_taskgroup_reduction_register(uintptr_t *d)
{
    openmp_reduction_register(d);
}

ENTRY void GOMP_taskgroup_reduction_unregister(uintptr_t *d)
{
    openmp_reduction_unregister(d);
}

ENTRY void GOMP_task_reduction_remap(size_t n, size_t norigs, void **pointers)
{
    openmp_reduction_remap(n, norigs, pointers);
}

/* -- taskloops -- */

/* What its data begin with. */
struct loop_head {
    uint64_t begin, end;
    uintptr_t *reductions; /* if it has any */
};

static void taskloop(void (*code)(void *), void *data, void (*copy)(void *, void *), long size,
                     long align, unsigned flags, unsigned long number, int priority,
                     uint64_t first, uint64_t end, uint64_t step, uint64_t n)
{
    struct openmp_parts parts = flags & GRAINSIZE
                                    ? openmp_parts_by_grain(n, number, flags & STRICT)
                                    : openmp_parts_by_number(n, number);
    struct loop_head *head = data;

    openmp_enter("taskloop");
    if (!(flags & NOGROUP))
        starpu_omp_taskgroup_inline_begin();
    if (flags & REDUCTION)
        openmp_reduction_register(head->reductions);
    for (uint64_t i = 0, at = 0; i < parts.ntasks; i++) {
        uint64_t part = openmp_part_size(&parts, n, i);
        struct task *task = task_new(code, data, copy, size, align);

        head = task->data;
        head->begin = first + at * step;
        at += part;
        head->end = at == n ? end : first + at * step;
        create(task, NULL, priority, flags & IF, flags & FINAL);
    }
    if (!(flags & NOGROUP))
        starpu_omp_taskgroup_inline_end();
}

ENTRY void GOMP_taskloop(void (*code)(void *), void *data, void (*copy)(void *, void *),
                         long size, long align, unsigned flags, unsigned long number,
                         int priority, long first, long end, long step)
{
    taskloop(code, data, copy, size, align, flags, number, priority, (uint64_t)first,
             (uint64_t)end, (uint64_t)step,
             openmp_count((uint64_t)first, (uint64_t)end, (uint64_t)step, true, step > 0));
}

ENTRY void GOMP_taskloop_ull(void (*code)(void *), void *data, void (*copy)(void *, void *),
                             long size, long align, unsigned flags, unsigned long number,
                             int priority, unsigned long long first, unsigned long long end,
                             unsigned long long step)
{
    taskloop(code, data, copy, size, align, flags, number, priority, first, end, step,
             openmp_count(first, end, step, false, flags & UP));
}
