/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/source.h - lines of the program's source: where tasks were submitted. An
 * address is looked up by addr2line (binutils), if that is installed and the program has
 * been compiled with -g. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Puts "source", "FILE:LINE", in the place of "object" and "offset", in the event or in
 * each item of the answer; these go in any case. */
void source_resolve(json_t *result);

/* Whether the event, as the run says it, is a submission in that line, "FILE:LINE". */
bool source_is(const json_t *said, const char *line);

/* The lines around the submission of the task of an event, as the run says it; as of
 * session.h. */
json_t *source_list(const json_t *event);
