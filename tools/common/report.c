/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/report.c - see report.h. One thread. */
#include "tools/common/report.h"

#include "perfmodel/origin.h"
#include "tools/common/assume.h"
#include "tools/common/devices.h"
#include "tools/common/edits.h"
#include "tools/common/untrusted.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *report_text(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : "";
}

static double report_number(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static json_int_t report_count(const json_t *json, const char *key)
{
    return (json_int_t)report_number(json, key);
}

/* A value that may be null. */
static double report_number_or_nan(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);

    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const json_t *report_list(const struct report *report, const char *key)
{
    return json_object_get(report->json, key);
}

static struct report_kernel read_kernel(const json_t *json)
{
    return (struct report_kernel){
        .name = report_text(json, "name"),
        .symbol = json_is_string(json_object_get(json, "symbol"))
                      ? report_text(json, "symbol")
                      : report_text(json, "name"),
        .arch = report_text(json, "arch"),
        .implementation = (unsigned)report_count(json, "implementation"),
        .footprint =
            (uint32_t)strtoul(report_text(json, "footprint"), NULL, 16),
        .size = report_count(json, "size"),
        .count = report_count(json, "count"),
        .model = json_is_true(json_object_get(json, "model")),
        .mean_us = report_number_or_nan(json, "mean_us"),
        .typical_us = report_number_or_nan(json, "typical_us"),
        .p25_us = report_number_or_nan(json, "p25_us"),
        .median_us = report_number_or_nan(json, "median_us"),
        .aside_share = report_number_or_nan(json, "aside_share"),
        .other_us = report_number_or_nan(json, "other_us"),
        .other_share = report_number_or_nan(json, "other_share"),
        .predicted_us = report_number_or_nan(json, "predicted_us"),
        .origin = report_text(json, "origin"),
        .off_by = report_number_or_nan(json, "off_by"),
    };
}

static int report_read_kernels(struct report *report)
{
    const json_t *list = report_list(report, "kernels");

    report->nkernels = json_array_size(list);
    report->kernels = calloc(report->nkernels + 1, sizeof(*report->kernels));
    if (!report->kernels)
        return -ENOMEM;
    for (size_t k = 0; k < report->nkernels; k++)
        report->kernels[k] = read_kernel(json_array_get(list, k));
    return 0;
}

int report_take(json_t *json, struct report *ret)
{
    struct report report = {.json = json};

    if (!json_is_object(json)) {
        json_decref(json);
        return -EINVAL;
    }
    report.simulated = json_is_true(json_object_get(json, "simulated"));
    report.machine = report_text(json, "machine");
    report.host = report_text(json, "host");
    report.scheduler = report_text(json, "scheduler");
    report.exit = report_text(json, "exit");
    report.provenance = json_string_value(json_object_get(json, "provenance"));
    report.not_measured =
        json_string_value(json_object_get(json, "not_measured"));
    report.assumed = json_string_value(json_object_get(json, "assumed"));
    report.makespan_us = report_number(json, "makespan_us");
    report.clock_asked = report_count(json_object_get(json, "clock"), "asked");
    report.clock_virtual =
        json_is_true(json_object_get(json_object_get(json, "clock"), "virtual"));
    report.modelled_us = report_number(json, "modelled_us");
    report.flops = report_number(json, "flops");
    report.wall_s = report_number(json, "wall_s");
    report.tasks = report_count(json, "tasks");
    report.transfers = report_count(json, "transfers");
    report.transferred_bytes = report_count(json, "transferred_bytes");
    report.messages = report_count(json, "messages_sent");
    report.message_bytes = report_count(json, "message_bytes");
    report.evictions = report_count(json, "evictions");
    if (report_read_kernels(&report) < 0) {
        json_decref(json);
        return -ENOMEM;
    }
    *ret = report;
    return 0;
}

int report_read(const char *path, struct report *ret, struct orr_error *err)
{
    json_error_t where;
    json_t *json;

    if (access(path, R_OK) < 0)
        return orr_fail(err, -ENOENT, "%s: %s", path, strerror(errno));
    json = json_load_file(path, 0, &where);
    if (!json_is_object(json)) {
        json_decref(json);
        return orr_fail(err, -EINVAL, "%s:%d: %s", path, where.line,
                        where.text);
    }
    if (report_take(json, ret) < 0)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    return 0;
}

void report_done(struct report *report)
{
    json_decref(report->json);
    free(report->kernels);
    report->json = NULL;
    report->kernels = NULL;
    report->nkernels = 0;
}

bool report_same_kernel(const struct report_kernel *a,
                        const struct report_kernel *b)
{
    return a->footprint == b->footprint &&
           a->implementation == b->implementation &&
           !strcmp(a->name, b->name) && !strcmp(a->arch, b->arch);
}

double report_gflops(const struct report *report)
{
    return report->makespan_us > 0 ? report->flops / report->makespan_us / 1e3
                                   : 0;
}

/* "CUDA 0.0 (Tesla M2070)" is of the type "CUDA". */
static void worker_kind_name(const char *worker, char *name, size_t size)
{
    size_t n = 0;

    while (worker[n] && !isdigit((unsigned char)worker[n]) &&
           worker[n] != '(' && n + 1 < size) {
        name[n] = worker[n];
        n++;
    }
    while (n > 0 && name[n - 1] == ' ')
        n--;
    name[n] = '\0';
}

unsigned report_kinds(const struct report *report, struct report_kind *kinds,
                      unsigned max)
{
    const json_t *workers = json_object_get(report->json, "workers");
    unsigned n = 0;

    for (size_t w = 0; w < json_array_size(workers); w++) {
        const json_t *worker = json_array_get(workers, w);
        char name[sizeof(kinds->name)];
        unsigned k = 0;

        worker_kind_name(report_text(worker, "name"), name, sizeof(name));
        while (k < n && strcmp(kinds[k].name, name) != 0)
            k++;
        if (k == max)
            continue;
        if (k == n) {
            kinds[n++] = (struct report_kind){0};
            memcpy(kinds[k].name, name, sizeof(name));
        }
        kinds[k].workers++;
        kinds[k].busy_us += report_number(worker, "busy_us");
        kinds[k].tasks += report_count(worker, "tasks");
    }
    return n;
}

double report_idle(const struct report *report)
{
    struct report_kind kinds[16];
    unsigned n = report_kinds(report, kinds, 16), workers = 0;
    double busy = 0, us = report->makespan_us;

    for (unsigned k = 0; k < n; k++) {
        busy += kinds[k].busy_us;
        workers += kinds[k].workers;
    }
    return workers && us > 0 ? fmax(0, 1 - busy / (workers * us)) : (double)NAN;
}

double report_joules(const struct report *report)
{
    const json_t *joules = json_object_get(json_object_get(report->json, "energy"), "joules");

    return json_is_number(joules) ? json_number_value(joules) : (double)NAN;
}

const char *report_energy_text(const struct report *report, char *text, size_t size)
{
    const json_t *energy = json_object_get(report->json, "energy");
    const char *missing = json_string_value(json_object_get(energy, "missing"));
    double joules = report_joules(report);
    double idle = json_number_value(json_object_get(energy, "idle_joules"));
    double copies = json_number_value(json_object_get(energy, "copy_joules"));
    int n;

    *text = '\0';
    if (missing)
        snprintf(text, size, "not known: the %s is missing", missing);
    if (isnan(joules))
        return text;
    n = snprintf(text, size, "%.4g J, %.1f %% of them when idle", joules,
                 joules > 0 ? 100 * idle / joules : 0);
    if (copies > 0 && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, ", %.1f %% for copies", 100 * copies / joules);
    return text;
}

size_t report_nlinks(const struct report *report)
{
    return json_array_size(report_list(report, "links"));
}

struct report_link report_link(const struct report *report, size_t l)
{
    const json_t *json = json_array_get(report_list(report, "links"), l);

    return (struct report_link){
        .from = report_text(json, "from"),
        .to = report_text(json, "to"),
        .count = report_count(json, "count"),
        .bytes = report_count(json, "bytes"),
        .total_us = report_number_or_nan(json, "total_us"),
        .predicted_us = report_number_or_nan(json, "predicted_us"),
        .alone_us = report_number_or_nan(json, "alone_us"),
    };
}

size_t report_nreturns(const struct report *report)
{
    return json_array_size(
        json_object_get(report_list(report, "returns"), "most"));
}

struct report_return report_return(const struct report *report, size_t r)
{
    const json_t *json = json_array_get(
        json_object_get(report_list(report, "returns"), "most"), r);

    return (struct report_return){
        .data = report_text(json, "data"),
        .task = report_text(json, "task"),
        .count = report_count(json, "count"),
        .bytes = report_count(json, "bytes"),
    };
}

void report_figures(const struct report *report, char *text, size_t size)
{
    const json_t *list = report_list(report, "figures");
    bool plain = true;
    size_t used = 0;

    for (size_t i = 0; i < json_array_size(list) && used < size; i++) {
        const json_t *json = json_array_get(list, i);
        double off_by = report_number_or_nan(json, "off_by");
        enum orr_origin origin = orr_origin_find(report_text(json, "origin"));

        plain = plain && origin <= ORR_ORIGIN_MEASURED;
        used += (size_t)snprintf(
            text + used, size - used, "%s%.1f %% %s", i ? ", " : "",
            100 * report_number(json, "share"),
            origin == ORR_ORIGIN_FUNCTION ? "given by the program" : orr_origin_name(origin));
        if (isfinite(off_by) && used < size)
            used += (size_t)snprintf(text + used, size - used,
                                     " (off by up to %.1f %%)", 100 * off_by);
    }
    if (plain && size > 0)
        *text = '\0';
}

/* Below that, a time alone is read in us. */
#define SMALL_US 100

struct report_unit report_unit_of(double us)
{
    static const struct report_unit units[] = {
        {"ms", 1e3}, {"s", 1e6}, {"min", 60e6}, {"h", 3600e6}, {"d", 86400e6}};
    static const double below[] = {10e6, 600e6, 36000e6, 864000e6};
    unsigned i = 0;

    while (i < sizeof(below) / sizeof(*below) && us >= below[i])
        i++;
    return units[i];
}

const char *report_time_text(double us, char text[REPORT_TIME_MAX])
{
    struct report_unit unit = report_unit_of(us);

    if (us > 0 && us < SMALL_US)
        unit = (struct report_unit){"us", 1};
    snprintf(text, REPORT_TIME_MAX, "%.3f %s", us / unit.us, unit.name);
    return text;
}

void report_provenance(const struct report *report, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s",
             report->provenance ? report->provenance : "unknown",
             report->not_measured ? " but for " : "",
             report->not_measured ? report->not_measured : "");
}

