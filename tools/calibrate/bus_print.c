/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/calibrate/bus_print.c - see bus.h. One thread. */
#include "tools/calibrate/bus.h"

#include "tools/common/plot.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const group_names[] = {
    [ORR_BUS_BIDIRECTIONAL] = "both ways",
    [ORR_BUS_TO_ALL] = "to all devices at once",
    [ORR_BUS_FROM_ALL] = "from all devices at once",
    [ORR_BUS_ALL] = "all at once",
    [ORR_BUS_WITHIN] = "one per processor",
};

static const char *bus_node_name(const struct bus_shown *shown, unsigned node)
{
    return shown->machine->nodes[node].name;
}

/* The group of that kind in which the link takes part, its place in *ret. */
static const struct orr_bus_group *bus_find_group(const struct bus_shown *shown,
                                                  enum orr_bus_group_kind kind,
                                                  unsigned link, unsigned *ret)
{
    for (unsigned c = 0; c < shown->measures->ngroups; c++) {
        const struct orr_bus_group *group = &shown->measures->groups[c];

        for (unsigned i = 0; group->kind == kind && i < group->n; i++)
            if (group->links[i] == link) {
                *ret = i;
                return group;
            }
    }
    return NULL;
}

/* ---- text ---- */

static void format_size(size_t size, char ret[24])
{
    if (size >= 1u << 20)
        snprintf(ret, 24, "%zu MiB", size >> 20);
    else if (size >= 1u << 10)
        snprintf(ret, 24, "%zu KiB", size >> 10);
    else
        snprintf(ret, 24, "%zu B", size);
}

static char *format_latency(double us)
{
    return us < 1 ? tool_format("%.1f ns", us * 1e3)
                  : tool_format("%.2f us", us);
}

static char *format_member(const struct bus_shown *shown,
                           enum orr_bus_group_kind kind, unsigned link)
{
    unsigned i;
    const struct orr_bus_group *group = bus_find_group(shown, kind, link, &i);

    if (!group)
        return tool_format("-");
    /* Within a node all members are alike. */
    return tool_format("%.0f", kind == ORR_BUS_WITHIN
                                   ? group->total / group->n
                                   : group->members[i].median);
}

enum { LINK_COLUMNS = 10 };

/* Adds a text that was made, and frees it. */
static void table_take(struct table *table, char *text)
{
    if (text)
        table_add(table, "%s", text);
    else
        table->failed = true;
    free(text);
}

static void fill_link(struct table *table, const struct bus_shown *shown,
                      unsigned l)
{
    const struct orr_bus_link *link = &shown->measures->links[l];
    const struct orr_bus_estimate *b = &link->bandwidth;
    bool within = link->src == link->dst;

    table_add(table, "%s", bus_node_name(shown, link->src));
    table_add(table, "%s", bus_node_name(shown, link->dst));
    table_add(table, "%s", link->pinned ? "pinned" : "pageable");
    table_take(table, format_latency(link->latency.median));
    table_add(table, "%.0f", b->median);
    if (isnan(b->lo))
        table_add(table, "-");
    else
        table_add(table, "%.0f-%.0f", b->lo, b->hi);
    table_add(table, "%.1f %%", 100 * b->spread);
    table_take(table, format_member(shown, ORR_BUS_BIDIRECTIONAL, l));
    table_take(table, format_member(shown, ORR_BUS_ALL, l));
    if (within)
        table_take(table, format_member(shown, ORR_BUS_WITHIN, l));
    else
        table_add(table, "-");
}

static int print_bus_links(const struct bus_shown *shown)
{
    static const struct table_column columns[LINK_COLUMNS] = {
        {"from", false},        {"to", false},       {"memory", false},
        {"latency", true},      {"MB/s", true},      {"95 %", true},
        {"spread", true},       {"both ways", true}, {"all at once", true},
        {"per processor", true}};
    struct table table = {0};

    for (unsigned l = 0; l < shown->measures->nlinks; l++)
        fill_link(&table, shown, l);
    return table_end(&table, columns, LINK_COLUMNS);
}

enum { SIZE_COLUMNS = 7 };

