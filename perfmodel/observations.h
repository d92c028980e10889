/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/observations.h - the single measures of a multiple regression, in
 * memory and in files: a first line "Duration, <name>, …", then a row of
 * numbers for each measure, separated by ", ", in µs (J).
 *
 * StarPU keeps one such file for a symbol, with all architectures mixed, so
 * that none can be fitted from it. Here there is one for each architecture,
 * codelets/tmp/<symbol>.<host>.<architecture>.out. No threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

/* No more are kept: enough for the estimate. */
#define ORR_OBSERVATIONS_MAX (1U << 17)

struct orr_observations {
    unsigned nparameters;
    unsigned n;
    size_t room;     /* for numbers */
    unsigned nfresh; /* not in any file yet: the last ones */
    double *values;  /* owned, n × (1 + nparameters): duration, parameters */
};

void orr_observations_done(struct orr_observations *observations);

/* Adds one at the end. Errors: -ENOMEM; -EINVAL for another number of
 * parameters than those before. */
int orr_observations_add(struct orr_observations *observations,
                         const double *parameters, unsigned nparameters,
                         double duration);

/* Puts what the file has in front of what is there. Errors: -ENOENT, silently;
 * -EINVAL with "path:line: reason"; -ENOMEM; those of open and read. Then
 * nothing was added. */
int orr_observations_read(const char *path, unsigned nparameters,
                          struct orr_observations *observations,
                          struct orr_error *err);

/* Makes the file hold these; names (nparameters) may be NULL. In one step; the
 * directory is made. */
int orr_observations_write(const char *path, const char *const *names,
                           const struct orr_observations *observations,
                           struct orr_error *err);
