/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/bus/platform.c - the two platform files that StarPU writes beside its
 * bus files, for SimGrid: the same machine in two versions of the format. Every
 * route is a link of its own and the links of the host, as StarPU has them
 * where it knows nothing of PCI. No state.
 */
#include "core/base/number.h"
#include "core/device/bus/store.h"

#include <math.h>
#include <string.h>

/* What differs between the versions. */
struct dialect {
    const char *version, *dtd, *speed, *flops, *rate, *time;
    char dash; /* in names of options */
};

static const struct dialect dialects[] = {
    {"3", "http://simgrid.gforge.inria.fr/simgrid.dtd", "power", "", "", "",
     '_'},
    {"4", "http://simgrid.gforge.inria.fr/simgrid/simgrid.dtd", "speed", "f",
     "Bps", "s", '-'},
};

struct writer {
    FILE *out;
    const struct orr_bus_tables *tables;
    const struct dialect *d;
};

static double bandwidth(const struct writer *w, unsigned src, unsigned dst)
{
    return w->tables->bandwidth[src * w->tables->n + dst];
}

static unsigned first_node_of_kind(const struct writer *w, int kind)
{
    unsigned at = 0;

    for (int k = 0; k < kind; k++)
        at += w->tables->counts.nodes[k];
    return at;
}

static bool nodes_are_linked(const struct writer *w, unsigned src, unsigned dst)
{
    double value = bandwidth(w, src, dst);

    return isfinite(value) && value > 0;
}

static void print_text(FILE *out, const char *text)
{
    for (; *text; text++)
        if (strchr("<>&'\"", *text) || (unsigned char)*text < ' ')
            fprintf(out, "&#%d;", (unsigned char)*text);
        else
            fputc(*text, out);
}

static void print_config(const struct writer *w)
{
    static const char *const options[][2] = {
        {"network/TCP%cgamma", "-1"},       {"network/latency%cfactor", "1"},
        {"network/bandwidth%cfactor", "1"}, {"network/crosstraffic", "0"},
        {"network/weight%cS", "0.0"},
    };

    fputs(" <config id=\"General\">\n", w->out);
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
        const char *hole = strstr(options[i][0], "%c");

        fputs("  <prop id=\"", w->out);
        if (hole)
            fprintf(w->out, "%.*s%c%s", (int)(hole - options[i][0]),
                    options[i][0], w->d->dash, hole + 2);
        else
            fputs(options[i][0], w->out);
        fprintf(w->out, "\" value=\"%s\"/>\n", options[i][1]);
    }
    fputs(" </config>\n", w->out);
}

/* Speeds are fillers: kernels take the times of their models. */
static void print_platform_device(const struct writer *w, const char *kind,
                                  unsigned i,
                                  const struct orr_bus_device *device,
                                  bool tells_peer)
{
    fprintf(w->out, "  <host id=\"%s%u\" %s=\"2000000000%s\">\n", kind, i,
            w->d->speed, w->d->flops);
    fputs("   <prop id=\"model\" value=\"", w->out);
    print_text(w->out, device->model);
    fprintf(w->out, "\"/>\n   <prop id=\"memsize\" value=\"%llu\"/>\n",
            (unsigned long long)device->bytes);
    if (tells_peer)
        fprintf(w->out, "   <prop id=\"memcpy_peer\" value=\"%d\"/>\n",
                device->peer);
    fputs("  </host>\n", w->out);
}

static void print_hosts(const struct writer *w)
{
    const struct orr_bus_counts *counts = &w->tables->counts;
    const struct orr_bus_device *devices = w->tables->devices;

    fprintf(w->out, "  <host id=\"MAIN\" %s=\"1%s\"/>\n", w->d->speed,
            w->d->flops);
    for (unsigned i = 0; i < counts->ncpus; i++)
        fprintf(w->out, "  <host id=\"CPU%u\" %s=\"2000000000%s\"/>\n", i,
                w->d->speed, w->d->flops);
    for (int k = 0; k < ORR_BUS_NKINDS; k++)
        for (unsigned i = 0; orr_bus_kinds[k].has_hosts && i < counts->nodes[k];
             i++)
            print_platform_device(w, orr_bus_kinds[k].name, i,
                                  &devices[first_node_of_kind(w, k) + i],
                                  orr_bus_kinds[k].has_peers);
    fprintf(w->out, "  <host id=\"RAM\" %s=\"1%s\"/>\n", w->d->speed,
            w->d->flops);
}

