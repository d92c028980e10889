/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/steps/cases.h - the programs that are explored. */
#pragma once

#include "tests/steps/world.h"

struct step_case {
    const char *name;
    const char *claim; /* what is found in no schedule, for the report */
    struct world_spec spec;
    void (*begin)(void);
    void (*end)(void); /* before world_end; NULL: nothing */
    /* Numbers of pre-emptions, from 0: in the normal suite, and in full. */
    unsigned nbounds, nbounds_full;
};

extern const struct step_case order_cases[], claim_cases[], transfer_cases[],
    admission_cases[], end_cases[], partition_cases[],
    worker_cases[]; /* ended by one without name */
