/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pipeline.c - frames pass three stages; the last one's callback takes a frame's
 * result with starpu_data_acquire_cb, and no more than a few are under way. */
#include "expect.h"

#include <starpu.h>

#define FRAMES    200
#define LENGTH    512
#define UNDER_WAY 24 /* tasks */

static int results[FRAMES];
static unsigned ended, taken; /* callbacks run on several workers */

static void generate(void *buffers[], void *arg)
{
    int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    int first;

    starpu_codelet_unpack_args(arg, &first);
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        x[i] = first;
}

static void filter(void *buffers[], void *arg)
{
    int *x = (int *)STARPU_VECTOR_GET_PTR(buffers[0]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        x[i] = 2 * x[i] + 1;
}

static void sum(void *buffers[], void *arg)
{
    const int *x = (const int *)STARPU_VECTOR_GET_PTR(buffers[0]);
    int *total = (int *)STARPU_VARIABLE_GET_PTR(buffers[1]);

    (void)arg;
    *total = 0;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        *total += x[i];
}

static struct starpu_perfmodel generate_model = {.type = STARPU_HISTORY_BASED,
                                                 .symbol = "generate"};
static struct starpu_perfmodel filter_model = {.type = STARPU_HISTORY_BASED,
                                               .symbol = "filter"};
static struct starpu_perfmodel sum_model = {.type = STARPU_HISTORY_BASED,
                                            .symbol = "sum"};
static struct starpu_codelet generate_cl = {.cpu_funcs = {generate},
                                            .nbuffers = 1,
                                            .modes = {STARPU_W},
                                            .model = &generate_model,
                                            .name = "generate"};
static struct starpu_codelet filter_cl = {.cpu_funcs = {filter},
                                          .cuda_funcs = {filter},
                                          .nbuffers = 1,
                                          .modes = {STARPU_RW},
                                          .model = &filter_model,
                                          .name = "filter"};
static struct starpu_codelet sum_cl = {.cpu_funcs = {sum},
                                       .cuda_funcs = {sum},
                                       .nbuffers = 2,
                                       .modes = {STARPU_R, STARPU_W},
                                       .model = &sum_model,
                                       .name = "sum"};

/* A frame, until its result was taken. */
struct frame {
    starpu_data_handle_t pixels, total;
    int sum, number;
};

static void take(void *arg)
{
    struct frame *frame = arg;

    results[frame->number] = frame->sum;
    starpu_data_release(frame->total);
    __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
}

static void count(void *arg)
{
    __atomic_fetch_add((unsigned *)arg, 1, __ATOMIC_RELAXED);
}

static void submit(struct frame *frame)
{
    int first = frame->number;

    starpu_vector_data_register(&frame->pixels, -1, 0, LENGTH, sizeof(int));
    starpu_variable_data_register(&frame->total, STARPU_MAIN_RAM,
                                  (uintptr_t)&frame->sum, sizeof(frame->sum));
    EXPECT(starpu_task_insert(&generate_cl, STARPU_W, frame->pixels,
                              STARPU_VALUE, &first, sizeof(first), 0) == 0);
    EXPECT(starpu_task_insert(&filter_cl, STARPU_RW, frame->pixels, 0) == 0);
    EXPECT(starpu_task_insert(&sum_cl, STARPU_R, frame->pixels, STARPU_W,
                              frame->total, STARPU_CALLBACK_WITH_ARG_NFREE,
                              count, &ended, STARPU_PRIORITY, 1, 0) == 0);
    starpu_data_unregister_submit(frame->pixels);
    EXPECT(starpu_data_acquire_cb(frame->total, STARPU_R, take, frame) == 0);
}

int main(void)
{
    static struct frame frames[FRAMES];
    int result = starpu_init(NULL);

    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    for (int i = 0; i < FRAMES; i++) {
        frames[i].number = i;
        submit(&frames[i]);
        EXPECT(starpu_task_wait_for_n_submitted(UNDER_WAY) == 0);
    }
    EXPECT(starpu_task_wait_for_all() == 0);
    for (int i = 0; i < FRAMES; i++)
        starpu_data_unregister(frames[i].total);
    EXPECT(__atomic_load_n(&ended, __ATOMIC_RELAXED) == FRAMES);
    EXPECT(__atomic_load_n(&taken, __ATOMIC_RELAXED) == FRAMES);
    for (int i = 0; i < FRAMES; i++)
        EXPECT_RESULT(results[i] == LENGTH * (2 * i + 1));
    starpu_shutdown();
    return 0;
}
