/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/scaling.h - what bounds a program on clusters of several sizes. One thread. */
#pragma once

#include "tools/common/comparison.h"

/* Below a table, of clusters whose numbers of nodes differ, where bounds were asked for: what
 * bounds each, and from where on it is another thing. -ENOMEM: not all could be printed. */
int scaling_print(const struct comparison *comparison);

/* What the bound of the cell is the highest of, µs, as an object; null where it is not known. */
json_t *scaling_json(const struct cell *cell);
