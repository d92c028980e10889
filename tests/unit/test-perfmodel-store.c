/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-store.c - version-45 model files: read, written,
 * refused, merged and replaced. Some tests fork.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "perfmodel/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "perfmodel/merge.h"
#include "tests/unit/perfmodel_util.h"

/* The parts of a file with one CPU and one implementation. */
#define HEAD "45\n1\n1\n0\n0\n1\n"
#define FIT                                                                    \
    "0 0 0 0 nan nan 0 0 0\n"                                                  \
    "nan nan nan\n"
#define NO_COEFF "0\n"
#define ROW      "617e5fe6\t3686400\t2.5e8\t9500\t125\t114000\t1.083188e9\t12\n"

static char dir[64], path[96];

static void set_up(void)
{
    tmp_make(dir);
    snprintf(path, sizeof(path), "%s/codelets/45/kernel.host", dir);
}

static void tear_down(void)
{
    tmp_remove(dir);
}

static struct orr_model_file *parse(const char *text)
{
    struct orr_model_file *file = NULL;
    struct orr_error err = {""};
    int rc = orr_model_file_parse("sample", text, strlen(text), &file, &err);

    ck_assert_msg(rc == 0, "%s", err.text);
    return file;
}

static bool reals_equal(const double *a, const double *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

static void rows_assert_equal(const struct orr_model_row *a,
                              const struct orr_model_row *b)
{
    double x[] = {a->flops, a->mean, a->dev, a->sum, a->sum2};
    double y[] = {b->flops, b->mean, b->dev, b->sum, b->sum2};

    ck_assert_uint_eq(a->hash, b->hash);
    ck_assert_uint_eq(a->size, b->size);
    ck_assert_uint_eq(a->n, b->n);
    ck_assert(reals_equal(x, y, 5));
}

static void fits_assert_equal(const struct orr_model_fit *a,
                              const struct orr_model_fit *b)
{
    double x[] = {a->sumlnx, a->sumlnx2, a->sumlny, a->sumlnxlny, a->alpha,
                  a->beta,   a->a,       a->b,      a->c};
    double y[] = {b->sumlnx, b->sumlnx2, b->sumlny, b->sumlnxlny, b->alpha,
                  b->beta,   b->a,       b->b,      b->c};

    ck_assert(reals_equal(x, y, 9));
    ck_assert_uint_eq(a->n, b->n);
    ck_assert_uint_eq(a->minx, b->minx);
    ck_assert_uint_eq(a->maxx, b->maxx);
    ck_assert_uint_eq(a->ncoeff, b->ncoeff);
    ck_assert(reals_equal(a->coeff, b->coeff, a->ncoeff));
}

static void files_assert_equal(const struct orr_model_file *a,
                               const struct orr_model_file *b)
{
    ck_assert_uint_eq(a->ncombs, b->ncombs);
    for (unsigned i = 0; i < a->ncombs; i++) {
        const struct orr_model_comb *x = &a->combs[i], *y = &b->combs[i];

        ck_assert(orr_devices_equal(x->devices, x->ndevices, y->devices,
                                    y->ndevices, 0));
        ck_assert_uint_eq(x->nimpls, y->nimpls);
        for (unsigned j = 0; j < x->nimpls; j++) {
            fits_assert_equal(&x->impls[j].fit, &y->impls[j].fit);
            ck_assert_uint_eq(x->impls[j].nrows, y->impls[j].nrows);
            for (unsigned k = 0; k < x->impls[j].nrows; k++)
                rows_assert_equal(&x->impls[j].rows[k], &y->impls[j].rows[k]);
        }
    }
}

static void assert_round_trip(const struct orr_model_file *file)
{
    struct orr_model_file *again;
    char *text, *text2;
    size_t size, size2;

    ck_assert_int_eq(orr_model_file_format(file, &text, &size), 0);
    again = parse(text);
    files_assert_equal(file, again);
    ck_assert_int_eq(orr_model_file_format(again, &text2, &size2), 0);
    ck_assert_str_eq(text, text2);
    orr_model_file_free(again);
    free(text);
    free(text2);
}

static const char *const samples[] = {
    "45\n0\n",
    HEAD "0\n",
    HEAD "1\n1\n" FIT NO_COEFF ROW,
    /* no flops, as files had it before that column */
    HEAD "1\n1\n" FIT NO_COEFF "1f 24 9.5 0.5 19 181 2\n",
    /* flops uncertain, a row without samples */
    HEAD "1\n2\n" FIT NO_COEFF "1f 24 nan 9.5 0.5 19 181 2\n"
         "2 0 NaN 0 0 0 0 0\n",
    /* regressions with values, coefficients */
    HEAD "1\n0\n1.5 2.5 3.5 4.5 1e-3 2.25 40 1024 4194304\n"
         "1.25e-4 1.5 33.5\n3 1.5 -2.5 1e-9\n",
    /* a multiple regression without data */
    HEAD "1\n0\n" FIT "1 nan\n",
    /* more implementations than a codelet can have */
    HEAD "5\n0\n" FIT "0\n0\n" FIT "0\n0\n" FIT "0\n0\n" FIT "0\n1\n" FIT
         "0\n" ROW,
    /* a combined worker, an unused device type, comments everywhere */
    "# a\n\n45 # b\n2\n# c\n2\n0\n0\n3\n1\n2\n1\n1\n0\n" FIT "0\n"
    "1\n3\n1\n1\n1\n1\n" FIT "0\n# rows\n" ROW "# end",
    /* line ends of another system */
    ("45\r\n1\r\n1\r\n0\r\n0\r\n1\r\n1\r\n1\r\n0 0 0 0 nan nan 0 0 0\r\n"
     "nan nan nan\r\n0\r\n1f 24 0 9.5 0.5 19 181 2\r\n"),
};

START_TEST(samples_round_trip_number_for_number)
{
    struct orr_model_file *file = parse(samples[_i]);

    assert_round_trip(file);
    orr_model_file_free(file);
}
END_TEST

START_TEST(every_shared_file_round_trips)
{
    const char *folder = suite_shared("sampling/codelets/45");
    char name[PATH_MAX + 300];
    DIR *d;
    unsigned n = 0;

    if (!folder)
        SKIP_TEST("no sampling/codelets/45 in ORRERY_SHARED");
    d = opendir(folder);
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        struct orr_model_file *file;
        struct orr_error err = {""};

        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", folder, e->d_name);
        ck_assert_msg(orr_model_file_read(name, &file, &err) == 0, "%s",
                      err.text);
        ck_assert_uint_gt(file->ncombs, 0);
        assert_round_trip(file);
        orr_model_file_free(file);
        n++;
    }
    closedir(d);
    ck_assert_uint_gt(n, 0);
    printf("# %u shared files round-trip\n", n);
}
END_TEST

