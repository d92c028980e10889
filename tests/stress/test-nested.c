/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-nested.c - random trees of tasks whose kernels submit others on
 * the data that they have themselves, and wait, against a sequential oracle: at
 * each wait what was submitted before has run, in the order of submission, and
 * nothing else. The first argument is the first seed, the second how many. An
 * alarm ends the test.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <starpu.h>

enum { NHANDLES = 5, NSTEPS = 6, MAX_NODES = 4000, DEPTH = 4, LIMIT_S = 250 };

enum step { CHILD, WAIT_LAST, WAIT_EACH, ACQUIRE, NKINDS };

/* A task of the tree: what it has, and what its kernel does. */
struct node {
    struct node *children[NSTEPS];
    enum step steps[NSTEPS];
    unsigned nsteps, nchildren, naccesses, id;
    int handle[NHANDLES];
    enum starpu_data_access_mode mode[NHANDLES];
};

static struct node nodes[MAX_NODES];
static unsigned nnodes;
static uint64_t seed;
static starpu_data_handle_t handles[NHANDLES];
static uint64_t values[NHANDLES];

/* --- the tree --- */

static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* Some of what its parent has, no more than that may do with it. */
static void choose_data(struct node *node, const struct node *parent)
{
    unsigned n = parent ? parent->naccesses : NHANDLES;
    unsigned first = pick(n), count = 1 + pick(n < 3 ? n : 3);

    for (unsigned i = 0; i < count; i++) {
        unsigned at = (first + i) % n;
        int writes = !parent || parent->mode[at] & STARPU_W;

        node->handle[i] = parent ? parent->handle[at] : (int)at;
        node->mode[i] = writes && pick(3) ? STARPU_RW : STARPU_R;
    }
    node->naccesses = count;
}

static struct node *make_node(const struct node *parent, unsigned depth)
{
    struct node *node = &nodes[nnodes];

    *node = (struct node){.id = nnodes++};
    choose_data(node, parent);
    node->nsteps = depth > 0 ? pick(NSTEPS) : 0;
    for (unsigned i = 0; i < node->nsteps; i++) {
        node->steps[i] = pick(2) ? CHILD : (enum step)pick(NKINDS);
        if (node->steps[i] == CHILD && nnodes + NSTEPS < MAX_NODES)
            node->children[node->nchildren++] = make_node(node, depth - 1);
        else if (node->steps[i] == CHILD)
            node->steps[i] = WAIT_EACH;
    }
    return node;
}

/* --- what tasks do to values --- */

static uint64_t mix(uint64_t value, uint64_t what)
{
    return (value ^ what) * 0x9e3779b97f4a7c15u + (value >> 29);
}

/* What is read goes into what is written. */
static void work(const struct node *node, uint64_t *const value[], unsigned at)
{
    uint64_t sum = mix(node->id, at);

    for (unsigned i = 0; i < node->naccesses; i++)
        sum = mix(sum, *value[i]);
    for (unsigned i = 0; i < node->naccesses; i++)
        if (node->mode[i] & STARPU_W)
            *value[i] = mix(*value[i], sum);
}

/* --- the oracle --- */

static void imagine(const struct node *node, uint64_t imagined[NHANDLES])
{
    uint64_t *value[NHANDLES];
    unsigned submitted = 0, ran = 0;

    for (unsigned i = 0; i < node->naccesses; i++)
        value[i] = &imagined[node->handle[i]];
    work(node, value, 0);
    for (unsigned i = 0; i < node->nsteps; i++) {
        if (node->steps[i] == CHILD) {
            submitted++;
            continue;
        }
        while (ran < submitted)
            imagine(node->children[ran++], imagined);
        work(node, value, i + 1);
    }
    while (ran < submitted)
        imagine(node->children[ran++], imagined);
}

/* --- the tasks --- */

static void leaf(void *buffers[], void *arg);
static void inner(void *buffers[], void *arg);

/* Loopback devices run what processors do, but no kernel waits there. */
static int is_processor(unsigned worker, struct starpu_task *task, unsigned impl)
{
    (void)task;
    (void)impl;
    return starpu_worker_get_type((int)worker) == STARPU_CPU_WORKER;
}

/* Those that submit none run anywhere. */
static struct starpu_codelet cl_leaf = {
    .cpu_funcs = {leaf},
    .cuda_funcs = {leaf},
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "k",
};
static struct starpu_codelet cl_inner = {
    .can_execute = is_processor,
    .cpu_funcs = {inner},
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "k",
};

