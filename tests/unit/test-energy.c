/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-energy.c - counters of energy, fake ones, and the energy
 * models that they feed: RAPL zones are files, NVML is a library of our own.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/api/energy.h"
#include "core/device/energy.h"
#include "tests/suite.h"

/* -- zones -- */

static char root[] = "/tmp/orrery-powercap-XXXXXX";
enum { RANDOM = sizeof("/tmp/orrery-powercap-") - 1 };

static void put(const char *zone, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put(const char *zone, const char *file, const char *format, ...)
{
    char path[200];
    va_list args;
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", root, zone);
    (void)mkdir(path, 0755);
    snprintf(path, sizeof(path), "%s/%s/%s", root, zone, file);
    f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
    fclose(f);
}

static void put_zone(const char *zone, const char *name,
                     unsigned long long energy)
{
    put(zone, "name", "%s\n", name);
    put(zone, "max_energy_range_uj", "262143328850\n");
    put(zone, "energy_uj", "%llu\n", energy);
}

static void remove_root(void)
{
    char command[100];

    snprintf(command, sizeof(command), "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
}

static void make_root(void)
{
    memcpy(root + RANDOM, "XXXXXX", 6); /* of the case before, CK_FORK=no */
    ck_assert_ptr_nonnull(mkdtemp(root));
    put_zone("intel-rapl:0", "package-0", 1000000);
    put_zone("intel-rapl:1", "package-1", 262143328000);
    put_zone("intel-rapl:2", "psys", 5);
    put_zone("intel-rapl:0:0", "core", 7);
    put_zone("intel-rapl-mmio:0", "package-0", 9);
}

static const struct orr_energy_options options = {
    .powercap = root,
    .nvml = FAKE_NVML,
};

START_TEST(packages_add_up_and_may_wrap)
{
    struct orr_energy_meter *meter;
    struct orr_error err = {""};
    double joules;

    make_root();
    ck_assert_int_eq(orr_energy_rapl.open(&options, 0, &meter, &err), 0);
    ck_assert_int_eq(meter->ops->read(meter, &joules, &err), 0);
    ck_assert_double_eq(joules, 0);
    put_zone("intel-rapl:0", "package-0", 3500000);
    put_zone("intel-rapl:1", "package-1", 999150); /* wrapped: 850 + 999150 */
    put_zone("intel-rapl:2", "psys", 500000000);
    put_zone("intel-rapl:0:0", "core", 700000000);
    ck_assert_int_eq(meter->ops->read(meter, &joules, &err), 0);
    ck_assert_double_eq_tol(joules, 2.5 + 1.0, 1e-9);
    meter->ops->close(meter);
    remove_root();
}
END_TEST

START_TEST(no_packages_are_an_error_that_names_the_remedy)
{
    struct orr_energy_options nowhere = {.powercap = "/nowhere/at/all"};
    struct orr_energy_meter *meter;
    struct orr_error err = {""};

    ck_assert_int_eq(orr_energy_rapl.open(&nowhere, 0, &meter, &err), -ENODEV);
    ck_assert_ptr_nonnull(strstr(err.text, "/nowhere/at/all"));
    ck_assert_ptr_nonnull(strstr(err.text, "modprobe intel_rapl_msr"));
}
END_TEST

START_TEST(counters_that_cannot_be_read_are_an_error_that_names_the_file)
{
    struct orr_energy_meter *meter;
    struct orr_error err = {""};

    make_root();
    put("intel-rapl:0", "energy_uj", "much\n");
    ck_assert_int_eq(orr_energy_rapl.open(&options, 0, &meter, &err), -EIO);
    ck_assert_ptr_nonnull(strstr(err.text, "intel-rapl:0/energy_uj"));
    put("intel-rapl:0", "energy_uj", "%s", "");
    ck_assert_int_eq(orr_energy_rapl.open(&options, 0, &meter, &err), -EIO);
    remove_root();
}
END_TEST

START_TEST(counters_that_are_root_s_are_an_error_that_says_so)
{
    bool is_root = geteuid() == 0, /* which may read everything */
        is_other;
    struct orr_energy_meter *meter;
    struct orr_error err = {""};
    char path[200];
    int rc = 0;

    make_root();
    put_zone("intel-rapl:0", "package-0", 1);
    snprintf(path, sizeof(path), "%s/intel-rapl:0/energy_uj", root);
    ck_assert_int_eq(chmod(path, 0), 0);
    ck_assert_int_eq(chmod(root, 0755), 0);
    is_other = !is_root || seteuid(65534) == 0;
    if (is_other)
        rc = orr_energy_rapl.open(&options, 0, &meter, &err);
    if (is_root)
        ck_assert_int_eq(seteuid(0), 0);
    remove_root();
    if (!is_other)
        SKIP_TEST("root cannot become another user here");
    ck_assert_int_eq(rc, -EACCES);
    ck_assert_ptr_nonnull(strstr(err.text, "run as root"));
}
END_TEST

/* -- GPUs -- */

START_TEST(a_counter_beyond_its_range_is_an_error)
{
    struct orr_energy_meter *meter = NULL;
    struct orr_error err = {""};

    make_root();
    put("intel-rapl:0", "max_energy_range_uj", "999999\n");
    ck_assert_int_eq(orr_energy_rapl.open(&options, 0, &meter, &err), -EIO);
    ck_assert_ptr_nonnull(strstr(err.text, "intel-rapl:0"));
    ck_assert_ptr_nonnull(strstr(err.text, "range"));
    remove_root();
}
END_TEST

START_TEST(a_gpu_counts_in_joules)
{
    struct orr_energy_meter *meter;
    struct orr_error err = {""};
    double joules;

    ck_assert_msg(orr_energy_nvml.open(&options, 0, &meter, &err) == 0, "%s",
                  err.text);
    ck_assert_int_eq(meter->ops->read(meter, &joules, &err), 0);
    ck_assert_double_eq_tol(joules, 1.5, 1e-12);
    ck_assert_int_eq(meter->ops->read(meter, &joules, &err), 0);
    ck_assert_double_eq_tol(joules, 3.0, 1e-12);
    meter->ops->close(meter);
}
END_TEST

/* CUDA counts devices in another order, and CUDA_VISIBLE_DEVICES leaves some out. */
START_TEST(a_gpu_is_found_by_its_place_on_the_bus)
{
    static const char *const places[] = {"41:00.0", "0000:41:00.0"};
    struct orr_energy_options there = {.nvml = FAKE_NVML, .bus = places[_i]};
    struct orr_energy_meter *meter;
    struct orr_error err = {""};
    double joules;

    ck_assert_msg(orr_energy_nvml.open(&there, 1, &meter, &err) == 0, "%s",
                  err.text);
    ck_assert_int_eq(meter->ops->read(meter, &joules, &err), 0);
    ck_assert_double_eq_tol(joules, 1.5, 1e-12);
    meter->ops->close(meter);
    there.bus = "0000:42:00.0";
    ck_assert_int_eq(orr_energy_nvml.open(&there, 1, &meter, &err), -EIO);
}
END_TEST

/* Some library that is there and is not NVML. */
static const struct {
    const char *library;
    int device, code;
    const char *says;
} unusable[] = {
    {"/nowhere/libnvidia-ml.so.1", 0, -ENODEV,
     "/nowhere/libnvidia-ml.so.1, which is not there"},
    {"libc.so.6", 0, -ENODEV, "no nvmlInit_v2"},
    {FAKE_NVML, 1, -ENODEV, "GPU 1: Not Supported; GPUs before Volta"},
    {FAKE_NVML, 2, -EIO, "the handle of GPU 2: Not Found"},
};

START_TEST(why_a_gpu_cannot_be_measured_is_reported)
{
    struct orr_energy_options some = {.nvml = unusable[_i].library};
    struct orr_energy_meter *meter;
    struct orr_error err = {""};

    ck_assert_int_eq(
        orr_energy_nvml.open(&some, unusable[_i].device, &meter, &err),
        unusable[_i].code);
    ck_assert_msg(strstr(err.text, unusable[_i].says) != NULL, "%s", err.text);
}
END_TEST

static const struct {
    const char *fails;
    int code;
    const char *says;
} failures[] = {
    {"init", -EIO,
     "the driver of GPU 0: Driver Not Loaded; see whether nvidia-smi works"},
    {"energy", -EACCES,
     "the energy of GPU 0: Insufficient Permissions; run as a user who may"},
    {"read", -EIO, "the energy of GPU 0: GPU is lost"},
    {"back", -EIO, "the energy counter of GPU 0 went back"},
};

START_TEST(a_call_of_nvml_that_fails_is_reported)
{
    struct orr_energy_meter *meter = NULL;
    struct orr_error err = {""};
    double joules = 0;
    int rc;

    setenv("FAKE_NVML_FAIL", failures[_i].fails, 1);
    rc = orr_energy_nvml.open(&options, 0, &meter, &err);
    if (rc == 0) {
        rc = meter->ops->read(meter, &joules, &err);
        meter->ops->close(meter);
    }
    ck_assert_int_eq(rc, failures[_i].code);
    ck_assert_msg(strstr(err.text, failures[_i].says) != NULL, "%s", err.text);
    ck_assert_double_eq(joules, 0);
}
END_TEST

/* -- models -- */

static struct starpu_perfmodel energy = {.type = STARPU_HISTORY_BASED,
                                         .symbol = "test_energy"};

static void nothing(void *buffers[], void *arg)
{
    (void)buffers;
    (void)arg;
}

static struct starpu_codelet codelet = {
    .cpu_funcs = {nothing},
    .nbuffers = 1,
    .modes = {STARPU_R},
    .energy_model = &energy,
};

static struct starpu_task *make_task(starpu_data_handle_t handle)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &codelet;
    task->handles[0] = handle;
    return task;
}

static void open_runtime(void)
{
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NCPU", "2", 1);
    setenv("STARPU_CALIBRATE", "1", 1);
    setenv("STARPU_PERF_MODEL_DIR", root, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

START_TEST(measured_energy_is_what_tasks_are_expected_to_take)
{
    static char bytes[64];
    starpu_data_handle_t handle;
    struct starpu_task *task;
    unsigned long long package = 1000000;

    make_root();
    open_runtime();
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)bytes,
                                  sizeof(bytes));
    task = make_task(handle);
    ck_assert(isnan(starpu_task_worker_expected_energy(task, 0, 0, 0)));
    ck_assert(isnan(starpu_task_expected_energy_average(task, 0)));
    /* The first is a warm-up. Then 10 tasks of 0.3 J, and 30 of 0.32 J. */
    for (int i = 0; i < 3; i++) {
        static const unsigned ntasks[] = {1, 10, 30};
        static const unsigned microjoules[] = {9000000, 3000000, 9600000};

        put_zone("intel-rapl:0", "package-0", package);
        ck_assert_int_eq(orr_api_energy_start(&options, -1, STARPU_CPU_WORKER),
                         0);
        package += microjoules[i];
        put_zone("intel-rapl:0", "package-0", package);
        ck_assert_int_eq(starpu_energy_stop(&energy, task, 0, ntasks[i], 1,
                                            STARPU_CPU_WORKER),
                         0);
    }
    ck_assert_double_eq_tol(starpu_task_worker_expected_energy(task, 0, 0, 0),
                            (3 + 9.6) / 40, 1e-9);
    ck_assert_double_eq_tol(starpu_task_expected_energy(
                                task, starpu_worker_get_perf_archtype(1, 0), 0),
                            (3 + 9.6) / 40, 1e-9);
    ck_assert_double_eq_tol(starpu_task_expected_energy_average(task, 0),
                            (3 + 9.6) / 40, 1e-9);
    starpu_task_destroy(task);
    starpu_data_unregister(handle);
    starpu_shutdown();
    remove_root();
}
END_TEST

START_TEST(misuse_is_an_error_and_leaves_nothing_under_way)
{
    struct starpu_perfmodel asked = {.type = STARPU_PER_ARCH};
    struct starpu_task task = {.cl = &codelet};

    make_root();
    open_runtime();
    ck_assert_int_eq(starpu_energy_start(0, STARPU_CUDA_WORKER), -EINVAL);
    ck_assert_int_eq(starpu_energy_start(99, STARPU_CPU_WORKER), -EINVAL);
    ck_assert_int_eq(
        starpu_energy_stop(&energy, &task, 0, 1, -1, STARPU_CPU_WORKER),
        -EINVAL);
    ck_assert_int_eq(orr_api_energy_start(&options, 0, STARPU_CPU_WORKER), 0);
    /* Another worker has the same counters. */
    ck_assert_int_eq(orr_api_energy_start(&options, 1, STARPU_CPU_WORKER),
                     -EBUSY);
    ck_assert_int_eq(
        starpu_energy_stop(&asked, &task, 0, 1, -1, STARPU_CPU_WORKER),
        -EINVAL);
    /* That ended it. */
    ck_assert_int_eq(orr_api_energy_start(&options, 1, STARPU_CPU_WORKER), 0);
    ck_assert_int_eq(
        starpu_energy_stop(&energy, &task, 0, 0, -1, STARPU_CPU_WORKER),
        -EINVAL);
    /* One that is never stopped ends with the run. */
    ck_assert_int_eq(orr_api_energy_start(&options, 1, STARPU_CPU_WORKER), 0);
    starpu_shutdown();
    remove_root();
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("energy");
    TCase *tcase = tcase_create("all");

    tcase_add_test(tcase, packages_add_up_and_may_wrap);
    tcase_add_test(tcase, no_packages_are_an_error_that_names_the_remedy);
    tcase_add_test(
        tcase, counters_that_cannot_be_read_are_an_error_that_names_the_file);
    tcase_add_test(tcase, counters_that_are_root_s_are_an_error_that_says_so);
    tcase_add_test(tcase, a_counter_beyond_its_range_is_an_error);
    tcase_add_test(tcase, a_gpu_counts_in_joules);
    tcase_add_loop_test(tcase, a_gpu_is_found_by_its_place_on_the_bus, 0, 2);
    tcase_add_loop_test(tcase, why_a_gpu_cannot_be_measured_is_reported, 0,
                        (int)(sizeof(unusable) / sizeof(unusable[0])));
    tcase_add_loop_test(tcase, a_call_of_nvml_that_fails_is_reported, 0,
                        (int)(sizeof(failures) / sizeof(failures[0])));
    tcase_add_test(tcase, measured_energy_is_what_tasks_are_expected_to_take);
    tcase_add_test(tcase, misuse_is_an_error_and_leaves_nothing_under_way);
    suite_add_tcase(suite, tcase);
    return suite;
}

SUITE_MAIN(energy)
{
    return suite_main(suite());
}
