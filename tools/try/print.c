/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/try/print.c - what `orrery try` has found out, a sentence each. */
#include "tools/try/try.h"

#include "perfmodel/origin.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the real run, in per cent. */
static double off_percent(const struct try_result *r, double us)
{
    double real = r->real.report.makespan_us;

    return real > 0 ? 100 * (us / real - 1) : (double)NAN;
}

static double busy_us(const struct report *report)
{
    struct report_kind kinds[16];
    unsigned n = report_kinds(report, kinds, 16);
    double sum = 0;

    for (unsigned k = 0; k < n; k++)
        sum += kinds[k].busy_us;
    return sum;
}

/* --- kernels --- */

/* Whether an earlier kernel of the report has that name (and origin). */
static bool is_listed(const struct report *report, size_t k, bool origin)
{
    for (size_t i = 0; i < k; i++)
        if (!strcmp(report->kernels[i].name, report->kernels[k].name) &&
            (!origin ||
             !strcmp(report->kernels[i].origin, report->kernels[k].origin)))
            return true;
    return false;
}

static unsigned count_kernels(const struct report *report)
{
    unsigned n = 0;

    for (size_t k = 0; k < report->nkernels; k++)
        n += !is_listed(report, k, false);
    return n;
}

/* What the user would like to know of where times of an origin come from. */
static const char *origin_words(const char *origin, const struct try_machine *machine)
{
    switch (orr_origin_find(origin)) {
    case ORR_ORIGIN_MEASURED:
        return machine->here       ? "measured in these runs, or by your models"
               : machine->borrowed ? "measured in these runs"
                                   : "measured on such a machine";
    case ORR_ORIGIN_INTERPOLATED:
        return "between sizes that were measured";
    case ORR_ORIGIN_DERIVED:
        return "derived: from published rates, or from what was measured here, "
               "never below what the device's peak, launch and memory allow";
    case ORR_ORIGIN_ASSUMED:
        return "assumed";
    case ORR_ORIGIN_FUNCTION:
        return "what a function of the program says";
    default:
        return machine->here || machine->borrowed ? "those of each task in the record"
                                                  : "of unknown origin";
    }
}

/* Kernels by the origin of their times, and by how much these may be off. */
static void print_origins(const struct try_machine *machine)
{
    const struct report *report = &try_run(machine)->report;

    for (size_t k = 0; k < report->nkernels; k++) {
        const char *origin = report->kernels[k].origin;
        double off_by = 0;
        bool first = true, told = false;

        for (size_t i = 0; i < k; i++)
            told |= !strcmp(report->kernels[i].origin, origin);
        if (told || !*origin)
            continue;
        fputs("   Times of ", stdout);
        for (size_t i = k; i < report->nkernels; i++) {
            const struct report_kernel *kernel = &report->kernels[i];

            if (strcmp(kernel->origin, origin) != 0)
                continue;
            if (isfinite(kernel->off_by))
                off_by = fmax(off_by, kernel->off_by);
            if (is_listed(report, i, true))
                continue;
            printf("%s%s", first ? "" : ", ", kernel->name);
            first = false;
        }
        printf(": %s", origin_words(origin, machine));
        if (off_by > 0)
            printf("; each may be off by up to %.0f %%", 100 * off_by);
        puts(".");
    }
}

/* --- steps --- */

static void print_real(const struct try_result *r)
{
    const struct report *report = &r->real.report;
    char time[REPORT_TIME_MAX], again[REPORT_TIME_MAX];
    unsigned kernels = count_kernels(report);

    printf("\n1. %s ran for real on this machine (%s, policy %s): %s for %lld task%s "
           "of %u kernel%s.\n",
           r->options->argv[0], report->machine, report->scheduler,
           report_time_text(report->makespan_us, time), (long long)report->tasks,
           report->tasks == 1 ? "" : "s", kernels, kernels == 1 ? "" : "s");
    if (!try_is_good(&r->measured))
        printf("   Run again to measure its kernels it failed: %s.\n",
               r->measured.problem);
    else
        printf("   Run again to measure its kernels it took %s: so far apart are two "
               "real runs.\n",
               report_time_text(r->measured.report.makespan_us, again));
    printf("   Its calls are in %s, with the times of its kernels; your performance "
           "models are as they were.\n",
           r->options->record);
    if (busy_us(report) < 1000)
        puts("   Its kernels took less than 1 ms in all, so that most of it is the "
             "runtime's: try a larger size.");
}

static void print_here(const struct try_result *r)
{
    const struct try_machine *here = &r->machines[0];
    const struct launch *run = try_run(here);
    double off;
    char time[REPORT_TIME_MAX];

    if (!try_is_good(run)) {
        printf("\n2. This machine could not be simulated: %s\n", run->problem);
        return;
    }
    off = off_percent(r, run->report.makespan_us);
    printf("\n2. Simulated, this machine takes %s",
           report_time_text(run->report.makespan_us, time));
    if (isnan(off))
        puts(".");
    else
        printf(": %.1f %% %s than the real run.\n", fabs(off),
               off < 0 ? "less" : "more");
    if (!quiet_is(&r->quiet))
        puts("   This machine is not quiet: what others took of it is in the real run, not "
             "in the\n   simulation. Try again when it is.");
    print_origins(here);
    puts("   Links, and what the runtime takes, are those of orrery calibrate bus and "
         "runtime where these have run, else usual ones.");
}

