/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels.c - see kernels.h. The functions run on worker threads, each on the
 * tiles of its own task only.
 *
 * There are no functions for devices, and `where` stays 0: a simulated GPU takes
 * a codelet when its performance model has times for that GPU.
 */
#include "kernels.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tiles.h"

#define TILE(buffer) ((float *)STARPU_MATRIX_GET_PTR(buffer))
#define ROWS(buffer) ((int)STARPU_MATRIX_GET_NX(buffer))
#define COLS(buffer) ((int)STARPU_MATRIX_GET_NY(buffer))
#define LD(buffer)   ((int)STARPU_MATRIX_GET_LD(buffer))

void kernels_single_thread(void)
{
    openblas_set_num_threads(1);
}

/* Gauss' elimination in the first `ncols` columns of `nrows` rows. */
static void eliminate(float *a, int ld, int nrows, int ncols)
{
    for (int k = 0; k < ncols; k++) {
        float *pivot = a + k + (size_t)k * (size_t)ld;

        cblas_sscal(nrows - k - 1, 1 / *pivot, pivot + 1, 1);
        cblas_sger(CblasColMajor, nrows - k - 1, ncols - k - 1, -1.0f,
                   pivot + 1, 1, pivot + ld, ld, pivot + ld + 1, ld);
    }
}

/* A panel of columns at a time, then what is right of it. */
static void factorise(float *a, int ld, int n)
{
    const int width = 32;

    for (int k = 0; k < n; k += width) {
        int panel = n - k < width ? n - k : width, rest = n - k - panel;
        float *diagonal = a + k + (size_t)k * (size_t)ld;
        float *right = diagonal + (size_t)panel * (size_t)ld;

        eliminate(diagonal, ld, n - k, panel);
        cblas_strsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans,
                    CblasUnit, panel, rest, 1.0f, diagonal, ld, right, ld);
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rest, rest,
                    panel, -1.0f, diagonal + panel, ld, right, ld, 1.0f,
                    right + panel, ld);
    }
}

static void getrf(void *buffers[], void *arg)
{
    (void)arg;
    factorise(TILE(buffers[0]), LD(buffers[0]), ROWS(buffers[0]));
}

static void trsm_ll(void *buffers[], void *arg)
{
    (void)arg;
    cblas_strsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit,
                ROWS(buffers[1]), COLS(buffers[1]), 1.0f, TILE(buffers[0]),
                LD(buffers[0]), TILE(buffers[1]), LD(buffers[1]));
}

static void trsm_ru(void *buffers[], void *arg)
{
    (void)arg;
    cblas_strsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans,
                CblasNonUnit, ROWS(buffers[1]), COLS(buffers[1]), 1.0f,
                TILE(buffers[0]), LD(buffers[0]), TILE(buffers[1]),
                LD(buffers[1]));
}

static void gemm(void *buffers[], void *arg)
{
    (void)arg;
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ROWS(buffers[2]),
                COLS(buffers[2]), COLS(buffers[0]), -1.0f, TILE(buffers[0]),
                LD(buffers[0]), TILE(buffers[1]), LD(buffers[1]), 1.0f,
                TILE(buffers[2]), LD(buffers[2]));
}

/* The heavy diagonal makes pivots needless. */
static void fill(float *tile, unsigned ld, unsigned nx, unsigned ny, unsigned i,
                 unsigned j, unsigned order)
{
    for (unsigned y = 0; y < ny; y++)
        for (unsigned x = 0; x < nx; x++) {
            unsigned row = i * nx + x, column = j * ny + y;

            tile[x + (size_t)y * ld] = tiles_noise(row, column) +
                                       (row == column ? (float)order : 0.0f);
        }
}

static void init(void *buffers[], void *arg)
{
    int i, j, order;

    starpu_codelet_unpack_args(arg, &i, &j, &order);
    fill(TILE(buffers[0]), (unsigned)LD(buffers[0]), (unsigned)ROWS(buffers[0]),
         (unsigned)COLS(buffers[0]), (unsigned)i, (unsigned)j, (unsigned)order);
}

/* The factors, as kernels_residual goes through them. */
struct factors {
    const float *matrix;
    unsigned order, tile;
    float *difference, *product; /* a tile each */
};