START_TEST(writer_uses_the_usual_number_formats)
{
    struct orr_model_file *file = parse(samples[2]);
    char *text;
    size_t size;

    ck_assert_int_eq(orr_model_file_format(file, &text, &size), 0);
    ck_assert_ptr_nonnull(
        strstr(text, "\n617e5fe6\t3686400        \t2.500000e+08   \t"
                     "9.500000e+03   \t1.250000e+02   \t1.140000e+05   \t"
                     "1.083188e+09   \t12\n\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n0.000000e+00   \t0.000000e+00   \t"
                                       "0.000000e+00   \t0.000000e+00   \t"
                                       "nan            \tnan            \t0\t"
                                       "0              \t0              \n"));
    ck_assert_ptr_nonnull(strstr(text, "# Model for cpu0_impl0 (Comb0)\n"));
    ck_assert_uint_eq(size, strlen(text));
    free(text);
    orr_model_file_free(file);
}
END_TEST

START_TEST(numbers_do_not_depend_on_the_locale)
{
    struct orr_model_file *file;

    if (suite_comma_locale() < 0)
        return;
    file = parse(samples[3]);
    ck_assert_double_eq(file->combs[0].impls[0].rows[0].mean, 9.5);
    assert_round_trip(file);
    orr_model_file_free(file);
}
END_TEST

