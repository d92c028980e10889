/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-replays.c - random graphs that are submitted again and again:
 * tasks with a kernel, empty and nowhere, with explicit, tag, end and implicit
 * dependencies, bundles, stages that regenerate, tasks that several workers execute
 * together, and contexts, with any policies, that gain and lose workers meanwhile; by
 * several threads in random order, or by one where data are used. A task must never
 * begin before those it depends on have run as often. usage: test-replays [SEED [NGRAPHS]]; on the
 * machine that the environment says.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <starpu.h>

#include "../rng.h"

enum {
    NTASKS = 16,
    NSTAGES = 4,
    NTHREADS = 3,
    NHANDLES = 3,
    NCTXS = 2,
    NCPUS = 3, /* at most, of combined workers and contexts */
    ERA = 50,  /* graphs with the same contexts */
    ROUNDS = 5,
    DEADLINE_S = 280
};

enum kind { KERNEL, EMPTY, NOWHERE, SPMD, FORKJOIN, NKINDS };

struct node {
    struct starpu_task task;
    atomic_int runs;
    unsigned npreds, preds[NTASKS];
    int ends; /* the task whose end waits for this one's callback, or -1 */
};

static struct graph {
    struct node nodes[NTASKS];
    struct starpu_task stages[NSTAGES];
    atomic_int nstage[NSTAGES];
    unsigned n, nstages, rounds;
    bool data, changes;     /* who is in which context */
    unsigned order[NTASKS]; /* of submission */
    unsigned nthreads;
} graph;

static int cpus[NCPUS];
static int together = -1; /* all of them, combined; -1: there is one only */
static unsigned ncpus, ctxs[NCTXS];
static starpu_data_handle_t handles[NHANDLES];
static int values[NHANDLES];
static atomic_int wrong;
static uint64_t rng;

static unsigned below(unsigned n)
{
    return (unsigned)(rng_next(&rng) % n);
}

/* All it depends on have begun once more. */
static void begin(struct node *node)
{
    int runs = atomic_load(&node->runs);

    for (unsigned i = 0; i < node->npreds; i++)
        if (atomic_load(&graph.nodes[node->preds[i]].runs) <= runs)
            atomic_fetch_add(&wrong, 1);
    atomic_store(&node->runs, runs + 1);
}

static void kernel(void *buffers[], void *arg)
{
    (void)buffers;
    if (arg && starpu_combined_worker_get_rank() == 0)
        begin(arg);
}

static void prologue(void *arg)
{
    begin(arg);
}

static void callback(void *arg)
{
    struct node *node = arg;

    if (starpu_task_get_current() != &node->task)
        atomic_fetch_add(&wrong, 1);
    if (node->ends >= 0)
        starpu_task_end_dep_release(&graph.nodes[node->ends].task);
}

#define TOGETHER(how)                                                          \
    {                                                                          \
        .type = how, .max_parallelism = NCPUS, .cpu_funcs = {kernel},          \
        .nbuffers = STARPU_VARIABLE_NBUFFERS,                                  \
        .flags = STARPU_CODELET_SIMGRID_EXECUTE, .name = "k"                   \
    }
static struct starpu_codelet codelets[NKINDS] = {
    [KERNEL] = {.cpu_funcs = {kernel},
                .cuda_funcs = {kernel},
                .nbuffers = STARPU_VARIABLE_NBUFFERS,
                .flags = STARPU_CODELET_SIMGRID_EXECUTE,
                .name = "k"},
    [SPMD] = TOGETHER(STARPU_SPMD),
    [FORKJOIN] = TOGETHER(STARPU_FORKJOIN),
    [NOWHERE] = {.where = STARPU_NOWHERE,
                 .nbuffers = STARPU_VARIABLE_NBUFFERS,
                 .name = "nowhere"},
};

/* --- making one --- */

static void add_data(struct starpu_task *task)
{
    unsigned first = below(NHANDLES), n = below(3);

    for (unsigned i = 0; i < n; i++) {
        task->handles[i] = handles[(first + i) % NHANDLES];
        task->modes[i] = below(2) ? STARPU_R : STARPU_RW;
    }
    task->nbuffers = (int)n;
}

/* Who executes it: all processors together, or workers of a context. */
static void choose_workers(struct starpu_task *task, enum kind kind)
{
    if (kind >= SPMD && together >= 0) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = (unsigned)together;
    } else if (below(2)) {
        task->sched_ctx = ctxs[below(NCTXS)];
    }
}

