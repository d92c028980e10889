/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/text.c - see text.h. No state. */
#include "platforms/text.h"

#include "core/base/number.h"
#include "platforms/desc_build.h"
#include "platforms/edit.h"
#include "platforms/locality.h"
#include "platforms/rates.h"
#include "platforms/speeds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static const char *const sharing_names[] = {
    [ORR_LINK_SHARED] = "shared by both directions",
    [ORR_LINK_SPLITDUPLEX] = "each direction its own",
    [ORR_LINK_FATPIPE] = "each transfer its own",
};

/* ---- text ---- */

/* "6.53 GB/s": three digits and a decimal prefix. */
static void print_rate(FILE *out, double per_second, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    unsigned i = 0;

    while (i < 5 && per_second >= 999.5) {
        per_second /= 1000;
        i++;
    }
    orr_fprintf(out, "%.3g %s%s/s", per_second, prefixes[i], unit);
}

static bool host_is_device(const struct orr_host_desc *host)
{
    return orr_host_desc_number(host, "CUDA") >= 0 ||
           orr_host_desc_number(host, "OpenCL") >= 0;
}

/* "  peak fp32 19.5 Tflop/s, fp64 9.7 Tflop/s; memory 1.56 TB/s"; nothing of a
 * host that states none. */
static void print_rates(FILE *out, const struct orr_machine_desc *desc,
                        unsigned host, const char *of)
{
    static const char *const names[] = {"fp32", "fp64", "fp32 tensor",
                                        "fp64 tensor", "memory"};
    bool any = false;

    for (unsigned r = 0; r < ORR_NRATES; r++) {
        double rate = orr_machine_desc_rate(desc, host, r);

        if (isnan(rate))
            continue;
        if (!any)
            fprintf(out, "  %-10s  %s%s ", "", of,
                    r == ORR_RATE_MEMORY ? "" : "peak");
        else
            fputs(r == ORR_RATE_MEMORY ? "; " : ", ", out);
        any = true;
        fprintf(out, "%s ", names[r]);
        print_rate(out, rate, r == ORR_RATE_MEMORY ? "B" : "flop");
    }
    if (any)
        fputc('\n', out);
}

static void machine_print_device(FILE *out, const struct orr_machine_desc *desc,
                                 unsigned h)
{
    const struct orr_host_desc *host = &desc->hosts[h];
    const char *model = orr_host_desc_prop(host, "model");
    const char *memory = orr_host_desc_prop(host, "memsize");
    const char *peer = orr_host_desc_prop(host, "memcpy_peer");

    fprintf(out, "  %-10s  %s", host->id, model ? model : "model not stated");
    if (memory)
        orr_fprintf(out, ", %.1f GiB", orr_strtod(memory, NULL) / (1 << 30));
    if (peer && strcmp(peer, "0") != 0)
        fprintf(out, ", copies directly from its peers");
    if (orr_host_desc_prop(host, ORR_PROP_MODELS_OF))
        fprintf(out, ", models of %s",
                orr_host_desc_prop(host, ORR_PROP_MODELS_OF));
    fputc('\n', out);
    print_rates(out, desc, h, "");
}

static void print_head(FILE *out, const struct orr_machine_desc *desc)
{
    int host = orr_machine_desc_host(desc, "MAIN");
    const char *model =
        host < 0 ? NULL : orr_host_desc_prop(&desc->hosts[host], "model");
    const char *origin =
        orr_props_find(desc->props, desc->nprops, ORR_PROP_ORIGIN);
    const char *licence =
        orr_props_find(desc->props, desc->nprops, ORR_PROP_LICENCE);

    fprintf(out, "%s\n", desc->name);
    if (desc->path)
        fprintf(out, "  %-10s  %s\n", "file", desc->path);
    fprintf(out, "  %-10s  %s\n", "figures",
            desc->provenance ? desc->provenance : "origin not stated");
    if (origin)
        fprintf(out, "  %-10s  %s\n", "origin", origin);
    if (licence)
        fprintf(out, "  %-10s  %s\n", "licence", licence);
    fprintf(out, "  %-10s  *.%s in %s%s\n", "models", desc->host,
            desc->sampling_dir ? desc->sampling_dir
                               : "the sampling directories",
            desc->sampling_dir ? "/codelets/45" : "");
    fprintf(out, "  %-10s  %u%s%s\n", "CPUs", desc->ncpu, model ? " of " : "",
            model ? model : "");
    if (host >= 0)
        print_rates(out, desc, (unsigned)host, "each: ");
}

