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
#define SIDE(buffer) ((int)STARPU_MATRIX_GET_NX(buffer))
#define LD(buffer)   ((int)STARPU_MATRIX_GET_LD(buffer))

void kernels_single_thread(void)
{
    openblas_set_num_threads(1);
}

static float *at(float *tile, int ld, int i, int j)
{
    return tile + i + (size_t)j * (size_t)ld;
}

/* Makes the reflector that takes (*first, x) to (beta, 0): *first becomes beta, x
 * what is below the one of v. Returns tau. */
static float reflector(float *first, float *x, int n)
{
    float norm = n > 0 ? cblas_snrm2(n, x, 1) : 0;
    float beta = -copysignf(hypotf(*first, norm), *first), tau;

    if (norm == 0)
        return 0;
    tau = (beta - *first) / beta;
    cblas_sscal(n, 1 / (*first - beta), x, 1);
    *first = beta;
    return tau;
}

/* Column j of T, from V' v of the columns before, which is in it. */
static void add_to_t(float *t, int ld, int j, float tau)
{
    cblas_sscal(j, -tau, at(t, ld, 0, j), 1);
    cblas_strmv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, j, t, ld,
                at(t, ld, 0, j), 1);
    *at(t, ld, j, j) = tau;
}

/* --- one tile --- */

static void geqrt(void *buffers[], void *arg)
{
    float *a = TILE(buffers[0]), *t = TILE(buffers[1]);
    int n = SIDE(buffers[0]), lda = LD(buffers[0]), ldt = LD(buffers[1]);

    (void)arg;
    for (int j = 0; j < n; j++) {
        int below = n - j - 1;
        float *v = at(a, lda, j + 1, j), *row = at(a, lda, j, j + 1);
        float *rest = at(a, lda, j + 1, j + 1);
        float *column = at(t, ldt, 0, j);
        float tau = reflector(at(a, lda, j, j), v, below);

        /* (I - tau v v') on the columns right of it, one by one: their part of
         * row j, and what is below. */
        for (int c = 0; c < below; c++) {
            float *x = at(rest, lda, 0, c), *first = at(row, lda, 0, c);
            float w = tau * (*first + cblas_sdot(below, v, 1, x, 1));

            *first -= w;
            cblas_saxpy(below, -w, v, 1, x, 1);
        }
        for (int i = 0; i < j; i++)
            column[i] = *at(a, lda, j, i);
        cblas_sgemv(CblasColMajor, CblasTrans, below, j, 1.0f,
                    at(a, lda, j + 1, 0), lda, v, 1, 1.0f, column, 1);
        add_to_t(t, ldt, j, tau);
    }
}

/* C becomes Q' C = C - V T' V' C. */
static void ormqr(void *buffers[], void *arg)
{
    const float *v = TILE(buffers[0]), *t = TILE(buffers[1]);
    float *c = TILE(buffers[2]), *w = TILE(buffers[3]);
    int n = SIDE(buffers[2]), ldv = LD(buffers[0]), ldt = LD(buffers[1]);
    int ldc = LD(buffers[2]), ldw = LD(buffers[3]);

    (void)arg;
    for (int j = 0; j < n; j++)
        memcpy(at(w, ldw, 0, j), at(c, ldc, 0, j), (size_t)n * sizeof(*c));
    cblas_strmm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasUnit, n,
                n, 1.0f, v, ldv, w, ldw);
    cblas_strmm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit,
                n, n, 1.0f, t, ldt, w, ldw);
    cblas_strmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit,
                n, n, 1.0f, v, ldv, w, ldw);
    for (int j = 0; j < n; j++)
        cblas_saxpy(n, -1.0f, at(w, ldw, 0, j), 1, at(c, ldc, 0, j), 1);
}

/* --- a triangle with a tile below --- */

static void tsqrt(void *buffers[], void *arg)
{
    float *r = TILE(buffers[0]), *a = TILE(buffers[1]), *t = TILE(buffers[2]);
    int n = SIDE(buffers[0]), ldr = LD(buffers[0]), lda = LD(buffers[1]);
    int ldt = LD(buffers[2]);

    (void)arg;
    for (int j = 0; j < n; j++) {
        float *v = at(a, lda, 0, j), *column = at(t, ldt, 0, j);
        float tau = reflector(at(r, ldr, j, j), v, n);

        for (int c = j + 1; c < n; c++) {
            float *x = at(a, lda, 0, c), *first = at(r, ldr, j, c);
            float w = tau * (*first + cblas_sdot(n, v, 1, x, 1));

            *first -= w;
            cblas_saxpy(n, -w, v, 1, x, 1);
        }
        cblas_sgemv(CblasColMajor, CblasTrans, n, j, 1.0f, a, lda, v, 1, 0.0f,
                    column, 1);
        add_to_t(t, ldt, j, tau);
    }
}

