/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/notes.h - what is in a record, and what it says that it lacks. */
#pragma once

#include <stdio.h>

#include "core/base/error.h"

struct notes {
    unsigned long calls, tasks, data;
    unsigned ranks;  /* of the program that it is one rank of; 0: it is none */
    char *host;      /* owned: whose kernels' times it has; NULL: it has none */
    char *scheduler; /* owned, or NULL: the application's own */
    char *ended;     /* owned: how the run ended, NULL: with starpu_shutdown */
    char *lacks;     /* owned: a line for each thing; "" without any */
};

/* Reads all of the record. Errors, with a message: those of record/read.h. */
int notes_read(const char *path, struct notes *ret, struct orr_error *err);

/* Prints how it ended, if not well, and what it lacks, with a head, if
 * anything. */
void notes_print(const struct notes *notes, FILE *to);

void notes_done(struct notes *notes);
