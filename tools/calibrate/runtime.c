/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/runtime.c - `orrery calibrate runtime`: measures the runtime
 * costs on this machine, by running measure_runtime.c several times, and writes
 * them to the machine's description. One thread.
 */
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/devices.h"
#include "tools/calibrate/machine.h"
#include "tools/common/quiet.h"
#include "tools/common/modules.h"
#include "tools/common/process.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

#include "perfmodel/robust.h"
#include "perfmodel/robust_private.h"
#include "platforms/desc_build.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_US 1e-3 /* a difference of two measures may be negative */

enum { RUNS = 5, PER_RUN = 64 /* samples at most */ };

static const char help[] =
    "usage: orrery calibrate runtime [--json]\n"
    "Measures the costs of the runtime itself on this machine: submitting a\n"
    "task, scheduling it, running it on a worker, and each buffer of it; of\n"
    "devices memory, launches, transfers and events (docs/OPENCL.md); and what\n"
    "memory takes that is used for the first time (docs/COSTS.md). They are\n"
    "written to <host>.machine.xml beside the bus files; orrery run -m <host> and\n"
    "validate charge them in virtual time.\n"
    "      --json  print the results as JSON\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line; 128 plus\n"
    "the signal when interrupted.\n"
    "example: orrery calibrate runtime && orrery run -m $(hostname) -- "
    "./cholesky\n";

enum { NOT_OF_DEVICES = -1 };

/* What is measured. */
struct item {
    const char *name; /* of the program's line */
    const char *prop; /* of MAIN in the description, NULL: only shown */
    int device;       /* enum orr_launch_cost of a device; NOT_OF_DEVICES */
    const char *description;
};

static const struct item items[] = {
    {"submit", "orrery-cost-submit", NOT_OF_DEVICES,
     "making and submitting a task"},
    {"submit-per-buffer", "orrery-cost-submit-per-buffer", NOT_OF_DEVICES,
     "the same, for each of its buffers"},
    {"push", "orrery-cost-push", NOT_OF_DEVICES, "scheduling a ready task"},
    {"progress", "orrery-cost-progress", NOT_OF_DEVICES,
     "from one kernel of a CPU worker to its next"},
    {"fetch", "orrery-cost-fetch", NOT_OF_DEVICES,
     "the same, for each buffer of the task"},
    {"wake", "orrery-cost-wake", NOT_OF_DEVICES,
     "a thread that has slept for long, from its wake until it runs"},
    {"wake-soon", "orrery-cost-wake-soon", NOT_OF_DEVICES,
     "the same of one that has slept for a moment"},
    {"malloc-1MiB", NULL, NOT_OF_DEVICES,
     "starpu_malloc and starpu_free of 1 MiB"},
    {"first-use-per-mib", "orrery-cost-first-use-per-mib", NOT_OF_DEVICES,
     "a copy into main memory that is new"},
    {"device-alloc", "orrery-cost-device-alloc", ORR_LAUNCH_ALLOC,
     "1 MiB of a device's memory"},
    {"device-free", "orrery-cost-device-free", ORR_LAUNCH_FREE,
     "giving it back"},
    {"pinned-alloc-per-mib", "orrery-cost-pinned-alloc-per-mib",
     ORR_LAUNCH_PINNED, "pinned main memory"},
    {"device-first-use-per-mib", "orrery-cost-device-first-use-per-mib",
     ORR_LAUNCH_FIRST_USE, "a copy into a device's memory that is new"},
    {"kernel-queue", "orrery-cost-kernel-queue", ORR_LAUNCH_KERNEL,
     "launching a kernel"},
    {"kernel-latency", "orrery-cost-kernel-latency", ORR_LAUNCH_LATENCY,
     "from there until it begins, and until its end is known"},
    {"copy-queue", "orrery-cost-copy-queue", ORR_LAUNCH_COPY,
     "setting up a transfer, part of its latency"},
    {"event", NULL, ORR_LAUNCH_EVENT,
     "an event between two queues of a device"},
};

enum { NITEMS = sizeof(items) / sizeof(*items) };

struct result {
    unsigned n;
    double samples[RUNS * PER_RUN];
    double medians[RUNS]; /* of each run */
    double median, lo, hi, spread;
};

/* ---- the program ---- */

static double runs_median(const double *values, unsigned n)
{
    double sorted[RUNS * PER_RUN];

    memcpy(sorted, values, n * sizeof(*sorted));
    orr_sort(sorted, n);
    return orr_quantile(sorted, n, 0.5);
}

/* Reads the line of an item: its samples. -1 without. */
static int result_read_samples(const char *text, const char *name,
                               struct result *result, unsigned run)
{
    size_t length = strlen(name);
    double one[PER_RUN];
    unsigned n = 0;

