/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * examples/out_of_core.c - C = A B where main memory has no room for the three:
 * tiles without a home go to a disk and come back as tasks need them.
 *
 *   STARPU_LIMIT_CPU_MEM=12 out_of_core [-n TILES] [-disk DIRECTORY]
 *
 * A tile is 256 x 256 numbers, 512 KiB; 5 x 5 of them, three times, are 37 MiB.
 * Prints how much went to the disk, and checks the product.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>

enum { TILE = 256, MAX_TILES = 64 };

/* -- kernels -- */

/* A number that is small and different everywhere. */
static double entry(unsigned which, size_t row, size_t column)
{
    return (double)((row * 31 + column * 17 + which * 7) % 13) - 6;
}

/* Of which matrix and where a tile is. */
struct place {
    unsigned which, row, column;
};

static void fill(void *buffers[], void *arg)
{
    double *tile = (double *)STARPU_MATRIX_GET_PTR(buffers[0]);
    struct place at;

    starpu_codelet_unpack_args(arg, &at);
    for (size_t i = 0; i < TILE; i++)
        for (size_t j = 0; j < TILE; j++)
            tile[i * TILE + j] =
                at.which == 2 ? 0
                              : entry(at.which, at.row * TILE + i,
                                      at.column * TILE + j);
}

static void multiply(void *buffers[], void *arg)
{
    const double *a = (double *)STARPU_MATRIX_GET_PTR(buffers[0]);
    const double *b = (double *)STARPU_MATRIX_GET_PTR(buffers[1]);
    double *c = (double *)STARPU_MATRIX_GET_PTR(buffers[2]);

    (void)arg;
    for (size_t i = 0; i < TILE; i++)
        for (size_t k = 0; k < TILE; k++)
            for (size_t j = 0; j < TILE; j++)
                c[i * TILE + j] += a[i * TILE + k] * b[k * TILE + j];
}

static struct starpu_perfmodel fill_model = {
    .type = STARPU_HISTORY_BASED,
    .symbol = "out_of_core_fill",
};
static struct starpu_codelet cl_fill = {
    .cpu_funcs = {fill},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .model = &fill_model,
    .name = "fill",
};

static struct starpu_perfmodel multiply_model = {
    .type = STARPU_HISTORY_BASED,
    .symbol = "out_of_core_multiply",
};
static struct starpu_codelet cl_multiply = {
    .cpu_funcs = {multiply},
    .nbuffers = 3,
    .modes = {STARPU_R, STARPU_R, STARPU_RW},
    .model = &multiply_model,
    .name = "multiply",
};

/* -- the product -- */

static starpu_data_handle_t tiles[3][MAX_TILES][MAX_TILES];

static void check(int rc, const char *call)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s: %s\n", call, strerror(-rc));
    exit(1);
}

static void make_tiles(unsigned n)
{
    for (unsigned which = 0; which < 3; which++)
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = 0; j < n; j++) {
                struct place at = {which, i, j};

                starpu_matrix_data_register(&tiles[which][i][j], -1, 0, TILE,
                                            TILE, TILE, sizeof(double));
                check(starpu_task_insert(&cl_fill, STARPU_W, tiles[which][i][j],
                                         STARPU_VALUE, &at, sizeof(at), 0),
                      "starpu_task_insert");
            }
}

static void submit_product(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            for (unsigned k = 0; k < n; k++)
                check(starpu_task_insert(&cl_multiply, STARPU_R, tiles[0][i][k],
                                         STARPU_R, tiles[1][k][j], STARPU_RW,
                                         tiles[2][i][j], 0),
                      "starpu_task_insert");
}

/* A few numbers of each tile; they are whole, so that sums are exact. */
static unsigned wrong_in(unsigned n, unsigned row, unsigned column)
{
    const double *tile;
    unsigned wrong = 0;

    check(starpu_data_acquire(tiles[2][row][column], STARPU_R),
          "starpu_data_acquire");
    tile = starpu_data_get_local_ptr(tiles[2][row][column]);
    for (size_t i = 0; i < TILE; i += 51) {
        size_t r = row * (size_t)TILE + i, c = column * (size_t)TILE + i;
        double sum = 0;

        for (size_t k = 0; k < (size_t)n * TILE; k++)
            sum += entry(0, r, k) * entry(1, k, c);
        wrong += tile[i * TILE + i] != sum;
    }
    starpu_data_release(tiles[2][row][column]);
    return wrong;
}

static unsigned check_product(unsigned n)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++)
            wrong += wrong_in(n, i, j);
    return wrong;
}

static void free_tiles(unsigned n)
{
    for (unsigned which = 0; which < 3; which++)
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = 0; j < n; j++)
                starpu_data_unregister(tiles[which][i][j]);
}

int main(int argc, char **argv)
{
    static char usual[] = "/tmp/out-of-core";
    char *directory = usual;
    unsigned n = 5, wrong = 0;
    int disk;

    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "-n") == 0)
            n = (unsigned)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "-disk") == 0)
            directory = argv[i + 1];
    if (n < 1 || n > MAX_TILES) {
        fprintf(stderr, "-n: 1 to %d tiles\n", MAX_TILES);
        return 2;
    }
    check(starpu_init(NULL), "starpu_init");
    disk = starpu_disk_register(&starpu_disk_unistd_ops, directory, -1);
    check(disk, "starpu_disk_register");
    make_tiles(n);
    submit_product(n);
    check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    printf("matrices %.1f MiB, in main memory %.1f MiB, on the disk %.1f MiB\n",
           3.0 * n * n * TILE * TILE * sizeof(double) / 1048576,
           (double)starpu_memory_get_used(STARPU_MAIN_RAM) / 1048576,
           (double)starpu_memory_get_used((unsigned)disk) / 1048576);
    if (!orrery_is_simulated() || orrery_runs_kernels())
        wrong = check_product(n);
    free_tiles(n);
    starpu_shutdown();
    printf("%s\n", wrong ? "the product is wrong" : "the product is right");
    return wrong != 0;
}
