/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/golden/tiles.c - the tasks of dense tile algorithms, as libraries of linear
 * algebra submit them: kernels named as BLAS and LAPACK name them, a performance model
 * under each name, priorities by the distance from the end. Nothing is computed: for
 * simulations only.
 *
 *     tiles ALGORITHM PRECISION NTILES TILE
 *
 * ALGORITHM is potrf, geqrf, getrf_nopiv, gemm or potri; PRECISION s or d.
 */
#include <starpu.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INNER = 48 }; /* rows of the factors of reflectors */

enum kernel {
    GEMM, SYMM, SYRK, TRMM, TRSM, TRTRI, LAUUM, POTRF, GETRF, GEQRT, ORMQR, TPQRT, TPMQRT,
    LACPY, LASET, PLGSY, PLRNT, NKERNELS
};

static const struct {
    const char *name;
    bool on_gpu;
    enum starpu_data_access_mode modes[6]; /* ends with 0 */
} kernels[NKERNELS] = {
    [GEMM] = {"gemm", true, {STARPU_R, STARPU_R, STARPU_RW}},
    [SYMM] = {"symm", true, {STARPU_R, STARPU_R, STARPU_RW}},
    [SYRK] = {"syrk", true, {STARPU_R, STARPU_RW}},
    [TRMM] = {"trmm", true, {STARPU_R, STARPU_RW}},
    [TRSM] = {"trsm", true, {STARPU_R, STARPU_RW}},
    [TRTRI] = {"trtri", false, {STARPU_RW}},
    [LAUUM] = {"lauum", false, {STARPU_RW}},
    [POTRF] = {"potrf", false, {STARPU_RW}},
    [GETRF] = {"getrf_nopiv", false, {STARPU_RW}},
    [GEQRT] = {"geqrt", false, {STARPU_RW, STARPU_W, STARPU_SCRATCH}},
    [ORMQR] = {"ormqr", true, {STARPU_R, STARPU_R, STARPU_RW, STARPU_SCRATCH}},
    [TPQRT] = {"tpqrt", false, {STARPU_RW, STARPU_RW, STARPU_W, STARPU_SCRATCH}},
    [TPMQRT] = {"tpmqrt", true,
                {STARPU_R, STARPU_R, STARPU_RW, STARPU_RW, STARPU_SCRATCH}},
    [LACPY] = {"lacpy", false, {STARPU_R, STARPU_W}},
    [LASET] = {"laset", false, {STARPU_W}},
    [PLGSY] = {"plgsy", false, {STARPU_W}},
    [PLRNT] = {"plrnt", false, {STARPU_W}},
};

static struct starpu_codelet codelets[NKERNELS];
static struct starpu_perfmodel models[NKERNELS];
static char names[NKERNELS][16];
static int ntiles, tile;
static size_t element;
static starpu_data_handle_t scratch;

struct matrix {
    starpu_data_handle_t *tiles; /* ntiles * ntiles, owned */
    int rows;                    /* of a tile */
};

static void not_computed(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
    abort();
}

static void make_codelets(char precision)
{
    for (int k = 0; k < NKERNELS; k++) {
        struct starpu_codelet *cl = &codelets[k];

        (void)snprintf(names[k], sizeof(names[k]), "%c%s", precision, kernels[k].name);
        models[k] = (struct starpu_perfmodel){.type = STARPU_HISTORY_BASED,
                                              .symbol = names[k]};
        *cl = (struct starpu_codelet){
            .name = names[k], .model = &models[k], .cpu_funcs = {not_computed}};
        if (kernels[k].on_gpu)
            cl->cuda_funcs[0] = not_computed;
        while (kernels[k].modes[cl->nbuffers] != 0) {
            cl->modes[cl->nbuffers] = kernels[k].modes[cl->nbuffers];
            cl->nbuffers++;
        }
    }
}

