/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-temporaries.c - data without home that one task writes and the next
 * ones read, on machines whose memory holds few of them at once: each of the programs
 * could go on with one task at a time, so it ends, and with the right values.
 * Per seed, policy and size a program of its own, in a process of its own.
 *
 * usage: test-temporaries [SEEDS [FIRST [CHAINS [COUNT [BYTES]]]]]
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <starpu.h>

#include "../rng.h"

enum { MOST_READ = 2, NPOLICIES = 4, LATEST = 60 };

static const char *const policies[NPOLICIES] = {"dmdas", "random", "lws", "eager"};

static atomic_uint nwrong;

/* What a temporary is full of. */
static unsigned value_of(unsigned number)
{
    return number * 2654435761U + 1;
}

static void look(void *buffer, unsigned number)
{
    const unsigned *x = (const unsigned *)STARPU_VECTOR_GET_PTR(buffer);
    unsigned n = STARPU_VECTOR_GET_NX(buffer);

    nwrong += x[0] != value_of(number) || x[n - 1] != value_of(number);
}

/* The first buffer is written, the others are read: `arg` has their numbers. */
struct numbers {
    unsigned n, of[1 + MOST_READ];
};

static void run(void *buffers[], void *arg)
{
    const struct numbers *numbers = arg;
    unsigned *x = (unsigned *)STARPU_VECTOR_GET_PTR(buffers[0]);
    unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);

    for (unsigned i = 1; i < numbers->n; i++)
        look(buffers[i], numbers->of[i]);
    x[0] = x[n - 1] = value_of(numbers->of[0]);
}

static void read_only(void *buffers[], void *arg)
{
    const struct numbers *numbers = arg;

    for (unsigned i = 0; i < numbers->n; i++)
        look(buffers[i], numbers->of[i]);
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "temporaries"};
static struct starpu_codelet
    writer = {.cpu_funcs = {run},
              .cuda_funcs = {run},
              .nbuffers = STARPU_VARIABLE_NBUFFERS,
              .model = &model,
              .name = "writer"},
    reader = {.cpu_funcs = {read_only},
              .cuda_funcs = {read_only},
              .nbuffers = STARPU_VARIABLE_NBUFFERS,
              .model = &model,
              .name = "reader"};

/* --- a program --- */

struct size {
    unsigned nchains, count; /* tasks that are ready at first; temporaries */
    size_t bytes;            /* of each */
};

static void insert(struct starpu_codelet *codelet, starpu_data_handle_t *handles,
                   const struct numbers *numbers, int priority)
{
    struct starpu_data_descr descrs[1 + MOST_READ];
    struct numbers *copy = malloc(sizeof(*copy));
    struct starpu_task *task = starpu_task_create();

    if (!copy)
        abort();
    *copy = *numbers;
    for (unsigned i = 0; i < numbers->n; i++) {
        descrs[i].handle = handles[numbers->of[i]];
        descrs[i].mode = i == 0 && codelet == &writer ? STARPU_W : STARPU_R;
    }
    task->cl = codelet;
    task->cl_arg = copy;
    task->cl_arg_free = 1;
    task->nbuffers = (int)numbers->n;
    task->priority = priority;
    for (unsigned i = 0; i < numbers->n; i++) {
        STARPU_TASK_SET_HANDLE(task, descrs[i].handle, i);
        STARPU_TASK_SET_MODE(task, descrs[i].mode, i);
    }
    if (starpu_task_submit(task) != 0)
        abort();
}

/* The temporary before it in its own chain, if there is one, and maybe that of the next
 * chain. */
static struct numbers writes(uint64_t *rng, unsigned n, unsigned nchains)
{
    struct numbers numbers = {.n = 1, .of = {n}};

    if (n >= nchains)
        numbers.of[numbers.n++] = n - nchains;
    if (n > nchains && rng_next(rng) % 2)
        numbers.of[numbers.n++] = n - nchains - 1;
    return numbers;
}

static int run_program(uint64_t seed, const char *policy,
                       const struct size *size)
{
    starpu_data_handle_t *handles = calloc(size->count, sizeof(*handles));
    unsigned last = size->nchains + 1;
    uint64_t rng = rng_of(seed);
    struct starpu_conf conf;

    starpu_conf_init(&conf);
    conf.sched_policy_name = policy;
    if (!handles || starpu_init(&conf) != 0)
        return 77;
    for (unsigned i = 0; i < size->count; i++) {
        struct numbers numbers = writes(&rng, i, size->nchains);

        starpu_vector_data_register(&handles[i], -1, 0,
                                    (uint32_t)(size->bytes / 4), 4);
        insert(&writer, handles, &numbers, (int)(rng_next(&rng) % 3));
        for (unsigned readers = rng_next(&rng) % 3; readers > 0; readers--) {
            numbers = (struct numbers){.n = 1, .of = {i}};
            insert(&reader, handles, &numbers, (int)(rng_next(&rng) % 3));
        }
        if (i >= last)
            starpu_data_unregister_submit(handles[i - last]);
    }
    for (unsigned i = size->count < last ? 0 : size->count - last;
         i < size->count; i++)
        starpu_data_unregister_submit(handles[i]);
    starpu_task_wait_for_all();
    starpu_shutdown();
    free(handles);
    return nwrong != 0;
}

int main(int argc, char **argv)
{
    unsigned nseeds = argc > 1 ? (unsigned)atoi(argv[1]) : 3;
    unsigned first = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    const struct size size = {
        .nchains = argc > 3 ? (unsigned)atoi(argv[3]) : 4,
        .count = argc > 4 ? (unsigned)atoi(argv[4]) : 300,
        .bytes = argc > 5 ? (size_t)atoll(argv[5]) : 1 << 20,
    };
    int nfailed = 0;

    printf("1..%u\n", nseeds * NPOLICIES);
    for (unsigned i = 0; i < nseeds * NPOLICIES; i++) {
        unsigned seed = first + i / NPOLICIES;
        const char *policy = policies[i % NPOLICIES];
        int status = 0;
        pid_t child;

        fflush(stdout);
        child = fork();
        if (child == 0) {
            alarm(LATEST); /* whatever waits for ever */
            _exit(run_program(seed, policy, &size));
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
        printf("%s %u - seed %u, %s\n", status == 0 ? "ok" : "not ok", i + 1, seed,
               policy);
        nfailed += status != 0;
    }
    return nfailed > 0;
}
