/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/debug/source.h - lines of the program's source around where a task was submitted.
 * One thread.
 */
#pragma once

#include <jansson.h>

/* The lines around the submission of the task of an event, as the run says it, NULL: it has
 * ended; as of session.h. */
json_t *source_list(const json_t *event);