/* Speeds other than those of the models, also of CPU hosts. */
static void print_speeds(FILE *out, const struct orr_host_desc *host)
{
    if (orr_host_desc_speed(host) != 1)
        orr_fprintf(out, "  %-10s  %.6g times the speed of its models\n", host->id,
                    orr_host_desc_speed(host));
    for (unsigned i = 0; i < host->nprops; i++) {
        size_t length;
        double speed;
        const char *pattern =
            orr_host_desc_kernel_speed(host, i, &length, &speed);

        if (pattern)
            orr_fprintf(out, "  %-10s  kernel[%.*s] at %.6g times the speed\n",
                        host->id, (int)length, pattern, speed);
    }
}

/* "512 KiB": bytes in the largest binary unit that divides them. */
static void print_bytes(FILE *out, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = bytes;
    unsigned i = 0;

    while (i < 4 && value >= 1024 && fmod(value, 1024) == 0) {
        value /= 1024;
        i++;
    }
    if (value < 100000)
        orr_fprintf(out, "%.0f %s", value, units[i]);
    else
        orr_fprintf(out, "%.1f GiB", bytes / (1 << 30));
}

/* The NUMA nodes, where anything is known of them. */
static void machine_print_numa_nodes(FILE *out,
                                     const struct orr_machine_desc *desc,
                                     const struct orr_locality *locality)
{
    bool hosts = orr_machine_desc_has_storage(desc);

    for (unsigned i = 0; i < locality->nnodes; i++) {
        const struct orr_locality_node *node = &locality->nodes[i];

        if (locality->nnodes == 1 && node->package < 0 && node->memory <= 0)
            return;
        if (hosts && node->number == 0) {
            fputs("  files       on a file system that the hosts share\n", out);
            continue;
        }
        fprintf(out, hosts ? "  host %-5u  " : "  NUMA %-5u  ", node->number);
        if (node->memory > 0) {
            print_bytes(out, node->memory);
            fputs(", ", out);
        }
        fprintf(out, "%u CPU%s", node->ncpus, node->ncpus == 1 ? "" : "s");
        if (node->package >= 0)
            fprintf(out, " of package %d", node->package);
        for (unsigned h = 0; locality->memories && h < desc->nhosts; h++)
            if (host_is_device(&desc->hosts[h]) &&
                orr_host_desc_numa(&desc->hosts[h]) == node->number)
                fprintf(out, ", %s", desc->hosts[h].id);
        fputc('\n', out);
    }
}

/* The least value of a CPU's property above `last`; -1: there is none. */
static double next_group(const struct orr_machine_desc *desc, const char *id,
                         double last)
{
    double next = -1;

    for (unsigned h = 0; h < desc->nhosts; h++) {
        double value = orr_host_desc_value(&desc->hosts[h], id);

        if (orr_host_desc_number(&desc->hosts[h], "CPU") >= 0 && value > last &&
            value < 65536 && (next < 0 || value < next))
            next = value;
    }
    return next;
}

static unsigned count_groups(const struct orr_machine_desc *desc,
                             const char *id)
{
    unsigned n = 0;

    for (double at = next_group(desc, id, -1); at >= 0;
         at = next_group(desc, id, at))
        n++;
    return n;
}

/* What says which CPUs are near each other. */
static void print_places(FILE *out, const struct orr_machine_desc *desc)
{
    static const struct {
        const char *id, *one, *several;
    } levels[] = {{ORR_PROP_PACKAGE, "package", "packages"},
                  {ORR_PROP_NUMA, "NUMA node", "NUMA nodes"},
                  {ORR_PROP_L3, "third-level cache", "third-level caches"}};
    const char *between = "  places      ";

    for (unsigned k = 0; k < sizeof(levels) / sizeof(levels[0]); k++) {
        unsigned n = count_groups(desc, levels[k].id);

        if (n == 0)
            continue;
        fprintf(out, "%s%u %s", between, n,
                n == 1 ? levels[k].one : levels[k].several);
        between = ", ";
    }
    if (*between == ',')
        fputs(": lws steals from the nearest\n", out);
}