static void task(enum kernel kernel, int priority, starpu_data_handle_t a,
                 starpu_data_handle_t b, starpu_data_handle_t c, starpu_data_handle_t d)
{
    starpu_data_handle_t data[] = {a, b, c, d, NULL};
    struct starpu_task *made = starpu_task_create();
    int n = 0;

    made->cl = &codelets[kernel];
    made->priority = priority;
    while (data[n]) {
        made->handles[n] = data[n];
        n++;
    }
    if (n < codelets[kernel].nbuffers)
        made->handles[n++] = scratch;
    STARPU_CHECK_RETURN_VALUE(starpu_task_submit(made), "starpu_task_submit");
}

static struct matrix matrix_new(int rows)
{
    struct matrix m = {calloc((size_t)(ntiles * ntiles), sizeof(*m.tiles)), rows};

    for (int i = 0; i < ntiles * ntiles; i++)
        starpu_matrix_data_register(&m.tiles[i], -1, 0, (uint32_t)rows, (uint32_t)rows,
                                    (uint32_t)tile, element);
    return m;
}

static void matrix_done(struct matrix *m)
{
    for (int i = 0; i < ntiles * ntiles; i++)
        starpu_data_unregister_submit(m->tiles[i]);
    free(m->tiles);
}

static starpu_data_handle_t at(const struct matrix *m, int i, int j)
{
    return m->tiles[i * ntiles + j];
}

static void fill(enum kernel with, const struct matrix *m)
{
    for (int j = 0; j < ntiles; j++)
        for (int i = with == PLGSY ? j : 0; i < ntiles; i++)
            task(with, 0, at(m, i, j), NULL, NULL, NULL);
}

static void potrf(const struct matrix *a)
{
    for (int k = 0; k < ntiles; k++) {
        task(POTRF, 2 * (ntiles - k), at(a, k, k), NULL, NULL, NULL);
        for (int m = k + 1; m < ntiles; m++)
            task(TRSM, 2 * (ntiles - k) - m, at(a, k, k), at(a, m, k), NULL, NULL);
        for (int n = k + 1; n < ntiles; n++) {
            task(SYRK, 2 * (ntiles - k) - n, at(a, n, k), at(a, n, n), NULL, NULL);
            for (int m = n + 1; m < ntiles; m++)
                task(GEMM, 2 * (ntiles - k) - n - m, at(a, m, k), at(a, n, k),
                     at(a, m, n), NULL);
        }
    }
}

/* The inverse of what potrf has left: of the triangle, then its product with itself. */
static void potri(const struct matrix *a)
{
    potrf(a);
    for (int k = 0; k < ntiles; k++) {
        for (int m = k + 1; m < ntiles; m++)
            task(TRSM, 0, at(a, k, k), at(a, m, k), NULL, NULL);
        for (int m = k + 1; m < ntiles; m++)
            for (int n = 0; n < k; n++)
                task(GEMM, 0, at(a, m, k), at(a, k, n), at(a, m, n), NULL);
        for (int n = 0; n < k; n++)
            task(TRSM, 0, at(a, k, k), at(a, k, n), NULL, NULL);
        task(TRTRI, 0, at(a, k, k), NULL, NULL, NULL);
    }
    for (int k = 0; k < ntiles; k++) {
        for (int n = 0; n < k; n++) {
            task(SYRK, 0, at(a, k, n), at(a, n, n), NULL, NULL);
            for (int m = n + 1; m < k; m++)
                task(GEMM, 0, at(a, k, m), at(a, k, n), at(a, m, n), NULL);
        }
        for (int n = 0; n < k; n++)
            task(TRMM, 0, at(a, k, k), at(a, k, n), NULL, NULL);
        task(LAUUM, 0, at(a, k, k), NULL, NULL, NULL);
    }
}

static void getrf_nopiv(const struct matrix *a)
{
    for (int k = 0; k < ntiles; k++) {
        task(GETRF, 2 * (ntiles - k), at(a, k, k), NULL, NULL, NULL);
        for (int m = k + 1; m < ntiles; m++)
            task(TRSM, 2 * (ntiles - k) - m, at(a, k, k), at(a, m, k), NULL, NULL);
        for (int n = k + 1; n < ntiles; n++) {
            task(TRSM, 2 * (ntiles - k) - n, at(a, k, k), at(a, k, n), NULL, NULL);
            for (int m = k + 1; m < ntiles; m++)
                task(GEMM, 2 * (ntiles - k) - n - m, at(a, m, k), at(a, k, n),
                     at(a, m, n), NULL);
        }
    }
}

