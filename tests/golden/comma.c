/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/golden/comma.c - a program that takes the locale of its environment, as programs
 * with windows do. Its tasks and data are such that reports, traces, graphs, models and
 * statistics have numbers with a fraction. Its last line on stderr is 1.5 as its locale
 * writes it.
 */
#include <starpu.h>

#include <locale.h>
#include <stdio.h>

enum { NDATA = 8, NTASKS = 120, N = 30000 };

static void work(void *buffers[], void *arg)
{
    float *x = (float *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (int i = 0; i < N; i++)
        x[i] = x[i] * 0.5F + 1;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "comma"};
static struct starpu_perfmodel power = {.type = STARPU_NL_REGRESSION_BASED,
                                        .symbol = "comma_power"};
static struct starpu_codelet codelets[] = {
    {.cpu_funcs = {work}, .cuda_funcs = {work}, .nbuffers = 2,
     .modes = {STARPU_R, STARPU_RW}, .model = &model, .name = "scale"},
    {.cpu_funcs = {work}, .nbuffers = 2, .modes = {STARPU_R, STARPU_RW}, .model = &power,
     .name = "shrink"},
};

int main(void)
{
    static float values[NDATA][N];
    starpu_data_handle_t data[NDATA];

    setlocale(LC_ALL, "");
    fprintf(stderr, "%.1f\n", 1.5);
    if (starpu_init(NULL))
        return 77;
    for (int i = 0; i < NDATA; i++)
        starpu_vector_data_register(&data[i], STARPU_MAIN_RAM, (uintptr_t)values[i],
                                    N, sizeof(float));
    for (int i = 0; i < NTASKS; i++)
        starpu_task_insert(&codelets[i % 5 == 0], STARPU_R, data[i * 3 % NDATA], STARPU_RW,
                           data[(i * 3 + 1) % NDATA], STARPU_FLOPS, 1.5e6, 0);
    starpu_task_wait_for_all();
    for (int i = 0; i < NDATA; i++)
        starpu_data_unregister(data[i]);
    starpu_shutdown();
    return 0;
}
