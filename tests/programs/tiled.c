/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tiled.c - a Cholesky factorisation as a library of tiled matrices has it that was
 * built on a machine without GPUs: descriptors whose tiles are registered when they are
 * first used, codelets `where = STARPU_CPU`, no device but processors asked for, a model
 * under the name of each kernel, priorities by the distance from the end.
 *
 *     tiled [NTILES [TILE]] [VARIANT...]
 *
 * Variants, one word each: `open` leaves codelets and counts open; `where`, only the
 * codelets restrict; `counts`, only the counts do; `tasks`, tasks restrict by their own
 * where; `refuse`, can_execute takes processors alone; `two`, kernels have a second
 * implementation; `place`, the codelets say where data are used; `named`, tasks name
 * worker 0; `combine`, sums are a reduction; `forms`, data
 * have a form per sort of device; `ask` prints the workers it finds.
 */
#include "expect.h"

#include <starpu.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* --- the library --- */

struct descriptor {
    double *values; /* tile after tile; NULL: kernels are skipped */
    int nt, nb;     /* tiles per side, rows of a tile */
    starpu_data_handle_t *handles; /* nt * nt, NULL before the first use */
};

static double *tile_values(const struct descriptor *d, int i, int j)
{
    return d->values ? d->values + (size_t)(i * d->nt + j) * d->nb * d->nb : NULL;
}

static starpu_data_handle_t tile(struct descriptor *d, int i, int j)
{
    starpu_data_handle_t *handle = &d->handles[i * d->nt + j];
    uint32_t nb = (uint32_t)d->nb;

    if (!*handle)
        starpu_matrix_data_register(handle, d->values ? STARPU_MAIN_RAM : -1,
                                    (uintptr_t)tile_values(d, i, j), nb, nb, nb,
                                    sizeof(double));
    return *handle;
}

static struct descriptor descriptor_new(int nt, int nb, bool filled)
{
    struct descriptor d = {NULL, nt, nb, calloc((size_t)(nt * nt), sizeof(*d.handles))};
    size_t n = (size_t)nt * (size_t)nb;

    EXPECT(d.handles);
    if (!filled)
        return d;
    d.values = malloc(n * n * sizeof(double));
    EXPECT(d.values);
    return d;
}

static void descriptor_flush(struct descriptor *d)
{
    for (int i = 0; i < d->nt * d->nt; i++)
        if (d->handles[i])
            starpu_data_unregister(d->handles[i]);
}

static double *pointer(void *buffer)
{
    return (double *)STARPU_MATRIX_GET_PTR(buffer);
}

static int rows(void *buffer)
{
    return (int)STARPU_MATRIX_GET_NX(buffer);
}

static void fill(void *buffers[], void *arg)
{
    double *a = pointer(buffers[0]);
    int n = rows(buffers[0]), i0, j0;

    starpu_codelet_unpack_args(arg, &i0, &j0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = 1.0 / (1 + abs(i0 + i - j0 - j)) + (i0 + i == j0 + j) * 8;
}

static void potrf(void *buffers[], void *arg)
{
    double *a = pointer(buffers[0]);
    int n = rows(buffers[0]);

    (void)arg;
    for (int k = 0; k < n; k++) {
        a[k * n + k] = sqrt(a[k * n + k]);
        for (int i = k + 1; i < n; i++)
            a[i * n + k] /= a[k * n + k];
        for (int j = k + 1; j < n; j++)
            for (int i = j; i < n; i++)
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
    }
}

static void trsm(void *buffers[], void *arg)
{
    const double *l = pointer(buffers[0]);
    double *a = pointer(buffers[1]);
    int n = rows(buffers[1]);

    (void)arg;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < j; k++)
                a[i * n + j] -= a[i * n + k] * l[j * n + k];
            a[i * n + j] /= l[j * n + j];
        }
}

static void gemm(void *buffers[], void *arg)
{
    const double *a = pointer(buffers[0]), *b = pointer(buffers[1]);
    double *c = pointer(buffers[2]);
    int n = rows(buffers[2]);

    (void)arg;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i * n + j] -= a[i * n + k] * b[j * n + k];
}

static void syrk(void *buffers[], void *arg)
{
    void *same[] = {buffers[0], buffers[0], buffers[1]};

    gemm(same, arg);
}

static void sum_init(void *buffers[], void *arg)
{
    (void)arg;
    *(double *)STARPU_VARIABLE_GET_PTR(buffers[0]) = 0;
}

static void sum_add(void *buffers[], void *arg)
{
    (void)arg;
    *(double *)STARPU_VARIABLE_GET_PTR(buffers[0]) +=
        *(double *)STARPU_VARIABLE_GET_PTR(buffers[1]);
}

/* What is on the diagonal of the factor. */
static void trace(void *buffers[], void *arg)
{
    const double *a = pointer(buffers[0]);
    int n = rows(buffers[0]);

    (void)arg;
    for (int i = 0; i < n; i++)
        *(double *)STARPU_VARIABLE_GET_PTR(buffers[1]) += a[i * n + i];
}

