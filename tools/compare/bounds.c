/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/bounds.c - what no scheduler can go below: `orrery bound` on each
 * simulated machine at each point of the sweep, with the bounds that take no time.
 */
#include "tools/common/modules.h"
#include "tools/common/tool.h"
#include "tools/compare/comparison.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define QUICK "critical-path,area,paths,precedence,runtime"

/* The command line; owned, its words are borrowed. NULL without memory. */
static char **bound_command_words(const struct comparison *c, char *orrery,
                                  size_t machine, size_t point)
{
    const struct compare_options *options = c->options;
    const char *const before[] = {orrery,
                                  "bound",
                                  "--json",
                                  "--kind",
                                  QUICK,
                                  "-m",
                                  c->machines[machine],
                                  "-s",
                                  c->schedulers[0]};
    size_t n = 0, nargs = 0;
    char **words;

    while (options->argv[nargs])
        nargs++;
    words =
        calloc(sizeof(before) / sizeof(*before) + 6 + nargs, sizeof(*words));
    if (!words)
        return NULL;
    for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
        words[n++] = (char *)(uintptr_t)before[i];
    if (*c->edits[point]) {
        words[n++] = (char *)(uintptr_t) "--set";
        words[n++] = c->edits[point];
    }
    if (options->assume) {
        words[n++] = (char *)(uintptr_t) "--assume";
        words[n++] = (char *)(uintptr_t)options->assume;
    }
    words[n++] = (char *)(uintptr_t) "--";
    memcpy(words + n, options->argv, nargs * sizeof(*words));
    return words;
}

/* µs: the highest bound that is proved; NaN without. What the library said stands
 * before the JSON. */
static double read_bound(const struct process *process)
{
    const char *text = process->text;
    json_t *json;
    double ms = (double)NAN;

    while (text && *text && *text != '{') {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    json = text ? json_loads(text, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    if (json_is_true(json_object_get(json_object_get(json, "best"), "proved")))
        ms = json_number_value(
            json_object_get(json_object_get(json, "best"), "ms"));
    json_decref(json);
    return ms * 1000;
}

static void take_bound(const struct comparison *c, size_t machine, size_t point,
                       const struct process *process)
{
    double us = read_bound(process);
    char *where;

    for (size_t s = 0; s < c->nschedulers; s++)
        comparison_cell(c, machine, point, s)->bound_us = us;
    if (!isnan(us))
        return;
    where = comparison_where(c, machine, point);
    tool_error("compare: %s: no bound is known; `orrery bound' says why",
               where ? where : c->machines[machine]);
    free(where);
}

int comparison_bound(struct comparison *c)
{
    size_t n = c->nmachines * c->sweep.npoints;
    struct process *processes = calloc(n, sizeof(*processes));
    char ***words = calloc(n, sizeof(*words));
    char *orrery = tool_find_program(".", "orrery");
    int stopped = -1;
    size_t nused = 0;

    if (!processes || !words || !orrery) {
        tool_error("out of memory");
        goto done;
    }
    for (size_t i = 0; i < n; i++) {
        size_t machine = i / c->sweep.npoints;

        if (!strcmp(c->machines[machine], COMPARE_REAL))
            continue;
        words[i] =
            bound_command_words(c, orrery, machine, i % c->sweep.npoints);
        if (!words[i]) {
            tool_error("out of memory");
            goto done;
        }
        processes[nused++] =
            (struct process){.argv = words[i], .quiet = true, .output = -1};
    }
    stopped = process_run(processes, nused, c->options->jobs, NULL, NULL);
    for (size_t i = 0, used = 0; !stopped && i < n; i++)
        if (words[i])
            take_bound(c, i / c->sweep.npoints, i % c->sweep.npoints,
                       &processes[used++]);
done:
    for (size_t i = 0; words && i < n; i++)
        free(words[i]);
    for (size_t i = 0; processes && i < n; i++)
        process_done(&processes[i]);
    free(processes);
    free(words);
    free(orrery);
    return stopped;
}
