/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-recursion.c - recursive Fibonacci by tasks that wait for those
 * that they submit, under several policies: how many wait at once depends on the
 * depth, not on the number of tasks, so that memory does not grow with that. The
 * argument is the number; the memory of a smaller one is what it is compared with.
 * An alarm ends the test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <starpu.h>

/* The address sanitizer keeps what is freed for a while, 256 MB of it. */
#ifdef __SANITIZE_ADDRESS__
enum { ROOM_MB = 96 + 2 * 256 };
#else
enum { ROOM_MB = 96 };
#endif
enum { SMALLER = 10, LIMIT_S = 280 };

struct fib {
    int n;
    long result;
};

static void fib(void *buffers[], void *arg);

/* Loopback devices run what processors do, but no kernel waits there. */
static int is_processor(unsigned worker, struct starpu_task *task, unsigned impl)
{
    (void)task;
    (void)impl;
    return starpu_worker_get_type((int)worker) == STARPU_CPU_WORKER;
}

static struct starpu_codelet cl = {
    .can_execute = is_processor,
    .cpu_funcs = {fib},
    .name = "k",
    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
};

static struct starpu_task *submit(struct fib *f)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &cl;
    task->cl_arg = f;
    task->detach = 0;
    if (starpu_task_submit(task) != 0)
        abort();
    return task;
}

static void fib(void *buffers[], void *arg)
{
    struct fib *f = arg, inner[2];
    struct starpu_task *tasks[2];

    (void)buffers;
    f->result = f->n;
    if (f->n < 2)
        return;
    for (int i = 0; i < 2; i++) {
        inner[i] = (struct fib){f->n - 1 - i, -1};
        tasks[i] = submit(&inner[i]);
    }
    for (int i = 0; i < 2; i++)
        if (starpu_task_wait(tasks[i]) != 0)
            abort();
    f->result = inner[0].result + inner[1].result;
}

static long value(int n)
{
    struct fib f = {n, -1};

    if (starpu_task_wait(submit(&f)) != 0)
        abort();
    return f.result;
}

static long expected(int n)
{
    long a = 0, b = 1;

    while (n-- > 0) {
        long next = a + b;

        a = b;
        b = next;
    }
    return a;
}

/* The process's memory, MB. */
static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        abort();
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1000000;
}

int main(int argc, char **argv)
{
    static const char *const policies[] = {"lws", "eager", "prio", "dmdas"};
    int n = argc > 1 ? atoi(argv[1]) : 18, wrong = 0;

    alarm(LIMIT_S);
    setenv("STARPU_SILENT", "1", 1);
    setenv("ORRERY_ASSUME", "kernel[k] = 1us", 1);
    printf("1..4\n");
    for (int p = 0; p < 4; p++) {
        long before, grown;
        int right;

        setenv("STARPU_SCHED", policies[p], 1);
        if (starpu_init(NULL) != 0)
            return 1;
        right = value(SMALLER) == expected(SMALLER);
        before = resident();
        right &= value(n) == expected(n);
        grown = resident() - before;
        right &= grown < ROOM_MB;
        starpu_shutdown();
        printf("%sok %d - fib(%d) with %s\n", right ? "" : "not ", p + 1, n,
               policies[p]);
        printf("# %ld MB more than before\n", grown);
        fflush(stdout);
        wrong += !right;
    }
    return wrong != 0;
}