static void fill_size(struct table *table, const struct bus_shown *shown,
                      const struct orr_bus_link *link,
                      const struct orr_bus_point *point)
{
    char size[24];

    format_size(point->size, size);
    table_add(table, "%s", bus_node_name(shown, link->src));
    table_add(table, "%s%s", bus_node_name(shown, link->dst),
              link->pinned ? " (pinned)" : "");
    table_add(table, "%s", size);
    table_add(table, "%.4g", point->us.median);
    table_add(table, "%.4g", (double)point->size / point->us.median);
    table_add(table, "%.1f %%", 100 * point->us.spread);
    table_add(table, "%u", point->us.n);
}

static int print_sizes(const struct bus_shown *shown)
{
    static const struct table_column columns[SIZE_COLUMNS] = {
        {"from", false}, {"to", false},    {"size", true},   {"us", true},
        {"MB/s", true},  {"spread", true}, {"samples", true}};
    struct table table = {0};

    for (unsigned l = 0; l < shown->measures->nlinks; l++) {
        const struct orr_bus_link *link = &shown->measures->links[l];

        for (unsigned p = 0; p < link->npoints; p++)
            fill_size(&table, shown, link, &link->points[p]);
    }
    return table_end(&table, columns, SIZE_COLUMNS);
}

static void print_groups(const struct bus_shown *shown)
{
    for (unsigned c = 0; c < shown->measures->ngroups; c++) {
        const struct orr_bus_group *group = &shown->measures->groups[c];
        const struct orr_bus_link *first =
            &shown->measures->links[group->links[0]];

        if (group->kind == ORR_BUS_TO_ALL || group->kind == ORR_BUS_FROM_ALL)
            printf("%s %u devices at once: %.0f MB/s in all\n",
                   group->kind == ORR_BUS_TO_ALL ? "to all" : "from all",
                   group->n, group->total);
        else if (group->kind == ORR_BUS_ALL)
            printf("all %u links at once: %.0f MB/s in all\n", group->n,
                   group->total);
        else if (group->kind == ORR_BUS_WITHIN)
            printf("%u copies at once within %s: %.0f MB/s in all\n", group->n,
                   bus_node_name(shown, first->src), group->total);
        else
            printf("%s and %s both ways at once%s: %.0f MB/s in all\n",
                   bus_node_name(shown, first->src),
                   bus_node_name(shown, first->dst),
                   first->pinned ? ", pinned" : "", group->total);
    }
}

int bus_print(const struct bus_shown *shown)
{
    int rc = print_bus_links(shown);

    if (rc == 0) {
        puts("Copies of the largest size, in MB/s; a node with itself: copies "
             "within its\nmemory. Pairs of different nodes go into the bus "
             "files.");
        print_groups(shown);
        putchar('\n');
        rc = print_sizes(shown);
    }
    if (rc == 0)
        printf("\n%u memory nodes, %.1f s\n%s.{affinity,latency,bandwidth,"
               "config,platform.xml,platform.v4.xml}\n%s\n",
               shown->machine->nnodes, shown->measures->seconds, shown->stem,
               shown->path);
    return rc;
}

/* ---- JSON ---- */

/* NaN is null. */
static json_t *json_finite(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *estimate_json(const struct orr_bus_estimate *estimate)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:i}", "median", json_finite(estimate->median),
        "low", json_finite(estimate->lo), "high", json_finite(estimate->hi),
        "spread", json_finite(estimate->spread), "samples", (int)estimate->n);
}

static json_t *points_json(const struct orr_bus_link *link)
{
    json_t *points = json_array();

    for (unsigned p = 0; p < link->npoints; p++)
        json_array_append_new(points,
                              json_pack("{s:I, s:o}", "bytes",
                                        (json_int_t)link->points[p].size, "us",
                                        estimate_json(&link->points[p].us)));
    return points;
}

static json_t *links_json(const struct bus_shown *shown)
{
    json_t *links = json_array();

    for (unsigned l = 0; l < shown->measures->nlinks; l++) {
        const struct orr_bus_link *link = &shown->measures->links[l];

        json_array_append_new(
            links,
            json_pack("{s:s, s:s, s:b, s:o, s:o, s:o}", "from",
                      bus_node_name(shown, link->src), "to",
                      bus_node_name(shown, link->dst), "pinned", link->pinned,
                      "latency_us", estimate_json(&link->latency),
                      "bandwidth_MBps", estimate_json(&link->bandwidth),
                      "sizes", points_json(link)));
    }
    return links;
}

