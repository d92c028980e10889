/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/show.c - `orrery machine show`: a machine as text, JSON or a
 * picture. One thread.
 */
#include "core/base/grow.h"
#include "tools/common/edits.h"
#include "tools/common/json.h"
#include "tools/common/picture.h"
#include "tools/common/tool.h"
#include "tools/machine/cluster.h"
#include "tools/machine/machine.h"
#include "tools/machine/picture.h"

#include "platforms/text.h"
#include "platforms/units.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery machine show [NAME | -m NAME] [--set EDIT] [--json | --svg [FILE]]\n"
    "Describes a machine: one of `orrery machine list`, a platform file, a packed\n"
    "machine; without NAME this very machine; or a cluster, such as\n"
    "'4*epyc-64 + ib 200Gb/s', its nodes and its network. Memories, devices, costs,\n"
    "bandwidths and latencies, links, routes, and the kernel models that a simulation\n"
    "would use.\n"
    "  -m, --machine NAME         the machine\n" EDITS_HELP
    "      --json                 everything as one JSON object\n"
    "      --svg [FILE]           a picture instead (-: standard output; without FILE\n"
    "                             that, too, but NAME.svg where it is a terminal)\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine show hgx-h100-8 --svg hgx.svg\n"
    "         orrery machine show hgx-h100-8 --set 'cuda.count = 16'\n";

/* ---- models ---- */

/* Of one model file. */
struct model_row {
    char *symbol;   /* owned */
    char *path;     /* owned */
    char *problem;  /* owned; NULL: it could be read */
    char *archs;    /* owned; "cpu0 cuda0 cuda1" */
    unsigned nrows; /* entries, of all of them */
};

struct model_rows {
    struct model_row *items;
    unsigned n;
};

static void model_rows_done(struct model_rows *rows)
{
    for (unsigned i = 0; i < rows->n; i++) {
        free(rows->items[i].symbol);
        free(rows->items[i].path);
        free(rows->items[i].problem);
        free(rows->items[i].archs);
    }
    free(rows->items);
}

/* Which devices a file knows, and how many entries it has for them. */
static int model_row_read_archs(const struct orr_model_file *file,
                                struct model_row *row)
{
    char text[PERFMODEL_TEXT];

    row->archs = strdup("");
    for (unsigned c = 0; c < file->ncombs && row->archs; c++) {
        const struct orr_model_comb *comb = &file->combs[c];
        char *longer = tool_format(
            "%s%s%s", row->archs, c ? " " : "",
            perfmodel_arch_text(comb->devices, comb->ndevices, text));

        free(row->archs);
        row->archs = longer;
        for (unsigned i = 0; i < comb->nimpls; i++)
            row->nrows += comb->impls[i].nrows;
    }
    return row->archs ? 0 : -ENOMEM;
}

static int model_rows_add(const struct perfmodel_item *item, void *arg)
{
    struct model_rows *rows = arg;
    struct model_row *row = orr_array_add(rows->items, rows->n);
    struct orr_model_file *file = NULL;
    struct orr_error err = {""};
    int rc;

    if (!row)
        return -ENOMEM;
    *row = (struct model_row){.symbol = strdup(item->symbol),
                              .path = strdup(item->path)};
    if (!row->symbol || !row->path)
        return -ENOMEM;
    rc = orr_model_file_read(item->path, &file, &err);
    if (rc == 0)
        rc = model_row_read_archs(file, row);
    else if (rc != -ENOMEM) {
        row->problem = strdup(err.text[0] ? err.text : strerror(-rc));
        rc = row->problem ? 0 : -ENOMEM;
    }
    orr_model_file_free(file);
    return rc;
}

static int find_models(const struct orr_machine_desc *desc,
                       struct model_rows *rows)
{
    return machine_models_each(desc, model_rows_add, rows);
}

static void print_models(const struct model_rows *rows)
{
    int width = 0;

    printf("\nKernel models%s\n", rows->n ? "" : ": none");
    for (unsigned i = 0; i < rows->n; i++)
        if ((int)strlen(rows->items[i].symbol) > width)
            width = (int)strlen(rows->items[i].symbol);
    for (unsigned i = 0; i < rows->n; i++) {
        const struct model_row *row = &rows->items[i];

        printf("  %-*s  ", width, row->symbol);
        if (row->problem)
            printf("broken: %s\n", row->problem);
        else
            printf("%u entries: %s\n", row->nrows, row->archs);
    }
}

static json_t *archs_array(const char *archs)
{
    json_t *array = json_array();

    while (*archs) {
        size_t length = strcspn(archs, " ");

        json_array_append_new(array, json_stringn(archs, length));
        archs += length + strspn(archs + length, " ");
    }
    return array;
}

static json_t *models_array(const struct model_rows *rows)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < rows->n; i++) {
        const struct model_row *row = &rows->items[i];

        if (row->problem)
            json_array_append_new(
                array, json_pack("{s:o, s:o, s:o}", "symbol", tool_json_text(row->symbol),
                                 "file", tool_json_text(row->path), "error",
                                 tool_json_text(row->problem)));
        else
            json_array_append_new(
                array, json_pack("{s:o, s:o, s:i, s:o}", "symbol", tool_json_text(row->symbol),
                                 "file", tool_json_text(row->path), "entries", (int)row->nrows,
                                 "architectures", archs_array(row->archs)));
    }
    return array;
}

