/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tree.c - a binary tree of small tasks: values go up it, two by two, and down again
 * to the leaves, as in a prefix sum. Every node has a vector; a task mixes two of
 * them, so many times that it takes as long as -rounds says.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <orrery.h>
#include <starpu.h>

#include "options.h"

static const char usage[] =
    "usage: tree [-depth D] [-size N] [-rounds R] [-check]\n"
    "Mixes vectors of N numbers (256), R times (200), up and down a tree with D levels\n"
    "of tasks (8), and prints the time taken.\n"
    "  -check       compare with the same on one processor\n";

struct tree {
    unsigned depth, size, rounds, check;
    unsigned nnodes;  /* node 1 is the root, of node n 2n and 2n + 1 */
    uint32_t *values; /* of node n from n * size on */
    starpu_data_handle_t *handles; /* of nodes */
};

/* A number becomes one that depends on another one. */
static void mix(const uint32_t *from, uint32_t *to, unsigned n, unsigned rounds)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t x = to[i];

        for (unsigned r = 0; r < rounds; r++)
            x = (x ^ from[i]) * UINT32_C(1664525) + UINT32_C(1013904223);
        to[i] = x;
    }
}

/* Node 0 becomes what the nodes 1 and 2 make together. */
static void join(const uint32_t *left, const uint32_t *right, uint32_t *node,
                 unsigned n, unsigned rounds)
{
    memcpy(node, left, n * sizeof(*node));
    mix(right, node, n, rounds);
}

static void up(void *buffers[], void *arg)
{
    join((const uint32_t *)STARPU_VECTOR_GET_PTR(buffers[0]),
         (const uint32_t *)STARPU_VECTOR_GET_PTR(buffers[1]),
         (uint32_t *)STARPU_VECTOR_GET_PTR(buffers[2]),
         STARPU_VECTOR_GET_NX(buffers[2]), *(const unsigned *)arg);
}

static void down(void *buffers[], void *arg)
{
    mix((const uint32_t *)STARPU_VECTOR_GET_PTR(buffers[0]),
        (uint32_t *)STARPU_VECTOR_GET_PTR(buffers[1]),
        STARPU_VECTOR_GET_NX(buffers[1]), *(const unsigned *)arg);
}

/* Tasks of one size take longer the more rounds there are: a model per number. */
static char up_symbol[32], down_symbol[32];
static struct starpu_perfmodel up_model = {.type = STARPU_HISTORY_BASED,
                                           .symbol = up_symbol};
static struct starpu_perfmodel down_model = {.type = STARPU_HISTORY_BASED,
                                             .symbol = down_symbol};

static struct starpu_codelet cl_up = {
    .cpu_funcs = {up},
    .nbuffers = 3,
    .modes = {STARPU_R, STARPU_R, STARPU_W},
    .model = &up_model,
    .name = "up",
};

static struct starpu_codelet cl_down = {
    .cpu_funcs = {down},
    .nbuffers = 2,
    .modes = {STARPU_R, STARPU_RW},
    .model = &down_model,
    .name = "down",
};

static uint32_t *values_of(const struct tree *tree, unsigned node)
{
    return tree->values + (size_t)node * tree->size;
}

/* The nodes with children are those up to half of all. */
static int submit(const struct tree *tree)
{
    unsigned half = tree->nnodes / 2;
    int result = 0;

    for (unsigned node = half; node > 0 && !result; node--)
        result = starpu_task_insert(
            &cl_up, STARPU_R, tree->handles[2 * node], STARPU_R,
            tree->handles[2 * node + 1], STARPU_W, tree->handles[node],
            STARPU_CL_ARGS_NFREE, &tree->rounds, sizeof(tree->rounds), 0);
    for (unsigned node = 2; node <= tree->nnodes && !result; node++)
        result = starpu_task_insert(&cl_down, STARPU_R, tree->handles[node / 2],
                                    STARPU_RW, tree->handles[node],
                                    STARPU_CL_ARGS_NFREE, &tree->rounds,
                                    sizeof(tree->rounds), 0);
    if (result)
        fprintf(stderr, "tree: a task cannot be submitted: %s\n",
                strerror(-result));
    return result;
}

