/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/hosts_new.c - `orrery machine new hosts`: hosts that share a file system, as
 * one machine whose main memories are the file system, which has no cores, and then one
 * for each host. One thread.
 */
#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/machine/machine.h"

#include "platforms/desc_build.h"
#include "platforms/locality.h"
#include "platforms/packed.h"
#include "platforms/units.h"

#include <errno.h>
#include <starpu_config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery machine new hosts NAME --cores N --storage RATE [--hosts N]\n"
    "           [--memory BYTES] [--network RATE] [--disk RATE] [--latency TIME]\n"
    "Describes hosts that share a file system, for workflows: files are read from it\n"
    "and written to it, a host keeps what it has read or written, and a task has its\n"
    "cores and its memory on one host. docs/IMPORT.md says more.\n"
    "      --hosts N        default: 1; at most 15\n"
    "      --cores N        of each host; at most 256 of all\n"
    "      --memory BYTES   of each host, 64GB ...: what the tasks that run there at\n"
    "                       one time may take; default: it never limits\n"
    "      --storage RATE   of the file system, for all that is read and written at\n"
    "                       one time: 2GB/s, 10Gb/s\n"
    "      --network RATE   of each host, in each direction; default: it never limits\n"
    "      --disk RATE      of each host's local disk, where its files are kept: they\n"
    "                       come and go at most at this rate; default: it never\n"
    "                       limits\n"
    "      --latency TIME   until the first byte of a file is there; default: 1ms\n"
    "  -o, --output FILE    a platform file, NAME.xml; default: where -m finds NAME\n"
    "      --force          replace files that are there\n"
    "      --json           report as JSON what was made\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery machine new hosts lab --hosts 4 --cores 16 --memory 64GB \\\n"
    "             --storage 1GB/s && orrery compare -m lab -s eager,dmdas flow.json\n";

/* Borrowed from the command line. */
struct request {
    const char *hosts, *cores, *memory, *storage, *network, *disk, *latency;
    const char *output;
    bool force, json;
};

struct hosts_plan {
    unsigned hosts, cores;         /* cores of each */
    double memory;                 /* bytes of each, 0: unlimited */
    double storage, network, disk; /* bytes per second, 0: unlimited */
    double latency;                /* s */
};

/* ---- values ---- */

static int read_count(const char *option, const char *text, unsigned usual,
                      unsigned most, unsigned *ret)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : (long)usual;

    if (value < 1 || value > (long)most || (text && (end == text || *end))) {
        tool_error(
            "machine new hosts: %s %s: a whole number from 1 to %u is expected",
            option, text ? text : "", most);
        return -EINVAL;
    }
    *ret = (unsigned)value;
    return 0;
}

/* A quantity above 0; *ret is left alone without a text. "/s" is as good as "ps". */
static int read_quantity(const char *option, enum orr_quantity quantity,
                         const char *text, const char *such_as, double *ret)
{
    char buffer[64];
    size_t n;
    double value;

    if (!text)
        return 0;
    snprintf(buffer, sizeof(buffer), "%s", text);
    n = strlen(buffer);
    if (quantity == ORR_QUANTITY_BANDWIDTH && n > 2 &&
        !strcmp(buffer + n - 2, "/s"))
        memcpy(buffer + n - 2, "ps", 2);
    if (strlen(text) < sizeof(buffer) &&
        !orr_quantity_parse(quantity, buffer, &value) && value > 0) {
        *ret = value;
        return 0;
    }
    tool_error("machine new hosts: %s %s: a value such as %s is expected",
               option, text, such_as);
    return -EINVAL;
}

static int read_plan(const struct request *request, struct hosts_plan *plan)
{
    const unsigned most = STARPU_MAXNUMANODES - 1;
    int rc = read_count("--hosts", request->hosts, 1, most, &plan->hosts);

    if (!rc)
        rc = read_count("--cores", request->cores, 1,
                        STARPU_NMAXWORKERS / plan->hosts, &plan->cores);
    if (!rc)
        rc = read_quantity("--memory", ORR_QUANTITY_SIZE, request->memory,
                           "64GB", &plan->memory);
    if (!rc)
        rc = read_quantity("--storage", ORR_QUANTITY_BANDWIDTH,
                           request->storage, "2GB/s", &plan->storage);
    if (!rc)
        rc = read_quantity("--network", ORR_QUANTITY_BANDWIDTH,
                           request->network, "10Gb/s", &plan->network);
    if (!rc)
        rc = read_quantity("--disk", ORR_QUANTITY_BANDWIDTH, request->disk,
                           "500MB/s", &plan->disk);
    if (!rc)
        rc = read_quantity("--latency", ORR_QUANTITY_TIME, request->latency,
                           "1ms", &plan->latency);
    return rc;
}