/* ---- routes ---- */

/* Whether route `b` is route `a` backwards. */
static bool is_reverse(const struct orr_route_desc *a,
                       const struct orr_route_desc *b)
{
    if (a->src != b->dst || a->dst != b->src || a->nhops != b->nhops)
        return false;
    for (unsigned i = 0; i < a->nhops; i++) {
        const struct orr_hop_desc *x = &a->hops[i];
        const struct orr_hop_desc *y = &b->hops[b->nhops - 1 - i];

        if (x->link != y->link ||
            (x->direction == ORR_HOP_NONE) != (y->direction == ORR_HOP_NONE) ||
            (x->direction != ORR_HOP_NONE && x->direction == y->direction))
            return false;
    }
    return true;
}

static void print_machine_route(const struct orr_machine_desc *desc, unsigned r)
{
    const struct orr_route_desc *route = &desc->routes[r];
    int back = orr_machine_desc_route(desc, route->dst, route->src);
    bool both = back >= 0 && is_reverse(route, &desc->routes[back]);

    if (both && (unsigned)back < r)
        return; /* printed with the other one */
    printf("  %-9s %s %-9s", desc->hosts[route->src].id, both ? "<->" : "-->",
           desc->hosts[route->dst].id);
    for (unsigned i = 0; i < route->nhops; i++) {
        enum orr_hop_direction dir = route->hops[i].direction;

        printf("%s %s%s", i ? "," : "", desc->links[route->hops[i].link].id,
               dir == ORR_HOP_UP     ? " (up)"
               : dir == ORR_HOP_DOWN ? " (down)"
                                     : "");
    }
    putchar('\n');
}

static void print_routes(const struct orr_machine_desc *desc)
{
    if (!desc->nroutes)
        return;
    printf("\nRoutes (<->: the same links backwards on the way back)\n");
    for (unsigned r = 0; r < desc->nroutes; r++)
        print_machine_route(desc, r);
}

/* "23.5 GiB", "21.3 GB/s", "4.08 ns" for properties whose unit is known; NULL
 * for others. Owned. */
static char *prop_value_text(const struct orr_prop_desc *prop)
{
    static const struct {
        const char *id, *before, *unit;
        double factor;
    } known[] = {
        {"memsize", "", "GiB", 1. / (1 << 30)},
        {"orrery-copy-bandwidth", "copies at ", "GB/s", 1e-9},
        {"orrery-copy-bandwidth-all", "all processors' at ", "GB/s", 1e-9},
        {"orrery-copy-latency", "copies begin after ", "ns", 1e9},
        {"orrery-copy-spread", "spread of copies ", "%", 100},
    };
    double value;
    int number, end = 0;

    if (sscanf(prop->id, "numa%5d-memory%n", &number, &end) == 1 && end &&
        !prop->id[end] && !orr_number_parse(prop->value, &value))
        return tool_format("%.3g GiB on NUMA node %d", value / (1 << 30),
                           number);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(prop->id, known[i].id) == 0 &&
            !orr_number_parse(prop->value, &value))
            return tool_format("%s%.3g %s", known[i].before,
                               value * known[i].factor, known[i].unit);
    return tool_format("%s %s", prop->id, prop->value);
}

/* Hosts that are neither processors nor devices. */
static void print_other_hosts(const struct orr_machine_desc *desc)
{
    bool any = false;

    for (unsigned h = 0; h < desc->nhosts; h++) {
        const struct orr_host_desc *host = &desc->hosts[h];

        if (strcmp(host->id, "MAIN") == 0 ||
            orr_host_desc_number(host, "CPU") >= 0 ||
            orr_host_desc_number(host, "CUDA") >= 0 ||
            orr_host_desc_number(host, "OpenCL") >= 0)
            continue;
        if (!any)
            printf("\nMemories and disks\n");
        any = true;
        printf("  %-9s", host->id);
        for (unsigned i = 0; i < host->nprops; i++) {
            char *text = prop_value_text(&host->props[i]);

            printf("%s %s", i ? "," : "", text ? text : host->props[i].id);
            free(text);
        }
        putchar('\n');
    }
}

/* ---- workers ---- */

/* Workers of a run by default: a device of CUDA and OpenCL is CUDA's, and each
 * device takes a core for its worker (sim/describe.c). */
struct workers {
    unsigned cpu, cuda, opencl;
};

static struct workers count_machine_workers(const struct orr_machine_desc *desc)
{
    struct workers n = {.cuda = desc->ncuda};

    if (desc->nopencl > desc->ncuda)
        n.opencl = desc->nopencl - desc->ncuda;
    if (desc->ncpu > n.cuda + n.opencl)
        n.cpu = desc->ncpu - n.cuda - n.opencl;
    return n;
}

