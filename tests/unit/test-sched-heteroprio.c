/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-sched-heteroprio.c - the scores of heteroprio's automatic mode,
 * against values from a pocket calculator; the settings of each kind of workers.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/data/node.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/policies/heteroprio.h"
#include "core/policies/heteroprio_score.h"
#include "core/sched/toolbox.h"
#include "tests/suite.h"

/* Faster here, and this architecture lacks more work; the other way round. */
static const struct orr_hp_inputs inputs[] = {
    {.own = 1,
     .other = 2,
     .urt = 0.5,
     .nod = 2,
     .best_released = 3,
     .need = 0.75,
     .other_need = 0.25,
     .share = 0.4,
     .other_share = 0.6},
    {.own = 2,
     .other = 1,
     .urt = 1.5,
     .nod = 2,
     .best_released = 3,
     .need = 0.25,
     .other_need = 0.75,
     .share = 0.4,
     .other_share = 0.6},
};

static const double expected[][ORR_HP_NSCORES] = {
    {1.3639184, 2,         2,         0.5,       1.25,      1.49, 0.5,
     1.5,       1,         3,         2,         2,         1.5,  3.6,
     1.9698925, 2.5561071, 0.2272906, 0.5776730, 1.9137167, 2.7,  0.5,
     1.5,       1.5,       2,         1.0909796, 2,         6,    8},
    {-0.6360816, 0.4261226, 0.4261226,  1.5,        -0.25,      -0.25, -1.5,
     -2.5,       0.75,      1.25,       -3.5,       -2.5,       -3.5,  0,
     0.7831542,  0,         -0.4369811, 0.4773806,  -0.6991149, 1.4,   0.75,
     0.25,       -0.25,     1.5,        -0.7270612, 1,          3,     2},
};

static struct orr_config config;

static void read_config(void)
{
    orr_config_done(&config);
    ck_assert_int_eq(orr_config_read(&config, NULL), 0);
}

START_TEST(scores_are_their_formulas)
{
    for (unsigned i = 0; i < 2; i++) {
        double score = orr_hp_score(&config, (unsigned)_i, &inputs[i]);

        ck_assert_double_eq_tol(score, expected[i][_i], 1e-6);
    }
}
END_TEST

/* Nobody else can run it, nothing is released, times of 0. */
START_TEST(scores_are_numbers_at_the_ends_of_their_ranges)
{
    const double ends[] = {0, 1e-9, 1, 1e15};

    for (unsigned i = 0; i < 4 * 4 * 4; i++) {
        const struct orr_hp_inputs in = {
            .own = ends[i % 4],
            .other = ends[i / 4 % 4],
            .urt = ends[i / 16],
            .nod = ends[i / 16],
        };

        ck_assert(!isnan(orr_hp_score(&config, (unsigned)_i, &in)));
    }
}
END_TEST

START_TEST(constants_come_from_variables)
{
    setenv("STARPU_HETEROPRIO_URT_URT_MULTIPLIER", "2", 1);
    setenv("STARPU_HETEROPRIO_AURT_DOT_DIFF_10_NOD_OFFSET", "0", 1);
    read_config();
    ck_assert_double_eq_tol(orr_hp_score(&config, 4, &inputs[0]), 2, 1e-9);
    ck_assert_double_eq_tol(orr_hp_score(&config, 18, &inputs[0]), 0.8926991,
                            1e-6);
    ck_assert_double_eq_tol(orr_hp_score(&config, 5, &inputs[0]), 1.49, 1e-9);
}
END_TEST

/* A constant, the only score that it changes, and the inputs where it does. */
static const struct {
    const char *name;
    unsigned score, at;
} constants[] = {
#define CONSTANT(name, score, at)                                              \
    {                                                                          \
        "STARPU_HETEROPRIO_" name, score, at                                   \
    }
    CONSTANT("NOD_TIME_COMBINATION_NOD_MULTIPLIER", 0, 0),
    CONSTANT("NOD_TIME_COMBINATION_EXP_SELECTIVITY", 0, 0),
    CONSTANT("BEST_NODS_SCORE_EXP_SELECTIVITY", 1, 1),
    CONSTANT("URT_URT_MULTIPLIER", 4, 0),
    CONSTANT("URT_2_URT_MULTIPLIER", 5, 0),
    CONSTANT("URT_2_ARCH_NEED_MULTIPLIER", 5, 0),
    CONSTANT("URT_DOT_DIFF_2_ARCH_NEED_MULTIPLIER", 10, 0),
    CONSTANT("URT_DOT_DIFF_3_ARCH_NEED_MULTIPLIER", 11, 0),
    CONSTANT("URT_DOT_DIFF_4_ARCH_NEED_MULTIPLIER", 12, 1),
    CONSTANT("URT_DOT_DIFF_5_NOD_OFFSET", 13, 0),
    CONSTANT("URT_DOT_DIFF_5_ARCH_DIFF_OFFSET", 13, 0),
    CONSTANT("URT_DOT_DIFF_9_NOD_OFFSET", 17, 0),
    CONSTANT("URT_DOT_DIFF_9_ARCH_DIFF_OFFSET", 17, 0),
    CONSTANT("AURT_DOT_DIFF_10_NOD_OFFSET", 18, 0),
    CONSTANT("URT_DOT_DIFF_10_ARCH_DIFF_OFFSET", 18, 0),
    CONSTANT("URT_DOT_DIFF_11_NOD_OFFSET", 19, 0),
    CONSTANT("URT_DOT_DIFF_11_ARCH_DIFF_OFFSET", 19, 0),
    CONSTANT("URTS_TIME_COMBINATION_NOD_MULTIPLIER", 24, 0),
    CONSTANT("URTS_TIME_COMBINATION_EXP_SELECTIVITY", 24, 0),
};

