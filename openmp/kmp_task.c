/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* openmp/kmp_task.c - LLVM's entries of tasks. */
#include <stdlib.h>
#include <string.h>

#include "openmp/kmp.h"
#include "openmp/tasks.h"

/* -- tasks: what the compiler knows of one, and in front of it what we know -- */

struct kmp_task;
typedef int32_t kmp_task_fn(int32_t thread, struct kmp_task *task);

/* Variables that are private to the task come behind it. */
struct kmp_task {
    void *shared;
    kmp_task_fn *code;
    int32_t part; /* of an untied task, that comes next */
    union {
        int32_t priority;
        kmp_task_fn *destructors;
    } first, second; /* of private variables; priority */
};

/* Bits of LLVM's. */
enum { FINAL = 1 << 1, DESTRUCTORS = 1 << 3, PRIORITY = 1 << 5 };

struct task {
    int32_t flags;
    bool again; /* the body is to be called for the next part */
    bool runs;
    size_t size; /* of `kmp`, with its private variables, in bytes … */
    size_t nshared; /* … and of what is behind it */
    struct openmp_event *event;
    void *in_place; /* what orr_openmp_begin_in_place has returned */
    _Alignas(16) struct kmp_task kmp;
};

static struct task *task_of(struct kmp_task *kmp)
{
    return (struct task *)(void *)((char *)kmp - offsetof(struct task, kmp));
}

static void task_run(struct task *task)
{
    int32_t thread = openmp_kmp_thread();

    task->runs = true;
    do {
        task->again = false;
        task->kmp.code(thread, &task->kmp);
    } while (task->again);
    if (task->flags & DESTRUCTORS)
        task->kmp.first.destructors(thread, &task->kmp);
}

static void task_body(void *buffers[], void *arg)
{
    struct task *task = arg;

    (void)buffers;
    task_run(task);
    if (task->event)
        openmp_event_body_ended(task->event);
}

static struct task *task_new(int32_t flags, size_t size, size_t nshared, kmp_task_fn *code)
{
    size_t aligned = (size + 15) & ~(size_t)15;
    struct task *task = aligned_alloc(16, (offsetof(struct task, kmp) + aligned + nshared + 15) &
                                              ~(size_t)15);

    if (!task)
        openmp_refuse("there is no memory", "for a task");
    memset(task, 0, sizeof(*task));
    task->flags = flags;
    task->size = aligned;
    task->nshared = nshared;
    task->kmp.shared = nshared ? (char *)&task->kmp + aligned : NULL;
    task->kmp.code = code;
    return task;
}

ENTRY struct kmp_task *__kmpc_omp_task_alloc(kmp_place *place, int32_t thread, int32_t flags,
                                             size_t size, size_t nshared, kmp_task_fn *code)
{
    (void)place;
    (void)thread;
    openmp_enter("task");
    return &task_new(flags, size, nshared, code)->kmp;
}

static void create(struct task *task, const struct openmp_uses *uses, bool deferred)
{
    struct orr_openmp_task created = {
        .arg = task,
        .nuses = uses ? uses->n : 0,
        .uses = uses ? uses->at : NULL,
        .priority = task->flags & PRIORITY ? task->kmp.second.priority : 0,
        .deferred = deferred,
        .final = task->flags & FINAL,
        .detached = task->event != NULL,
    };

    orr_openmp_create(openmp_construct((const void *)(uintptr_t)task->kmp.code, task_body),
                      &created);
}

/* An untied task has itself created once more when a part of it ends. */
ENTRY int32_t __kmpc_omp_task(kmp_place *place, int32_t thread, struct kmp_task *kmp)
{
    struct task *task = task_of(kmp);

    (void)place;
    (void)thread;
    if (task->runs)
        task->again = true;
    else
        create(task, NULL, true);
    return 0;
}

ENTRY int32_t __kmpc_omp_task_parts(kmp_place *place, int32_t thread, struct kmp_task *kmp)
{
    return __kmpc_omp_task(place, thread, kmp);
}

/* -- data -- */

struct kmp_use {
    intptr_t address;
    size_t length;
    /* 1: in, 2: out, 4: mutexinoutset, 8: inoutset, 128: omp_all_memory */
    uint8_t flags;
};

static enum starpu_data_access_mode mode_of(const struct kmp_use *use)
{
    if (use->flags & (2 | 128))
        return OPENMP_INOUT;
    if (use->flags & 1)
        return OPENMP_IN;
    return use->flags & 4 ? OPENMP_MUTEX : OPENMP_SET;
}

