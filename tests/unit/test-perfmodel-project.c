/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-project.c - projected times: of power laws, by rooflines,
 * and of the models in $ORRERY_SHARED (sampling/, measured/), each size of each
 * from the others: prints how often the measured time is in the range, and how
 * wide that is. The last is skipped without files.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>

#include "perfmodel/project.h"
#include "perfmodel/rate_text.h"
#include "perfmodel/store.h"
#include "tests/unit/perfmodel_util.h"

#define MOST 64 /* sizes of a model, and what is used of the rows of one */

/* --- laws --- */

static double law(double work)
{
    return 20 + 1e-3 * work;
}

START_TEST(what_follows_a_law_is_found_between_and_near_its_points)
{
    struct orr_work_point points[5];
    struct orr_projection p;

    for (int i = 0; i < 5; i++) {
        double work = 1e6 * pow(4, i);

        points[i] = (struct orr_work_point){work, law(work), 0.001};
    }
    for (double work = 7e5; work < 4e8; work *= 1.7) {
        ck_assert_int_eq(
            orr_project_size(points, 5, ORR_WORK_FLOPS, true, work, &p), 0);
        ck_assert_double_eq_tol(p.us / law(work), 1, 0.06);
        ck_assert(fmax(p.us / law(work), law(work) / p.us) < 1 + p.off_by);
    }
}
END_TEST

START_TEST(a_step_between_two_sizes_is_within_the_range)
{
    struct orr_work_point points[6];
    struct orr_projection p;

    for (int i = 0; i < 6; i++) {
        double work = 1e6 * pow(2, i);

        points[i] = (struct orr_work_point){
            work, 1e-3 * work * (i < 3 ? 1 : 3.5), 0.001};
    }
    for (double work = 4.1e6; work < 8e6; work *= 1.1) {
        ck_assert_int_eq(
            orr_project_size(points, 6, ORR_WORK_FLOPS, true, work, &p), 0);
        ck_assert(p.us * (1 + p.off_by) >= 1e-3 * work * 3.5 * 0.999);
        ck_assert(p.us / (1 + p.off_by) <= 1e-3 * work * 1.001);
    }
}
END_TEST

START_TEST(the_range_grows_with_the_distance_and_shrinks_with_points)
{
    struct orr_work_point points[2] = {{1e6, 100, 0.01}, {1e8, 9000, 0.01}};
    struct orr_projection near, far, two;

    orr_project_size(points, 1, ORR_WORK_BYTES, false, 2e6, &near);
    orr_project_size(points, 1, ORR_WORK_BYTES, false, 1e8, &far);
    orr_project_size(points, 2, ORR_WORK_BYTES, false, 2e6, &two);
    ck_assert(0 < near.off_by && near.off_by < far.off_by);
    ck_assert(two.off_by < far.off_by);
    ck_assert_int_eq(
        orr_project_size(points, 0, ORR_WORK_BYTES, false, 2e6, &near), -EDOM);
}
END_TEST

START_TEST(another_device_is_as_far_from_its_roof)
{
    const struct orr_rates slow = {1e3, 100}, fast = {1e4, 500},
                           dark = {1e4, 0};
    const struct orr_projection here = {.us = 600, .off_by = 0.01};
    struct orr_projection p;

    /* bound by arithmetic on both: ten times as fast; by memory: five times */
    p = orr_project_device(here, 1e5, 100, &slow, &fast, ORR_PAIR_CORES);
    ck_assert_double_eq_tol(p.us, 60, 1e-9);
    p = orr_project_device(here, 100, 1e5, &slow, &fast, ORR_PAIR_CORES);
    ck_assert_double_eq_tol(p.us, 120, 1e-9);
    ck_assert(p.off_by > 0.2);
    ck_assert(orr_project_device(here, 100, 1e5, &slow, &fast, ORR_PAIR_MIXED)
                  .off_by > p.off_by);
    /* without flops it may be either */
    p = orr_project_device(here, 0, 1e5, &slow, &fast, ORR_PAIR_CORES);
    ck_assert_double_eq_tol(p.us, 600 / sqrt(50), 1e-9);
    ck_assert(
        isnan(orr_project_device(here, 1, 1, &slow, &dark, ORR_PAIR_CORES).us));
}
END_TEST