/* Broken texts, the line to be named, and part of the reason. */
static const struct {
    const char *text, *line, *word;
} broken[] = {
    {"hello\n", ":1:", "version"},
    {"\n\n46\n1\n", ":3:", "version 46"},
    {"45\n", ":2:", "ends where"},
    {"45\n-1\n", ":2:", "found \"-1\""},
    {"45\n4294967295\n", ":3:", "ends where"},
    {"45\n99999999999999999999\n", ":2:", "combinations"},
    {"45\n1\n0\n", ":3:", "0 devices"},
    {"45\n1\n4000000000\n1\n", ":3:", "4000000000 devices"},
    {"45\n1\n1\n0.5\n", ":4:", "device type"},
    {HEAD, ":7:", "implementations"},
    {HEAD "1\n1\n" FIT, ":11:", "coefficients"},
    {HEAD "1\n1\n" FIT "7\n1", ":11:", "too short"},
    {HEAD "1\n1\n" FIT "2 1 x\n", ":11:", "found \"x\""},
    {HEAD "1\n1\n0 0 0 0 nan nan 0 0\nnan\n", ":10:", "largest size"},
    {HEAD "1\n1\n" FIT NO_COEFF, ":12:", "ends where a row"},
    {HEAD "1\n2\n" FIT NO_COEFF ROW, ":13:", "ends where a row"},
    {HEAD "1\n1\n" FIT NO_COEFF "617e5fe6\t3686400\t2.5e8\n",
     ":12:", "this one 3"},
    {HEAD "1\n1\n" FIT NO_COEFF "1 2 3 4 5 6 7 8", ":12:", "within a row"},
    {HEAD "1\n1\n" FIT NO_COEFF "1 2 3 4 5 6 7 8 9\n", ":12:", "this one 9"},
    {HEAD "1\n1\n" FIT NO_COEFF "1 2 3 -4 5 6 7 8\n", ":12:", "mean"},
    {HEAD "1\n1\n" FIT NO_COEFF "1 2 3 4 -5 6 7 8\n", ":12:", "deviation"},
    {HEAD "1\n1\n" FIT NO_COEFF "1 2 3 4 5 -6 7 8\n", ":12:", "the sum of a"},
    {HEAD "1\n1\n" FIT NO_COEFF "1 2 3 4 5 6 -7 8\n", ":12:", "squares"},
    {HEAD "1\n1\n" FIT NO_COEFF "1 2 -3 4 5 6 7 8\n", ":12:", "flops"},
    {HEAD "1\n1\n" FIT NO_COEFF "1 2 3 4 5 6 7 -8\n", ":12:", "samples"},
    {HEAD "1\n1\n" FIT NO_COEFF "xyz 2 3 4 5 6 7 8\n", ":12:", "footprint"},
    {HEAD "1\n1\n" FIT NO_COEFF "1 2 3 4e 5 6 7 8\n", ":12:", "mean"},
    {HEAD "1\n1\n" FIT NO_COEFF "123456789 2 3 4 5 6 7 8\n", ":12:", "hex"},
    {HEAD "1\n0\n" FIT NO_COEFF ROW, ":12:", "end of the file"},
    {"\x7f"
     "ELF\x01\x02\xff\xfe",
     ":1:", "version"},
};

START_TEST(broken_files_are_named_by_line_and_left_alone)
{
    struct orr_model_file *file = NULL;
    struct orr_error err = {""};
    char *text, name[128];

    snprintf(name, sizeof(name), "%s/broken.host", dir);
    text_write(name, broken[_i].text);
    ck_assert_int_eq(orr_model_file_read(name, &file, &err), -EINVAL);
    ck_assert_ptr_null(file);
    ck_assert_msg(strncmp(err.text, name, strlen(name)) == 0, "%s", err.text);
    ck_assert_msg(strncmp(err.text + strlen(name), broken[_i].line,
                          strlen(broken[_i].line)) == 0,
                  "%s", err.text);
    ck_assert_msg(strstr(err.text, broken[_i].word) != NULL, "%s", err.text);
    text = text_read(name);
    ck_assert_str_eq(text, broken[_i].text);
    free(text);
}
END_TEST

START_TEST(every_cut_of_a_file_is_refused)
{
    const char *whole = samples[7];
    struct orr_error err;

    for (size_t n = 0; n < strlen(whole); n++) {
        struct orr_model_file *file = NULL;
        int rc = orr_model_file_parse("cut", whole, n, &file, &err);

        ck_assert(rc == (n == 0 ? -ENODATA : -EINVAL));
        ck_assert_ptr_null(file);
    }
}
END_TEST