static void make_node(unsigned i)
{
    struct node *node = &graph.nodes[i];
    struct starpu_task *task = &node->task;
    enum kind kind = below(2) ? KERNEL : below(NKINDS);

    starpu_task_init(task);
    atomic_store(&node->runs, 0);
    node->npreds = 0;
    node->ends = -1;
    task->detach = below(2);
    task->callback_func = callback;
    task->callback_arg = node;
    if (kind != EMPTY)
        task->cl = &codelets[kind];
    choose_workers(task, kind);
    if (kind != EMPTY && kind != NOWHERE) {
        task->cl_arg = node;
    } else {
        task->prologue_callback_func = prologue;
        task->prologue_callback_arg = node;
    }
    if (graph.data && kind != EMPTY)
        add_data(task);
    if (below(3) == 0) {
        task->use_tag = 1;
        task->tag_id = 1000 + i;
    }
}

/* Among earlier ones: there is no cycle. */
static void connect(unsigned i)
{
    struct node *node = &graph.nodes[i];

    for (unsigned before = 0; before < i; before++) {
        struct starpu_task *task = &graph.nodes[before].task;

        if (below(4))
            continue;
        if (node->task.use_tag && task->use_tag && below(2))
            starpu_tag_declare_deps(node->task.tag_id, 1, task->tag_id);
        else
            starpu_task_declare_deps(&node->task, 1, task);
        node->preds[node->npreds++] = before;
    }
}

/* The end of some waits for the callback of one that comes earlier in the order,
 * and so does not wait for it. */
static void connect_end(unsigned i)
{
    unsigned before = below(i);

    if (below(4) == 0 && graph.nodes[before].ends < 0)
        graph.nodes[before].ends = (int)i;
}

static void stage_ended(void *arg)
{
    unsigned i = (unsigned)(uintptr_t)arg;

    if (atomic_fetch_add(&graph.nstage[i], 1) + 1 >= (int)graph.rounds)
        starpu_task_get_current()->regenerate = 0;
}

/* A pipeline that runs beside the graph. */
static void make_stages(void)
{
    graph.nstages = below(NSTAGES + 1);
    for (unsigned i = 0; i < graph.nstages; i++) {
        struct starpu_task *task = &graph.stages[i];

        starpu_task_init(task);
        atomic_store(&graph.nstage[i], 0);
        task->cl = below(2) ? &codelets[KERNEL] : NULL;
        task->regenerate = 1;
        task->callback_func = stage_ended;
        task->callback_arg = (void *)(uintptr_t)i;
        if (i > 0)
            starpu_task_declare_deps(task, 1, &graph.stages[i - 1]);
    }
}

static void put_in_bundle(void)
{
    starpu_task_bundle_t bundle;

    starpu_task_bundle_create(&bundle);
    for (unsigned i = 0; i < graph.n; i++)
        if (below(4) == 0 && graph.nodes[i].task.cl == &codelets[KERNEL] &&
            starpu_task_bundle_insert(bundle, &graph.nodes[i].task) != 0)
            atomic_fetch_add(&wrong, 1);
    starpu_task_bundle_close(bundle);
}

static void make_graph(void)
{
    graph.n = 2 + below(NTASKS - 1);
    graph.data = below(2);
    graph.changes = below(2);
    graph.rounds = 1 + below(ROUNDS);
    graph.nthreads = graph.data ? 1 : 1 + below(NTHREADS);
    for (unsigned i = 0; i < graph.n; i++) {
        make_node(i);
        connect(i);
        if (i > 0)
            connect_end(i);
    }
    if (below(2))
        put_in_bundle();
    make_stages();
}

/* --- running it --- */

/* Where data are used, their order is that of the graph. */
static void shuffle(void)
{
    for (unsigned i = 0; i < graph.n; i++) {
        unsigned other = graph.data ? i : below(i + 1);

        graph.order[i] = graph.order[other];
        graph.order[other] = i;
    }
}

static void *submit_some(void *arg)
{
    for (unsigned i = (unsigned)(uintptr_t)arg; i < graph.n;
         i += graph.nthreads)
        if (starpu_task_submit(&graph.nodes[graph.order[i]].task) != 0)
            atomic_fetch_add(&wrong, 1);
    return NULL;
}

static void submit_all(void)
{
    starpu_pthread_t threads[NTHREADS];

    for (unsigned i = 0; i < graph.n; i++)
        if (graph.nodes[i].ends >= 0)
            starpu_task_end_dep_add(&graph.nodes[graph.nodes[i].ends].task, 1);
    for (uintptr_t t = 1; t < graph.nthreads; t++)
        STARPU_PTHREAD_CREATE(&threads[t], NULL, submit_some, (void *)t);
    submit_some(NULL);
    for (unsigned t = 1; t < graph.nthreads; t++)
        STARPU_PTHREAD_JOIN(threads[t], NULL);
}

/* The first processor stays in each context. */
static void change_contexts(void)
{
    for (unsigned i = 1; graph.changes && i < ncpus; i++) {
        unsigned ctx = ctxs[below(NCTXS)];

        if (below(2))
            starpu_sched_ctx_add_workers(&cpus[i], 1, ctx);
        else
            starpu_sched_ctx_remove_workers(&cpus[i], 1, ctx);
    }
}

