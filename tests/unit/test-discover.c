/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-discover.c - platforms/discover.c: machines that hwloc makes
 * up or reads from a file become descriptions; core/device/cpu sees as many
 * processors. Check forks for each test, so that the environment is its own.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/cpu/topology.h"
#include "platforms/desc_build.h"
#include "platforms/discover.h"
#include "platforms/present.h"
#include "platforms/text.h"
#include "tests/suite.h"

/* Two packages of two cores; the last core is not ours; two GPUs and a console
 * at the second package. */
#define TWO_PACKAGES "tests/unit/two-packages.hwloc.xml"

static struct orr_machine_desc *desc;
static struct orr_error err;

static void discover(void)
{
    ck_assert_msg(orr_machine_desc_discover(&desc, &err) == 0, "%s", err.text);
}

static void discover_synthetic(const char *synthetic)
{
    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    discover();
}

static void teardown(void)
{
    orr_machine_desc_free(desc);
    desc = NULL;
}

static const char *prop(const char *host, const char *id)
{
    int index = orr_machine_desc_host(desc, host);
    const char *value;

    ck_assert_int_ge(index, 0);
    value = orr_host_desc_prop(&desc->hosts[index], id);
    return value ? value : "none";
}

START_TEST(cpus_have_their_places)
{
    discover_synthetic("pack:2 [numa(memory=2GiB)] l3:1(size=32MiB) "
                       "l2:2(size=1MiB) l1d:1(size=48KiB) core:1 pu:2");
    ck_assert_uint_eq(desc->ncpu, 4);
    ck_assert_str_eq(prop("MAIN", "packages"), "2");
    ck_assert_str_eq(prop("MAIN", "numa-nodes"), "2");
    ck_assert_str_eq(prop("MAIN", "cores"), "4");
    ck_assert_str_eq(prop("MAIN", "processors"), "8");
    ck_assert_str_eq(prop("CPU1", "package"), "0");
    ck_assert_str_eq(prop("CPU2", "package"), "1");
    ck_assert_str_eq(prop("CPU2", "numa"), "1");
    ck_assert_str_eq(prop("CPU1", "l3"), "0");
    ck_assert_str_eq(prop("CPU2", "l3"), "1");
    ck_assert_str_eq(prop("CPU2", "processor"), "4");
    ck_assert_str_eq(prop("CPU3", "l1-cache"), "49152");
    ck_assert_str_eq(prop("CPU3", "l2-cache"), "1048576");
    ck_assert_str_eq(prop("CPU3", "l3-cache"), "33554432");
    ck_assert_str_eq(prop("RAM", "numa0-memory"), "2147483648");
    ck_assert_str_eq(prop("RAM", "numa1-memory"), "2147483648");
}
END_TEST

START_TEST(processors_without_cores_are_cpus)
{
    discover_synthetic("pu:3");
    ck_assert_uint_eq(desc->ncpu, 3);
    ck_assert_str_eq(prop("CPU2", "l1-cache"), "none");
    ck_assert_str_eq(prop("CPU2", "processor"), "2");
}
END_TEST

START_TEST(gpus_have_model_memory_and_place)
{
    setenv("HWLOC_XMLFILE", TWO_PACKAGES, 1);
    discover();
    ck_assert_str_eq(prop("MAIN", "model"), "Toy 9000");
    ck_assert_str_eq(prop("MAIN", "gpu0"), "Toy GPU 200");
    ck_assert_str_eq(prop("MAIN", "gpu0-pci"), "0000:1b:00.0");
    ck_assert_str_eq(prop("MAIN", "gpu0-numa"), "1");
    ck_assert_str_eq(prop("MAIN", "gpu0-memory"), "17179869184");
    ck_assert_int_eq((int)(strtod(prop("MAIN", "gpu0-bandwidth"), NULL) / 1e9),
                     31);
    /* A device that only the PCI bus lists. */
    ck_assert_str_eq(prop("MAIN", "gpu1"), "1002:744c");
    ck_assert_str_eq(prop("MAIN", "gpu1-memory"), "none");
    ck_assert_str_eq(prop("MAIN", "gpu1-bandwidth"), "none");
    ck_assert_str_eq(prop("MAIN", "gpu2"), "none");
}
END_TEST