/* Caches are those of the first CPU. */
static void print_caches(FILE *out, const struct orr_locality *locality)
{
    const char *between = "  caches      ";

    for (unsigned level = 0; level < ORR_CACHE_LEVELS; level++) {
        double bytes = locality->nodes[0].caches[level];

        if (bytes <= 0)
            continue;
        fprintf(out, "%sL%u ", between, level + 1);
        print_bytes(out, bytes);
        between = ", ";
    }
    if (*between == ',')
        fputc('\n', out);
}

static void print_locality(FILE *out, const struct orr_machine_desc *desc)
{
    struct orr_locality locality;

    if (orr_locality_init(desc, &locality) < 0)
        return; /* less is shown, but correct */
    print_caches(out, &locality);
    print_places(out, desc);
    machine_print_numa_nodes(out, desc, &locality);
    orr_locality_done(&locality);
}

/* GPUs that exist, but of which the description has no parameters. */
static void print_gpus_seen(FILE *out, const struct orr_machine_desc *desc)
{
    int host = orr_machine_desc_host(desc, "MAIN");

    for (unsigned i = 0; host >= 0; i++) {
        const struct orr_host_desc *at = &desc->hosts[host];
        const char *model, *pci, *numa, *memory;
        char id[32];

        snprintf(id, sizeof(id), "gpu%u", i);
        model = orr_host_desc_prop(at, id);
        if (!model)
            return;
        snprintf(id, sizeof(id), "gpu%u-pci", i);
        pci = orr_host_desc_prop(at, id);
        snprintf(id, sizeof(id), "gpu%u-numa", i);
        numa = orr_host_desc_prop(at, id);
        snprintf(id, sizeof(id), "gpu%u-memory", i);
        memory = orr_host_desc_prop(at, id);
        fprintf(out, "  GPU %-6u  %s, PCI %s%s%s", i, model, pci ? pci : "?",
                numa ? ", near NUMA " : "", numa ? numa : "");
        if (memory)
            orr_fprintf(out, ", %.1f GiB", orr_strtod(memory, NULL) / (1 << 30));
        fputc('\n', out);
    }
}

static void print_costs(FILE *out, const struct orr_machine_desc *desc)
{
    for (unsigned i = 0; i < ORR_NCOSTS; i++) {
        double cost = orr_machine_desc_get_cost(desc, i);

        if (!isnan(cost))
            orr_fprintf(out, "  cost of %s: %g us\n",
                        orr_cost_fields[i].name, cost);
    }
}

static void desc_node_name(const struct orr_machine_desc *desc, unsigned node,
                           char name[24])
{
    if (node == 0)
        snprintf(name, 24, "RAM");
    else if (node <= desc->ncuda)
        snprintf(name, 24, "CUDA%u", node - 1);
    else
        snprintf(name, 24, "OpenCL%u", node - 1 - desc->ncuda);
}

static void print_matrix(FILE *out, const struct orr_machine_desc *desc,
                         const char *title, const double *matrix, int digits)
{
    char name[24];

    fprintf(out, "\n%s, %s\n%-10s", title,
            desc->bus_measured ? "from the bus files" : "from the routes",
            "from / to");
    for (unsigned j = 0; j < desc->nnodes; j++) {
        desc_node_name(desc, j, name);
        fprintf(out, " %9s", name);
    }
    for (unsigned i = 0; i < desc->nnodes; i++) {
        desc_node_name(desc, i, name);
        fprintf(out, "\n%-10s", name);
        for (unsigned j = 0; j < desc->nnodes; j++) {
            double value = matrix[(size_t)i * desc->nnodes + j];

            if (i == j || isnan(value))
                fprintf(out, " %9s", i == j ? "-" : "?");
            else
                orr_fprintf(out, " %9.*f", digits, value);
        }
    }
    fputc('\n', out);
}