static const float *factor(const struct factors *f, unsigned i, unsigned j)
{
    return f->matrix + (size_t)i * f->tile +
           (size_t)j * f->tile * (size_t)f->order;
}

/* Subtracts the last product of tile (i,j), which has a triangle in it. */
static void subtract_last(const struct factors *f, unsigned i, unsigned j)
{
    int n = (int)f->tile, ld = (int)f->order;
    unsigned k = i < j ? i : j;

    for (unsigned y = 0; y < f->tile; y++) {
        memcpy(f->product + (size_t)y * f->tile,
               factor(f, i, j) + (size_t)y * f->order, f->tile * sizeof(float));
        /* On the diagonal: what is below it belongs to L. */
        for (unsigned x = y + 1; i == j && x < f->tile; x++)
            f->product[x + (size_t)y * f->tile] = 0;
    }
    if (i <= j)
        cblas_strmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans,
                    CblasUnit, n, n, 1.0f, factor(f, k, k), ld, f->product, n);
    else
        cblas_strmm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans,
                    CblasNonUnit, n, n, 1.0f, factor(f, k, k), ld, f->product,
                    n);
    cblas_saxpy(n * n, -1.0f, f->product, 1, f->difference, 1);
}

static double square(const struct factors *f)
{
    double sum = 0;

    for (size_t e = 0; e < (size_t)f->tile * f->tile; e++)
        sum += (double)f->difference[e] * (double)f->difference[e];
    return sum;
}

/* Adds the squares of A(i,j) and of A(i,j) − (L·U)(i,j). */
static void residual_of_tile(const struct factors *f, unsigned i, unsigned j,
                             double *difference, double *norm)
{
    int n = (int)f->tile, ld = (int)f->order;

    fill(f->difference, f->tile, f->tile, f->tile, i, j, f->order);
    *norm += square(f);
    for (unsigned k = 0; k < i && k < j; k++)
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1.0f,
                    factor(f, i, k), ld, factor(f, k, j), ld, 1.0f,
                    f->difference, n);
    subtract_last(f, i, j);
    *difference += square(f);
}

double kernels_residual(const float *matrix, unsigned order, unsigned tile)
{
    size_t bytes = (size_t)tile * tile * sizeof(float);
    struct factors f = {.matrix = matrix,
                        .order = order,
                        .tile = tile,
                        .difference = malloc(bytes),
                        .product = malloc(bytes)};
    double difference = 0, norm = 0, result = (double)NAN;

    if (f.difference && f.product) {
        for (unsigned j = 0; j < order / tile; j++)
            for (unsigned i = 0; i < order / tile; i++)
                residual_of_tile(&f, i, j, &difference, &norm);
        result = sqrt(difference / norm);
    }
    free(f.difference);
    free(f.product);
    return result;
}

#define MODEL(kernel)                                                          \
    static struct starpu_perfmodel kernel##_model = {                          \
        .type = STARPU_HISTORY_BASED,                                          \
        .symbol = "starpu_slu_lu_model_" #kernel}

MODEL(getrf);
MODEL(trsm_ll);
MODEL(trsm_ru);
MODEL(gemm);

struct starpu_codelet cl_getrf = {
    .cpu_funcs = {getrf},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &getrf_model,
    .name = "getrf",
};

struct starpu_codelet cl_trsm_ll = {
    .cpu_funcs = {trsm_ll},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 2,
    .modes = {STARPU_R, STARPU_RW},
    .model = &trsm_ll_model,
    .name = "trsm_ll",
};

struct starpu_codelet cl_trsm_ru = {
    .cpu_funcs = {trsm_ru},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 2,
    .modes = {STARPU_R, STARPU_RW},
    .model = &trsm_ru_model,
    .name = "trsm_ru",
};

struct starpu_codelet cl_gemm = {
    .cpu_funcs = {gemm},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 3,
    .modes = {STARPU_R, STARPU_R, STARPU_RW},
    .model = &gemm_model,
    .name = "gemm",
};

/* Without a model. Its flag lets a simulation that runs kernels call it: it
 * then takes no virtual time. */
struct starpu_codelet cl_init = {
    .cpu_funcs = {init},
    .flags = STARPU_CODELET_SIMGRID_EXECUTE,
    .nbuffers = 1,
    .modes = {STARPU_W},
    .name = "init",
};
