/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-regression.c - the cost per task of looking up a length in
 * a model of type a·n^b + c while the model is being measured: 200 sizes, each
 * task checks if the model has changed since its size last did, and is
 * measured. Sizes in rounds, or each until it is done, in random or ascending
 * order. In µs of the processor, beside reading its clock.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "perfmodel/model.h"

enum { RUNS = 5, SIZES = 200, ROUNDS = 50 };

static const struct orr_device cpu = {ORR_DEVICE_CPU, 0, 1};

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static uint32_t draw(uint32_t *state)
{
    return *state = *state * 1664525 + 1013904223;
}

static uint64_t size_of(unsigned i)
{
    return 4096 + 1024 * (uint64_t)i * i;
}

static void shuffle(unsigned *order, uint32_t *state)
{
    for (unsigned i = SIZES; i-- > 1;) {
        unsigned j = (draw(state) >> 8) % (i + 1), before = order[i];

        order[i] = order[j];
        order[j] = before;
    }
}

static struct orr_model *model_open(const struct orr_sampling *sampling,
                                    struct orr_models **ret)
{
    struct orr_models_options options = {.sampling = sampling,
                                         .host = "host",
                                         .homogeneous = ORR_HOMOGENEOUS_DEFAULT,
                                         .calibrate = 1};
    struct orr_error err = {""};
    struct orr_model *model;
    unsigned comb;

    if (orr_models_new(&options, ret) ||
        orr_combs_get(orr_models_combs(*ret), &cpu, 1, &comb))
        abort();
    model = orr_models_get(*ret, "law", ORR_MODEL_NL_REGRESSION, &err);
    if (!model)
        abort();
    return model;
}

/* What a push of a task and its end do; `seen` is the version of the model that
 * the values of its size are from. */
static void task(struct orr_model *model, unsigned i, uint32_t *seen,
                 uint32_t *state)
{
    uint64_t size = size_of(i);
    struct orr_question q = {.footprint = 1000 + i, .size = size};
    struct orr_measure m = {.footprint = 1000 + i, .size = size};
    struct orr_answer answer;

    if (*seen != *orr_model_version_at(model)) {
        *seen = *orr_model_version_at(model);
        orr_model_answer(model, &q, &answer);
    }
    m.duration = (20 + 1e-4 * pow((double)size, 1.2)) *
                 (1 + 0.1 * ((draw(state) >> 8) / 16777216.0 - 0.5));
    if (orr_model_measure(model, &m))
        abort();
}

/* µs per task, without what generating them takes. */
static double calibrate(const struct orr_sampling *sampling, bool rounds,
                        bool shuffled)
{
    struct orr_models *models;
    struct orr_model *model = model_open(sampling, &models);
    uint32_t seen[SIZES], state = 7;
    unsigned order[SIZES];
    double start;

    for (unsigned i = 0; i < SIZES; i++) {
        order[i] = i;
        seen[i] = UINT32_MAX;
    }
    if (shuffled)
        shuffle(order, &state);
    start = now_us();
    for (unsigned n = 0; n < SIZES * ROUNDS; n++) {
        unsigned i = order[rounds ? n % SIZES : n / ROUNDS];

        task(model, i, &seen[i], &state);
    }
    start = now_us() - start;
    orr_models_free(models);
    return start / (SIZES * ROUNDS);
}

static double clock_cost(void)
{
    double start = now_us();
    volatile double t;

    for (unsigned i = 0; i < 1000000; i++)
        t = now_us();
    (void)t;
    return (now_us() - start) / 1e6;
}

int main(void)
{
    static const struct orr_sampling_options options = {.perf_model_dir =
                                                            "/nonexistent"};
    static const char *const names[] = {"blocks-ascending", "blocks-random",
                                        "rounds-ascending", "rounds-random"};
    struct orr_sampling *sampling;
    double beside = clock_cost();

    setenv("STARPU_SILENT", "1", 1);
    if (orr_sampling_new(&options, &sampling))
        return EXIT_FAILURE;
    for (unsigned k = 0; k < 4; k++) {
        double us[RUNS];

        for (unsigned r = 0; r < RUNS; r++)
            us[r] = calibrate(sampling, k / 2, k % 2);
        qsort(us, RUNS, sizeof(double), compare);
        printf("bench name=regression-%s sizes=%d value=%.3g unit=us/task "
               "min=%.3g max=%.3g ratio=%.3g beside=reading-the-clock\n",
               names[k], SIZES, us[RUNS / 2], us[0], us[RUNS - 1],
               us[RUNS / 2] / beside);
        fflush(stdout);
    }
    orr_sampling_free(sampling);
    return EXIT_SUCCESS;
}
