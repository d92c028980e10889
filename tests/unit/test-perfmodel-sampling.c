/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-perfmodel-sampling.c - where models are looked for, and
 * under which host name. One thread, a folder of its own in /tmp.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include "perfmodel/sampling.h"

#include <errno.h>

#include "perfmodel/arch.h"
#include "tests/unit/perfmodel_util.h"

static char dir[64];

static void set_up(void)
{
    tmp_make(dir);
}

static void tear_down(void)
{
    tmp_remove(dir);
}

/* A path below the test's folder, valid until the 8th call after. */
static const char *below(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, 128, "%s/%s", dir, name);
    return path;
}

static void dir_make(const char *path)
{
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static const char *env_everything(const char *name)
{
    static const char *const pairs[][2] = {
        {"STARPU_HOME", ""},
        {"XDG_CACHE_HOME", "/xdg"},
        {"HOME", "/home/me"},
        {"STARPU_PERF_MODEL_DIR", "/first"},
        {"STARPU_PERF_MODEL_PATH", "/nowhere:/elsewhere"},
        {"STARPU_PERF_MODEL_HOMOGENEOUS_CUDA", "1"},
        {"STARPU_PERF_MODEL_HOMOGENEOUS_CPU", "0"},
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (strcmp(pairs[i][0], name) == 0)
            return pairs[i][1];
    return NULL;
}

static const char *env_nothing(const char *name)
{
    (void)name;
    return NULL;
}

START_TEST(home_is_the_first_variable_that_is_set)
{
    ck_assert_str_eq(orr_sampling_home(env_everything), "/xdg");
    ck_assert_str_eq(orr_sampling_home(env_nothing), "/tmp");
}
END_TEST

START_TEST(search_path_has_the_documented_order)
{
    struct orr_sampling_options options = {0};
    struct orr_sampling *s;
    const char *const *dirs;
    char path[512];

    dir_make(below("one"));
    dir_make(below("two"));
    dir_make(below("data"));
    dir_make(below("data/starpu"));
    dir_make(below("data/starpu/perfmodels"));
    dir_make(below("data/starpu/perfmodels/sampling"));
    snprintf(path, sizeof(path), "%s:%s,%s", below("one"), below("missing"),
             below("two"));
    options.perf_model_dir = "/explicit";
    options.machine_dir = "/machine";
    options.home = "/home/me";
    options.perf_model_path = path;
    options.datadir = below("data");
    ck_assert_int_eq(orr_sampling_new(&options, &s), 0);
    dirs = orr_sampling_dirs(s);
    ck_assert_str_eq(dirs[0], "/explicit");
    ck_assert_str_eq(dirs[1], "/machine");
    ck_assert_str_eq(dirs[2], "/home/me/.starpu/sampling");
    ck_assert_str_eq(dirs[3], below("one"));
    ck_assert_str_eq(dirs[4], below("two"));
    ck_assert_str_eq(dirs[5], below("data/starpu/perfmodels/sampling"));
    ck_assert_ptr_null(dirs[6]);
    orr_sampling_free(s);
}
END_TEST

START_TEST(environment_gives_the_same_path)
{
    struct orr_sampling *s;
    const char *const *dirs;

    ck_assert_int_eq(orr_sampling_from_env(env_everything, NULL, &s), 0);
    dirs = orr_sampling_dirs(s);
    ck_assert_str_eq(dirs[0], "/first");
    ck_assert_str_eq(dirs[1], "/xdg/.starpu/sampling");
    ck_assert_ptr_null(dirs[2]);
    orr_sampling_free(s);
    ck_assert_int_eq(orr_sampling_from_env(env_nothing, NULL, &s), 0);
    ck_assert_str_eq(orr_sampling_dirs(s)[0], "/tmp/.starpu/sampling");
    orr_sampling_free(s);
}
END_TEST

/* A search path of the folders "a" and "b". */
static struct orr_sampling *two_dirs(void)
{
    struct orr_sampling_options options = {.perf_model_dir = below("a"),
                                           .configured_dir = below("b")};
    struct orr_sampling *s;

    dir_make(below("a"));
    dir_make(below("a/bus"));
    dir_make(below("b"));
    dir_make(below("b/bus"));
    ck_assert_int_eq(orr_sampling_new(&options, &s), 0);
    return s;
}

START_TEST(first_directory_with_the_file_is_read_and_saved_to)
{
    struct orr_sampling *s = two_dirs();
    char *path;

    ck_assert_int_eq(orr_sampling_find(s, "bus", "x", &path), -ENOENT);
    ck_assert_int_eq(orr_sampling_place(s, "bus", "x", &path), 0);
    ck_assert_str_eq(path, below("a/bus/x"));
    free(path);
    text_write(below("b/bus/x"), "");
    ck_assert_int_eq(orr_sampling_find(s, "bus", "x", &path), 0);
    ck_assert_str_eq(path, below("b/bus/x"));
    free(path);
    ck_assert_int_eq(orr_sampling_place(s, "bus", "x", &path), 0);
    ck_assert_str_eq(path, below("b/bus/x"));
    free(path);
    orr_sampling_free(s);
}
END_TEST

static int note(const char *path, const char *name, bool shadowed, void *arg)
{
    (void)path;
    strcat(arg, name);
    strcat(arg, shadowed ? "- " : " ");
    return strcmp(name, "stop") == 0 ? 7 : 0;
}

START_TEST(files_are_visited_in_order_and_shadowed_ones_marked)
{
    struct orr_sampling *s = two_dirs();
    char seen[256] = "";

    text_write(below("a/bus/y"), "");
    text_write(below("a/bus/x"), "");
    text_write(below("a/bus/.hidden"), "");
    text_write(below("b/bus/x"), "");
    text_write(below("b/bus/z"), "");
    dir_make(below("b/bus/folder"));
    ck_assert_int_eq(orr_sampling_each(s, "bus", note, seen), 0);
    ck_assert_str_eq(seen, "x y x- z ");
    text_write(below("a/bus/stop"), "");
    ck_assert_int_eq(orr_sampling_each(s, "bus", note, seen), 7);
    orr_sampling_free(s);
}
END_TEST

START_TEST(file_name_is_symbol_dot_host_unless_it_has_a_dot)
{
    static const char *const refused[] = {"", "a/b", "../x", ".x"};
    struct orr_error err;
    char *name;

    ck_assert_int_eq(orr_model_name("gemm", "mirage", &name, &err), 0);
    ck_assert_str_eq(name, "gemm.mirage");
    free(name);
    ck_assert_int_eq(orr_model_name("gemm.attila", "mirage", &name, &err), 0);
    ck_assert_str_eq(name, "gemm.attila");
    free(name);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        err.text[0] = '\0';
        ck_assert_int_eq(orr_model_name(refused[i], "h", &name, &err), -EINVAL);
        ck_assert_ptr_nonnull(strstr(err.text, "file name"));
    }
    ck_assert_int_eq(orr_model_name("gemm", "a/b", &name, &err), -EINVAL);
}
END_TEST

static const struct {
    struct orr_host_options options;
    const char *host;
} hosts[] = {
    {{.system = "node7.cluster.org"}, "node7"},
    {{.hostname = "node.with.dots", .system = "x"}, "node.with.dots"},
    {{.machine = "mirage", .system = "x"}, "mirage"},
    {{.hostname = "mine", .machine = "mirage"}, "mine"},
    {{.hostname = "Rechner \xc3\xa4"}, "Rechner \xc3\xa4"},
    {{.mpi_hostnames = "a b  c", .mpi_rank = 2, .hostname = "mine"}, "c"},
    {{.mpi_hostnames = " a", .mpi_rank = 0}, "a"},
};

static const struct {
    const char *name, *symbol;
} defaults[] = {
    {"gemm", "gemm~default"},
    {"a.b/c d", "a%2Eb%2Fc%20d~default"},
    {"50%~,\n", "50%25%7E%2C%0A~default"},
    {"(anonymous namespace)::f(void**)", "(anonymous%20namespace)::f(void**)~default"},
};

START_TEST(default_models_are_named_after_codelets)
{
    struct orr_error err = {""};
    char *symbol, *name;

    ck_assert_int_eq(orr_model_default_symbol(defaults[_i].name, &symbol), 0);
    ck_assert_str_eq(symbol, defaults[_i].symbol);
    ck_assert(orr_model_is_default(symbol));
    ck_assert(!orr_model_is_default(defaults[_i].name));
    ck_assert_int_eq(orr_model_name(symbol, "mirage", &name, &err), 0);
    ck_assert_str_eq(strrchr(name, '.'), ".mirage");
    free(name);
    free(symbol);
}
END_TEST

START_TEST(long_names_stay_different)
{
    char *symbols[2];

    for (int i = 0; i < 2; i++) {
        char name[5000];

        memset(name, i ? '/' : 'x', sizeof(name));
        memset(name, 'x', 4000);
        name[sizeof(name) - 1] = '\0';
        ck_assert_int_eq(orr_model_default_symbol(name, &symbols[i]), 0);
        ck_assert_uint_lt(strlen(symbols[i]), 150);
        ck_assert(orr_model_is_default(symbols[i]));
    }
    ck_assert_str_ne(symbols[0], symbols[1]);
    free(symbols[0]);
    free(symbols[1]);
}
END_TEST

START_TEST(host_name_is_the_first_that_is_given)
{
    struct orr_error err;
    char *host;

    ck_assert_int_eq(orr_host_name(&hosts[_i].options, &host, &err), 0);
    ck_assert_str_eq(host, hosts[_i].host);
    free(host);
}
END_TEST

START_TEST(too_few_mpi_host_names_are_an_error)
{
    struct orr_host_options options = {.mpi_hostnames = "a b", .mpi_rank = 2};
    struct orr_error err = {""};
    char *host;

    ck_assert_int_eq(orr_host_name(&options, &host, &err), -EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "STARPU_MPI_HOSTNAMES"));
}
END_TEST