static void print_links(FILE *out, const struct orr_machine_desc *desc)
{
    int width = 4;

    for (unsigned i = 0; i < desc->nlinks; i++) {
        size_t length = strlen(desc->links[i].id);

        if (length < 40 && (int)length > width)
            width = (int)length;
    }
    fprintf(out, "\nLinks\n");
    for (unsigned i = 0; i < desc->nlinks; i++) {
        const struct orr_link_desc *link = &desc->links[i];

        fprintf(out, "  %-*s  ", width, link->id);
        print_rate(out, link->bandwidth, "B");
        orr_fprintf(out, ", %g us, %s\n", link->latency * 1e6,
                    sharing_names[link->sharing]);
    }
}

void orr_machine_desc_print(const struct orr_machine_desc *desc, FILE *out)
{
    print_head(out, desc);
    print_locality(out, desc);
    print_gpus_seen(out, desc);
    for (unsigned i = 0; i < desc->nhosts; i++)
        if (host_is_device(&desc->hosts[i]))
            machine_print_device(out, desc, i);
    for (unsigned i = 0; i < desc->nhosts; i++)
        print_speeds(out, &desc->hosts[i]);
    print_costs(out, desc);
    if (desc->nnodes > 1) {
        print_matrix(out, desc, "Bandwidth in MB/s", desc->bandwidth, 0);
        print_matrix(out, desc, "Latency in us", desc->latency, 1);
    }
    if (desc->nlinks)
        print_links(out, desc);
}

/* ---- JSON ---- The _new functions of jansson take ownership and pass NULL on,
 * so that one flag checked at the end covers all allocations. */

struct json_writer {
    bool failed;
};

static json_t *json_made(struct json_writer *w, json_t *value)
{
    if (!value)
        w->failed = true;
    return value;
}

static void json_object_put(struct json_writer *w, json_t *object,
                            const char *key, json_t *value)
{
    if (json_object_set_new(object, key, json_made(w, value)) < 0)
        w->failed = true;
}

static void json_array_put(struct json_writer *w, json_t *array, json_t *value)
{
    if (json_array_append_new(array, json_made(w, value)) < 0)
        w->failed = true;
}

static json_t *json_number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *props_object(struct json_writer *w,
                            const struct orr_prop_desc *props, unsigned nprops)
{
    json_t *object = json_made(w, json_object());

    for (unsigned i = 0; i < nprops; i++)
        json_object_put(w, object, props[i].id, json_string(props[i].value));
    return object;
}

/* Adds those that the host states, by their properties' names less "orrery-". */
static void put_rates(struct json_writer *w, json_t *object,
                      const struct orr_machine_desc *desc, unsigned host)
{
    json_t *rates = json_made(w, json_object());

    for (unsigned r = 0; r < ORR_NRATES; r++) {
        double rate = orr_machine_desc_rate(desc, host, r);

        if (!isnan(rate))
            json_object_put(w, rates, orr_rate_prop(r) + strlen("orrery-"),
                            json_number_or_null(rate));
    }
    if (json_object_size(rates))
        json_object_put(w, object, "rates", json_incref(rates));
    json_decref(rates);
}

static json_t *hosts_array(struct json_writer *w,
                           const struct orr_machine_desc *desc)
{
    json_t *array = json_made(w, json_array());

    for (unsigned i = 0; i < desc->nhosts; i++) {
        const struct orr_host_desc *host = &desc->hosts[i];
        json_t *object = json_made(w, json_object());

        json_object_put(w, object, "id", json_string(host->id));
        json_object_put(w, object, "flops", json_number_or_null(host->speed));
        json_object_put(w, object, "properties",
                        props_object(w, host->props, host->nprops));
        put_rates(w, object, desc, i);
        json_array_put(w, array, object);
    }
    return array;
}

static json_t *links_array(struct json_writer *w,
                           const struct orr_machine_desc *desc)
{
    static const char *const policies[] = {
        [ORR_LINK_SHARED] = "SHARED",
        [ORR_LINK_SPLITDUPLEX] = "SPLITDUPLEX",
        [ORR_LINK_FATPIPE] = "FATPIPE",
    };
    json_t *array = json_made(w, json_array());

    for (unsigned i = 0; i < desc->nlinks; i++) {
        const struct orr_link_desc *link = &desc->links[i];
        json_t *object = json_made(w, json_object());

        json_object_put(w, object, "id", json_string(link->id));
        json_object_put(w, object, "bytes_per_second",
                        json_number_or_null(link->bandwidth));
        json_object_put(w, object, "latency_us",
                        json_number_or_null(link->latency * 1e6));
        json_object_put(w, object, "sharing",
                        json_string(policies[link->sharing]));
        json_object_put(w, object, "properties",
                        props_object(w, link->props, link->nprops));
        json_array_put(w, array, object);
    }
    return array;
}

