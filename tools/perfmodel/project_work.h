/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/project_work.h - how much work a task of some bytes is, from the
 * rows of its model: its flops, what a core takes for it, its bytes. No state.
 */
#pragma once

#include "perfmodel/project.h"
#include "perfmodel/store.h"

/* The work of that kind in a task of `size` bytes; NaN: not known. Flops are
 * those of rows of that size on any device; of other sizes where they follow a
 * power law in the size, between and beyond the rows. A core's time is that of a
 * row of that size. */
double project_work_at(const struct orr_model_file *file, enum orr_work kind,
                       double size);

/* The best kind that is known of `size` and of all rows of the implementation;
 * the last one always is. `is_core`: its times are a core's. */
enum orr_work project_work_choose(const struct orr_model_file *file,
                                  const struct orr_model_impl *impl,
                                  bool is_core, double size);

/* "flops", "a core's time", "bytes". */
const char *project_work_name(enum orr_work kind);
