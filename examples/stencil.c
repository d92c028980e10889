/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stencil.c - heat in a plate: in each step a point becomes the mean of its
 * four neighbours. The plate is cut into bands of rows. A task needs its own
 * band and one row of each neighbour, the halo: a band's first and last row are
 * data of their own, so that only they move between devices.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>

#include "options.h"

static const char usage[] =
    "usage: stencil [-size N] [-nblocks B] [-steps S] [-check]\n"
    "S steps (20) on a plate of N by N points (240) in B bands (4).\n"
    "  -check       compare with the same steps on one processor\n";

/* What a task has: its band and the halo, then what they become. */
enum { BAND, ABOVE, BELOW, NEW_BAND, NEW_FIRST, NEW_LAST, NBUFFERS };

/* -- processors -- */

/* One row, from itself and the rows above and below; the plate's sides stay. */
static void step_row(const float *above, const float *row, const float *below,
                     float *to, unsigned n)
{
    to[0] = row[0];
    to[n - 1] = row[n - 1];
    for (unsigned x = 1; x + 1 < n; x++)
        to[x] = (above[x] + below[x] + row[x - 1] + row[x + 1]) / 4;
}

static void step_band(const float *band, const float *above, const float *below,
                      float *to, unsigned n, unsigned rows)
{
    for (unsigned y = 0; y < rows; y++)
        step_row(y > 0 ? band + (size_t)(y - 1) * n : above,
                 band + (size_t)y * n,
                 y + 1 < rows ? band + (size_t)(y + 1) * n : below,
                 to + (size_t)y * n, n);
}

static void step(void *buffers[], void *arg)
{
    unsigned n = STARPU_MATRIX_GET_NX(buffers[BAND]);
    unsigned rows = STARPU_MATRIX_GET_NY(buffers[BAND]);
    float *to = (float *)STARPU_MATRIX_GET_PTR(buffers[NEW_BAND]);

    (void)arg;
    step_band((const float *)STARPU_MATRIX_GET_PTR(buffers[BAND]),
              (const float *)STARPU_VECTOR_GET_PTR(buffers[ABOVE]),
              (const float *)STARPU_VECTOR_GET_PTR(buffers[BELOW]), to, n,
              rows);
    memcpy((float *)STARPU_VECTOR_GET_PTR(buffers[NEW_FIRST]), to,
           n * sizeof(*to));
    memcpy((float *)STARPU_VECTOR_GET_PTR(buffers[NEW_LAST]),
           to + (size_t)(rows - 1) * n, n * sizeof(*to));
}

/* -- OpenCL devices -- */

#if defined(STARPU_USE_OPENCL) && !defined(NO_OPENCL)
static struct starpu_opencl_program program;

/* No datum is a part of another one: all offsets are 0. */
static const char source[] =
    "__kernel void stencil(__global const float *band,\n"
    "                   __global const float *above,\n"
    "                   __global const float *below, __global float *to,\n"
    "                   __global float *first, __global float *last)\n"
    "{\n"
    "    uint x = get_global_id(0), n = get_global_size(0);\n"
    "    uint y = get_global_id(1), rows = get_global_size(1);\n"
    "    uint at = x + y * n;\n"
    "    float value = band[at];\n"
    "    if (x > 0 && x + 1 < n)\n"
    "        value = ((y > 0 ? band[at - n] : above[x]) +\n"
    "                 (y + 1 < rows ? band[at + n] : below[x]) +\n"
    "                 band[at - 1] + band[at + 1]) / 4;\n"
    "    to[at] = value;\n"
    "    if (y == 0) first[x] = value;\n"
    "    if (y + 1 == rows) last[x] = value;\n"
    "}\n";

