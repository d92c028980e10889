/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/graph_conditions.c - see graph_conditions.h. No state. */
#include "core/observe/graph_conditions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "bound/graph.h"
#include "core/cost/assume.h"
#include "core/cost/cost.h"
#include "core/cost/estimates.h"
#include "core/cost/figures.h"
#include "core/exec/runtime.h"
#include "core/sched/ctxs.h"
#include "core/sched/sched.h"

static int add_edits(struct orr_graph *graph, const struct orr_machine *machine)
{
    int rc = 0;

    for (unsigned i = 0; i < machine->nedits && rc == 0; i++) {
        char *text;

        if (asprintf(&text, "%s: %s", machine->edits[i].edit,
                     machine->edits[i].text) < 0)
            return -ENOMEM;
        rc = orr_graph_add_about(graph, "what if", text);
        free(text);
    }
    return rc;
}

static int add_assumptions(struct orr_graph *graph,
                           const struct orr_assumptions *a)
{
    int rc = 0;

    for (unsigned i = 0; i < a->n && rc == 0; i++)
        if (!a->all[i].elsewhere)
            rc = orr_graph_add_about(graph, "assumed", a->all[i].text);
    return rc;
}

static int add_times(struct orr_graph *graph, const struct orr_runtime *rt)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int rc = 0;

    if (!out)
        return -ENOMEM;
    orr_figures_tell(rt, out);
    if (fclose(out) != 0)
        rc = -ENOMEM;
    if (rc == 0 && size > 0)
        rc = orr_graph_add_about(graph, "times", text);
    free(text);
    return rc;
}

/* Of one of several ranks: "3 of 16". */
static int add_rank(struct orr_graph *graph, struct orr_runtime *rt)
{
    char text[48];

    if (!atomic_load(&rt->one_of_several))
        return 0;
    snprintf(text, sizeof(text), "%d of %u", atomic_load(&rt->rank), rt->nranks);
    return orr_graph_add_about(graph, "rank", text);
}

int orr_graph_add_conditions(struct orr_graph *graph, struct orr_runtime *rt)
{
    int rc = orr_graph_add_about(graph, "scheduler", rt->sched_ctxs->at[0]->ops->name);

    if (rc == 0)
        rc = add_rank(graph, rt);
    if (rc == 0)
        rc = add_edits(graph, rt->machine);
    if (rc == 0)
        rc = add_assumptions(graph, orr_costs_assumptions(rt->estimates->costs));
    if (rc == 0 && rt->machine->kernels_take_their_length)
        rc = add_times(graph, rt);
    return rc;
}
