/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/bound/energy.c - a bound of the energy of any schedule. What the machine draws when nothing
 * runs it draws for at least as long as the highest proved bound of the makespan; each task draws
 * at least what it does where it draws least. Copies draw something, or nothing.
 */
#include "tools/bound/bound.h"

#include "tools/common/energy.h"

#include <math.h>
#include <stdio.h>

/* The least of all workers, J; 0: it might run somewhere in a time or with a power that is not
 * known. */
static double task_joules(const struct bounds *b, const struct orr_graph_task_type *type)
{
    double least = (double)INFINITY;

    for (unsigned w = 0; w < b->graph->nworkers; w++) {
        double ms = type->mean_ms[w];
        double watts;

        if (isinf(ms))
            continue;
        ms = fmax(0, ms - b->options->optimism * type->deviation_ms[w]);
        watts = powers_kernel_w(b->options->powers, b->graph->workers[w].name, type->symbol);
        if (isnan(ms * watts))
            return 0;
        least = fmin(least, ms * 1e-3 * fmax(0, watts));
    }
    return isinf(least) ? 0 : least;
}

struct bound_energy bounds_energy(const struct bounds *b)
{
    enum orr_bound_method best = bounds_best(b);
    struct bound_energy energy = {(double)NAN, 0, 0};
    double idle_w;

    if (!b->options->powers)
        return energy;
    idle_w = powers_idle_w(b->options->powers);
    if (best != ORR_BOUND_NMETHODS && bounds_is_proved(b, best) && idle_w > 0)
        energy.idle_j = idle_w * b->results[best].ms * 1e-3;
    for (unsigned t = 0; t < b->graph->ntasks; t++)
        if (orr_graph_is_task(b->graph, t))
            energy.tasks_j += task_joules(b, &b->graph->types[b->graph->tasks[t].type]);
    energy.joules = energy.idle_j + energy.tasks_j;
    return energy;
}

void bounds_print_energy(const struct bounds *b)
{
    struct bound_energy energy = bounds_energy(b);
    double joules = report_joules(&b->report);

    if (isnan(energy.joules))
        return;
    printf("energy      at least %.4g J: %.4g when idle, %.4g of tasks", energy.joules,
           energy.idle_j, energy.tasks_j);
    if (joules > 0)
        printf("; the run took %.4g J", joules);
    putchar('\n');
}

json_t *bounds_json_energy(const struct bounds *b)
{
    struct bound_energy energy = bounds_energy(b);
    double joules = report_joules(&b->report);

    if (isnan(energy.joules))
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:o}", "bound_joules", energy.joules, "idle_joules",
                     energy.idle_j, "task_joules", energy.tasks_j, "run_joules",
                     isnan(joules) ? json_null() : json_real(joules));
}
