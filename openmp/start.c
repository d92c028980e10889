/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* openmp/start.c - see start.h. */
#include "openmp/start.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
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
    /* [const] since the start: whether the program has such variables, and the processors
     * where there are more workers. */
    bool has_thread_locals;
    unsigned nprocs;
    atomic_flag warned; /* of threads that share them */
    _Atomic(struct construct *) constructs[NBUCKETS];
} process = {.lock = PTHREAD_MUTEX_INITIALIZER, .warned = ATOMIC_FLAG_INIT};

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

/* -- thread-local variables, as compilers make of threadprivate -- */

/* The first object is the program. */
static int look_for_thread_locals(struct dl_phdr_info *info, size_t size,
                                  void *ret)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS &&
            info->dlpi_phdr[i].p_memsz > 0)
            *(bool *)ret = true;
    return 1;
}

/* Each worker has its own: where the program has some, there is a worker for each of the
 * threads that are asked for. */
static void choose_workers_locked(struct starpu_conf *conf)
{
    const char *text = getenv("OMP_NUM_THREADS");
    long n = text ? strtol(text, NULL, 10) : 0;
    cpu_set_t cpus;

    (void)dl_iterate_phdr(look_for_thread_locals, &process.has_thread_locals);
    if (!process.has_thread_locals || getenv("STARPU_NCPU") ||
        n > STARPU_MAXCPUS || sched_getaffinity(0, sizeof(cpus), &cpus) != 0 ||
        n <= CPU_COUNT(&cpus))
        return;
    process.nprocs = (unsigned)CPU_COUNT(&cpus);
    conf->ncpus = (int)n;
}

/* How many threads there would be of regions of n threads that the caller meets. */
static unsigned long threads_together(unsigned n)
{
    unsigned long together = n;

    if (starpu_omp_get_active_level() >= starpu_omp_get_max_active_levels())
        return 1;
    for (int level = starpu_omp_get_level(); level > 0; level--)
        together *= (unsigned long)starpu_omp_get_team_size(level);
    return together;
}

static void warn_of_shared_thread_locals(unsigned nthreads)
{
    unsigned n = nthreads ? nthreads : (unsigned)starpu_omp_get_max_threads();
    unsigned long together = threads_together(n), nworkers;
    const char *silent = getenv("STARPU_SILENT");

    nworkers = (unsigned long)starpu_omp_get_num_procs();
    if (n == 1 || together <= nworkers ||
        atomic_flag_test_and_set(&process.warned) ||
        (silent && strcmp(silent, "0") != 0))
        return;
    fprintf(
        stderr,
        "orrery: OpenMP: regions have %lu threads on %lu workers, and the program has "
        "thread-local variables (threadprivate, thread_local): threads that take turns on "
        "a worker share them. If they matter, set STARPU_NCPU=%lu\n",
        together, nworkers, together);
}

unsigned openmp_nprocs(void)
{
    return process.nprocs ? process.nprocs
                          : (unsigned)starpu_omp_get_num_procs();
}

/* Processors only: OpenMP's tasks have no other functions. */
static void start_locked(void)
{
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.ncuda = conf.nopencl = conf.nhip = 0;
    choose_workers_locked(&conf);
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

    if (process.has_thread_locals)
        warn_of_shared_thread_locals(nthreads);
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