    while (text && (strncmp(text, name, length) != 0 || text[length] != ' ')) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text)
        return -1;
    for (text += length; *text == ' ' && n < PER_RUN; n++) {
        char *end;

        one[n] = fmax(strtod(text, &end), LEAST_US);
        if (end == text)
            return -1;
        result->samples[result->n++] = one[n];
        text = end;
    }
    if (n == 0)
        return -1;
    result->medians[run] = runs_median(one, n);
    return 0;
}

static int read_output(const char *text, unsigned run, struct result *results)
{
    for (unsigned i = 0; i < NITEMS; i++)
        if (items[i].device == NOT_OF_DEVICES &&
            (!text ||
             result_read_samples(text, items[i].name, &results[i], run) < 0)) {
            tool_error("measure-runtime did not report the cost of %s: use the "
                       "one that came with this command",
                       items[i].name);
            return -1;
        }
    return 0;
}

/* All CPU workers, the library's own policy, nothing recorded. */
static const char *const settings[] = {
    "STARPU_NCPU",         "STARPU_SILENT=1",
    "STARPU_CALIBRATE=0",  "STARPU_NCUDA=0",
    "STARPU_NOPENCL=0",    "STARPU_NHIP=0",
    "ORRERY_MACHINE",      "STARPU_SCHED",
    "ORRERY_TRACE",        "ORRERY_REPORT",
    "STARPU_NCPUS",        "STARPU_BUS_CALIBRATE",
    "STARPU_RESERVE_NCPU", NULL};

static int run_measure_program(const char *path, struct result *results)
{
    char *const argv[] = {(char *)(uintptr_t)path, NULL};
    int rc = 0;

    for (unsigned run = 0; run < RUNS && rc == 0; run++) {
        struct process process = {.argv = argv, .set = settings, .quiet = true};
        int stopped = process_run(&process, 1, 1, NULL, NULL);

        if (stopped == 0 && process_exit_code(&process) == 0) {
            rc = read_output(process.text, run, results);
        } else {
            char line[256] = "";

            if (stopped == 0)
                process_error_line(&process, line, sizeof(line));
            if (stopped)
                tool_error("interrupted: nothing was stored; what was measured "
                           "is lost, and the costs are as they were");
            else
                tool_error("%s failed: %s", path, line);
            rc = stopped ? 128 + stopped : -1;
        }
        process_done(&process);
    }
    return rc;
}

/* ---- devices ---- */

static void take_samples(const struct item *item, unsigned run, unsigned n,
                         double samples[][ORR_LAUNCH_COSTS],
                         struct result *result)
{
    double one[PER_RUN];
    unsigned taken = 0;

    for (unsigned i = 0; i < n; i++)
        if (!isnan(samples[i][item->device])) {
            one[taken] = fmax(samples[i][item->device], LEAST_US);
            result->samples[result->n++] = one[taken++];
        }
    if (taken > 0)
        result->medians[run] = runs_median(one, taken);
}

/* As many runs, each with the drivers opened anew. */
static int run_devices(struct result *results)
{
    double samples[PER_RUN][ORR_LAUNCH_COSTS];
    int ndevices = 1;

    for (unsigned run = 0; run < RUNS && ndevices > 0; run++) {
        ndevices = calibrate_devices(PER_RUN, samples);
        for (unsigned i = 0; i < NITEMS && ndevices > 0; i++)
            if (items[i].device != NOT_OF_DEVICES)
                take_samples(&items[i], run, PER_RUN, samples, &results[i]);
    }
    return ndevices < 0 ? -1 : 0;
}

static struct result *result_of(struct result *results, const char *name)
{
    unsigned i = 0;

    while (strcmp(items[i].name, name) != 0)
        i++;
    return &results[i];
}

/* The worker that waits for the end of a kernel sleeps for a moment: simulations charge that
 * beside the latency. */
static void take_wakes_out(struct result *results)
{
    const struct result *wake = result_of(results, "wake-soon");
    struct result *latency = result_of(results, "kernel-latency");
    double soon = runs_median(wake->samples, wake->n);

    for (unsigned i = 0; i < latency->n; i++)
        latency->samples[i] = fmax(latency->samples[i] - soon, LEAST_US);
    for (unsigned r = 0; r < RUNS && latency->n > 0; r++)
        latency->medians[r] = fmax(latency->medians[r] - soon, LEAST_US);
}

static void result_summarise(struct result *result)
{
    struct orr_interval interval;
    double least = INFINITY, most = 0;

    interval = orr_median_interval(result->samples, result->n, 0.95);
    result->lo = interval.lo;
    result->hi = interval.hi;
    result->median = runs_median(result->samples, result->n);
    for (unsigned r = 0; r < RUNS; r++) {
        least = fmin(least, result->medians[r]);
        most = fmax(most, result->medians[r]);
    }
    result->spread = (most - least) / result->median;
}

