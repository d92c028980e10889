/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-reductions.c - several threads of the application submit
 * tasks that contribute to the same data, read them, write them and commute on
 * them, two data per task, with the order of submission and without; in between
 * they acquire the data. Each task adds as much to both words of what it writes:
 * a lost contribution, or one that is combined while others still write, shows.
 * Then the same with a few tasks on data that have no value yet, many times: the
 * first reader's init codelet meets the first writers.
 * On the real machine. usage: test-reductions [SEED]
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <starpu.h>

#include "../rng.h"

enum { NHANDLES = 4, NTHREADS = 3, DEADLINE_S = 280 };

struct pair {
    uint64_t one, other;
};

static struct pair value[NHANDLES];
static uint64_t added[NTHREADS][NHANDLES];
static starpu_data_handle_t handle[NHANDLES];
static unsigned torn;

static struct pair *pair_of(void *buffer)
{
    return (struct pair *)STARPU_VARIABLE_GET_PTR(buffer);
}

static void look(const struct pair *pair)
{
    if (*(volatile const uint64_t *)&pair->one !=
        *(volatile const uint64_t *)&pair->other)
        __atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
}

static void add(struct pair *to, uint64_t n)
{
    look(to);
    *(volatile uint64_t *)&to->one += n;
    *(volatile uint64_t *)&to->other += n;
}

static void add_one(void *buffers[], void *arg)
{
    (void)arg;
    add(pair_of(buffers[0]), 1);
    add(pair_of(buffers[1]), 1);
}

static void read_one(void *buffers[], void *arg)
{
    (void)arg;
    look(pair_of(buffers[0]));
    add(pair_of(buffers[1]), 1);
}

static void combine(void *buffers[], void *arg)
{
    (void)arg;
    look(pair_of(buffers[1]));
    add(pair_of(buffers[0]), pair_of(buffers[1])->one);
}

static void begin(void *buffers[], void *arg)
{
    (void)arg;
    *pair_of(buffers[0]) = (struct pair){0, 0};
}

#define COMMUTE (STARPU_RW | STARPU_COMMUTE)

static struct starpu_codelet cl_combine = {
    .cpu_funcs = {combine}, .nbuffers = 2, .modes = {COMMUTE, STARPU_R}};
static struct starpu_codelet cl_begin = {
    .cpu_funcs = {begin}, .nbuffers = 1, .modes = {STARPU_W}};

/* Pairs of modes; the first datum is only read by the last three. */
#define CODELET(function, a, b)                                                \
    {                                                                          \
        .cpu_funcs = {function}, .nbuffers = 2, .modes = { a, b }              \
    }
static struct starpu_codelet codelets[] = {
    CODELET(add_one, STARPU_REDUX, STARPU_REDUX),
    CODELET(add_one, STARPU_REDUX, STARPU_REDUX),
    CODELET(add_one, STARPU_REDUX, STARPU_RW),
    CODELET(add_one, STARPU_REDUX, COMMUTE),
    CODELET(add_one, COMMUTE, COMMUTE),
    CODELET(read_one, STARPU_R, STARPU_REDUX),
    CODELET(read_one, STARPU_R, STARPU_REDUX),
    CODELET(read_one, STARPU_R, STARPU_RW),
};
enum { NCODELETS = sizeof(codelets) / sizeof(codelets[0]), NADDERS = 5 };

struct submitter {
    uint64_t seed;
    unsigned number, ntasks;
};

static void submit_one(uint64_t *rng, unsigned thread)
{
    unsigned c = (unsigned)(rng_next(rng) % NCODELETS);
    unsigned a = (unsigned)(rng_next(rng) % NHANDLES);
    unsigned b =
        (a + 1 + (unsigned)(rng_next(rng) % (NHANDLES - 1))) % NHANDLES;
    struct starpu_codelet *cl = &codelets[c];

    if (starpu_task_insert(cl, cl->modes[0], handle[a], cl->modes[1], handle[b],
                           STARPU_PRIORITY, (int)(rng_next(rng) % 3), 0) != 0)
        abort();
    added[thread][a] += c < NADDERS;
    added[thread][b]++;
}