/* A flat tree: each tile of a column is eliminated by the diagonal's, one after the
 * other; the diagonal's reflectors are copied, so that both can be used at once. */
static void geqrf(const struct matrix *a)
{
    struct matrix factors = matrix_new(INNER), copies = matrix_new(tile);

    for (int k = 0; k < ntiles; k++) {
        int priority = 2 * (ntiles - k);

        task(GEQRT, priority, at(a, k, k), at(&factors, k, k), NULL, NULL);
        if (k < ntiles - 1) {
            task(LACPY, priority, at(a, k, k), at(&copies, k, k), NULL, NULL);
            task(LASET, priority, at(&copies, k, k), NULL, NULL, NULL);
        }
        for (int n = k + 1; n < ntiles; n++)
            task(ORMQR, priority - n, at(&copies, k, k), at(&factors, k, k),
                 at(a, k, n), NULL);
        for (int m = k + 1; m < ntiles; m++) {
            task(TPQRT, priority - m, at(a, k, k), at(a, m, k), at(&factors, m, k),
                 NULL);
            for (int n = k + 1; n < ntiles; n++)
                task(TPMQRT, priority - m - n, at(a, m, k), at(&factors, m, k),
                     at(a, k, n), at(a, m, n));
        }
    }
    matrix_done(&copies);
    matrix_done(&factors);
}

static void gemm(const struct matrix *c)
{
    struct matrix a = matrix_new(tile), b = matrix_new(tile);

    fill(PLRNT, &a);
    fill(PLRNT, &b);
    for (int m = 0; m < ntiles; m++)
        for (int n = 0; n < ntiles; n++)
            for (int k = 0; k < ntiles; k++)
                task(GEMM, 0, at(&a, m, k), at(&b, k, n), at(c, m, n), NULL);
    for (int m = 0; m < ntiles; m++)
        for (int n = m; n < ntiles; n++)
            task(SYMM, 0, at(&a, m, m), at(&b, m, n), at(c, m, n), NULL);
    matrix_done(&b);
    matrix_done(&a);
}

static const struct {
    const char *name;
    enum kernel with; /* fills the matrix */
    void (*submit)(const struct matrix *);
} algorithms[] = {
    {"potrf", PLGSY, potrf}, {"potri", PLGSY, potri}, {"geqrf", PLRNT, geqrf},
    {"getrf_nopiv", PLRNT, getrf_nopiv}, {"gemm", PLRNT, gemm},
};

int main(int argc, char **argv)
{
    unsigned which = 0;
    struct matrix a;
    double start;

    while (argc == 5 && which < 5 && strcmp(argv[1], algorithms[which].name) != 0)
        which++;
    if (argc != 5 || which == 5) {
        (void)fputs("usage: tiles ALGORITHM s|d NTILES TILE\n", stderr);
        return 2;
    }
    element = argv[2][0] == 's' ? 4 : 8;
    ntiles = atoi(argv[3]);
    tile = atoi(argv[4]);
    if (starpu_init(NULL) != 0)
        return 1;
    make_codelets(argv[2][0]);
    starpu_matrix_data_register(&scratch, -1, 0, (uint32_t)(3 * INNER * tile) * (uint32_t)element,
                                (uint32_t)(3 * INNER * tile) * (uint32_t)element, 1, 1);
    a = matrix_new(tile);
    fill(algorithms[which].with, &a);
    starpu_task_wait_for_all();
    start = starpu_timing_now();
    algorithms[which].submit(&a);
    starpu_task_wait_for_all();
    printf("%.6f s\n", (starpu_timing_now() - start) / 1e6);
    matrix_done(&a);
    starpu_data_unregister(scratch);
    starpu_shutdown();
    return 0;
}
