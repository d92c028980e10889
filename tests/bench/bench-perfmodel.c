/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/bench/bench-perfmodel.c - what models cost: feeding a measure, looking
 * up a length, opening a store of 1,000 models of 200 entries. One line per
 * measurement: name, value, unit, and the ratio to what the same run measured
 * of reading the clock, or of reading the files' bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfmodel/model.h"
#include "perfmodel/side.h"
#include "tests/bench/bench.h"

enum { RUNS = 7, FEEDS = 1000000, MODELS = 1000, ENTRIES = 200, SAMPLES = 40 };

static const struct orr_device cpu = {ORR_DEVICE_CPU, 0, 1};

static double now_ns(void)
{
    return bench_now_ns(CLOCK_MONOTONIC);
}

static void print(const char *name, double values[RUNS], const char *unit,
                  double beside, const char *what)
{
    double median = bench_median(values, RUNS);

    printf("bench name=%s value=%.4g unit=%s min=%.4g max=%.4g "
           "ratio=%.3g beside=%s\n",
           name, median, unit, values[0], values[RUNS - 1], median / beside,
           what);
}

static struct orr_models *models_open(const struct orr_sampling *sampling,
                                      bool simulated)
{
    struct orr_models_options options = {.sampling = sampling,
                                         .host = "host",
                                         .homogeneous = ORR_HOMOGENEOUS_DEFAULT,
                                         .calibrate = simulated ? 0 : 1,
                                         .simulated = simulated};
    struct orr_models *models;
    unsigned comb;

    if (orr_models_new(&options, &models) ||
        orr_combs_get(orr_models_combs(models), &cpu, 1, &comb))
        abort();
    return models;
}

static struct orr_model *model_get(struct orr_models *models, unsigned i)
{
    struct orr_error err = {""};
    struct orr_model *model;
    char symbol[32];

    snprintf(symbol, sizeof(symbol), "kernel_%u", i);
    model = orr_models_get(models, symbol, ORR_MODEL_HISTORY, &err);
    if (!model) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return model;
}

/* Every 100th measure is a spike, as they come. */
static void feed(struct orr_model *model, unsigned footprint, unsigned n)
{
    struct orr_measure m = {.footprint = footprint, .size = 64 + footprint};

    for (unsigned i = 0; i < n; i++) {
        m.duration = i % 100 == 99 ? 20000 : 190 + (double)(i * 7919 % 11);
        if (orr_model_measure(model, &m))
            abort();
    }
}

static double clock_cost(void)
{
    double start = now_ns();
    volatile double t;

    for (unsigned i = 0; i < FEEDS; i++)
        t = now_ns();
    (void)t;
    return (now_ns() - start) / FEEDS;
}

static void bench_feed(const struct orr_sampling *sampling)
{
    struct orr_models *models = models_open(sampling, false);
    struct orr_model *model = model_get(models, MODELS);
    double values[RUNS], ask[RUNS], beside = clock_cost(), sum = 0;

    feed(model, 1, 100);
    for (unsigned run = 0; run < RUNS; run++) {
        double start = now_ns();

        feed(model, 1, FEEDS);
        values[run] = (now_ns() - start) / FEEDS;
        start = now_ns();
        for (unsigned i = 0; i < FEEDS; i++)
            sum += orr_model_expected(model, 0, 0, 1);
        ask[run] = (now_ns() - start) / FEEDS;
    }
    if (!(sum > 0))
        abort();
    print("feed-a-measure", values, "ns", beside, "reading-the-clock");
    print("ask-a-model", ask, "ns", beside, "reading-the-clock");
    orr_models_free(models);
}

static void make_store(const struct orr_sampling *sampling)
{
    struct orr_models *models = models_open(sampling, false);

    for (unsigned i = 0; i < MODELS; i++)
        for (unsigned j = 0; j < ENTRIES; j++)
            feed(model_get(models, i), j, SAMPLES);
    if (orr_models_save(models, NULL, NULL))
        abort();
    orr_models_free(models);
}

/* ns for reading the bytes of all files of a folder. */
static double read_bytes(const char *dir)
{
    static char bytes[1 << 20];
    double start = now_ns();

    for (unsigned i = 0; i < MODELS; i++) {
        char path[256];
        FILE *f;

        snprintf(path, sizeof(path), "%s/codelets/45/kernel_%u.host", dir, i);
        f = fopen(path, "r");
        while (f && fread(bytes, 1, sizeof(bytes), f) > 0)
            ;
        if (f)
            fclose(f);
    }
    return now_ns() - start;
}

static void bench_open(const struct orr_sampling *sampling, const char *dir)
{
    double values[RUNS], beside = read_bytes(dir);

    beside = read_bytes(dir);
    for (unsigned run = 0; run < RUNS; run++) {
        double start = now_ns(), sum = 0;
        struct orr_models *models = models_open(sampling, true);

        for (unsigned i = 0; i < MODELS; i++)
            sum += orr_model_expected(model_get(models, i), 0, 0, i % ENTRIES);
        values[run] = (now_ns() - start) / 1e9;
        if (!(sum > 0))
            abort();
        orr_models_free(models);
    }
    print("open-1000-models-of-200", values, "s", beside / 1e9,
          "reading-the-model-files");
}

int main(void)
{
    char dir[] = "/tmp/orrery-bench-XXXXXX", command[64];
    struct orr_sampling_options where = {.perf_model_dir = dir};
    struct orr_sampling *sampling;

    if (!mkdtemp(dir) || orr_sampling_new(&where, &sampling))
        return EXIT_FAILURE;
    setenv("STARPU_SILENT", "1", 1);
    bench_feed(sampling);
    make_store(sampling);
    bench_open(sampling, dir);
    orr_sampling_free(sampling);
    snprintf(command, sizeof(command), "rm -r %s", dir);
    return system(command) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
