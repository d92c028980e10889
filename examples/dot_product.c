/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dot_product.c - a reduction: each task adds the product of two pieces to the
 * sum, side by side with others. STARPU_REDUX gives each worker a part of the
 * sum for itself; the parts are added when the sum is wanted.
 */
#include <stdio.h>
#include <stdlib.h>

#include <orrery.h>
#include <starpu.h>

#define LENGTH 1000000
#define PIECES 16

/* The kernel: adds to its worker's part, which init has begun. */
static void dot(void *buffers[], void *arg)
{
    const double *x = (const double *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const double *y = (const double *)STARPU_VECTOR_GET_PTR(buffers[1]);
    double *sum = (double *)STARPU_VARIABLE_GET_PTR(buffers[2]);
    unsigned n = STARPU_VECTOR_GET_NX(buffers[0]);

    (void)arg;
    for (unsigned i = 0; i < n; i++)
        *sum += x[i] * y[i];
}

/* A part begins with what adds nothing. */
static void init(void *buffers[], void *arg)
{
    (void)arg;
    *(double *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

/* Adds one part to another. */
static void add(void *buffers[], void *arg)
{
    (void)arg;
    *(double *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
        *(double *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_perfmodel dot_model = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "dot_product"};
static struct starpu_perfmodel add_model = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "dot_product_add"};

static struct starpu_codelet dot_codelet = {
    .cpu_funcs = {dot},
    .nbuffers = 3,
    .modes = {STARPU_R, STARPU_R, STARPU_REDUX},
    .model = &dot_model,
    .name = "dot",
};
static struct starpu_codelet init_codelet = {
    .cpu_funcs = {init}, .nbuffers = 1, .modes = {STARPU_W}, .name = "init"};
static struct starpu_codelet add_codelet = {
    .cpu_funcs = {add},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
    .model = &add_model,
    .name = "add",
};

static int submit(starpu_data_handle_t x, starpu_data_handle_t y,
                  starpu_data_handle_t sum)
{
    for (unsigned piece = 0; piece < PIECES; piece++) {
        int result = starpu_task_insert(
            &dot_codelet, STARPU_R, starpu_data_get_sub_data(x, 1, piece),
            STARPU_R, starpu_data_get_sub_data(y, 1, piece), STARPU_REDUX, sum,
            0);

        if (result != 0)
            return result;
    }
    return 0;
}

int main(void)
{
    struct starpu_data_filter pieces = {
        .filter_func = starpu_vector_filter_block, .nchildren = PIECES};
    starpu_data_handle_t x_handle, y_handle, sum_handle;
    double *x = malloc(LENGTH * sizeof(*x)), *y = malloc(LENGTH * sizeof(*y));
    double sum = 0;
    int wrong = 0;
    int result = x && y ? starpu_init(NULL) : -1;

    if (result != 0) {
        fprintf(stderr, "dot_product: the runtime does not start\n");
        free(x);
        free(y);
        return EXIT_FAILURE;
    }
    for (unsigned i = 0; i < LENGTH; i++) {
        x[i] = 1 + i % 2;
        y[i] = 2;
    }
    starpu_vector_data_register(&x_handle, STARPU_MAIN_RAM, (uintptr_t)x,
                                LENGTH, sizeof(*x));
    starpu_vector_data_register(&y_handle, STARPU_MAIN_RAM, (uintptr_t)y,
                                LENGTH, sizeof(*y));
    starpu_variable_data_register(&sum_handle, STARPU_MAIN_RAM, (uintptr_t)&sum,
                                  sizeof(sum));
    starpu_data_set_reduction_methods(sum_handle, &add_codelet, &init_codelet);
    starpu_data_partition(x_handle, &pieces);
    starpu_data_partition(y_handle, &pieces);
    result = submit(x_handle, y_handle, sum_handle);

    /* Waits for the tasks and adds their parts to `sum`. */
    starpu_data_unregister(sum_handle);
    starpu_data_unpartition(x_handle, STARPU_MAIN_RAM);
    starpu_data_unpartition(y_handle, STARPU_MAIN_RAM);
    starpu_data_unregister(x_handle);
    starpu_data_unregister(y_handle);
    if (orrery_is_simulated() && !orrery_runs_kernels()) {
        puts("simulated: time passed, but no kernel ran");
    } else {
        printf("sum = %.0f (3 * LENGTH = %d)\n", sum, 3 * LENGTH);
        wrong = sum != 3.0 * LENGTH;
    }
    starpu_shutdown();
    free(x);
    free(y);
    return result == 0 && wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
