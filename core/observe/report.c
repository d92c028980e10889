/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/report.c - see report.h.
 */
#include "core/observe/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound/graph_text.h"
#include "core/base/host.h"
#include "core/base/log.h"
#include "core/base/number.h"
#include "core/base/result.h"
#include "core/cost/assume.h"
#include "core/cost/cost.h"
#include "core/cost/estimates.h"
#include "core/cost/figures.h"
#include "core/cost/held.h"
#include "core/data/bus.h"
#include "core/data/nodes.h"
#include "core/data/traffic.h"
#include "core/base/clock_hook.h"
#include "core/device/clock.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/observe/calls.h"
#include "core/observe/graph_conditions.h"
#include "core/observe/graph_record.h"
#include "core/observe/json_text.h"
#include "core/observe/output_path.h"
#include "core/observe/tally.h"
#include "core/observe/trace_record.h"
#include "core/observe/views.h"
#include "core/observe/what_if.h"
#include "core/sched/ctxs.h"
#include "core/sched/sched.h"
#include "core/worker/workers.h"

static void write_string(FILE *out, const char *name, const char *value)
{
    fprintf(out, "\"%s\": ", name);
    orr_json_text(out, value);
}

static void write_workers(FILE *out, const struct orr_runtime *rt)
{
    fputs("\"workers\": [", out);
    for (unsigned w = 0; w < rt->workers->n; w++) {
        const struct orr_worker *worker = &rt->workers->at[w];

        fprintf(out, "%s\n  {", w ? "," : "");
        write_string(out, "name", worker->desc->name);
        orr_fprintf(out, ", \"busy_us\": %.3f, \"tasks\": %lu}", worker->busy_us,
                    worker->ntasks);
    }
    fputs("],\n", out);
}

/* A value that may be missing. */
static void write_us(FILE *out, const char *name, double us)
{
    if (isfinite(us))
        orr_fprintf(out, ", \"%s\": %.3f", name, us);
    else
        fprintf(out, ", \"%s\": null", name);
}

struct listing {
    FILE *out;
    const struct orr_machine *machine;
    bool any; /* there is one before: a comma is needed */
};

static void write_kernel(const struct orr_tally_summary *summary, void *arg)
{
    struct listing *listing = arg;
    const struct orr_tally_kernel *kernel = &summary->kernel;
    FILE *out = listing->out;

    fprintf(out, "%s\n  {", listing->any ? "," : "");
    listing->any = true;
    write_string(out, "name", kernel->name);
    fputs(", ", out);
    write_string(out, "arch", kernel->arch);
    fprintf(out,
            ", \"implementation\": %u, \"footprint\": \"%08x\", "
            "\"size\": %llu, \"model\": %s, \"count\": %llu",
            kernel->impl, kernel->footprint, (unsigned long long)kernel->size,
            kernel->model ? "true" : "false",
            (unsigned long long)summary->count);
    if (kernel->model && strcmp(kernel->model, kernel->name) != 0) {
        fputs(", ", out);
        write_string(out, "symbol", kernel->model);
    }
    write_us(out, "mean_us", summary->mean);
    write_us(out, "typical_us", summary->typical);
    write_us(out, "p05_us", summary->p05);
    write_us(out, "p25_us", summary->p25);
    write_us(out, "median_us", summary->median);
    write_us(out, "p75_us", summary->p75);
    write_us(out, "p95_us", summary->p95);
    write_us(out, "other_us", summary->other);
    orr_fprintf(out, ", \"other_share\": %.6f, \"aside_share\": %.6f",
                summary->other_share, summary->aside);
    write_us(out, "predicted_us", summary->predicted);
    fprintf(out, ", \"origin\": \"%s\"", orr_origin_name(kernel->origin));
    if (isfinite(kernel->off_by))
        orr_fprintf(out, ", \"off_by\": %.6f", kernel->off_by);
    fputc('}', out);
}

