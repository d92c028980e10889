/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/diff.c - `orrery machine diff`: what differs between two
 * machines. Objects are matched by their names: hosts, links, routes by their
 * ends, models by their kernels. One thread.
 */
#include "core/base/grow.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/machine/machine.h"

#include "platforms/desc_build.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery machine diff A [B] [--set EDIT] [--json]\n"
    "What differs between two machines: hosts and their memory, links, routes, the\n"
    "bandwidths and latencies that schedulers see, runtime costs, kernel models.\n"
    "Names and files of the machines do not count. A value that differs by no more\n"
    "than one part in 10^12 is equal. --set edits B, or A if there is no B, which is\n"
    "then compared with what it was.\n" EDITS_HELP
    "      --json                 as JSON\n"
    "Exit codes: 0 when they are equal; 1 when they differ or one cannot be read; 2\n"
    "for a wrong command line.\n"
    "example: orrery machine diff hgx-h100-8 mine.xml\n";

/* One difference. `a` or `b` empty: only the other machine has it. */
struct difference {
    const char *section; /* constant; "links" */
    char *item;          /* owned; "PCIe-CUDA0" */
    char *aspect;        /* owned; "bandwidth", empty: the item itself */
    char *a, *b;         /* owned */
};

struct differences {
    const struct orr_machine_desc *a, *b;
    struct difference *items;
    unsigned n;
    int rc; /* -ENOMEM once memory ran out; what follows is left out */
};

#define VALUE 128

/* ---- gathering ---- */

static void differences_add(struct differences *d, const char *section,
                            const char *item, const char *aspect, const char *a,
                            const char *b)
{
    struct difference *last;

    if (d->rc < 0)
        return;
    last = orr_array_add(d->items, d->n);
    if (!last) {
        d->rc = -ENOMEM;
        return;
    }
    *last = (struct difference){section, strdup(item), strdup(aspect),
                                strdup(a), strdup(b)};
    if (!last->item || !last->aspect || !last->a || !last->b)
        d->rc = -ENOMEM;
}

static void differences_done(struct differences *d)
{
    for (unsigned i = 0; i < d->n; i++) {
        free(d->items[i].item);
        free(d->items[i].aspect);
        free(d->items[i].a);
        free(d->items[i].b);
    }
    free(d->items);
}