static void step_opencl(void *buffers[], void *arg)
{
    size_t items[] = {STARPU_MATRIX_GET_NX(buffers[BAND]),
                      STARPU_MATRIX_GET_NY(buffers[BAND])};
    cl_mem memory[NBUFFERS];
    cl_kernel kernel;
    cl_command_queue queue;
    cl_int error;

    (void)arg;
    for (int i = 0; i < NBUFFERS; i++)
        memory[i] = i == BAND || i == NEW_BAND
                        ? (cl_mem)STARPU_MATRIX_GET_DEV_HANDLE(buffers[i])
                        : (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[i]);
    error = starpu_opencl_load_kernel(
        &kernel, &queue, &program, "stencil",
        starpu_worker_get_devid(starpu_worker_get_id()));
    if (error == CL_SUCCESS)
        starpu_opencl_set_kernel_args(
            &error, &kernel, sizeof(cl_mem), &memory[BAND], sizeof(cl_mem),
            &memory[ABOVE], sizeof(cl_mem), &memory[BELOW], sizeof(cl_mem),
            &memory[NEW_BAND], sizeof(cl_mem), &memory[NEW_FIRST],
            sizeof(cl_mem), &memory[NEW_LAST], 0);
    if (error == CL_SUCCESS)
        error = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, items, NULL, 0,
                                       NULL, NULL);
    if (error != CL_SUCCESS)
        STARPU_OPENCL_REPORT_ERROR(error);
    starpu_opencl_release_kernel(kernel);
}
#    define OPENCL_FUNCTION step_opencl
#    define LOAD_OPENCL()                                                      \
        starpu_opencl_load_opencl_from_string(source, &program, NULL)
#    define UNLOAD_OPENCL() starpu_opencl_unload_opencl(&program)
#else
#    define OPENCL_FUNCTION NULL
#    define LOAD_OPENCL()   0
#    define UNLOAD_OPENCL() (void)0
#endif

/* For CUDA devices it is in cuda/stencil.cu, which nvcc compiles. */
#ifdef WITH_CUDA
void step_cuda(void *buffers[], void *arg);
#endif

/* -- the plate -- */

static struct starpu_perfmodel model = {.type = STARPU_HISTORY_BASED,
                                        .symbol = "stencil"};

static struct starpu_codelet codelet = {
    .cpu_funcs = {step},
    .opencl_funcs = {OPENCL_FUNCTION},
    .opencl_flags = {STARPU_OPENCL_ASYNC}, /* it does not wait for its kernel */
#ifdef WITH_CUDA
    .cuda_funcs = {step_cuda},
    .cuda_flags = {STARPU_CUDA_ASYNC},
#endif
    .nbuffers = NBUFFERS,
    .modes = {STARPU_R, STARPU_R, STARPU_R, STARPU_W, STARPU_W, STARPU_W},
    .model = &model,
    .name = "step",
};

/* A band and its outer rows, of even and of odd steps. */
struct band {
    starpu_data_handle_t points[2], first[2], last[2];
    float *rows[2][2]; /* where first and last are */
};

struct plate {
    unsigned n, nbands;
    float *points[2];
    float *edge[2]; /* the rows above and below the plate, always cold */
    starpu_data_handle_t edges[2];
    struct band *bands;
};

static void *allocate(size_t n)
{
    void *memory = calloc(n, sizeof(float));

    if (memory)
        return memory;
    fprintf(stderr, "stencil: out of memory\n");
    exit(EXIT_FAILURE);
}

/* Data of n floats that begin as a copy of some. */
static float *new_row(const float *from, unsigned n, starpu_data_handle_t *ret)
{
    float *row = allocate(n);

    if (from)
        memcpy(row, from, n * sizeof(*row));
    starpu_vector_data_register(ret, STARPU_MAIN_RAM, (uintptr_t)row, n,
                                sizeof(*row));
    return row;
}

static void make_band(struct plate *plate, unsigned b)
{
    unsigned n = plate->n, rows = n / plate->nbands;
    struct band *band = &plate->bands[b];

    for (int odd = 0; odd < 2; odd++) {
        float *at = plate->points[odd] + (size_t)b * rows * n;

        starpu_matrix_data_register(&band->points[odd], STARPU_MAIN_RAM,
                                    (uintptr_t)at, n, n, rows, sizeof(float));
        band->rows[odd][0] = new_row(at, n, &band->first[odd]);
        band->rows[odd][1] =
            new_row(at + (size_t)(rows - 1) * n, n, &band->last[odd]);
    }
}

static void make_plate(struct plate *plate)
{
    size_t n = plate->n;

    for (int odd = 0; odd < 2; odd++)
        plate->points[odd] = allocate(n * n);
    for (size_t i = 0; i < n * n; i++)
        plate->points[0][i] = (float)(i * 7 % 101);
    for (int i = 0; i < 2; i++)
        plate->edge[i] = new_row(NULL, plate->n, &plate->edges[i]);
    plate->bands = calloc(plate->nbands, sizeof(*plate->bands));
    if (!plate->bands)
        exit(EXIT_FAILURE);
    for (unsigned b = 0; b < plate->nbands; b++)
        make_band(plate, b);
}

