/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/gomp.c - see gomp.h: regions, barriers, exclusion, devices. Loops are in
 * gomp_loops.c, tasks in gomp_tasks.c. The signatures are those that compiled programs
 * call.
 */
#include "record/openmp/gomp.h"

#include <dlfcn.h>
#include <stddef.h>

PUBLIC void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags);

bool gomp_on(void)
{
    static enum { UNKNOWN, LIBGOMP, LIBOMP } which;

    if (which == UNKNOWN) {
        Dl_info gomp, kmpc;
        void *fork_call = dlsym(RTLD_DEFAULT, "__kmpc_fork_call");
        bool same = fork_call && dladdr(fork_call, &kmpc) &&
                    dladdr(orr_omp_next("GOMP_parallel"), &gomp) && kmpc.dli_fbase == gomp.dli_fbase;

        which = same ? LIBOMP : LIBGOMP;
    }
    return which == LIBGOMP && orr_omp_on();
}

/* --- regions --- */


static int ask(int (**function)(void), const char *name)
{
    if (!*function)
        *function = (int (*)(void))orr_omp_next(name);
    return (*function)();
}

void gomp_region_begin(struct gomp_region *region, void (*fn)(void *), void *data,
                       unsigned threads)
{
    static int (*most)(void);

    *region = (struct gomp_region){.first = data ? *(void **)data : NULL,
                                   .fn = fn,
                                   .data = data,
                                   .number = orr_omp_number(),
                                   .loops = region->loops,
                                   .step = region->step};
    orr_omp_team(threads ? threads : (unsigned)ask(&most, "omp_get_max_threads"));
    orr_omp_put(ORR_OMP_REGION_BEGIN, 0, 0, region->number,
                orr_omp_code(*(const void **)(void *)&fn, false));
}

void gomp_region_main(void *arg)
{
    static int (*which)(void), (*many)(void);
    const struct gomp_region *region = arg;
    uint64_t task = orr_omp_number(), before = gomp_enter(task);

    orr_omp_put(ORR_OMP_IMPLICIT_BEGIN, (unsigned)ask(&which, "omp_get_thread_num"),
                (uint32_t)ask(&many, "omp_get_num_threads"), task, region->number);
    gomp_keep_step(region->step);
    if (region->loops)
        orr_omp_put(ORR_OMP_LOOP_BEGIN, 0, 1, 0, 0);
    region->fn(region->data);
    orr_omp_put(ORR_OMP_IMPLICIT_END, 0, 0, task, 0);
    gomp_enter(before);
}

void gomp_region_end(const struct gomp_region *region)
{
    orr_omp_put(ORR_OMP_REGION_END, 0, 0, region->number, 0);
}

PUBLIC void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags)
{
    struct gomp_region region = {0};

    GOMP_REAL(GOMP_parallel);
    if (!gomp_on()) {
        real_GOMP_parallel(fn, data, threads, flags);
        return;
    }
    gomp_region_begin(&region, fn, data, threads);
    real_GOMP_parallel(gomp_region_main, &region, threads, flags);
    gomp_region_end(&region);
}

PUBLIC unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned threads,
                                         unsigned flags);

PUBLIC unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned threads,
                                         unsigned flags)
{
    struct gomp_region region = {0};
    unsigned result;

    GOMP_REAL(GOMP_parallel_reductions);
    if (!gomp_on())
        return real_GOMP_parallel_reductions(fn, data, threads, flags);
    gomp_region_begin(&region, fn, data, threads);
    result = real_GOMP_parallel_reductions(gomp_region_main, &region, threads, flags);
    gomp_region_end(&region);
    return result;
}

PUBLIC void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned threads,
                                   unsigned count, unsigned flags);

PUBLIC void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned threads,
                                   unsigned count, unsigned flags)
{
    struct gomp_region region = {.loops = true};

    GOMP_REAL(GOMP_parallel_sections);
    if (!gomp_on()) {
        real_GOMP_parallel_sections(fn, data, threads, count, flags);
        return;
    }
    gomp_region_begin(&region, fn, data, threads);
    real_GOMP_parallel_sections(gomp_region_main, &region, threads, count, flags);
    gomp_region_end(&region);
}

/* --- waits without arguments --- */

#define WAITING(name, wait)                                                                        \
    PUBLIC void name(void);                                                                        \
    PUBLIC void name(void)                                                                         \
    {                                                                                              \
        GOMP_REAL(name);                                                                           \
        if (!gomp_on()) {                                                                          \
            real_##name();                                                                         \
            return;                                                                                \
        }                                                                                          \
        gomp_wait_begin(wait);                                                                     \
        real_##name();                                                                             \
        gomp_wait_end(wait);                                                                       \
    }

