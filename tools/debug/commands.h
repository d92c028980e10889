/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/commands.h - what a person writes: a line, with gdb's words where gdb has
 * them. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "tools/debug/session.h"

/* What comes of the line: as of session.h; {"answer": [{"text": …}, …]}, {"quit": true},
 * {} for an empty line. A new reference. */
json_t *commands_do(struct session *session, const char *line);

/* As sentences, owned by the caller. NULL without memory. */
char *commands_text(const json_t *result);

/* As sentences, or as a line of JSON. Returns whether it is an error. */
bool commands_show(const json_t *result, bool json);

/* Lines from there, one after the other, until one has quit or failed, or there are no
 * more; results as sentences, or as a line of JSON each. Returns an exit code. */
int commands_script(struct session *session, FILE *from, bool json);

/* The same from a terminal: with a prompt, and line editing where libedit or readline is
 * installed; an empty line repeats the one before; errors do not end it. */
int commands_talk(struct session *session);
