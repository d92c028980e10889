/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/gomp_tasks.c - see gomp.h: tasks. A task's function is replaced by ours,
 * and its argument has a head before it that says which one it stands for. libgomp
 * copies arguments with a function of the program's, or ours: so that is told of every
 * task that a taskloop makes, too.
 */
#include "record/openmp/gomp.h"

#include <string.h>

/* As compiled programs say it. */
enum {
    TASK_FINAL = 1 << 1,
    TASK_DEPEND = 1 << 3,
    TASK_PRIORITY = 1 << 4,
    TASK_IF = 1 << 10,
    TASK_NOGROUP = 1 << 11,
    TASK_REDUCTION = 1 << 12,
    TASK_DETACH = 1 << 13,
};

/* What is before the argument of a task. */
struct head {
    void *range[2]; /* where libgomp writes: iterations of a taskloop, or an event */
    void (*fn)(void *);
    uint64_t number;
    uint32_t offset; /* of the program's argument */
    uint32_t flags;
    uint32_t nrange; /* words of `range` that are for the argument */
};

/* What stands for the data of a task while it is created. */
struct creation {
    /* Words of the data where libgomp looks for reductions: of a task the first one, of a
     * taskloop that behind its range. */
    void *first, *data, *third;
    void (*fn)(void *);
    void (*copy)(void *, void *);
    long size;
    struct head head;
    uint32_t priority;
    bool loop; /* each copy is a task of its own */
};

/* The task that runs. */
static __thread struct {
    uint64_t number;
    bool final;
} current __attribute__((tls_model("initial-exec")));

uint64_t gomp_enter(uint64_t task)
{
    uint64_t before = current.number;

    current.number = task;
    return before;
}

static uint64_t code_of(void (*fn)(void *))
{
    return orr_omp_code(*(const void **)(void *)&fn, false);
}

static uint64_t put_create(const struct creation *creation)
{
    uint64_t number = orr_omp_number();

    orr_omp_put(ORR_OMP_CREATE, creation->head.flags, creation->priority, number,
                code_of(creation->fn));
    return number;
}

/* --- their dependences --- */

static void put_depend(uint64_t task, const void *address, enum orr_omp_mode mode)
{
    orr_omp_depend(task, mode, (uintptr_t)address);
}

/* A depend object: an address and a kind. */
static void put_object(uint64_t task, void *const *object)
{
    static const enum orr_omp_mode modes[] = {0, ORR_OMP_IN, ORR_OMP_OUT, ORR_OMP_INOUT,
                                              ORR_OMP_MUTEXINOUTSET, ORR_OMP_INOUTSET};
    uintptr_t kind = (uintptr_t)object[1];

    if (kind > 0 && kind < sizeof(modes) / sizeof(*modes))
        put_depend(task, object[0], modes[kind]);
}

/* The list: how many there are, how many of these write, the addresses; or, behind a 0,
 * how many there are, write, exclude each other, read, the addresses, and depend objects. */
static void put_depends(uint64_t task, void **list)
{
    bool longer = list[0] == NULL;
    size_t n = (size_t)list[longer ? 1 : 0], out = (size_t)list[longer ? 2 : 1];
    size_t exclusive = longer ? (size_t)list[3] : 0;
    size_t in = longer ? (size_t)list[4] : n - out;
    void **addresses = list + (longer ? 5 : 2);

    for (size_t i = 0; i < n; i++) {
        if (i < out)
            put_depend(task, addresses[i], addresses[i] ? ORR_OMP_INOUT : ORR_OMP_ALL);
        else if (i < out + exclusive)
            put_depend(task, addresses[i], ORR_OMP_MUTEXINOUTSET);
        else if (i < out + exclusive + in)
            put_depend(task, addresses[i], ORR_OMP_IN);
        else
            put_object(task, addresses[i]);
    }
}

/* --- creation, and what runs --- */

static void task_main(void *arg)
{
    struct head *head = arg;
    char *data = (char *)arg + head->offset;
    uint64_t before = current.number;
    bool final = current.final;

    if (head->nrange == 2 || (head->nrange == 1 && head->range[0]))
        memcpy(data, head->range, head->nrange * sizeof(*head->range));
    current.number = head->number;
    current.final = head->flags & ORR_OMP_FINAL;
    orr_omp_put(ORR_OMP_SWITCH, 0, 0, head->number, 0);
    head->fn(data);
    current.number = before;
    current.final = final;
    orr_omp_put(ORR_OMP_SWITCH, 1, 0, before, 0);
}

static void task_copy(void *arg, void *data)
{
    struct creation *creation = data;
    struct head *head = arg;
    char *to = (char *)arg + creation->head.offset;

    *head = creation->head;
    if (creation->loop)
        head->number = put_create(creation);
    if (creation->copy)
        creation->copy(to, creation->data);
    else if (creation->data)
        memcpy(to, creation->data, (size_t)creation->size);
    /* An event, if it is written before the argument is copied. */
    if (head->nrange == 1)
        head->range[0] = creation->first;
}

static long round_up(long value, long unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Also returns by how much the argument is to be aligned. */
static long creation_fill(struct creation *creation, unsigned flags, bool deferred, long align)
{
    long unit = align > 16 ? align : 16;
    bool final = current.final || flags & TASK_FINAL;

    creation->first = creation->data ? *(void **)creation->data : NULL;
    creation->head.fn = creation->fn;
    creation->head.offset = (uint32_t)round_up(sizeof(struct head), unit);
    creation->head.flags = (final ? ORR_OMP_FINAL : 0) |
                           (deferred && !current.final ? 0 : ORR_OMP_UNDEFERRED);
    return unit;
}

PUBLIC void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,
                      long align, bool deferred, unsigned flags, void **depend, int priority,
                      void *detach);

