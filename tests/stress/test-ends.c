/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/stress/test-ends.c - handles end while their values are written back:
 * threads register data, with and without memory of their own, use them on two
 * NUMA nodes that are short of memory (tests/stress/meson.build), and end them
 * in each way there is. Values are checked. The seed is printed; give it as
 * argument to repeat a run.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu.h>

enum { NTHREADS = 4, NROUNDS = 20, NDATA = 60, NTASKS = 60, LENGTH = 1 << 13 };

enum end {
    UNREGISTER,
    NO_COHERENCY,
    SUBMIT,
    INVALIDATE,
    INVALIDATE_SUBMIT,
    NENDS,
};

struct datum {
    starpu_data_handle_t handle;
    uint64_t *memory; /* NULL: without a home */
    uint64_t expected;
};

struct thread {
    uint64_t seed;
    int wrong;
};

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static void fill(uint64_t *v, uint64_t value)
{
    v[0] = v[LENGTH - 1] = value;
}

static void set(void *buffers[], void *arg)
{
    uint64_t value;

    starpu_codelet_unpack_args(arg, &value);
    fill((uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]), value);
}

static void advance(void *buffers[], void *arg)
{
    uint64_t *v = (uint64_t *)STARPU_VECTOR_GET_PTR(buffers[0]), step;

    starpu_codelet_unpack_args(arg, &step);
    if (v[0] != v[LENGTH - 1])
        abort();
    fill(v, v[0] * 31 + step);
}

static struct starpu_codelet cl_set = {
    .cpu_funcs = {set}, .nbuffers = 1, .modes = {STARPU_W}};
static struct starpu_codelet cl_advance = {
    .cpu_funcs = {advance}, .nbuffers = 1, .modes = {STARPU_RW}};

static void use(struct thread *t, struct datum *d, bool first)
{
    uint64_t value = draw(&t->seed) % 1000;
    bool sets = first || draw(&t->seed) % 4 == 0;
    int worker = (int)(draw(&t->seed) % starpu_worker_get_count());

    if (starpu_task_insert(sets ? &cl_set : &cl_advance, STARPU_VALUE, &value,
                           sizeof(value), sets ? STARPU_W : STARPU_RW,
                           d->handle, STARPU_EXECUTE_ON_WORKER, worker, 0) != 0)
        abort();
    d->expected = sets ? value : d->expected * 31 + value;
    if (draw(&t->seed) % 8 == 0)
        starpu_data_wont_use(d->handle);
    if (draw(&t->seed) % 8 == 0)
        starpu_data_prefetch_on_node(d->handle, (unsigned)(draw(&t->seed) % 2),
                                     1);
}

static void end(struct thread *t, struct datum *d)
{
    enum end how = (enum end)(draw(&t->seed) % NENDS);

    /* When the memory of that one may go is not known. */
    if (how == SUBMIT && d->memory)
        how = UNREGISTER;
    switch (how) {
    case UNREGISTER:
        starpu_data_unregister(d->handle);
        if (d->memory && d->memory[LENGTH - 1] != d->expected)
            t->wrong++;
        break;
    case SUBMIT:
        starpu_data_unregister_submit(d->handle);
        break;
    case INVALIDATE:
        starpu_data_invalidate(d->handle);
        starpu_data_unregister_no_coherency(d->handle);
        break;
    case INVALIDATE_SUBMIT:
        starpu_data_invalidate_submit(d->handle);
        starpu_data_unregister_no_coherency(d->handle);
        break;
    default:
        starpu_data_unregister_no_coherency(d->handle);
    }
}

static void *work(void *arg)
{
    struct thread *t = arg;

    for (int round = 0; round < NROUNDS; round++) {
        struct datum data[NDATA];

        for (int i = 0; i < NDATA; i++) {
            data[i].memory = i % 2 ? calloc(LENGTH, sizeof(uint64_t)) : NULL;
            starpu_vector_data_register(
                &data[i].handle, i % 2 ? STARPU_MAIN_RAM : -1,
                (uintptr_t)data[i].memory, LENGTH, sizeof(uint64_t));
        }
        for (int i = 0; i < NDATA + NTASKS; i++)
            use(t, &data[i < NDATA ? i : (int)(draw(&t->seed) % NDATA)],
                i < NDATA);
        for (int i = 0; i < NDATA; i++)
            end(t, &data[i]);
        for (int i = 0; i < NDATA; i++)
            free(data[i].memory);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    struct thread threads[NTHREADS];
    pthread_t id[NTHREADS];
    int wrong = 0;

    printf("# seed %llu\n1..1\n", (unsigned long long)seed);
    if (starpu_init(NULL) != 0)
        return 1;
    for (int i = 0; i < NTHREADS; i++) {
        threads[i] = (struct thread){.seed = seed * NTHREADS + (uint64_t)i};
        pthread_create(&id[i], NULL, work, &threads[i]);
    }
    for (int i = 0; i < NTHREADS; i++) {
        pthread_join(id[i], NULL);
        wrong += threads[i].wrong;
    }
    starpu_shutdown();
    printf("%sok 1 - handles end while they are written back\n",
           wrong ? "not " : "");
    return wrong != 0;
}
