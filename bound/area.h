/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/area.h - the linear program that distributes task types over resources,
 * solved by a simplex method of its own. No state; any thread.
 *
 *   min T,  Σ_variants use[w][r]·x[w] ≤ size[r]·T for each resource r,
 *           Σ_{w of type k} x[w] = count[k] for each type k,  x ≥ 0.
 */
#pragma once

#include <stdbool.h>

/* The problem; all arrays are lent. */
struct orr_area {
    unsigned nresources, ntypes;
    const double *size;  /* > 0 */
    const double *count; /* >= 0 */
    /* ntypes + 1; a type with a count has a variant. */
    const unsigned *first_variant;
    const unsigned *first_use; /* per variant, and one more */
    const unsigned *use_resource;
    const double *use; /* >= 0, finite */
};

/* The caller's arrays, filled on success and, when time was out, with the best
 * result so far. */
struct orr_area_solution {
    double *x; /* per variant; kept as it is for the count, sums are exact to
                    * rounding; NULL: not wanted */
    double *price; /* per resource: λ ≥ 0 with Σ size·λ = 1 */
    double primal; /* T of x */
    double bound;  /* Σ count·min_variants λ·use: no solution is below */
    unsigned pivots;
};

/* Errors: -ENOMEM; -ETIME when `deadline` (orr_bound_clock) has passed before
 * bound and primal are within `tolerance` (relative); -EDOM when the method
 * ends and they are not. `x`, `price`, `primal` and `bound` are valid after the
 * latter two as well. */
int orr_area_solve(const struct orr_area *area, double tolerance,
                   double deadline, struct orr_area_solution *ret);

/* Σ_k count[k]·min_variants Σ_r price[r]·use, over Σ size·price: a lower bound
 * for any price ≥ 0 that is not 0 throughout. */
double orr_area_bound(const struct orr_area *area, const double *price);
