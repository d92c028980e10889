/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/traffic_print.c - see traffic.h: statistics of nodes and data as
 * text. By any thread, beside others that count. */
#include <stdlib.h>

#include "core/base/log.h"
#include "core/base/number.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/data/plan.h"
#include "core/data/registry.h"
#include "core/data/traffic.h"
#include "core/exec/runtime.h"

static const double MIB = 1 << 20;

static unsigned traffic_print_get(const atomic_uint *n)
{
    return atomic_load_explicit(n, memory_order_relaxed);
}

/* A datum, as it was when the runtime was locked. */
struct row {
    struct orr_label label;
    size_t size;
    uint64_t allocated, valid;
    unsigned narrivals, nevictions, nreturns;
};

static struct row row_of(const struct orr_handle *handle)
{
    struct row row = {
        .label = orr_handle_label(handle),
        .size = handle->size,
        .allocated = handle->allocated,
        .valid = handle->valid,
        .narrivals = traffic_print_get(&handle->traffic.narrivals),
        .nevictions = traffic_print_get(&handle->traffic.nevictions),
        .nreturns = traffic_print_get(&handle->traffic.nreturns),
    };

    return row;
}

static size_t count_data(struct orr_runtime *rt)
{
    size_t n = 0;

    orr_lock(&rt->lock);
    orr_list_foreach (link, &rt->data->handles)
        n++;
    orr_unlock(&rt->lock);
    return n;
}

/* *ret is owned by the caller; NULL: there is none, or no memory. Data that come
 * while memory is allocated are left out. */
static size_t take_rows(struct orr_runtime *rt, struct row **ret)
{
    size_t n = 0, room = count_data(rt);
    struct row *rows = room ? malloc(room * sizeof(*rows)) : NULL;

    *ret = rows;
    if (room && !rows)
        orr_log_error("out of memory: the statistics lack the data");
    if (!rows)
        return 0;
    orr_lock(&rt->lock);
    orr_list_foreach (link, &rt->data->handles)
        if (n < room)
            rows[n++] = row_of(orr_container(link, struct orr_handle, all));
    orr_unlock(&rt->lock);
    return n;
}

static void print_nodes(const struct orr_runtime *rt, uint64_t nodes, FILE *out)
{
    const char *before = " ";

    if (!nodes)
        fputs(" no node", out);
    for (; nodes; nodes &= nodes - 1) {
        fprintf(out, "%s%s", before,
                rt->machine->nodes[__builtin_ctzll(nodes)].name);
        before = ", ";
    }
}

static void print_row(const struct orr_runtime *rt, const struct row *row,
                      FILE *out)
{
    fprintf(out, "\t%s, %zu bytes: memory on", row->label.text, row->size);
    print_nodes(rt, row->allocated, out);
    fputs("; value on", out);
    print_nodes(rt, row->valid, out);
    fprintf(out, "; copied %u times", row->narrivals);
    if (row->nevictions)
        fprintf(out, ", evicted %u times, came back %u times", row->nevictions,
                row->nreturns);
    fputc('\n', out);
}

static void print_node(const struct orr_runtime *rt,
                       const struct orr_node *node, FILE *out)
{
    fprintf(out, "\t%s: %zu bytes used, at most %zu",
            rt->machine->nodes[node->id].name, atomic_load(&node->used),
            atomic_load(&node->most_used));
    if (node->capacity)
        fprintf(out, " of %zu", node->capacity);
    fprintf(out, ", %llu allocations", atomic_load(&node->nallocations));
    if (node->cache.used)
        fprintf(out, ", %llu of kept memory, %zu bytes kept",
                atomic_load(&node->nreused), atomic_load(&node->cache.bytes));
    fputc('\n', out);
}

static const char line[] = "#---------------------\n";

void orr_traffic_print(struct orr_runtime *rt, FILE *out)
{
    struct row *rows;
    size_t n = take_rows(rt, &rows);

    fprintf(out, "\n%sMemory stats:\n", line);
    for (unsigned node = 0; node < rt->nodes->n; node++)
        print_node(rt, &rt->nodes->at[node], out);
    fprintf(out, "%zu data are registered\n", n);
    for (size_t i = 0; i < n; i++)
        print_row(rt, &rows[i], out);
    orr_fprintf(out,
                "%llu evictions; %llu copies, %.1f MiB, brought back what had left\n"
                "%s",
                (unsigned long long)atomic_load(&rt->nodes->nevictions),
                (unsigned long long)atomic_load(&rt->nodes->nreturns),
                (double)atomic_load(&rt->nodes->returned_bytes) / MIB, line);
    free(rows);
}

static double percentage(unsigned long long part, unsigned long long whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

void orr_traffic_print_hits(const struct orr_runtime *rt, FILE *out)
{
    fprintf(out, "\n%sData cache stats:\n", line);
    for (unsigned i = 0; i < rt->nodes->n; i++) {
        const struct orr_node *node = &rt->nodes->at[i];
        unsigned long long hits = atomic_load(&node->nhits),
                           misses = atomic_load(&node->nmisses),
                           all = hits + misses;

        orr_fprintf(out,
                    "\t%s: %llu hits (%.2f %%), %llu misses (%.2f %%), %llu "
                    "allocations, %llu of kept memory\n",
                    rt->machine->nodes[i].name, hits, percentage(hits, all), misses,
                    percentage(misses, all), atomic_load(&node->nallocations),
                    atomic_load(&node->nreused));
    }
    fputs(line, out);
}

void orr_traffic_print_peaks(const struct orr_runtime *rt, FILE *out)
{
    fprintf(out, "\n%sMemory use at its peak:\n\t%u data registered\n", line,
            rt->data->most_handles);
    for (unsigned i = 0; i < rt->nodes->n; i++)
        fprintf(out, "\t%s: %zu bytes\n", rt->machine->nodes[i].name,
                atomic_load(&rt->nodes->at[i].most_used));
    fputs(line, out);
}
