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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tiles.h"

/* LAPACK's entry points, which OpenBLAS exports without a header. Fortran passes
 * the lengths of character arguments at the end. */
void sgeqrt_(const int *m, const int *n, const int *nb, float *a,
             const int *lda, float *t, const int *ldt, float *work, int *info);
void sgemqrt_(const char *side, const char *trans, const int *m, const int *n,
              const int *k, const int *nb, const float *v, const int *ldv,
              const float *t, const int *ldt, float *c, const int *ldc,
              float *work, int *info, size_t side_length, size_t trans_length);
void stpqrt_(const int *m, const int *n, const int *l, const int *nb, float *a,
             const int *lda, float *b, const int *ldb, float *t, const int *ldt,
             float *work, int *info);
void stpmqrt_(const char *side, const char *trans, const int *m, const int *n,
              const int *k, const int *l, const int *nb, const float *v,
              const int *ldv, const float *t, const int *ldt, float *a,
              const int *lda, float *b, const int *ldb, float *work, int *info,
              size_t side_length, size_t trans_length);

/* Tiles and their leading dimensions: square ones of order `n`, and `inner` rows
 * of T. */
struct place {
    float *at;
    int ld;
};

struct sizes {
    int n, inner;
};

void kernels_single_thread(void)
{
    openblas_set_num_threads(1);
}

unsigned kernels_inner(unsigned tile)
{
    return tile < 32 ? tile : 32;
}

static struct place place(void *buffer)
{
    return (struct place){(float *)STARPU_MATRIX_GET_PTR(buffer),
                          (int)STARPU_MATRIX_GET_LD(buffer)};
}

/* Of a square tile and of one of T. */
static struct sizes sizes(void *square, void *t)
{
    return (struct sizes){(int)STARPU_MATRIX_GET_NX(square),
                          (int)STARPU_MATRIX_GET_NX(t)};
}

/* LAPACK refuses nothing but arguments that are wrong. */
static void expect(const char *kernel, int info)
{
    if (info == 0)
        return;
    fprintf(stderr, "qr: argument %d of %s is wrong\n", -info, kernel);
    abort();
}

/* Applies the reflectors of one tile, for `trans` "T" or "N", to another. */
static void apply(const char *trans, struct sizes s, struct place v,
                  struct place t, struct place c, float *work)
{
    int info = 0;

    sgemqrt_("L", trans, &s.n, &s.n, &s.n, &s.inner, v.at, &v.ld, t.at, &t.ld,
             c.at, &c.ld, work, &info, 1, 1);
    expect("sgemqrt", info);
}

/* Applies the reflectors of a triangle on a square tile to two tiles, one above
 * the other. */
static void apply_pair(const char *trans, struct sizes s, struct place v,
                       struct place t, struct place upper, struct place lower,
                       float *work)
{
    int info = 0, no_triangle = 0;

    stpmqrt_("L", trans, &s.n, &s.n, &s.n, &no_triangle, &s.inner, v.at, &v.ld,
             t.at, &t.ld, upper.at, &upper.ld, lower.at, &lower.ld, work, &info,
             1, 1);
    expect("stpmqrt", info);
}

static void geqrt(void *buffers[], void *arg)
{
    struct place a = place(buffers[0]), t = place(buffers[1]);
    struct sizes s = sizes(buffers[0], buffers[1]);
    int info = 0;

    (void)arg;
    sgeqrt_(&s.n, &s.n, &s.inner, a.at, &a.ld, t.at, &t.ld,
            place(buffers[2]).at, &info);
    expect("sgeqrt", info);
}

static void ormqr(void *buffers[], void *arg)
{
    (void)arg;
    apply("T", sizes(buffers[0], buffers[1]), place(buffers[0]),
          place(buffers[1]), place(buffers[2]), place(buffers[3]).at);
}

static void tpqrt(void *buffers[], void *arg)
{
    struct place r = place(buffers[0]), a = place(buffers[1]),
                 t = place(buffers[2]);
    struct sizes s = sizes(buffers[0], buffers[2]);
    int info = 0, no_triangle = 0;

    (void)arg;
    stpqrt_(&s.n, &s.n, &no_triangle, &s.inner, r.at, &r.ld, a.at, &a.ld, t.at,
            &t.ld, place(buffers[3]).at, &info);
    expect("stpqrt", info);
}

static void tpmqrt(void *buffers[], void *arg)
{
    (void)arg;
    apply_pair("T", sizes(buffers[0], buffers[1]), place(buffers[0]),
               place(buffers[1]), place(buffers[2]), place(buffers[3]),
               place(buffers[4]).at);
}