static void write_link(const struct orr_tally_link *link, void *arg)
{
    struct listing *listing = arg;
    FILE *out = listing->out;

    fprintf(out, "%s\n  {", listing->any ? "," : "");
    listing->any = true;
    write_string(out, "from", listing->machine->nodes[link->src].name);
    fputs(", ", out);
    write_string(out, "to", listing->machine->nodes[link->dst].name);
    fprintf(out, ", \"count\": %llu, \"bytes\": %llu",
            (unsigned long long)link->count, (unsigned long long)link->bytes);
    write_us(out, "total_us", link->total);
    write_us(out, "predicted_us", link->predicted);
    write_us(out, "alone_us", link->alone);
    fputc('}', out);
}

/* What came back after it had to leave: in all, and what most bytes were. */
static void write_returns(FILE *out, struct orr_runtime *rt)
{
    struct orr_returned_list list;

    orr_traffic_returned(rt, &list);
    fprintf(out, "\"returns\": {\"count\": %llu, \"bytes\": %llu, \"most\": [",
            atomic_load(&rt->nodes->nreturns),
            atomic_load(&rt->nodes->returned_bytes));
    for (unsigned i = 0; i < list.n; i++) {
        const struct orr_returned *item = &list.all[i];

        fprintf(out, "%s\n  {", i ? "," : "");
        write_string(out, "data", item->label.text);
        fputs(", ", out);
        write_string(out, "task", item->kind);
        fprintf(out, ", \"count\": %u, \"bytes\": %zu}", item->count,
                item->count * item->size);
    }
    fputs("]},\n", out);
}

static void write_tally(FILE *out, const struct orr_runtime *rt)
{
    struct listing kernels = {out, rt->machine, false}, links = kernels;

    orr_fprintf(out, "\"modelled_us\": %.3f,\n\"kernels\": [",
                orr_tally_modelled_span(rt->views->tally));
    if (orr_tally_each_kernel(rt->views->tally, write_kernel, &kernels) != 0)
        orr_log_error("out of memory: the report lacks kernels");
    if (orr_tally_lost(rt->views->tally))
        orr_log_error("out of memory: the report lacks %lu kernels",
                      orr_tally_lost(rt->views->tally));
    fputs("],\n\"links\": [", out);
    orr_tally_each_link(rt->views->tally, write_link, &links);
    fputs("],\n", out);
}

/* Which machine that errors allow it was, and the figures of links and costs that are
 * off there; the lengths of kernels are with the kernels. */
static void write_drawn(FILE *out, const struct orr_runtime *rt, uint64_t draw)
{
    const struct orr_machine *machine = rt->machine;

    fprintf(out, ",\n\"draw\": %llu,\n\"drawn\": [", (unsigned long long)draw);
    for (unsigned i = 0; i < machine->ndrawn; i++) {
        fputs(i ? ", {" : "{", out);
        write_string(out, "figure", machine->drawn[i].figure);
        orr_fprintf(out, ", \"factor\": %.6g, \"off_by\": %.6g, \"measured\": %s}",
                    machine->drawn[i].factor, machine->drawn[i].error,
                    machine->drawn[i].measured ? "true" : "false");
    }
    fputs("]", out);
}

/* How the lengths of kernels varied, where they did. */
static void write_noise(FILE *out, const struct orr_runtime *rt)
{
    const struct orr_noise *noise = &rt->estimates->noise;

    if (noise->draw && rt->machine->kernels_take_their_length)
        write_drawn(out, rt, noise->draw);
    if (!noise->on || !rt->machine->kernels_take_their_length)
        return;
    fputs(",\n\"noise\": {\"deviation\": ", out);
    if (isnan(noise->relative))
        fputs("\"measured\"", out);
    else
        orr_fprintf(out, "%.6g", noise->relative);
    fprintf(out, ", \"seed\": %llu}", (unsigned long long)noise->seed);
}

/* Kernels whose other figure went, or came, before an assumption. */
static void write_overruled(FILE *out, const char *key,
                            const struct orr_overruled *overruled)
{
    if (overruled->n)
        orr_fprintf(out,
                    ", \"%s\": {\"origin\": \"%s\", \"kernels\": %u, \"us\": %.6g, "
                    "\"by_us\": %.6g, \"least_us\": %.6g, \"most_us\": %.6g}",
                    key, orr_origin_name(overruled->origin), overruled->n,
                    overruled->us, overruled->by_us, overruled->least_us,
                    overruled->most_us);
}

