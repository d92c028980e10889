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
#include "core/data/node.h"
#include "core/observe/graph_record.h"
#include "core/observe/bound_recording.h"

/* -- recording -- */

void starpu_bound_start(int deps, int prio)
{
    int err = orr_recording_start(ORR_API_RUNTIME(), deps != 0, deps && prio);

    if (err)
        orr_log_error("%s: out of memory, nothing is recorded", __func__);
}

void starpu_bound_stop(void)
{
    orr_recording_stop(ORR_API_RUNTIME());
}

static void say_nothing(const char *call, int err, const char *message)
{
    bool started = orr_recording_kind(orr_runtime_need(call)).started;

    if (err == -ENODATA && !started)
        orr_log_error("%s: no recording was started. Call starpu_bound_start "
                      "before tasks are submitted.",
                      call);
    else if (err == -ENODATA)
        orr_log_error("%s: no task was recorded. Submit tasks whose codelets "
                      "have a history model between starpu_bound_start and "
                      "starpu_bound_stop.",
                      call);
    else
        orr_log_error("%s: %s", call, message[0] ? message : strerror(-err));
}

/* The problem of what was recorded, owned by the caller; NULL after a
 * message. */
static struct orr_bound_problem *recorded(const char *call)
{
    struct orr_bound_problem *problem = NULL;
    int err = orr_recording_problem(orr_runtime_need(call), &problem);

    if (err)
        say_nothing(call, err, "");
    return problem;
}

/* The recorded graph, with dependencies; NULL after a message. */
static struct orr_graph *recorded_graph(const char *call)
{
    struct orr_graph *graph = NULL;
    struct orr_error message = {""};
    int err = orr_graph_record_make(orr_runtime_need(call), ORR_GRAPH_WINDOW,
                                    &graph, &message);

    if (err)
        say_nothing(call, err, message.text);
    return graph;
}

/* -- solving -- */

struct answer {
    double relaxed_ms, integer_ms;
    double *counts; /* owned, or NULL: not wanted */
};

/* When whole tasks take too long to place, the relaxed bound is still
 * printed. */
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

/* One bound with dependencies; NaN when there is none. */
static double compute(const struct orr_bound_solver *solver,
                      const struct orr_bound_instance *instance,
                      enum orr_bound_method method)
{
    struct orr_bound_result result;
    double ms = NAN;

    if (solver->compute(instance, method, NULL, &result) == 0) {
        ms = result.ms;
        orr_bound_result_done(&result);
    }
    return ms;
}

/* The bound with dependencies; 0 if it could not be computed. No message then: the
 * bound without them is computed next, and reports what is wrong. */
static void compute_deps(const char *call, bool integer, struct answer *ret)
{
    struct orr_bound_instance_options options = {.across_nodes = true};
    struct orr_bound_instance *instance = NULL;
    struct orr_graph *graph = recorded_graph(call);
    const struct orr_bound_solver *solver;
    const void *table;

    if (graph && orr_module_open("bound", &table, NULL) == 0 &&
        orr_bound_instance_new(graph, &options, &instance, NULL, NULL) == 0) {
        solver = table;
        ret->relaxed_ms =
            fmax(0, compute(solver, instance, ORR_BOUND_PRECEDENCE));
        if (integer)
            ret->integer_ms =
                fmax(0, compute(solver, instance, ORR_BOUND_INTEGER));
    }
    orr_bound_instance_free(instance);
    orr_graph_free(graph);
}

void starpu_bound_compute(double *res, double *integer_res, int integer)
{
    bool deps = orr_recording_kind(orr_runtime_need(__func__)).deps;
    struct answer answer = {0, 0, NULL}, plain = {0, 0, NULL};
    struct orr_bound_problem *problem = recorded(__func__);

    if (problem && deps)
        compute_deps(__func__, integer != 0, &answer);
    if (problem &&
        (answer.relaxed_ms <= 0 || (integer && answer.integer_ms <= 0)))
        (void)solve(__func__, problem, integer && !(answer.integer_ms > 0),
                    &plain);
    orr_bound_problem_free(problem);
    if (res)
        *res = fmax(answer.relaxed_ms, plain.relaxed_ms);
    if (integer && integer_res)
        *integer_res = answer.integer_ms > 0
                           ? answer.integer_ms
                           : fmax(answer.relaxed_ms, plain.integer_ms);
}

/* -- writing -- */

static void end_print(const char *call, struct orr_bound_problem *problem,
                      int err)
{
    orr_bound_problem_free(problem);
    if (err)
        orr_log_error("%s: %s", call, strerror(-err));
}

/* Writes that the call does not support dependencies, if the recording has them;
 * returns whether it did. */
static bool refuse_deps(const char *call, FILE *output, const char *before,
                        const char *after)
{
    if (!orr_recording_kind(orr_runtime_need(call)).deps)
        return false;
    fprintf(output,
            "%sDependencies are not supported here: record with "
            "starpu_bound_start(0, 0), or call starpu_bound_compute or "
            "starpu_bound_print_lp%s\n",
            before, after);
    return true;
}

void starpu_bound_print(FILE *output, int integer)
{
    struct orr_bound_problem *problem = recorded(__func__);
    struct answer answer = {0, 0, NULL};
    int err = 0;

    if (!problem)
        return;
    if (refuse_deps(__func__, output, "", ".")) {
        orr_bound_problem_free(problem);
        return;
    }
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

static double transfer_ms(unsigned src, unsigned dst, uint64_t bytes, void *arg)
{
    return orr_transfer_predict(arg, src, dst, bytes) / 1e3;
}

/* Writes the recorded graph in one of its forms. */
static void print_graph(const char *call,
                        int (*print)(const struct orr_bound_text *, FILE *),
                        FILE *output)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    struct orr_graph *graph = recorded_graph(call);
    struct orr_bound_tag_dep *tags = NULL;
    struct orr_bound_text text = {
        .graph = graph,
        .prio = orr_recording_kind(rt).prio,
        .transfer_ms = transfer_ms,
        .arg = rt,
    };
    int err = graph ? orr_graph_record_window_tags(rt, &tags, &text.ntags) : 0;

    text.tags = tags;
    if (graph && !err)
        err = print(&text, output);
    free(tags);
    orr_graph_free(graph);
    end_print(call, NULL, err);
}

void starpu_bound_print_lp(FILE *output)
{
    struct orr_bound_problem *problem;

    if (orr_recording_kind(orr_runtime_need(__func__)).deps) {
        print_graph(__func__, orr_bound_print_deps_lp, output);
        return;
    }
    problem = recorded(__func__);
    if (problem)
        end_print(__func__, problem, orr_bound_print_lp(problem, output));
}

void starpu_bound_print_mps(FILE *output)
{
    struct orr_bound_problem *problem = recorded(__func__);

    if (!problem)
        return;
    if (refuse_deps(__func__, output, "* ", "."))
        orr_bound_problem_free(problem);
    else
        end_print(__func__, problem, orr_bound_print_mps(problem, output));
}

void starpu_bound_print_dot(FILE *output)
{
    struct orr_recording_kind kind =
        orr_recording_kind(orr_runtime_need(__func__));

    if (kind.started && !kind.deps)
        orr_log_error("%s: the graph of tasks was not recorded: call "
                      "starpu_bound_start(1, 0)",
                      __func__);
    else
        print_graph(__func__, orr_bound_print_dot, output);
}
