/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/print.c - tables and JSON of `orrery validate`. */
#include "tools/validate/validate.h"

#include "tools/common/json.h"
#include "tools/common/program.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Share of disturbed time from which errors from end to end are not
 * meaningful. */
static const double worth_printing = 0.05;

/* --- tables --- */

/* "+1.2", "-" when it is not known. */
static void add_percent(struct table *table, double share)
{
    table_add(table, isnan(share) ? "-" : "%+.1f", 100 * share);
}

/* A number with unit factor, "-" when it is not known. */
static void add_value(struct table *table, double value, double factor)
{
    table_add(table, isnan(value) ? "-" : "%.4g", value * factor);
}

static void add_range(struct table *table, struct validate_spread spread,
                      double factor)
{
    table_add(table, isnan(spread.median) ? "-" : "%.4g to %.4g",
              spread.min * factor, spread.max * factor);
}

/* Ends the table; -1 and a message without memory. */
static int print_table(struct table *table, const struct table_column *columns,
                       size_t ncolumns)
{
    if (table_end(table, columns, ncolumns) == 0)
        return 0;
    tool_error("out of memory");
    return -1;
}

static const char *end_verdict(const struct validate_end *end, bool loud)
{
    if (end->verdict == DRIFT_DRIFTED)
        return loud ? "OFF" : "off";
    return drift_verdict_name(end->verdict, loud);
}

enum { KERNEL_COLUMNS = 10, END_COLUMNS = 9, LINK_COLUMNS = 6 };

static void add_kernel(struct table *table, const struct validation *v,
                       size_t k)
{
    const struct validate_kernel *kernel = &v->kernels[k];
    const struct report_kernel *id = &kernel->kernel;
    const struct drift_item *item = &v->items[k];

    table_add(table, "%s", id->name);
    if (id->implementation)
        table_add(table, "%s/%u", id->arch, id->implementation);
    else
        table_add(table, "%s", id->arch);
    table_add(table, "%08x", id->footprint);
    add_value(table, kernel->predicted, 1);
    add_value(table, kernel->measured.median, 1);
    add_range(table, kernel->measured, 1);
    add_percent(table, kernel->error);
    add_percent(table, expm1(item->excess));
    table_add(table, isnan(item->threshold) ? "-" : "%.1f",
              100 * expm1(item->threshold));
    /* A prediction that no measure of that size is behind. */
    if (kernel->origin > ORR_ORIGIN_MEASURED &&
        kernel->origin != ORR_ORIGIN_FUNCTION)
        table_add(table, "%s (%s)", drift_verdict_name(kernel->verdict, true),
                  orr_origin_name(kernel->origin));
    else
        table_add(table, "%s", drift_verdict_name(kernel->verdict, true));
}

static int print_kernels(const struct validation *v)
{
    static const struct table_column columns[KERNEL_COLUMNS] = {
        {"kernel", false},      {"arch", false},
        {"footprint", false},   {"predicted µs", true},
        {"measured µs", true},  {"(extremes)", true},
        {"error %", true},      {"drift %", true},
        {"alarm from %", true}, {"", false}};
    struct table table = {0};

    for (size_t k = 0; k < v->nkernels; k++)
        add_kernel(&table, v, k);
    return print_table(&table, columns, KERNEL_COLUMNS);
}

static int print_links(const struct validation *v)
{
    static const struct table_column columns[LINK_COLUMNS] = {
        {"copies", false},     {"number real", true}, {"simulated", true},
        {"µs/MiB real", true}, {"simulated", true},   {"error %", true}};
    struct table table = {0};

    if (v->nlinks == 0) {
        puts("no copies: all data stay in one memory");
        return 0;
    }
    for (size_t l = 0; l < v->nlinks; l++) {
        const struct validate_link *link = &v->links[l];

        table_add(&table, "%s to %s", link->from, link->to);
        table_add(&table, "%lld", (long long)link->measured_count);
        table_add(&table, "%lld", (long long)link->predicted_count);
        add_value(&table, link->measured.median, 1);
        add_value(&table, link->predicted.median, 1);
        add_percent(&table, link->error);
    }
    return print_table(&table, columns, LINK_COLUMNS);
}

