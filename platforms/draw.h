/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/draw.h - a machine as it may be, by the errors of its figures of links,
 * memories and the runtime's costs. One thread per description.
 *
 * A figure is off by a factor (core/base/draw.h) if it was measured with a spread, by
 * that; if it was not measured, by what is stated here. Figures of one kind with one
 * value are one figure, of whatever machine: published ones of a part. What an edit has
 * set is as the user says.
 */
#pragma once

#include <stdint.h>

#include "platforms/machine_desc.h"

/* Half-widths of intervals that hold nine of ten such figures: docs/COMPARE.md has what
 * they were found from. */
#define ORR_DRAW_BANDWIDTH 0.3 /* of a link or a memory that was not measured */
#define ORR_DRAW_LATENCY   0.6
#define ORR_DRAW_COST      2.0 /* of the runtime: the default */

struct orr_drawn {
    char *figure; /* "pcie bandwidth 54.2 GB/s", "cost push 1 us" */
    double factor, error;
    bool measured; /* its error is the spread of its measures */
};

/* Multiplies the figures by what that draw gives, and lists them in desc->drawn. 0:
 * does nothing. Errors: -ENOMEM; those of orr_machine_desc_finish. */
int orr_machine_desc_draw(struct orr_machine_desc *desc, uint64_t draw,
                          struct orr_error *err);