START_TEST(no_device_is_faster_than_its_peak_nor_an_accelerator_than_its_memory)
{
    const struct orr_rates slow = {1e3, 100}, fast = {1e4, 500};
    /* Faster than the roofs of the measured device: 100 and 1000 µs. */
    const struct orr_projection here = {.us = 10, .off_by = 0.01};
    static const enum orr_pair pairs[] = {ORR_PAIR_CORES, ORR_PAIR_DEVICES,
                                          ORR_PAIR_MIXED};

    for (int i = 0; i < 3; i++) {
        double launch = pairs[i] == ORR_PAIR_CORES ? 0 : 4;
        struct orr_projection p =
            orr_project_device(here, 1e5, 100, &slow, &fast, pairs[i]);

        ck_assert_double_eq_tol(p.us, 10 + launch, 1e-9);
        ck_assert(p.limited && p.off_by > 0.2);
        p = orr_project_device(here, 0, 1e5, &slow, &fast, pairs[i]);
        ck_assert(p.limited == (pairs[i] != ORR_PAIR_CORES));
        ck_assert(!p.limited || fabs(p.us - 204) < 1e-9);
    }
}
END_TEST

/* µs that a device takes at least: a launch, and a chain of arithmetic at the lanes
 * that the data fill, all bytes, or one way to memory and back. */
static double floor_of(double flops, double bytes, const struct orr_rates *gpu)
{
    double items = fmax(1, bytes / 4), lanes = gpu->flops / 3000;
    double chain = flops / (3000 * fmin(lanes, items / 4));

    return 4 + fmax(1, fmax(chain, bytes / gpu->bytes));
}

START_TEST(no_kernel_on_an_accelerator_is_shorter_than_launch_and_latency)
{
    /* Of the smallest and the largest device of the catalogue, and one between. */
    static const struct orr_rates gpus[] = {
        {2.98e6, 128e3}, {19.5e6, 1555e3}, {163.4e6, 5300e3}};
    const struct orr_rates core = {64e3, 10e3};

    for (int g = 0; g < 3; g++)
        for (double items = 1; items <= 1e9; items *= 10)
            for (int k = 0; k < 4; k++) {
                /* flop per item: none known, an addition, a product of blocks, a
                 * long loop */
                static const double per_item[] = {0, 1, 300, 1e5};
                double flops = per_item[k] * items, bytes = 8 * items;
                double us = fmax(0.02, fmax(flops / 2e3, bytes / 5e3));
                struct orr_projection here = {.us = us, .off_by = 0.01}, p;

                p = orr_project_device(here, flops, bytes, &core, &gpus[g],
                                       ORR_PAIR_MIXED);
                ck_assert(p.us >= floor_of(flops, bytes, &gpus[g]) * (1 - 1e-9));
                p = orr_project_device(p, flops, bytes, &gpus[g], &gpus[2],
                                       ORR_PAIR_DEVICES);
                ck_assert(p.us >= floor_of(flops, bytes, &gpus[2]) * (1 - 1e-9));
            }
}
END_TEST

START_TEST(a_scalar_loop_runs_on_one_lane_which_is_slower_than_a_core)
{
    const struct orr_rates core = {64e3, 10e3}, gpu = {67e6, 3350e3};
    const struct orr_projection here = {.us = 11.4, .off_by = 0.01};
    struct orr_projection loop =
        orr_project_device(here, 0, 4, &core, &gpu, ORR_PAIR_MIXED);
    struct orr_projection wide =
        orr_project_device(here, 0, 4e6, &core, &gpu, ORR_PAIR_MIXED);

    ck_assert(loop.limited && loop.us > 11.4 && wide.us < 11.4);
    ck_assert(loop.off_by > wide.off_by);
}
END_TEST

START_TEST(a_small_size_of_an_accelerator_is_not_below_its_launch)
{
    const struct orr_work_point point = {1e9, 1000, 0.01};
    struct orr_projection p;

    ck_assert_int_eq(
        orr_project_size(&point, 1, ORR_WORK_FLOPS, false, 1, &p), 0);
    ck_assert(p.us >= 5 && p.limited);
    ck_assert_int_eq(orr_project_size(&point, 1, ORR_WORK_FLOPS, true, 1, &p),
                     0);
    ck_assert(p.us < 1 && !p.limited);
}
END_TEST