START_TEST(empty_and_missing_files_are_distinguished)
{
    struct orr_model_file *file = NULL;
    struct orr_error err = {""};
    char name[128], *text;

    snprintf(name, sizeof(name), "%s/empty.host", dir);
    ck_assert_int_eq(orr_model_file_read(name, &file, &err), -ENOENT);
    ck_assert_str_eq(err.text, "");
    text_write(name, "");
    ck_assert_int_eq(orr_model_file_read(name, &file, &err), -ENODATA);
    ck_assert_ptr_nonnull(strstr(err.text, "empty.host:1:"));
    text_write(name, "# only words\n\n");
    ck_assert_int_eq(orr_model_file_read(name, &file, &err), -ENODATA);
    text = text_read(name);
    ck_assert_str_eq(text, "# only words\n\n");
    free(text);
    ck_assert_int_eq(orr_model_file_read(dir, &file, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "not a regular file"));
}
END_TEST

static const struct orr_device cpu = {ORR_DEVICE_CPU, 0, 1};

/* A row of samples that all took 2 µs. */
static struct orr_model_row row_of(unsigned n)
{
    struct orr_model_row row = {
        .hash = 0xabc, .n = n, .size = 8, .sum = 2.0 * n, .sum2 = 4.0 * n};

    orr_model_row_refresh(&row);
    return row;
}

static struct orr_model_file *file_of(unsigned n)
{
    struct orr_model_change change = {
        .devices = &cpu, .ndevices = 1, .row = row_of(n)};
    struct orr_model_file *file;

    ck_assert_int_eq(orr_model_file_new(&file), 0);
    if (n > 0)
        ck_assert_int_eq(orr_model_file_apply(file, &change, 1, 0), 0);
    return file;
}

/* In samples: what the file had when read, what we have now, whether we emptied
 * the row meanwhile, what the file has now, and the merged row. */
static const struct {
    unsigned base, mine;
    bool wiped;
    unsigned now, merged;
} merges[] = {
    {0, 5, false, 0, 5},     /* new here */
    {0, 5, false, 7, 12},    /* new here and there */
    {10, 15, false, 10, 15}, /* only here */
    {10, 15, false, 13, 18}, /* here and there */
    {10, 15, false, 4, 9},   /* emptied there, then measured */
    {10, 3, true, 10, 3},    /* emptied here, then measured */
    {10, 3, true, 14, 7},    /* emptied here, measured there */
    {10, 3, true, 4, 7},     /* emptied here and there */
    {10, 15, false, 0, 15},  /* the row was taken out there */
};

START_TEST(merging_loses_no_measure)
{
    struct orr_model_change change = {.devices = &cpu,
                                      .ndevices = 1,
                                      .row = row_of(merges[_i].mine),
                                      .base = row_of(merges[_i].base),
                                      .wiped = merges[_i].wiped};
    struct orr_model_file *file = file_of(merges[_i].now);
    struct orr_model_row merged = row_of(merges[_i].merged);

    ck_assert_int_eq(orr_model_file_apply(file, &change, 1, 0), 0);
    rows_assert_equal(&file->combs[0].impls[0].rows[0], &merged);
    orr_model_file_free(file);
}
END_TEST

START_TEST(merging_leaves_everything_else_as_it_is)
{
    struct orr_model_file *file = parse(samples[7]), *same = parse(samples[7]);
    struct orr_model_change change = {
        .devices = &cpu, .ndevices = 1, .impl = 4, .row = row_of(5)};

    ck_assert_int_eq(orr_model_file_apply(file, &change, 1, 0), 0);
    ck_assert_uint_eq(file->combs[0].impls[4].nrows, 2);
    file->combs[0].impls[4].nrows = 1;
    files_assert_equal(file, same);
    orr_model_file_free(file);
    orr_model_file_free(same);
}
END_TEST

START_TEST(starting_anew_keeps_what_others_measured_meanwhile)
{
    struct orr_model_file *old = file_of(10), *now = file_of(14);
    struct orr_model_row rest = row_of(4);

    orr_model_file_subtract(now, old);
    rows_assert_equal(&now->combs[0].impls[0].rows[0], &rest);
    orr_model_file_free(now);
    now = file_of(10);
    orr_model_file_subtract(now, old);
    ck_assert_uint_eq(now->combs[0].impls[0].nrows, 0);
    orr_model_file_free(now);
    orr_model_file_free(old);
}
END_TEST

