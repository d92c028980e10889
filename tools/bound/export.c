/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/export.c - bounds as programs for other solvers. Needs no solver.
 * One thread.
 */
#include "tools/bound/bound.h"

#include "bound/programs.h"
#include "tools/common/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tightest first. The bound with paths is computed from the area alone, but
 * its program with all paths is precedence. */
static const enum orr_bound_method programs[] = {
    ORR_BOUND_INTEGER, ORR_BOUND_PRECEDENCE, ORR_BOUND_PATHS,
    ORR_BOUND_INTEGER_AREA, ORR_BOUND_AREA};

enum orr_bound_method bounds_exported(const bool wanted[ORR_BOUND_NMETHODS])
{
    bool all = true;

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        all = all && wanted[m];
    /* The default is a program that any solver solves quickly. */
    if (all)
        return ORR_BOUND_PRECEDENCE;
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
        if (wanted[programs[i]])
            return programs[i];
    return ORR_BOUND_NMETHODS;
}

static int make_linear_program(const struct bounds *b,
                               enum orr_bound_method method, struct orr_lp *lp)
{
    bool whole =
        method == ORR_BOUND_INTEGER || method == ORR_BOUND_INTEGER_AREA;

    if (method == ORR_BOUND_AREA || method == ORR_BOUND_INTEGER_AREA)
        return orr_bound_area_program(b->in, whole, lp);
    return orr_bound_precedence_program(b->in, whole, lp);
}

/* -1 with a message; the file is then as before. */
static int write_linear_program(const struct orr_lp *lp,
                                enum orr_lp_format format, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f;
    int rc = -1;

    if (!path)
        return 0;
    f = open_memstream(&text, &size);
    if (f) {
        rc = orr_lp_write(lp, format, f);
        if (fclose(f) != 0)
            rc = -1;
    }
    if (rc < 0)
        tool_error("out of memory");
    else
        rc = tool_write_file(path, text, size);
    free(text);
    return rc < 0 ? -1 : 0;
}

int bounds_export(const struct bounds *b)
{
    const struct bound_options *options = b->options;
    struct orr_lp lp;
    int rc = 0;

    if (!options->lp && !options->lp_solve && !options->mps)
        return 0;
    if (make_linear_program(b, bounds_exported(options->wanted), &lp) < 0) {
        tool_error("out of memory");
        rc = -1;
    }
    if (rc == 0)
        rc = write_linear_program(&lp, ORR_LP_CPLEX, options->lp);
    if (rc == 0)
        rc = write_linear_program(&lp, ORR_LP_LP_SOLVE, options->lp_solve);
    if (rc == 0)
        rc = write_linear_program(&lp, ORR_LP_MPS, options->mps);
    orr_lp_free(&lp);
    return rc;
}
