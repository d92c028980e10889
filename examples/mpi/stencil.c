/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stencil.c - heat in a square plate: each step, a point becomes the mean of the four
 * around it. The plate is cut into bands, and each band belongs to a rank.
 *
 * Here ranks insert their own tasks only, and send the messages themselves. Behind a step,
 * a band's first row goes to the band above and its last one to the band below: detached
 * messages, which take their place among the tasks of their data, so that nobody waits and
 * ranks are steps apart as the data let them.
 *
 * Bands may move. For the middle third of the steps they are dealt out to the ranks in
 * turn instead of in blocks, and then go back: starpu_mpi_data_migrate, called by all ranks
 * where it stands among the steps. A program would do so to balance its load.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu_mpi.h>

#include "../options.h"

static const char usage[] =
    "usage: mpirun -n RANKS stencil [-size N] [-nblocks B] [-steps S] [-stay] [-check]\n"
    "S steps (21) of heat in a plate of N by N points (240) in B bands (8).\n"
    "  -stay    bands stay with their ranks\n"
    "  -check   compare with one processor's result, on rank 0\n";

/* A band's data. The run allocates them where they are written first; no rank has memory
 * of its own for them. */
enum {
    POINTS,           /* of even steps */
    POINTS_ODD,       /* of odd steps */
    FIRST,            /* row, to be sent upwards */
    LAST,             /* row, to be sent downwards */
    ABOVE,            /* the last row of the band above */
    BELOW,            /* the first row of the band below */
    BAND_DATA
};

struct band {
    starpu_data_handle_t data[BAND_DATA];
    int owner;
};

struct plate {
    unsigned n, nbands;
    struct band *bands;
};

/* --- kernels --- */

static float begin(unsigned x, unsigned y, unsigned n)
{
    return (float)(((size_t)y * n + x) * 7 % 101);
}

static float at(const float *points, unsigned n, unsigned x)
{
    return x < n ? points[x] : 0; /* cold outside; -1 is large, too */
}

/* `rows` rows of n points, with the rows above and below them. */
static void step_rows(const float *from, const float *above, const float *below, float *to,
                      unsigned n, unsigned rows)
{
    for (unsigned y = 0; y < rows; y++) {
        const float *row = from + (size_t)y * n;
        const float *up = y > 0 ? row - n : above, *down = y + 1 < rows ? row + n : below;

        for (unsigned x = 0; x < n; x++)
            to[(size_t)y * n + x] = (at(row, n, x - 1) + at(row, n, x + 1) + up[x] +
                                     down[x]) / 4;
    }
}

static float *points_of(void *buffer)
{
    return (float *)STARPU_MATRIX_GET_PTR(buffer);
}

static float *row_of(void *buffer)
{
    return (float *)STARPU_VECTOR_GET_PTR(buffer);
}

static void copy_outer_rows(const float *points, unsigned n, unsigned rows, float *first,
                            float *last)
{
    memcpy(first, points, n * sizeof(*first));
    memcpy(last, points + (size_t)(rows - 1) * n, n * sizeof(*last));
}

static void step(void *buffers[], void *arg)
{
    unsigned n = STARPU_MATRIX_GET_NX(buffers[0]), rows = STARPU_MATRIX_GET_NY(buffers[0]);

    (void)arg;
    step_rows(points_of(buffers[0]), row_of(buffers[1]), row_of(buffers[2]),
              points_of(buffers[3]), n, rows);
    copy_outer_rows(points_of(buffers[3]), n, rows, row_of(buffers[4]),
                    row_of(buffers[5]));
}

static void init(void *buffers[], void *arg)
{
    unsigned n = STARPU_MATRIX_GET_NX(buffers[0]), rows = STARPU_MATRIX_GET_NY(buffers[0]);
    float *points = points_of(buffers[0]);
    unsigned band;

    starpu_codelet_unpack_args(arg, &band);
    for (unsigned y = 0; y < rows; y++)
        for (unsigned x = 0; x < n; x++)
            points[(size_t)y * n + x] = begin(x, band * rows + y, n);
    copy_outer_rows(points, n, rows, row_of(buffers[1]), row_of(buffers[2]));
}

static void cool(void *buffers[], void *arg)
{
    (void)arg;
    memset(row_of(buffers[0]), 0, STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(float));
}

/* By which a simulated run knows how long they take. */
static struct starpu_perfmodel step_model = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "stencil_mpi_step"};
static struct starpu_perfmodel init_model = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "stencil_mpi_init"};
static struct starpu_perfmodel cool_model = {.type = STARPU_HISTORY_BASED,
                                             .symbol = "stencil_mpi_cool"};