static json_t *hops_array(struct json_writer *w,
                          const struct orr_machine_desc *desc,
                          const struct orr_route_desc *route)
{
    json_t *array = json_made(w, json_array());

    for (unsigned i = 0; i < route->nhops; i++) {
        enum orr_hop_direction dir = route->hops[i].direction;
        json_t *object = json_made(w, json_object());

        json_object_put(w, object, "link",
                        json_string(desc->links[route->hops[i].link].id));
        if (dir != ORR_HOP_NONE)
            json_object_put(w, object, "direction",
                            json_string(dir == ORR_HOP_UP ? "UP" : "DOWN"));
        json_array_put(w, array, object);
    }
    return array;
}

static json_t *routes_array(struct json_writer *w,
                            const struct orr_machine_desc *desc)
{
    json_t *array = json_made(w, json_array());

    for (unsigned i = 0; i < desc->nroutes; i++) {
        const struct orr_route_desc *route = &desc->routes[i];
        json_t *object = json_made(w, json_object());

        json_object_put(w, object, "from",
                        json_string(desc->hosts[route->src].id));
        json_object_put(w, object, "to",
                        json_string(desc->hosts[route->dst].id));
        json_object_put(w, object, "links", hops_array(w, desc, route));
        json_array_put(w, array, object);
    }
    return array;
}

static json_t *matrix_array(struct json_writer *w,
                            const struct orr_machine_desc *desc,
                            const double *matrix)
{
    json_t *rows = json_made(w, json_array());

    for (unsigned i = 0; i < desc->nnodes; i++) {
        json_t *row = json_made(w, json_array());

        for (unsigned j = 0; j < desc->nnodes; j++)
            json_array_put(
                w, row,
                json_number_or_null(matrix[(size_t)i * desc->nnodes + j]));
        json_array_put(w, rows, row);
    }
    return rows;
}

static json_t *bus_object(struct json_writer *w,
                          const struct orr_machine_desc *desc)
{
    json_t *object = json_made(w, json_object()),
           *nodes = json_made(w, json_array());
    char name[24];

    for (unsigned i = 0; i < desc->nnodes; i++) {
        desc_node_name(desc, i, name);
        json_array_put(w, nodes, json_string(name));
    }
    json_object_put(w, object, "source",
                    json_string(desc->bus_measured ? "bus files" : "routes"));
    json_object_put(w, object, "nodes", nodes);
    json_object_put(w, object, "bandwidth_mb_per_s",
                    matrix_array(w, desc, desc->bandwidth));
    json_object_put(w, object, "latency_us",
                    matrix_array(w, desc, desc->latency));
    return object;
}

static json_t *costs_object(struct json_writer *w,
                            const struct orr_machine_desc *desc)
{
    json_t *object = json_made(w, json_object());

    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        json_object_put(
            w, object, orr_cost_fields[i].name,
            json_number_or_null(orr_machine_desc_get_cost(desc, i)));
    return object;
}

static json_t *edits_array(struct json_writer *w,
                           const struct orr_machine_desc *desc)
{
    json_t *array = json_made(w, json_array());

    for (unsigned i = 0; i < desc->nedits; i++) {
        char *members = orr_edit_echo_json(&desc->edits[i]), *object = NULL;

        if (!members ||
            asprintf(&object, "{%s, \"effect\": %s}", members,
                     desc->edits[i].effect ? "true" : "false") < 0)
            object = NULL;
        json_array_put(w, array, object ? json_loads(object, 0, NULL) : NULL);
        free(object);
        free(members);
    }
    return array;
}

/* ---- where things are ---- */

/* A whole number, null without. */
static json_t *number_or_null(double value)
{
    return value >= 0 ? json_integer((json_int_t)value) : json_null();
}

/* Numbers of the CPUs of which a property has that value. CPUs without the
 * property are in NUMA node 0, and in no package. */
