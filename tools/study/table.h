/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/study/table.h - the results as one table, a row for each run, in the order of the study:
 * the same whatever order the runs had. No state.
 */
#pragma once

#include "tools/study/session.h"

struct study_findings;

/* Whether Python has what writes Parquet (pyarrow); else a message that names it. An exit code. */
int study_check_parquet(const char *path);

/* Writes the files that the options name. An exit code. */
int study_write_tables(const struct study_session *session, const struct study_findings *findings);