WAITING(GOMP_barrier, ORR_OMP_BARRIER)
WAITING(GOMP_taskwait, ORR_OMP_TASKWAIT)
WAITING(GOMP_taskgroup_end, ORR_OMP_GROUP)
WAITING(GOMP_critical_start, ORR_OMP_EXCLUSION)
WAITING(GOMP_atomic_start, ORR_OMP_EXCLUSION)
WAITING(GOMP_ordered_start, ORR_OMP_ORDERED)

PUBLIC void GOMP_ordered_end(void);

PUBLIC void GOMP_ordered_end(void)
{
    GOMP_REAL(GOMP_ordered_end);
    if (gomp_on())
        orr_omp_put(ORR_OMP_ORDERED_END, 0, 0, 0, 0);
    real_GOMP_ordered_end();
}

PUBLIC bool GOMP_barrier_cancel(void);

PUBLIC bool GOMP_barrier_cancel(void)
{
    bool result;

    GOMP_REAL(GOMP_barrier_cancel);
    if (!gomp_on())
        return real_GOMP_barrier_cancel();
    gomp_wait_begin(ORR_OMP_BARRIER);
    result = real_GOMP_barrier_cancel();
    gomp_wait_end(ORR_OMP_BARRIER);
    return result;
}

PUBLIC void GOMP_critical_name_start(void **name);

PUBLIC void GOMP_critical_name_start(void **name)
{
    GOMP_REAL(GOMP_critical_name_start);
    if (!gomp_on()) {
        real_GOMP_critical_name_start(name);
        return;
    }
    gomp_wait_begin(ORR_OMP_EXCLUSION);
    real_GOMP_critical_name_start(name);
    gomp_wait_end(ORR_OMP_EXCLUSION);
}

/* Those that do not execute a single with copyprivate wait inside of its beginning, the one
 * that does in its end. */
PUBLIC void *GOMP_single_copy_start(void);

PUBLIC void *GOMP_single_copy_start(void)
{
    void *copy;

    GOMP_REAL(GOMP_single_copy_start);
    if (!gomp_on())
        return real_GOMP_single_copy_start();
    gomp_wait_begin(ORR_OMP_RUNTIME);
    copy = real_GOMP_single_copy_start();
    gomp_wait_end(ORR_OMP_RUNTIME);
    if (copy) {
        gomp_wait_begin(ORR_OMP_BARRIER);
        gomp_wait_end(ORR_OMP_BARRIER);
    }
    return copy;
}

PUBLIC void GOMP_single_copy_end(void *data);

PUBLIC void GOMP_single_copy_end(void *data)
{
    GOMP_REAL(GOMP_single_copy_end);
    if (!gomp_on()) {
        real_GOMP_single_copy_end(data);
        return;
    }
    gomp_wait_begin(ORR_OMP_BARRIER);
    real_GOMP_single_copy_end(data);
    gomp_wait_end(ORR_OMP_BARRIER);
}

/* --- what is only noted --- */

PUBLIC bool GOMP_cancel(int which, bool does);

PUBLIC bool GOMP_cancel(int which, bool does)
{
    GOMP_REAL(GOMP_cancel);
    if (does && gomp_on())
        orr_omp_put(ORR_OMP_NOTE, 0, ORR_OMP_CANCEL, 0, 0);
    return real_GOMP_cancel(which, does);
}

PUBLIC void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned teams, unsigned limit,
                           unsigned flags);

PUBLIC void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned teams, unsigned limit,
                           unsigned flags)
{
    GOMP_REAL(GOMP_teams_reg);
    if (gomp_on())
        orr_omp_put(ORR_OMP_NOTE, 0, ORR_OMP_TEAMS, 0, 0);
    real_GOMP_teams_reg(fn, data, teams, limit, flags);
}

PUBLIC void GOMP_target_ext(int device, void (*fn)(void *), size_t n, void **addresses,
                            size_t *sizes, unsigned short *kinds, unsigned flags, void **depend,
                            void **args);

PUBLIC void GOMP_target_ext(int device, void (*fn)(void *), size_t n, void **addresses,
                            size_t *sizes, unsigned short *kinds, unsigned flags, void **depend,
                            void **args)
{
    GOMP_REAL(GOMP_target_ext);
    if (gomp_on())
        orr_omp_put(ORR_OMP_NOTE, 0, ORR_OMP_TARGET, 0, 0);
    real_GOMP_target_ext(device, fn, n, addresses, sizes, kinds, flags, depend, args);
}
