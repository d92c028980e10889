/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/print.c - the tables of `orrery validate`. One thread. */
#include "tools/validate/print.h"

#include "core/base/plural.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>

/* "+1.2", "-" when it is not known. */
static void add_percent(struct table *table, double share)
{
    table_add(table, isnan(share) ? "-" : "%+.1f", 100 * share);
}

/* A number with unit factor, "-" when it is not known. */
static void add_scaled_value(struct table *table, double value, double factor)
{
    table_add(table, isnan(value) ? "-" : "%.4g", value * factor);
}

static void add_spread(struct table *table, struct validate_spread spread,
                       double factor)
{
    table_add(table, isnan(spread.median) ? "-" : "%.4g to %.4g",
              spread.min * factor, spread.max * factor);
}

/* Ends the table; -1 and a message without memory. */
static int end_and_print_table(struct table *table,
                               const struct table_column *columns,
                               size_t ncolumns)
{
    if (table_end(table, columns, ncolumns) == 0)
        return 0;
    tool_error("out of memory");
    return -1;
}

enum { KERNEL_COLUMNS = 10, END_COLUMNS = 9, LINK_COLUMNS = 6 };

static void add_kernel_row(struct table *table, const struct validation *v,
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
    add_scaled_value(table, kernel->predicted, 1);
    add_scaled_value(table, kernel->measured.median, 1);
    add_spread(table, kernel->measured, 1);
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
        add_kernel_row(&table, v, k);
    return end_and_print_table(&table, columns, KERNEL_COLUMNS);
}

static int print_validated_links(const struct validation *v)
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
        add_scaled_value(&table, link->measured.median, 1);
        add_scaled_value(&table, link->predicted.median, 1);
        add_percent(&table, link->error);
    }
    return end_and_print_table(&table, columns, LINK_COLUMNS);
}

/* That of the longest of all. */
static struct report_unit ends_unit(const struct validation *v)
{
    double most = 0;

    for (unsigned s = 0; s < v->nsizes; s++)
        most = fmax(most, fmax(v->ends[s].predicted.median, v->ends[s].measured.median));
    return report_unit_of(most);
}

static int print_validated_ends(const struct validation *v)
{
    struct report_unit unit = ends_unit(v);
    char predicted[32], measured[32];
    const struct table_column columns[END_COLUMNS] = {
        {"size", false},       {predicted, true},      {"(extremes)", true},
        {measured, true},      {"(extremes)", true},   {"error %", true},
        {"disturbed %", true}, {"alarm from %", true}, {"", false}};
    bool modelled = false, disturbed = false, steady = false;
    struct table table = {0};

    snprintf(predicted, sizeof(predicted), "predicted %s", unit.name);
    snprintf(measured, sizeof(measured), "measured %s", unit.name);

    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct validate_end *end = &v->ends[s];

        table_add(&table, "%s", end->size ? end->size : "-");
        add_scaled_value(&table, end->predicted.median, 1 / unit.us);
        add_spread(&table, end->predicted, 1 / unit.us);
        add_scaled_value(&table, end->measured.median, 1 / unit.us);
        add_spread(&table, end->measured, 1 / unit.us);
        add_percent(&table, end->error);
        add_percent(&table, end->disturbance);
        add_scaled_value(&table, 100 * expm1(end->threshold), 1);
        table_add(&table, "%s", validate_end_verdict(end, true));
        modelled = modelled || end->modelled;
        if (end->disturbance > VALIDATE_DISTURBED)
            *(end->steady ? &steady : &disturbed) = true;
    }
    if (end_and_print_table(&table, columns, END_COLUMNS) < 0)
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
    if (!isnan(v->median_error))
        printf("median error from end to end %.1f %%, %u repetition%s\n",
               100 * v->median_error, v->nreps, orr_plural(v->nreps));
    return 0;
}

static void print_prediction(const char *of, struct validate_error error,
                             const char *what)
{
    if (isnan(error.median))
        printf("%-18s not known: %s\n", of, what);
    else
        printf("%-18s %.1f %% (at most %.1f %%): %s\n", of, 100 * error.median,
               100 * error.worst, what);
}

/* Where the errors from end to end come from. */
static void print_predictions(const struct validation *v)
{
    const struct validate_predictions *p = &v->predictions;

    if (p->n == 0) {
        printf("The runs cannot be simulated from their own times: %s\n",
               *p->problem ? p->problem : "they are interrupted");
        return;
    }
    print_prediction("the simulator", p->simulator,
                     "each run, simulated from the times of its own kernels");
    print_prediction("the models", p->models,
                     v->unmodelled ? "kernels have no times here"
                     : quiet_is(&v->quiet)
                         ? "each run, simulated from the models"
                         : "each run, simulated from the models: cannot tell, "
                           "the machine was busy");
    print_prediction("the machine", p->machine,
                     v->nreps > 1
                         ? "each run, simulated from the times of another run"
                         : "one run says nothing of others (-n 2)");
}

int validation_print(const struct validation *v)
{
    if (print_kernels(v) < 0)
        return -1;
    putchar('\n');
    if (print_validated_links(v) < 0)
        return -1;
    putchar('\n');
    if (print_validated_ends(v) < 0)
        return -1;
    putchar('\n');
    print_predictions(v);
    putchar('\n');
    validation_print_findings(v);
    return 0;
}
