/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/cost/figures.c - see figures.h. No state. */
#include "core/cost/figures.h"

#include <math.h>

#include "core/base/log.h"
#include "core/base/number.h"
#include "core/exec/runtime.h"
#include "core/worker/workers.h"

void orr_figures_count(struct orr_figures *figures,
                       const struct orr_cost_row *row, unsigned class_id,
                       unsigned impl, double us)
{
    enum orr_origin origin = orr_cost_origin(row, class_id, impl);

    figures->us[origin] += us;
    figures->off_by[origin] =
        fmax(figures->off_by[origin], orr_cost_error(row, class_id, impl));
}

void orr_figures_add(struct orr_figures *figures,
                     const struct orr_length *length, double us)
{
    figures->us[length->origin] += us;
    figures->off_by[length->origin] =
        fmax(figures->off_by[length->origin], length->error);
}

struct orr_figures orr_figures_total(const struct orr_runtime *rt)
{
    struct orr_figures total = {.us = {0}};

    for (unsigned w = 0; w < rt->workers->n; w++) {
        const struct orr_figures *one = &rt->workers->at[w].figures;

        for (int i = 0; i < ORR_NORIGINS; i++) {
            total.us[i] += one->us[i];
            total.off_by[i] = fmax(total.off_by[i], one->off_by[i]);
        }
    }
    return total;
}

double orr_figures_share(const struct orr_figures *figures,
                         enum orr_origin origin)
{
    double sum = 0;

    for (int i = 0; i < ORR_NORIGINS; i++)
        sum += figures->us[i];
    return sum > 0 ? figures->us[origin] / sum : 0;
}

void orr_figures_write(const struct orr_runtime *rt, FILE *out)
{
    struct orr_figures total = orr_figures_total(rt);
    const char *comma = "";

    fputc('[', out);
    for (int i = 0; i < ORR_NORIGINS; i++) {
        if (!(total.us[i] > 0))
            continue;
        orr_fprintf(out, "%s{\"origin\": \"%s\", \"share\": %.6f", comma,
                    orr_origin_name((enum orr_origin)i),
                    orr_figures_share(&total, (enum orr_origin)i));
        if (total.off_by[i] > 0)
            orr_fprintf(out, ", \"off_by\": %.6f", total.off_by[i]);
        fputc('}', out);
        comma = ", ";
    }
    fputc(']', out);
}

void orr_figures_tell(const struct orr_runtime *rt, FILE *out)
{
    struct orr_figures total = orr_figures_total(rt);
    const char *comma = "";

    for (int i = 0; i < ORR_NORIGINS; i++) {
        if (!(total.us[i] > 0))
            continue;
        orr_fprintf(out, "%s%.1f %% %s", comma,
                    100 * orr_figures_share(&total, (enum orr_origin)i),
                    orr_origin_name((enum orr_origin)i));
        if (total.off_by[i] > 0)
            orr_fprintf(out, " (off by up to %.1f %%)", 100 * total.off_by[i]);
        comma = ", ";
    }
}

void orr_figures_warn(const struct orr_runtime *rt)
{
    struct orr_figures total = orr_figures_total(rt);
    double share = orr_figures_share(&total, ORR_ORIGIN_INTERPOLATED);

    if (!(share > 0))
        return;
    orr_log_warning("%.1f %% of the time of tasks on `%s' is interpolated "
                    "between sizes that were measured: each of them may be off "
                    "by up to %.1f %%. STARPU_CALIBRATE=1 on the machine `%s' "
                    "measures them.",
                    100 * share, rt->machine->name,
                    100 * total.off_by[ORR_ORIGIN_INTERPOLATED],
                    rt->machine->host);
}
