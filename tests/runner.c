/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/runner.c - main of programs made of suites; see SUITE_MAIN in suite.h. */
#include "suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct suite_entry *entries;

void suite_add_entry(struct suite_entry *entry)
{
    entry->next = entries;
    entries = entry;
}

/* A name of a function has _ where that of a file has -. */
static bool is_suite_name(const char *word, const char *name)
{
    while (*word && (*word == *name || (*word == '-' && *name == '_'))) {
        word++;
        name++;
    }
    return *word == *name;
}

static struct suite_entry *suite_called(const char *word)
{
    struct suite_entry *entry = entries;

    while (entry && !is_suite_name(word, entry->name))
        entry = entry->next;
    return entry;
}

/* The suite that a link to this program is called after: test-NAME, or
 * test-FOLDER-NAME. */
static struct suite_entry *suite_of_link(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct suite_entry *entry = NULL;

    for (const char *dash = strchr(slash ? slash : path, '-'); dash && !entry;
         dash = strchr(dash + 1, '-'))
        entry = suite_called(dash + 1);
    return entry;
}

int main(int argc, char **argv)
{
    struct suite_entry *entry = argc > 1 ? suite_called(argv[1]) : NULL;

    if (entry)
        return entry->run(argc - 1, argv + 1);
    entry = entries && !entries->next ? entries : suite_of_link(argv[0]);
    if (entry)
        return entry->run(argc, argv);
    fprintf(stderr, "usage: %s SUITE [WORD...], where SUITE is one of\n", argv[0]);
    for (entry = entries; entry; entry = entry->next)
        fprintf(stderr, "  %s\n", entry->name);
    return 2;
}
