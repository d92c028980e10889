/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/json.h - shared functions of JSON outputs. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* From here on it is noticed where there is no memory for a part of a value. Once, before
 * any is made. */
void tool_json_begin(void);

/* Whether there was none, since then. */
bool tool_json_lacks(void);

/* A new reference: the number, or null when it is NaN. NULL without memory. */
json_t *tool_json_number(double value);

/* A new reference: the text, in which \xNN stands for each byte that is no
 * UTF-8, as in names of files, and a question mark for control characters that JSON has
 * no escapes for; null for NULL. NULL without memory. */
json_t *tool_json_text(const char *text);

/* Prints it on stdout, with a newline, and releases it. Errors: -ENOMEM, also
 * when `json` is NULL, as jansson makes it without memory, or a part of it could not be
 * made. */
int tool_json_print(json_t *json);
