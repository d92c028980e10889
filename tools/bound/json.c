/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/json.c - `orrery bound --json`. Without memory jansson's calls
 * give NULL, which its packing passes on: one check at the end. One thread.
 */
#include "tools/bound/bound.h"

#include "tools/common/json.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* [{"seconds": …, "ms": …}, …] */
static json_t *json_steps(const struct orr_bound_result *r)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < r->nsteps; i++)
        if (json_array_append_new(list, json_pack("{s:f, s:f}", "seconds",
                                                  r->steps[i].seconds, "ms",
                                                  r->steps[i].ms)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *json_result(const struct bounds *b, enum orr_bound_method method)
{
    const struct orr_bound_result *r = &b->results[method];

    return json_pack(
        "{s:s, s:s, s:o, s:o, s:s, s:b, s:b, s:o, s:s, s:s?, "
        "s:s?, s:o}",
        "bound", bounds_key(method), "name", orr_bound_method_name(method),
        "ms", tool_json_number(r->ms), "upper_ms",
        tool_json_number(r->upper_ms), "outcome",
        bounds_outcome_name(r->outcome), "verified", r->proved, "proved",
        bounds_is_proved(b, method), "seconds", tool_json_number(r->seconds),
        "ignores", orr_bound_method_ignores(method), "limited_by", r->limit,
        "why", r->why, "steps", json_steps(r));
}

static json_t *json_results(const struct bounds *b)
{
    json_t *list = json_array();

    for (unsigned m = 0; m < ORR_BOUND_NMETHODS; m++)
        if (b->options->wanted[m] &&
            json_array_append_new(list, json_result(b, m)) < 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *json_classes(const struct bounds *b)
{
    json_t *list = json_array();

    for (unsigned c = 0; c < b->in->nclasses; c++) {
        const struct orr_bound_class *class = &b->in->classes[c];

        if (json_array_append_new(list, json_pack("{s:s, s:i, s:i}", "name",
                                                  class->name, "workers",
                                                  (int)class->size, "nodes",
                                                  (int)class->nodes)) < 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static int append_note(const char *note, void *list)
{
    return json_array_append_new(list, json_string(note)) < 0 ? -ENOMEM : 0;
}

static json_t *json_notes(const struct bounds *b)
{
    json_t *list = json_array();

    if (!list || bounds_notes(b, append_note, list) < 0 ||
        bounds_below_note(b, append_note, list) < 0) {
        json_decref(list);
        return NULL;
    }
    return list;
}

/* Those of a file: their texts. */
static json_t *json_told(const struct orr_graph *graph, const char *what)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < graph->nabout; i++)
        if (!strcmp(graph->about[i].what, what))
            json_array_append_new(list, json_pack("{s:o}", "text",
                                                  tool_json_text(
                                                      graph->about[i].text)));
    return list;
}

/* As reports have them: all in one string. */
static json_t *json_assumed(const struct orr_graph *graph)
{
    char *all = NULL;
    json_t *json;

    for (unsigned i = 0; i < graph->nabout; i++) {
        char *longer;

        if (strcmp(graph->about[i].what, "assumed") != 0)
            continue;
        longer = tool_format("%s%s%s", all ? all : "", all ? "; " : "",
                             graph->about[i].text);
        free(all);
        all = longer;
    }
    json = all ? tool_json_text(all) : json_null();
    free(all);
    return json;
}

/* Of the run here, or of the one that a file records. */
static json_t *json_run(const struct bounds *b)
{
    const json_t *edits = json_object_get(b->report.json, "edits");
    json_t *all = edits ? json_deep_copy(edits) : json_told(b->graph, "what if");

    return json_pack("{s:s?, s:s?, s:o, s:o}", "scheduler", bounds_scheduler(b),
                     "provenance", bounds_figures(b), "assumed",
                     b->report.assumed ? tool_json_text(b->report.assumed)
                                       : json_assumed(b->graph),
                     "edits", all);
}

static json_t *json_best(const struct bounds *b)
{
    enum orr_bound_method best = bounds_best(b);

    if (best == ORR_BOUND_NMETHODS)
        return json_null();
    return json_pack("{s:s, s:o, s:b}", "bound", bounds_key(best), "ms",
                     tool_json_number(b->results[best].ms), "proved",
                     bounds_is_proved(b, best));
}

static json_t *json_exported(const struct bounds *b)
{
    const struct bound_options *options = b->options;

    if (!options->lp && !options->lp_solve && !options->mps)
        return json_null();
    return json_pack("{s:s, s:s?, s:s?, s:s?}", "bound",
                     bounds_key(bounds_exported(options->wanted)), "lp",
                     options->lp, "lp_solve", options->lp_solve, "mps",
                     options->mps);
}

int bounds_print_json(const struct bounds *b)
{
    json_t *json = json_pack(
        "{s:s, s:s, s:s?, s:b, s:o, s:i, s:i, s:o, s:f, s:f, s:b, s:i, s:o, "
        "s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:s?, s:o, s:o}",
        "version", ORR_VERSION, b->options->file ? "graph" : "program", b->what,
        "machine", b->graph->machine, "simulated", b->graph->simulated, "run",
        json_run(b), "tasks", (int)b->in->ntasks, "dependencies",
        (int)b->in->nedges, "classes", json_classes(b), "optimism",
        b->options->optimism, "merge", b->options->merge, "merged",
        b->in->merged || b->in_nodes->merged, "unknown_pairs", (int)b->unknown,
        "makespan_ms", tool_json_number(b->makespan_ms), "bounds",
        json_results(b), "best", json_best(b), "above_best",
        tool_json_number(bounds_distance(b)), "exported", json_exported(b),
        "energy", bounds_json_energy(b), "notes", json_notes(b), "own_pairs", (int)b->filled, "figures",
        bounds_figures(b), "times", bounds_json_times(b), "types",
        bounds_json_types(b));
    json_t *untrusted = json_object_get(b->report.json, "untrusted");

    if (json && untrusted)
        json_object_set(json, "untrusted", untrusted);
    if (tool_json_print(json) < 0) {
        tool_error("out of memory");
        return -1;
    }
    return 0;
}