/* Each by itself, or all at once. Whose end others declare is over before those
 * are submitted again. */
static void wait_for_all(bool each)
{
    bool alone = true;

    for (unsigned i = 0; each && i < graph.n; i++) {
        struct starpu_task *task = &graph.nodes[i].task;

        if (!task->detach) {
            if (starpu_task_wait(task) != 0)
                atomic_fetch_add(&wrong, 1);
        } else if (task->use_tag) {
            if (starpu_tag_wait(task->tag_id) != 0)
                atomic_fetch_add(&wrong, 1);
        } else {
            alone = false;
        }
    }
    if (!each || !alone)
        starpu_task_wait_for_all();
}

static void replay(void)
{
    for (unsigned i = 0; i < graph.nstages; i++)
        if (starpu_task_submit(&graph.stages[graph.nstages - 1 - i]) != 0)
            atomic_fetch_add(&wrong, 1);
    for (unsigned round = 1; round <= graph.rounds; round++) {
        bool has_ends = false;

        shuffle();
        submit_all();
        change_contexts();
        for (unsigned i = 0; i < graph.n; i++)
            has_ends |= graph.nodes[i].ends >= 0;
        wait_for_all(!has_ends && below(2));
        for (unsigned i = 0; i < graph.n; i++)
            if (atomic_load(&graph.nodes[i].runs) != (int)round)
                atomic_fetch_add(&wrong, 1);
    }
    starpu_task_wait_for_all();
    for (unsigned i = 0; i < graph.nstages; i++)
        if (atomic_load(&graph.nstage[i]) != (int)graph.rounds)
            atomic_fetch_add(&wrong, 1);
}

static void clean(void)
{
    for (unsigned i = 0; i < graph.n; i++)
        starpu_task_clean(&graph.nodes[i].task);
    for (unsigned i = 0; i < graph.nstages; i++)
        starpu_task_clean(&graph.stages[i]);
    starpu_tag_clear();
}

/* A worker of all processors. */
static void make_workers(void)
{
    ncpus = starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, cpus, NCPUS);
    if (ncpus > NCPUS)
        ncpus = NCPUS;
    if (ncpus > 1)
        together = starpu_combined_worker_assign_workerid((int)ncpus, cpus);
}

static const char *draw_policy(void)
{
    struct starpu_sched_policy **all = starpu_sched_get_predefined_policies();
    unsigned n = 0;

    while (all[n])
        n++;
    return all[below(n)]->policy_name;
}

/* They begin with the first processor. */
static void make_contexts(void)
{
    for (unsigned c = 0; c < NCTXS; c++)
        ctxs[c] = starpu_sched_ctx_create(cpus, 1, "changing",
                                          STARPU_SCHED_CTX_POLICY_NAME,
                                          draw_policy(), 0);
}

static void end_contexts(void)
{
    for (unsigned c = 0; c < NCTXS; c++)
        starpu_sched_ctx_delete(ctxs[c]);
}

/* Its number says all about a graph, and the policies of its contexts. */
static void run_graph(uint64_t seed, unsigned long i)
{
    rng = rng_of(seed * 1000003 + i / ERA * ERA);
    if (i % ERA == 0) {
        if (i > 0)
            end_contexts();
        make_contexts();
    }
    rng = rng_of(seed * 1000003 + i);
    make_graph();
    replay();
    if (atomic_load(&wrong))
        printf("# graph %lu of seed %llu\n", i, (unsigned long long)seed);
    clean();
}

static void stuck(int number)
{
    static const char text[] = "Bail out! the tasks wait for one another\n";

    (void)number;
    (void)!write(STDOUT_FILENO, text, sizeof(text) - 1);
    _exit(1);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    unsigned long ngraphs = argc > 2 ? strtoul(argv[2], NULL, 10) : 3000;

    printf("1..1\n");
    fflush(stdout);
    signal(SIGALRM, stuck);
    if (argc < 3)
        alarm(DEADLINE_S);
    if (starpu_init(NULL) != 0)
        return 77;
    make_workers();
    for (unsigned i = 0; i < NHANDLES; i++)
        starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                      (uintptr_t)&values[i], sizeof(int));
    for (unsigned long i = 0; i < ngraphs && !atomic_load(&wrong); i++)
        run_graph(seed, i);
    end_contexts();
    for (unsigned i = 0; i < NHANDLES; i++)
        starpu_data_unregister(handles[i]);
    starpu_shutdown();
    printf("%sok 1 - tasks of %lu graphs (seed %llu) run in order, each time\n",
           atomic_load(&wrong) ? "not " : "", ngraphs,
           (unsigned long long)seed);
    return atomic_load(&wrong) != 0;
}