static const struct {
    struct orr_host_options options;
    const char *words;
} bad_hosts[] = {
    {{.hostname = "../../etc"}, "dot"},
    {{.hostname = "a/../../etc"}, "slash"},
    {{.hostname = ".."}, "dot"},
    {{.hostname = ".hidden"}, "dot"},
    {{.hostname = "b\xff"
                  "d"},
     "UTF-8"},
    {{.hostname = "\xc0\xaf"}, "UTF-8"},     /* a slash, too long */
    {{.hostname = "\xed\xa0\x80"}, "UTF-8"}, /* a surrogate */
    {{.hostname = "two\nlines"}, "control"},
    {{.mpi_hostnames = "a ../b", .mpi_rank = 1}, "dot"},
    {{.machine = "a/b"}, "slash"},
};

START_TEST(a_host_that_cannot_be_in_file_names_is_refused)
{
    struct orr_error err = {""};
    char *host = NULL;

    ck_assert_int_eq(orr_host_name(&bad_hosts[_i].options, &host, &err),
                     -EINVAL);
    ck_assert_msg(strstr(err.text, bad_hosts[_i].words), "%s", err.text);
    ck_assert_ptr_null(host);
}
END_TEST

/* That name was not chosen for us: no error. */
START_TEST(a_system_that_has_such_a_name_is_localhost)
{
    struct orr_host_options options = {.system = "b\xff"
                                                 "d"};
    struct orr_error err = {""};
    char *host = NULL;

    ck_assert_int_eq(orr_host_name(&options, &host, &err), 0);
    ck_assert_str_eq(host, "localhost");
    free(host);
}
END_TEST

