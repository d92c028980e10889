/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/test-inside.c - random programs of tasks that submit others on the
 * data that they were given, whole and in planned parts, wait for some, acquire and
 * go on. Each has one result, that of doing all where it is submitted. What differs
 * is shrunk and printed.
 *
 *     ./test-inside [--seed N] [--graphs N] [--real]
 */
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <starpu.h>

#include "leaks.h"
#include "stacks.h"

enum {
    NDATA = 3,
    NWORDS = 24,
    NNODES = 10,
    MOST_USES = 2,
    MOST_OPS = 6,
    MOST_DEPTH = 3,
    NTHREADS = 2, /* of the application; the last datum is the second one's */
    LIMIT_S = 20,
};

/* --- data: a whole, halves of it and of these, and thirds --- */

static const struct {
    int parent, first,
        n; /* the first part and the number of those of its plan */
    int from, to;
} nodes[NNODES] = {
    {-1, 0, 0, 0, 24}, {0, 1, 2, 0, 12},  {0, 1, 2, 12, 24}, {1, 3, 2, 0, 6},
    {1, 3, 2, 6, 12},  {2, 5, 2, 12, 18}, {2, 5, 2, 18, 24}, {0, 7, 3, 0, 8},
    {0, 7, 3, 8, 16},  {0, 7, 3, 16, 24},
};

static const int plan_firsts[] = {1, 3, 5, 7};
enum { NPLANS = sizeof(plan_firsts) / sizeof(plan_firsts[0]) };

static uint32_t words[NDATA][NWORDS];
static starpu_data_handle_t handles[NDATA][NNODES];

static bool is_within(int node, int whole)
{
    while (node > whole && node >= 0)
        node = nodes[node].parent;
    return node == whole;
}

static uint32_t hash(const uint32_t *v, int n)
{
    uint32_t h = 2166136261u;

    for (int i = 0; i < n; i++)
        h = (h ^ v[i]) * 16777619u;
    return h;
}

static void change(uint32_t *v, int n, uint32_t value)
{
    for (int i = 0; i < n; i++)
        v[i] = v[i] * 3 + value;
}

/* --- programs --- */

struct use {
    int datum, node;
    bool writes;
    uint32_t expected; /* the hash of what is found */
};

enum kind { TASK, WAIT, ACQUIRE, LOOK, SLEEP, NKINDS };

struct op {
    enum kind kind;
    struct use uses[MOST_USES]; /* TASK; the first one of ACQUIRE and LOOK */
    int nuses;
    uint32_t value;
    bool waited; /* TASK: somebody will wait for it */
    bool dropped;
    struct op *ops; /* TASK: what it does inside */
    int nops;
    struct starpu_task *task; /* while it is waited for */
};

struct program {
    uint64_t seed;
    struct op main[NTHREADS];
};

static uint64_t state;

static unsigned draw(unsigned n)
{
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % n;
}

static bool overlaps_given(const struct op *task, const struct op *given)
{
    for (int i = 0; i < task->nuses; i++)
        for (int k = 0; k < given->nuses; k++)
            if (task->uses[i].datum == given->uses[k].datum &&
                task->uses[i].node == given->uses[k].node)
                return true;
    return false;
}

/* Some part of something that is given, or that itself. */
static struct use draw_use(const struct op *given)
{
    const struct use *whole = &given->uses[draw((unsigned)given->nuses)];
    struct use use = *whole;

    do
        use.node = (int)draw(NNODES);
    while (!is_within(use.node, whole->node));
    use.writes = whole->writes && draw(3) > 0;
    return use;
}

/* Beside others: of another datum, or a sibling. */
static bool goes_with(const struct op *op, const struct use *use)
{
    for (int i = 0; i < op->nuses; i++) {
        const struct use *other = &op->uses[i];

        if (other->datum == use->datum &&
            (other->node == use->node ||
             nodes[other->node].first != nodes[use->node].first ||
             nodes[use->node].n == 0))
            return false;
    }
    return true;
}

static void draw_body(struct op *op, int depth);

static void draw_task(struct op *op, const struct op *given, int depth)
{
    op->kind = TASK;
    op->value = draw(100);
    op->uses[op->nuses++] = draw_use(given);
    if (draw(3) == 0) {
        struct use use = draw_use(given);

        if (goes_with(op, &use))
            op->uses[op->nuses++] = use;
    }
    op->waited = draw(2) || overlaps_given(op, given);
    if (depth < MOST_DEPTH && draw(3) > 0)
        draw_body(op, depth + 1);
}

