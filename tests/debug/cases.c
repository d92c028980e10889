/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/debug/cases.c - ten programs with a mistake each, for sessions that find it
 * (test-sessions.py), and one with many tasks. cases CASE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

enum { N = 1 << 20 }; /* bytes of a datum */

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

#define CODELET(codelet, n, ...)                                               \
    static struct starpu_codelet codelet = {                                   \
        .cpu_funcs = {nothing},                                                \
        .cuda_funcs = {nothing},                                               \
        .nbuffers = (n),                                                       \
        .modes = {__VA_ARGS__},                                                \
        .name = #codelet,                                                      \
    }

CODELET(prepare, 1, STARPU_W);
CODELET(slow, 1, STARPU_RW);
CODELET(use, 2, STARPU_R, STARPU_W);
CODELET(look, 1, STARPU_R);
CODELET(change, 1, STARPU_RW);
CODELET(alone, 0, STARPU_NONE);
CODELET(urgent, 1, STARPU_RW);
CODELET(clear, 1, STARPU_W);
CODELET(combine, 2, STARPU_RW | STARPU_COMMUTE, STARPU_R);
CODELET(add, 2, STARPU_REDUX, STARPU_R);

static char *memory[8];

static starpu_data_handle_t datum(unsigned i, const char *name)
{
    starpu_data_handle_t handle;

    memory[i] = calloc(1, N);
    if (!memory[i])
        exit(1);
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory[i], N, 1);
    starpu_data_set_name(handle, name);
    return handle;
}

static void insert(struct starpu_codelet *codelet, starpu_data_handle_t a,
                   starpu_data_handle_t b, int priority)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = codelet;
    task->handles[0] = a;
    task->handles[1] = b;
    task->priority = priority;
    if (starpu_task_submit(task) != 0)
        exit(1);
}

static void end(starpu_data_handle_t *handles, unsigned n)
{
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < n; i++)
        starpu_data_unregister(handles[i]);
}

/* `use' is to read what `prepare' has made, and names other data. */
static void wrong_dependency(void)
{
    starpu_data_handle_t h[] = {datum(0, "input"), datum(1, "other"), datum(2, "result")};

    insert(&prepare, h[0], NULL, 0);
    insert(&slow, h[1], NULL, 0);
    insert(&use, h[1], h[2], 0);
    end(h, 3);
}

/* The result is looked at before the task that makes it has ended. */
static void missing_wait(void)
{
    starpu_data_handle_t h[] = {datum(0, "result")};

    insert(&slow, h[0], NULL, 0);
    starpu_fxt_trace_user_event_string("the result is read");
    end(h, 1);
}

/* `urgent' waits for a datum of a task with the lowest priority. */
static void priority_inversion(void)
{
    starpu_data_handle_t h[] = {datum(0, "shared")};

    insert(&alone, NULL, NULL, 1);
    insert(&change, h[0], NULL, -5);
    for (unsigned i = 0; i < 6; i++)
        insert(&alone, NULL, NULL, 1);
    insert(&urgent, h[0], NULL, 5);
    end(h, 1);
}

/* Two data take turns in memory for one. */
static void thrashing(void)
{
    starpu_data_handle_t h[] = {datum(0, "left"), datum(1, "right")};

    for (unsigned i = 0; i < 6; i++)
        insert(&look, h[i % 2], NULL, 0);
    end(h, 2);
}

static void bound_to_one(void)
{
    for (unsigned i = 0; i < 6; i++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &alone;
        task->execute_on_a_specific_worker = 1;
        task->workerid = 0;
        if (starpu_task_submit(task) != 0)
            exit(1);
    }
    end(NULL, 0);
}

static starpu_data_handle_t both[2];

static void has_both(void *arg)
{
    (void)arg;
    starpu_data_release(both[0]);
    starpu_data_release(both[1]);
}

static void has_one(void *arg)
{
    starpu_data_handle_t *other = arg;

    starpu_data_acquire_cb(*other, STARPU_RW, has_both, NULL);
}

/* Each has what the other one wants. */
static void acquisitions(void)
{
    both[0] = datum(0, "one");
    both[1] = datum(1, "two");
    insert(&change, both[0], NULL, 0);
    insert(&change, both[1], NULL, 0);
    starpu_data_acquire_cb(both[0], STARPU_RW, has_one, &both[1]);
    starpu_data_acquire_cb(both[1], STARPU_RW, has_one, &both[0]);
    insert(&change, both[0], NULL, 0);
    end(both, 2);
}

