/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/gpu-tasks.c - so many asynchronous tasks on one CUDA device, which do
 * nothing, on two data that stay there: what bench-gpu-tasks.py counts.
 *
 * usage: gpu-tasks NTASKS [ROUNDS]
 *
 * With rounds it prints the least processor time per task of one, of all threads, and
 * that of the vendor's calls which a task makes, made without the library. On the
 * stand-in with now=1 nobody waits for a device.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <starpu.h>

static void start_nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    (void)starpu_cuda_get_local_stream();
}

static struct starpu_codelet cl = {
    .cuda_funcs = {start_nothing},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_R},
    .name = "nothing",
};

static double processor_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int run_tasks(starpu_data_handle_t *data, long n)
{
    for (long i = 0; i < n; i++)
        if (starpu_task_insert(&cl, STARPU_RW, data[0], STARPU_R, data[1], 0))
            return 1;
    return starpu_task_wait_for_all() != 0;
}

/* -- the vendor's calls alone -- */

static void *find(const char *name)
{
    const char *file = getenv("ORRERY_CUDA_LIBRARY");
    void *library = dlopen(file ? file : "libcuda.so.1", RTLD_NOW);
    void *found = library ? dlsym(library, name) : NULL;

    if (found)
        return found;
    fprintf(stderr, "gpu-tasks: there is no %s\n", name);
    exit(1);
}

/* POSIX guarantees that a function pointer fits; ISO C has no cast for it. */
static void take(void *ret, const char *name)
{
    void *found = find(name);

    memcpy(ret, &found, sizeof(found));
}

static void called(void *stream, int code, void *arg)
{
    (void)stream;
    (void)code;
    (void)arg;
}

struct calls {
    int (*set)(void *);
    int (*record)(void *, void *);
    int (*wait)(void *, void *, unsigned);
    int (*call)(void *, void (*)(void *, int, void *), void *, unsigned);
    int (*elapsed)(float *, void *, void *);
    void *context, *stream, *ends, *begin, *end;
};

static void open_calls(struct calls *calls)
{
    int (*retain)(void **, int);
    int (*stream)(void **, unsigned);
    int (*event)(void **, unsigned);

    take(&retain, "cuDevicePrimaryCtxRetain");
    take(&stream, "cuStreamCreate");
    take(&event, "cuEventCreate");
    take(&calls->set, "cuCtxSetCurrent");
    take(&calls->record, "cuEventRecord");
    take(&calls->wait, "cuStreamWaitEvent");
    take(&calls->call, "cuStreamAddCallback");
    take(&calls->elapsed, "cuEventElapsedTime");
    if (retain(&calls->context, 0) || calls->set(calls->context) ||
        stream(&calls->stream, 1) || stream(&calls->ends, 1) ||
        event(&calls->begin, 0) || event(&calls->end, 0)) {
        fputs("gpu-tasks: the device cannot be opened\n", stderr);
        exit(1);
    }
}

/* As core/device/gpu/kernel.c makes them. */
static int call_vendor(const struct calls *calls, long n)
{
    float ms;
    int code = 0;

    for (long i = 0; i < n && !code; i++)
        code = calls->set(calls->context) ||
               calls->record(calls->begin, calls->stream) ||
               calls->set(calls->context) ||
               calls->record(calls->end, calls->stream) ||
               calls->wait(calls->ends, calls->end, 0) ||
               calls->call(calls->ends, called, NULL, 0) ||
               calls->elapsed(&ms, calls->begin, calls->end);
    return code;
}

/* -- */

static int time_rounds(starpu_data_handle_t *data, long n, long rounds)
{
    double tasks = HUGE_VAL, vendor = HUGE_VAL;
    struct calls calls;

    open_calls(&calls);
    for (long r = 0; r < rounds; r++) {
        double begun = processor_us(), between;

        if (run_tasks(data, n))
            return 1;
        between = processor_us();
        tasks = fmin(tasks, (between - begun) / (double)n);
        if (call_vendor(&calls, n))
            return 1;
        vendor = fmin(vendor, (processor_us() - between) / (double)n);
    }
    printf("bench gpu-tasks processor time=%.2f vendor=%.2f value=%.2f "
           "unit=us/task tasks=%ld rounds=%ld\n",
           tasks, vendor, tasks - vendor, n, rounds);
    return 0;
}

int main(int argc, char **argv)
{
    static double values[2][64];
    starpu_data_handle_t data[2];
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    int failed;

    if (n <= 0 || argc > 3) {
        fputs("usage: gpu-tasks NTASKS [ROUNDS]\n", stderr);
        return 2;
    }
    if (starpu_init(NULL) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        starpu_vector_data_register(&data[i], STARPU_MAIN_RAM,
                                    (uintptr_t)values[i], 64, sizeof(double));
    failed = rounds ? time_rounds(data, n, rounds) : run_tasks(data, n);
    for (int i = 0; i < 2; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
    return failed;
}