/* All of them in one string, for those who only show it, and each with whether a
 * task took its time, whether there was a kernel that it is about, and which machine
 * it is for if not for this one. */
static void write_assumptions(FILE *out, struct orr_costs_table *costs)
{
    const struct orr_assumptions *a = orr_costs_assumptions(costs);
    char *text = NULL;
    size_t size = 0;
    FILE *all = open_memstream(&text, &size);
    unsigned n = 0;

    for (unsigned i = 0; all && i < a->n; i++)
        if (!a->all[i].elsewhere)
            fprintf(all, "%s%s", n++ ? "; " : "", a->all[i].text);
    if (all && fclose(all) != 0)
        size = 0;
    write_string(out, "assumed", size ? text : NULL);
    free(text);
    fputs(",\n\"assumptions\": [", out);
    for (unsigned i = 0; i < a->n; i++) {
        char unused[160];

        fputs(i ? ", {" : "{", out);
        write_string(out, "text", a->all[i].text);
        fprintf(out, ", \"used\": %s, \"kernel\": %s",
                a->all[i].used ? "true" : "false",
                orr_costs_assumes_kernel(costs, i) ? "true" : "false");
        write_overruled(out, "replaced", &a->all[i].replaced);
        write_overruled(out, "behind", &a->all[i].behind);
        if (orr_costs_assumption_unused(costs, i, unused, sizeof(unused))) {
            fputs(", ", out);
            write_string(out, "unused", unused);
        }
        if (a->all[i].elsewhere) {
            fputs(", ", out);
            write_string(out, "elsewhere", a->all[i].machine);
        }
        fputs("}", out);
    }
    fputs("]", out);
}

/* "CPUs", "CPUs and CUDA devices": what is in a codelet's `where'. */
static void write_where(FILE *out, uint32_t where)
{
    const struct orr_device_kind *kind;
    const char *before = ", \"left\": \"";

    for (unsigned i = 0; (kind = orr_device_kind_at(i)); i++)
        if (where & kind->where) {
            fprintf(out, "%s%s%s", before, kind->name,
                    kind->is_processor ? "s" : " devices");
            before = " and ";
        }
    if (*before != ',')
        fputc('"', out);
}

static void write_held_kernel(const struct orr_held *held, void *arg)
{
    struct listing *listing = arg;

    fputs(listing->any ? ", {" : "{", listing->out);
    listing->any = true;
    write_string(listing->out, "kernel", held->kernel);
    fprintf(listing->out, ", \"device\": \"%s\", \"why\": \"%s\", \"time\": %s",
            orr_device_kind(held->type)->name, orr_hold_name(held->why),
            held->timed ? "true" : "false");
    if (held->asked)
        fputs(", \"asked\": true", listing->out);
    if (held->why == ORR_HOLD_WHERE)
        write_where(listing->out, held->where);
    fputc('}', listing->out);
}

/* What the program holds back of the machine, or would. */
static void write_held(FILE *out, const struct orr_runtime *rt)
{
    struct listing listing = {out, rt->machine, false};

    fprintf(out, "\"held\": {\"all_devices\": %s, \"counts\": [",
            rt->machine->all_devices ? "true" : "false");
    for (unsigned i = 0; i < ORR_NASKED; i++) {
        enum starpu_worker_archtype type = rt->machine->asked[i].type;
        unsigned asked, there;

        if (!orr_devices_held(rt, type, &asked, &there))
            continue;
        fprintf(out, "%s{\"device\": \"%s\", \"asked\": %u, \"there\": %u}",
                listing.any ? ", " : "", orr_device_kind(type)->name, asked, there);
        listing.any = true;
    }
    fputs("], \"kernels\": [", out);
    listing.any = false;
    orr_held_each(rt, write_held_kernel, &listing);
    fputs("]},\n", out);
}

/* Whether the application asked clocks of the C library. */
static void write_clock(FILE *out, const struct orr_runtime *rt)
{
    const struct orr_clock_preload *preload =
        rt->exec->virtual_time ? orr_clock_preload() : NULL;

    if (preload)
        fprintf(out, "\"clock\": {\"asked\": %lu, \"virtual\": %s},\n",
                preload->asked(), preload->is_virtual() ? "true" : "false");
}

