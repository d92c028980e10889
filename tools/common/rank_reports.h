/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/rank_reports.h - the report of all ranks of a run together. No state. */
#pragma once

#include "tools/common/report.h"

/* Of n reports, of which some may be missing: sums, lists of all, the makespan from the first
 * begin to the last end where ranks have one clock, else the longest; it ended as the first
 * rank that did not end well. On a simulated machine `machine` is its name, NULL: that of the
 * first rank's. The caller ends *ret with report_done. Errors, with nothing in *ret: -ENOENT
 * there is no report at all; -ENOMEM. */
int rank_reports_join(const struct report *of, unsigned n, const char *machine,
                      struct report *ret);
