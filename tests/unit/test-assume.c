/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-assume.c - the text of assumptions: laws, units, architectures,
 * files, and what is refused. What tasks make of them is in test-cost.c.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/cost/assume.h"
#include "perfmodel/arch.h"
#include "tests/suite.h"

/* µs of the kernel `name` on CUDA 0 with 1000 bytes of data. */
static double read_us(const struct orr_assumptions *a, const char *name)
{
    const struct orr_assumption *found =
        orr_assumptions_find(a, name, NULL, ORR_DEVICE_CUDA, 0);

    return found ? orr_assumption_us(found, 1000, 60) : (double)NAN;
}

START_TEST(assumptions_are_read_with_units_laws_and_architectures)
{
    static const struct {
        const char *text;
        double us; /* of kernel k */
    } cases[] = {
        {" k=1.5us ", 1.5},
        {";;k = 2 s;", 2e6},
        {"kernel[ k ]=3", 3},
        {"k = 250ns", 0.25},
        {"k = 0", 0},
        {"k = 1ms; k = 7", 7},                       /* the last counts … */
        {"k on cuda0 = 1; k on cuda = 2; k = 3", 1}, /* … of the most precise */
        {"k = 3; kernel[k] on CUDA = 2us; k on cuda1 = 1", 2},
        {"k on cpu = 3", NAN},
        {"k = 20us + 2ns * n", 22},
        {"k = 1us+1us * n^0.5+2ns*n", 1 + 31.6227766 + 2},
        {"k on cuda = cpu / 20", 3},
        {"k = cpu0 * 2", 120},
        {"k = cpu", 60},
        /* 3000 flop at 1000 per µs, 1000 bytes at 200 per µs */
        {"k = 3 flop/byte roofline of 1 GFlop/s, 200 MB/s", 5},
        {"k = 30 flop/byte roofline of 1 GFlop/s, 200 MB/s", 30},
        {"k = 3 flop/byte roofline of 1gflop/s , 0.2 gb/s", 5},
        /* the same as descriptions of machines have it */
        {"k = 3 flop/byte roofline of 1Gf, 200MBps", 5},
        {"k = 3 flop/byte roofline of 1 Gflops, 1.6 Gbps", 5},
        {"kernel[a on b] = 3; k = 4\nkernel[k] = 5", 5},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct orr_error err = {""};
        struct orr_assumptions a;
        double us;

        ck_assert_msg(orr_assumptions_read(cases[i].text, &a, &err) == 0,
                      "%s: %s", cases[i].text, err.text);
        us = read_us(&a, "k");
        ck_assert_msg(isnan(cases[i].us) ? isnan(us)
                                         : fabs(us - cases[i].us) < 1e-6,
                      "%s: %g", cases[i].text, us);
        orr_assumptions_done(&a);
    }
}
END_TEST

/* What the text gives for a kernel of that codelet's name and model's symbol. */
static double find_us(const char *text, const char *name, const char *symbol)
{
    struct orr_error err = {""};
    struct orr_assumptions a;
    const struct orr_assumption *found;
    double us;

    ck_assert_msg(orr_assumptions_read(text, &a, &err) == 0, "%s: %s", text,
                  err.text);
    found = orr_assumptions_find(&a, name, symbol, ORR_DEVICE_CUDA, 0);
    us = found ? orr_assumption_us(found, 1000, 60) : (double)NAN;
    ck_assert_int_eq(!isnan(us), orr_assumptions_any(&a, name, symbol));
    orr_assumptions_done(&a);
    return us;
}

START_TEST(a_name_may_be_a_pattern_or_quoted)
{
    static const struct {
        const char *text, *name, *symbol;
        double us; /* NaN: nothing fits */
    } cases[] = {
        {"kernel[*] = 5us", "heat", NULL, 5},
        {"kernel[*] on cuda = 5us", NULL, "chol_gemm", 5},
        {"chol_* = 5us", "gemm", "chol_gemm", 5},
        {"kernel[ge?m] = 5us", "gemm", NULL, 5},
        {"kernel[ge?m] = 5us", "geomm", NULL, NAN},
        {"kernel[*_x] = 5us", "gemm", "gemm_y", NAN},
        {"kernel[gem] = 5us", "gemm", NULL, NAN}, /* without, all of it */
        /* A name says more than a pattern, wherever they stand. */
        {"gemm = 2us; kernel[*] = 5us", "gemm", NULL, 2},
        {"gemm = 2us; kernel[*] on cuda0 = 5us", "gemm", NULL, 2},
        {"gemm = 2us; kernel[*] = 5us", "trsm", NULL, 5},
        {"ge* = 2us; kernel[*] = 5us", "gemm", NULL, 5}, /* the last */
        {"kernel[\"a*b\"] = 5us", "axb", NULL, NAN},
        {"kernel[\"a*b\"] = 5us", "a*b", NULL, 5},
        /* What reports and advice call a codelet without a name. */
        {"kernel[unnamed codelet] = 5us", NULL, NULL, 5},
        {"kernel[unnamed codelet] = 5us", NULL, "gemm", NAN},
        {"kernel[*] = 5us", NULL, NULL, 5},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        double us = find_us(cases[i].text, cases[i].name, cases[i].symbol);

        ck_assert_msg(isnan(cases[i].us) ? isnan(us) : us == cases[i].us,
                      "%s: %g", cases[i].text, us);
    }
}
END_TEST

