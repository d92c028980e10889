/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/check_print.h - prints the result of the check of a machine's
 * models. One thread.
 */
#pragma once

#include <jansson.h>

#include "tools/perfmodel/model_findings.h"

struct check_print_options {
    bool all;          /* each finding, not one of each type */
    bool json;         /* for the caller */
    double confidence; /* what was requested */
};

/* A table of kernels and architectures, the findings and a last line that sums
 * up, on stdout. Errors: -ENOMEM. */
int check_print(const struct check_result *check_result, const char *host,
                const struct check_print_options *options);

/* The same as one JSON object. Errors: -ENOMEM. */
int check_print_json(const struct check_result *check_result, const char *host);

/* A finding as an object of that; NULL without memory. */
json_t *check_finding_json(const struct orr_finding *f);
