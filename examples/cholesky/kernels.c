/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernels.c - see kernels.h. The functions run on worker threads, each on the
 * tiles of its own task only.
 *
 * There are no CUDA functions here, and `where` stays 0: a simulated GPU takes
 * a codelet when its performance model has times for that GPU. Those of OpenCL
 * devices are in kernels_opencl.c, which adds them where there are such devices, and
 * those by cuBLAS in ../cuda/cholesky.cu.
 */
#include "kernels.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tiles.h"

/* LAPACK's entry point, which OpenBLAS exports without a header. */
void spotrf_(const char *uplo, const int *n, float *a, const int *lda,
             int *info);

#define TILE(buffer) ((float *)STARPU_MATRIX_GET_PTR(buffer))
#define ROWS(buffer) ((int)STARPU_MATRIX_GET_NX(buffer))
#define COLS(buffer) ((int)STARPU_MATRIX_GET_NY(buffer))
#define LD(buffer)   ((int)STARPU_MATRIX_GET_LD(buffer))

void kernels_single_thread(void)
{
    openblas_set_num_threads(1);
}

static void potrf(void *buffers[], void *arg)
{
    int n = ROWS(buffers[0]), ld = LD(buffers[0]), info = 0;

    (void)arg;
    spotrf_("L", &n, TILE(buffers[0]), &ld, &info);
    if (info != 0) {
        fprintf(stderr,
                "cholesky: the matrix is not positive definite "
                "(spotrf says %d)\n",
                info);
        exit(EXIT_FAILURE);
    }
}

static void trsm(void *buffers[], void *arg)
{
    (void)arg;
    cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                ROWS(buffers[1]), COLS(buffers[1]), 1.0f, TILE(buffers[0]),
                LD(buffers[0]), TILE(buffers[1]), LD(buffers[1]));
}

static void syrk(void *buffers[], void *arg)
{
    (void)arg;
    cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, ROWS(buffers[1]),
                COLS(buffers[0]), -1.0f, TILE(buffers[0]), LD(buffers[0]), 1.0f,
                TILE(buffers[1]), LD(buffers[1]));
}

static void gemm(void *buffers[], void *arg)
{
    (void)arg;
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, ROWS(buffers[2]),
                COLS(buffers[2]), COLS(buffers[0]), -1.0f, TILE(buffers[0]),
                LD(buffers[0]), TILE(buffers[1]), LD(buffers[1]), 1.0f,
                TILE(buffers[2]), LD(buffers[2]));
}

static void init(void *buffers[], void *arg)
{
    int i, j, order;

    starpu_codelet_unpack_args(arg, &i, &j, &order);
    kernels_fill(TILE(buffers[0]), (unsigned)LD(buffers[0]),
                 (unsigned)ROWS(buffers[0]), (unsigned)COLS(buffers[0]),
                 (unsigned)i, (unsigned)j, (unsigned)order);
}

float kernels_element(unsigned i, unsigned j, unsigned order)
{
    unsigned low = i < j ? i : j, high = i < j ? j : i;

    return tiles_noise(high, low) + (i == j ? (float)order : 0.0f);
}

void kernels_fill(float *tile, unsigned ld, unsigned nx, unsigned ny,
                  unsigned i, unsigned j, unsigned order)
{
    for (unsigned y = 0; y < ny; y++)
        for (unsigned x = 0; x < nx; x++)
            tile[x + (size_t)y * ld] =
                kernels_element(i * nx + x, j * ny + y, order);
}

/* Adds the squares of A(i,j) and of A(i,j) − L(i,:)·L(j,:)ᵀ. */
static void residual_of_tile(const float *matrix, unsigned order, unsigned tile,
                             unsigned i, unsigned j, float *work,
                             double *difference, double *norm)
{
    size_t row = (size_t)i * tile, column = (size_t)j * tile;

    kernels_fill(work, tile, tile, tile, i, j, order);
    for (size_t e = 0; e < (size_t)tile * tile; e++)
        *norm += (double)work[e] * (double)work[e];
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)tile, (int)tile,
                (int)((j + 1) * tile), -1.0f, matrix + row, (int)order,
                matrix + column, (int)order, 1.0f, work, (int)tile);
    for (size_t e = 0; e < (size_t)tile * tile; e++)
        *difference += (double)work[e] * (double)work[e];
}

double kernels_residual(float *matrix, unsigned order, unsigned tile)
{
    float *work = malloc((size_t)tile * tile * sizeof(*work));
    double difference = 0, norm = 0;

    if (!work)
        return (double)NAN;
    for (size_t y = 1; y < order; y++)
        for (size_t x = 0; x < y; x++)
            matrix[x + y * order] = 0;
    for (unsigned j = 0; j < order / tile; j++)
        for (unsigned i = j; i < order / tile; i++)
            residual_of_tile(matrix, order, tile, i, j, work, &difference,
                             &norm);
    free(work);
    return sqrt(difference / norm);
}

static struct starpu_perfmodel potrf_model = {.type = STARPU_HISTORY_BASED,
                                              .symbol = "chol_model_potrf"};
static struct starpu_perfmodel trsm_model = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "chol_model_trsm"};
static struct starpu_perfmodel syrk_model = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "chol_model_syrk"};
static struct starpu_perfmodel gemm_model = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "chol_model_gemm"};

struct starpu_codelet cl_potrf = {
    .cpu_funcs = {potrf},
    .nbuffers = 1,
    .modes = {STARPU_RW},
    .model = &potrf_model,
    .name = "potrf",
};

struct starpu_codelet cl_trsm = {
    .cpu_funcs = {trsm},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 2,
    .modes = {STARPU_R, STARPU_RW},
    .model = &trsm_model,
    .name = "trsm",
};

struct starpu_codelet cl_syrk = {
    .cpu_funcs = {syrk},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 2,
    .modes = {STARPU_R, STARPU_RW},
    .model = &syrk_model,
    .name = "syrk",
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
