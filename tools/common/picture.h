/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/picture.h - the option --svg [FILE] of commands that show something with
 * a name, on request as a picture. Without FILE that goes to standard output; where this
 * is a terminal, on which nobody wants an SVG, to NAME.svg. One thread.
 */
#pragma once

#include <stdbool.h>

struct picture {
    /* Of the option, {0, "svg", &picture.path, &picture.wanted}. */
    bool wanted;
    const char
        *path; /* where it goes, borrowed; NULL before picture_choose, if not
                       * named, and where none is wanted */
    char *own_path; /* owned: it was not named; NULL: it was */
};

/* Takes FILE, if it is there, out of the operands words[1] to words[*n], of which `least`
 * to `most` are something else: it is one too many, or its name ends in .svg. Returns
 * whether none of the others looks like a picture's file. */
bool picture_take(struct picture *picture, char **words, int *n, int least,
                  int most);

/* Chooses a path if none was named, NAME.svg with the name's folder and the extension of
 * a machine's file left out. `command` begins messages ("sched show"). Returns TOOL_OK,
 * TOOL_USAGE when the path cannot be that of an SVG, or TOOL_FAILED, with a message. */
int picture_choose(struct picture *picture, const char *command,
                   const char *name);

/* When the command has ended with `code`: says where the picture is, if the
 * user has not named the file. */
void picture_done(struct picture *picture, int code);
