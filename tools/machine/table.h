/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/table.h - the bandwidths between memories as a table in a
 * picture. Pixels. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "platforms/machine_desc.h"

/* Whether there is anything to show, and not too much for a picture. */
bool machine_table_fits(const struct orr_machine_desc *desc);

double machine_table_width(const struct orr_machine_desc *desc);
double machine_table_height(const struct orr_machine_desc *desc);

/* Draws it with its upper left corner at x, y. */
void machine_table_draw(const struct orr_machine_desc *desc, double x, double y,
                        FILE *out);