static int print_ends(const struct validation *v)
{
    static const struct table_column columns[END_COLUMNS] = {
        {"size", false},       {"predicted ms", true}, {"(extremes)", true},
        {"measured ms", true}, {"(extremes)", true},   {"error %", true},
        {"disturbed %", true}, {"alarm from %", true}, {"", false}};
    bool modelled = false, disturbed = false, steady = false;
    struct table table = {0};

    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct validate_end *end = &v->ends[s];

        table_add(&table, "%s", end->size ? end->size : "-");
        add_value(&table, end->predicted.median, 1e-3);
        add_range(&table, end->predicted, 1e-3);
        add_value(&table, end->measured.median, 1e-3);
        add_range(&table, end->measured, 1e-3);
        add_percent(&table, end->error);
        add_percent(&table, end->disturbance);
        add_value(&table, 100 * expm1(end->threshold), 1);
        table_add(&table, "%s", end_verdict(end, true));
        modelled = modelled || end->modelled;
        if (end->disturbance > worth_printing)
            *(end->steady ? &steady : &disturbed) = true;
    }
    if (print_table(&table, columns, END_COLUMNS) < 0)
        return -1;
    if (modelled)
        puts("Compared is from the first task that has a model to the end of "
             "the last:\nother tasks ran only for real, or only simulated.");
    if (disturbed)
        puts("Disturbed is how much longer the kernels took than without their "
             "outliers, which no\nmodel predicts: something else used the "
             "processors. Repeat when the machine is quiet.");
    if (steady)
        puts("Disturbed is how much longer the kernels took than without their "
             "outliers, which no\nmodel predicts: as much in every repetition, so "
             "that more of these change nothing. Either\nthe machine is always "
             "as busy, or tasks of one footprint do different work.");
    printf("median error from end to end %.1f %%, %u repetition%s\n",
           100 * v->median_error, v->nreps, v->nreps == 1 ? "" : "s");
    return 0;
}

/* --- findings --- */

/* Whether kernels of that type are off as all of them are. */
static bool any_shifted(const struct validation *v, const char *type)
{
    for (size_t k = 0; k < v->nkernels; k++)
        if (v->kernels[k].verdict == DRIFT_SHIFTED &&
            !strcmp(v->kernels[k].type, type))
            return true;
    return false;
}

/* No machine's clock changes by so much: ln 1.5. */
static const double no_clock = 0.405;

static void print_type(const struct drift_type *type)
{
    double percent = 100 * fabs(expm1(type->shift));
    const char *word = type->shift > 0 ? "slower" : "faster";

    if (fabs(type->shift) > no_clock)
        printf(
            "All kernels (%s) are %.1f %% %s than their models: these are of "
            "another machine, or\nwere measured while it was disturbed.\n",
            type->name, percent, word);
    else
        printf("The whole machine (%s) runs %.1f %% %s than when it was "
               "calibrated: no drift of\nits kernels. Is it busy, or is its "
               "clock another one?\n",
               type->name, percent, word);
}

static void print_types(const struct validation *v)
{
    for (unsigned k = 0; k < v->drift.ntypes; k++) {
        const struct drift_type *type = &v->drift.types[k];

        if (type->shifted || any_shifted(v, type->name))
            print_type(type);
    }
    if (v->verdicts[DRIFT_DISTURBED])
        puts(
            "Disturbed kernels are off in few repetitions, or in the slow runs "
            "of each only: something\nelse used the processors.");
}

/* Whether models are wrong that new measures would make right. A program that is
 * off although its kernels fit needs none. */
static bool measuring_helps(const struct validation *v)
{
    return v->drift.ndrifted || v->verdicts[DRIFT_SHIFTED] ||
           (v->noff && !v->drift.nchecked);
}

static void print_remedy(const struct validation *v)
{
    char *program = program_text(v->options->argv);

    fputs("remedy: orrery calibrate kernels --restart", stdout);
    for (unsigned s = 0; v->options->sizes[s]; s++)
        printf("%s%s", s ? "," : " --sizes ", v->options->sizes[s]);
    printf(" -- %s\n", program ? program : "PROGRAM");
    free(program);
}

/* Programs whose predicted time is wrong, whatever their kernels are. */
static void print_ends_off(const struct validation *v)
{
    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct validate_end *end = &v->ends[s];

        if (end->verdict == DRIFT_DRIFTED)
            printf("OFF: predicted %s%s%.4g ms from end to end, measured %.4g "
                   "ms: an error of %+.1f %%\n",
                   end->size ? end->size : "", end->size ? ": " : "",
                   end->predicted.median / 1e3, end->measured.median / 1e3,
                   100 * end->error);
    }
    if (v->noff && !v->drift.ndrifted && !v->verdicts[DRIFT_LEVELS] && !v->verdicts[DRIFT_SHIFTED] &&
        !v->verdicts[DRIFT_DISTURBED] && v->drift.nchecked)
        puts("The kernels fit: what is wrong is around them, such as copies, "
             "the order of tasks,\noverheads, or tasks without models.");
}

/* Whether something is unclear for another reason than outliers that take as
 * much time in every repetition. */