START_TEST(a_slower_accelerator_is_better_used)
{
    const struct orr_rates slow = {1e3, 100}, fast = {1e4, 500};
    const struct orr_projection here = {.us = 600, .off_by = 0.01};
    struct orr_projection there, again, same;

    there = orr_project_device(here, 1e5, 100, &slow, &fast, ORR_PAIR_DEVICES);
    ck_assert_double_eq_tol(there.us, 600 * pow(0.1, 0.85), 1e-9);
    again = here;
    again.us = there.us;
    again = orr_project_device(again, 1e5, 100, &fast, &slow, ORR_PAIR_DEVICES);
    ck_assert_double_eq_tol(again.us, 600, 1e-9);
    /* The less the devices have in common, the less is known. */
    same = orr_project_device(here, 1e5, 100, &slow, &slow, ORR_PAIR_DEVICES);
    ck_assert_double_eq_tol(same.us, 600, 1e-9);
    ck_assert(there.off_by > same.off_by + 0.05 && same.off_by > 0.3);
}
END_TEST

/* --- measured models --- */

struct tally {
    unsigned n, within, nmodels;
    double widths[1 << 14];
};

/* The rows of one implementation, one a size: the one of most samples. */
static unsigned rows_of(const struct orr_model_impl *impl,
                        const struct orr_model_row *ret[MOST])
{
    unsigned n = 0;

    for (unsigned r = 0; r < impl->nrows && n < MOST; r++) {
        const struct orr_model_row *row = &impl->rows[r];
        unsigned i = 0;

        if (!(row->mean > 0) || !isfinite(row->mean) || row->size == 0 ||
            row->n == 0)
            continue;
        while (i < n && ret[i]->size != row->size)
            i++;
        if (i == n)
            ret[n++] = row;
        else if (row->n > ret[i]->n)
            ret[i] = row;
    }
    return n;
}

/* µs of a core for a task of that size; 0: not measured. */
static double core_us(const struct orr_model_file *file, uint64_t size)
{
    const struct orr_device core = {ORR_DEVICE_CPU, 0, 1};
    const struct orr_model_comb *comb =
        orr_model_file_find_comb(file, &core, 1, ORR_HOMOGENEOUS_DEFAULT);
    const struct orr_model_row *rows[MOST];
    unsigned n = comb && comb->nimpls ? rows_of(&comb->impls[0], rows) : 0;

    for (unsigned i = 0; i < n; i++)
        if (rows[i]->size == size)
            return rows[i]->mean;
    return 0;
}

static double work_of(const struct orr_model_file *file,
                      const struct orr_model_row *row, enum orr_work kind)
{
    if (kind == ORR_WORK_FLOPS)
        return isfinite(row->flops) ? row->flops : 0;
    return kind == ORR_WORK_CORE ? core_us(file, row->size) : (double)row->size;
}

/* The best work that all rows have, all different. */
static enum orr_work fill(const struct orr_model_file *file, bool is_core,
                          const struct orr_model_row *const *rows, unsigned n,
                          struct orr_work_point *points)
{
    for (int kind = ORR_WORK_FLOPS; kind <= ORR_WORK_BYTES; kind++) {
        bool good = kind != ORR_WORK_CORE || !is_core;

        for (unsigned i = 0; good && i < n; i++) {
            points[i] = (struct orr_work_point){
                work_of(file, rows[i], (enum orr_work)kind), rows[i]->mean,
                rows[i]->dev / rows[i]->mean / sqrt(rows[i]->n)};
            if (!isfinite(points[i].error))
                points[i].error = 0;
            good = points[i].work > 0;
            for (unsigned j = 0; j < i; j++)
                good = good && points[j].work != points[i].work;
        }
        if (good)
            return (enum orr_work)kind;
    }
    return ORR_WORK_BYTES;
}

