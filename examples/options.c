/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options.c - see options.h. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *usage, const char *word)
{
    fprintf(stderr, "`%s' is not understood\n%s", word, usage);
    exit(2);
}

static unsigned number(const char *text, const char *usage)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;

    if (!text || !*text || *end || value <= 0 || value > 1 << 20)
        fail(usage, text ? text : "the end");
    return (unsigned)value;
}

static const struct option *find(const struct option *options, const char *name)
{
    while (options->name && strcmp(options->name, name) != 0)
        options++;
    return options->name ? options : NULL;
}

void options_read(int argc, char **argv, const struct option *options,
                  const char *usage)
{
    for (int a = 1; a < argc; a++) {
        const struct option *option = find(options, argv[a]);

        if (!strcmp(argv[a], "-h") || !strcmp(argv[a], "--help")) {
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        }
        if (!option)
            fail(usage, argv[a]);
        else if (option->is_flag)
            *option->value = 1;
        else
            *option->value = number(a + 1 < argc ? argv[++a] : NULL, usage);
    }
}
