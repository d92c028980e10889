/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/print_calls.h - the part of print.c that knows the calls. */
#pragma once

#include <stdio.h>

#include "machine.h"
#include "oracle.h"
#include "program.h"

struct printer {
    FILE *out;
    const struct program *program;
    const struct graph *graph;     /* being printed */
    const struct answers *answers; /* to it */
    unsigned number;               /* of the graph */
    unsigned base;                 /* of its data among all */
};

void print_codelet_name(const struct call *call, char *name, size_t size);

/* The record of a task or an acquisition; nothing for other calls. */
void print_work(const struct printer *p, unsigned index);

/* The lines that go from what is around calls now to that of the next ones. */
void print_around(const struct printer *p, struct around *now,
                  struct around next);

/* Those, and the ones that make the call. */
void print_call(const struct printer *p, unsigned index, struct around *now);