static void *submit(void *arg)
{
    const struct submitter *s = arg;
    uint64_t rng = s->seed + s->number;

    for (unsigned i = 0; i < s->ntasks; i++) {
        submit_one(&rng, s->number);
        if (i % 97 == 0) {
            unsigned h = (unsigned)(rng_next(&rng) % NHANDLES);

            if (starpu_data_acquire(handle[h], STARPU_R) != 0)
                abort();
            look(starpu_data_get_local_ptr(handle[h]));
            starpu_data_release(handle[h]);
        }
    }
    return NULL;
}

/* What is run and how often it begins anew; the first accesses meet as often. */
struct scene {
    const char *name;
    unsigned ordered, nrounds, ntasks;
    bool homeless; /* no datum has a value when it is registered */
};

static const struct scene scenes[] = {
    {"in order", 1, 1, 20000, false},
    {"without order", 0, 1, 20000, false},
    {"first accesses in order", 1, 1000, 3, true},
    {"first accesses without order", 0, 1000, 3, true},
};
enum { NSCENES = sizeof(scenes) / sizeof(scenes[0]) };

static void begin_round(const struct scene *scene)
{
    for (unsigned h = 0; h < NHANDLES; h++) {
        bool home = !scene->homeless && h;

        value[h] = (struct pair){0, 0};
        starpu_variable_data_register(&handle[h], home ? STARPU_MAIN_RAM : -1,
                                      home ? (uintptr_t)&value[h] : 0,
                                      sizeof(value[h]));
        starpu_data_set_reduction_methods(handle[h], &cl_combine, &cl_begin);
        starpu_data_set_sequential_consistency_flag(handle[h], scene->ordered);
        for (unsigned t = 0; t < NTHREADS; t++)
            added[t][h] = 0;
    }
}

/* Returns how many sums are wrong. */
static unsigned end_round(void)
{
    unsigned wrong = 0;

    for (unsigned h = 0; h < NHANDLES; h++) {
        uint64_t expected = 0;

        if (starpu_data_acquire(handle[h], STARPU_R) != 0)
            abort();
        value[h] = *(struct pair *)starpu_data_get_local_ptr(handle[h]);
        starpu_data_release(handle[h]);
        starpu_data_unregister(handle[h]);
        for (unsigned t = 0; t < NTHREADS; t++)
            expected += added[t][h];
        wrong += value[h].one != expected || value[h].other != expected;
    }
    return wrong;
}

static int run(unsigned number, uint64_t seed)
{
    const struct scene *scene = &scenes[number - 1];
    unsigned wrong = 0;

    torn = 0;
    for (unsigned r = 0; r < scene->nrounds; r++) {
        struct submitter submitters[NTHREADS];
        pthread_t threads[NTHREADS];

        begin_round(scene);
        for (unsigned t = 0; t < NTHREADS; t++) {
            submitters[t] = (struct submitter){
                seed + (uint64_t)number * 1000 + r * NTHREADS, t,
                scene->ntasks};
            pthread_create(&threads[t], NULL, submit, &submitters[t]);
        }
        for (unsigned t = 0; t < NTHREADS; t++)
            pthread_join(threads[t], NULL);
        starpu_task_wait_for_all();
        wrong += end_round();
    }
    printf("%sok %u - %d threads, %s: %u sums are wrong, %u were torn\n",
           wrong + torn ? "not " : "", number, NTHREADS, scene->name, wrong,
           torn);
    fflush(stdout);
    return (int)(wrong + torn);
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
    struct starpu_conf conf;
    int wrong = 0;

    printf("1..%d\n# seed %llu\n", NSCENES, (unsigned long long)seed);
    fflush(stdout);
    signal(SIGALRM, stuck);
    alarm(DEADLINE_S);
    starpu_conf_init(&conf);
    conf.ncpus = 3;
    if (starpu_init(&conf) != 0)
        return 77;
    for (unsigned i = 1; i <= NSCENES; i++)
        wrong += run(i, seed);
    starpu_shutdown();
    return wrong != 0;
}