static void init(void *buffers[], void *arg)
{
    struct place a = place(buffers[0]);
    unsigned n = (unsigned)STARPU_MATRIX_GET_NX(buffers[0]);
    int i, j, order;

    starpu_codelet_unpack_args(arg, &i, &j, &order);
    for (unsigned y = 0; y < n; y++)
        for (unsigned x = 0; x < n; x++)
            a.at[x + (size_t)y * (size_t)a.ld] =
                tiles_noise((unsigned)i * n + x, (unsigned)j * n + y);
}

/* The factors, as kernels_residual goes through them. */
struct factors {
    struct place matrix, t, product;
    struct sizes sizes;
    unsigned nblocks;
    float *work;
};

static struct place part(struct place whole, unsigned row, unsigned column)
{
    whole.at += row + (size_t)column * (size_t)whole.ld;
    return whole;
}

/* Tile (i,j) of the matrix, or of the product. */
static struct place square(const struct factors *f, struct place whole,
                           unsigned i, unsigned j)
{
    unsigned n = (unsigned)f->sizes.n;

    return part(whole, i * n, j * n);
}

static struct place t_tile(const struct factors *f, unsigned i, unsigned k)
{
    return part(f->t, i * (unsigned)f->sizes.inner, k * (unsigned)f->sizes.n);
}

/* The product begins as R: the upper triangle of the matrix. */
static void copy_r(const struct factors *f)
{
    unsigned order = f->nblocks * (unsigned)f->sizes.n;

    for (unsigned y = 0; y < order; y++)
        memcpy(part(f->product, 0, y).at, part(f->matrix, 0, y).at,
               (y + 1) * sizeof(float));
}

/* Q from the left: the reflectors in the reverse of their order. */
static void multiply_q(const struct factors *f)
{
    for (unsigned k = f->nblocks; k-- > 0;) {
        for (unsigned i = f->nblocks; --i > k;)
            for (unsigned j = k; j < f->nblocks; j++)
                apply_pair("N", f->sizes, square(f, f->matrix, i, k),
                           t_tile(f, i, k), square(f, f->product, k, j),
                           square(f, f->product, i, j), f->work);
        for (unsigned j = k; j < f->nblocks; j++)
            apply("N", f->sizes, square(f, f->matrix, k, k), t_tile(f, k, k),
                  square(f, f->product, k, j), f->work);
    }
}

/* Of the product to the matrix that was factorised. */
static double relative_distance(const struct factors *f)
{
    unsigned order = f->nblocks * (unsigned)f->sizes.n;
    double difference = 0, norm = 0;

    for (unsigned y = 0; y < order; y++)
        for (unsigned x = 0; x < order; x++) {
            double a = (double)tiles_noise(x, y);
            double off = a - (double)*part(f->product, x, y).at;

            norm += a * a;
            difference += off * off;
        }
    return sqrt(difference / norm);
}

double kernels_residual(float *matrix, float *t, unsigned order, unsigned tile)
{
    unsigned inner = kernels_inner(tile), nblocks = order / tile;
    float *product = calloc((size_t)order * order, sizeof(float));
    struct factors f = {
        .matrix = {matrix, (int)order},
        .t = {t, (int)(nblocks * inner)},
        .product = {product, (int)order},
        .sizes = {(int)tile, (int)inner},
        .nblocks = nblocks,
        .work = malloc((size_t)inner * tile * sizeof(float)),
    };
    double result = (double)NAN;

    if (product && f.work) {
        copy_r(&f);
        multiply_q(&f);
        result = relative_distance(&f);
    }
    free(product);
    free(f.work);
    return result;
}

#define MODEL(kernel)                                                          \
    static struct starpu_perfmodel kernel##_model = {                          \
        .type = STARPU_HISTORY_BASED, .symbol = "s" #kernel}

MODEL(geqrt);
MODEL(ormqr);
MODEL(tpqrt);
MODEL(tpmqrt);

struct starpu_codelet cl_geqrt = {
    .cpu_funcs = {geqrt},
    .nbuffers = 3,
    .modes = {STARPU_RW, STARPU_W, STARPU_SCRATCH},
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

struct starpu_codelet cl_tpqrt = {
    .cpu_funcs = {tpqrt},
    .nbuffers = 4,
    .modes = {STARPU_RW, STARPU_RW, STARPU_W, STARPU_SCRATCH},
    .model = &tpqrt_model,
    .name = "tpqrt",
};

struct starpu_codelet cl_tpmqrt = {
    .cpu_funcs = {tpmqrt},
    .cuda_flags = {STARPU_CUDA_ASYNC},
    .nbuffers = 5,
    .modes = {STARPU_R, STARPU_R, STARPU_RW, STARPU_RW, STARPU_SCRATCH},
    .model = &tpmqrt_model,
    .name = "tpmqrt",
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