/* ---- output ---- */

enum { COLUMNS = 6 };

static int print_costs_table(const struct result *results)
{
    static const struct table_column columns[COLUMNS] = {
        {"cost", false},  {"us", true},      {"95 %", true},
        {"spread", true}, {"samples", true}, {"what", false}};
    struct table table = {0};

    for (unsigned i = 0; i < NITEMS; i++) {
        const struct result *r = &results[i];
        bool none = r->n == 0;

        table_add(&table, "%s%s", items[i].name,
                  items[i].prop ? "" : " (not simulated)");
        if (none) {
            for (int c = 0; c < 3; c++)
                table_add(&table, "-");
        } else {
            table_add(&table, "%.3f", r->median);
            table_add(&table, "%.3f-%.3f", r->lo, r->hi);
            table_add(&table, "%.1f %%", 100 * r->spread);
        }
        table_add(&table, "%u", r->n);
        table_add(&table, "%s%s", items[i].description,
                  none ? ": no device has it" : "");
    }
    return table_end(&table, columns, COLUMNS);
}

static int print_costs_json(const struct result *results,
                            const struct calibrate_place *place)
{
    json_t *costs = json_object();
    json_t *root = json_pack("{s:s, s:s, s:o}", "host", place->host,
                             "description", place->path, "costs_us", costs);

    for (unsigned i = 0; root && i < NITEMS; i++) {
        const struct result *r = &results[i];
        json_t *cost =
            r->n == 0 ? json_pack("{s:s}", "missing", "no device has it")
                      : json_pack("{s:f, s:f, s:f, s:f, s:i, s:b}", "median",
                                  r->median, "low", r->lo, "high", r->hi,
                                  "spread", r->spread, "samples", (int)r->n,
                                  "simulated", items[i].prop != NULL);

        json_object_set_new(costs, items[i].name, cost);
    }
    if (!root)
        return -ENOMEM;
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(root);
    return 0;
}

/* ---- storing ---- */

/* Links' latencies, as `calibrate bus` measures them, have the set-up in them. */
static double simulated_cost(const struct item *item,
                             const struct result *result)
{
    return item->device == ORR_LAUNCH_COPY ? 0 : result->median;
}

static int store_runtime_costs(const struct calibrate_place *place,
                               const struct result *results)
{
    double costs[ORR_NCOSTS];

    for (unsigned c = 0; c < ORR_NCOSTS; c++) {
        costs[c] = (double)NAN;
        for (unsigned i = 0; i < NITEMS; i++)
            if (items[i].prop && results[i].n > 0 &&
                strcmp(items[i].prop, orr_cost_fields[c].prop) == 0)
                costs[c] = simulated_cost(&items[i], &results[i]);
    }
    return calibrate_write_costs(place, costs);
}

static int measure_runtime_costs(struct calibrate_place *place, bool json)
{
    struct result *results = calloc(NITEMS, sizeof(*results));
    char *program = tool_find_program(".", "measure-runtime");
    int rc = -1;

    if (!results)
        tool_error("out of memory");
    else if (!program)
        tool_error("the program measure-runtime is neither beside this command "
                   "nor in " ORR_LIBEXEC "/orrery: install Orrery anew");
    else
        rc = run_measure_program(program, results);
    if (rc == 0)
        rc = run_devices(results);
    if (rc == 0)
        take_wakes_out(results);
    for (unsigned i = 0; rc == 0 && i < NITEMS; i++)
        if (results[i].n > 0)
            result_summarise(&results[i]);
    if (rc == 0)
        rc = calibrate_place_lock(place);
    if (rc == 0)
        rc = store_runtime_costs(place, results);
    if (rc == 0)
        rc = json ? print_costs_json(results, place)
                  : print_costs_table(results);
    if (rc == 0 && !json)
        printf("%s\n", place->path);
    free(program);
    free(results);
    return rc;
}

int calibrate_runtime(int argc, char **argv)
{
    bool json = false;
    const struct tool_option list[] = {{0, "json", NULL, &json}, {0}};
    struct calibrate_place place;
    int first = tool_parse(argc, argv, list, help), rc;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first < argc) {
        tool_error("calibrate runtime: %s is not understood; see orrery "
                   "calibrate runtime --help",
                   argv[first]);
        return TOOL_USAGE;
    }
    if (calibrate_place_open(&place) < 0)
        return TOOL_FAILED;
    quiet_begin(json);
    rc = measure_runtime_costs(&place, json);
    calibrate_place_close(&place);
    if (rc > 0)
        return rc; /* a signal */
    return rc < 0 ? TOOL_FAILED : TOOL_OK;
}