static void submit_next(void *arg)
{
    insert(&look, arg, NULL, 0);
}

/* What could go on after `prepare' is submitted when `slow' has ended. */
static void late_callback(void)
{
    starpu_data_handle_t h[] = {datum(0, "input"), datum(1, "other")};
    struct starpu_task *task = starpu_task_create();

    insert(&prepare, h[0], NULL, 0);
    task->cl = &slow;
    task->handles[0] = h[1];
    task->callback_func = submit_next;
    task->callback_arg = h[0];
    if (starpu_task_submit(task) != 0)
        exit(1);
    end(h, 2);
}

/* Each urgent task submits the next one, so that another one is never the best. */
static unsigned nleft = 20;

static void again(void *arg)
{
    struct starpu_task *task;

    if (nleft == 0)
        return;
    nleft--;
    task = starpu_task_create();
    task->cl = &alone;
    task->priority = 5;
    task->callback_func = again;
    task->callback_arg = arg;
    if (starpu_task_submit(task) != 0)
        exit(1);
}

static void starvation(void)
{
    starpu_data_handle_t h[] = {datum(0, "input")};

    again(NULL);
    again(NULL);
    insert(&look, h[0], NULL, 0);
    end(h, 1);
}

/* What the next task needs has to make way for what a later one needs. */
static void prefetch(void)
{
    starpu_data_handle_t h[] = {datum(0, "needed"), datum(1, "wanted")};

    insert(&look, h[0], NULL, 0);
    starpu_task_wait_for_all();
    starpu_data_prefetch_on_node(h[1], starpu_worker_get_memory_node(0), 1);
    starpu_sleep(0.01f);
    insert(&look, h[0], NULL, 0);
    insert(&look, h[1], NULL, 0);
    end(h, 2);
}

/* Somebody looks at the sum in the middle: it is made twice. */
static void early_reduction(void)
{
    starpu_data_handle_t h[] = {datum(0, "sum"), datum(1, "input")};

    starpu_data_set_reduction_methods(h[0], &combine, &clear);
    for (unsigned i = 0; i < 4; i++) {
        insert(&add, h[0], h[1], 0);
        if (i == 1)
            insert(&look, h[0], NULL, 0);
    }
    end(h, 2);
}

/* No mistake: a datum in two parts. */
static void parts(void)
{
    struct starpu_data_filter halves = {
        .filter_func = starpu_vector_filter_block, .nchildren = 2};
    starpu_data_handle_t whole = datum(0, "whole");

    starpu_data_partition(whole, &halves);
    for (unsigned i = 0; i < 2; i++)
        insert(&change, starpu_data_get_sub_data(whole, 1, i), NULL, 0);
    starpu_task_wait_for_all();
    starpu_data_unpartition(whole, STARPU_MAIN_RAM);
    end(&whole, 1);
}

/* No mistake, but many events. */
static void many(void)
{
    starpu_data_handle_t h[] = {datum(0, "one"), datum(1, "two")};

    for (unsigned i = 0; i < 40000; i++)
        insert(&change, h[i % 2], NULL, 0);
    end(h, 2);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"wrong-dependency", wrong_dependency},
                 {"missing-wait", missing_wait},
                 {"priority-inversion", priority_inversion},
                 {"thrashing", thrashing},
                 {"bound-to-one", bound_to_one},
                 {"acquisitions", acquisitions},
                 {"late-callback", late_callback},
                 {"starvation", starvation},
                 {"prefetch", prefetch},
                 {"early-reduction", early_reduction},
                 {"parts", parts},
                 {"many", many}};

    for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++) {
        if (strcmp(cases[i].name, argv[1]) != 0)
            continue;
        if (starpu_init(NULL) != 0)
            return 77;
        printf("case %s\n", argv[1]);
        cases[i].run();
        starpu_shutdown();
        for (size_t k = 0; k < sizeof(memory) / sizeof(*memory); k++)
            free(memory[k]);
        puts("over");
        return 0;
    }
    fprintf(stderr, "usage: cases CASE\n");
    return 2;
}
