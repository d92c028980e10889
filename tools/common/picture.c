/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/picture.c - see picture.h. */
#include "tools/common/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tools/common/tool.h"

/* With the point; "" without. */
static const char *extension(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && !strchr(dot, '/') ? dot : "";
}

static bool names_file(const char *word)
{
    return !strcmp(word, "-") || !strcasecmp(extension(word), ".svg");
}

/* Also "-", and what is no regular file. */
static bool can_be_svg(const char *path)
{
    return !*extension(path) || names_file(path);
}

bool picture_take(struct picture *picture, char **words, int *n, int least,
                  int most)
{
    if (picture->wanted && !picture->path && *n > least) {
        int at = names_file(words[1]) ? 1 : *n;

        if (*n > most || names_file(words[at])) {
            picture->path = words[at];
            memmove(words + at, words + at + 1,
                    (size_t)(*n - at) * sizeof(*words));
            --*n;
        }
    }
    for (int i = 1; picture->wanted && i <= *n; i++)
        if (names_file(words[i]))
            return false;
    return true;
}

/* "dir/node.xml" and "node" give "node.svg". NULL without memory. */
static char *path_for(const char *name)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    const char *end = extension(last);
    bool file = !strcmp(end, ".xml") || !strcmp(end, ".orrery");

    return tool_format("%.*s.svg", (int)(strlen(last) - file * strlen(end)),
                       last);
}

int picture_choose(struct picture *picture, const char *command,
                   const char *name)
{
    char option[64];

    if (!picture->wanted)
        return TOOL_OK;
    if (!picture->path && isatty(STDOUT_FILENO)) {
        picture->own_path = path_for(name);
        picture->path = picture->own_path;
        if (!picture->path)
            return tool_fail(TOOL_FAILED, "out of memory");
    }
    if (!picture->path)
        picture->path = "-";
    if (!*picture->path)
        return tool_fail(TOOL_USAGE,
                         "%s: option --svg needs a value, not an empty one, "
                         "behind its equals sign; see orrery %s --help",
                         command, command);
    if (!can_be_svg(picture->path))
        return tool_fail(TOOL_USAGE,
                         "%s: --svg %s: the picture is an SVG, the file's name "
                         "must end in .svg",
                         command, picture->path);
    snprintf(option, sizeof(option), "%s: --svg", command);
    return tool_check_output(option, picture->path);
}

void picture_done(struct picture *picture, int code)
{
    if (code == TOOL_OK && picture->own_path)
        fprintf(stderr, "orrery: the picture is in %s\n", picture->path);
    free(picture->own_path);
}
