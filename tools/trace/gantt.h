/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/gantt.h - a chart of which worker executed which kernel when. One
 * thread.
 */
#pragma once

#include "tools/trace/paje_read.h"

/* Draws `path`, a PNG. A message and -1 when it cannot. */
int gantt_draw(const struct paje_chart *chart, const char *path,
               const char *title);
