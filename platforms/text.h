/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/text.h - machine descriptions as text and as JSON, for the tools
 * (needs jansson). Any thread.
 */
#pragma once

#include <stdio.h>

#include "platforms/machine_desc.h"

/* Writes the description as text: workers, memories, costs, the bandwidth and
 * latency tables, links. A write error shows in ferror(out). */
void orr_machine_desc_print(const struct orr_machine_desc *desc, FILE *out);

/* One JSON object with everything in the description, owned by the caller;
 * unknown values are null. Errors: -ENOMEM. */
struct json_t;
int orr_machine_desc_to_json(const struct orr_machine_desc *desc,
                             struct json_t **ret);
