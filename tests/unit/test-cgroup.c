/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-cgroup.c - core/device/cpu/cgroup.c on synthetic trees of the
 * system's files, and what becomes of the limits: workers and memory. Check
 * forks for each test, so that the environment is its own.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/device/cpu/cgroup.h"
#include "core/device/cpu/topology.h"
#include "tests/suite.h"

#define V2 "cgroup2 /sys/fs/cgroup cgroup2 rw,relatime 0 0\n"
#define V1                                                                     \
    "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"            \
    "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"                      \
    "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
#define IN1 "4:memory:/job\n3:cpuset:/job\n2:cpu,cpuacct:/job/step\n"

static char root[] = "/tmp/orrery-cgroup-XXXXXX";

/* Writes a file below root with the folders above it. */
static void put(const char *path, const char *text)
{
    char whole[256];
    FILE *out;

    snprintf(whole, sizeof(whole), "%s%s", root, path);
    for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        ck_assert(mkdir(whole, 0700) == 0 || errno == EEXIST);
        *at = '/';
    }
    out = fopen(whole, "w");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    fclose(out);
}

static void setup(void)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void teardown(void)
{
    char command[64];

    snprintf(command, sizeof(command), "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
}

struct file {
    const char *path, *text;
};

static const struct {
    const char *what, *mounts, *groups;
    struct file files[4];
    double cpus;
    uint64_t bytes;
} cases[] = {
    {"version 2 in a container",
     "proc /proc proc rw 0 0\n" V2,
     "0::/\n",
     {{"/sys/fs/cgroup/cpu.max", "150000 100000\n"},
      {"/sys/fs/cgroup/memory.max", "1073741824\n"}},
     1.5,
     1 << 30},
    {"version 2 without limits",
     V2,
     "0::/user.slice\n",
     {{"/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"},
      {"/sys/fs/cgroup/user.slice/memory.max", "max\n"}},
     0,
     0},
    {"the smallest of those above",
     V2,
     "0::/a/b\n",
     {{"/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"},
      {"/sys/fs/cgroup/a/cpu.max", "200000 100000\n"},
      {"/sys/fs/cgroup/a/memory.max", "4096\n"},
      {"/sys/fs/cgroup/a/b/memory.max", "8192\n"}},
     2,
     4096},
    {"version 1",
     V1,
     IN1,
     {{"/sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_quota_us", "50000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/job/step/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "65536\n"}},
     0.5,
     65536},
    {"version 1 without limits",
     V1,
     IN1,
     {{"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"}},
     0,
     0},
    {"the path is that outside of the container",
     V1,
     "4:memory:/docker/0123\n2:cpu,cpuacct:/docker/0123\n",
     {{"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n"},
      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "1048576\n"}},
     3,
     1 << 20},
    {"a path of another namespace",
     V2,
     "0::/../../other\n",
     {{"/sys/fs/cgroup/cpu.max", "100000 100000\n"}},
     1,
     0},
    {"nonsense",
     V2 "cgroup2\n\n",
     "x\n0::\n",
     {{"/sys/fs/cgroup/cpu.max", "0 0\n"},
      {"/sys/fs/cgroup/memory.max", "-5 x\n"}},
     0,
     0},
};

START_TEST(the_smallest_limit_in_sight_counts)
{
    struct orr_cgroup limits;

    put("/proc/self/mounts", cases[_i].mounts);
    put("/proc/self/cgroup", cases[_i].groups);
    for (unsigned i = 0; i < 4 && cases[_i].files[i].path; i++)
        put(cases[_i].files[i].path, cases[_i].files[i].text);
    limits = orr_cgroup_read(root);
    ck_assert_msg(limits.cpus == cases[_i].cpus &&
                      limits.bytes == cases[_i].bytes,
                  "%s: %g processors, %llu bytes", cases[_i].what, limits.cpus,
                  (unsigned long long)limits.bytes);
}
END_TEST

START_TEST(without_the_files_there_is_no_limit)
{
    struct orr_cgroup limits = orr_cgroup_read("/nonexistent");

    ck_assert(limits.cpus == 0 && limits.bytes == 0);
}
END_TEST

/* -- what becomes of them -- */

static struct orr_topology *topology;

/* Processors for 2.5 and 1 GiB. */
static void open_limited(const char *synthetic)
{
    const struct orr_topology_input input = {.root = root,
                                             .ignore_affinity = true};
    struct orr_error err;

    put("/proc/self/mounts", V2);
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/cpu.max", "250000 100000\n");
    put("/sys/fs/cgroup/memory.max", "1073741824\n");
    if (synthetic)
        setenv("HWLOC_SYNTHETIC", synthetic, 1);
    ck_assert_int_eq(orr_topology_open(&input, &topology, &err), 0);
}

static unsigned usual_workers(const char *list)
{
    const struct orr_cpu_request request = {.cpus = list, .avoid = -1};
    struct orr_cpu_choice choice;
    struct orr_cpus cpus;
    struct orr_error err;

    ck_assert_int_eq(orr_topology_cpus(topology, &cpus, &err), 0);
    ck_assert_int_eq(orr_cpus_choose(&cpus, &request, &choice, &err), 0);
    free(choice.cpus);
    orr_cpus_done(&cpus);
    return choice.usual;
}

START_TEST(there_are_no_more_workers_than_time_for_them)
{
    setenv("HWLOC_THISSYSTEM", "1", 1);
    open_limited("pack:2 core:4 pu:2");
    ck_assert_uint_eq(usual_workers(NULL), 3);
    ck_assert_uint_eq(usual_workers("0-7"), 8); /* as announced */
    orr_topology_close(topology);
}
END_TEST

START_TEST(memory_is_shared_out_in_proportion)
{
    const struct orr_memory *memories;

    setenv("HWLOC_THISSYSTEM", "1", 1);
    open_limited("pack:2 [numa(memory=4GiB)] core:1 pu:1");
    ck_assert_uint_eq(orr_topology_memories(topology, &memories), 2);
    ck_assert_uint_eq(memories[1].size, 512 << 20);
    ck_assert_uint_eq(orr_topology_limit(topology), 1 << 30);
    orr_topology_close(topology);
}
END_TEST

START_TEST(a_limit_above_what_there_is_is_none)
{
    const struct orr_memory *memories;

    setenv("HWLOC_THISSYSTEM", "1", 1);
    open_limited("pack:2 [numa(memory=256MiB)] core:1 pu:1");
    ck_assert_uint_eq(orr_topology_memories(topology, &memories), 2);
    ck_assert_uint_eq(memories[1].size, 256 << 20);
    ck_assert_uint_eq(orr_topology_limit(topology), 0);
    orr_topology_close(topology);
}
END_TEST

START_TEST(a_synthetic_machine_is_in_no_container)
{
    open_limited("pack:2 core:4 pu:2");
    ck_assert_uint_eq(usual_workers(NULL), 8);
    ck_assert_uint_eq(orr_topology_limit(topology), 0);
    orr_topology_close(topology);
}
END_TEST

START_TEST(this_machine_works_without_its_files)
{
    const struct orr_topology_input input = {.root = root};
    struct orr_cpus seen, allowed;
    struct orr_error err;

    setenv("HWLOC_FSROOT", root, 1);
    setenv("HWLOC_COMPONENTS", "linux,stop", 1);
    ck_assert_int_eq(orr_topology_open(&input, &topology, &err), 0);
    ck_assert_int_eq(orr_topology_cpus(topology, &seen, &err), 0);
    ck_assert_int_eq(orr_cpus_from_affinity(&allowed, &err), 0);
    ck_assert_uint_ge(seen.n, 1);
    ck_assert_uint_le(seen.n,
                      seen.ncores > allowed.n ? seen.ncores : allowed.n);
    orr_cpus_done(&seen);
    orr_cpus_done(&allowed);
    orr_topology_close(topology);
}
END_TEST

SUITE_MAIN(cgroup)
{
    Suite *suite = suite_create("cgroup");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, the_smallest_limit_in_sight_counts, 0,
                        (int)(sizeof(cases) / sizeof(*cases)));
    tcase_add_test(tc, without_the_files_there_is_no_limit);
    tcase_add_test(tc, there_are_no_more_workers_than_time_for_them);
    tcase_add_test(tc, memory_is_shared_out_in_proportion);
    tcase_add_test(tc, a_limit_above_what_there_is_is_none);
    tcase_add_test(tc, a_synthetic_machine_is_in_no_container);
    tcase_add_test(tc, this_machine_works_without_its_files);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