static json_t *groups_json(const struct bus_shown *shown)
{
    json_t *groups = json_array();

    for (unsigned c = 0; c < shown->measures->ngroups; c++) {
        const struct orr_bus_group *group = &shown->measures->groups[c];
        json_t *members = json_array();

        for (unsigned i = 0; i < group->n; i++) {
            const struct orr_bus_link *link =
                &shown->measures->links[group->links[i]];

            json_array_append_new(
                members, json_pack("{s:s, s:s, s:b, s:o}", "from",
                                   bus_node_name(shown, link->src), "to",
                                   bus_node_name(shown, link->dst), "pinned",
                                   link->pinned, "bandwidth_MBps",
                                   estimate_json(&group->members[i])));
        }
        json_array_append_new(
            groups,
            json_pack("{s:s, s:I, s:o, s:o}", "kind", group_names[group->kind],
                      "bytes", (json_int_t)group->size, "total_MBps",
                      json_finite(group->total), "copies", members));
    }
    return groups;
}

int bus_print_json(const struct bus_shown *shown)
{
    json_t *nodes = json_array(), *root;
    int rc;

    for (unsigned i = 0; i < shown->machine->nnodes; i++)
        json_array_append_new(
            nodes,
            json_pack("{s:s, s:I}", "name", bus_node_name(shown, i), "bytes",
                      (json_int_t)shown->machine->nodes[i].capacity));
    root = json_pack("{s:s, s:s, s:s, s:f, s:o, s:o, s:o}", "host", shown->host,
                     "bus_files", shown->stem, "description", shown->path,
                     "seconds", shown->measures->seconds, "nodes", nodes,
                     "links", links_json(shown), "crowds", groups_json(shown));
    if (!root)
        return -ENOMEM;
    rc = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(root);
    return rc < 0 ? -ENOMEM : 0;
}

/* ---- picture ---- */

static void draw_data(struct plot *plot, const struct bus_shown *shown)
{
    for (unsigned l = 0; l < shown->measures->nlinks; l++) {
        const struct orr_bus_link *link = &shown->measures->links[l];

        for (unsigned p = 0; p < link->npoints; p++) {
            const struct orr_bus_point *point = &link->points[p];
            double mbs = (double)point->size / point->us.median;
            bool sure = !isnan(point->us.lo);

            fprintf(plot->pipe, "%zu %g %g %g\n", point->size, mbs,
                    sure ? (double)point->size / point->us.hi : mbs,
                    sure ? (double)point->size / point->us.lo : mbs);
        }
        fputs("e\n", plot->pipe);
    }
}

int bus_draw(const struct bus_shown *shown, const char *path)
{
    const struct orr_bus_measures *measures = shown->measures;
    struct plot plot;
    char title[128];

    if (plot_begin_paper(&plot, path, 800, 500) < 0)
        return -1;
    fputs("set logscale xy\nset key left top\nset grid\n"
          "set xlabel 'bytes'\nset ylabel 'MB/s'\n"
          "set format x '%.0s %cB'\nset title ",
          plot.pipe);
    snprintf(title, sizeof(title), "copies between memory nodes of %s",
             shown->host);
    plot_text(plot.pipe, title);
    fputs("\nplot ", plot.pipe);
    for (unsigned l = 0; l < measures->nlinks; l++) {
        const struct orr_bus_link *link = &measures->links[l];

        if (link->src == link->dst)
            snprintf(title, sizeof(title), "within %s",
                     bus_node_name(shown, link->src));
        else
            snprintf(title, sizeof(title), "%s to %s%s",
                     bus_node_name(shown, link->src),
                     bus_node_name(shown, link->dst),
                     link->pinned ? ", pinned" : "");
        fprintf(plot.pipe,
                "%s'-' using 1:2:3:4 with yerrorlines pt 7 ps 0.6 "
                "lc rgb '%s' title ",
                l ? ", " : "", plot_colour(l));
        plot_text(plot.pipe, title);
    }
    fputc('\n', plot.pipe);
    draw_data(&plot, shown);
    return plot_end(&plot);
}