/* Adds one sample to the row. */
static int add_one(struct orr_model_file *file, void *arg,
                   struct orr_error *err)
{
    struct orr_model_change change = {
        .devices = &cpu, .ndevices = 1, .row = row_of(1)};

    (void)arg;
    (void)err;
    return orr_model_file_apply(file, &change, 1, 0);
}

/* The number of samples in the file, which must be whole. */
static unsigned samples_in_file(void)
{
    struct orr_model_file *file;
    struct orr_error err = {""};
    int rc = orr_model_file_read(path, &file, &err);
    struct orr_model_row row, expected;

    if (rc == -ENOENT)
        return 0;
    ck_assert_msg(rc == 0, "%s", err.text);
    row = file->combs[0].impls[0].rows[0];
    expected = row_of(row.n);
    rows_assert_equal(&row, &expected);
    orr_model_file_free(file);
    return row.n;
}

START_TEST(update_makes_folders_and_reports_what_it_wrote)
{
    struct orr_model_file *file;
    struct orr_error err = {""};
    struct stat st;

    for (unsigned i = 1; i <= 3; i++) {
        ck_assert_msg(orr_model_file_update(path, add_one, NULL, &file, &err) ==
                          0,
                      "%s", err.text);
        ck_assert_uint_eq(file->combs[0].impls[0].rows[0].n, i);
        orr_model_file_free(file);
        ck_assert_uint_eq(samples_in_file(), i);
        ck_assert_int_eq(chmod(path, 0640), 0);
    }
    ck_assert_int_eq(orr_model_file_update(path, add_one, NULL, NULL, &err), 0);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0640);
    *strrchr(path, '/') = '\0';
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0700);
}
END_TEST

START_TEST(update_refuses_a_broken_file_and_fills_an_empty_one)
{
    struct orr_error err = {""};
    char *text;

    ck_assert_int_eq(orr_model_file_update(path, add_one, NULL, NULL, &err), 0);
    text_write(path, "45\nnonsense\n");
    ck_assert_int_eq(orr_model_file_update(path, add_one, NULL, NULL, &err),
                     -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "kernel.host:2:"));
    text = text_read(path);
    ck_assert_str_eq(text, "45\nnonsense\n");
    free(text);
    text_write(path, "");
    ck_assert_int_eq(orr_model_file_update(path, add_one, NULL, NULL, &err), 0);
    ck_assert_uint_eq(samples_in_file(), 1);
}
END_TEST

