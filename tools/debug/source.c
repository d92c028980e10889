/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/source.c - see source.h. */
#include "tools/debug/source.h"

#include "core/observe/source_line.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 5 };

static json_t *read_lines(const char *path, unsigned long line)
{
    FILE *file = fopen(path, "re");
    json_t *list = json_array();
    char *text = NULL;
    size_t room = 0;

    for (unsigned long n = 1; file && getline(&text, &room, file) >= 0 && n <= line + AROUND; n++) {
        char shown[300];

        text[strcspn(text, "\n")] = '\0';
        if (n + AROUND < line)
            continue;
        snprintf(shown, sizeof(shown), "%s%lu\t%.250s", n == line ? "> " : "  ", n, text);
        json_array_append_new(list, json_pack("{sIss}", "line", (json_int_t)n, "text", shown));
    }
    free(text);
    if (file)
        fclose(file);
    return list;
}

static json_t *show_lines(const char *source, const char *path, unsigned long line)
{
    json_t *list = read_lines(path, line);
    char text[PATH_MAX + 100];

    if (json_array_size(list))
        return json_pack("{ssso}", "source", source, "answer", list);
    json_decref(list);
    snprintf(text, sizeof(text), "%s: the file cannot be read, or has fewer lines", source);
    return json_pack("{ssss}", "source", source, "error", text);
}

json_t *source_list(const json_t *event)
{
    const char *source = json_string_value(json_object_get(event, "source"));
    unsigned long line;
    char path[PATH_MAX];
    int length;

    if (source && orr_source_split(source, &length, &line)) {
        snprintf(path, sizeof(path), "%.*s", length, source);
        return show_lines(source, path, line);
    }
    return json_pack(
        "{ss}", "error",
        json_object_get(event, "task")
            ? "where this task was submitted is not known: compile the program "
              "with -g, and install binutils (addr2line); a record has lines if "
              "it was made with --lines"
            : "this event is not one of a task");
}
