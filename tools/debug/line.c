/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/line.c - see line.h. */
#include "tools/debug/line.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *read_fn(const char *prompt);
typedef int keep_fn(const char *line);

static void find(void *library, const char *name, void *ret, size_t size)
{
    void *symbol = library ? dlsym(library, name) : NULL;

    memcpy(ret, &symbol, size);
}

static char *plain_read(const char *prompt)
{
    char *line = NULL;
    size_t room = 0;

    fputs(prompt, stdout);
    fflush(stdout);
    if (getline(&line, &room, stdin) < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

char *line_read(const char *prompt)
{
    static const char *const names[] = {"libedit.so.2", "libreadline.so.8"};
    void *library = NULL;
    read_fn *read_line;
    keep_fn *keep;
    char *line;

    /* Opened once: the dynamic linker knows it from then on. */
    for (size_t i = 0; !library && i < sizeof(names) / sizeof(*names); i++)
        library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    find(library, "readline", &read_line, sizeof(read_line));
    find(library, "add_history", &keep, sizeof(keep));
    if (!read_line)
        return plain_read(prompt);
    line = read_line(prompt);
    if (line && *line && keep)
        keep(line);
    return line;
}