static struct starpu_codelet cl_step = {
    .cpu_funcs = {step},
    .nbuffers = 6,
    .modes = {STARPU_R, STARPU_R, STARPU_R, STARPU_W, STARPU_W, STARPU_W},
    .model = &step_model,
    .name = "step",
};
static struct starpu_codelet cl_init = {
    .cpu_funcs = {init},
    .nbuffers = 3,
    .modes = {STARPU_W, STARPU_W, STARPU_W},
    .model = &init_model,
    .name = "init",
};
static struct starpu_codelet cl_cool = {
    .cpu_funcs = {cool},
    .nbuffers = 1,
    .modes = {STARPU_W},
    .model = &cool_model,
    .name = "cool",
};

/* --- the plate --- */

static int block_owner(const struct plate *plate, unsigned b)
{
    return (int)(b * (unsigned)starpu_mpi_world_size() / plate->nbands);
}

static int cyclic_owner(const struct plate *plate, unsigned b)
{
    (void)plate;
    return (int)(b % (unsigned)starpu_mpi_world_size());
}

static bool is_mine(const struct band *band)
{
    return band->owner == starpu_mpi_world_rank();
}

static void must(int result)
{
    if (result == 0)
        return;
    fprintf(stderr, "stencil: no worker can run its tasks\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static starpu_mpi_tag_t tag_of(unsigned band, unsigned datum)
{
    return (starpu_mpi_tag_t)band * BAND_DATA + datum;
}

static void make_plate(struct plate *plate)
{
    unsigned n = plate->n, rows = n / plate->nbands;

    plate->bands = calloc(plate->nbands, sizeof(*plate->bands));
    if (!plate->bands)
        exit(EXIT_FAILURE);
    for (unsigned b = 0; b < plate->nbands; b++) {
        struct band *band = &plate->bands[b];

        band->owner = block_owner(plate, b);
        for (unsigned i = 0; i < BAND_DATA; i++) {
            if (i == POINTS || i == POINTS_ODD)
                starpu_matrix_data_register(&band->data[i], -1, 0, n, n, rows,
                                            sizeof(float));
            else
                starpu_vector_data_register(&band->data[i], -1, 0, n, sizeof(float));
            starpu_mpi_data_register(band->data[i], tag_of(b, i), band->owner);
        }
    }
}

static void free_plate(struct plate *plate)
{
    for (unsigned b = 0; b < plate->nbands; b++)
        for (unsigned i = 0; i < BAND_DATA; i++)
            starpu_data_unregister(plate->bands[b].data[i]);
    free(plate->bands);
}

/* A row of one band becomes the halo of a neighbour. */
static void send_row(struct plate *plate, unsigned from, unsigned row, unsigned to,
                     unsigned halo)
{
    struct band *source = &plate->bands[from], *target = &plate->bands[to];

    if (is_mine(source) && is_mine(target))
        must(starpu_data_cpy(target->data[halo], source->data[row], 1, NULL, NULL));
    else if (is_mine(source))
        starpu_mpi_isend_detached(source->data[row], target->owner, tag_of(to, halo),
                                  MPI_COMM_WORLD, NULL, NULL);
    else if (is_mine(target))
        starpu_mpi_irecv_detached(target->data[halo], source->owner, tag_of(to, halo),
                                  MPI_COMM_WORLD, NULL, NULL);
}

static void exchange_rows(struct plate *plate)
{
    for (unsigned b = 0; b + 1 < plate->nbands; b++) {
        send_row(plate, b, LAST, b + 1, ABOVE);
        send_row(plate, b + 1, FIRST, b, BELOW);
    }
}

static void start_bands(struct plate *plate)
{
    for (unsigned b = 0; b < plate->nbands; b++) {
        struct band *band = &plate->bands[b];

        if (!is_mine(band))
            continue;
        must(starpu_task_insert(&cl_init, STARPU_VALUE, &b, sizeof(b), STARPU_W,
                                band->data[POINTS], STARPU_W, band->data[FIRST], STARPU_W,
                                band->data[LAST], 0));
        if (b == 0)
            must(starpu_task_insert(&cl_cool, STARPU_W, band->data[ABOVE], 0));
        if (b == plate->nbands - 1)
            must(starpu_task_insert(&cl_cool, STARPU_W, band->data[BELOW], 0));
    }
    exchange_rows(plate);
}

static void step_bands(struct plate *plate, unsigned number)
{
    unsigned old = number % 2 ? POINTS_ODD : POINTS;
    unsigned next = number % 2 ? POINTS : POINTS_ODD;

    for (unsigned b = 0; b < plate->nbands; b++) {
        struct band *band = &plate->bands[b];

        if (is_mine(band))
            must(starpu_task_insert(&cl_step, STARPU_R, band->data[old], STARPU_R,
                                    band->data[ABOVE], STARPU_R, band->data[BELOW],
                                    STARPU_W, band->data[next], STARPU_W,
                                    band->data[FIRST], STARPU_W, band->data[LAST], 0));
    }
    exchange_rows(plate);
}

/* What the next step reads goes along; the rest is written anew where the band is, so that
 * it is enough to say to whom it belongs. */
static void move_bands(struct plate *plate, unsigned next_step,
                       int (*owner)(const struct plate *, unsigned))
{
    for (unsigned b = 0; b < plate->nbands; b++) {
        struct band *band = &plate->bands[b];

        band->owner = owner(plate, b);
        for (unsigned i = 0; i < BAND_DATA; i++)
            if (i == (next_step % 2 ? POINTS_ODD : POINTS) || i == ABOVE || i == BELOW)
                starpu_mpi_data_migrate(MPI_COMM_WORLD, band->data[i], band->owner);
            else
                starpu_mpi_data_set_rank(band->data[i], band->owner);
    }
}

/* --- the check, on rank 0 --- */

static float *allocate(size_t n)
{
    float *memory = calloc(n, sizeof(float));

    if (memory)
        return memory;
    fprintf(stderr, "stencil: no memory on rank 0 for the check\n");
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return NULL;
}

/* The points after so many steps; to be freed by the caller. */
static float *compute_alone(unsigned n, unsigned steps)
{
    float *from = allocate((size_t)n * n), *to = allocate((size_t)n * n);
    float *cold = allocate(n);

    for (unsigned y = 0; y < n; y++)
        for (unsigned x = 0; x < n; x++)
            from[(size_t)y * n + x] = begin(x, y, n);
    for (unsigned s = 0; s < steps; s++) {
        float *last = from;

        step_rows(from, cold, cold, to, n, n);
        from = to;
        to = last;
    }
    free(to);
    free(cold);
    return from;
}

static int check(struct plate *plate, unsigned steps)
{
    size_t band_points = (size_t)plate->n * plate->n / plate->nbands;
    bool checks = starpu_mpi_world_rank() == 0, equal = true;
    float *should = checks ? compute_alone(plate->n, steps) : NULL;

    for (unsigned b = 0; b < plate->nbands; b++) {
        starpu_data_handle_t points = plate->bands[b].data[steps % 2 ? POINTS_ODD : POINTS];

        starpu_mpi_get_data_on_node_detached(MPI_COMM_WORLD, points, 0, NULL, NULL);
        if (!checks)
            continue;
        starpu_data_acquire(points, STARPU_R);
        equal &= memcmp(starpu_data_get_local_ptr(points), &should[b * band_points],
                        band_points * sizeof(float)) == 0;
        starpu_data_release(points);
    }
    free(should);
    if (checks)
        printf("# %s\n", equal ? "right" : "WRONG: one processor has other points");
    return equal ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct plate plate = {.n = 240, .nbands = 8};
    unsigned steps = 21, stay = 0, wants_check = 0;
    const struct option options[] = {
        {"-size", &plate.n, 0},  {"-nblocks", &plate.nbands, 0}, {"-steps", &steps, 0},
        {"-stay", &stay, 1},     {"-check", &wants_check, 1},    {NULL, NULL, 0}};
    double start;
    int result = 0;

    options_read(argc, argv, options, usage);
    if (plate.n < 2 || plate.n % plate.nbands != 0) {
        fprintf(stderr, "stencil: -size must be a multiple of -nblocks\n");
        return 2;
    }
    if (starpu_mpi_init_conf(&argc, &argv, 1, MPI_COMM_WORLD, NULL) != 0) {
        fprintf(stderr, "stencil: the runtime does not start\n");
        return EXIT_FAILURE;
    }
    make_plate(&plate);
    start = starpu_timing_now();
    start_bands(&plate);
    for (unsigned s = 0; s < steps; s++) {
        if (!stay && s == steps / 3)
            move_bands(&plate, s, cyclic_owner);
        if (!stay && s == steps - steps / 3)
            move_bands(&plate, s, block_owner);
        step_bands(&plate, s);
    }
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    starpu_mpi_barrier(MPI_COMM_WORLD);
    if (starpu_mpi_world_rank() == 0)
        printf("# size\tms\n%u\t%.3f\n", plate.n, (starpu_timing_now() - start) / 1e3);
    if (wants_check)
        result = check(&plate, steps);
    free_plate(&plate);
    starpu_mpi_shutdown();
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