static bool noise_differs(const struct validation *v)
{
    for (unsigned s = 0; s < v->nsizes; s++)
        if (v->ends[s].verdict == DRIFT_CANNOT_TELL &&
            !(v->ends[s].steady && v->ends[s].disturbance > worth_printing))
            return true;
    return v->verdicts[DRIFT_CANNOT_TELL] > 0;
}

/* What noise hides, and what would show it. */
static void print_unclear(const struct validation *v)
{
    if (!validation_unclear(v))
        return;
    printf("CANNOT TELL: %s that an error of 50 %% would raise no alarm\n",
           noise_differs(v) ? "the repetitions differ so much"
                            : "outliers take so much time");
    if (v->verdicts[DRIFT_CANNOT_TELL])
        printf("of %u of %u kernels%s", v->verdicts[DRIFT_CANNOT_TELL],
               v->drift.nchecked, v->nunclear ? ", nor " : "");
    if (v->nunclear)
        printf("from end to end at %u of %u sizes", v->nunclear, v->nsizes);
    if (noise_differs(v))
        printf(".\nRepeat when the machine is quiet, or with more repetitions "
               "(-n, %u so far).\n",
               v->nreps);
    else
        puts(", in every repetition alike.");
}

static void print_drift(const struct validation *v)
{
    for (size_t k = 0; k < v->nkernels; k++) {
        const struct drift_item *item = &v->items[k];

        if (item->drifted)
            printf("DRIFT: %s on %s (footprint %08x) is %.1f %% %s than its "
                   "model, in %u of %u repetitions\n",
                   item->kernel, v->kernels[k].kernel.arch,
                   v->kernels[k].kernel.footprint,
                   100 * fabs(expm1(item->excess)),
                   item->excess > 0 ? "slower" : "faster", item->nabove,
                   item->nreps);
    }
}

/* Times that no model with one time per footprint has. */
static void print_levels(const struct validation *v)
{
    for (size_t k = 0; k < v->nkernels; k++) {
        const struct validate_kernel *kernel = &v->kernels[k];
        const struct levels *levels = &kernel->levels;

        if (kernel->verdict == DRIFT_LEVELS)
            printf("TWO LEVELS: %s on %s (footprint %08x) takes about %.4g µs, "
                   "and %.4g µs in %.0f %% of its runs,\nin every repetition "
                   "alike; its model has %.4g µs for all of them.\n",
                   kernel->kernel.name, kernel->kernel.arch,
                   kernel->kernel.footprint, levels->usual, levels->other,
                   100 * levels->share, kernel->predicted);
    }
    if (v->verdicts[DRIFT_LEVELS])
        puts("Measuring again does not help: tasks that do different work need "
             "different footprints, by\nstarpu_task.footprint, "
             "starpu_perfmodel.footprint or a codelet each; else fix what makes "
             "some\nslower, such as clocks or threads that share a core.");
}

static void print_findings(const struct validation *v)
{
    double least = (double)NAN, most = (double)NAN;

    for (size_t k = 0; k < v->nkernels; k++) {
        least = fmin(least, v->items[k].threshold);
        most = fmax(most, v->items[k].threshold);
    }
    print_types(v);
    print_drift(v);
    print_levels(v);
    print_ends_off(v);
    print_unclear(v);
    if (measuring_helps(v))
        print_remedy(v);
    if (v->nreps < DRIFT_REPEATS)
        printf("Drift is checked from %d repetitions on (-n).\n",
               DRIFT_REPEATS);
    else if (v->drift.nchecked == 0)
        puts("No kernel could be checked: none has a model and ran for real.");
    else if (v->drift.ndrifted == 0 && !v->verdicts[DRIFT_CANNOT_TELL] &&
             !v->verdicts[DRIFT_LEVELS])
        printf("No drift: %u of %u kernels fit their models (alarms from %.1f "
               "to %.1f %%, by their noise).\n",
               v->verdicts[DRIFT_FITS], v->drift.nchecked, 100 * expm1(least),
               100 * expm1(most));
}

int validation_print(const struct validation *v)
{
    if (print_kernels(v) < 0)
        return -1;
    putchar('\n');
    if (print_links(v) < 0)
        return -1;
    putchar('\n');
    if (print_ends(v) < 0)
        return -1;
    putchar('\n');
    print_findings(v);
    return 0;
}

/* --- JSON --- */

static json_t *spread_json(struct validate_spread spread)
{
    return json_pack(
        "{s:o, s:o, s:o}", "median", tool_json_number(spread.median), "min",
        tool_json_number(spread.min), "max", tool_json_number(spread.max));
}

/* null without a second level. */
static json_t *levels_json(const struct validate_kernel *kernel)
{
    if (!kernel->two_levels)
        return NULL;
    return json_pack("{s:f, s:f, s:f}", "usual_us", kernel->levels.usual,
                     "other_us", kernel->levels.other, "share",
                     kernel->levels.share);
}

