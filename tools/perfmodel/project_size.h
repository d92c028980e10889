/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/project_size.h - `orrery perfmodel project --size`.
 * One thread. */
#pragma once

#include <stdint.h>

#include <stdbool.h>

#include "tools/perfmodel/perfmodel.h"

struct project_size_options {
    const char *machine, *host; /* whose models; NULL: this host's */
    char **symbols;             /* patterns; none: all models */
    int nsymbols;
    uint64_t *sizes; /* bytes */
    unsigned nsizes;
    bool json;
};

/* Prints the times of those sizes; the exit code of the process. */
int project_sizes(const struct project_size_options *options);
