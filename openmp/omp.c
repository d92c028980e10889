/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/omp.c - the functions that programs call themselves, omp_*, from C and from
 * Fortran, whose names end in an underscore and whose arguments are addresses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "openmp/locks.h"
#include "openmp/start.h"
#include "openmp/tasks.h"

/* Programs have them declared in omp.h, which is the compiler's. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"

/* -- questions without arguments, for which the runtime has to be there, or not -- */

#define ASK(name)                                                                      \
    ENTRY int omp_##name(void)                                                         \
    {                                                                                  \
        return starpu_omp_##name();                                                    \
    }                                                                                  \
    ENTRY int omp_##name##_(void)                                                      \
    {                                                                                  \
        return starpu_omp_##name();                                                    \
    }
#define ASK_STARTED(name)                                                              \
    ENTRY int omp_##name(void)                                                         \
    {                                                                                  \
        openmp_start();                                                                \
        return starpu_omp_##name();                                                    \
    }                                                                                  \
    ENTRY int omp_##name##_(void)                                                      \
    {                                                                                  \
        return omp_##name();                                                           \
    }
#define ANSWER(name, value)                                                            \
    ENTRY int omp_##name(void)                                                         \
    {                                                                                  \
        return value;                                                                  \
    }                                                                                  \
    ENTRY int omp_##name##_(void)                                                      \
    {                                                                                  \
        return value;                                                                  \
    }

ASK(get_num_threads)
ASK(get_thread_num)
ASK(in_parallel)
ASK(get_level)
ASK(get_active_level)
ASK(in_final)
ASK_STARTED(get_max_threads)
ASK_STARTED(get_dynamic)
ASK_STARTED(get_nested)
ASK_STARTED(get_thread_limit)
ASK_STARTED(get_max_active_levels)
ASK_STARTED(get_cancellation)
ASK_STARTED(get_max_task_priority)
ASK_STARTED(get_default_device)
ASK_STARTED(get_num_places)
ASK_STARTED(get_place_num)
ASK_STARTED(get_partition_num_places)
ANSWER(get_num_devices, 0)
ANSWER(get_device_num, 0)
ANSWER(get_initial_device, 0)
ANSWER(is_initial_device, 1)
ANSWER(get_num_teams, 1)
ANSWER(get_team_num, 0)
ANSWER(get_max_teams, 0)
ANSWER(get_teams_thread_limit, 0)
ANSWER(get_supported_active_levels, 1 << 30)

ENTRY int omp_get_num_procs(void)
{
    openmp_start();
    return (int)openmp_nprocs();
}

ENTRY int omp_get_num_procs_(void)
{
    return omp_get_num_procs();
}

ENTRY int omp_get_proc_bind(void)
{
    openmp_start();
    return (int)starpu_omp_get_proc_bind();
}

ENTRY int omp_get_proc_bind_(void)
{
    return omp_get_proc_bind();
}

/* -- with a number -- */

#define ASK_OF(name)                                                                   \
    ENTRY int omp_##name(int number)                                                   \
    {                                                                                  \
        return starpu_omp_##name(number);                                              \
    }                                                                                  \
    ENTRY int omp_##name##_(const int *number)                                         \
    {                                                                                  \
        return starpu_omp_##name(*number);                                             \
    }
