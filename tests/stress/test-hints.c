/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-hints.c - hints on data that tasks write without order:
 * while tasks that commute, or have no order at all, write data on two NUMA
 * nodes (tests/stress/meson.build), the tasks themselves and the application ask
 * for copies of them. A copy of what is being written is torn, and the next task
 * that reads it finds two values.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

enum { NDATA = 4, NTASKS = 100, NROUNDS = 4, LENGTH = 1 << 12 };

/* How often a half-written datum lets others run, who could copy it. */
enum { YIELDS = 50 };

/* How the writers exclude each other without an order. */
enum sort { COMMUTE, UNORDERED_TASKS, UNORDERED_DATA, NSORTS };

static const char *const names[NSORTS] = {
    "commuting tasks", "tasks without order", "data without order"};

static atomic_int torn;
static starpu_data_handle_t handles[NDATA];
static uint64_t memory[NDATA][LENGTH];

static void hint(unsigned i)
{
    starpu_data_handle_t handle = handles[i % NDATA];
    unsigned node = i / NDATA % 2;

    switch (i / NDATA / 2 % 3) {
    case 0:
        starpu_data_prefetch_on_node(handle, node, 1);
        break;
    case 1:
        starpu_data_idle_prefetch_on_node(handle, node, 1);
        break;
    default:
        starpu_data_fetch_on_node(handle, node, 1);
    }
}

/* Adds 1 to all words, which are equal, and asks for a copy half way. */
static void add(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    uint64_t value = v[0];

    for (unsigned i = 0; i < LENGTH; i++) {
        if (v[i] != value)
            atomic_fetch_add(&torn, 1);
        v[i] = value + 1;
        if (i != LENGTH / 2)
            continue;
        hint((unsigned)(uintptr_t)arg);
        for (int n = 0; n < YIELDS; n++)
            sched_yield();
    }
}

static struct starpu_codelet cl = {
    .cpu_funcs = {add}, .nbuffers = 1, .modes = {STARPU_RW}};
static struct starpu_codelet cl_commute = {
    .cpu_funcs = {add}, .nbuffers = 1, .modes = {STARPU_RW | STARPU_COMMUTE}};

static void submit(enum sort sort, unsigned i)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = sort == COMMUTE ? &cl_commute : &cl;
    task->handles[0] = handles[i % NDATA];
    task->sequential_consistency = sort != UNORDERED_TASKS;
    task->execute_on_a_specific_worker = 1;
    task->workerid = (i % NDATA + i / NDATA) % starpu_worker_get_count();
    task->cl_arg = (void *)(uintptr_t)i;
    if (starpu_task_submit(task) != 0)
        abort();
}

static int run(enum sort sort)
{
    atomic_store(&torn, 0);
    for (unsigned d = 0; d < NDATA; d++) {
        for (unsigned i = 0; i < LENGTH; i++)
            memory[d][i] = 0;
        starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                    (uintptr_t)memory[d], LENGTH,
                                    sizeof(uint64_t));
        starpu_data_set_sequential_consistency_flag(handles[d],
                                                    sort != UNORDERED_DATA);
    }
    for (int round = 0; round < NROUNDS; round++) {
        for (unsigned i = 0; i < NTASKS; i++) {
            submit(sort, i);
            hint(i * 5);
        }
        starpu_task_wait_for_all();
    }
    for (unsigned d = 0; d < NDATA; d++) {
        starpu_data_unregister(handles[d]);
        for (unsigned i = 0; i < LENGTH; i++)
            if (memory[d][i] != NROUNDS * NTASKS / NDATA)
                atomic_fetch_add(&torn, 1);
    }
    return atomic_load(&torn);
}

int main(void)
{
    int wrong = 0;

    printf("1..%d\n", NSORTS);
    if (starpu_init(NULL) != 0)
        return 1;
    if (starpu_memory_nodes_get_count() != 2) {
        printf("Bail out! two memory nodes are needed\n");
        return 1;
    }
    for (enum sort sort = 0; sort < NSORTS; sort++) {
        int n = run(sort);

        if (n)
            printf("# %d words differ\n", n);
        printf("%sok %d - no copy is made of what %s write\n", n ? "not " : "",
               (int)sort + 1, names[sort]);
        wrong += n != 0;
    }
    starpu_shutdown();
    return wrong != 0;
}