static void project_each(const struct orr_model_file *file,
                         const struct orr_model_comb *comb,
                         const struct orr_model_impl *impl, struct tally *tally)
{
    const struct orr_model_row *rows[MOST];
    struct orr_work_point points[MOST], others[MOST];
    unsigned n = rows_of(impl, rows);
    bool is_core = comb->devices[0].type == ORR_DEVICE_CPU;
    enum orr_work kind;

    if (n < 2)
        return;
    kind = fill(file, is_core, rows, n, points);
    tally->nmodels++;
    for (unsigned i = 0; i < n; i++) {
        struct orr_projection p;
        unsigned m = 0;

        for (unsigned j = 0; j < n; j++)
            if (j != i)
                others[m++] = points[j];
        ck_assert_int_eq(
            orr_project_size(others, m, kind, is_core, points[i].work, &p), 0);
        ck_assert_uint_lt(tally->n, 1 << 14);
        tally->widths[tally->n++] = p.off_by;
        tally->within += fabs(log(points[i].us / p.us)) <= log1p(p.off_by);
    }
}

static void project_folder(const char *folder, struct tally *tally)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);

    for (int e = 0; e < n; e++) {
        struct orr_model_file *file;
        struct orr_error err = {""};
        char path[1024];

        snprintf(path, sizeof(path), "%s/%s", folder, entries[e]->d_name);
        free(entries[e]);
        if (path[strlen(path) - 1] == '.' ||
            orr_model_file_read(path, &file, &err) < 0)
            continue;
        for (unsigned c = 0; c < file->ncombs; c++)
            for (unsigned i = 0; i < file->combs[c].nimpls; i++)
                project_each(file, &file->combs[c], &file->combs[c].impls[i],
                             tally);
        orr_model_file_free(file);
    }
    if (n >= 0)
        free(entries);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

START_TEST(measured_sizes_are_within_the_range_from_the_others)
{
    static struct tally tally;
    const char *shared = getenv("ORRERY_SHARED");
    const char *const folders[] = {"sampling/codelets/45",
                                   "measured/codelets/45"};
    char path[512];
    double share, width;

    for (int i = 0; shared && i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", shared, folders[i]);
        project_folder(path, &tally);
    }
    if (tally.n == 0) {
        printf("# skipped: no models in ORRERY_SHARED\n");
        return;
    }
    qsort(tally.widths, tally.n, sizeof(double), compare);
    share = (double)tally.within / tally.n;
    width = tally.widths[tally.n / 2];
    printf("# %u sizes of %u models, each from the others: %.1f %% within the "
           "range, whose median half-width is %.1f %%\n",
           tally.n, tally.nmodels, 100 * share, 100 * width);
    ck_assert_msg(share >= 0.85 && share <= 0.95 && width <= 0.39,
                  "%g within, width %g", share, width);
}
END_TEST

/* --- other machines --- */

/* Published rates of the devices of the hosts in measured/: TFlop/s in single and
 * double precision, TB/s. Products in double precision use the A100's tensor
 * units. */
static const struct {
    const char *host;
    double fp32, fp64, memory;
} hosts[] = {
    {"sirocco-v100", 14, 7, 0.9},
    {"sirocco-p100", 9.3, 4.7, 0.732},
    {"sirocco-rtx8000", 16.3, 0.51, 0.672},
    {"sirocco-a100-ctest", 19.5, 19.5, 1.555},
    {"gemini-1-fgcs", 15.7, 7.8, 0.9},
};

#define NHOSTS (sizeof(hosts) / sizeof(*hosts))

/* Kernels of three loops over n x n tiles. */
static const char *const kernels[] = {"gemm", "symm", "syrk", "syr2k",
                                      "trmm", "trsm", "lauum"};

/* The largest task of CUDA 0 in the file; false without. *ret_n: sizes. */
static bool largest(const char *shared, const char *name, size_t host,
                    struct orr_model_row *ret, unsigned *ret_n)
{
    const struct orr_device device = {ORR_DEVICE_CUDA, 0, 1};
    const struct orr_model_row *rows[MOST];
    const struct orr_model_comb *comb;
    struct orr_model_file *file;
    struct orr_error err = {""};
    char path[1024];

    snprintf(path, sizeof(path), "%s/measured/codelets/45/%s.%s", shared, name,
             hosts[host].host);
    *ret_n = 0;
    if (orr_model_file_read(path, &file, &err) < 0)
        return false;
    comb = orr_model_file_find_comb(file, &device, 1, ORR_HOMOGENEOUS_DEFAULT);
    if (comb && comb->nimpls > 0)
        *ret_n = rows_of(&comb->impls[0], rows);
    for (unsigned i = 0; i < *ret_n; i++)
        if (i == 0 || rows[i]->size > ret->size)
            *ret = *rows[i];
    orr_model_file_free(file);
    return *ret_n > 0;
}

