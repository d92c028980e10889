/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * application/clock.c - clocks of the C library, for programs that time themselves: preloaded
 * (LD_PRELOAD) its functions are found before those of libc. In a simulated run they
 * answer with virtual time if ORRERY_CLOCK is `virtual', as orrery run sets it; else they count how often they
 * were called. docs/CLOCK.md.
 *
 * Virtual, all clocks go on from where they are when the run begins, by the run's time;
 * when it ends, they go on at the pace of the real ones. So none ever goes back.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock_hook.h"

#define PUBLIC __attribute__((visibility("default")))

enum { NCLOCKS = 12 }; /* CLOCK_REALTIME … CLOCK_TAI */

static const int64_t second_ns = 1000000000;

/* Changed by the thread of the simulation alone, when a run begins and ends. */
static const struct orr_clock_run *run; /* NULL: there is none */
static uintptr_t library, library_end;  /* the code of the library that has it */
static int64_t base[NCLOCKS];           /* ns: what each said when it began */
static int64_t ahead[NCLOCKS]; /* ns: by which each is before the real one outside */
static unsigned long nasked;

/* What the run's answer asks itself is real. */
static __thread bool inside;

/* --- the real ones --- */

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int real_gettime(clockid_t id, struct timespec *ret)
{
    static __typeof__(&clock_gettime) next;

    if (!next)
        next = REAL(clock_gettime);
    return next ? next(id, ret) : (int)syscall(SYS_clock_gettime, id, ret);
}

static bool real_ns(clockid_t id, int64_t *ret)
{
    struct timespec now;

    if (real_gettime(id, &now) != 0)
        return false;
    *ret = now.tv_sec * second_ns + now.tv_nsec;
    return true;
}

/* --- the virtual one --- */

static bool is_virtual(void)
{
    static int known; /* 1: it is; -1: it is not */

    if (!known) {
        const char *mode = getenv("ORRERY_CLOCK");

        known = mode && !strcmp(mode, "virtual") ? 1 : -1;
    }
    return known > 0;
}

/* ns since the run began; false: the caller is not in one. */
static bool run_ns(int64_t *ret)
{
    double us = 0;
    bool asked;

    if (!run || inside)
        return false;
    inside = true;
    asked = run->now(&us);
    inside = false;
    nasked += asked;
    *ret = (int64_t)(us * 1e3);
    return asked && is_virtual();
}

/* What the clock says; false, with errno: there is no such clock. */
static bool clock_ns(clockid_t id, int64_t *ret)
{
    bool known = id >= 0 && id < NCLOCKS;
    int64_t since;

    if (known && run_ns(&since)) {
        *ret = base[id] + since;
        return true;
    }
    if (!real_ns(id, ret))
        return false;
    *ret += known ? ahead[id] : 0;
    return true;
}

/* A segment of code with the address. */
static int find_code(struct dl_phdr_info *object, size_t size, void *arg)
{
    uintptr_t address = *(const uintptr_t *)arg;

    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + part->p_vaddr;

        if (part->p_type == PT_LOAD && from <= address &&
            address < from + part->p_memsz) {
            library = from;
            library_end = from + part->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* What the library measures is real. */
#define IS_LIBRARY()                                                           \
    ((uintptr_t)__builtin_return_address(0) - library < library_end - library)

static void attach(const struct orr_clock_run *next)
{
    uintptr_t code = next ? (uintptr_t)next->now : 0;
    int64_t now = 0, since = 0;
    double us = 0;
    bool known = !next && run && run->now(&us);

    if (known)
        since = (int64_t)(us * 1e3);
    for (clockid_t id = 0; is_virtual() && id < NCLOCKS; id++)
        if (!real_ns(id, &now))
            ;
        else if (next)
            base[id] = now + ahead[id];
        else if (known)
            ahead[id] = base[id] + since - now;
    if (next) {
        (void)dl_iterate_phdr(find_code, &code);
        nasked = 0;
    }
    run = next;
}

static void set_time(int64_t ns, struct timespec *ret)
{
    *ret = (struct timespec){ns / second_ns, ns % second_ns};
}

static void date(struct timespec *ret)
{
    int64_t ns = 0;

    (void)clock_ns(CLOCK_REALTIME, &ns);
    set_time(ns, ret);
}

static unsigned long asked(void)
{
    return nasked;
}

PUBLIC extern const struct orr_clock_preload orrery_clock_preload;
const struct orr_clock_preload orrery_clock_preload = {is_virtual, attach,
                                                       date, asked};

/* --- functions of libc --- */

PUBLIC int clock_gettime(clockid_t id, struct timespec *ret)
{
    int64_t ns;

    if (IS_LIBRARY())
        return real_gettime(id, ret);
    if (!clock_ns(id, &ns))
        return -1;
    set_time(ns, ret);
    return 0;
}

PUBLIC int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    int64_t ns;

    if (zone)
        memset(zone, 0, sizeof(struct timezone));
    if (!clock_ns(CLOCK_REALTIME, &ns))
        return -1;
    *ret = (struct timeval){ns / second_ns, ns % second_ns / 1000};
    return 0;
}

PUBLIC time_t time(time_t *ret)
{
    int64_t ns;

    if (!clock_ns(CLOCK_REALTIME, &ns))
        return (time_t)-1;
    if (ret)
        *ret = ns / second_ns;
    return ns / second_ns;
}

PUBLIC int timespec_get(struct timespec *ret, int which)
{
    if (which != TIME_UTC)
        return 0;
    date(ret);
    return which;
}

PUBLIC clock_t clock(void)
{
    int64_t ns;

    return clock_ns(CLOCK_PROCESS_CPUTIME_ID, &ns) ? ns / 1000 : (clock_t)-1;
}

/* --- of OpenMP and MPI --- */

static double seconds(const char *name)
{
    double (*next)(void) = is_virtual() ? NULL : (double (*)(void))real(name);
    int64_t ns = 0;

    if (next) {
        double now = next(); /* which asks a clock, or the processor */

        return now;
    }
    (void)clock_ns(CLOCK_MONOTONIC, &ns);
    return 1e-9 * (double)ns;
}

PUBLIC double omp_get_wtime(void);
double omp_get_wtime(void)
{
    return seconds("omp_get_wtime");
}

PUBLIC double MPI_Wtime(void);
double MPI_Wtime(void)
{
    return seconds("MPI_Wtime");
}

/* --- what waits for a time --- */

/* Whether virtual time has passed instead. */
static bool slept(int64_t ns)
{
    bool done = false;

    if (!run || inside || !is_virtual())
        return false;
    inside = true;
    done = run->sleep(1e-3 * (double)ns);
    inside = false;
    nasked += done;
    return done;
}

static bool is_time(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < second_ns;
}

PUBLIC int nanosleep(const struct timespec *time, struct timespec *rest)
{
    if (!IS_LIBRARY() && is_time(time) && slept(time->tv_sec * second_ns + time->tv_nsec)) {
        if (rest)
            *rest = (struct timespec){0, 0};
        return 0;
    }
    return REAL(nanosleep)(time, rest);
}

/* Until a date of a clock, or for a while. */
PUBLIC int clock_nanosleep(clockid_t id, int flags, const struct timespec *time,
                           struct timespec *rest)
{
    struct timespec left;
    int64_t ns, now = 0;

    if (IS_LIBRARY())
        return REAL(clock_nanosleep)(id, flags, time, rest);
    if (!is_time(time))
        return EINVAL;
    ns = time->tv_sec * second_ns + time->tv_nsec;
    if (flags & TIMER_ABSTIME && clock_ns(id, &now))
        ns = ns > now ? ns - now : 0;
    if (slept(ns)) {
        if (rest && !(flags & TIMER_ABSTIME))
            *rest = (struct timespec){0, 0};
        return 0;
    }
    if (!(flags & TIMER_ABSTIME) || id < 0 || id >= NCLOCKS || !ahead[id])
        return REAL(clock_nanosleep)(id, flags, time, rest);
    /* The date is one of a clock that is ahead of the real one. */
    left = (struct timespec){ns / second_ns, ns % second_ns};
    return REAL(clock_nanosleep)(id, 0, &left, NULL);
}

PUBLIC int usleep(useconds_t us)
{
    return slept((int64_t)us * 1000) ? 0 : REAL(usleep)(us);
}

PUBLIC unsigned sleep(unsigned s)
{
    return slept(s * second_ns) ? 0 : REAL(sleep)(s);
}