START_TEST(homogeneous_devices_share_a_comb)
{
    struct orr_device cpu0 = {ORR_DEVICE_CPU, 0, 1};
    struct orr_device cpu3 = {ORR_DEVICE_CPU, 3, 1};
    struct orr_device pair[] = {{ORR_DEVICE_CUDA, 1, 1},
                                {ORR_DEVICE_CPU, 0, 1}};
    struct orr_device turned[] = {{ORR_DEVICE_CPU, 2, 1},
                                  {ORR_DEVICE_CUDA, 1, 1}};
    struct orr_device other[] = {{ORR_DEVICE_CPU, 2, 1},
                                 {ORR_DEVICE_CUDA, 2, 1}};
    struct orr_combs *combs;
    unsigned a, b;

    ck_assert_int_eq(orr_combs_new(ORR_HOMOGENEOUS_DEFAULT, &combs), 0);
    ck_assert_int_eq(orr_combs_get(combs, &cpu0, 1, &a), 0);
    ck_assert_int_eq(orr_combs_get(combs, &cpu3, 1, &b), 0);
    ck_assert_uint_eq(a, b);
    ck_assert_int_eq(orr_combs_get(combs, pair, 2, &a), 0);
    ck_assert_uint_eq(a, 1);
    ck_assert_int_eq(orr_combs_get(combs, turned, 2, &b), 0);
    ck_assert_uint_eq(b, 1);
    ck_assert_int_eq(orr_combs_get(combs, other, 2, &b), 0);
    ck_assert_uint_eq(b, 2);
    ck_assert_uint_eq(orr_combs_count(combs), 3);
    ck_assert_ptr_null(orr_combs_at(combs, 3));
    ck_assert_double_eq(orr_devices_speedup(pair, 2), 13.33 + 0.5);
    orr_combs_free(combs);
    ck_assert_uint_eq(orr_homogeneous_from_env(env_everything),
                      1U << ORR_DEVICE_CUDA);
    ck_assert_uint_eq(orr_homogeneous_from_env(env_nothing),
                      ORR_HOMOGENEOUS_DEFAULT);
}
END_TEST