static void fill(const struct tree *tree, uint32_t *values)
{
    for (size_t i = 0; i < (size_t)(tree->nnodes + 1) * tree->size; i++)
        values[i] = (uint32_t)i * UINT32_C(2654435761);
}

static int run(const struct tree *tree)
{
    double start;
    int result;

    fill(tree, tree->values);
    for (unsigned node = 1; node <= tree->nnodes; node++)
        starpu_vector_data_register(&tree->handles[node], STARPU_MAIN_RAM,
                                    (uintptr_t)values_of(tree, node),
                                    tree->size, sizeof(*tree->values));
    start = starpu_timing_now();
    result = submit(tree);
    starpu_task_wait_for_all();
    printf("# tasks\tms\n%u\t%.3f\n", tree->nnodes / 2 + tree->nnodes - 1,
           (starpu_timing_now() - start) / 1000);
    fflush(stdout);
    for (unsigned node = 1; node <= tree->nnodes; node++)
        starpu_data_unregister(tree->handles[node]);
    return result;
}

/* The same by one processor. 0 when it is equal, or cannot be known. */
static int check(const struct tree *tree)
{
    size_t bytes =
        (size_t)(tree->nnodes + 1) * tree->size * sizeof(*tree->values);
    struct tree again = *tree;
    int result = -1;

    if (orrery_is_simulated() && !orrery_runs_kernels()) {
        printf("# check skipped: simulated kernels compute nothing, "
               "ORRERY_SIM_KERNELS=run runs them\n");
        return 0;
    }
    again.values = malloc(bytes);
    if (!again.values) {
        fprintf(stderr, "tree: no memory for the check\n");
        return -1;
    }
    fill(tree, again.values);
    for (unsigned node = tree->nnodes / 2; node > 0; node--)
        join(values_of(&again, 2 * node), values_of(&again, 2 * node + 1),
             values_of(&again, node), tree->size, tree->rounds);
    for (unsigned node = 2; node <= tree->nnodes; node++)
        mix(values_of(&again, node / 2), values_of(&again, node), tree->size,
            tree->rounds);
    result = memcmp(again.values, tree->values, bytes) ? -1 : 0;
    printf("# %s\n", result ? "WRONG" : "right");
    free(again.values);
    return result;
}

int main(int argc, char **argv)
{
    struct tree tree = {.depth = 8, .size = 256, .rounds = 200};
    const struct option options[] = {{"-depth", &tree.depth, 0},
                                     {"-size", &tree.size, 0},
                                     {"-rounds", &tree.rounds, 0},
                                     {"-check", &tree.check, 1},
                                     {NULL, NULL, 0}};
    int result;

    options_read(argc, argv, options, usage);
    if (tree.depth > 24) {
        fprintf(stderr, "tree: -depth takes 1 to 24\n");
        return 2;
    }
    tree.nnodes = (2U << tree.depth) - 1;
    snprintf(up_symbol, sizeof(up_symbol), "tree_up_%u", tree.rounds);
    snprintf(down_symbol, sizeof(down_symbol), "tree_down_%u", tree.rounds);
    tree.values =
        malloc((size_t)(tree.nnodes + 1) * tree.size * sizeof(*tree.values));
    tree.handles = calloc(tree.nnodes + 1, sizeof(*tree.handles));
    result = -1;
    if (!tree.values || !tree.handles)
        fprintf(stderr, "tree: no memory for %u nodes\n", tree.nnodes);
    else if ((result = starpu_init(NULL)) != 0)
        fprintf(stderr, "tree: the runtime does not start: %s\n",
                strerror(-result));
    if (result == 0) {
        result = run(&tree);
        if (result == 0 && tree.check)
            result = check(&tree);
        starpu_shutdown();
    }
    free(tree.values);
    free(tree.handles);
    return result == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