START_TEST(each_constant_changes_its_score_alone)
{
    setenv(constants[_i].name, "7", 1);
    read_config();
    for (unsigned i = 0; i < ORR_HP_NSCORES; i++) {
        unsigned at = constants[_i].at;
        double off = orr_hp_score(&config, i, &inputs[at]) - expected[at][i];

        ck_assert_msg((fabs(off) > 1e-3) == (i == constants[_i].score),
                      "%s, score %u: %g", constants[_i].name, i, off);
    }
}
END_TEST

/* --- settings of each kind of workers --- */

static const struct orr_device_kind kinds[] = {
    [STARPU_CPU_WORKER] = {.variable = "CPU"},
    [STARPU_CUDA_WORKER] = {.variable = "CUDA"},
    [STARPU_OPENCL_WORKER] = {.variable = "OPENCL"},
    [STARPU_HIP_WORKER] = {.variable = "HIP"},
};
enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

const struct orr_device_kind *orr_device_kind(enum starpu_worker_archtype type)
{
    return (int)type < (int)NKINDS && kinds[type].variable ? &kinds[type]
                                                           : NULL;
}

/* What the choice of a group calls, which is not tested here. */
double orr_transfer_predict(struct orr_runtime *rt, unsigned src, unsigned dst,
                            size_t bytes)
{
    (void)rt;
    (void)src;
    (void)dst;
    (void)bytes;
    abort();
}

double orr_sched_transfer_time(struct orr_runtime *rt,
                               const struct orr_job *job, unsigned node)
{
    (void)rt;
    (void)job;
    (void)node;
    abort();
}

/* A worker looks up those of its kind: tests/api/test-heteroprio-groups.c. */
START_TEST(each_kind_has_near_groups_and_a_step_of_its_own)
{
    static struct orr_runtime rt;
    static struct orr_heteroprio hp;
    static struct orr_sched sched = {.runtime = &rt, .data = &hp};
    char name[60], value[8];

    for (unsigned k = 0; k < NKINDS; k++) {
        if (!kinds[k].variable)
            continue;
        snprintf(name, sizeof(name), "STARPU_LAHETEROPRIO_S_%s",
                 kinds[k].variable);
        snprintf(value, sizeof(value), "%u", 2 + k);
        setenv(name, value, 1);
        snprintf(name, sizeof(name), "STARPU_LAHETEROPRIO_PRIO_STEP_%s",
                 kinds[k].variable);
        snprintf(value, sizeof(value), "%u", 12 + k);
        setenv(name, value, 1);
    }
    ck_assert_int_eq(orr_config_read(&rt.config, NULL), 0);
    ck_assert_int_eq(orr_hp_locality_init(&sched, NULL), 0);
    for (unsigned k = 0; k < NKINDS; k++) {
        if (!kinds[k].variable)
            continue;
        ck_assert_uint_eq(hp.locality.near[k], 2 + k);
        ck_assert_uint_eq(hp.locality.step[k], 12 + k);
    }
}
END_TEST

START_TEST(scores_have_numbers_and_names)
{
    unsigned number = 99;

    ck_assert(orr_hp_score_find("27", &number));
    ck_assert_uint_eq(number, 27);
    ck_assert(orr_hp_score_find("URT_DOT_DIFF_4", &number));
    ck_assert_uint_eq(number, ORR_HP_USUAL_SCORE);
    ck_assert(!orr_hp_score_find("28", &number));
    ck_assert(!orr_hp_score_find("-1", &number));
    ck_assert(!orr_hp_score_find("", &number));
    ck_assert(!orr_hp_score_find("4x", &number));
    ck_assert_uint_eq(number, ORR_HP_USUAL_SCORE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sched-heteroprio");
    TCase *tc = tcase_create("scores");

    tcase_add_checked_fixture(tc, read_config, NULL);
    tcase_add_loop_test(tc, scores_are_their_formulas, 0, ORR_HP_NSCORES);
    tcase_add_loop_test(tc, scores_are_numbers_at_the_ends_of_their_ranges, 0,
                        ORR_HP_NSCORES);
    tcase_add_test(tc, constants_come_from_variables);
    tcase_add_loop_test(tc, each_constant_changes_its_score_alone, 0,
                        (int)(sizeof(constants) / sizeof(constants[0])));
    tcase_add_test(tc, scores_have_numbers_and_names);
    tcase_add_test(tc, each_kind_has_near_groups_and_a_step_of_its_own);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