static void print_link(const struct writer *w, const char *name, double mbs,
                       double us)
{
    orr_fprintf(w->out,
                "  <link id=\"%s\" bandwidth=\"%f%s\" latency=\"%.9f%s\"/>\n", name,
                mbs * 1e6, w->d->rate, isfinite(us) ? us / 1e6 : 0, w->d->time);
}

/* Runs through the ordered pairs that have a link of their own: devices and
 * main memory (node 0), and devices among each other. */
static void each_pair(const struct writer *w,
                      void (*visit)(const struct writer *w, const char *from,
                                    unsigned src, const char *to, unsigned dst))
{
    const struct orr_bus_kind_row *kind = orr_bus_kinds;
    char from[24], to[24];

    for (int k = 0; k < ORR_BUS_NKINDS; k++)
        for (unsigned i = 0;
             kind[k].has_hosts && i < w->tables->counts.nodes[k]; i++) {
            unsigned node = first_node_of_kind(w, k) + i;

            snprintf(to, sizeof(to), "%s%u", kind[k].name, i);
            if (nodes_are_linked(w, 0, node))
                visit(w, "RAM", 0, to, node);
            if (nodes_are_linked(w, node, 0))
                visit(w, to, node, "RAM", 0);
        }
    for (int k = 0; k < ORR_BUS_NKINDS; k++) {
        unsigned first = first_node_of_kind(w, k),
                 n = w->tables->counts.nodes[k];

        for (unsigned p = 0; kind[k].has_peers && p < n * n; p++) {
            unsigned i = p / n, j = p % n;

            snprintf(from, sizeof(from), "%s%u", kind[k].name, i);
            snprintf(to, sizeof(to), "%s%u", kind[k].name, j);
            if (i != j && nodes_are_linked(w, first + i, first + j))
                visit(w, from, first + i, to, first + j);
        }
    }
}

static void visit_link(const struct writer *w, const char *from, unsigned src,
                       const char *to, unsigned dst)
{
    char name[64];

    snprintf(name, sizeof(name), "%s-%s", from, to);
    print_link(w, name, bandwidth(w, src, dst),
               w->tables->latency[src * w->tables->n + dst]);
}

static void visit_route(const struct writer *w, const char *from, unsigned src,
                        const char *to, unsigned dst)
{
    (void)src;
    (void)dst;
    fprintf(w->out,
            "  <route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">"
            "<link_ctn id=\"%s-%s\"/><link_ctn id=\"Interconnect\"/>"
            "</route>\n",
            from, to, from, to);
}

/* The fastest link of a device from or to NUMA node `node`. */
static double fastest_link_of_node(const struct writer *w, unsigned node)
{
    double best = 0;

    for (unsigned i = first_node_of_kind(w, ORR_BUS_NUMA + 1); i < w->tables->n;
         i++) {
        if (nodes_are_linked(w, node, i))
            best = fmax(best, bandwidth(w, node, i));
        if (nodes_are_linked(w, i, node))
            best = fmax(best, bandwidth(w, i, node));
    }
    return best;
}

/* Without devices nothing would use them. */
static void print_shared_links(const struct writer *w)
{
    double best = 0;
    char name[24];

    for (unsigned k = 0; k < w->tables->counts.nodes[ORR_BUS_NUMA]; k++) {
        double own = fastest_link_of_node(w, k);

        snprintf(name, sizeof(name), "NUMA%u", k);
        if (own > 0)
            print_link(w, name, own, 0);
        best = fmax(best, own);
    }
    for (int k = 0; k < ORR_BUS_NKINDS; k++) {
        unsigned first = first_node_of_kind(w, k),
                 n = w->tables->counts.nodes[k];

        for (unsigned p = 0; orr_bus_kinds[k].has_peers && p < n * n; p++)
            if (p / n != p % n &&
                nodes_are_linked(w, first + p / n, first + p % n))
                best = fmax(best, bandwidth(w, first + p / n, first + p % n));
    }
    if (best > 0)
        print_link(w, "Interconnect", best, 0);
}

void orr_bus_print_platform(FILE *out, const struct orr_bus_tables *tables,
                            bool v4)
{
    const struct writer w = {out, tables, &dialects[v4]};

    fprintf(out,
            "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM '%s'>\n"
            "<platform version=\"%s\">\n",
            w.d->dtd, w.d->version);
    print_config(&w);
    fputs(" <AS id=\"AS0\" routing=\"Full\">\n", out);
    print_hosts(&w);
    print_shared_links(&w);
    each_pair(&w, visit_link);
    each_pair(&w, visit_route);
    fputs(" </AS>\n</platform>\n", out);
}
