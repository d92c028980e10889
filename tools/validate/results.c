/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/results.c - the results of the runs of `orrery validate`, put
 * together. One thread. */
#include "tools/validate/results.h"

#include "tools/common/tool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct validate_spread validate_spread_of(double *values, unsigned n)
{
    struct validate_spread spread = {(double)NAN, (double)NAN, (double)NAN};

    for (unsigned i = 0; i < n; i++) {
        spread.min = fmin(spread.min, values[i]);
        spread.max = fmax(spread.max, values[i]);
    }
    spread.median = drift_median(values, n);
    return spread;
}

static int validation_compare_parts(struct validation *v, double *work)
{
    /* The ends need the levels of kernels. */
    if (validate_measure_kernels(v, work) < 0 ||
        validate_compare_links(v, work) < 0)
        return -ENOMEM;
    validate_compare_ends(v, work);
    return validate_judge_kernels(v);
}

int validation_compare(struct validation *v)
{
    unsigned most = v->nreps > v->nsizes ? v->nreps : v->nsizes;
    double *work = calloc(most, sizeof(*work));
    int rc = -ENOMEM;

    v->ends = calloc(v->nsizes, sizeof(*v->ends));
    if (work && v->ends)
        rc = validation_compare_parts(v, work);
    if (rc == -ENOMEM)
        tool_error("out of memory");
    free(work);
    return rc < 0 ? -1 : 0;
}