/* Which rank it was, and what it has sent to others and received from them. */
static void write_rank(FILE *out, const struct orr_runtime *rt)
{
    const struct orr_tally_peer *peers = NULL;
    const char *before = "";
    size_t n = 0;

    if (!atomic_load(&rt->one_of_several))
        return;
    if (rt->views->tally)
        peers = orr_tally_peers(rt->views->tally, &n);
    fprintf(out, "\"rank\": %d,\n\"ranks\": %u,\n", atomic_load(&rt->rank), rt->nranks);
    /* Of real ranks each has a clock of its own. */
    if (rt->exec->virtual_time && rt->views->first_submit >= 0)
        orr_fprintf(out, "\"begin_us\": %.3f,\n", rt->views->first_submit);
    fputs("\"messages\": [", out);
    for (size_t r = 0; r < n; r++) {
        if (!peers[r].sent && !peers[r].received)
            continue;
        fprintf(out,
                "%s\n  {\"rank\": %zu, \"sent\": %llu, \"sent_bytes\": %llu, "
                "\"received\": %llu, \"received_bytes\": %llu}",
                before, r, (unsigned long long)peers[r].sent,
                (unsigned long long)peers[r].sent_bytes,
                (unsigned long long)peers[r].received,
                (unsigned long long)peers[r].received_bytes);
        before = ",";
    }
    fputs("],\n", out);
}

static void write_run(FILE *out, struct orr_runtime *rt, const char *how)
{
    double last = rt->views->first_submit, flops = 0;
    unsigned long long transfers, bytes;
    unsigned long ntasks = 0;

    orr_buses_total(rt, &transfers, &bytes);
    for (unsigned w = 0; w < rt->workers->n; w++) {
        const struct orr_worker *worker = &rt->workers->at[w];

        if (worker->ntasks && worker->last_end > last)
            last = worker->last_end;
        flops += worker->flops;
        ntasks += worker->ntasks;
    }
    fputs("{", out);
    write_string(out, "version", ORR_VERSION);
    fprintf(out, ",\n\"simulated\": %s,\n",
            rt->exec->virtual_time ? "true" : "false");
    write_string(out, "machine", rt->machine->name);
    fputs(",\n", out);
    write_string(out, "host", rt->machine->host);
    fputs(",\n", out);
    write_string(out, "provenance", rt->machine->provenance);
    fputs(",\n", out);
    write_string(out, "not_measured", rt->machine->not_measured);
    fputs(",\n", out);
    write_string(out, "scheduler", rt->sched_ctxs->at[0]->ops->name);
    fputs(",\n", out);
    write_assumptions(out, rt->estimates->costs);
    write_noise(out, rt);
    orr_fprintf(out,
                ",\n\"makespan_us\": %.3f,\n\"flops\": %.6e,\n\"tasks\": %lu,\n"
                "\"transfers\": %llu,\n\"transferred_bytes\": %llu,\n"
                "\"evictions\": %llu,\n\"wall_s\": %.6f,\n",
                last - rt->views->first_submit, flops, ntasks, transfers, bytes,
                (unsigned long long)rt->nodes->nevictions,
                orr_wall_time_s() - rt->views->wall_start);
    if (rt->machine->kernels_take_their_length) {
        fputs("\"figures\": ", out);
        orr_figures_write(rt, out);
        fputs(",\n", out);
        write_held(out, rt);
    }
    if (rt->machine->nedits)
        orr_what_if_write(out, rt);
    write_rank(out, rt);
    write_workers(out, rt);
    if (rt->nodes->nevictions)
        write_returns(out, rt);
    if (rt->views->tally)
        write_tally(out, rt);
    write_clock(out, rt);
    write_string(out, "exit", how);
    fputs("}\n", out);
}

static void write_report(struct orr_runtime *rt, const char *path,
                         const char *how)
{
    struct orr_result out;
    int rc = orr_result_open(path, &out);

    if (!rc) {
        write_run(out.file, rt, how);
        rc = orr_result_close(&out, 0);
    }
    if (rc)
        orr_log_error("the report could not be written to %s: %s", path,
                      strerror(-rc));
}

