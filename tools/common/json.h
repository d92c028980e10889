/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/json.h - what the outputs as JSON share. One thread.
 */
#pragma once

#include <jansson.h>

/* A new reference: the number, or null when it is none. NULL without memory. */
json_t *tool_json_number(double value);

/* Prints it on stdout, with a newline, and releases it. Errors: -ENOMEM, also
 * when `json` is NULL, as jansson makes it without memory. */
int tool_json_print(json_t *json);
