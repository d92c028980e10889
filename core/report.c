/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/report.c - see report.h.
 */
#include "core/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/data/bus.h"
#include "core/device/clock.h"
#include "core/runtime.h"
#include "core/sched/sched.h"
#include "core/trace/record.h"

static void write_string(FILE *out, const char *name, const char *value)
{
    fprintf(out, "\"%s\": ", name);
    if (!value) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', out);
        if ((unsigned char)*value >= ' ')
            fputc(*value, out);
    }
    fputc('"', out);
}

static void write_workers(FILE *out, const struct orr_runtime *rt)
{
    fputs("\"workers\": [", out);
    for (unsigned w = 0; w < rt->nworkers; w++) {
        const struct orr_worker *worker = &rt->workers[w];

        fprintf(out, "%s\n  {", w ? "," : "");
        write_string(out, "name", worker->desc->name);
        fprintf(out, ", \"busy_us\": %.3f, \"tasks\": %lu}", worker->busy_us,
                worker->ntasks);
    }
    fputs("],\n", out);
}

static void write_figures(FILE *out, struct orr_runtime *rt, const char *how)
{
    double last = rt->first_submit, flops = 0;
    unsigned long long transfers, bytes;
    unsigned long ntasks = 0;

    orr_buses_total(rt, &transfers, &bytes);
    for (unsigned w = 0; w < rt->nworkers; w++) {
        const struct orr_worker *worker = &rt->workers[w];

        if (worker->ntasks && worker->last_end > last)
            last = worker->last_end;
        flops += worker->flops;
        ntasks += worker->ntasks;
    }
    fputs("{", out);
    write_string(out, "version", ORR_VERSION);
    fprintf(out, ",\n\"simulated\": %s,\n",
            rt->machine->simulated ? "true" : "false");
    write_string(out, "machine", rt->machine->name);
    fputs(",\n", out);
    write_string(out, "provenance", rt->machine->provenance);
    fputs(",\n", out);
    write_string(out, "scheduler", rt->sched->ops->name);
    fputs(",\n", out);
    write_string(out, "assumed",
                 orr_config_string(&rt->config, ORR_CFG_ASSUME));
    fprintf(out,
            ",\n\"makespan_us\": %.3f,\n\"flops\": %.6e,\n\"tasks\": %lu,\n"
            "\"transfers\": %llu,\n\"transferred_bytes\": %llu,\n"
            "\"evictions\": %llu,\n\"wall_s\": %.6f,\n",
            last - rt->first_submit, flops, ntasks, transfers, bytes,
            (unsigned long long)rt->nevictions,
            orr_wall_time_s() - rt->wall_start);
    write_workers(out, rt);
    write_string(out, "exit", how);
    fputs("}\n", out);
}

static void write_report(struct orr_runtime *rt, const char *path,
                         const char *how)
{
    size_t n = strlen(path) + 16;
    char *temporary = malloc(n);
    FILE *out;

    if (!temporary)
        return;
    snprintf(temporary, n, "%s.%ld", path, (long)getpid());
    out = fopen(temporary, "w");
    if (out) {
        write_figures(out, rt, how);
        if (fclose(out) == 0 && rename(temporary, path) == 0) {
            free(temporary);
            return;
        }
        unlink(temporary);
    }
    orr_log_error("the report could not be written to %s: %s", path,
                  strerror(errno));
    free(temporary);
}

/* The application did not ask for more than a figure: an error is said, and
 * the run ends as it would have. */
static void write_bus_stats(struct orr_runtime *rt)
{
    const char *path = orr_config_string(&rt->config, ORR_CFG_BUS_STATS_FILE);
    FILE *out = path ? fopen(path, "w") : stderr;

    if (out)
        orr_buses_print(rt, out);
    if (!out || (path ? fclose(out) : fflush(out)) != 0)
        orr_log_error("the figures of the bus could not be written to %s: %s; "
                      "STARPU_BUS_STATS_FILE names the file",
                      path ? path : "stderr", strerror(errno));
}

void orr_report_write(struct orr_runtime *rt, const char *how)
{
    const char *report = orr_config_string(&rt->config, ORR_CFG_REPORT);
    const char *trace = orr_config_string(&rt->config, ORR_CFG_TRACE);
    struct orr_error err = {""};

    if (report)
        write_report(rt, report, how);
    if (orr_config_bool(&rt->config, ORR_CFG_BUS_STATS))
        write_bus_stats(rt);
    if (trace && rt->trace && orr_trace_write_paje(rt->trace, trace, &err) != 0)
        orr_log_error("the trace was not written: %s", err.text);
}
