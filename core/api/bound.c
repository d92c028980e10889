/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/bound.c - lower bounds for the tasks recorded meanwhile. Any
 * thread; the solver is a module, opened when a bound is first computed.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "bound/solver.h"
#include "core/api/api.h"
#include "core/base/module.h"
#include "core/task/recording.h"

/* -- recording -- */

void starpu_bound_start(int deps, int prio)
{
    int err = orr_recording_start(ORR_API_RUNTIME());

    (void)prio; /* means something with dependencies only */
    if (err)
        orr_log_error("%s: out of memory, nothing is recorded", __func__);
    if (deps)
        orr_log_warning("%s: dependencies are not recorded yet; the bound "
                        "will be the one without them, as for deps = 0",
                        __func__);
}

void starpu_bound_stop(void)
{
    orr_recording_stop(ORR_API_RUNTIME());
}

/* The problem of what was recorded, owned by the caller; NULL after words. */
static struct orr_bound_problem *recorded(const char *call)
{
    struct orr_bound_problem *problem = NULL;
    int err = orr_recording_problem(orr_runtime_need(call), &problem);

    if (err == -ENODATA)
        orr_log_error("%s: no task was recorded. Submit tasks whose codelets "
                      "have a history model between starpu_bound_start and "
                      "starpu_bound_stop.",
                      call);
    else if (err)
        orr_log_error("%s: %s", call, strerror(-err));
    return problem;
}

/* -- solving -- */

struct answer {
    double relaxed_ms, integer_ms;
    double *counts; /* owned, or NULL: not wanted */
};

/* When whole tasks take too long to place, the relaxed bound is still told. */
static int solve(const char *call, const struct orr_bound_problem *problem,
                 bool integer, struct answer *ret)
{
    const struct orr_bound_solver *solver;
    struct orr_error err = {""};
    const void *table;
    int code = orr_module_open("bound", &table, &err);

    if (!code) {
        solver = table;
        code =
            solver->area(problem, &ret->relaxed_ms,
                         integer ? &ret->integer_ms : NULL, ret->counts, &err);
    }
    if (!code)
        return 0;
    orr_log_error("%s: %s", call, err.text[0] ? err.text : strerror(-code));
    if (code == -ETIME && integer)
        return solve(call, problem, false, ret);
    return code;
}

void starpu_bound_compute(double *res, double *integer_res, int integer)
{
    struct orr_bound_problem *problem = recorded(__func__);
    struct answer answer = {0, 0, NULL};

    if (problem)
        (void)solve(__func__, problem, integer != 0, &answer);
    orr_bound_problem_free(problem);
    if (res)
        *res = answer.relaxed_ms;
    if (integer && integer_res)
        *integer_res = answer.integer_ms;
}

/* -- writing -- */

static void end_print(const char *call, struct orr_bound_problem *problem,
                      int err)
{
    orr_bound_problem_free(problem);
    if (err)
        orr_log_error("%s: %s", call, strerror(-err));
}

void starpu_bound_print(FILE *output, int integer)
{
    struct orr_bound_problem *problem = recorded(__func__);
    struct answer answer = {0, 0, NULL};
    int err = 0;

    if (!problem)
        return;
    answer.counts =
        calloc((size_t)problem->npools * problem->nworkers, sizeof(double));
    if (!answer.counts)
        err = -ENOMEM;
    else if (solve(__func__, problem, integer != 0, &answer) == 0)
        err = orr_bound_print_solution(
            problem, fmax(answer.relaxed_ms, answer.integer_ms), answer.counts,
            output);
    free(answer.counts);
    end_print(__func__, problem, err);
}

void starpu_bound_print_lp(FILE *output)
{
    struct orr_bound_problem *problem = recorded(__func__);

    if (problem)
        end_print(__func__, problem, orr_bound_print_lp(problem, output));
}

void starpu_bound_print_mps(FILE *output)
{
    struct orr_bound_problem *problem = recorded(__func__);

    if (problem)
        end_print(__func__, problem, orr_bound_print_mps(problem, output));
}

void starpu_bound_print_dot(FILE *output)
{
    (void)output;
    orr_log_error("%s: the graph of tasks is not recorded yet, nothing is "
                  "written",
                  __func__);
}