static void add_uses(struct openmp_uses *uses, int32_t n, const struct kmp_use *at)
{
    for (int32_t i = 0; i < n; i++)
        openmp_uses_add(uses, (const void *)at[i].address, mode_of(&at[i]));
}

ENTRY int32_t __kmpc_omp_task_with_deps(kmp_place *place, int32_t thread, struct kmp_task *kmp,
                                        int32_t n, const struct kmp_use *at, int32_t nmore,
                                        const struct kmp_use *more)
{
    struct task *task = task_of(kmp);
    struct openmp_uses uses;
    bool all;

    (void)place;
    (void)thread;
    if (task->runs) {
        task->again = true;
        return 0;
    }
    openmp_uses_init(&uses);
    add_uses(&uses, n, at);
    add_uses(&uses, nmore, more);
    all = openmp_uses_await_all(&uses);
    create(task, &uses, true);
    if (all)
        starpu_omp_taskwait();
    openmp_uses_done(&uses);
    return 0;
}

ENTRY void __kmpc_omp_wait_deps(kmp_place *place, int32_t thread, int32_t n,
                                const struct kmp_use *at, int32_t nmore,
                                const struct kmp_use *more)
{
    struct openmp_uses uses;

    (void)place;
    (void)thread;
    openmp_enter("taskwait");
    openmp_uses_init(&uses);
    add_uses(&uses, n, at);
    add_uses(&uses, nmore, more);
    if (!openmp_uses_await_all(&uses))
        orr_openmp_wait_for(uses.n, uses.at);
    openmp_uses_done(&uses);
}

/* -- a task that is not deferred: the compiler calls its code between the two -- */

ENTRY void __kmpc_omp_task_begin_if0(kmp_place *place, int32_t thread, struct kmp_task *kmp)
{
    struct task *task = task_of(kmp);

    (void)place;
    (void)thread;
    task->runs = true;
    task->in_place = orr_openmp_begin_in_place(task->flags & FINAL);
}

ENTRY void __kmpc_omp_task_complete_if0(kmp_place *place, int32_t thread, struct kmp_task *kmp)
{
    struct task *task = task_of(kmp);

    (void)place;
    if (task->flags & DESTRUCTORS)
        kmp->first.destructors(thread, kmp);
    orr_openmp_end_in_place(task->in_place);
    if (task->event)
        openmp_refuse("task", "is detached but not deferred: leave `if' or `detach' out");
    free(task);
}

/* -- waits, groups -- */

ENTRY int32_t __kmpc_omp_taskwait(kmp_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    openmp_enter("taskwait");
    starpu_omp_taskwait();
    return 0;
}

ENTRY int32_t __kmpc_omp_taskyield(kmp_place *place, int32_t thread, int part)
{
    (void)place;
    (void)thread;
    (void)part;
    openmp_enter("taskyield");
    orr_openmp_yield();
    return 0;
}

/* -- reductions over tasks: variables of a group, a part of each thread -- */

/* clang's description of a variable. */
struct kmp_reduced {
    void *shared, *original; /* what tasks name; what it begins with, or NULL */
    size_t size;
    void *init, *end, *combine; /* functions */
    uint32_t flags;
};

/* Of a group, or of all threads of a region or loop. */
struct parts {
    int n;
    unsigned nthreads;
    char **at;                /* of each variable, for each thread; NULL: not made */
    struct kmp_reduced into[]; /* what they are combined into */
};

/* The same as a task sees it, by the names that the variables have there. */
struct reduction {
    struct reduction *around; /* what the creating task has inherited */
    struct parts *parts;
    const void *names[];
};

static struct parts *parts_new(int n, const struct kmp_reduced *at)
{
    struct parts *parts = openmp_allocate(sizeof(*parts) + (size_t)n * sizeof(*at));

    parts->n = n;
    parts->nthreads = (unsigned)starpu_omp_get_num_threads();
    parts->at = openmp_allocate((size_t)n * parts->nthreads * sizeof(*parts->at));
    memcpy(parts->into, at, (size_t)n * sizeof(*at));
    return parts;
}

/* The calling task, and tasks that it creates, see them from now on. */
static struct reduction *reduction_begin(struct parts *parts, const struct kmp_reduced *at)
{
    void **inherited = orr_openmp_inherited();
    struct reduction *r =
        openmp_allocate(sizeof(*r) + (size_t)parts->n * sizeof(*r->names));

