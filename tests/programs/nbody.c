/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nbody.c - bodies that attract each other, in blocks: the forces between two blocks are
 * contributions to both, which are added up before the bodies move. Built for processors
 * alone, as most programs are: codelets without functions for GPUs, counts of the host.
 *
 *     nbody [BLOCKS BODIES STEPS]
 */
#include "expect.h"

#include <math.h>
#include <string.h>

#include <starpu.h>

enum { MAX_BLOCKS = 64 };

struct body {
    double x, y, mass, vx, vy;
};
struct force {
    double x, y;
};

static int nblocks = 6, nbodies = 64, nsteps = 4; /* bodies of a block */
static const double softening = 1e-3, dt = 1e-3;

static void attract(struct force *on, const struct body *body, const struct body *by)
{
    double x = by->x - body->x, y = by->y - body->y;
    double r2 = x * x + y * y + softening, pull = by->mass / (r2 * sqrt(r2));

    on->x += pull * x;
    on->y += pull * y;
}

static void zero_forces(void *buffers[], void *arg)
{
    (void)arg;
    memset((void *)STARPU_VECTOR_GET_PTR(buffers[0]), 0,
           STARPU_VECTOR_GET_NX(buffers[0]) * sizeof(struct force));
}

static void add_forces(void *buffers[], void *arg)
{
    struct force *to = (struct force *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const struct force *from = (const struct force *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++) {
        to[i].x += from[i].x;
        to[i].y += from[i].y;
    }
}

/* Forces of a block on another, or on itself. */
static void interact(void *buffers[], void *arg)
{
    const struct body *on = (const struct body *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const struct body *by = (const struct body *)STARPU_VECTOR_GET_PTR(buffers[1]);
    struct force *forces = (struct force *)STARPU_VECTOR_GET_PTR(buffers[2]);
    int same;

    starpu_codelet_unpack_args(arg, &same);
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++)
        for (unsigned j = 0; j < STARPU_VECTOR_GET_NX(buffers[1]); j++)
            if (!same || i != j)
                attract(&forces[i], &on[i], &by[j]);
}

static void move(void *buffers[], void *arg)
{
    struct body *bodies = (struct body *)STARPU_VECTOR_GET_PTR(buffers[0]);
    const struct force *forces = (const struct force *)STARPU_VECTOR_GET_PTR(buffers[1]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_VECTOR_GET_NX(buffers[0]); i++) {
        bodies[i].vx += dt * forces[i].x;
        bodies[i].vy += dt * forces[i].y;
        bodies[i].x += dt * bodies[i].vx;
        bodies[i].y += dt * bodies[i].vy;
    }
}

static struct starpu_perfmodel interact_model = {.type = STARPU_HISTORY_BASED,
                                                 .symbol = "nbody_interact"};
static struct starpu_codelet zero_cl = {.cpu_funcs = {zero_forces},
                                        .nbuffers = 1,
                                        .modes = {STARPU_W},
                                        .name = "nbody_zero"};
static struct starpu_codelet add_cl = {.cpu_funcs = {add_forces},
                                       .nbuffers = 2,
                                       .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
                                       .name = "nbody_add"};
static struct starpu_codelet interact_cl = {.cpu_funcs = {interact},
                                            .nbuffers = 3,
                                            .modes = {STARPU_R, STARPU_R, STARPU_REDUX},
                                            .model = &interact_model,
                                            .name = "nbody_interact"};
static struct starpu_codelet move_cl = {.cpu_funcs = {move},
                                        .nbuffers = 2,
                                        .modes = {STARPU_RW, STARPU_R},
                                        .name = "nbody_move"};

static void fill(struct body *bodies, int n)
{
    unsigned seed = 1;

    for (int i = 0; i < n; i++) {
        seed = seed * 1103515245u + 12345u;
        bodies[i] = (struct body){.x = (seed >> 8) % 1000 / 1000.,
                                  .y = (seed >> 18) / 16384., .mass = 1. / n};
    }
}

/* The same steps on one processor, block by block, so that only the order of the sums
 * differs. */
static void step_alone(struct body *bodies, struct force *forces, int n)
{
    memset(forces, 0, (size_t)n * sizeof(*forces));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j)
                attract(&forces[i], &bodies[i], &bodies[j]);
    for (int i = 0; i < n; i++) {
        bodies[i].vx += dt * forces[i].x;
        bodies[i].vy += dt * forces[i].y;
        bodies[i].x += dt * bodies[i].vx;
        bodies[i].y += dt * bodies[i].vy;
    }
}

static void submit_step(starpu_data_handle_t bodies[], starpu_data_handle_t forces[])
{
    for (int i = 0; i < nblocks; i++)
        EXPECT(starpu_task_insert(&zero_cl, STARPU_W, forces[i], 0) == 0);
    for (int i = 0; i < nblocks; i++)
        for (int j = 0; j < nblocks; j++) {
            int same = i == j;

            EXPECT(starpu_task_insert(&interact_cl, STARPU_R, bodies[i], STARPU_R,
                                      bodies[j], STARPU_REDUX, forces[i], STARPU_VALUE,
                                      &same, sizeof(same), STARPU_FLOPS,
                                      (double)nbodies * nbodies * 12, 0) == 0);
        }
    for (int i = 0; i < nblocks; i++)
        EXPECT(starpu_task_insert(&move_cl, STARPU_RW, bodies[i], STARPU_R, forces[i],
                                  STARPU_PRIORITY, STARPU_MAX_PRIO, 0) == 0);
}

int main(int argc, char **argv)
{
    starpu_data_handle_t blocks[MAX_BLOCKS], sums[MAX_BLOCKS];
    struct body *bodies, *right;
    struct force *forces;
    int result, n;

    if (argc == 4) {
        nblocks = atoi(argv[1]);
        nbodies = atoi(argv[2]);
        nsteps = atoi(argv[3]);
    }
    EXPECT(nblocks > 0 && nblocks <= MAX_BLOCKS);
    n = nblocks * nbodies;
    result = starpu_init(NULL);
    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0);
    bodies = calloc((size_t)n, sizeof(*bodies));
    right = calloc((size_t)n, sizeof(*right));
    forces = calloc((size_t)n, sizeof(*forces));
    fill(bodies, n);
    fill(right, n);
    for (int i = 0; i < nblocks; i++) {
        starpu_vector_data_register(&blocks[i], STARPU_MAIN_RAM,
                                    (uintptr_t)&bodies[i * nbodies], (uint32_t)nbodies,
                                    sizeof(*bodies));
        starpu_vector_data_register(&sums[i], -1, 0, (uint32_t)nbodies, sizeof(*forces));
        starpu_data_set_reduction_methods(sums[i], &add_cl, &zero_cl);
    }
    for (int step = 0; step < nsteps; step++)
        submit_step(blocks, sums);
    starpu_task_wait_for_all();
    for (int i = 0; i < nblocks; i++) {
        starpu_data_unregister(blocks[i]);
        starpu_data_unregister_no_coherency(sums[i]);
    }
    if (n <= 1024) {
        for (int step = 0; step < nsteps; step++)
            step_alone(right, forces, n);
        for (int i = 0; i < n; i++)
            EXPECT_RESULT(fabs(bodies[i].x - right[i].x) < 1e-9 &&
                          fabs(bodies[i].y - right[i].y) < 1e-9);
    }
    starpu_shutdown();
    free(bodies);
    free(right);
    free(forces);
    return 0;
}