static void count(void *buffers[], void *arg)
{
    double *v = (double *)STARPU_MULTIFORMAT_GET_CPU_PTR(buffers[0]);

    (void)arg;
    for (unsigned i = 0; i < STARPU_MULTIFORMAT_GET_NX(buffers[0]); i++)
        v[i]++;
}

enum kernel { DPLGSY, DPOTRF, DTRSM, DSYRK, DGEMM, DTRACE, DINIT, DADD, DCOUNT, NKERNELS };

#define MODEL(name_) {.type = STARPU_HISTORY_BASED, .symbol = name_}
static struct starpu_perfmodel models[NKERNELS] = {
    MODEL("dplgsy"), MODEL("dpotrf"), MODEL("dtrsm"), MODEL("dsyrk"),
    MODEL("dgemm"),  MODEL("dtrace"), MODEL("dinit"), MODEL("dadd"),
    MODEL("dcount")};

#define KERNEL(symbol, function, n, ...)                                       \
    .where = STARPU_CPU, .cpu_funcs = {function}, .nbuffers = n,               \
    .modes = {__VA_ARGS__}, .model = &models[symbol]
static struct starpu_codelet kernels[NKERNELS] = {
    [DPLGSY] = {.name = "dplgsy", KERNEL(DPLGSY, fill, 1, STARPU_W)},
    [DPOTRF] = {.name = "dpotrf", KERNEL(DPOTRF, potrf, 1, STARPU_RW)},
    [DTRSM] = {.name = "dtrsm", KERNEL(DTRSM, trsm, 2, STARPU_R, STARPU_RW)},
    [DSYRK] = {.name = "dsyrk", KERNEL(DSYRK, syrk, 2, STARPU_R, STARPU_RW)},
    [DGEMM] = {.name = "dgemm", KERNEL(DGEMM, gemm, 3, STARPU_R, STARPU_R, STARPU_RW)},
    [DTRACE] = {.name = "dtrace", KERNEL(DTRACE, trace, 2, STARPU_R, STARPU_REDUX)},
    [DINIT] = {.name = "dinit", KERNEL(DINIT, sum_init, 1, STARPU_W)},
    [DCOUNT] = {.name = "dcount", KERNEL(DCOUNT, count, 1, STARPU_RW)},
    [DADD] = {.name = "dadd", KERNEL(DADD, sum_add, 2, STARPU_RW | STARPU_COMMUTE, STARPU_R)},
};

/* --- the variants --- */

static struct {
    bool open, where, counts, tasks, refuse, two, place, named, combine, forms, ask;
} want;

static bool set_variant(const char *word)
{
    const struct {
        const char *word;
        bool *flag;
    } all[] = {{"open", &want.open},       {"where", &want.where},
               {"counts", &want.counts},   {"tasks", &want.tasks},
               {"refuse", &want.refuse},   {"two", &want.two},
               {"place", &want.place},     {"named", &want.named},
               {"combine", &want.combine}, {"forms", &want.forms},
               {"ask", &want.ask}};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (!strcmp(all[i].word, word)) {
            *all[i].flag = true;
            return true;
        }
    return false;
}

static int processors_alone(unsigned worker, struct starpu_task *task, unsigned nimpl)
{
    (void)task;
    (void)nimpl;
    return starpu_worker_get_type((int)worker) == STARPU_CPU_WORKER;
}

static void prepare_kernels(void)
{
    for (int k = 0; k < NKERNELS; k++) {
        struct starpu_codelet *cl = &kernels[k];

        if (want.open || want.counts || want.tasks || want.refuse)
            cl->where = 0;
        if (want.refuse)
            cl->can_execute = processors_alone;
        if (want.two)
            cl->cpu_funcs[1] = cl->cpu_funcs[0];
        if (want.place) {
            cl->specific_nodes = 1;
            for (int i = 0; i < cl->nbuffers; i++)
                cl->nodes[i] = STARPU_SPECIFIC_NODE_LOCAL_OR_CPU;
        }
    }
}

static void submit(enum kernel kernel, int priority, starpu_data_handle_t a,
                   starpu_data_handle_t b, starpu_data_handle_t c)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &kernels[kernel];
    task->priority = priority;
    task->handles[0] = a;
    task->handles[1] = b;
    task->handles[2] = c;
    if (want.tasks)
        task->where = STARPU_CPU;
    if (want.named) {
        task->execute_on_a_specific_worker = 1;
        task->workerid = 0;
    }
    EXPECT(starpu_task_submit(task) == 0);
}

/* --- the application --- */

enum { COUNTED = 10 };