static void draw_op(struct op *op, const struct op *given, int depth)
{
    static const enum kind kinds[] = {TASK, TASK,    TASK, TASK, WAIT,
                                      LOOK, ACQUIRE, WAIT, SLEEP};

    op->kind = kinds[draw(sizeof(kinds) / sizeof(kinds[0]))];
    op->value = draw(100);
    switch (op->kind) {
    case TASK:
        draw_task(op, given, depth);
        break;
    case ACQUIRE:
        op->uses[op->nuses++] = draw_use(given);
        break;
    case LOOK:
        op->uses[op->nuses++] = given->uses[draw((unsigned)given->nuses)];
        break;
    default:
        break;
    }
}

static void draw_body(struct op *op, int depth)
{
    op->nops = 1 + (int)draw(depth ? MOST_OPS : 2 * MOST_OPS);
    op->ops = calloc((size_t)op->nops, sizeof(struct op));
    if (!op->ops)
        abort();
    for (int i = 0; i < op->nops; i++)
        draw_op(&op->ops[i], op, depth);
}

static void draw_program(struct program *program, uint64_t seed)
{
    memset(program, 0, sizeof(*program));
    program->seed = state = seed;
    for (int t = 0; t < NTHREADS; t++) {
        struct op *op = &program->main[t];

        for (int d = t ? NDATA - 1 : 0; d < (t ? NDATA : NDATA - 1); d++)
            op->uses[op->nuses++] = (struct use){.datum = d, .writes = true};
        draw_body(op, 0);
    }
}

static void free_body(struct op *op)
{
    for (int i = 0; i < op->nops; i++)
        free_body(&op->ops[i]);
    free(op->ops);
}

/* --- what they find: one thing after the other --- */

static void do_in_order(uint32_t v[NDATA][NWORDS], struct op *op)
{
    for (int i = 0; i < op->nuses; i++) {
        struct use *use = &op->uses[i];
        uint32_t *first = &v[use->datum][nodes[use->node].from];
        int n = nodes[use->node].to - nodes[use->node].from;

        use->expected = hash(first, n);
        if (use->writes && op->kind != LOOK)
            change(first, n, op->value);
    }
    for (int i = 0; i < op->nops; i++)
        if (!op->ops[i].dropped)
            do_in_order(v, &op->ops[i]);
}

static void init_words(uint32_t v[NDATA][NWORDS])
{
    for (int d = 0; d < NDATA; d++)
        for (int i = 0; i < NWORDS; i++)
            v[d][i] = (uint32_t)(100 * d + i);
}

/* --- with the library --- */

/* Shared with the process that judges. */
static struct outcome {
    atomic_int failed;
    char text[200];
} * outcome;

static void fail(const char *format, ...)
{
    va_list args;

    if (atomic_exchange(&outcome->failed, 1))
        return;
    va_start(args, format);
    vsnprintf(outcome->text, sizeof(outcome->text), format, args);
    va_end(args);
}

static void expect(const struct op *op, const struct use *use,
                   const uint32_t *v)
{
    static const char *const kinds[] = {[TASK] = "a task",
                                        [ACQUIRE] = "an acquisition",
                                        [LOOK] = "a look at its own data"};

    if (hash(v, nodes[use->node].to - nodes[use->node].from) != use->expected)
        fail("%s finds another value in part %d of datum %d (value %u)",
             kinds[op->kind], use->node, use->datum, op->value);
}

static void run_body(struct op *op, uint32_t *own[]);

static void kernel(void *buffers[], void *arg)
{
    struct op *op = arg;
    uint32_t *own[MOST_USES];

    for (int i = 0; i < op->nuses; i++) {
        struct use *use = &op->uses[i];

        own[i] = (uint32_t *)STARPU_VECTOR_GET_PTR(buffers[i]);
        expect(op, use, own[i]);
        if (use->writes)
            change(own[i], nodes[use->node].to - nodes[use->node].from,
                   op->value);
    }
    run_body(op, own);
}

/* Those that submit others run on processors. */
static struct starpu_codelet cl_inner = {
    .cpu_funcs = {kernel},
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "k",
};
static struct starpu_codelet cl_leaf = {
    .cpu_funcs = {kernel},
    .cuda_funcs = {kernel},
    .nbuffers = STARPU_VARIABLE_NBUFFERS,
    .name = "k",
};

static void submit(struct op *op)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = op->nops ? &cl_inner : &cl_leaf;
    task->cl_arg = op;
    task->nbuffers = op->nuses;
    for (int i = 0; i < op->nuses; i++) {
        task->handles[i] = handles[op->uses[i].datum][op->uses[i].node];
        task->modes[i] = op->uses[i].writes ? STARPU_RW : STARPU_R;
    }
    task->detach = !op->waited;
    op->task = op->waited ? task : NULL;
    if (starpu_task_submit(task) != 0)
        fail("a task is refused");
}