void report_caption(const struct report *report, char *text, size_t size)
{
    char times[256], machine[512];
    bool edited = json_array_size(report_list(report, "edits")) > 0;

    report_figures(report, times, sizeof(times));
    report_provenance(report, machine, sizeof(machine));
    *text = '\0';
    if (report->simulated)
        snprintf(text, size, "figures %s%s%s%s%s",
                 machine, edited ? ", edited" : "", *times ? "; times " : "", times,
                 untrusted_any(report->json)
                     ? "; models not to be trusted"
                     : "");
}

bool report_is_whole(const struct report *report)
{
    return report->json && (strcmp(report->exit, "shutdown") == 0 ||
                            strcmp(report->exit, "returned") == 0 ||
                            strcmp(report->exit, "exit") == 0);
}

json_t *report_json(const struct report *report)
{
    if (!report_is_whole(report))
        json_object_set_new(report->json, "makespan_us", json_null());
    return json_incref(report->json);
}

const char *report_bytes_text(json_int_t bytes, char text[32])
{
    if (bytes < 1 << 10)
        snprintf(text, 32, "%lld B", (long long)bytes);
    else if (bytes < 100 << 10)
        snprintf(text, 32, "%.1f KiB", (double)bytes / (1 << 10));
    else
        snprintf(text, 32, "%.1f MiB", (double)bytes / (1 << 20));
    return text;
}