static void generate(struct descriptor *d)
{
    for (int i = 0; i < d->nt; i++)
        for (int j = 0; j <= i; j++) {
            int i0 = i * d->nb, j0 = j * d->nb;

            EXPECT(starpu_task_insert(&kernels[DPLGSY], STARPU_W, tile(d, i, j),
                                      STARPU_VALUE, &i0, sizeof(i0), STARPU_VALUE,
                                      &j0, sizeof(j0), STARPU_EXECUTE_ON_WORKER,
                                      want.named ? 0 : -1, 0) == 0);
        }
}

static void factorise(struct descriptor *d)
{
    int nt = d->nt, top = starpu_sched_get_max_priority();

    for (int k = 0; k < nt; k++) {
        int left = 3 * (nt - k);
        int high = left < top ? left : top, low = left - 2 < top ? left - 2 : top;

        submit(DPOTRF, high, tile(d, k, k), NULL, NULL);
        for (int i = k + 1; i < nt; i++)
            submit(DTRSM, high, tile(d, k, k), tile(d, i, k), NULL);
        for (int i = k + 1; i < nt; i++) {
            submit(DSYRK, low, tile(d, i, k), tile(d, i, i), NULL);
            for (int j = k + 1; j < i; j++)
                submit(DGEMM, low, tile(d, i, k), tile(d, j, k), tile(d, i, j));
        }
    }
}

/* Against the factorisation of all at once. */
static void check_result(const struct descriptor *d, double sum)
{
    int n = d->nt * d->nb;
    double *a = malloc((size_t)n * (size_t)n * sizeof(double)), expected = 0;

    EXPECT(a);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = 1.0 / (1 + abs(i - j)) + (i == j) * 8;
    for (int k = 0; k < n; k++) {
        a[k * n + k] = sqrt(a[k * n + k]);
        for (int i = k + 1; i < n; i++)
            a[i * n + k] /= a[k * n + k];
        for (int j = k + 1; j < n; j++)
            for (int i = j; i < n; i++)
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
        expected += a[k * n + k];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const double *t = tile_values(d, i / d->nb, j / d->nb);

            EXPECT_RESULT(fabs(t[i % d->nb * d->nb + j % d->nb] - a[i * n + j]) <
                          1e-9);
        }
    if (want.combine)
        EXPECT_RESULT(fabs(sum - expected) < 1e-9 * n);
    free(a);
}

/* Data that may have several forms, and have one. */
static void count_forms(void)
{
    static struct starpu_multiformat_data_interface_ops ops = {
        .cpu_elemsize = sizeof(double)};
    static double values[COUNTED];
    starpu_data_handle_t handle;

    starpu_multiformat_data_register(&handle, STARPU_MAIN_RAM, values, COUNTED, &ops);
    for (int i = 0; i < COUNTED; i++)
        submit(DCOUNT, 0, handle, NULL, NULL);
    starpu_data_unregister(handle);
    for (int i = 0; i < COUNTED; i++)
        EXPECT_RESULT(values[i] == COUNTED);
}

static void run(struct descriptor *d, double *sum)
{
    starpu_data_handle_t total = NULL;

    generate(d);
    factorise(d);
    if (want.combine) {
        starpu_variable_data_register(&total, STARPU_MAIN_RAM, (uintptr_t)sum,
                                      sizeof(*sum));
        starpu_data_set_reduction_methods(total, &kernels[DADD], &kernels[DINIT]);
        for (int k = 0; k < d->nt; k++)
            submit(DTRACE, 0, tile(d, k, k), total, NULL);
        starpu_data_unregister(total);
    }
    if (want.forms)
        count_forms();
    EXPECT(starpu_task_wait_for_all() == 0);
    descriptor_flush(d);
}

int main(int argc, char **argv)
{
    int sizes[] = {6, 8}, nsizes = 0;
    bool skipped = getenv("KERNELS_ARE_SKIPPED") != NULL;
    struct starpu_conf conf;
    struct descriptor d;
    double sum = 0;
    int rc;

    for (int a = 1; a < argc; a++)
        if (!set_variant(argv[a])) {
            EXPECT(nsizes < 2 && atoi(argv[a]) > 0);
            sizes[nsizes++] = atoi(argv[a]);
        }
    EXPECT(starpu_conf_init(&conf) == 0);
    if (!want.open && !want.where) {
        conf.ncuda = 0;
        conf.nopencl = 0;
        conf.nhip = 0;
    }
    rc = starpu_init(&conf);
    if (rc == -ENODEV)
        return 77;
    EXPECT(rc == 0);
    if (want.ask)
        printf("%d CPUs, %d CUDA devices\n",
               starpu_worker_get_count_by_type(STARPU_CPU_WORKER),
               starpu_worker_get_count_by_type(STARPU_CUDA_WORKER));
    prepare_kernels();
    d = descriptor_new(sizes[0], sizes[1], !skipped);
    run(&d, &sum);
    starpu_shutdown();
    if (!skipped)
        check_result(&d, sum);
    free(d.values);
    free(d.handles);
    return 0;
}