static bool values_are_same(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static bool machine_texts_are_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void format_value(double value, const char *unit, char text[VALUE])
{
    if (isnan(value))
        snprintf(text, VALUE, "not given");
    else
        snprintf(text, VALUE, "%.6g%s%s", value, *unit ? " " : "", unit);
}

static void compare_value(struct differences *d, const char *section,
                          const char *item, const char *aspect, double a,
                          double b, const char *unit)
{
    char left[VALUE], right[VALUE];

    if (values_are_same(a, b))
        return;
    format_value(a, unit, left);
    format_value(b, unit, right);
    /* Six digits may not show it. */
    if (strcmp(left, right) == 0) {
        snprintf(left, sizeof(left), "%.17g %s", a, unit);
        snprintf(right, sizeof(right), "%.17g %s", b, unit);
    }
    differences_add(d, section, item, aspect, left, right);
}

/* ---- hosts ---- */

static void memory_text(const char *value, char text[VALUE])
{
    if (value)
        snprintf(text, VALUE, "%.6g GiB", strtod(value, NULL) / (1 << 30));
    else
        snprintf(text, VALUE, "not given");
}

static void diff_prop(struct differences *d, const char *section,
                      const char *item, const char *id, const char *a,
                      const char *b)
{
    char left[VALUE], right[VALUE];

    if (machine_texts_are_same(a, b))
        return;
    if (strcmp(id, "memsize") == 0) {
        memory_text(a, left);
        memory_text(b, right);
        differences_add(d, section, item, "memory", left, right);
        return;
    }
    differences_add(d, section, item, id, a ? a : "not given",
                    b ? b : "not given");
}

/* Properties of either owner. */
static void diff_props(struct differences *d, const char *section,
                       const char *item, const struct orr_prop_desc *a,
                       unsigned na, const struct orr_prop_desc *b, unsigned nb)
{
    for (unsigned i = 0; i < na; i++)
        diff_prop(d, section, item, a[i].id, a[i].value,
                  orr_props_find(b, nb, a[i].id));
    for (unsigned i = 0; i < nb; i++)
        if (!orr_props_find(a, na, b[i].id))
            diff_prop(d, section, item, b[i].id, NULL, b[i].value);
}

/* The other machine's host of that name; hosts are mostly in the same order. */
static const struct orr_host_desc *
find_partner_host(const struct orr_machine_desc *desc, unsigned hint,
                  const char *id)
{
    int h;

    if (hint < desc->nhosts && strcmp(desc->hosts[hint].id, id) == 0)
        return &desc->hosts[hint];
    h = orr_machine_desc_host(desc, id);
    return h < 0 ? NULL : &desc->hosts[h];
}

static void diff_hosts(struct differences *d)
{
    for (unsigned i = 0; i < d->a->nhosts; i++) {
        const struct orr_host_desc *a = &d->a->hosts[i];
        const struct orr_host_desc *b = find_partner_host(d->b, i, a->id);

        if (!b) {
            differences_add(d, "hosts", a->id, "", "there", "");
            continue;
        }
        compare_value(d, "hosts", a->id, "speed", a->speed, b->speed, "flop/s");
        diff_props(d, "hosts", a->id, a->props, a->nprops, b->props, b->nprops);
    }
    for (unsigned i = 0; i < d->b->nhosts; i++)
        if (!find_partner_host(d->a, i, d->b->hosts[i].id))
            differences_add(d, "hosts", d->b->hosts[i].id, "", "", "there");
}

/* ---- links and routes ---- */

static const char *sharing_text(enum orr_link_sharing sharing)
{
    switch (sharing) {
    case ORR_LINK_SPLITDUPLEX:
        return "each direction its own";
    case ORR_LINK_FATPIPE:
        return "each transfer its own";
    default:
        return "shared by both directions";
    }
}

static const struct orr_link_desc *
link_partner(const struct orr_machine_desc *desc, unsigned hint, const char *id)
{
    if (hint < desc->nlinks && strcmp(desc->links[hint].id, id) == 0)
        return &desc->links[hint];
    for (unsigned i = 0; i < desc->nlinks; i++)
        if (strcmp(desc->links[i].id, id) == 0)
            return &desc->links[i];
    return NULL;
}

static void diff_links(struct differences *d)
{
    for (unsigned i = 0; i < d->a->nlinks; i++) {
        const struct orr_link_desc *a = &d->a->links[i];
        const struct orr_link_desc *b = link_partner(d->b, i, a->id);

        if (!b) {
            differences_add(d, "links", a->id, "", "there", "");
            continue;
        }
        compare_value(d, "links", a->id, "bandwidth", a->bandwidth / 1e9,
                      b->bandwidth / 1e9, "GB/s");
        compare_value(d, "links", a->id, "latency", a->latency * 1e6,
                      b->latency * 1e6, "us");
        if (a->sharing != b->sharing)
            differences_add(d, "links", a->id, "sharing",
                            sharing_text(a->sharing), sharing_text(b->sharing));
        diff_props(d, "links", a->id, a->props, a->nprops, b->props, b->nprops);
    }
    for (unsigned i = 0; i < d->b->nlinks; i++)
        if (!link_partner(d->a, i, d->b->links[i].id))
            differences_add(d, "links", d->b->links[i].id, "", "", "there");
}

/* "Host, PCIe-CUDA0 (down)", owned. */
static char *hops_text(const struct orr_machine_desc *desc,
                       const struct orr_route_desc *route)
{
    char *text = strdup(route->nhops ? "" : "no links");

    for (unsigned i = 0; i < route->nhops && text; i++) {
        enum orr_hop_direction dir = route->hops[i].direction;
        char *longer = tool_format("%s%s%s%s", text, i ? ", " : "",
                                   desc->links[route->hops[i].link].id,
                                   dir == ORR_HOP_UP     ? " (up)"
                                   : dir == ORR_HOP_DOWN ? " (down)"
                                                         : "");

        free(text);
        text = longer;
    }
    return text;
}

static int route_partner(const struct orr_machine_desc *from,
                         const struct orr_route_desc *route,
                         const struct orr_machine_desc *to)
{
    int src = orr_machine_desc_host(to, from->hosts[route->src].id);
    int dst = orr_machine_desc_host(to, from->hosts[route->dst].id);

    return src < 0 || dst < 0
               ? -1
               : orr_machine_desc_route(to, (unsigned)src, (unsigned)dst);
}

static void route_lost(struct differences *d,
                       const struct orr_machine_desc *desc,
                       const struct orr_route_desc *route, const char *item)
{
    char *hops = hops_text(desc, route);

    if (!hops)
        d->rc = -ENOMEM;
    else
        differences_add(d, "routes", item, "", desc == d->a ? hops : "",
                        desc == d->b ? hops : "");
    free(hops);
}

static void route_changed(struct differences *d, const struct orr_route_desc *a,
                          const struct orr_route_desc *b, const char *item)
{
    char *left = hops_text(d->a, a), *right = hops_text(d->b, b);

    if (!left || !right)
        d->rc = -ENOMEM;
    else if (strcmp(left, right) != 0)
        differences_add(d, "routes", item, "links", left, right);
    free(left);
    free(right);
}

static void diff_routes(struct differences *d)
{
    for (int side = 0; side < 2; side++) {
        const struct orr_machine_desc *from = side ? d->b : d->a;
        const struct orr_machine_desc *to = side ? d->a : d->b;

        for (unsigned i = 0; i < from->nroutes; i++) {
            const struct orr_route_desc *route = &from->routes[i];
            int other = route_partner(from, route, to);
            char item[VALUE];

            snprintf(item, sizeof(item), "%.50s to %.50s",
                     from->hosts[route->src].id, from->hosts[route->dst].id);
            if (other < 0)
                route_lost(d, from, route, item);
            else if (side == 0)
                route_changed(d, route, &to->routes[other], item);
        }
    }
}

/* ---- bus parameters, costs ---- */

static void bus_node_text(const struct orr_machine_desc *desc, unsigned node,
                          char text[VALUE])
{
    if (node == 0)
        snprintf(text, VALUE, "RAM");
    else if (node <= desc->ncuda)
        snprintf(text, VALUE, "CUDA%u", node - 1);
    else
        snprintf(text, VALUE, "OpenCL%u", node - 1 - desc->ncuda);
}

/* The node of that name in the other machine, -1 without. */
static int node_partner(const struct orr_machine_desc *from, unsigned node,
                        const struct orr_machine_desc *to)
{
    unsigned cuda = from->ncuda;

    if (node == 0)
        return 0;
    if (node <= cuda)
        return node <= to->ncuda ? (int)node : -1;
    return node - cuda <= to->nopencl ? (int)(node - cuda + to->ncuda) : -1;
}

static void diff_matrices(struct differences *d)
{
    const struct orr_machine_desc *a = d->a, *b = d->b;

    if (a->bus_measured != b->bus_measured)
        differences_add(d, "bus", "figures", "source",
                        a->bus_measured ? "bus files" : "routes",
                        b->bus_measured ? "bus files" : "routes");
    for (unsigned i = 0; i < a->nnodes; i++)
        for (unsigned j = 0; j < a->nnodes; j++) {
            int i2 = node_partner(a, i, b), j2 = node_partner(a, j, b);
            size_t at = (size_t)i * a->nnodes + j, at2;
            char from[VALUE], to[VALUE], item[2 * VALUE + 8];

            if (i2 < 0 || j2 < 0)
                continue; /* reported among the hosts */
            at2 = (size_t)i2 * b->nnodes + (unsigned)j2;
            bus_node_text(a, i, from);
            bus_node_text(a, j, to);
            snprintf(item, sizeof(item), "%s to %s", from, to);
            compare_value(d, "bus", item, "bandwidth", a->bandwidth[at],
                          b->bandwidth[at2], "MB/s");
            compare_value(d, "bus", item, "latency", a->latency[at],
                          b->latency[at2], "us");
        }
}

static void diff_costs(struct differences *d)
{
    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        compare_value(d, "costs",
                      orr_cost_fields[i].name, "",
                      orr_machine_desc_get_cost(d->a, i),
                      orr_machine_desc_get_cost(d->b, i), "us");
}

static void diff_machine(struct differences *d)
{
    if (!machine_texts_are_same(d->a->provenance, d->b->provenance))
        differences_add(d, "machine", "figures", "provenance",
                        d->a->provenance ? d->a->provenance : "not stated",
                        d->b->provenance ? d->b->provenance : "not stated");
    diff_props(d, "machine", "description", d->a->props, d->a->nprops,
               d->b->props, d->b->nprops);
    diff_props(d, "machine", "SimGrid option", d->a->config, d->a->nconfig,
               d->b->config, d->b->nconfig);
}

/* ---- models ---- */

struct model {
    char *symbol;                /* owned */
    struct orr_model_file *file; /* owned; NULL: broken */
};

struct models {
    struct model *items;
    unsigned n;
};

static int diff_models_add(const struct perfmodel_item *item, void *arg)
{
    struct models *models = arg;
    struct model *model = orr_array_add(models->items, models->n);
    struct orr_error err = {""};
    int rc;

    if (!model)
        return -ENOMEM;
    model->symbol = strdup(item->symbol);
    if (!model->symbol)
        return -ENOMEM;
    rc = orr_model_file_read(item->path, &model->file, &err);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        tool_error("%s", err.text);
    return 0;
}

static void models_done(struct models *models)
{
    for (unsigned i = 0; i < models->n; i++) {
        free(models->items[i].symbol);
        orr_model_file_free(models->items[i].file);
    }
    free(models->items);
}

static const struct model *diff_models_find(const struct models *models,
                                            const char *symbol)
{
    for (unsigned i = 0; i < models->n; i++)
        if (strcmp(models->items[i].symbol, symbol) == 0)
            return &models->items[i];
    return NULL;
}

/* Differences of two combs in the same kernels. */
struct row_tally {
    unsigned equal, changed, lost, found; /* found: only in b */
    double sum_log;                       /* Σ ln(mean of b / mean of a) */
};

static const struct orr_model_row *
comb_find_row(const struct orr_model_comb *comb, unsigned impl, uint32_t hash)
{
    return impl < comb->nimpls
               ? orr_model_impl_find_row(&comb->impls[impl], hash)
               : NULL;
}

static struct row_tally tally_rows(const struct orr_model_comb *a,
                                   const struct orr_model_comb *b)
{
    struct row_tally t = {0};

    for (unsigned i = 0; i < a->nimpls; i++)
        for (unsigned r = 0; r < a->impls[i].nrows; r++) {
            const struct orr_model_row *x = &a->impls[i].rows[r];
            const struct orr_model_row *y = comb_find_row(b, i, x->hash);

            if (!y) {
                t.lost++;
            } else if (values_are_same(x->mean, y->mean) &&
                       values_are_same(x->dev, y->dev) && x->n == y->n) {
                t.equal++;
            } else {
                t.changed++;
                if (x->mean > 0 && y->mean > 0)
                    t.sum_log += log(y->mean / x->mean);
            }
        }
    for (unsigned i = 0; i < b->nimpls; i++)
        for (unsigned r = 0; r < b->impls[i].nrows; r++)
            t.found += !comb_find_row(a, i, b->impls[i].rows[r].hash);
    return t;
}

static bool same_fits(const struct orr_model_comb *a,
                      const struct orr_model_comb *b)
{
    for (unsigned i = 0; i < a->nimpls && i < b->nimpls; i++) {
        const struct orr_model_fit *x = &a->impls[i].fit, *y = &b->impls[i].fit;

        if (!values_are_same(x->alpha, y->alpha) ||
            !values_are_same(x->beta, y->beta) ||
            !values_are_same(x->a, y->a) || !values_are_same(x->b, y->b) ||
            !values_are_same(x->c, y->c) || x->ncoeff != y->ncoeff)
            return false;
        for (unsigned c = 0; c < x->ncoeff; c++)
            if (!values_are_same(x->coeff[c], y->coeff[c]))
                return false;
    }
    return a->nimpls == b->nimpls;
}

static void diff_comb(struct differences *d, const char *symbol,
                      const struct orr_model_comb *a,
                      const struct orr_model_comb *b)
{
    struct row_tally t = tally_rows(a, b);
    char arch[PERFMODEL_TEXT], item[2 * VALUE], aspect[VALUE];
    char left[VALUE], right[VALUE];

    perfmodel_arch_text(a->devices, a->ndevices, arch);
    snprintf(item, sizeof(item), "%.180s on %s", symbol, arch);
    if (t.changed) {
        snprintf(aspect, sizeof(aspect), "%u of %u times differ, mean factor",
                 t.changed, t.changed + t.equal);
        snprintf(right, sizeof(right), "%.4g", exp(t.sum_log / t.changed));
        differences_add(d, "models", item, aspect, "1", right);
    }
    if (t.lost || t.found) {
        snprintf(left, sizeof(left), "%u", t.lost);
        snprintf(right, sizeof(right), "%u", t.found);
        differences_add(d, "models", item, "entries of its own", left, right);
    }
    if (!same_fits(a, b))
        differences_add(d, "models", item, "regression", "one", "another");
}

static void diff_files(struct differences *d, const char *symbol,
                       const struct orr_model_file *a,
                       const struct orr_model_file *b)
{
    for (int side = 0; side < 2; side++) {
        const struct orr_model_file *from = side ? b : a, *to = side ? a : b;

        for (unsigned c = 0; c < from->ncombs; c++) {
            const struct orr_model_comb *comb = &from->combs[c];
            const struct orr_model_comb *other =
                orr_model_file_find_comb(to, comb->devices, comb->ndevices, 0);
            char arch[PERFMODEL_TEXT], item[2 * VALUE];

            if (other && side == 0)
                diff_comb(d, symbol, comb, other);
            if (other)
                continue;
            perfmodel_arch_text(comb->devices, comb->ndevices, arch);
            snprintf(item, sizeof(item), "%.180s on %s", symbol, arch);
            differences_add(d, "models", item, "", side ? "" : "there",
                            side ? "there" : "");
        }
    }
}

static void diff_models(struct differences *d)
{
    struct models a = {0}, b = {0};

    if (machine_models_each(d->a, diff_models_add, &a) < 0 ||
        machine_models_each(d->b, diff_models_add, &b) < 0)
        d->rc = -ENOMEM;
    for (unsigned i = 0; i < a.n && d->rc == 0; i++) {
        const struct model *other = diff_models_find(&b, a.items[i].symbol);

        if (!other)
            differences_add(d, "models", a.items[i].symbol, "", "there", "");
        else if (a.items[i].file && other->file)
            diff_files(d, a.items[i].symbol, a.items[i].file, other->file);
        else if (a.items[i].file || other->file)
            differences_add(d, "models", a.items[i].symbol, "file",
                            a.items[i].file ? "whole" : "broken",
                            other->file ? "whole" : "broken");
    }
    for (unsigned i = 0; i < b.n && d->rc == 0; i++)
        if (!diff_models_find(&a, b.items[i].symbol))
            differences_add(d, "models", b.items[i].symbol, "", "", "there");
    models_done(&a);
    models_done(&b);
}

/* ---- output ---- */

static bool same_change(const struct difference *x, const struct difference *y)
{
    return x->section == y->section && !strcmp(x->aspect, y->aspect) &&
           !strcmp(x->a, y->a) && !strcmp(x->b, y->b);
}

#define NAMED 6 /* items that a line names */

/* Items with the same change share a line: "CUDA0, CUDA1, … and 4 more". */
static void print_same_changes(const struct differences *d, unsigned first,
                               bool *printed)
{
    unsigned named = 0, more = 0;

    for (unsigned i = first; i < d->n; i++) {
        if (printed[i] || !same_change(&d->items[first], &d->items[i]))
            continue;
        printed[i] = true;
        if (named == NAMED)
            more++;
        else
            printf("%s%s", named++ ? ", " : "  ", d->items[i].item);
    }
    if (more)
        printf(" and %u more", more);
}

static int print_differences_text(const struct differences *d)
{
    bool *printed = calloc(d->n + (size_t)1, sizeof(*printed));
    const char *section = "";

    if (!printed)
        return -ENOMEM;

    for (unsigned i = 0; i < d->n; i++) {
        const struct difference *item = &d->items[i];

        if (printed[i])
            continue;
        if (strcmp(section, item->section) != 0)
            printf("%s%s\n", *section ? "\n" : "", item->section);
        section = item->section;
        print_same_changes(d, i, printed);
        if (!*item->a || !*item->b) {
            const char *what = *item->a ? item->a : item->b;

            printf(": only in %s%s%s\n", *item->a ? d->a->name : d->b->name,
                   strcmp(what, "there") ? ", over " : "",
                   strcmp(what, "there") ? what : "");
        } else {
            printf(": %s%s%s -> %s\n", item->aspect, *item->aspect ? " " : "",
                   item->a, item->b);
        }
    }
    free(printed);
    if (d->n == 0)
        printf("%s and %s are equal\n", d->a->name, d->b->name);
    return 0;
}

static json_t *value_or_null(const char *text)
{
    return *text ? json_string(text) : json_null();
}

static int print_differences_json(const struct differences *d)
{
    json_t *items = json_array(), *root;

    for (unsigned i = 0; i < d->n; i++) {
        const struct difference *item = &d->items[i];

        json_array_append_new(items,
                              json_pack("{s:s, s:s, s:o, s:o, s:o}", "section",
                                        item->section, "item", item->item,
                                        "aspect", value_or_null(item->aspect),
                                        "a", value_or_null(item->a), "b",
                                        value_or_null(item->b)));
    }
    root = json_pack("{s:s, s:s, s:b, s:o}", "a", d->a->name, "b", d->b->name,
                     "equal", d->n == 0, "differences", items);
    if (!root || json_array_size(items) != d->n) {
        json_decref(root);
        return -ENOMEM;
    }
    return tool_json_print(root);
}

static int diff_machines(const struct orr_machine_desc *a,
                         const struct orr_machine_desc *b, bool json)
{
    struct differences d = {.a = a, .b = b};
    int result;

    diff_machine(&d);
    diff_hosts(&d);
    diff_links(&d);
    diff_routes(&d);
    diff_matrices(&d);
    diff_costs(&d);
    diff_models(&d);
    if (d.rc == 0 && json)
        d.rc = print_differences_json(&d);
    else if (d.rc == 0)
        d.rc = print_differences_text(&d);
    if (d.rc < 0)
        tool_error("machine diff: out of memory");
    result = d.rc == 0 && d.n == 0 ? TOOL_OK : TOOL_FAILED;
    differences_done(&d);
    return fflush(stdout) == 0 ? result : TOOL_FAILED;
}

/* Both may have the same name. */
static int name_as_edited(struct orr_machine_desc *desc)
{
    char *name = tool_format("%s, edited", desc->name);
    int rc = name ? orr_desc_set_text(&desc->name, name) : -ENOMEM;

    free(name);
    if (rc < 0)
        tool_error("machine diff: out of memory");
    return rc;
}

static int open_and_compare(const char *name_a, const char *name_b,
                            const char *edits, const char *const *sampling_dirs,
                            bool json)
{
    struct orr_machine_desc *a, *b;
    int code = TOOL_FAILED;

    if (machine_open(name_a, NULL, sampling_dirs, &a, NULL) < 0)
        return TOOL_FAILED;
    if (machine_open(name_b, edits, sampling_dirs, &b, NULL) == 0) {
        if (!edits || name_as_edited(b) == 0)
            code = diff_machines(a, b, json);
        orr_machine_desc_free(b);
    }
    orr_machine_desc_free(a);
    return code;
}

int machine_diff(int argc, char **argv, const char *const *sampling_dirs,
                 bool json)
{
    const char *edits = NULL;
    const struct tool_option options[] = {
        {TOOL_JOINED, "set", &edits, NULL}, {0, "json", NULL, &json}, {0}};
    int noperands, code, rc;

    rc = tool_parse_operands(argc, argv, options, help, &noperands);
    if (rc <= 0) {
        code = rc < 0 ? TOOL_USAGE : TOOL_OK;
    } else if (noperands != 2 && (noperands != 1 || !edits)) {
        tool_error("machine diff: two machines are compared, or one with what "
                   "--set makes of it; see orrery machine diff --help");
        code = TOOL_USAGE;
    } else {
        code = open_and_compare(argv[1], argv[noperands], edits, sampling_dirs,
                                json);
    }
    free((char *)(uintptr_t)edits);
    return code;
}
