/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* openmp/start.c - see start.h. */
#include "openmp/start.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The runtime of the process; constructs by the address of their code. */
struct construct {
    struct construct *next;
    const void *code;
    const struct orr_openmp_construct *made;
    char name[]; /* which it has */
};

enum { NBUCKETS = 1024 };

static struct {
    pthread_mutex_t lock;
    bool started; /* [lock] */
    bool forked;  /* this is a child of the process that did */
    _Atomic(struct construct *) constructs[NBUCKETS];
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

void openmp_refuse(const char *construct, const char *remedy)
{
    fprintf(stderr, "orrery: OpenMP: %s %s\n", construct, remedy);
    fflush(stdout);
    _exit(EXIT_FAILURE); /* threads are in the middle of things */
}

void *openmp_allocate(size_t size)
{
    void *memory = calloc(1, size ? size : 1);

    if (!memory)
        openmp_refuse("there is no memory", "for a construct");
    return memory;
}

/* -- begin and end -- */

/* Of main, outside of regions; elsewhere the program ends as it is. */
static void stop(void)
{
    if (process.forked || !orr_openmp_is_task() || starpu_omp_get_level() > 0)
        return;
    starpu_omp_shutdown();
    starpu_shutdown();
}

static void note_fork(void)
{
    process.forked = true;
}

/* Processors only: OpenMP's tasks have no other functions. */
static void start_locked(void)
{
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncuda = conf.nopencl = conf.nhip = 0;
    if (!getenv("STARPU_SCHED"))
        conf.sched_policy_name = "lws";
    if (starpu_init(&conf) != 0 || starpu_omp_init() != 0)
        openmp_refuse("the runtime", "could not start: see the message above");
    pthread_atfork(NULL, NULL, note_fork);
    process.started = true;
    atexit(stop);
}

void openmp_start(void)
{
    pthread_mutex_lock(&process.lock);
    if (!process.started)
        start_locked();
    pthread_mutex_unlock(&process.lock);
}

void openmp_enter(const char *construct)
{
    if (process.forked)
        openmp_refuse(construct, "was met after fork(): use OpenMP in one process");
    if (orr_openmp_is_task())
        return;
    openmp_start();
    if (!orr_openmp_is_task())
        openmp_refuse(construct, "was met in a thread that the program has made itself: use "
                                 "OpenMP's constructs in its main thread");
}

/* -- constructs -- */

/* The object that has the code, and where in it: "app+0x1234"; or its symbol. */
static struct construct *construct_make(const void *code, starpu_cpu_func_t body)
{
    struct construct *construct;
    char name[256];
    Dl_info info;
    const char *base;

    if (!dladdr(code, &info) || !info.dli_fname) {
        snprintf(name, sizeof(name), "task %p", code);
    } else if (info.dli_sname && info.dli_saddr == code) {
        snprintf(name, sizeof(name), "%s", info.dli_sname);
    } else {
        base = strrchr(info.dli_fname, '/');
        snprintf(name, sizeof(name), "%s+0x%tx", base ? base + 1 : info.dli_fname,
                 (const char *)code - (const char *)info.dli_fbase);
    }
    construct = openmp_allocate(sizeof(*construct) + strlen(name) + 1);
    strcpy(construct->name, name);
    construct->code = code;
    construct->made = orr_openmp_construct(body, construct->name);
    if (!construct->made)
        openmp_refuse("there is no memory", "for a construct");
    return construct;
}

const struct orr_openmp_construct *openmp_construct(const void *code, starpu_cpu_func_t body)
{
    unsigned at = (unsigned)(((uintptr_t)code * 0x9e3779b97f4a7c15u) >> 40) % NBUCKETS;
    struct construct *first =
        atomic_load_explicit(&process.constructs[at], memory_order_acquire);
    struct construct *construct = first;

    while (construct && construct->code != code)
        construct = construct->next;
    if (construct)
        return construct->made;
    /* Two threads may make it twice, which does no harm. */
    construct = construct_make(code, body);
    construct->next = first;
    while (!atomic_compare_exchange_weak_explicit(&process.constructs[at], &construct->next,
                                                  construct, memory_order_release,
                                                  memory_order_relaxed))
        ;
    return construct->made;
}

/* -- regions, threads -- */

void openmp_parallel(starpu_cpu_func_t body, void *arg, unsigned nthreads)
{
    struct starpu_omp_parallel_region_attr attr;

    memset(&attr, 0, sizeof(attr));
    attr.cl.cpu_funcs[0] = body;
    attr.cl_arg = arg;
    attr.if_clause = nthreads != 1;
    attr.num_threads = (int)nthreads;
    starpu_omp_parallel_region(&attr);
}

struct openmp_kept *openmp_kept(void)
{
    void **kept = orr_openmp_kept();

    if (!*kept)
        *kept = openmp_allocate(sizeof(struct openmp_kept));
    return *kept;
}