static void print_held(const struct try_machine *machine)
{
    char time[REPORT_TIME_MAX];
    struct devices_held held;

    if (devices_held(machine->as_is.report.json, &held) < 0)
        return;
    if (machine->lifted)
        printf("   As the program says it is %s; this is with --devices=all, which "
               "lifts:\n",
               report_time_text(machine->as_is.report.makespan_us, time));
    for (size_t i = 0; held.lines[i].text; i++)
        if (held.lines[i].lifts == machine->lifted || !machine->lifted)
            printf("   %s%s.\n", machine->lifted ? "- " : "", held.lines[i].text);
    for (size_t i = 0; machine->lifted && held.lines[i].text; i++)
        if (!held.lines[i].lifts)
            printf("   Left as it is: %s.\n", held.lines[i].text);
    if (held.liftable && !machine->lifted && *machine->all.problem)
        printf("   With --devices=all it failed: %s.\n", machine->all.problem);
    devices_done(&held);
}

static void print_machine(const struct try_result *r, size_t m)
{
    const struct try_machine *machine = &r->machines[m];
    const struct launch *run = try_run(machine);
    const struct launch *here = try_run(&r->machines[0]);
    double base = try_is_good(here) ? here->report.makespan_us : 0;
    char time[REPORT_TIME_MAX], most[REPORT_TIME_MAX], figures[512];

    printf("\n%zu. ", m + 2);
    if (!try_is_good(run)) {
        printf("%s could not be simulated: %s\n", machine->name, run->problem);
        return;
    }
    report_provenance(&run->report, figures, sizeof(figures));
    printf("%s, policy %s, would take %s", machine->name, run->report.scheduler,
           report_time_text(run->report.makespan_us, time));
    if (base > 0 && run->report.makespan_us > 0)
        printf(": %.3g times as fast as the simulation of this machine",
               base / run->report.makespan_us);
    printf(" (its figures: %s).\n", figures);
    if (machine->most_us > machine->least_us)
        printf("   From %s to %s, as far as its models may be off (%d draws).\n",
               report_time_text(machine->least_us, time),
               report_time_text(machine->most_us, most), TRY_DRAWS);
    if (machine->borrowed)
        puts("   It lacks times of these kernels, or of these sizes: its processors are "
             "taken to be as fast\n   as those of this machine, and its devices as what "
             "is projected from that.");
    print_held(machine);
    print_origins(machine);
}

/* --- what next --- */

static void print_program(const struct try_result *r)
{
    for (char *const *word = r->options->argv; *word; word++)
        printf(" %s", *word);
    putchar('\n');
}

static void print_next(const struct try_result *r)
{
    const char *record = r->options->record, *devices = "", *best = NULL;
    double us = HUGE_VAL;

    for (size_t m = 1; m < r->n; m++) {
        const struct launch *run = try_run(&r->machines[m]);

        if (!try_is_good(run) || run->report.makespan_us >= us)
            continue;
        us = run->report.makespan_us;
        best = r->machines[m].name;
        devices = r->machines[m].lifted ? " --devices=all" : "";
    }
    printf("\nGo on with\n  orrery calibrate kernels --");
    print_program(r);
    printf("  orrery validate --");
    print_program(r);
    if (best)
        printf("  orrery perfmodel project -m %s\n"
               "  orrery explain -m %s -s " TRY_POLICY "%s -- %s\n"
               "  orrery compare -m %s -s eager,lws,dmda,dmdas%s --bound -- %s\n",
               best, best, devices, record, best, devices, record);
    puts("  orrery machine list\n"
         "The first measures the kernels until they are known, for good: with that the "
         "program itself\nis simulated, too (orrery run -m MACHINE). The second says "
         "how far simulations of this machine\nare off; perfmodel project gives another "
         "machine times of kernels that it lacks.");
}

void try_print(const struct try_result *r)
{
    if (!r->real.report.json || r->real.report.tasks == 0)
        return;
    putchar('\n');
    quiet_print(&r->quiet);
    print_real(r);
    print_here(r);
    for (size_t m = 1; m < r->n; m++)
        print_machine(r, m);
    print_next(r);
}

/* --- JSON --- */

static json_t *machine_json(const struct try_machine *machine)
{
    const struct launch *run = try_run(machine);
    bool good = try_is_good(run);

    return json_pack(
        "{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "machine",
        tool_json_text(machine->name), "all_devices", machine->lifted, "makespan_us",
        good ? json_real(run->report.makespan_us) : json_null(), "as_is_us",
        try_is_good(&machine->as_is) ? json_real(machine->as_is.report.makespan_us)
                                 : json_null(),
        "least_us", tool_json_number(machine->least_us), "most_us",
        tool_json_number(machine->most_us), "problem",
        good ? json_null() : tool_json_text(run->problem), "run",
        good ? report_json(&run->report) : json_null());
}

int try_print_json(const struct try_result *r)
{
    json_t *machines = json_array();

    for (size_t m = 1; m < r->n; m++)
        json_array_append_new(machines, machine_json(&r->machines[m]));
    return tool_json_print(json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "quiet", quiet_json(&r->quiet), "record", tool_json_text(r->options->record), "real",
        r->real.report.json ? report_json(&r->real.report) : json_null(), "again_us",
        try_is_good(&r->measured) ? json_real(r->measured.report.makespan_us) : json_null(),
        "here", machine_json(&r->machines[0]), "machines", machines));
}