static void print_workers(const struct orr_machine_desc *desc)
{
    struct workers n = count_machine_workers(desc);

    printf("\nWorkers\n  %u CPU", n.cpu);
    if (n.cuda)
        printf(", %u CUDA", n.cuda);
    if (n.opencl)
        printf(", %u OpenCL", n.opencl);
    printf("%s\n", n.cuda + n.opencl ? "; a core drives each device" : "");
}

static json_t *workers_object(const struct orr_machine_desc *desc)
{
    struct workers n = count_machine_workers(desc);

    return json_pack("{s:i, s:i, s:i}", "cpu", (int)n.cpu, "cuda", (int)n.cuda,
                     "opencl", (int)n.opencl);
}

/* ---- the verb ---- */

static int show_machine_json(const struct orr_machine_desc *desc,
                             const struct model_rows *models)
{
    json_t *root = NULL, *array = models_array(models);
    int rc = orr_machine_desc_to_json(desc, &root);

    /* A row that there was no memory for is missing. */
    if (rc == 0 &&
        (json_array_size(array) != models->n ||
         json_object_set(root, "models", array) < 0 ||
         json_object_set_new(root, "workers", workers_object(desc)) < 0))
        rc = -ENOMEM;
    if (rc == -ENOMEM)
        tool_error("machine show: out of memory");
    if (rc == 0 &&
        json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0) {
        tool_error("machine show: the description cannot be printed: out of memory?");
        rc = -EIO;
    }
    if (rc == 0)
        putchar('\n');
    json_decref(array);
    json_decref(root);
    return rc;
}

/* The picture of a machine, or else of a cluster. */
static int show_picture(const struct orr_machine_desc *desc,
                        const struct machine_cluster *cluster, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int rc = -ENOMEM;

    if (out) {
        rc = desc ? machine_picture(desc, out)
                  : machine_cluster_picture(cluster, out);
        if (fclose(out) != 0 || !text)
            rc = -ENOMEM;
    }
    if (rc < 0)
        tool_error("machine show: out of memory");
    else
        rc = tool_write_file(path, text, size);
    free(text);
    return rc;
}

static int show_machine(const struct orr_machine_desc *desc, bool json,
                        const char *svg)
{
    struct model_rows models = {0};
    int rc;

    if (svg)
        return show_picture(desc, NULL, svg);
    rc = find_models(desc, &models);
    if (rc == 0 && json)
        rc = show_machine_json(desc, &models);
    else if (rc == 0) {
        orr_machine_desc_print(desc, stdout);
        print_routes(desc);
        print_other_hosts(desc);
        print_workers(desc);
        print_models(&models);
    }
    model_rows_done(&models);
    return rc;
}

/* Returns 1 if it is none. */
static int show_cluster(const char *name, const char *edits,
                        const char *const *sampling_dirs, bool json, const char *svg, int *code)
{
    struct machine_cluster cluster;
    int rc = machine_cluster_open(name, edits, sampling_dirs, &cluster);

    if (rc == 1)
        return 1;
    if (rc == 0) {
        rc = svg ? show_picture(NULL, &cluster, svg)
                 : machine_cluster_show(&cluster, json);
        machine_cluster_close(&cluster);
    }
    *code = rc == 0 && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
    return 0;
}

/* What a picture of it is called. */
static const char *picture_name(const char *machine)
{
    if (machine && strchr(machine, '*')) /* the line of a cluster */
        return "cluster";
    return machine ? machine : "machine";
}

int machine_show(int argc, char **argv, const char *const *sampling_dirs,
                 bool json)
{
    const char *machine = NULL, *edits = NULL;
    struct picture picture = {0};
    const struct tool_option options[] = {
        {'m', "machine", &machine, NULL},
        {TOOL_JOINED, "set", &edits, NULL},
        {0, "json", NULL, &json},
        {0, "svg", &picture.path, &picture.wanted},
        {0}};
    struct orr_machine_desc *desc;
    int n = 0, rc = tool_parse_operands(argc, argv, options, help, &n);
    int most = machine ? 0 : 1;
    bool named = rc > 0 && picture_take(&picture, argv, &n, 0, most);
    int code;

    if (n > 0 && most > 0)
        machine = argv[1];
    if (rc <= 0)
        code = rc < 0 ? TOOL_USAGE : TOOL_OK;
    else if (!named || n > most || (json && picture.wanted))
        code = tool_fail(TOOL_USAGE,
                         "machine show: one NAME or -m NAME, and either --json "
                         "or --svg; see orrery machine show --help");
    else
        code = picture_choose(&picture, "machine show", picture_name(machine));
    if (rc > 0 && code == TOOL_OK && machine)
        rc = show_cluster(machine, edits, sampling_dirs, json, picture.path, &code);
    if (rc > 0 && code == TOOL_OK) {
        rc = machine_open(machine, edits, sampling_dirs, &desc, NULL);
        if (rc == 0) {
            rc = show_machine(desc, json, picture.path);
            orr_machine_desc_free(desc);
        }
        code = rc == 0 && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
    }
    picture_done(&picture, code);
    free((char *)(uintptr_t)edits);
    return code;
}
