/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/draw.h - figures that may be off, drawn: which of the machines that their
 * errors allow is simulated (ORRERY_SIM_DRAW). Pure functions.
 */
#pragma once

#include <stdint.h>

/* The key of nothing yet; what tells a figure from others is added to it. */
#define ORR_DRAW_KEY UINT64_C(0xcbf29ce484222325)
uint64_t orr_draw_key(uint64_t key, const char *text);

/* By what draw number `draw` multiplies the figure of that key: lognormal, and within
 * 1 / (1 + error) … 1 + error nine times out of ten. The same for the same key,
 * independent for another. */
double orr_draw_factor(uint64_t draw, uint64_t key, double error);
