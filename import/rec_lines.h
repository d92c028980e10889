/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/rec_lines.h - files of `Field: value' lines, whose records are separated by
 * empty ones: StarPU's tasks.rec, data.rec, sched.rec. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "import/flow.h"

struct rec_field {
    const char *name; /* NULL: an empty line, or the end of the file */
    char *value;      /* may be cut */
};

struct rec_file {
    struct flow *flow; /* messages are its; its line is kept */
    FILE *file;
    char *line; /* owned */
    size_t room;
};

/* Errors, with a message: those of the system. */
int rec_open(struct flow *flow, const char *path, struct rec_file *ret);
void rec_close(struct rec_file *file);

/* The next line that is no comment and no %rec: returns 1, 0 behind the last
 * one, or an error with a message. */
int rec_next(struct rec_file *file, struct rec_field *ret);

/* --- values: errors with a message that names the field --- */

int rec_number(struct flow *flow, const struct rec_field *field, unsigned base,
               uint64_t *ret);
int rec_integer(struct flow *flow, const struct rec_field *field, int64_t *ret);
int rec_real(struct flow *flow, const struct rec_field *field, double *ret);

/* The next word of *text, which is moved behind it; NULL: there is none. Words are
 * separated by blanks and commas, and cut off. */
char *rec_word(char **text);