#define SET(name)                                                                      \
    ENTRY void omp_##name(int number)                                                  \
    {                                                                                  \
        openmp_enter("omp_" #name);                                                    \
        starpu_omp_##name(number);                                                     \
    }                                                                                  \
    ENTRY void omp_##name##_(const int *number)                                        \
    {                                                                                  \
        omp_##name(*number);                                                           \
    }
#define IGNORE(name)                                                                   \
    ENTRY void omp_##name(int number)                                                  \
    {                                                                                  \
        (void)number;                                                                  \
    }                                                                                  \
    ENTRY void omp_##name##_(const int *number)                                        \
    {                                                                                  \
        (void)number;                                                                  \
    }

ASK_OF(get_ancestor_thread_num)
ASK_OF(get_team_size)
ASK_OF(get_place_num_procs)
SET(set_num_threads)
SET(set_dynamic)
SET(set_nested)
SET(set_max_active_levels)
SET(set_default_device)
IGNORE(set_num_teams) /* there is one team */
IGNORE(set_teams_thread_limit)

ENTRY void omp_get_place_proc_ids(int place, int *ids)
{
    starpu_omp_get_place_proc_ids(place, ids);
}

ENTRY void omp_get_place_proc_ids_(const int *place, int *ids)
{
    starpu_omp_get_place_proc_ids(*place, ids);
}

ENTRY void omp_get_partition_place_nums_(int *numbers)
{
    starpu_omp_get_partition_place_nums(numbers);
}

ENTRY void omp_get_partition_place_nums(int *numbers)
{
    starpu_omp_get_partition_place_nums(numbers);
}

/* A bit of `kind` says that chunks come in order, as they do. */
ENTRY void omp_set_schedule(unsigned kind, int chunk)
{
    openmp_enter("omp_set_schedule");
    starpu_omp_set_schedule((enum starpu_omp_sched_value)(kind & 0x7fffffffu),
                            chunk > 0 ? chunk : 0);
}

ENTRY void omp_set_schedule_(const unsigned *kind, const int *chunk)
{
    omp_set_schedule(*kind, *chunk);
}

ENTRY void omp_get_schedule(unsigned *kind, int *chunk)
{
    enum starpu_omp_sched_value value;

    openmp_start();
    starpu_omp_get_schedule(&value, chunk);
    *kind = (unsigned)value;
}

ENTRY void omp_get_schedule_(unsigned *kind, int *chunk)
{
    omp_get_schedule(kind, chunk);
}

/* -- time -- */

ENTRY double omp_get_wtime(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

ENTRY double omp_get_wtime_(void)
{
    return omp_get_wtime();
}

ENTRY double omp_get_wtick(void)
{
    struct timespec tick;

    clock_getres(CLOCK_MONOTONIC, &tick);
    return (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
}

ENTRY double omp_get_wtick_(void)
{
    return omp_get_wtick();
}

/* -- locks -- */

#define LOCKS(name, nests)                                                             \
    ENTRY void omp_init_##name(uint32_t *lock)                                         \
    {                                                                                  \
        openmp_lock_init(lock, nests);                                                 \
    }                                                                                  \
    ENTRY void omp_init_##name##_with_hint(uint32_t *lock, int hint)                   \
    {                                                                                  \
        (void)hint;                                                                    \
        openmp_lock_init(lock, nests);                                                 \
    }                                                                                  \
    ENTRY void omp_destroy_##name(uint32_t *lock)                                      \
    {                                                                                  \
        openmp_lock_destroy(lock, nests);                                              \
    }                                                                                  \
    ENTRY void omp_set_##name(uint32_t *lock)                                          \
    {                                                                                  \
        openmp_lock_set(lock, nests);                                                  \
    }                                                                                  \
    ENTRY void omp_unset_##name(uint32_t *lock)                                        \
    {                                                                                  \
        openmp_lock_unset(lock, nests);                                                \
    }                                                                                  \
    ENTRY int omp_test_##name(uint32_t *lock)                                          \
    {                                                                                  \
        return openmp_lock_test(lock, nests);                                          \
    }                                                                                  \
    ENTRY void omp_init_##name##_(uint32_t *lock)                                      \
    {                                                                                  \
        openmp_lock_init(lock, nests);                                                 \
    }                                                                                  \
    ENTRY void omp_destroy_##name##_(uint32_t *lock)                                   \
    {                                                                                  \
        openmp_lock_destroy(lock, nests);                                              \
    }                                                                                  \
    ENTRY void omp_set_##name##_(uint32_t *lock)                                       \
    {                                                                                  \
        openmp_lock_set(lock, nests);                                                  \
    }                                                                                  \
    ENTRY void omp_unset_##name##_(uint32_t *lock)                                     \
    {                                                                                  \
        openmp_lock_unset(lock, nests);                                                \
    }                                                                                  \
    ENTRY void omp_init_##name##_with_hint_(uint32_t *lock, const int *hint)           \
    {                                                                                  \
        (void)hint;                                                                    \
        openmp_lock_init(lock, nests);                                                 \
    }                                                                                  \
    ENTRY int omp_test_##name##_(uint32_t *lock)                                       \
    {                                                                                  \
        return openmp_lock_test(lock, nests);                                          \
    }

LOCKS(lock, false)
LOCKS(nest_lock, true)

/* -- detached tasks -- */

ENTRY void omp_fulfill_event(void *event)
{
    openmp_event_fulfil(event);
}

ENTRY void omp_fulfill_event_(void *const *event)
{
    openmp_event_fulfil(*event);
}

/* -- memory: there is one kind of it. What allocators are told is not looked at. -- */

ENTRY void *omp_aligned_alloc(size_t align, size_t size, uintptr_t allocator)
{
    void *memory;

    (void)allocator;
    if (size == 0)
        return NULL;
    return posix_memalign(&memory, align > sizeof(void *) ? align : sizeof(void *), size) == 0
               ? memory
               : NULL;
}

ENTRY void *omp_alloc(size_t size, uintptr_t allocator)
{
    return omp_aligned_alloc(0, size, allocator);
}

ENTRY void *omp_aligned_calloc(size_t align, size_t n, size_t size, uintptr_t allocator)
{
    size_t bytes;
    void *memory;

    if (__builtin_mul_overflow(n, size, &bytes))
        return NULL;
    memory = omp_aligned_alloc(align, bytes, allocator);
    if (memory)
        memset(memory, 0, bytes);
    return memory;
}

ENTRY void *omp_calloc(size_t n, size_t size, uintptr_t allocator)
{
    return omp_aligned_calloc(0, n, size, allocator);
}

ENTRY void *omp_realloc(void *memory, size_t size, uintptr_t allocator, uintptr_t former)
{
    (void)allocator;
    (void)former;
    return realloc(memory, size);
}

ENTRY void omp_free(void *memory, uintptr_t allocator)
{
    (void)allocator;
    free(memory);
}

ENTRY void *GOMP_alloc(size_t align, size_t size, uintptr_t allocator)
{
    void *memory = omp_aligned_alloc(align, size ? size : 1, allocator);

    if (!memory)
        openmp_refuse("allocate", "has no memory");
    return memory;
}

ENTRY void GOMP_free(void *memory, uintptr_t allocator)
{
    omp_free(memory, allocator);
}

ENTRY void *__kmpc_alloc(int thread, size_t size, uintptr_t allocator)
{
    (void)thread;
    return omp_alloc(size, allocator);
}

ENTRY void *__kmpc_aligned_alloc(int thread, size_t align, size_t size, uintptr_t allocator)
{
    (void)thread;
    return omp_aligned_alloc(align, size, allocator);
}

ENTRY void *__kmpc_calloc(int thread, size_t n, size_t size, uintptr_t allocator)
{
    (void)thread;
    return omp_calloc(n, size, allocator);
}

ENTRY void *__kmpc_realloc(int thread, void *memory, size_t size, uintptr_t allocator,
                           uintptr_t former)
{
    (void)thread;
    return omp_realloc(memory, size, allocator, former);
}

ENTRY void __kmpc_free(int thread, void *memory, uintptr_t allocator)
{
    (void)thread;
    omp_free(memory, allocator);
}

/* 1 is the allocator of ordinary memory. */
static uintptr_t default_allocator = 1;

ENTRY uintptr_t omp_init_allocator(uintptr_t space, int ntraits, const void *traits)
{
    (void)space;
    (void)ntraits;
    (void)traits;
    return default_allocator;
}

ENTRY void omp_destroy_allocator(uintptr_t allocator)
{
    (void)allocator;
}

ENTRY void omp_set_default_allocator(uintptr_t allocator)
{
    default_allocator = allocator;
}

ENTRY uintptr_t omp_get_default_allocator(void)
{
    return default_allocator;
}

/* -- what is printed on request -- */

ENTRY void omp_display_env(int verbose)
{
    (void)verbose;
    fprintf(stderr, "orrery: OpenMP: set OMP_DISPLAY_ENV=true for its variables\n");
}

ENTRY void omp_display_affinity(const char *format)
{
    (void)format;
    fprintf(stderr, "orrery: OpenMP: thread %d of %d\n", starpu_omp_get_thread_num(),
            starpu_omp_get_num_threads());
}

ENTRY size_t omp_capture_affinity(char *text, size_t size, const char *format)
{
    int n = snprintf(text, size, "thread %d of %d", starpu_omp_get_thread_num(),
                     starpu_omp_get_num_threads());

    (void)format;
    return n > 0 ? (size_t)n : 0;
}

ENTRY void omp_set_affinity_format(const char *format)
{
    (void)format;
}

ENTRY size_t omp_get_affinity_format(char *text, size_t size)
{
    if (size > 0)
        *text = '\0';
    return 0;
}

/* The directive `error'. */
ENTRY void GOMP_warning(const char *text, size_t length)
{
    fprintf(stderr, "orrery: OpenMP: %.*s\n", (int)length, text);
}

ENTRY void GOMP_error(const char *text, size_t length)
{
    GOMP_warning(text, length);
    exit(EXIT_FAILURE);
}

ENTRY void __kmpc_error(const void *place, int severity, const char *text)
{
    (void)place;
    GOMP_warning(text, strlen(text));
    if (severity > 1)
        exit(EXIT_FAILURE);
}

ENTRY void omp_display_env_(const int *verbose)
{
    omp_display_env(*verbose);
}

ENTRY int omp_pause_resource_(const int *kind, const int *device)
{
    (void)kind;
    (void)device;
    return 0;
}

ENTRY int omp_pause_resource_all_(const int *kind)
{
    (void)kind;
    return 0;
}

ENTRY int omp_pause_resource(int kind, int device)
{
    (void)kind;
    (void)device;
    return 0;
}

ENTRY int omp_pause_resource_all(int kind)
{
    (void)kind;
    return 0;
}

ENTRY int omp_control_tool(int command, int modifier, void *arg)
{
    (void)command;
    (void)modifier;
    (void)arg;
    return -2; /* there is no tool */
}

ENTRY int omp_control_tool_(const int *command, const int *modifier)
{
    return omp_control_tool(*command, *modifier, NULL);
}