    r->parts = parts;
    r->around = *inherited;
    for (int i = 0; i < parts->n; i++)
        r->names[i] = at[i].shared;
    *inherited = r;
    return r;
}

ENTRY void *__kmpc_taskred_init(int32_t thread, int32_t n, const struct kmp_reduced *at)
{
    (void)thread;
    return reduction_begin(parts_new(n, at), at);
}

static char *part_of(struct parts *parts, int i, unsigned thread)
{
    char **part = &parts->at[(unsigned)i * parts->nthreads + thread];
    const struct kmp_reduced *into = &parts->into[i];
    void (*init)(void *, void *) = (void (*)(void *, void *))into->init;

    if (*part)
        return *part;
    *part = openmp_allocate(into->size);
    if (init)
        init(*part, into->original ? into->original : into->shared);
    return *part;
}

/* Whether that is a name of variable i, or the part of a thread. */
static bool is_named(const struct reduction *r, int i, const void *data)
{
    char *const *parts = &r->parts->at[(unsigned)i * r->parts->nthreads];
    bool is_part = false;

    for (unsigned t = 0; t < r->parts->nthreads; t++)
        is_part |= parts[t] && parts[t] == data;
    return is_part || r->names[i] == data || r->parts->into[i].original == data;
}

/* The calling thread's part of the variable. */
ENTRY void *__kmpc_task_reduction_get_th_data(int32_t thread, void *group, void *data)
{
    unsigned self = (unsigned)starpu_omp_get_thread_num();
    struct reduction *r = *orr_openmp_inherited();

    (void)thread;
    (void)group;
    for (; r; r = r->around)
        for (int i = 0; i < r->parts->n; i++)
            if (is_named(r, i, data))
                return part_of(r->parts, i, self);
    openmp_refuse("in_reduction", "names a variable of no reduction around it");
}

/* No task uses the parts any more. */
static void parts_end(struct parts *parts)
{
    for (int i = 0; i < parts->n; i++) {
        const struct kmp_reduced *into = &parts->into[i];
        void (*combine)(void *, void *) = (void (*)(void *, void *))into->combine;
        void (*end)(void *) = (void (*)(void *))into->end;

        for (unsigned t = 0; t < parts->nthreads; t++) {
            char *part = parts->at[(unsigned)i * parts->nthreads + t];

            if (!part)
                continue;
            combine(into->shared, part);
            if (end)
                end(part);
            free(part);
        }
    }
    free(parts->at);
    free(parts);
}

/* Groups: what the task has inherited when one began is there again when it has ended. */
struct group {
    struct group *outer;
    void *inherited;
};

ENTRY void __kmpc_taskgroup(kmp_place *place, int32_t thread)
{
    struct group *group;
    struct openmp_kept *kept;

    (void)place;
    (void)thread;
    openmp_enter("taskgroup");
    starpu_omp_taskgroup_inline_begin();
    kept = openmp_kept();
    group = openmp_allocate(sizeof(*group));
    group->outer = kept->groups;
    group->inherited = *orr_openmp_inherited();
    kept->groups = group;
}

ENTRY void __kmpc_end_taskgroup(kmp_place *place, int32_t thread)
{
    struct openmp_kept *kept = openmp_kept();
    void **inherited = orr_openmp_inherited();
    struct group *group = kept->groups;

    (void)place;
    (void)thread;
    starpu_omp_taskgroup_inline_end();
    while (*inherited != group->inherited) {
        struct reduction *r = *inherited;

        *inherited = r->around;
        parts_end(r->parts);
        free(r);
    }
    kept->groups = group->outer;
    free(group);
}

/* Of a whole region or loop, with `task' as modifier: its threads share the parts, and each
 * names its own variable. */
ENTRY void *__kmpc_taskred_modifier_init(kmp_place *place, int32_t thread, int worksharing,
                                         int32_t n, const struct kmp_reduced *at)
{
    struct parts **parts;
    void *memory;
    struct orr_openmp_shared *shared;
    struct reduction *r;

    (void)worksharing;
    __kmpc_taskgroup(place, thread);
    shared = orr_openmp_share(sizeof(*parts), &memory);
    parts = memory;
    if (starpu_omp_single_inline())
        *parts = parts_new(n, at);
    starpu_omp_barrier();
    r = reduction_begin(*parts, at);
    orr_openmp_leave(shared);
    return r;
}

