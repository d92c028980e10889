/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/golden/pieces.c - a small program whose simulated trace is stored: a
 * vector in pieces that tasks with priorities and tags change, and that the
 * program itself acquires in between, waiting and by callback. Its kernel has
 * no model: ORRERY_ASSUME says how long it takes. Ends with 1 if a kernel ran
 * and the result is wrong.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <orrery.h>
#include <starpu.h>

enum { LENGTH = 1 << 20, NPIECES = 6 };

static void add(void *buffers[], void *arg)
{
    float *x = (float *)STARPU_VECTOR_GET_PTR(buffers[0]);
    unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);

    (void)arg;
    for (unsigned i = 0; i < n; i++)
        x[i] += 1;
}

/* Simulated devices run the CPU version, if any. */
static struct starpu_codelet codelet = {
    .cpu_funcs = {add},
    .cuda_funcs = {add},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .name = "add",
};

static int add_to_piece(starpu_data_handle_t vector, unsigned piece,
                        starpu_tag_t tag)
{
    return starpu_task_insert(
        &codelet, STARPU_RW, starpu_data_get_sub_data(vector, 1, piece),
        STARPU_PRIORITY, (int)piece % 3 - 1, STARPU_TAG, tag, 0);
}

static void release(void *handle)
{
    starpu_data_release(handle);
}

/* The program looks at one piece, and changes another when it may. */
static int use_pieces(starpu_data_handle_t vector)
{
    starpu_data_handle_t read = starpu_data_get_sub_data(vector, 1, 1),
                         change = starpu_data_get_sub_data(vector, 1, 2);
    int result = starpu_data_acquire(read, STARPU_R);

    if (result == 0)
        starpu_data_release(read);
    if (result == 0)
        result = starpu_data_acquire_cb(change, STARPU_RW, release, change);
    return result;
}

/* Two rounds of tasks, the program in between; the second begins with the last
 * piece of the first, whatever it works on. */
static int run(starpu_data_handle_t vector)
{
    struct starpu_data_filter pieces = {
        .filter_func = starpu_vector_filter_block, .nchildren = NPIECES};
    int result = 0;

    starpu_data_partition(vector, &pieces);
    for (unsigned p = 0; p < NPIECES && result == 0; p++) {
        starpu_tag_declare_deps(100 + p, 1, (starpu_tag_t)NPIECES);
        result = add_to_piece(vector, p, 1 + p);
    }
    if (result == 0)
        result = use_pieces(vector);
    for (unsigned p = 0; p < NPIECES && result == 0; p++)
        result = add_to_piece(vector, p, 100 + p);
    starpu_task_wait_for_all();
    starpu_data_unpartition(vector, STARPU_MAIN_RAM);
    if (result == 0)
        result = starpu_task_insert(&codelet, STARPU_RW, vector, 0);
    return result;
}

static int check(starpu_data_handle_t vector, const float *x)
{
    unsigned wrong = 0;

    if (starpu_data_acquire(vector, STARPU_R) != 0)
        return -1;
    for (unsigned i = 0; i < LENGTH && orrery_runs_kernels(); i++)
        wrong += x[i] != 3;
    starpu_data_release(vector);
    if (wrong > 0)
        fprintf(stderr, "pieces: %u elements are wrong\n", wrong);
    return wrong > 0 ? -1 : 0;
}

int main(void)
{
    starpu_data_handle_t vector;
    float *x = calloc(LENGTH, sizeof(*x));
    int result = x ? starpu_init(NULL) : -1;

    if (result != 0) {
        fputs("pieces: the runtime does not start\n", stderr);
        free(x);
        return EXIT_FAILURE;
    }
    starpu_vector_data_register(&vector, STARPU_MAIN_RAM, (uintptr_t)x, LENGTH,
                                sizeof(*x));
    result = run(vector);
    if (result == 0)
        result = check(vector, x);
    starpu_data_unregister(vector);
    starpu_shutdown();
    free(x);
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
