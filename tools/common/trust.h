/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/trust.h - whether the models of the kernels that ran can be
 * trusted, as `orrery perfmodel check` judges them. One thread.
 */
#pragma once

#include "tools/common/report.h"
#include "tools/perfmodel/model_set.h"

/* Models that were read and checked. */
struct trust {
    struct model_set set;
    struct check_result checked;
    unsigned homogeneous;
};

/* Reads and checks the models that are `wanted`, and, where one is wrong, all of
 * the host, which may explain it: devices that differ for every kernel. *ret is
 * ended with trust_done. Errors: as perfmodel_open. */
int trust_open(const struct perfmodel_choice *choice,
               bool (*wanted)(const char *symbol, const void *arg),
               const void *arg, const struct check_options *options,
               struct trust *ret, struct orr_error *err);
void trust_done(struct trust *trust);

/* The next error, behind `after` or the first, of the times that the kernel takes
 * from its model; lent. NULL: there are no more, and if it is the first, they can
 * be trusted, or there are none. */
const struct orr_finding *trust_doubt(const struct trust *trust,
                                      const struct report_kernel *kernel,
                                      const struct orr_finding *after);

/* Adds "untrusted" to the report of a run: the errors of the models that its
 * kernels used. `machine` is that of -m, NULL: of the environment. Where models
 * cannot be found, or without memory, nothing is added. */
void trust_note(struct report *report, const char *machine);
