/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/project.h - times of a kernel where it was not measured: at another
 * size, on another device; each with the range it may be off. METHODS.md has the
 * rules. Pure functions of arrays.
 */
#pragma once

#include <stdbool.h>

/* What stands for the work of a task, the best first. */
enum orr_work {
    ORR_WORK_FLOPS,
    ORR_WORK_CORE, /* the time that a core takes for it */
    ORR_WORK_BYTES,
};

/* A measured task. Work and time are positive and finite. */
struct orr_work_point {
    double work;
    double us;
    double error; /* relative standard error of the time; 0: not known */
};

struct orr_projection {
    double us;     /* NaN: no answer */
    double off_by; /* half-width of the range, relative, of the upper end: some
                    * nine of ten lie between us / (1 + off_by) and us * (1 + off_by) */
    bool limited;  /* of accelerators: the law is faster than the device can be */
};

/* The time of a task of that work from `n` measured ones of one device, which
 * `is_core` or is not. Errors: -EDOM without points; -ENOMEM. */
int orr_project_size(const struct orr_work_point *points, unsigned n,
                     enum orr_work kind, bool is_core, double work,
                     struct orr_projection *ret);

/* The rates of a device; 0: not known. */
struct orr_rates {
    double flops; /* peak, flop per µs */
    double bytes; /* of its memory, bytes per µs */
};

/* From what to what a time is projected. */
enum orr_pair {
    ORR_PAIR_CORES,
    ORR_PAIR_DEVICES, /* both accelerators */
    ORR_PAIR_MIXED,
};

/* The time on another device of a task that takes `us` (with relative error
 * `off_by`) on one, by the roofline (Williams, Waterman & Patterson 2009): as
 * far from the roof there as here, but for accelerators, of which the slower is
 * better used. `flops` 0: not known, and the range has both roofs. Never faster
 * than its peak allows; an accelerator takes at least its launch and, beside that, the
 * longest of its flops at the rate of the lanes that so little data can fill, its bytes,
 * and one way to memory and back. What a core works on may be in its caches; code of
 * few bytes, measured on a core, runs on few lanes, each slower than a core. NaN where a
 * rate is missing. */
struct orr_projection orr_project_device(struct orr_projection here,
                                         double flops, double bytes,
                                         const struct orr_rates *from,
                                         const struct orr_rates *to,
                                         enum orr_pair pair);