START_TEST(update_follows_links_and_refuses_those_to_nowhere)
{
    struct orr_error err = {""};
    char target[128];
    struct stat st;

    ck_assert_int_eq(orr_model_file_update(path, add_one, NULL, NULL, &err), 0);
    snprintf(target, sizeof(target), "%s/elsewhere", dir);
    ck_assert_int_eq(rename(path, target), 0);
    ck_assert_int_eq(symlink(target, path), 0);
    ck_assert_int_eq(orr_model_file_update(path, add_one, NULL, NULL, &err), 0);
    ck_assert_uint_eq(samples_in_file(), 2);
    ck_assert_int_eq(lstat(path, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    ck_assert_int_eq(unlink(target), 0);
    ck_assert_int_eq(orr_model_file_update(path, add_one, NULL, NULL, &err),
                     -EEXIST);
    ck_assert_ptr_nonnull(strstr(err.text, "Remove it"));
}
END_TEST

/* Updates the file n times, and ends the process. */
static void child_updates(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (orr_model_file_update(path, add_one, NULL, NULL, NULL))
            _exit(1);
    _exit(0);
}

static void child_wait(pid_t child)
{
    int status;

    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

START_TEST(processes_updating_at_once_lose_nothing)
{
    enum { NPROCESSES = 3, NUPDATES = 40 };
    pid_t children[NPROCESSES];

    for (unsigned i = 0; i < NPROCESSES; i++) {
        children[i] = fork();
        ck_assert_int_ge(children[i], 0);
        if (children[i] == 0)
            child_updates(NUPDATES);
    }
    for (unsigned i = 0; i < NPROCESSES; i++)
        child_wait(children[i]);
    ck_assert_uint_eq(samples_in_file(), NPROCESSES * NUPDATES);
}
END_TEST

/* Writes as StarPU does: an fcntl lock on the file, emptied, filled again. The
 * child that updates meanwhile must wait for it. */
START_TEST(a_writer_in_place_is_waited_for)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct orr_model_file *file = file_of(10);
    char *text;
    size_t size;
    int fd, begun[2];
    pid_t child;
    char byte;

    ck_assert_int_eq(orr_model_file_update(path, add_one, NULL, NULL, NULL), 0);
    ck_assert_int_eq(orr_model_file_format(file, &text, &size), 0);
    fd = open(path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_SETLKW, &lock), 0);
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    ck_assert_int_eq(pipe(begun), 0);
    child = fork();
    if (child == 0) {
        if (write(begun[1], "x", 1) != 1)
            _exit(1);
        child_updates(1);
    }
    ck_assert_int_eq(read(begun[0], &byte, 1), 1);
    for (size_t i = 0; i < size; i++)
        ck_assert_int_eq(write(fd, text + i, 1), 1);
    close(fd);
    child_wait(child);
    ck_assert_uint_eq(samples_in_file(), 11);
    free(text);
    orr_model_file_free(file);
}
END_TEST

/* A child that reports each update through a pipe is killed after some. */
static void kill_after(unsigned nupdates, unsigned spin)
{
    int ready[2];
    pid_t child;
    char byte;

    ck_assert_int_eq(pipe(ready), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    while (child == 0)
        if (orr_model_file_update(path, add_one, NULL, NULL, NULL) ||
            write(ready[1], "x", 1) != 1)
            _exit(1);
    for (unsigned i = 0; i < nupdates; i++)
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    for (volatile unsigned i = 0; i < spin; i++)
        continue; /* another moment of the update each time */
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    close(ready[0]);
    close(ready[1]);
}

START_TEST(killing_leaves_the_old_file_or_the_new_one)
{
    enum { KILLED = 200 };
    unsigned before = 0, after, left = 0;

    for (unsigned i = 0; i < KILLED; i++) {
        char temporary[128];

        kill_after(i % 3, i % 50 * 40000);
        after = samples_in_file();
        ck_assert_uint_ge(after, before + i % 3);
        before = after;
        snprintf(temporary, sizeof(temporary),
                 "%s/codelets/45/.kernel.host.orrery-new", dir);
        left += access(temporary, F_OK) == 0;
    }
    printf("# %u updates, %u of %d killed while writing\n", before, left,
           KILLED);
    ck_assert_uint_gt(left, 0);
    /* The next update is not held up by what a killed one left. */
    ck_assert_int_eq(orr_model_file_update(path, add_one, NULL, NULL, NULL), 0);
    ck_assert_uint_eq(samples_in_file(), before + 1);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

SUITE_MAIN(perfmodel_store)
{
    Suite *suite = suite_create("perfmodel-store");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, samples_round_trip_number_for_number, 0,
                        COUNT(samples));
    tcase_add_test(tc, every_shared_file_round_trips);
    tcase_add_test(tc, writer_uses_the_usual_number_formats);
    tcase_add_test(tc, numbers_do_not_depend_on_the_locale);
    tcase_add_loop_test(tc, broken_files_are_named_by_line_and_left_alone, 0,
                        COUNT(broken));
    tcase_add_test(tc, every_cut_of_a_file_is_refused);
    tcase_add_test(tc, empty_and_missing_files_are_distinguished);
    tcase_add_loop_test(tc, merging_loses_no_measure, 0, COUNT(merges));
    tcase_add_test(tc, merging_leaves_everything_else_as_it_is);
    tcase_add_test(tc, starting_anew_keeps_what_others_measured_meanwhile);
    tcase_add_test(tc, update_makes_folders_and_reports_what_it_wrote);
    tcase_add_test(tc, update_refuses_a_broken_file_and_fills_an_empty_one);
    tcase_add_test(tc, update_follows_links_and_refuses_those_to_nowhere);
    tcase_add_test(tc, processes_updating_at_once_lose_nothing);
    tcase_add_test(tc, a_writer_in_place_is_waited_for);
    tcase_add_test(tc, killing_leaves_the_old_file_or_the_new_one);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