PUBLIC void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,
                      long align, bool deferred, unsigned flags, void **depend, int priority,
                      void *detach)
{
    struct creation creation = {.data = data, .fn = fn, .copy = copy, .size = size};
    long unit;
    bool waits;

    GOMP_REAL(GOMP_task);
    if (!gomp_on()) {
        real_GOMP_task(fn, data, copy, size, align, deferred, flags, depend, priority, detach);
        return;
    }
    unit = creation_fill(&creation, flags, deferred, align);
    creation.priority = flags & TASK_PRIORITY ? (uint32_t)priority : 0;
    creation.head.nrange = flags & TASK_DETACH ? 1 : 0;
    creation.head.number = put_create(&creation);
    if (flags & TASK_DEPEND)
        put_depends(creation.head.number, depend);
    if (flags & TASK_DETACH)
        orr_omp_put(ORR_OMP_NOTE, 0, ORR_OMP_DETACH, 0, 0);
    waits = creation.head.flags & ORR_OMP_UNDEFERRED && flags & TASK_DEPEND;
    if (waits)
        gomp_wait_begin(ORR_OMP_RUNTIME);
    real_GOMP_task(task_main, &creation, task_copy, creation.head.offset + size, unit, deferred,
                   flags, depend, priority, detach);
    if (waits)
        gomp_wait_end(ORR_OMP_RUNTIME);
}

/* --- taskloops --- */

PUBLIC void GOMP_taskgroup_start(void);
PUBLIC void GOMP_taskgroup_end(void);

PUBLIC void GOMP_taskgroup_start(void)
{
    GOMP_REAL(GOMP_taskgroup_start);
    if (gomp_on())
        orr_omp_put(ORR_OMP_GROUP_BEGIN, 0, 0, 0, 0);
    real_GOMP_taskgroup_start();
}

/* The group of a taskloop is one of ours, so that creation and waiting are told apart; but
 * reductions are its own, whose taskloop counts as waiting as a whole. */
static unsigned taskloop_begin(struct creation *creation, unsigned flags)
{
    creation->loop = true;
    creation->head.nrange = 2;
    if (flags & TASK_REDUCTION)
        creation->third = ((void **)creation->data)[2];
    if (flags & TASK_NOGROUP)
        return flags;
    if (flags & TASK_REDUCTION) {
        orr_omp_put(ORR_OMP_GROUP_BEGIN, 0, 0, 0, 0);
        gomp_wait_begin(ORR_OMP_RUNTIME);
        return flags;
    }
    GOMP_taskgroup_start();
    return flags | TASK_NOGROUP;
}

static void taskloop_end(unsigned flags)
{
    if (flags & TASK_NOGROUP)
        return;
    if (!(flags & TASK_REDUCTION)) {
        GOMP_taskgroup_end();
        return;
    }
    gomp_wait_end(ORR_OMP_RUNTIME);
    gomp_wait_begin(ORR_OMP_GROUP);
    gomp_wait_end(ORR_OMP_GROUP);
}

#define TASKLOOP(name, number)                                                                     \
    PUBLIC void name(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,      \
                     long align, unsigned flags, unsigned long n, int priority,                    \
                     number start, number end, number step);                                       \
    PUBLIC void name(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size,      \
                     long align, unsigned flags, unsigned long n, int priority,                    \
                     number start, number end, number step)                                        \
    {                                                                                              \
        struct creation creation = {.data = data, .fn = fn, .copy = copy, .size = size};           \
        long unit;                                                                                 \
                                                                                                   \
        GOMP_REAL(name);                                                                           \
        if (!gomp_on()) {                                                                          \
            real_##name(fn, data, copy, size, align, flags, n, priority, start, end, step);        \
            return;                                                                                \
        }                                                                                          \
        unit = creation_fill(&creation, flags, flags &TASK_IF, align);                             \
        creation.priority = flags & TASK_PRIORITY ? (uint32_t)priority : 0;                        \
        real_##name(task_main, &creation, task_copy, creation.head.offset + size, unit,            \
                    taskloop_begin(&creation, flags), n, priority, start, end, step);              \
        taskloop_end(flags);                                                                       \
    }

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

/* --- waits for some --- */

PUBLIC void GOMP_taskwait_depend(void **depend);

/* A task without work that its creator waits for. */
PUBLIC void GOMP_taskwait_depend(void **depend)
{
    uint64_t task;

    GOMP_REAL(GOMP_taskwait_depend);
    if (!gomp_on()) {
        real_GOMP_taskwait_depend(depend);
        return;
    }
    task = orr_omp_number();
    orr_omp_put(ORR_OMP_CREATE, ORR_OMP_UNDEFERRED | ORR_OMP_FINAL, 0, task, 0);
    put_depends(task, depend);
    orr_omp_put(ORR_OMP_SWITCH, 0, 0, task, 0);
    gomp_wait_begin(ORR_OMP_RUNTIME);
    real_GOMP_taskwait_depend(depend);
    gomp_wait_end(ORR_OMP_RUNTIME);
    orr_omp_put(ORR_OMP_SWITCH, 1, 0, current.number, 0);
}