static struct starpu_task *submit(struct node *node, int detach)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = node->nsteps ? &cl_inner : &cl_leaf;
    task->cl_arg = node;
    task->detach = detach;
    task->nbuffers = (int)node->naccesses;
    for (unsigned i = 0; i < node->naccesses; i++) {
        task->handles[i] = handles[node->handle[i]];
        task->modes[i] = node->mode[i];
    }
    if (starpu_task_submit(task) != 0)
        abort();
    return task;
}

static void get_values(const struct node *node, void *buffers[],
                       uint64_t *ret[])
{
    for (unsigned i = 0; i < node->naccesses; i++)
        ret[i] = (uint64_t *)STARPU_VARIABLE_GET_PTR(buffers[i]);
}

static void leaf(void *buffers[], void *arg)
{
    uint64_t *value[NHANDLES];

    get_values(arg, buffers, value);
    work(arg, value, 0);
}

static void await(struct starpu_task **task)
{
    if (*task && starpu_task_wait(*task) != 0)
        abort();
    *task = NULL;
}

static void await_each(struct starpu_task *tasks[], unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        await(&tasks[i]);
}

/* It takes what it has back when it is there again. */
static void acquire_one(const struct node *node)
{
    starpu_data_handle_t handle = handles[node->handle[0]];

    if (starpu_data_acquire(handle, STARPU_R) != 0)
        abort();
    starpu_data_release(handle);
}

/* Without anything that was submitted there is nothing to wait for. */
static void take(enum step step, const struct node *node,
                 struct starpu_task *tasks[], unsigned n)
{
    if (step == WAIT_LAST && n)
        await(&tasks[n - 1]);
    else if (step == ACQUIRE)
        acquire_one(node);
    else
        await_each(tasks, n);
}

static void inner(void *buffers[], void *arg)
{
    struct node *node = arg;
    struct starpu_task *tasks[NSTEPS];
    uint64_t *value[NHANDLES];
    unsigned n = 0;

    get_values(node, buffers, value);
    work(node, value, 0);
    for (unsigned i = 0; i < node->nsteps; i++) {
        if (node->steps[i] == CHILD) {
            tasks[n] = submit(node->children[n], 0);
            n++;
            continue;
        }
        take(node->steps[i], node, tasks, n);
        work(node, value, i + 1);
    }
    await_each(tasks, n);
}

/* --- */

/* Returns whether the values are those of the oracle. */
static int try_seed(unsigned number)
{
    uint64_t imagined[NHANDLES];
    struct node *roots[8];
    int same = 1;

    seed = number;
    nnodes = 0;
    for (int i = 0; i < NHANDLES; i++)
        imagined[i] = values[i] = (uint64_t)i;
    for (int i = 0; i < NHANDLES; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&values[i],
                                      sizeof(values[i]));
    for (int i = 0; i < 8; i++) {
        roots[i] = make_node(NULL, DEPTH);
        imagine(roots[i], imagined);
    }
    for (int i = 0; i < 8; i++)
        (void)submit(roots[i], 1);
    for (int i = 0; i < NHANDLES; i++)
        starpu_data_unregister(handles[i]);
    starpu_task_wait_for_all();
    for (int i = 0; i < NHANDLES; i++)
        same &= imagined[i] == values[i];
    return same;
}

int main(int argc, char **argv)
{
    static const char *const ncpus[] = {"1", "2", "8"};
    static const char *const policies[] = {"lws", "eager", "dmda", "random"};
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 20, number = 0;

    alarm(LIMIT_S);
    setenv("STARPU_SILENT", "1", 1);
    setenv("ORRERY_SIM_KERNELS", "run", 1);
    setenv("ORRERY_ASSUME", "kernel[k] = 50us", 1);
    printf("1..%d\n", 12);
    for (int w = 0; w < 3; w++)
        for (int p = 0; p < 4; p++) {
            unsigned failed = 0;

            setenv("STARPU_NCPU", ncpus[w], 1);
            setenv("STARPU_SCHED", policies[p], 1);
            if (starpu_init(NULL) != 0)
                return 1;
            for (unsigned s = first; s < first + n && !failed; s++)
                if (!try_seed(s))
                    failed = s;
            starpu_shutdown();
            printf("%sok %u - %s workers, %s", failed ? "not " : "", ++number,
                   ncpus[w], policies[p]);
            if (failed)
                printf(": seed %u differs", failed);
            printf("\n");
            fflush(stdout);
        }
    return 0;
}
