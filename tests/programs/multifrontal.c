/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* multifrontal.c - the shape of a sparse direct solver: a tree of dense fronts, found by
 * an analysis that is a task itself; each front is allocated by a task, assembled from
 * those of its children, factorized panel by panel, and freed when its parent has it. No
 * codelet has a performance model.
 *
 *     multifrontal [LEVELS ORDER]
 */
#include "expect.h"

#include <math.h>
#include <string.h>

#include <starpu.h>

enum { MAX_FRONTS = 4096, PANELS = 4 };

/* What the analysis finds. */
struct tree {
    int nfronts, order[MAX_FRONTS]; /* order of a front: a multiple of PANELS */
};

static int nlevels = 4, largest = 64;

static void analyse(void *buffers[], void *arg)
{
    struct tree *tree = (struct tree *)STARPU_VARIABLE_GET_PTR(buffers[0]);
    int levels, order;

    starpu_codelet_unpack_args(arg, &levels, &order);
    tree->nfronts = (1 << levels) - 1;
    for (int f = 0, size = order; f < tree->nfronts; f++) {
        if (f > 0 && ((f + 1) & f) == 0 && size > 2 * PANELS)
            size /= 2;
        tree->order[f] = size;
    }
}

/* Columns of a panel begin at 1; what children bring is added to them. */
static void activate(void *buffers[], void *arg)
{
    double *a = (double *)STARPU_MATRIX_GET_PTR(buffers[0]);
    unsigned rows = STARPU_MATRIX_GET_NX(buffers[0]), ld = STARPU_MATRIX_GET_LD(buffers[0]);

    (void)arg;
    for (unsigned j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
        for (unsigned i = 0; i < rows; i++)
            a[j * ld + i] = 1;
}

static double sum_of(const double *a, unsigned rows, unsigned columns, unsigned ld)
{
    double sum = 0;

    for (unsigned j = 0; j < columns; j++)
        for (unsigned i = 0; i < rows; i++)
            sum += a[j * ld + i];
    return sum;
}

static void assemble(void *buffers[], void *arg)
{
    double *to = (double *)STARPU_MATRIX_GET_PTR(buffers[0]);
    const double *from = (const double *)STARPU_MATRIX_GET_PTR(buffers[1]);

    (void)arg;
    to[0] += sum_of(from, STARPU_MATRIX_GET_NX(buffers[1]),
                    STARPU_MATRIX_GET_NY(buffers[1]), STARPU_MATRIX_GET_LD(buffers[1]));
}

/* Halves a panel, so that sums stay small. */
static void factorize(void *buffers[], void *arg)
{
    double *a = (double *)STARPU_MATRIX_GET_PTR(buffers[0]);
    unsigned rows = STARPU_MATRIX_GET_NX(buffers[0]), ld = STARPU_MATRIX_GET_LD(buffers[0]);

    (void)arg;
    for (unsigned j = 0; j < STARPU_MATRIX_GET_NY(buffers[0]); j++)
        for (unsigned i = 0; i < rows; i++)
            a[j * ld + i] /= 2;
}

/* Adds a panel's mean to a later one, with as much work as an update has. */
static void update(void *buffers[], void *arg)
{
    const double *from = (const double *)STARPU_MATRIX_GET_PTR(buffers[0]);
    double *to = (double *)STARPU_MATRIX_GET_PTR(buffers[1]), mean = 0;
    unsigned rows = STARPU_MATRIX_GET_NX(buffers[1]), ld = STARPU_MATRIX_GET_LD(buffers[1]);
    unsigned columns = STARPU_MATRIX_GET_NY(buffers[1]);

    (void)arg;
    for (unsigned j = 0; j < columns; j++) {
        mean = sum_of(from, rows, columns, STARPU_MATRIX_GET_LD(buffers[0])) /
               (rows * columns);
        for (unsigned i = 0; i < rows; i++)
            to[j * ld + i] += mean;
    }
}

static struct starpu_codelet analyse_cl = {.cpu_funcs = {analyse},
                                           .nbuffers = 1,
                                           .modes = {STARPU_W},
                                           .name = "front_analyse"};
static struct starpu_codelet activate_cl = {.cpu_funcs = {activate},
                                            .nbuffers = 1,
                                            .modes = {STARPU_W},
                                            .name = "front_activate"};
static struct starpu_codelet assemble_cl = {.cpu_funcs = {assemble},
                                            .nbuffers = 2,
                                            .modes = {STARPU_RW | STARPU_COMMUTE, STARPU_R},
                                            .name = "front_assemble"};
static struct starpu_codelet factorize_cl = {.cpu_funcs = {factorize},
                                             .nbuffers = 1,
                                             .modes = {STARPU_RW},
                                             .name = "front_factorize"};
static struct starpu_codelet update_cl = {.cpu_funcs = {update},
                                          .nbuffers = 2,
                                          .modes = {STARPU_R, STARPU_RW},
                                          .name = "front_update"};

static void submit_front(const struct tree *tree, starpu_data_handle_t (*panels)[PANELS],
                         int f)
{
    int order = tree->order[f], columns = order / PANELS;

    for (int p = 0; p < PANELS; p++) {
        starpu_matrix_data_register(&panels[f][p], -1, 0, (uint32_t)order,
                                    (uint32_t)order, (uint32_t)columns, sizeof(double));
        EXPECT(starpu_task_insert(&activate_cl, STARPU_W, panels[f][p], 0) == 0);
    }
    for (int child = 2 * f + 1; child <= 2 * f + 2 && child < tree->nfronts; child++)
        for (int p = 0; p < PANELS; p++) {
            EXPECT(starpu_task_insert(&assemble_cl, STARPU_RW | STARPU_COMMUTE,
                                      panels[f][p], STARPU_R, panels[child][p],
                                      STARPU_PRIORITY, 1, 0) == 0);
            starpu_data_unregister_submit(panels[child][p]);
        }
    for (int p = 0; p < PANELS; p++) {
        EXPECT(starpu_task_insert(&factorize_cl, STARPU_RW, panels[f][p],
                                  STARPU_PRIORITY, 2, 0) == 0);
        for (int q = p + 1; q < PANELS; q++)
            EXPECT(starpu_task_insert(&update_cl, STARPU_R, panels[f][p], STARPU_RW,
                                      panels[f][q], STARPU_FLOPS,
                                      (double)order * columns * columns, 0) == 0);
    }
}

/* The same on one processor: every panel of a front is one number per place that the
 * algorithm treats alike, but for its first one. */
static void front_alone(const struct tree *tree, double (*sums)[PANELS], int f)
{
    double places = (double)tree->order[f] * (tree->order[f] / PANELS);

    for (int p = 0; p < PANELS; p++) {
        sums[f][p] = places;
        for (int child = 2 * f + 1; child <= 2 * f + 2 && child < tree->nfronts; child++)
            sums[f][p] += sums[child][p];
    }
    for (int p = 0; p < PANELS; p++) {
        sums[f][p] /= 2;
        for (int q = p + 1; q < PANELS; q++)
            sums[f][q] += sums[f][p];
    }
}

int main(int argc, char **argv)
{
    static struct tree tree;
    static starpu_data_handle_t panels[MAX_FRONTS][PANELS];
    static double sums[MAX_FRONTS][PANELS];
    starpu_data_handle_t analysis;
    int result = starpu_init(NULL);

    if (argc == 3) {
        nlevels = atoi(argv[1]);
        largest = atoi(argv[2]);
    }
    if (result == -ENODEV)
        return 77;
    EXPECT(result == 0 && nlevels > 0 && 1 << nlevels <= MAX_FRONTS);
    starpu_variable_data_register(&analysis, STARPU_MAIN_RAM, (uintptr_t)&tree,
                                  sizeof(tree));
    EXPECT(starpu_task_insert(&analyse_cl, STARPU_W, analysis, STARPU_VALUE, &nlevels,
                              sizeof(nlevels), STARPU_VALUE, &largest, sizeof(largest),
                              0) == 0);
    starpu_data_unregister(analysis);
    if (getenv("KERNELS_ARE_SKIPPED")) /* nobody has found the tree */
        tree = (struct tree){.nfronts = 1, .order = {largest}};
    EXPECT(tree.nfronts > 0);
    for (int f = tree.nfronts - 1; f >= 0; f--) {
        submit_front(&tree, panels, f);
        front_alone(&tree, sums, f);
    }
    for (int p = 0; p < PANELS; p++) {
        const double *root;

        EXPECT(starpu_data_acquire(panels[0][p], STARPU_R) == 0);
        root = (const double *)starpu_matrix_get_local_ptr(panels[0][p]);
        EXPECT_RESULT(fabs(sum_of(root, (unsigned)largest, (unsigned)(largest / PANELS),
                                  (unsigned)largest) -
                           sums[0][p]) < 1e-9 * sums[0][p]);
        starpu_data_release(panels[0][p]);
        starpu_data_unregister(panels[0][p]);
    }
    starpu_shutdown();
    return 0;
}