START_TEST(what_the_container_forbids_is_left_out)
{
    setenv("HWLOC_XMLFILE", TWO_PACKAGES, 1);
    discover();
    ck_assert_uint_eq(desc->ncpu, 3);
    ck_assert_str_eq(prop("CPU2", "processor"), "2");
}
END_TEST

static const char *const machines[] = {
    "pack:2 [numa] core:8 pu:2",
    "numa:4 core:3 pu:1",
    "pu:5",
    "pack:1 core:1 pu:1",
    "pack:2 [numa] [numa(memory=16MiB)] core:2 pu:4",
};

START_TEST(a_description_has_the_workers_of_a_real_run)
{
    struct orr_cpu_request request = {.avoid = -1};
    struct orr_cpu_choice choice;
    struct orr_cpus cpus;

    discover_synthetic(machines[_i]);
    ck_assert_int_eq(orr_cpus_find(NULL, &cpus, &err), 0);
    ck_assert_int_eq(orr_cpus_choose(&cpus, &request, &choice, &err), 0);
    ck_assert_uint_eq(desc->ncpu, choice.usual);
    for (unsigned i = 0; i < choice.usual; i++) {
        char id[16];

        snprintf(id, sizeof(id), "CPU%u", i);
        ck_assert_int_eq(atoi(prop(id, "processor")), choice.cpus[i].number);
        ck_assert_int_eq(atoi(prop(id, "numa")), (int)choice.cpus[i].node);
    }
    free(choice.cpus);
    orr_cpus_done(&cpus);
}
END_TEST

START_TEST(people_are_shown_what_was_found)
{
    static const char *const words[] = {
        "CPUs        3 of Toy 9000\n",
        "NUMA 0      8 GiB, 2 CPUs of package 0\n",
        "NUMA 1      4 GiB, 1 CPU of package 1\n",
        "GPU 0       Toy GPU 200, PCI 0000:1b:00.0, near NUMA 1, 16.0 GiB\n",
        "GPU 1       1002:744c, PCI 0000:1c:00.0, near NUMA 1\n"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    setenv("HWLOC_XMLFILE", TWO_PACKAGES, 1);
    discover();
    orr_machine_desc_print(desc, out);
    fclose(out);
    for (unsigned i = 0; i < sizeof(words) / sizeof(*words); i++)
        ck_assert_msg(strstr(text, words[i]) != NULL, "%s in\n%s", words[i],
                      text);
    free(text);
}
END_TEST

/* Models lie under the name that the user gives the machine. */
START_TEST(the_present_machine_has_the_models_of_the_name_it_is_given)
{
    setenv("HWLOC_XMLFILE", TWO_PACKAGES, 1);
    ck_assert_int_eq(orr_machine_desc_present(NULL, "given", &desc, NULL, &err),
                     0);
    ck_assert_str_eq(desc->host, "given");
    orr_machine_desc_free(desc);
    ck_assert_int_eq(orr_machine_desc_present(NULL, "", &desc, NULL, &err), 0);
    ck_assert_str_ne(desc->host, "");
}
END_TEST

static Suite *discover_suite(void)
{
    Suite *suite = suite_create("discover");
    TCase *tc = tcase_create("all");

    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_test(tc, cpus_have_their_places);
    tcase_add_test(tc, processors_without_cores_are_cpus);
    tcase_add_test(tc, gpus_have_model_memory_and_place);
    tcase_add_test(tc, what_the_container_forbids_is_left_out);
    tcase_add_loop_test(tc, a_description_has_the_workers_of_a_real_run, 0,
                        (int)(sizeof(machines) / sizeof(*machines)));
    tcase_add_test(tc, people_are_shown_what_was_found);
    tcase_add_test(tc,
                   the_present_machine_has_the_models_of_the_name_it_is_given);
    suite_add_tcase(suite, tc);
    return suite;
}

SUITE_MAIN(discover)
{
    return suite_main(discover_suite());
}