static json_t *cpus_array(struct json_writer *w,
                          const struct orr_machine_desc *desc, const char *id,
                          unsigned number)
{
    json_t *array = json_made(w, json_array());
    double unsaid = strcmp(id, ORR_PROP_NUMA) == 0 ? 0 : -1;

    for (unsigned h = 0; h < desc->nhosts; h++) {
        int cpu = orr_host_desc_number(&desc->hosts[h], "CPU");
        double value = orr_host_desc_value(&desc->hosts[h], id);

        if (cpu >= 0 && (value < 0 ? unsaid : value) == number)
            json_array_put(w, array, json_integer(cpu));
    }
    return array;
}

static json_t *caches_array(struct json_writer *w,
                            const struct orr_locality_node *node)
{
    json_t *array = json_made(w, json_array());

    for (unsigned level = 0; level < ORR_CACHE_LEVELS; level++) {
        json_t *object;

        if (node->caches[level] <= 0)
            continue;
        object = json_made(w, json_object());
        json_object_put(w, object, "level", json_integer(level + 1));
        json_object_put(w, object, "bytes",
                        number_or_null(node->caches[level]));
        json_array_put(w, array, object);
    }
    return array;
}

static json_t *nodes_array(struct json_writer *w,
                           const struct orr_machine_desc *desc,
                           const struct orr_locality *locality)
{
    json_t *array = json_made(w, json_array());

    for (unsigned i = 0; i < locality->nnodes; i++) {
        const struct orr_locality_node *node = &locality->nodes[i];
        json_t *object = json_made(w, json_object());

        json_object_put(w, object, "number", json_integer(node->number));
        json_object_put(
            w, object, "host",
            text_or_null(node->host < 0 ? NULL : desc->hosts[node->host].id));
        json_object_put(w, object, "memory_bytes",
                        number_or_null(node->memory > 0 ? node->memory : -1));
        json_object_put(w, object, "package", number_or_null(node->package));
        json_object_put(w, object, "cpus",
                        cpus_array(w, desc, ORR_PROP_NUMA, node->number));
        json_object_put(w, object, "caches", caches_array(w, node));
        json_array_put(w, array, object);
    }
    return array;
}

/* The CPUs by the values of a property. */
static json_t *groups_array(struct json_writer *w,
                            const struct orr_machine_desc *desc, const char *id)
{
    json_t *array = json_made(w, json_array());

    for (double at = next_group(desc, id, -1); at >= 0;
         at = next_group(desc, id, at)) {
        json_t *object = json_made(w, json_object());

        json_object_put(w, object, "number", number_or_null(at));
        json_object_put(w, object, "cpus",
                        cpus_array(w, desc, id, (unsigned)at));
        json_array_put(w, array, object);
    }
    return array;
}

/* A GPU that MAIN has properties gpu<i>-… of. */
static json_t *gpu_seen(struct json_writer *w, const struct orr_host_desc *at,
                        unsigned i)
{
    static const struct {
        const char *property, *key;
    } properties[] = {{"numa", "numa_node"},
                      {"memory", "memory_bytes"},
                      {"bandwidth", "bytes_per_second"}};
    json_t *object = json_made(w, json_object());
    char id[32];

    snprintf(id, sizeof(id), "gpu%u", i);
    json_object_put(w, object, "id", json_string(id));
    json_object_put(w, object, "model",
                    text_or_null(orr_host_desc_prop(at, id)));
    snprintf(id, sizeof(id), "gpu%u-pci", i);
    json_object_put(w, object, "pci", text_or_null(orr_host_desc_prop(at, id)));
    for (unsigned k = 0; k < sizeof(properties) / sizeof(properties[0]); k++) {
        snprintf(id, sizeof(id), "gpu%u-%s", i, properties[k].property);
        json_object_put(w, object, properties[k].key,
                        number_or_null(orr_host_desc_value(at, id)));
    }
    return object;
}