static json_t *kernel_json(const struct validation *v, size_t k)
{
    const struct validate_kernel *kernel = &v->kernels[k];
    const struct drift_item *item = &v->items[k];
    char footprint[16];
    json_t *times = json_array();

    snprintf(footprint, sizeof(footprint), "%08x", kernel->kernel.footprint);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        json_array_append_new(times, tool_json_number(kernel->times[rep]));
    return json_pack(
        "{s:s, s:s, s:i, s:s, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:b, s:o?, s:s}",
        "name", kernel->kernel.name, "arch", kernel->kernel.arch,
        "implementation", (int)kernel->kernel.implementation, "footprint",
        footprint, "size", kernel->kernel.size, "predicted_us",
        tool_json_number(kernel->predicted), "origin",
        orr_origin_name(kernel->origin), "measured_us",
        spread_json(kernel->measured), "repetitions_us", times, "error",
        tool_json_number(kernel->error), "drift",
        tool_json_number(expm1(item->excess)), "noise",
        tool_json_number(item->noise), "alarm_from",
        tool_json_number(expm1(item->threshold)), "drifted", (int)item->drifted,
        "levels", levels_json(kernel), "verdict", drift_verdict_name(kernel->verdict, false));
}

static json_t *link_json(const struct validate_link *link)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "from", link->from,
                     "to", link->to, "measured_count", link->measured_count,
                     "predicted_count", link->predicted_count,
                     "measured_us_per_mib", spread_json(link->measured),
                     "predicted_us_per_mib", spread_json(link->predicted),
                     "error", tool_json_number(link->error));
}

static json_t *end_json(const struct validate_end *end)
{
    return json_pack("{s:s?, s:o, s:o, s:o, s:o, s:s, s:o, s:s}", "size",
                     end->size, "predicted_us", spread_json(end->predicted),
                     "measured_us", spread_json(end->measured), "error",
                     tool_json_number(end->error), "disturbance",
                     tool_json_number(end->disturbance), "compared",
                     end->modelled ? "modelled tasks" : "makespan",
                     "alarm_from", tool_json_number(expm1(end->threshold)),
                     "verdict", end_verdict(end, false));
}

static json_t *type_json(const struct drift_type *type)
{
    return json_pack("{s:s, s:i, s:o, s:b}", "kind", type->name, "kernels",
                     (int)type->nkernels, "slower",
                     tool_json_number(expm1(type->shift)), "shifted",
                     (int)type->shifted);
}

/* Of all together: "fits" only if all that was checked does. */
static const char *whole_verdict(const struct validation *v)
{
    if (v->drift.ndrifted)
        return "drift";
    if (v->verdicts[DRIFT_LEVELS])
        return drift_verdict_name(DRIFT_LEVELS, false);
    if (v->noff)
        return "off";
    if (validation_unclear(v))
        return drift_verdict_name(DRIFT_CANNOT_TELL, false);
    if (v->verdicts[DRIFT_SHIFTED] || v->verdicts[DRIFT_DISTURBED])
        return v->verdicts[DRIFT_SHIFTED] ? "shifted" : "disturbed";
    return v->drift.nchecked && !isnan(v->median_error) ? "fits"
                                                        : "not checked";
}

int validation_print_json(const struct validation *v)
{
    const struct report *real = &validation_run(v, 0, 0, false)->report;
    json_t *kernels = json_array(), *links = json_array();
    json_t *ends = json_array(), *types = json_array(), *json;

    for (size_t k = 0; k < v->nkernels; k++)
        json_array_append_new(kernels, kernel_json(v, k));
    for (size_t l = 0; l < v->nlinks; l++)
        json_array_append_new(links, link_json(&v->links[l]));
    for (unsigned s = 0; s < v->nsizes; s++)
        json_array_append_new(ends, end_json(&v->ends[s]));
    for (unsigned k = 0; k < v->drift.ntypes; k++)
        json_array_append_new(types, type_json(&v->drift.types[k]));
    json = json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:b, s:s, s:b}",
                     "machine", real->machine, "scheduler", real->scheduler,
                     "repetitions", (int)v->nreps, "kernels", kernels, "links",
                     links, "ends", ends, "median_error",
                     tool_json_number(v->median_error), "machine_shift", types,
                     "drift", v->drift.ndrifted > 0, "verdict",
                     whole_verdict(v), "interrupted", v->stopped != 0);
    if (json && json_array_size(kernels) != v->nkernels) {
        json_decref(json);
        json = NULL;
    }
    if (tool_json_print(json) == 0)
        return 0;
    tool_error("out of memory");
    return -1;
}
