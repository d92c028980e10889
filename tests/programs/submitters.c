/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* submitters.c - four threads of the application submit at once, each with data of
 * its own, data that all read, and a sum that all add to; main takes part. */
#include "expect.h"

#include <starpu.h>

#define THREADS 4
#define ROUNDS  300

static long shared_value = 3, sum;
static starpu_data_handle_t shared, total;

static void multiply(void *buffers[], void *arg)
{
    long *x = (long *)STARPU_VARIABLE_GET_PTR(buffers[0]);

    (void)arg;
    *x = *x * *(const long *)STARPU_VARIABLE_GET_PTR(buffers[1]) % 1000003;
}

static void add(void *buffers[], void *arg)
{
    (void)arg;
    *(long *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
        *(const long *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

static struct starpu_perfmodel multiply_model = {.type = STARPU_HISTORY_BASED,
                                                 .symbol = "multiply"};
static struct starpu_perfmodel add_model = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "add"};
static struct starpu_codelet multiply_cl = {.cpu_funcs = {multiply},
                                            .cuda_funcs = {multiply},
                                            .nbuffers = 2,
                                            .modes = {STARPU_RW, STARPU_R},
                                            .model = &multiply_model,
                                            .name = "multiply"};
static struct starpu_codelet add_cl = {
    .cpu_funcs = {add},
    .cuda_funcs = {add},
    .nbuffers = 2,
    .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
    .model = &add_model,
    .name = "add"};

static long power(long x)
{
    for (int i = 0; i < ROUNDS; i++)
        x = x * 3 % 1000003;
    return x;
}

static void *submit(void *arg)
{
    long own = *(long *)arg;
    starpu_data_handle_t handle;

    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)&own,
                                  sizeof(own));
    for (int i = 0; i < ROUNDS; i++)
        EXPECT(starpu_task_insert(&multiply_cl, STARPU_RW, handle, STARPU_R,
                                  shared, 0) == 0);
    EXPECT(starpu_task_insert(&add_cl, STARPU_RW | STARPU_COMMUTE, total,
                              STARPU_R, handle, 0) == 0);
    EXPECT(starpu_data_acquire(handle, STARPU_R) == 0);
    EXPECT_RESULT(own == power(*(long *)arg));
    starpu_data_release(handle);
    starpu_data_unregister(handle);
    return NULL;
}

int main(void)
{
    long first[THREADS] = {5, 7, 11, 13}, right = 0;
    starpu_pthread_t thread[THREADS];
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    starpu_variable_data_register(&shared, STARPU_MAIN_RAM,
                                  (uintptr_t)&shared_value, sizeof(long));
    starpu_variable_data_register(&total, STARPU_MAIN_RAM, (uintptr_t)&sum,
                                  sizeof(long));
    for (int i = 1; i < THREADS; i++)
        EXPECT(starpu_pthread_create(&thread[i], NULL, submit, &first[i]) == 0);
    submit(&first[0]);
    for (int i = 1; i < THREADS; i++)
        EXPECT(starpu_pthread_join(thread[i], NULL) == 0);
    starpu_data_unregister(total);
    starpu_data_unregister(shared);
    for (int i = 0; i < THREADS; i++)
        right += power(first[i]);
    EXPECT_RESULT(sum == right);
    starpu_shutdown();
    return 0;
}
