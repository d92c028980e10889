/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/compute.c - which function computes which bound. No state; any thread.
 */
#include <assert.h>
#include <math.h>

#include "bound/exact.h"
#include "bound/integer.h"
#include "bound/relaxed.h"

static const orr_bound_method_fn methods[ORR_BOUND_NMETHODS] = {
    [ORR_BOUND_CRITICAL_PATH] = orr_bound_critical_path,
    [ORR_BOUND_AREA] = orr_bound_area,
    [ORR_BOUND_PATHS] = orr_bound_paths,
    [ORR_BOUND_PRECEDENCE] = orr_bound_precedence,
    [ORR_BOUND_TRANSFERS] = orr_bound_transfers,
    [ORR_BOUND_RUNTIME] = orr_bound_runtime,
    [ORR_BOUND_MEMORY] = orr_bound_memory,
    [ORR_BOUND_INTEGER_AREA] = orr_bound_integer_area,
    [ORR_BOUND_INTEGER] = orr_bound_integer,
    [ORR_BOUND_EXACT] = orr_bound_exact,
};

int orr_bound_at_least(const struct orr_bound_instance *instance,
                       enum orr_bound_method simpler,
                       const struct orr_bound_options *options,
                       struct orr_bound_result *ret)
{
    const struct orr_bound_options less = {
        .seconds = fmin(options->seconds, fmax(1, options->seconds / 10)),
        .tolerance = options->tolerance};
    struct orr_bound_result other;
    int rc;

    if (isnan(ret->ms))
        return 0;
    rc = orr_bound_compute(instance, simpler, &less, &other);
    if (rc)
        return rc;
    if (other.proved && other.ms > ret->ms) {
        ret->ms = other.ms;
        if (ret->upper_ms < other.ms)
            ret->upper_ms = other.ms;
        if (other.limit)
            rc = orr_bound_limit(ret, "%s", other.limit);
    }
    orr_bound_result_done(&other);
    return rc;
}

/* A bound and a solution that meet may cross by what rounding leaves; then the
 * lower value is the bound. More than that shows a fault. */
static int result_settle_rounding(struct orr_bound_result *ret)
{
    if (!(ret->ms > ret->upper_ms))
        return 0;
    if (ret->ms > ret->upper_ms * (1 + 1e-9))
        return orr_bound_give_up(ret, ORR_BOUND_SUSPICIOUS,
                                 "the bound of %g ms is above a solution of "
                                 "%g ms",
                                 ret->ms, ret->upper_ms);
    ret->ms = ret->upper_ms;
    return 0;
}

int orr_bound_compute(const struct orr_bound_instance *instance,
                      enum orr_bound_method method,
                      const struct orr_bound_options *options,
                      struct orr_bound_result *ret)
{
    struct orr_bound_options complete = {
        60, 1e-4, options ? options->patience : 0};
    double start = orr_bound_clock();
    int rc;

    assert(method < ORR_BOUND_NMETHODS);
    if (options && options->seconds > 0)
        complete.seconds = options->seconds;
    if (options && options->tolerance > 0)
        complete.tolerance = options->tolerance;
    *ret = (struct orr_bound_result){
        .method = method, .ms = NAN, .upper_ms = NAN, .began_s = start};
    if (methods[method])
        rc = methods[method](instance, &complete, ret);
    else
        rc = orr_bound_give_up(ret, ORR_BOUND_SKIPPED,
                               "this version does not compute it");
    if (rc == 0)
        rc = result_settle_rounding(ret);
    ret->seconds = orr_bound_clock() - start;
    if (rc == 0 && ret->proved)
        orr_bound_note_step(ret, ret->ms);
    if (rc)
        orr_bound_result_done(ret);
    return rc;
}
