/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/compare/remarks.c - see remarks.h. */
#include "tools/compare/remarks.h"

#include "core/cost/noise.h"
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/tool.h"
#include "tools/common/untrusted.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first good cell of a machine: what it says of edits and assumptions, all of
 * its point say. NULL without. */
static const struct cell *first_good(const struct comparison *c, size_t machine)
{
    size_t n = c->sweep.npoints * c->nschedulers;

    for (size_t i = machine * n; i < (machine + 1) * n; i++)
        if (cell_is_good(&c->cells[i]) && c->cells[i].launch->report.json)
            return &c->cells[i];
    return NULL;
}

static void print_heading(const struct comparison *c, const char *what,
                          size_t machine, size_t point)
{
    char *where = comparison_where(c, machine, point);

    printf("\n%s, on %s\n", what, where ? where : c->machines[machine]);
    free(where);
}

static void print_remarks_by_machine(const struct comparison *c,
                                     const char *key, const char *what,
                                     void (*print)(const json_t *report,
                                                   const char *indent))
{
    for (size_t m = 0; m < c->nmachines; m++) {
        const struct cell *cell = first_good(c, m);
        const json_t *json = cell ? cell->launch->report.json : NULL;

        if (!json)
            continue;
        if (json_array_size(json_object_get(json, key)))
            print_heading(c, what, m, cell->point);
        print(json, "  ");
    }
}

/* The models that any row of a machine used and that are not to be trusted. */
static void print_untrusted(const struct comparison *c)
{
    size_t n = c->sweep.npoints * c->nschedulers;

    for (size_t m = 0; m < c->nmachines; m++) {
        json_t *all = json_object();

        for (size_t i = m * n; i < (m + 1) * n; i++)
            untrusted_join(all, c->cells[i].launch->report.json);
        if (json_array_size(json_object_get(all, "untrusted")))
            printf("\nuntrusted, on %s\n", c->machines[m]);
        untrusted_print(all, "  ");
        json_decref(all);
    }
}

/* The schedulers of a machine at a point that failed, where others ran: a ranking
 * of the latter is none of those that were asked for. */
static void print_failed_at(const struct comparison *c, size_t machine,
                            size_t point)
{
    const struct cell *first = comparison_cell(c, machine, point, 0);
    unsigned n = 0;
    char *where;

    for (size_t s = 0; s < c->nschedulers; s++)
        n += first[s].failed != NULL;
    if (n == 0 || n == c->nschedulers)
        return;
    where = comparison_where(c, machine, point);
    printf("\nnot ranked, on %s: %u of %zu schedulers, which failed:",
           where ? where : c->machines[machine], n, c->nschedulers);
    free(where);
    for (size_t s = 0; s < c->nschedulers; s++)
        if (first[s].failed)
            printf(" %s", cell_policy(&first[s]));
    putchar('\n');
}

/* Figures of links and costs of one machine that were drawn, those with one error in a
 * line. */
static void print_drawn(const json_t *report, const char *indent)
{
    const json_t *drawn = json_object_get(report, "drawn");
    size_t n = json_array_size(drawn);

    for (size_t i = 0; i < n; i++) {
        const json_t *first = json_array_get(drawn, i);
        double error = json_number_value(json_object_get(first, "off_by"));
        bool told = false, any = false;

        for (size_t j = 0; j < n; j++) {
            const json_t *one = json_array_get(drawn, j);

            if (!json_equal(json_object_get(one, "off_by"),
                            json_object_get(first, "off_by")) ||
                json_is_true(json_object_get(one, "measured")) !=
                    json_is_true(json_object_get(first, "measured")))
                continue;
            told |= j < i;
            if (told)
                break;
            printf("%s%s", any ? ", " : indent,
                   json_string_value(json_object_get(one, "figure")));
            any = true;
        }
        if (told)
            continue;
        printf(": %s, ", json_is_true(json_object_get(first, "measured"))
                             ? "measured"
                             : "not measured");
        if (error < 1)
            printf("off by up to %.0f %% in 9 of 10\n", 100 * error);
        else
            printf("off by a factor of up to %.3g in 9 of 10\n", 1 + error);
    }
}

/* Where luck was drawn, what of. */
static void print_noise(const struct comparison *c)
{
    if (c->options->repeat < 2 || !c->noise)
        return;
    printf("\nnoise of kernels: %s, %u seeds", c->noise, c->options->repeat);
    if (c->options->draws)
        printf("; in each, derived and interpolated times are off by what their "
               "models state, else by up to %.0f %% in 9 of 10, alike for all rows",
               100 * ORR_NOISE_UNSTATED);
    putchar('\n');
    if (c->options->draws)
        print_remarks_by_machine(c, "drawn", "drawn as well, alike for all rows",
                                 print_drawn);
}

/* What the program holds back of each machine, or what was lifted. */
static void print_held(const struct comparison *c)
{
    for (size_t m = 0; m < c->nmachines; m++) {
        const struct cell *cell = first_good(c, m);
        struct devices_held held;

        if (!cell || devices_held(cell->launch->report.json, &held) < 0)
            continue;
        if (held.lines[0].text) {
            print_heading(c, "held back", m, cell->point);
            devices_print(cell->launch->report.json, "  ", "  lifted: ");
        }
        devices_done(&held);
    }
}

void remarks_print(const struct comparison *c)
{
    print_noise(c);
    for (size_t m = 0; m < c->nmachines; m++)
        for (size_t p = 0; p < c->sweep.npoints; p++)
            print_failed_at(c, m, p);
    print_remarks_by_machine(c, "edits", "what if", edits_print);
    /* Also where no task needed what was assumed. */
    print_remarks_by_machine(c, "assumptions", "assumed", assume_print);
    print_held(c);
    print_untrusted(c);
}

/* Rows that differ by nothing but what was asked for. */
static void warn_policies(const struct comparison *c)
{
    const struct launch *one = NULL;
    size_t n = 0;

    for (size_t i = 0; i < c->ncells; i++)
        if (cell_is_good(&c->cells[i]) &&
            launch_chose_policy(c->cells[i].launch)) {
            one = one ? one : c->cells[i].launch;
            n++;
        }
    if (!one)
        return;
    fflush(stdout);
    launch_warn_policy(one, "compare");
    if (n > 1)
        tool_error(
            "compare: warning: so in %zu of %zu rows, which are labelled "
            "by what ran",
            n, c->ncells);
}

/* The errors that a program printed; owned, NULL without memory. */
static char *errors_of(const struct launch *launch)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    process_print_errors(&launch->process, file);
    fclose(file);
    return text;
}

/* Each text once, whatever warnings stood between. */
static void print_errors(const struct comparison *c)
{
    char *last = NULL;

    for (size_t i = 0; i < c->ncells; i++) {
        const struct cell *cell = &c->cells[i];
        const struct launch *launch = cell->failed;
        char *errors;

        if (!launch || !launch->process.text ||
            !strstr(launch->process.text, "orrery: error: "))
            continue;
        errors = errors_of(launch);
        if (!errors || (last && !strcmp(last, errors))) {
            free(errors);
            continue;
        }
        fflush(stdout);
        tool_error("compare: %s, %s:", cell->machine, cell->scheduler);
        fputs(errors, stderr);
        free(last);
        last = errors;
    }
    free(last);
}

void remarks_warn(const struct comparison *c)
{
    warn_policies(c);
    print_errors(c);
}
