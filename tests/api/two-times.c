/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/two-times.c - a program whose kernel takes one of two times, by a draw
 * that its footprint does not know: no model with one time per footprint is right.
 */
#include <starpu.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { NTASKS = 200, NVECTORS = 8, LONGER_PERCENT = 40 };

static const double usual_us = 300, longer_us = 1050;

static double times[NTASKS]; /* µs, drawn before the first task */

static double thread_time_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* For a time of its own thread: the model is told that of a kernel that is interrupted. */
static void compute_us(void *buffers[], void *arg)
{
    double end = thread_time_us() + *(const double *)arg;

    (void)buffers;
    while (thread_time_us() < end)
        ;
}

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "two_times"};

static struct starpu_codelet codelet = {
    .cpu_funcs = {compute_us},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &model,
    .name = "two_times",
};

static void draw(void)
{
    uint32_t x = 12345;

    for (unsigned t = 0; t < NTASKS; t++) {
        x = x * UINT32_C(1664525) + UINT32_C(1013904223);
        times[t] = (x >> 16) % 100 < LONGER_PERCENT ? longer_us : usual_us;
    }
}

static int submit(starpu_data_handle_t *handles)
{
    int result = 0;

    for (unsigned t = 0; t < NTASKS && result == 0; t++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &codelet;
        task->cl_arg = &times[t];
        task->cl_arg_size = sizeof(times[t]);
        task->handles[0] = handles[t % NVECTORS];
        result = starpu_task_submit(task);
    }
    starpu_task_wait_for_all();
    return result;
}

int main(void)
{
    static float vectors[NVECTORS][1000];
    starpu_data_handle_t handles[NVECTORS];
    int result;

    draw();
    if (starpu_init(NULL) != 0)
        return EXIT_FAILURE;
    for (unsigned v = 0; v < NVECTORS; v++)
        starpu_vector_data_register(&handles[v], STARPU_MAIN_RAM,
                                    (uintptr_t)vectors[v], 1000, sizeof(float));
    result = submit(handles);
    for (unsigned v = 0; v < NVECTORS; v++)
        starpu_data_unregister(handles[v]);
    starpu_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
