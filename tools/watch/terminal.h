/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/watch/terminal.h - how far a program is, on standard error: a picture that is
 * drawn again and again on a screen of its own if that is a terminal, else a line each
 * second. One thread.
 */
#pragma once

#include <stdbool.h>

#include "tools/watch/source.h"

struct terminal {
    bool is_screen; /* a terminal that can be drawn on */
    double last_s;  /* when it was drawn last */
    unsigned long before, before_bytes; /* tasks that had ended then, bytes moved */
};

void terminal_begin(struct terminal *terminal);
void terminal_end(struct terminal *terminal); /* as it was before */

/* Draws it if it is time to; `last`: in any case, as a line. */
void terminal_show(struct terminal *terminal, struct source *source, const char *program,
                   bool last);
