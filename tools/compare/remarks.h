/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/remarks.h - what is said of a comparison beside its rows. One thread.
 */
#pragma once

#include "tools/common/comparison.h"

/* Below a table: what edits changed, what was assumed, which models are not to be
 * trusted, machine by machine. */
void remarks_print(const struct comparison *comparison);

/* On stderr: rows that ran with another policy than was asked for, and all that the
 * library said where a row has room for a line. */
void remarks_warn(const struct comparison *comparison);