START_TEST(a_wrong_assumption_is_named_with_the_remedy)
{
    static const struct {
        const char *text, *part, *remedy;
    } cases[] = {
        {"a = 1; k", "`k'", "kernel[init] = 50us"},
        {"k = soon", "`k = soon'", "50us"},
        {"k = -1us", "`k = -1us'", "0 or more"},
        {"k = 1h", "no such unit", "ns, us, ms or s"},
        {"= 4", "names no kernel", "kernel[init]"},
        {"k = ", "`k ='", "50us"},
        {"k on gpu = 4us", "no such architecture", "cpu0"},
        {"k on fpga = 4us", "no such architecture", "cpu0"},
        {"k on cuda x = 4us", "follows the architecture", "cpu0"},
        {"k = 1us 2us", "not understood", ";"},
        {"k = 1us * m", "multiplied with n only", "20us + 2ns * n"},
        {"k = cpu / 0", "above 0", "cpu / 20"},
        {"k = 3 flop/byte roofline", "not complete", "of 19.5 TFlop/s"},
        {"k = 3 flop/byte roofline of 1, 2", "not complete", "of 19.5 TFlop/s"},
        {"k = 3 flop/byte roofline of 0 GFlop/s, 2 GB/s", "not complete", "of"},
        {"k = 1+2+3+4+5", "four terms", "join"},
        {"@/nonexistent/file", "No such file", "one a line"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct orr_error err = {""};
        struct orr_assumptions a;

        ck_assert_int_eq(orr_assumptions_read(cases[i].text, &a, &err),
                         -EINVAL);
        ck_assert_msg(strstr(err.text, cases[i].part) &&
                          strstr(err.text, cases[i].remedy),
                      "%s: %s", cases[i].text, err.text);
    }
}
END_TEST

START_TEST(a_file_of_assumptions_has_lines_and_comments)
{
    char path[] = "/tmp/orrery-test-XXXXXX", text[64];
    FILE *file = fdopen(mkstemp(path), "w");
    struct orr_assumptions a;
    struct orr_error err = {""};

    fputs("# of a machine\nk = 4us # so they say\n\nl = 5us; m = 6us\n", file);
    fclose(file);
    snprintf(text, sizeof(text), "k = 3us; @%s; l = 8us", path);
    ck_assert_msg(orr_assumptions_read(text, &a, &err) == 0, "%s", err.text);
    ck_assert_double_eq(read_us(&a, "k"), 4);
    ck_assert_double_eq(read_us(&a, "l"), 8);
    ck_assert_double_eq(read_us(&a, "m"), 6);
    ck_assert_str_eq(a.all[1].text, "k = 4us");
    orr_assumptions_done(&a);
    file = fopen(path, "w");
    fputs("k = 4us\n\nl 5us\n", file);
    fclose(file);
    ck_assert_int_eq(orr_assumptions_read(text, &a, &err), -EINVAL);
    snprintf(text, sizeof(text), "%s:3: `l 5us'", path);
    ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
    /* Its name alone is no assumption. */
    ck_assert_int_eq(orr_assumptions_read(path, &a, &err), -EINVAL);
    snprintf(text, sizeof(text), "write @%s", path);
    ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
    unlink(path);
}
END_TEST

START_TEST(a_time_may_be_for_one_machine)
{
    struct orr_assumptions a;
    struct orr_error err = {""};

    ck_assert_int_eq(
        orr_assumptions_read("moon:kernel[k] = 4us; kernel[ k ] on cpu = 5us; "
                             "sun:kernel[l] on cuda = 6us; n::k = 7us",
                             &a, &err),
        0);
    ck_assert_uint_eq(a.n, 4);
    ck_assert_str_eq(a.all[0].machine, "moon");
    ck_assert_ptr_null(a.all[1].machine);
    ck_assert_str_eq(a.all[3].name, "n::k");
    orr_assumptions_set_machine(&a, "moon");
    ck_assert(a.all[2].elsewhere && !a.all[0].elsewhere && !a.all[1].elsewhere);
    ck_assert_double_eq(read_us(&a, "k"), 4);
    ck_assert(isnan(read_us(&a, "l")));
    orr_assumptions_done(&a);
    ck_assert_int_eq(orr_assumptions_read(":kernel[k] = 4us", &a, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "it names no machine"));
}
END_TEST

SUITE_MAIN(assume)
{
    Suite *suite = suite_create("assume");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, assumptions_are_read_with_units_laws_and_architectures);
    tcase_add_test(tc, a_name_may_be_a_pattern_or_quoted);
    tcase_add_test(tc, a_wrong_assumption_is_named_with_the_remedy);
    tcase_add_test(tc, a_file_of_assumptions_has_lines_and_comments);
    tcase_add_test(tc, a_time_may_be_for_one_machine);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
