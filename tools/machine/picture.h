/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/picture.h - a machine as a drawing: processors, memories,
 * devices, what connects them and how fast. One thread.
 */
#pragma once

#include <stdio.h>

#include "platforms/machine_desc.h"

#define PICTURE_TEXT 96

/* "53.5 GB/s", in `text`, which is returned. */
const char *picture_bandwidth(double bytes_per_second, char text[PICTURE_TEXT]);

/* Writes the picture as SVG. A write error shows in ferror(out). Fails with
 * -ENOMEM only. */
int machine_picture(const struct orr_machine_desc *desc, FILE *out);