/* Parts go into the variable of the thread that has made them; variables of threads are
 * combined by the compiler. */
ENTRY void __kmpc_task_reduction_modifier_fini(kmp_place *place, int32_t thread,
                                               int worksharing)
{
    struct reduction *r = *orr_openmp_inherited();

    (void)worksharing;
    starpu_omp_barrier();
    *orr_openmp_inherited() = r->around;
    if (starpu_omp_single_inline())
        parts_end(r->parts);
    free(r);
    starpu_omp_barrier();
    __kmpc_end_taskgroup(place, thread);
}

/* -- detached tasks -- */

ENTRY void *__kmpc_task_allow_completion_event(kmp_place *place, int32_t thread,
                                               struct kmp_task *kmp)
{
    struct task *task = task_of(kmp);

    (void)place;
    (void)thread;
    task->event = openmp_event_new();
    return task->event;
}

/* -- taskloops -- */

/* Sets up the private variables of a task that is a copy of `from`. */
typedef void copy_fn(struct kmp_task *to, struct kmp_task *from, int32_t is_last);

enum { BY_GRAIN = 1, BY_NUMBER = 2 };

static struct task *task_copy(const struct task *task, const struct kmp_task *kmp)
{
    struct task *copy = task_new(task->flags, task->size, task->nshared, kmp->code);
    void *shared = copy->kmp.shared;

    memcpy(&copy->kmp, kmp, task->size + task->nshared);
    copy->kmp.shared = shared;
    return copy;
}

/* `lower` and `upper` are in the task: they get a part each of the numbers between them. */
static void taskloop(struct kmp_task *kmp, bool deferred, uint64_t *lower, uint64_t *upper,
                     int64_t step, bool nogroup, const struct openmp_parts *parts, uint64_t n,
                     copy_fn *copy)
{
    struct task *task = task_of(kmp);
    uint64_t first = *lower, at = 0;

    if (!nogroup)
        starpu_omp_taskgroup_inline_begin();
    for (uint64_t i = 0; i < parts->ntasks; i++) {
        struct task *next = task_copy(task, kmp);
        ptrdiff_t lower_at = (char *)lower - (char *)kmp, upper_at = (char *)upper - (char *)kmp;

        *(uint64_t *)(void *)((char *)&next->kmp + lower_at) = first + at * (uint64_t)step;
        at += openmp_part_size(parts, n, i);
        *(uint64_t *)(void *)((char *)&next->kmp + upper_at) =
            first + (at - 1) * (uint64_t)step;
        if (copy)
            copy(&next->kmp, kmp, at == n);
        create(next, NULL, deferred);
    }
    if (!nogroup)
        starpu_omp_taskgroup_inline_end();
    free(task);
}

static void taskloop_of(struct kmp_task *kmp, int deferred, uint64_t *lower, uint64_t *upper,
                        int64_t step, int nogroup, int32_t how, uint64_t number, bool strict,
                        copy_fn *copy)
{
    uint64_t n = openmp_count(*lower, *upper + (uint64_t)step, (uint64_t)step, true, step > 0);
    struct openmp_parts parts = how == BY_GRAIN
                                    ? openmp_parts_by_grain(n, number, strict)
                                    : openmp_parts_by_number(n, how == BY_NUMBER ? number : 0);

    openmp_enter("taskloop");
    taskloop(kmp, deferred, lower, upper, step, nogroup, &parts, n, copy);
}

ENTRY void __kmpc_taskloop(kmp_place *place, int32_t thread, struct kmp_task *kmp, int deferred,
                           uint64_t *lower, uint64_t *upper, int64_t step, int nogroup,
                           int32_t how, uint64_t number, copy_fn *copy)
{
    (void)place;
    (void)thread;
    taskloop_of(kmp, deferred, lower, upper, step, nogroup, how, number, false, copy);
}

ENTRY void __kmpc_taskloop_5(kmp_place *place, int32_t thread, struct kmp_task *kmp,
                             int deferred, uint64_t *lower, uint64_t *upper, int64_t step,
                             int nogroup, int32_t how, uint64_t number, int32_t modifier,
                             copy_fn *copy)
{
    (void)place;
    (void)thread;
    taskloop_of(kmp, deferred, lower, upper, step, nogroup, how, number, modifier != 0, copy);
}
