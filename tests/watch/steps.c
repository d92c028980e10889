/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/watch/steps.c - a program that goes on when it is told to, by lines of standard
 * input, so that what is seen of it does not depend on time:
 *
 *   run N    N tasks "work" in 16 chains of a datum each, and waits for them
 *   gate N   a task "gate", whose kernel waits for the next line; N tasks "after" that read
 *            what it writes, and one "last" that is declared to wait for one of them
 *   again    ends the run and begins another one
 *   none     says that it goes on, and does nothing
 *   stuck    waits for a task that waits for one that is never submitted
 *   crash    ends by SIGABRT
 *
 * It prints a line for each that it has done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

enum { CHAINS = 16, LINE = 64 };

static starpu_data_handle_t data[CHAINS];
static int values[CHAINS];

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static void wait_for_line(void *buffers[], void *arg)
{
    char line[LINE];

    (void)buffers;
    (void)arg;
    if (!fgets(line, sizeof(line), stdin))
        exit(2);
}

static double length(struct starpu_task *task, unsigned impl)
{
    (void)task;
    (void)impl;
    return 100; /* µs */
}

#define CODELET(codelet, function, mode)                                       \
    static struct starpu_perfmodel codelet##_model = {                         \
        .type = STARPU_COMMON, .symbol = #codelet, .cost_function = length};   \
    static struct starpu_codelet codelet = {.cpu_funcs = {function},           \
                                            .nbuffers = 1,                     \
                                            .modes = {mode},                   \
                                            .model = &codelet##_model,         \
                                            .name = #codelet}

CODELET(work, nothing, STARPU_RW);
CODELET(gate, wait_for_line, STARPU_W);
CODELET(after, nothing, STARPU_R);
CODELET(last, nothing, STARPU_RW);

static void begin(void)
{
    if (starpu_init(NULL) != 0)
        exit(1);
    for (int i = 0; i < CHAINS; i++)
        starpu_variable_data_register(&data[i], STARPU_MAIN_RAM, (uintptr_t)&values[i],
                                      sizeof(values[i]));
}

static void end(void)
{
    for (int i = 0; i < CHAINS; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
}

static struct starpu_task *make(struct starpu_codelet *codelet, starpu_data_handle_t handle)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = codelet;
    task->handles[0] = handle;
    return task;
}

static void submit(struct starpu_task *task)
{
    if (starpu_task_submit(task) != 0)
        exit(1);
}

static void run(long n)
{
    for (long i = 0; i < n; i++)
        submit(make(&work, data[i % CHAINS]));
    starpu_task_wait_for_all();
}

static void run_gate(long n)
{
    struct starpu_task *behind = make(&last, data[1]), *task = NULL;

    submit(make(&gate, data[0]));
    for (long i = 0; i < n; i++) {
        task = make(&after, data[0]);
        if (i == n - 1)
            starpu_task_declare_deps_array(behind, 1, &task);
        submit(task);
    }
    if (starpu_task_submit_line(behind, "/no folder/last & least.c", 7) != 0)
        exit(1);
    puts("gate");
    fflush(stdout);
    starpu_task_wait_for_all();
}

static void wait_for_nothing(void)
{
    struct starpu_task *task = make(&last, data[1]), *never = make(&work, data[2]);

    starpu_task_declare_deps_array(task, 1, &never);
    submit(task);
    starpu_task_wait_for_all();
}

int main(void)
{
    char line[LINE];

    begin();
    while (fgets(line, sizeof(line), stdin)) {
        long n = strtol(line + strcspn(line, " "), NULL, 10);

        if (!strncmp(line, "run", 3))
            run(n);
        else if (!strncmp(line, "gate", 4))
            run_gate(n);
        else if (!strncmp(line, "stuck", 5))
            wait_for_nothing();
        else if (!strncmp(line, "crash", 5))
            abort();
        else if (!strncmp(line, "again", 5))
            end();
        if (!strncmp(line, "again", 5))
            begin();
        printf("done %s", line);
        fflush(stdout);
    }
    end();
    return 0;
}