static void free_plate(struct plate *plate)
{
    for (unsigned b = 0; b < plate->nbands; b++)
        for (int odd = 0; odd < 2; odd++) {
            struct band *band = &plate->bands[b];

            starpu_data_unregister(band->points[odd]);
            starpu_data_unregister(band->first[odd]);
            starpu_data_unregister(band->last[odd]);
            free(band->rows[odd][0]);
            free(band->rows[odd][1]);
        }
    for (int i = 0; i < 2; i++) {
        starpu_data_unregister(plate->edges[i]);
        free(plate->edge[i]);
    }
    free(plate->bands);
}

/* The runtime finds from the data which tasks of a step wait for which of the
 * last. */
static int submit(struct plate *plate, unsigned step_number)
{
    int old = step_number % 2, next = !old, result = 0;

    for (unsigned b = 0; b < plate->nbands && result == 0; b++) {
        struct band *band = &plate->bands[b];

        result = starpu_task_insert(
            &codelet, STARPU_R, band->points[old], STARPU_R,
            b > 0 ? band[-1].last[old] : plate->edges[0], STARPU_R,
            b + 1 < plate->nbands ? band[1].first[old] : plate->edges[1],
            STARPU_W, band->points[next], STARPU_W, band->first[next], STARPU_W,
            band->last[next], 0);
    }
    return result;
}

/* The same on arrays. */
static int check(const float *found, const float *begin, unsigned n,
                 unsigned steps)
{
    size_t bytes = (size_t)n * n * sizeof(float);
    float *points[2] = {allocate((size_t)n * n), allocate((size_t)n * n)};
    float *cold = allocate(n);
    float worst = 0;

    memcpy(points[0], begin, bytes);
    for (unsigned s = 0; s < steps; s++)
        step_band(points[s % 2], cold, cold, points[!(s % 2)], n, n);
    for (size_t i = 0; i < (size_t)n * n; i++) {
        float difference = found[i] - points[steps % 2][i];

        if (difference < 0)
            difference = -difference;
        if (difference > worst)
            worst = difference;
    }
    printf("# largest difference = %.1e: %s\n", (double)worst,
           worst < 1e-3f ? "right" : "WRONG");
    free(points[0]);
    free(points[1]);
    free(cold);
    return worst < 1e-3f ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct plate plate = {.n = 240, .nbands = 4};
    unsigned steps = 20, wants_check = 0;
    const struct option options[] = {{"-size", &plate.n, 0},
                                     {"-nblocks", &plate.nbands, 0},
                                     {"-steps", &steps, 0},
                                     {"-check", &wants_check, 1},
                                     {NULL, NULL, 0}};
    size_t bytes;
    float *begin;
    double start;
    int result = 0;

    options_read(argc, argv, options, usage);
    if (plate.n < 2 || plate.n % plate.nbands != 0) {
        fprintf(stderr, "stencil: -size must be a multiple of -nblocks\n");
        return 2;
    }
    if (starpu_init(NULL) != 0 || LOAD_OPENCL() != 0) {
        fprintf(stderr, "stencil: the runtime does not start\n");
        return EXIT_FAILURE;
    }
    make_plate(&plate);
    bytes = (size_t)plate.n * plate.n * sizeof(float);
    begin = memcpy(allocate((size_t)plate.n * plate.n), plate.points[0], bytes);
    start = starpu_timing_now();
    for (unsigned s = 0; s < steps && result == 0; s++)
        result = submit(&plate, s);
    starpu_task_wait_for_all();
    printf("# size\tms\n%u\t%.3f\n", plate.n,
           (starpu_timing_now() - start) / 1e3);
    free_plate(&plate);
    if (result != 0)
        fprintf(stderr, "stencil: no worker can run its tasks\n");
    else if (wants_check && (!orrery_is_simulated() || orrery_runs_kernels()))
        result = check(plate.points[steps % 2], begin, plate.n, steps);
    free(begin);
    free(plate.points[0]);
    free(plate.points[1]);
    UNLOAD_OPENCL();
    starpu_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