static void wait_for(struct op *op)
{
    if (op->task && starpu_task_wait(op->task) != 0)
        fail("a wait is refused");
    op->task = NULL;
}

/* Returns whether there was one. */
static bool wait_for_all(struct op *op, int n)
{
    bool waited = false;

    for (int i = 0; i < n; i++) {
        waited |= op->ops[i].task != NULL;
        wait_for(&op->ops[i]);
    }
    return waited;
}

static void acquire(struct op *op)
{
    struct use *use = &op->uses[0];
    starpu_data_handle_t handle = handles[use->datum][use->node];
    int n = nodes[use->node].to - nodes[use->node].from;
    uint32_t *v;

    if (starpu_data_acquire(handle, use->writes ? STARPU_RW : STARPU_R) != 0) {
        fail("an acquisition is refused");
        return;
    }
    v = (uint32_t *)starpu_vector_get_local_ptr(handle);
    expect(op, use, v);
    if (use->writes)
        change(v, n, op->value);
    starpu_data_release(handle);
}

/* A task sees what others have made of its data when it has waited for one that
 * came after them. */
static void look(struct op *outer, int at, uint32_t *own[])
{
    struct op *op = &outer->ops[at];
    struct use *use = &op->uses[0];

    if (!own) {
        acquire(&(struct op){
            .kind = LOOK,
            .uses = {{use->datum, use->node, false, use->expected}},
            .nuses = 1});
        return;
    }
    if (starpu_data_acquire(handles[use->datum][use->node], STARPU_R) != 0)
        fail("an acquisition of its own is refused");
    starpu_data_release(handles[use->datum][use->node]);
    for (int i = 0; i < outer->nuses; i++)
        if (outer->uses[i].datum == use->datum &&
            outer->uses[i].node == use->node)
            expect(op, use, own[i]);
}

static void run_body(struct op *op, uint32_t *own[])
{
    for (int i = 0; i < op->nops; i++) {
        struct op *inner = &op->ops[i];

        if (inner->dropped)
            continue;
        switch (inner->kind) {
        case TASK:
            submit(inner);
            break;
        case WAIT:
            wait_for_all(op, i);
            break;
        case ACQUIRE:
            acquire(inner);
            break;
        case LOOK:
            look(op, i, own);
            break;
        default:
            starpu_usleep((float)inner->value);
        }
    }
    wait_for_all(op, op->nops);
}

static void *run_main(void *arg)
{
    run_body(arg, NULL);
    return NULL;
}

static void cut(int datum, int first)
{
    struct starpu_data_filter filter = {
        .filter_func = starpu_vector_filter_block,
        .nchildren = (unsigned)nodes[first].n,
    };

    starpu_data_partition_plan(handles[datum][nodes[first].parent], &filter,
                               &handles[datum][first]);
}

static void begin_data(int datum)
{
    starpu_vector_data_register(&handles[datum][0], STARPU_MAIN_RAM,
                                (uintptr_t)words[datum], NWORDS,
                                sizeof(words[0][0]));
    for (int i = 0; i < NPLANS; i++)
        cut(datum, plan_firsts[i]);
}

static void end_data(int datum)
{
    for (int i = NPLANS; i-- > 0;) {
        int first = plan_firsts[i];

        starpu_data_partition_clean(handles[datum][nodes[first].parent],
                                    (unsigned)nodes[first].n,
                                    &handles[datum][first]);
    }
    starpu_data_unregister(handles[datum][0]);
}

static void run_program(struct program *program)
{
    uint32_t expected[NDATA][NWORDS];
    starpu_pthread_t second;

    init_words(expected);
    for (int t = 0; t < NTHREADS; t++)
        for (int i = 0; i < program->main[t].nops; i++)
            if (!program->main[t].ops[i].dropped)
                do_in_order(expected, &program->main[t].ops[i]);
    init_words(words);
    if (starpu_init(NULL) != 0) {
        fail("starpu_init");
        return;
    }
    for (int d = 0; d < NDATA; d++)
        begin_data(d);
    starpu_pthread_create(&second, NULL, run_main, &program->main[1]);
    run_main(&program->main[0]);
    starpu_pthread_join(second, NULL);
    starpu_task_wait_for_all();
    for (int d = 0; d < NDATA; d++)
        end_data(d);
    starpu_shutdown();
    if (memcmp(words, expected, sizeof(words)) != 0)
        fail("the data end with other values");
}

/* --- a run in a process of its own --- */

static const char *const policies[] = {"lws",   "eager", "dmda",
                                       "dmdas", "prio",  "ws"};