/* An earlier file stays where this one cannot be written. */
static int replace(struct orr_runtime *rt, const char *path,
                   void (*print)(struct orr_runtime *rt, FILE *out))
{
    struct orr_result out;
    int rc = orr_result_open(path, &out);

    if (rc)
        return rc;
    print(rt, out.file);
    return orr_result_close(&out, 0);
}

/* Appends to the file; without a path, to stderr. */
static int append_to_file(struct orr_runtime *rt, const char *path,
                          const char *how,
                          void (*print)(struct orr_runtime *rt, FILE *out))
{
    FILE *out = path ? fopen(path, how) : stderr;
    bool failed;

    if (!out)
        return -errno;
    errno = 0; /* ferror does not say why */
    print(rt, out);
    failed = ferror(out) != 0;
    if ((path ? fclose(out) : fflush(out)) != 0 || failed)
        return errno ? -errno : -EIO;
    return 0;
}

void orr_report_print_to(struct orr_runtime *rt, enum orr_config_id variable,
                         const char *name, const char *how,
                         void (*print)(struct orr_runtime *rt, FILE *out))
{
    char *path = orr_output_path(rt, variable);
    bool replaces = path && *how == 'w';
    int rc = replaces ? replace(rt, path, print)
                      : append_to_file(rt, path, how, print);

    if (rc)
        orr_log_error("what %s asks for could not be written to %s: %s", name,
                      path ? path : "stderr", strerror(-rc));
    free(path);
}

static void print_memory_stats(struct orr_runtime *rt)
{
    const struct orr_config *config = &rt->config;

    if (rt->nodes->counts_hits && orr_config_bool(config, ORR_CFG_STATS))
        orr_traffic_print_hits(rt, stderr);
    if (orr_config_bool(config, ORR_CFG_MEMORY_STATS))
        orr_traffic_print(rt, stderr);
    if (orr_config_bool(config, ORR_CFG_MAX_MEMORY_USE))
        orr_traffic_print_peaks(rt, stderr);
}

static void report_write_graph(struct orr_runtime *rt, const char *path)
{
    struct orr_graph *graph = NULL;
    struct orr_error err = {""};
    int rc = orr_graph_record_make(rt, ORR_GRAPH_ALL, &graph, &err);

    if (!rc)
        rc = orr_graph_add_conditions(graph, rt);
    if (!rc)
        rc = orr_graph_save(graph, path, &err);
    if (rc)
        orr_log_error("the graph of tasks was not written to %s: %s", path,
                      err.text);
    orr_graph_free(graph);
}

static void write_trace(struct orr_runtime *rt)
{
    char *path = rt->views->trace ? orr_output_path(rt, ORR_CFG_TRACE) : NULL;
    struct orr_error err = {""};

    if (path && atomic_load(&rt->one_of_several))
        orr_trace_set_rank(rt->views->trace, atomic_load(&rt->rank), rt->nranks);
    if (path && orr_trace_write(rt->views->trace, path, &err) != 0)
        orr_log_error("the trace was not written: %s", err.text);
    free(path);
}

void orr_report_write_beside(struct orr_runtime *rt)
{
    char *graph = orr_output_path(rt, ORR_CFG_GRAPH);

    write_trace(rt);
    /* Later: it has all tasks that the trace has. */
    if (graph)
        report_write_graph(rt, graph);
    free(graph);
}

void orr_report_write(struct orr_runtime *rt, const char *how)
{
    char *report = orr_output_path(rt, ORR_CFG_REPORT);
    char *graph = orr_output_path(rt, ORR_CFG_GRAPH);

    if (report) {
        write_report(rt, report, how);
    } else {
        orr_figures_warn(rt);
        orr_held_notice(rt);
    }
    if (graph)
        report_write_graph(rt, graph);
    if (orr_config_bool(&rt->config, ORR_CFG_BUS_STATS))
        orr_report_print_to(rt, ORR_CFG_BUS_STATS_FILE, "STARPU_BUS_STATS", "w",
                            orr_buses_print);
    print_memory_stats(rt);
    write_trace(rt);
    orr_calls_close(rt, how);
    free(report);
    free(graph);
}
