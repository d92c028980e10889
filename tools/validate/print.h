/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/validate/print.h - what the outputs of `orrery validate` share. One thread.
 */
#pragma once

#include "tools/validate/validate.h"

/* Share of disturbed time from which errors from end to end are not
 * meaningful. */
#define VALIDATE_DISTURBED 0.05

static inline const char *validate_end_verdict(const struct validate_end *end,
                                               bool loud)
{
    if (end->verdict == DRIFT_DRIFTED)
        return loud ? "OFF" : "off";
    return drift_verdict_name(end->verdict, loud);
}

/* The sentences behind the tables. */
void validation_print_findings(const struct validation *v);
