/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-catalogue-place.c - which of two catalogues is read, that of the
 * source tree or an installed one. Built with an ORR_DATADIR of its own.
 */
#include "core/base/installed.h"
#include "platforms/machine_desc.h"
#include "platforms/places.h"

#include "build_paths.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/suite.h"

struct seen {
    bool installed, own;
};

static int note(const struct orr_machine_entry *entry, void *arg)
{
    struct seen *seen = arg;

    seen->installed |= strcmp(entry->name, "installed-only") == 0;
    seen->own |= strcmp(entry->name, "h100-pcie-4") == 0;
    return 0;
}

START_TEST(a_build_tree_reads_its_own_catalogue)
{
    static const char *const folders[] = {"", "", "/orrery",
                                          "/orrery/platforms",
                                          "/orrery/platforms/installed-only"};
    const char *dirs[] = {NULL};
    char path[4096];
    struct seen seen = {0};
    FILE *file;

    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        snprintf(path, sizeof(path), "%s%s",
                 i ? ORR_DATADIR : ORR_DATADIR_PARENT, folders[i]);
        mkdir(path, 0777);
    }
    strcat(path, "/platform.xml");
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    unsetenv("ORRERY_PLATFORM_DIR");
    ck_assert_int_eq(orr_machine_desc_list(dirs, note, &seen), 0);
    ck_assert(seen.own);
    ck_assert(!seen.installed);
}
END_TEST

START_TEST(what_lies_in_the_prefix_is_installed)
{
    static const struct {
        const char *own, *datadir, *source;
        bool installed;
    } cases[] = {
        {"/usr/local/bin", "/usr/local/share", "/home/a/orrery", true},
        {"/usr/local/lib/x/orrery", "/usr/local/share", "/home/a/o", true},
        {"/home/a/orrery/build", "/usr/local/share", "/home/a/orrery", false},
        {"/usr/local/src/o/build", "/usr/local/share", "/usr/local/src/o",
         false},
        {"/home/a/o/inst/lib", "/home/a/o/inst/share", "/home/a/o", true},
        {"/tmp/build", "/usr/local/share", "/home/a/orrery", false},
        {"/usr/localized/bin", "/usr/local/share", "/home/a/orrery", false},
        {"/bin", "/share", "/home/a/orrery", true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        ck_assert_msg(orr_is_installed(cases[i].own, cases[i].datadir,
                                       cases[i].source) == cases[i].installed,
                      "%s, %s, %s", cases[i].own, cases[i].datadir,
                      cases[i].source);
}
END_TEST

START_TEST(an_installed_object_knows_its_prefix)
{
    static const struct {
        const char *own;
        const char *prefix; /* NULL: it is not installed */
    } cases[] = {
        {"/opt/a b/" ORR_NAME_LIBDIR, "/opt/a b"},
        {"/opt/" ORR_NAME_LIBDIR "/orrery", "/opt"},
        {"/opt/" ORR_NAME_BINDIR, "/opt"},
        {"/opt/" ORR_NAME_LIBEXECDIR "/orrery", "/opt"},
        {"/home/a/orrery/build", NULL},
        {"/home/a/orrery/build/tools", NULL},
        {"/opt/not" ORR_NAME_LIBDIR, NULL},
        {ORR_NAME_LIBDIR, NULL},
        {"/", NULL},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        unsigned length = orr_installed_prefix(cases[i].own);

        ck_assert_uint_eq(length, cases[i].prefix ? strlen(cases[i].prefix) : 0);
        if (length)
            ck_assert(strncmp(cases[i].own, cases[i].prefix, length) == 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalogue-place");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, a_build_tree_reads_its_own_catalogue);
    tcase_add_test(tc, what_lies_in_the_prefix_is_installed);
    tcase_add_test(tc, an_installed_object_knows_its_prefix);
    suite_add_tcase(suite, tc);
    return suite_main(suite);
}