/* Bytes from one kind of memory to another. */
struct flow {
    char from[32], to[32];
    json_int_t bytes;
};

enum { MAX_FLOWS = 32, MAX_RETURNS = 3 };

/* Returns how many there are; links of further kinds are left out. */
static unsigned flows_of(const struct report *report, struct flow *flows)
{
    unsigned n = 0;

    for (size_t l = 0; l < report_nlinks(report); l++) {
        struct report_link link = report_link(report, l);
        struct flow flow = {.bytes = link.bytes};
        unsigned f = 0;

        worker_kind_name(link.from, flow.from, sizeof(flow.from));
        worker_kind_name(link.to, flow.to, sizeof(flow.to));
        while (f < n && (strcmp(flows[f].from, flow.from) != 0 ||
                         strcmp(flows[f].to, flow.to) != 0))
            f++;
        if (f < n)
            flows[f].bytes += flow.bytes;
        else if (n < MAX_FLOWS)
            flows[n++] = flow;
    }
    return n;
}

static void print_transfers(const struct report *report)
{
    struct flow flows[MAX_FLOWS];
    unsigned n = flows_of(report, flows);
    char text[32];

    printf("transfers   %lld, %s, %lld evictions\n",
           (long long)report->transfers,
           report_bytes_text(report->transferred_bytes, text),
           (long long)report->evictions);
    for (unsigned f = 0; f < n; f++)
        printf("%s%s to %s %s%s", f ? ", " : "links       ", flows[f].from,
               flows[f].to, report_bytes_text(flows[f].bytes, text),
               f + 1 == n ? "\n" : "");
}

