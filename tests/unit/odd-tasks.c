/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/odd-tasks.c - a program whose traces are hard to write and to read,
 * for test-trace-command.py. One thread.
 *
 * usage: odd-tasks names | none | fail | interrupted | crash N | plain N | advised N | named N
 *        | loops N | readers N
 *   names    tasks, data and marks with strange names, tasks with colours
 *   none     no task
 *   fail     ends with 7 while tasks wait
 *   interrupted  20 tasks, and then SIGINT, as from a terminal
 *   crash N  20 tasks, and then one whose kernel gets signal N
 *   plain N  N tasks of codelets of three names
 *   advised N  the same, and after every tenth that a datum will not be used for long
 *   named N  N tasks, each with a name of its own
 *   loops N  N iterations with a task that waits for one on another worker, and,
 *            in an iteration inside, one without
 *   readers N  a task, and N that read what it wrote: all ready on its worker
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

enum { LENGTH = 1 << 18, NDATA = 4 };

static float data[NDATA][LENGTH];
static starpu_data_handle_t handles[NDATA];

static const char *const names[] = {
    "",
    "plain",
    "say \"hello\"",
    "two\nlines",
    "tab\there",
    "\xc3\xa9t\xc3\xa9 \xe2\x82\xac",
    "\xff\xfe broken",
    "\033[31mred \a\x7f",
    "C1 \xc2\x9b" "31m",
    "B",
    "Idle",
    "a,b;c",
    "100 % `ls` $HOME \\",
    " ",
    "gemm<float, 3>",
    "it's",
    "#3",
};

enum { NNAMES = sizeof(names) / sizeof(*names) };

static void compute(void *buffers[], void *arg)
{
    (void)buffers, (void)arg;
}

#define CODELET(called, rgb)                                                   \
    {                                                                          \
        .cpu_funcs = {compute}, .cuda_funcs = {compute}, .nbuffers = 1,        \
        .modes = {STARPU_RW}, .name = (called), .color = (rgb)                 \
    }

static struct starpu_codelet codelets[] = {
    CODELET("alpha", 0), CODELET("beta", 0x10c040), CODELET("gamma", 0)};

static void submit(unsigned i, const char *name, unsigned colour)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &codelets[i % 3];
    task->handles[0] = handles[i % NDATA];
    task->name = name;
    task->color = colour;
    /* Every other one on the last worker, which is a device if there is one. */
    if (i % 2) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = starpu_worker_get_count() - 1;
    }
    if (starpu_task_submit(task) != 0)
        exit(EXIT_FAILURE);
}

static void submit_odd_names(void)
{
    static char longest[3000];

    memset(longest, 'x', sizeof(longest) - 1);
    for (unsigned d = 0; d < NDATA; d++)
        starpu_data_set_name(handles[d], names[2 + d]);
    for (unsigned i = 0; i < NNAMES; i++) {
        submit(2 * i, names[i], 0);
        submit(2 * i + 1, names[i], 0xff0000 + i);
    }
    submit(0, longest, 0xffffff);
    for (unsigned i = 0; i < NNAMES; i++)
        starpu_fxt_trace_user_event_string(names[i]);
    starpu_fxt_trace_user_event(42);
}

static void submit_many(unsigned n, int own_names, int advises)
{
    char(*own)[24] = own_names ? calloc(n, sizeof(*own)) : NULL;

    for (unsigned i = 0; i < n; i++) {
        if (own)
            snprintf(own[i], sizeof(*own), "gemm(%u)", i);
        submit(i, own ? own[i] : NULL, 0);
        if (advises && i % 10 == 0)
            starpu_data_wont_use(handles[i % NDATA]);
    }
    starpu_task_wait_for_all();
    free(own);
}

static void wait_for_another(void *buffers[], void *arg)
{
    struct starpu_task *task = starpu_task_create();

    (void)buffers, (void)arg;
    task->cl = &codelets[0];
    task->handles[0] = handles[0];
    task->detach = 0;
    task->execute_on_a_specific_worker = 1;
    task->workerid = 1;
    if (starpu_task_submit(task) != 0 || starpu_task_wait(task) != 0)
        exit(EXIT_FAILURE);
}

static struct starpu_codelet waits = {.cpu_funcs = {wait_for_another},
                                      .name = "waits",
                                      .flags = STARPU_CODELET_SIMGRID_EXECUTE};

static struct starpu_codelet reads = {.cpu_funcs = {compute},
                                      .nbuffers = 1,
                                      .modes = {STARPU_R},
                                      .name = "reads"};

static void submit_readers(unsigned n)
{
    submit(0, NULL, 0);
    for (unsigned i = 0; i < n; i++)
        if (starpu_task_insert(&reads, STARPU_R, handles[0], 0) != 0)
            exit(EXIT_FAILURE);
}

static void crash(void *buffers[], void *arg)
{
    int number;

    (void)buffers;
    starpu_codelet_unpack_args(arg, &number);
    raise(number);
}

static struct starpu_codelet crashes = {
    .cpu_funcs = {crash}, .cpu_funcs_name = {"crash"}, .name = "crashes"};

static void submit_crash(int number)
{
    if (starpu_task_insert(&crashes, STARPU_VALUE, &number, sizeof(number),
                           0) != 0)
        exit(EXIT_FAILURE);
}

static void submit_in_loops(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct starpu_task *task = starpu_task_create();

        starpu_iteration_push(100 + i);
        task->cl = &waits;
        task->execute_on_a_specific_worker = 1;
        task->workerid = 0;
        if (starpu_task_submit(task) != 0)
            exit(EXIT_FAILURE);
        starpu_iteration_push(7);
        submit(2, NULL, 0);
        starpu_iteration_pop();
        starpu_iteration_pop();
        starpu_task_wait_for_all();
    }
    submit(1, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (starpu_init(NULL) != 0)
        return 77;
    for (unsigned d = 0; d < NDATA; d++)
        starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                    (uintptr_t)data[d], LENGTH, sizeof(**data));
    if (!strcmp(what, "names"))
        submit_odd_names();
    else if (!strcmp(what, "plain") || !strcmp(what, "named") ||
             !strcmp(what, "advised"))
        submit_many(argc > 2 ? (unsigned)atoi(argv[2]) : 1,
                    !strcmp(what, "named"), !strcmp(what, "advised"));
    else if (!strcmp(what, "loops"))
        submit_in_loops(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    else if (!strcmp(what, "readers"))
        submit_readers(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    else if (!strcmp(what, "fail")) {
        for (unsigned i = 0; i < 20; i++)
            submit(i, NULL, 0);
        exit(7);
    } else if (!strcmp(what, "crash")) {
        submit_many(20, 0, 0);
        submit_crash(argc > 2 ? atoi(argv[2]) : 0);
    } else if (!strcmp(what, "interrupted")) {
        submit_many(20, 0, 0);
        raise(SIGINT);
        for (;;)
            starpu_usleep(1000);
    }
    starpu_task_wait_for_all();
    for (unsigned d = 0; d < NDATA; d++)
        starpu_data_unregister(handles[d]);
    starpu_shutdown();
    return EXIT_SUCCESS;
}