START_TEST(architecture_names_are_cut_to_31_characters)
{
    struct orr_device many[] = {{ORR_DEVICE_OPENCL, 10, 1},
                                {ORR_DEVICE_TCPIP_MS, 11, 1},
                                {ORR_DEVICE_MPI_MS, 12, 1},
                                {ORR_DEVICE_HIP, 13, 1}};
    struct orr_device cuda = {ORR_DEVICE_CUDA, 2, 1};
    struct orr_device nameless = {24, 2, 1};
    char name[ORR_ARCH_NAME_SIZE];

    orr_arch_name(&nameless, 1, 3, 0, name);
    ck_assert_str_eq(name, "type24_2_impl0 (Comb3)");
    ck_assert_double_eq(orr_devices_speedup(&nameless, 1), 0.5);
    orr_arch_name(&cuda, 1, 3, 1, name);
    ck_assert_str_eq(name, "cuda2_impl1 (Comb3)");
    orr_arch_name(many, 2, 3, 0, name);
    ck_assert_str_eq(name, "opencl10_tcpip_ms11_impl0 (Comb");
    orr_arch_name(many, 4, 3, 0, name);
    ck_assert_str_eq(name, "opencl10_tcpip_ms11_mpi_ms12_hi");
}
END_TEST

SUITE_MAIN(perfmodel_sampling)
{
    Suite *suite = suite_create("perfmodel-sampling");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, set_up, tear_down);
    tcase_add_test(tc, home_is_the_first_variable_that_is_set);
    tcase_add_test(tc, search_path_has_the_documented_order);
    tcase_add_test(tc, environment_gives_the_same_path);
    tcase_add_test(tc, first_directory_with_the_file_is_read_and_saved_to);
    tcase_add_test(tc, files_are_visited_in_order_and_shadowed_ones_marked);
    tcase_add_test(tc, file_name_is_symbol_dot_host_unless_it_has_a_dot);
    tcase_add_loop_test(tc, default_models_are_named_after_codelets, 0,
                        sizeof(defaults) / sizeof(*defaults));
    tcase_add_test(tc, long_names_stay_different);
    tcase_add_loop_test(tc, host_name_is_the_first_that_is_given, 0,
                        sizeof(hosts) / sizeof(hosts[0]));
    tcase_add_test(tc, too_few_mpi_host_names_are_an_error);
    tcase_add_loop_test(tc, a_host_that_cannot_be_in_file_names_is_refused, 0,
                        sizeof(bad_hosts) / sizeof(*bad_hosts));
    tcase_add_test(tc, a_system_that_has_such_a_name_is_localhost);
    tcase_add_test(tc, homogeneous_devices_share_a_comb);
    tcase_add_test(tc, architecture_names_are_cut_to_31_characters);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