/* ---- the description ---- */

struct build {
    const struct hosts_plan *plan;
    struct orr_machine_desc *desc;
    int storage; /* link */
    int network[STARPU_MAXNUMANODES],
        disk[STARPU_MAXNUMANODES]; /* links, -1: none */
    unsigned first_memory;         /* host RAM0 */
    int rc; /* the first error; what follows is left out */
};

static int kept(struct build *b, int result)
{
    if (result < 0 && b->rc == 0)
        b->rc = result;
    return result;
}

static void set_prop(struct build *b, unsigned host, const char *id,
                     const char *value)
{
    if (b->rc == 0)
        kept(b, orr_props_set(&b->desc->hosts[host].props,
                              &b->desc->hosts[host].nprops, id, value));
}

static void set_number(struct build *b, unsigned host, const char *id,
                       double value)
{
    char text[32];

    snprintf(text, sizeof(text), "%.0f", value);
    set_prop(b, host, id, text);
}

static unsigned add_host(struct build *b, const char *id)
{
    int host =
        b->rc ? -1 : kept(b, orr_machine_desc_add_host(b->desc, id, 2e9));

    return host < 0 ? 0 : (unsigned)host;
}

static int add_link(struct build *b, const char *name, unsigned number,
                    double rate, double latency, enum orr_link_sharing sharing)
{
    char id[32];

    if (!(rate > 0) || b->rc)
        return -1;
    snprintf(id, sizeof(id), number ? "%s%u" : "%s", name, number);
    return kept(b,
                orr_machine_desc_add_link(b->desc, id, rate, latency, sharing));
}

static void add_all_hosts(struct build *b)
{
    const struct hosts_plan *plan = b->plan;
    char id[32];

    (void)add_host(b, "MAIN");
    for (unsigned i = 0; i < plan->hosts * plan->cores; i++) {
        unsigned cpu;

        snprintf(id, sizeof(id), "CPU%u", i);
        cpu = add_host(b, id);
        set_number(b, cpu, ORR_PROP_NUMA, 1 + i / plan->cores);
        set_number(b, cpu, ORR_PROP_PACKAGE, i / plan->cores);
    }
    (void)add_host(b, "RAM");
    for (unsigned k = 0; k <= plan->hosts; k++) {
        unsigned memory;

        snprintf(id, sizeof(id), "RAM%u", k);
        memory = add_host(b, id);
        if (k == 0) {
            b->first_memory = memory;
            set_prop(b, memory, ORR_PROP_STORAGE, "1");
        } else if (plan->memory > 0) {
            set_number(b, memory, ORR_PROP_TASK_MEMORY, plan->memory);
        }
    }
}

static void add_hop(struct build *b, int route, int link,
                    enum orr_hop_direction way)
{
    if (b->rc == 0 && link >= 0)
        kept(b, orr_route_desc_add_hop(&b->desc->routes[route], (unsigned)link,
                                       way));
}

/* From a memory to another one, and back. What goes from host to host passes the file
 * system, too. */
static void add_way(struct build *b, unsigned from, unsigned to)
{
    int route = b->rc
                    ? -1
                    : kept(b, orr_machine_desc_add_route(b->desc,
                                                         b->first_memory + from,
                                                         b->first_memory + to));

    if (from) {
        add_hop(b, route, b->disk[from], ORR_HOP_NONE);
        add_hop(b, route, b->network[from], ORR_HOP_UP);
    }
    add_hop(b, route, b->storage, ORR_HOP_NONE);
    add_hop(b, route, b->network[to], ORR_HOP_DOWN);
    add_hop(b, route, b->disk[to], ORR_HOP_NONE);
    if (b->rc == 0)
        kept(b, orr_machine_desc_add_reverse(b->desc, (unsigned)route));
}

