/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/compare/bounds.c - what no scheduler can go below: `orrery bound` on each
 * simulated machine at each point of the sweep, with the bounds that take no time.
 */
#include "tools/common/modules.h"
#include "tools/common/tool.h"
#include "tools/common/comparison.h"
#include "tools/compare/bounds.h"

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

/* µs: the highest bound that is proved; NaN without. */
static double proved_us(const json_t *json)
{
    const json_t *best = json_object_get(json, "best");

    return json_is_true(json_object_get(best, "proved"))
               ? 1e3 * json_number_value(json_object_get(best, "ms"))
               : (double)NAN;
}

static void take_bound(const struct comparison *c, size_t machine, size_t point,
                       const struct process *process)
{
    struct rank_bounds *bounds = &c->bounds[machine * c->sweep.npoints + point];
    bool ranks = rank_bounds_take(process->text, bounds);
    double us = proved_us(bounds->json);
    char *where;

    for (size_t s = 0; s < c->nschedulers; s++) {
        struct cell *cell = comparison_cell(c, machine, point, s);

        cell->bound_us = us;
        cell->bounds = ranks ? bounds : NULL;
    }
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

    c->bounds = calloc(n, sizeof(*c->bounds));
    if (!processes || !words || !orrery || !c->bounds) {
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
