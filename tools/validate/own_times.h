/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/validate/own_times.h - a run's calls with the times that its kernels took, as
 * a record: simulated, only what is around the kernels can be wrong. One thread.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"

/* Writes the calls of the record `calls` to `path`; its n-th task takes as long as the
 * n-th one of the trace in CSV of that run, or of another run of the program. Those that
 * the library itself made, such as of reductions, are no calls: *ret_assumed has their
 * times as ORRERY_ASSUME takes them, owned by the caller; NULL: there are none. Errors,
 * with a message: -EINVAL, both have not the same tasks; -ENOMEM; those of the system. */
int own_times_write(const char *calls, const char *trace, const char *path,
                    char **ret_assumed, struct orr_error *err);
