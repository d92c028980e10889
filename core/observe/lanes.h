/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/lanes.h - where slices of time of one track are drawn: those that do not
 * overlap share a lane. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Zero is one without slices. */
struct orr_lanes {
    double *ends; /* per lane, of its last slice; owned */
    unsigned n;
};

/* The lane that is free from `start` on, kept until `end`; starts come in order.
 * *ret_new: it is its first. Errors: -ENOMEM. */
int orr_lanes_take(struct orr_lanes *lanes, double start, double end,
                   bool *ret_new);

/* An array of them. Accepts NULL. */
void orr_lanes_free(struct orr_lanes *all, size_t n);