/* Devices of the description, then GPUs that were seen and not measured. */
static json_t *gpus_array(struct json_writer *w,
                          const struct orr_machine_desc *desc)
{
    json_t *array = json_made(w, json_array());
    int main = orr_machine_desc_host(desc, "MAIN");

    for (unsigned h = 0; h < desc->nhosts; h++) {
        const struct orr_host_desc *host = &desc->hosts[h];
        json_t *object;

        if (!host_is_device(host))
            continue;
        object = json_made(w, json_object());
        json_object_put(w, object, "id", json_string(host->id));
        json_object_put(w, object, "model",
                        text_or_null(orr_host_desc_prop(host, "model")));
        json_object_put(w, object, "pci",
                        text_or_null(orr_host_desc_prop(host, "pci")));
        json_object_put(w, object, "numa_node",
                        number_or_null(orr_host_desc_value(host, "numa")));
        json_object_put(w, object, "memory_bytes",
                        number_or_null(orr_host_desc_value(host, "memsize")));
        json_array_put(w, array, object);
    }
    for (unsigned i = 0; main >= 0; i++) {
        char id[32];

        snprintf(id, sizeof(id), "gpu%u", i);
        if (!orr_host_desc_prop(&desc->hosts[main], id))
            break;
        json_array_put(w, array, gpu_seen(w, &desc->hosts[main], i));
    }
    return array;
}

static json_t *topology_object(struct json_writer *w,
                               const struct orr_machine_desc *desc)
{
    static const char *const counts[] = {"cores", "processors"};
    json_t *object = json_made(w, json_object());
    int main = orr_machine_desc_host(desc, "MAIN");
    struct orr_locality locality;

    if (main < 0 || orr_locality_init(desc, &locality) < 0) {
        w->failed = true;
        return object;
    }
    json_object_put(
        w, object, "model",
        text_or_null(orr_host_desc_prop(&desc->hosts[main], "model")));
    for (unsigned i = 0; i < 2; i++)
        json_object_put(
            w, object, counts[i],
            number_or_null(orr_host_desc_value(&desc->hosts[main], counts[i])));
    json_object_put(w, object, "packages",
                    groups_array(w, desc, ORR_PROP_PACKAGE));
    json_object_put(w, object, "third_level_caches",
                    groups_array(w, desc, ORR_PROP_L3));
    json_object_put(w, object, "numa_nodes", nodes_array(w, desc, &locality));
    json_object_put(w, object, "gpus", gpus_array(w, desc));
    orr_locality_done(&locality);
    return object;
}

int orr_machine_desc_to_json(const struct orr_machine_desc *desc,
                             struct json_t **ret)
{
    struct json_writer w = {false};
    json_t *root = json_made(&w, json_object());

    json_object_put(&w, root, "name", json_string(desc->name));
    json_object_put(&w, root, "file", text_or_null(desc->path));
    json_object_put(&w, root, "provenance", text_or_null(desc->provenance));
    json_object_put(&w, root, "origin",
                    text_or_null(orr_props_find(desc->props, desc->nprops,
                                                ORR_PROP_ORIGIN)));
    json_object_put(&w, root, "licence",
                    text_or_null(orr_props_find(desc->props, desc->nprops,
                                                ORR_PROP_LICENCE)));
    json_object_put(&w, root, "models_host", json_string(desc->host));
    json_object_put(&w, root, "models_dir", text_or_null(desc->sampling_dir));
    json_object_put(&w, root, "cpus", json_integer(desc->ncpu));
    json_object_put(&w, root, "cuda_devices", json_integer(desc->ncuda));
    json_object_put(&w, root, "opencl_devices", json_integer(desc->nopencl));
    json_object_put(&w, root, "topology", topology_object(&w, desc));
    json_object_put(&w, root, "costs_us", costs_object(&w, desc));
    if (desc->nedits)
        json_object_put(&w, root, "edits", edits_array(&w, desc));
    json_object_put(&w, root, "bus", bus_object(&w, desc));
    json_object_put(&w, root, "hosts", hosts_array(&w, desc));
    json_object_put(&w, root, "links", links_array(&w, desc));
    json_object_put(&w, root, "routes", routes_array(&w, desc));
    json_object_put(&w, root, "simgrid_options",
                    props_object(&w, desc->config, desc->nconfig));
    json_object_put(&w, root, "properties",
                    props_object(&w, desc->props, desc->nprops));
    if (w.failed) {
        json_decref(root);
        return -ENOMEM;
    }
    *ret = root;
    return 0;
}