/* The upper C and the lower one, D: W = T' (C + V' D), then C - W and D - V W. */
static void tsmqr(void *buffers[], void *arg)
{
    const float *v = TILE(buffers[0]), *t = TILE(buffers[1]);
    float *c = TILE(buffers[2]), *d = TILE(buffers[3]), *w = TILE(buffers[4]);
    int n = SIDE(buffers[2]), ldv = LD(buffers[0]), ldt = LD(buffers[1]);
    int ldc = LD(buffers[2]), ldd = LD(buffers[3]), ldw = LD(buffers[4]);

    (void)arg;
    for (int j = 0; j < n; j++)
        memcpy(at(w, ldw, 0, j), at(c, ldc, 0, j), (size_t)n * sizeof(*c));
    cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, n, n, 1.0f, v, ldv,
                d, ldd, 1.0f, w, ldw);
    cblas_strmm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit,
                n, n, 1.0f, t, ldt, w, ldw);
    for (int j = 0; j < n; j++)
        cblas_saxpy(n, -1.0f, at(w, ldw, 0, j), 1, at(c, ldc, 0, j), 1);
    cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1.0f, v,
                ldv, w, ldw, 1.0f, d, ldd);
}

/* --- the matrix --- */

/* Columns that are far from dependent. */
static float element(unsigned i, unsigned j)
{
    return tiles_noise(i, j) - 0.5f + (i == j ? 4.0f : 0.0f);
}

static void init(void *buffers[], void *arg)
{
    float *tile = TILE(buffers[0]);
    unsigned n = (unsigned)SIDE(buffers[0]), ld = (unsigned)LD(buffers[0]);
    int i, j, order;

    starpu_codelet_unpack_args(arg, &i, &j, &order);
    for (unsigned y = 0; y < n; y++)
        for (unsigned x = 0; x < n; x++)
            tile[x + (size_t)y * ld] =
                element((unsigned)i * n + x, (unsigned)j * n + y);
}

/* The norm of a symmetric matrix of which only the upper half is there. */
static double norm(const float *a, unsigned n)
{
    double sum = 0;

    for (unsigned j = 0; j < n; j++)
        for (unsigned i = 0; i <= j; i++) {
            double x = (double)a[i + (size_t)j * n];

            sum += (i < j ? 2 : 1) * x * x;
        }
    return sqrt(sum);
}

double kernels_residual(const float *factor, unsigned order)
{
    size_t n = order;
    float *a = calloc(n * n, sizeof(*a)), *gram = calloc(n * n, sizeof(*a));
    double result = (double)NAN, whole;

    if (a && gram) {
        for (unsigned j = 0; j < order; j++)
            for (unsigned i = 0; i < order; i++)
                a[i + j * n] = element(i, j);
        cblas_ssyrk(CblasColMajor, CblasUpper, CblasTrans, (int)order,
                    (int)order, 1.0f, a, (int)order, 0.0f, gram, (int)order);
        whole = norm(gram, order);
        for (unsigned j = 0; j < order; j++)
            for (unsigned i = 0; i < order; i++)
                a[i + j * n] = i <= j ? factor[i + j * n] : 0;
        cblas_ssyrk(CblasColMajor, CblasUpper, CblasTrans, (int)order,
                    (int)order, -1.0f, a, (int)order, 1.0f, gram, (int)order);
        result = norm(gram, order) / whole;
    }
    free(a);
    free(gram);
    return result;
}

/* --- codelets --- */

#define MODEL(kernel)                                                          \
    static struct starpu_perfmodel kernel##_model = {                          \
        .type = STARPU_HISTORY_BASED, .symbol = "qr_model_" #kernel}

MODEL(geqrt);
MODEL(ormqr);
MODEL(tsqrt);
MODEL(tsmqr);

struct starpu_codelet cl_geqrt = {
    .cpu_funcs = {geqrt},
    .nbuffers = 2,
    .modes = {STARPU_RW, STARPU_W},
    .model = &geqrt_model,
    .name = "geqrt",
};

struct starpu_codelet cl_ormqr = {
    .cpu_funcs = {ormqr},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 4,
    .modes = {STARPU_R, STARPU_R, STARPU_RW, STARPU_SCRATCH},
    .model = &ormqr_model,
    .name = "ormqr",
};

struct starpu_codelet cl_tsqrt = {
    .cpu_funcs = {tsqrt},
    .nbuffers = 3,
    .modes = {STARPU_RW, STARPU_RW, STARPU_W},
    .model = &tsqrt_model,
    .name = "tsqrt",
};

struct starpu_codelet cl_tsmqr = {
    .cpu_funcs = {tsmqr},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 5,
    .modes = {STARPU_R, STARPU_R, STARPU_RW, STARPU_RW, STARPU_SCRATCH},
    .model = &tsmqr_model,
    .name = "tsmqr",
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
