/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/untrusted.h - "untrusted" of a report: the findings about models
 * that its run used (trust.h finds them). One thread.
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>

/* Adds the finding (a new reference) unless the list has it. */
void untrusted_add(json_t *list, json_t *finding);

/* Adds to "untrusted" of `all`, an object, what the report has more there. */
void untrusted_join(json_t *all, const json_t *report);

/* Whether there is any. */
bool untrusted_any(const json_t *report);

/* Prints them, a line per kernel and architecture, after `indent`. */
void untrusted_print(const json_t *report, const char *indent);