static void choose_machine(uint64_t seed, bool simulated)
{
    char ncpus[8];

    snprintf(ncpus, sizeof(ncpus), "%d", 1 + (int)(seed / 2 % 4));
    setenv("STARPU_NCPU", ncpus, 1);
    setenv("STARPU_SCHED", policies[seed / 8 % 6], 1);
    setenv("STARPU_SILENT", "1", 1);
    if (!simulated)
        return;
    setenv("ORRERY_MACHINE", TEST_MACHINE, 1);
    setenv("ORRERY_SIM_KERNELS", "run", 1);
    setenv("ORRERY_ASSUME", "kernel[k] = 50us", 1);
}

/* Returns whether it has passed; outcome->text says what is wrong. */
static bool passes(struct program *program, bool simulated)
{
    int status = 0;
    pid_t pid;

    atomic_store(&outcome->failed, 0);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        stacks_at_alarm();
        alarm(LIMIT_S);
        choose_machine(program->seed, simulated);
        run_program(program);
        leaks_end();
        _exit(atomic_load(&outcome->failed));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        abort();
    if (WIFSIGNALED(status))
        fail(WTERMSIG(status) == SIGALRM ? "it hangs" : "it ends by signal %d",
             WTERMSIG(status));
    else if (WEXITSTATUS(status))
        fail("it ends with %d", WEXITSTATUS(status));
    return status == 0;
}

/* --- what is left when all is dropped that may be --- */

/* Schedules differ from run to run. */
static bool fails_often(struct program *program, bool simulated)
{
    for (int i = 0; i < (simulated ? 1 : 50); i++)
        if (!passes(program, simulated))
            return true;
    return false;
}

static void shrink(struct program *program, struct op *body, bool simulated)
{
    for (int i = 0; i < body->nops; i++) {
        if (body->ops[i].dropped)
            continue;
        body->ops[i].dropped = true;
        if (fails_often(program, simulated))
            continue;
        body->ops[i].dropped = false;
        shrink(program, &body->ops[i], simulated);
    }
}

static void print_use(const struct use *use)
{
    printf(" %s(%d.%d)", use->writes ? "RW" : "R", use->datum, use->node);
}

static void print_body(const struct op *body, int indent)
{
    static const char *const names[NKINDS] = {[TASK] = "task",
                                              [WAIT] = "wait for those before",
                                              [ACQUIRE] = "acquire",
                                              [LOOK] = "look at",
                                              [SLEEP] = "sleep"};

    for (int i = 0; i < body->nops; i++) {
        const struct op *op = &body->ops[i];

        if (op->dropped)
            continue;
        printf("# %*s%s", indent, "", names[op->kind]);
        for (int k = 0; k < op->nuses; k++)
            print_use(&op->uses[k]);
        printf("%s, value %u\n", op->waited ? ", waited for" : "", op->value);
        print_body(op, indent + 2);
    }
}

static void report(struct program *program, bool simulated)
{
    char first[sizeof(outcome->text)];

    memcpy(first, outcome->text, sizeof(first));
    for (int t = 0; t < NTHREADS; t++)
        shrink(program, &program->main[t], simulated);
    printf("# %s: %s, %d CPU, %s\n", first, simulated ? "simulated" : "real",
           1 + (int)(program->seed / 2 % 4), policies[program->seed / 8 % 6]);
    for (int t = 0; t < NTHREADS; t++) {
        printf("# thread %d, what is left:\n", t);
        print_body(&program->main[t], 2);
    }
    printf("# repeat: ./test-inside --seed %llu --graphs 1\n",
           (unsigned long long)program->seed);
}

static bool try_seed(uint64_t seed, bool simulated)
{
    struct program program;
    bool passed;

    draw_program(&program, seed);
    passed = passes(&program, simulated);
    printf("%s %llu - %s\n", passed ? "ok" : "not ok", (unsigned long long)seed,
           simulated ? "simulated" : "real");
    if (!passed)
        report(&program, simulated);
    for (int t = 0; t < NTHREADS; t++)
        free_body(&program.main[t]);
    return passed;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, graphs = 400;
    bool real = strcmp(TEST_MACHINE, "") == 0, all = true;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--real"))
            real = true;
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--graphs") && i + 1 < argc)
            graphs = strtoull(argv[++i], NULL, 10);
        else
            return fprintf(stderr, "usage: test-inside [--seed N] "
                                   "[--graphs N] [--real]\n"),
                   2;
    }
    outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        return 1;
    printf("1..%llu\n", (unsigned long long)graphs);
    for (uint64_t i = 0; i < graphs; i++)
        all &= try_seed(seed + i, !real && (seed + i) % 2);
    return !all;
}