/* Three loops over tiles of doubles or floats, about two of them a task. */
static double flops_of(const struct orr_model_row *row, bool is_double)
{
    return pow((double)row->size / (is_double ? 16 : 8), 1.5);
}

static struct orr_rates rates_of(size_t host, bool is_double)
{
    return (struct orr_rates){
        1e6 * (is_double ? hosts[host].fp64 : hosts[host].fp32),
        1e6 * hosts[host].memory};
}

static void project_kernel(const char *shared, const char *name,
                           struct tally *tally)
{
    bool is_double = name[0] == 'd';

    for (size_t to = 0; to < NHOSTS; to++)
        for (size_t from = 0; from < NHOSTS; from++) {
            struct orr_rates here = rates_of(from, is_double);
            struct orr_rates there = rates_of(to, is_double);
            struct orr_model_row source, target;
            struct orr_projection p = {0};
            unsigned n, nsource;
            double flops, off;

            if (from == to || !largest(shared, name, to, &target, &n) ||
                n != 1 || !largest(shared, name, from, &source, &nsource))
                continue;
            flops = flops_of(&target, is_double);
            p.us = source.mean * flops / flops_of(&source, is_double);
            p = orr_project_device(p, flops, (double)target.size, &here, &there,
                                   ORR_PAIR_DEVICES);
            off = log(target.mean / p.us);
            tally->widths[tally->n++] = p.off_by;
            tally->within += fabs(off) <= log1p(p.off_by);
            if (fabs(off) > log1p(p.off_by))
                printf("# %s from %s on %s: %+.0f %%, the range is %.0f %%\n",
                       name, hosts[from].host, hosts[to].host, 100 * expm1(off),
                       100 * p.off_by);
        }
}

START_TEST(kernels_of_one_size_are_within_the_range_from_other_machines)
{
    static struct tally tally;
    const char *shared = getenv("ORRERY_SHARED");
    double share, width;

    for (size_t k = 0; shared && k < sizeof(kernels) / sizeof(*kernels); k++)
        for (const char *type = "ds"; *type; type++) {
            char name[16];

            snprintf(name, sizeof(name), "%c%s", *type, kernels[k]);
            project_kernel(shared, name, &tally);
        }
    if (tally.n == 0) {
        printf("# skipped: no measured/ in ORRERY_SHARED\n");
        return;
    }
    qsort(tally.widths, tally.n, sizeof(double), compare);
    share = (double)tally.within / tally.n;
    width = tally.widths[tally.n / 2];
    printf(
        "# %u kernels of one size, each from another machine: %.1f %% within "
        "the range, whose median half-width is %.1f %%\n",
        tally.n, 100 * share, 100 * width);
    ck_assert_msg(share >= 0.85 && share <= 0.95 && width <= 0.39,
                  "%g within, width %g", share, width);
}
END_TEST

SUITE_MAIN(perfmodel_project)
{
    Suite *suite = suite_create("perfmodel-project");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, what_follows_a_law_is_found_between_and_near_its_points);
    tcase_add_test(tc,
                   the_range_grows_with_the_distance_and_shrinks_with_points);
    tcase_add_test(tc, a_step_between_two_sizes_is_within_the_range);
    tcase_add_test(tc, another_device_is_as_far_from_its_roof);
    tcase_add_test(
        tc, no_device_is_faster_than_its_peak_nor_an_accelerator_than_its_memory);
    tcase_add_test(
        tc, no_kernel_on_an_accelerator_is_shorter_than_launch_and_latency);
    tcase_add_test(
        tc, a_scalar_loop_runs_on_one_lane_which_is_slower_than_a_core);
    tcase_add_test(tc, a_small_size_of_an_accelerator_is_not_below_its_launch);
    tcase_add_test(tc, a_slower_accelerator_is_better_used);
    tcase_add_test(tc, measured_sizes_are_within_the_range_from_the_others);
    tcase_add_test(
        tc, kernels_of_one_size_are_within_the_range_from_other_machines);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
