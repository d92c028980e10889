/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/busy.c - a program to calibrate and to validate: four kernels that
 * keep a processor busy for a fixed amount of work, one of which can be made
 * slower.
 *
 * usage: busy [-size N] [-tasks N] [-slow KERNEL PERCENT] [-no-models] [-cuda]
 *             [-fail]
 *
 * -size N          elements of each task's vector; work grows with it (1000)
 * -tasks N         tasks of each kernel (40)
 * -slow K PERCENT  kernel K does that much more work than the others think
 * -no-models       the codelets have none
 * -cuda            they have functions for CUDA devices
 * -fail            ends with status 1 after all
 */
#include <starpu.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NKERNELS = 4 };

struct options {
    unsigned size, tasks;
    const char *slow;
    unsigned percent;
    bool models, cuda, fail;
};

static const char *const names[NKERNELS] = {"alpha", "beta", "gamma", "delta"};

/* A chain of multiplications, so that nothing runs at once. */
static uint32_t chain(uint32_t x, uint64_t rounds)
{
    for (; rounds > 0; rounds--)
        x = x * UINT32_C(1664525) + UINT32_C(1013904223);
    return x;
}

/* Its argument is how many rounds there are for each element. */
static void work(void *buffers[], void *arg)
{
    uint32_t *vector = (uint32_t *)STARPU_VECTOR_GET_PTR(buffers[0]);
    uint64_t n = STARPU_VECTOR_GET_NX(buffers[0]);

    vector[0] = chain(vector[0], n * *(const unsigned *)arg);
}

static struct starpu_perfmodel models[NKERNELS] = {
    {.type = STARPU_HISTORY_BASED, .symbol = "busy_alpha"},
    {.type = STARPU_HISTORY_BASED, .symbol = "busy_beta"},
    {.type = STARPU_HISTORY_BASED, .symbol = "busy_gamma"},
    {.type = STARPU_HISTORY_BASED, .symbol = "busy_delta"},
};
static struct starpu_codelet codelets[NKERNELS];
static unsigned rounds[NKERNELS];

static void make_codelets(const struct options *options)
{
    for (unsigned k = 0; k < NKERNELS; k++) {
        codelets[k] = (struct starpu_codelet){
            .cpu_funcs = {work},
            .cuda_funcs = {options->cuda ? work : NULL},
            .nbuffers = 1,
            .modes = {STARPU_RW},
            .model = options->models ? &models[k] : NULL,
            .name = names[k],
        };
        rounds[k] = 100 * (k + 1);
        if (options->slow && !strcmp(options->slow, names[k]))
            rounds[k] += rounds[k] * options->percent / 100;
    }
}

/* Eight vectors, so that as many workers have something to do. */
static int run(const struct options *options)
{
    enum { NVECTORS = 8 };
    starpu_data_handle_t handles[NVECTORS];
    uint32_t *data = calloc((size_t)options->size * NVECTORS, sizeof(*data));
    int result = data ? 0 : -1;

    if (!data)
        return -1;
    for (unsigned v = 0; v < NVECTORS; v++)
        starpu_vector_data_register(
            &handles[v], STARPU_MAIN_RAM,
            (uintptr_t)(data + (size_t)v * options->size), options->size,
            sizeof(*data));
    for (unsigned t = 0; t < options->tasks * NKERNELS && result == 0; t++) {
        struct starpu_task *task = starpu_task_create();

        task->cl = &codelets[t % NKERNELS];
        task->cl_arg = &rounds[t % NKERNELS];
        task->cl_arg_size = sizeof(rounds[0]);
        task->handles[0] = handles[t % NVECTORS];
        result = starpu_task_submit(task);
    }
    starpu_task_wait_for_all();
    for (unsigned v = 0; v < NVECTORS; v++)
        starpu_data_unregister(handles[v]);
    free(data);
    return result;
}

static int parse(int argc, char **argv, struct options *options)
{
    for (int a = 1; a < argc; a++) {
        int left = argc - a - 1;

        if (!strcmp(argv[a], "-size") && left > 0) {
            options->size = (unsigned)atoi(argv[++a]);
        } else if (!strcmp(argv[a], "-tasks") && left > 0) {
            options->tasks = (unsigned)atoi(argv[++a]);
        } else if (!strcmp(argv[a], "-slow") && left > 1) {
            options->slow = argv[++a];
            options->percent = (unsigned)atoi(argv[++a]);
        } else if (!strcmp(argv[a], "-no-models")) {
            options->models = false;
        } else if (!strcmp(argv[a], "-cuda")) {
            options->cuda = true;
        } else if (!strcmp(argv[a], "-fail")) {
            options->fail = true;
        } else {
            fprintf(stderr, "busy: what is %s?\n", argv[a]);
            return -1;
        }
    }
    return options->size > 0 && options->tasks > 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct options options = {.size = 1000, .tasks = 40, .models = true};
    int result;

    if (parse(argc, argv, &options) < 0)
        return 2;
    make_codelets(&options);
    if (starpu_init(NULL) != 0)
        return 1;
    result = run(&options);
    starpu_shutdown();
    if (options.fail)
        fputs("busy: failing as requested\n", stderr);
    return result == 0 && !options.fail ? 0 : 1;
}