static int build_desc(struct build *b, const char *name, struct orr_error *err)
{
    const struct hosts_plan *plan = b->plan;

    if (orr_machine_desc_new(name, &b->desc) < 0)
        return -ENOMEM;
    kept(b, orr_desc_set_text(&b->desc->provenance, "derived"));
    kept(b, orr_machine_desc_add_fluid_config(b->desc));
    kept(b, orr_props_set(&b->desc->props, &b->desc->nprops, ORR_PROP_ORIGIN,
                          "orrery machine new hosts"));
    add_all_hosts(b);
    b->storage = add_link(b, "Storage", 0, plan->storage, plan->latency,
                          ORR_LINK_SHARED);
    for (unsigned k = 1; k <= plan->hosts; k++) {
        b->network[k] =
            add_link(b, "Network", k, plan->network, 0, ORR_LINK_SPLITDUPLEX);
        b->disk[k] = add_link(b, "Disk", k, plan->disk, 0, ORR_LINK_SHARED);
    }
    for (unsigned k = 0; k <= plan->hosts; k++)
        for (unsigned l = k + 1; l <= plan->hosts; l++)
            add_way(b, k, l);
    return b->rc ? b->rc : orr_machine_desc_finish(b->desc, err);
}

/* ---- writing ---- */

static int choose_path(const struct request *request, const char *name,
                       const char *const *sampling_dirs, char **ret_path)
{
    char *models = NULL;
    int rc;

    if (request->output) {
        *ret_path = strdup(request->output);
        return *ret_path ? 0 : -ENOMEM;
    }
    rc = machine_place(sampling_dirs[0], name, ret_path, &models);
    free(models);
    return rc ? rc : machine_is_hidden(name, *ret_path, sampling_dirs);
}

static int write_desc(const struct request *request, const char *name,
                      const struct orr_machine_desc *desc, const char *path)
{
    struct machine_files files = {0};
    int rc =
        (request->output ? machine_files_add_desc
                         : machine_files_add_named)(&files, desc, path, name);

    if (rc == 0)
        rc = machine_files_write(&files, request->force);
    if (rc == 0 && request->json)
        rc = tool_json_print(
            machine_files_json(json_pack("{s:s, s:s, s:i}", "machine", name,
                                         "file", path, "cpus", (int)desc->ncpu),
                               &files));
    else if (rc == 0)
        printf("%s: %u host%s, %u cores\n", path, desc->nnuma - 1,
               desc->nnuma > 2 ? "s" : "", desc->ncpu);
    machine_files_done(&files);
    return rc;
}

static int make_hosts(const char *name, const struct request *request,
                      const char *const *sampling_dirs)
{
    struct hosts_plan plan = {.latency = 1e-3};
    struct build b = {.plan = &plan};
    struct orr_error err = {""};
    char *path = NULL;
    int rc = read_plan(request, &plan);

    memset(b.network, -1, sizeof(b.network));
    memset(b.disk, -1, sizeof(b.disk));
    if (rc == 0)
        rc = choose_path(request, name, sampling_dirs, &path);
    if (rc == 0) {
        rc = build_desc(&b, name, &err);
        if (rc < 0)
            tool_error("%s: %s", name, err.text[0] ? err.text : strerror(-rc));
    }
    if (rc == 0)
        rc = write_desc(request, name, b.desc, path);
    orr_machine_desc_free(b.desc);
    free(path);
    return rc;
}

static bool is_platform_file(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".xml") == 0;
}

int machine_new_hosts(int argc, char **argv, const char *const *sampling_dirs,
                      bool json)
{
    struct request request = {.json = json};
    const struct tool_option options[] = {
        {0, "hosts", &request.hosts, NULL},
        {0, "cores", &request.cores, NULL},
        {0, "memory", &request.memory, NULL},
        {0, "storage", &request.storage, NULL},
        {0, "network", &request.network, NULL},
        {0, "disk", &request.disk, NULL},
        {0, "latency", &request.latency, NULL},
        {'o', "output", &request.output, NULL},
        {0, "force", NULL, &request.force},
        {0, "json", NULL, &request.json},
        {0}};
    int noperands,
        rc = tool_parse_operands(argc, argv, options, help, &noperands);

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (noperands != 1 || !orr_packed_leaf_ok(argv[1]) || !request.cores ||
        !request.storage)
        return tool_fail(
            TOOL_USAGE,
            "machine new hosts: one NAME without slash or leading dot, "
            "--cores and --storage; see orrery machine new hosts --help");
    if (request.output && !is_platform_file(request.output))
        return tool_fail(
            TOOL_USAGE,
            "machine new hosts: -o %s: the name of a platform file ends "
            "with .xml",
            request.output);
    rc = make_hosts(argv[1], &request, sampling_dirs);
    return rc == 0 && fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
}