/* Copies that more memory would have spared. */
static void print_returns(const struct report *report)
{
    const json_t *json = report_list(report, "returns");
    size_t n = report_nreturns(report);
    char text[32];

    if (report_count(json, "count") == 0)
        return;
    printf("came back   %lld times after they had to leave, %s\n",
           (long long)report_count(json, "count"),
           report_bytes_text(report_count(json, "bytes"), text));
    for (size_t r = 0; r < n && r < MAX_RETURNS; r++) {
        struct report_return item = report_return(report, r);

        printf("            %s's %s came back %lld time%s, %s\n", item.task,
               item.data, (long long)item.count, item.count == 1 ? "" : "s",
               report_bytes_text(item.bytes, text));
    }
}

void report_print_basis(const struct report *report)
{
    const char *host = getenv("STARPU_HOSTNAME");
    char figures[256] = "";

    report_figures(report, figures, sizeof(figures));
    /* "measured" is then said of what another machine took. */
    if (report->simulated && host && *host && !strcmp(report->host, host) &&
        strcmp(report->machine, host) != 0)
        printf("models      of %s, whatever the machine (STARPU_HOSTNAME)\n", host);
    edits_print(report->json, "what if     ");
    assume_print(report->json, "assumed     ");
    devices_print(report->json, "held back   ", "lifted      ");
    if (*figures)
        printf("times       %s\n", figures);
    if (json_object_get(report->json, "draw"))
        printf("drawn       machine %lld of those that errors allow, %zu figures of "
               "links and costs\n",
               (long long)report_count(report->json, "draw"),
               json_array_size(report_list(report, "drawn")));
    untrusted_print(report->json, "untrusted   ");
}

void report_print(const struct report *report)
{
    struct report_kind kinds[16];
    unsigned n = report_kinds(report, kinds, 16);
    char machine[512], time[REPORT_TIME_MAX], bytes[32], energy[192];

    report_provenance(report, machine, sizeof(machine));
    if (report->simulated)
        printf("machine     %s (simulated%s%s)\n", report->machine,
               report->provenance ? ", figures " : "",
               report->provenance ? machine : "");
    else
        printf("machine     %s (real)\n", report->machine);
    printf("scheduler   %s\n", report->scheduler);
    report_print_basis(report);
    printf("makespan    %s%s\n", report_time_text(report->makespan_us, time),
           report->simulated ? " (virtual)" : "");
    if (report->flops > 0)
        printf("speed       %.1f GFlop/s\n", report_gflops(report));
    printf("tasks       %lld\n", (long long)report->tasks);
    if (report->transfers > 0)
        print_transfers(report);
    if (report->messages > 0)
        printf("messages    %lld, %s\n", (long long)report->messages,
               report_bytes_text(report->message_bytes, bytes));
    print_returns(report);
    for (unsigned k = 0; k < n; k++)
        printf("%-11s %u worker%s, %.1f %% busy, %lld task%s\n", kinds[k].name,
               kinds[k].workers, kinds[k].workers == 1 ? "" : "s",
               report->makespan_us > 0
                   ? 100 * kinds[k].busy_us /
                         (kinds[k].workers * report->makespan_us)
                   : 0.0,
               (long long)kinds[k].tasks, kinds[k].tasks == 1 ? "" : "s");
    if (*report_energy_text(report, energy, sizeof(energy)))
        printf("energy      %s\n", energy);
    if (report->simulated)
        printf("simulated in %.2f s\n", report->wall_s);
    if (report->clock_asked)
        printf("clock       %s, which the program asked %lld time%s%s\n",
               report->clock_virtual ? "virtual" : "real",
               (long long)report->clock_asked,
               report->clock_asked == 1 ? "" : "s",
               report->clock_virtual
                   ? ""
                   : ": orrery run --clock=virtual has the simulated one");
}
