/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/figures.h - which share of the time of simulated tasks comes from
 * where, and how far it may be off. Each worker counts its own.
 */
#pragma once

#include <stdio.h>

#include "core/cost/row.h"

struct orr_runtime;

/* Adds a kernel that took `us`. The owner. */
void orr_figures_count(struct orr_figures *figures,
                       const struct orr_cost_row *row, unsigned class_id,
                       unsigned impl, double us);

/* The same of a length that is not in the row. */
void orr_figures_add(struct orr_figures *figures,
                     const struct orr_length *length, double us);

/* Those of all workers. No kernel is being counted. */
struct orr_figures orr_figures_total(const struct orr_runtime *rt);

/* The share of one origin; 0 without kernels. */
double orr_figures_share(const struct orr_figures *figures,
                         enum orr_origin origin);

/* Writes a JSON array with an object per origin that there is:
 * [{"origin": "interpolated", "share": 0.25, "off_by": 0.1}]. */
void orr_figures_write(const struct orr_runtime *rt, FILE *out);

/* The same for people: "75.0 % measured, 25.0 % interpolated (off by up to 10.0 %)". */
void orr_figures_tell(const struct orr_runtime *rt, FILE *out);

/* A warning for a run without a report of which a part is interpolated. */
void orr_figures_warn(const struct orr_runtime *rt);
