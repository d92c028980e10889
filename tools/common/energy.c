/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/energy.c - see energy.h. */
#include "tools/common/energy.h"

#include "perfmodel/sampling.h"
#include "platforms/cluster.h"
#include "platforms/edit.h"
#include "tools/common/json.h"
#include "tools/common/tool.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct powers {
    struct orr_machine_desc *desc; /* owned: of each node */
    unsigned nodes;                /* so many are alike; 1 of a machine */
    const struct costs *costs;     /* borrowed, never NULL */
};

static const struct costs no_costs = {0};

/* ---- machines ---- */

static int load_machine(const char *name, const char *edits, const char *const *dirs,
                        struct orr_machine_desc **ret)
{
    int rc = orr_machine_desc_load(name, dirs, ret, NULL);

    if (rc == 0 && edits && *edits)
        rc = orr_machine_desc_edit(*ret, edits, NULL);
    return rc;
}

/* A machine; or the nodes of a cluster, if they are alike: else *ret stays NULL. */
static int load_nodes(const char *name, const char *edits, const char *const *dirs,
                      struct orr_machine_desc **ret, unsigned *ret_nodes)
{
    struct orr_cluster_desc cluster = {0};
    int rc = orr_cluster_load(name, dirs, &cluster, NULL);

    *ret_nodes = 1;
    if (rc == 1)
        return load_machine(name, edits, dirs, ret);
    if (rc == 0 && edits && *edits)
        rc = orr_cluster_edit(&cluster, edits, NULL);
    *ret_nodes = cluster.nnodes;
    if (rc == 0 && cluster.ngroups == 1)
        rc = load_machine(cluster.groups[0].machine, cluster.groups[0].edits, dirs, ret);
    orr_cluster_free(&cluster);
    return rc;
}

static int load(const char *machine, const char *edits, struct orr_machine_desc **ret,
                unsigned *ret_nodes)
{
    struct orr_sampling *sampling = NULL;
    int rc;

    *ret = NULL;
    rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);
    if (rc == 0)
        rc = load_nodes(machine, edits, orr_sampling_dirs(sampling), ret, ret_nodes);
    orr_sampling_free(sampling);
    if (rc == 0)
        return 0;
    orr_machine_desc_free(*ret);
    *ret = NULL;
    return rc == -ENOMEM ? tool_fail(-1, "out of memory") : 0;
}

int powers_open(const char *machine, const char *edits, const struct costs *costs,
                struct powers **ret)
{
    struct orr_machine_desc *desc;
    struct powers *powers;
    unsigned nodes;

    *ret = NULL;
    machine = machine ? machine : getenv("ORRERY_MACHINE");
    edits = edits ? edits : getenv("ORRERY_SET");
    if (!machine || !*machine)
        return 0;
    if (load(machine, edits, &desc, &nodes) < 0)
        return -1;
    if (!desc || (!(costs && costs->n) && !orr_machine_desc_has_power(desc))) {
        orr_machine_desc_free(desc);
        return 0;
    }
    powers = calloc(1, sizeof(*powers));
    if (!powers) {
        orr_machine_desc_free(desc);
        return tool_fail(-1, "out of memory");
    }
    *powers = (struct powers){desc, nodes, costs ? costs : &no_costs};
    *ret = powers;
    return 0;
}

void powers_close(struct powers *powers)
{
    if (!powers)
        return;
    orr_machine_desc_free(powers->desc);
    free(powers);
}

int powers_open_all(char *const *machines, size_t nmachines, char *const *edits, size_t nedits,
                    const struct costs *costs, struct powers ***ret)
{
    struct powers **all = calloc(nmachines * nedits + 1, sizeof(struct powers *));

    *ret = all;
    if (!all)
        return tool_fail(-1, "out of memory");
    for (size_t m = 0; m < nmachines; m++) {
        struct powers *plain = NULL;
        bool any;

        if (powers_open(machines[m], "", costs, &plain) < 0)
            return -1;
        any = plain != NULL;
        powers_close(plain);
        for (size_t e = 0; any && e < nedits; e++)
            if (powers_open(machines[m], edits[e], costs, &all[m * nedits + e]) < 0)
                return -1;
    }
    return 0;
}

void powers_close_all(struct powers **powers, size_t n)
{
    for (size_t i = 0; powers && i < n; i++)
        powers_close(powers[i]);
    free(powers);
}

int powers_choose(const char *command, const char *costs_path, const char *machine,
                  const char *edits, struct costs *ret_costs, struct powers **ret)
{
    const char *set = getenv("ORRERY_MACHINE");

    if (costs_path && !machine && !(set && *set))
        return tool_fail(TOOL_USAGE,
                         "%s: --costs is for simulated machines: a real one has meters "
                         "(starpu_energy_start)",
                         command);
    if (costs_path && costs_read(costs_path, ret_costs) < 0)
        return TOOL_USAGE;
    return powers_open(machine, edits, ret_costs, ret) < 0 ? TOOL_FAILED : TOOL_OK;
}

/* ---- what a run took ---- */

/* The host of "CUDA 0 (NVIDIA H100)", "cuda0", "CUDA 0"; NULL: it is no device. */
static const struct orr_host_desc *device_of(const struct powers *powers, const char *name)
{
    static const char *const kinds[] = {"CUDA", "OpenCL"};
    char id[32];

    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        size_t n = strlen(kinds[k]);
        int host;

        if (strncasecmp(name, kinds[k], n))
            continue;
        name += n + strspn(name + n, " ");
        snprintf(id, sizeof(id), "%s%.*s", kinds[k], (int)strspn(name, "0123456789"), name);
        host = orr_machine_desc_host(powers->desc, id);
        return host < 0 ? NULL : &powers->desc->hosts[host];
    }
    return NULL;
}

static const struct orr_host_desc *main_host(const struct powers *powers)
{
    int host = orr_machine_desc_host(powers->desc, "MAIN");

    return host < 0 ? NULL : &powers->desc->hosts[host];
}

/* What a worker draws more while it executes a kernel. */
static double busy_w(const struct powers *powers, const struct orr_host_desc *device)
{
    return device ? cost_device_w(powers->costs, device, ORR_POWER_BUSY) -
                        cost_device_w(powers->costs, device, ORR_POWER_IDLE)
                  : cost_core_w(powers->costs, powers->desc);
}

double powers_idle_w(const struct powers *powers)
{
    return powers->nodes * cost_of(powers->costs, powers->desc).idle_w;
}

double powers_kernel_w(const struct powers *powers, const char *worker, const char *kernel)
{
    const struct orr_host_desc *device = device_of(powers, worker);
    const struct orr_host_desc *host = device ? device : main_host(powers);
    double own = host ? orr_host_desc_kernel_power(host, kernel) : (double)NAN;

    if (isnan(own))
        return busy_w(powers, device);
    return device ? own - cost_device_w(powers->costs, device, ORR_POWER_IDLE) : own;
}

double powers_hour_price(const struct powers *powers)
{
    return cost_is_hourly(powers->costs->currency)
               ? powers->nodes * cost_of(powers->costs, powers->desc).price
               : (double)NAN;
}

static void put_power(FILE *out, const char *state, double watts)
{
    if (!isnan(watts))
        fprintf(out, " %s=%.9gW", state, watts);
}

char *powers_words(const struct powers *powers)
{
    const struct orr_machine_desc *desc = powers ? powers->desc : NULL;
    char *words = NULL;
    size_t size;
    FILE *out = desc && powers->costs->n ? open_memstream(&words, &size) : NULL;

    if (!out)
        return NULL;
    fputs("MAIN", out);
    put_power(out, "idle", cost_server_w(powers->costs, desc));
    put_power(out, "busy", cost_core_w(powers->costs, desc));
    for (unsigned h = 0; h < desc->nhosts; h++) {
        const struct orr_host_desc *host = &desc->hosts[h];

        if (!cost_is_device(host))
            continue;
        fprintf(out, "; %s", host->id);
        put_power(out, "idle",
                  cost_device_w(powers->costs, host, ORR_POWER_IDLE));
        put_power(out, "busy",
                  cost_device_w(powers->costs, host, ORR_POWER_BUSY));
        put_power(out, "copy",
                  cost_device_w(powers->costs, host, ORR_POWER_COPY));
    }
    if (fclose(out) == 0)
        return words;
    free(words);
    return NULL;
}

static void add_part(struct energy *energy, double joules, const struct powers *powers,
                     const struct orr_host_desc *device)
{
    if (isnan(joules) && !*energy->missing)
        snprintf(energy->missing, sizeof(energy->missing), "power of %s \"%.60s\"",
                 device ? "device" : "core",
                 cost_model(powers->desc, device ? device->id : "MAIN"));
    energy->joules += joules;
}

static void add_workers(struct energy *energy, const struct powers *powers,
                        const struct report *report)
{
    const json_t *worker;
    size_t i;

    json_array_foreach(json_object_get(report->json, "workers"), i, worker)
    {
        const char *name = json_string_value(json_object_get(worker, "name"));
        double busy_s = json_number_value(json_object_get(worker, "busy_us")) * 1e-6;
        const struct orr_host_desc *device = device_of(powers, name ? name : "");

        if (busy_s > 0)
            add_part(energy, busy_s * busy_w(powers, device), powers, device);
    }
}

/* Kernels that have a power of their own, in the place of the worker's. */
static void add_kernels(struct energy *energy, const struct powers *powers,
                        const struct report *report)
{
    for (size_t k = 0; k < report->nkernels; k++) {
        const struct report_kernel *kernel = &report->kernels[k];
        const struct orr_host_desc *device = device_of(powers, kernel->arch);
        const struct orr_host_desc *host = device ? device : main_host(powers);
        const char *colon = strchr(kernel->arch, ':');
        double cores = colon ? fmax(1, atof(colon + 1)) : 1;
        double own = host ? orr_host_desc_kernel_power(host, kernel->name) : (double)NAN;
        double seconds = (double)kernel->count * kernel->mean_us * 1e-6 * cores;

        if (!isnan(own))
            add_part(energy,
                     seconds * (powers_kernel_w(powers, kernel->arch, kernel->name) -
                                busy_w(powers, device)),
                     powers, device);
    }
}

/* For the time that their bytes take on an idle link: copies that share one take longer, and no
 * more energy. */
static void add_copies(struct energy *energy, const struct powers *powers,
                       const struct report *report)
{
    for (size_t l = 0; l < report_nlinks(report); l++) {
        struct report_link link = report_link(report, l);
        const char *const ends[] = {link.from, link.to};
        double seconds = (isnan(link.alone_us) ? link.total_us : link.alone_us) * 1e-6;

        for (size_t e = 0; e < 2; e++) {
            const struct orr_host_desc *device = device_of(powers, ends[e]);
            double watts = device ? cost_device_w(powers->costs, device, ORR_POWER_COPY)
                                  : (double)NAN;

            if (!isnan(watts))
                energy->copy_j += watts * seconds;
        }
    }
    energy->joules += energy->copy_j;
}

struct energy energy_of(const struct powers *powers, const struct report *report)
{
    struct cost cost = cost_of(powers->costs, powers->desc);
    struct energy energy = {.idle_j = powers_idle_w(powers) * report->makespan_us * 1e-6};

    energy.joules = energy.idle_j;
    if (isnan(energy.idle_j))
        snprintf(energy.missing, sizeof(energy.missing), "%s", cost.missing_w);
    add_workers(&energy, powers, report);
    add_kernels(&energy, powers, report);
    add_copies(&energy, powers, report);
    return energy;
}

void energy_add(struct report *report, const struct powers *powers)
{
    struct energy energy;

    if (!powers || !report->json || !report->simulated ||
        !json_object_get(report->json, "workers")) /* one that --runs has kept in part */
        return;
    energy = energy_of(powers, report);
    json_object_set_new(
        report->json, "energy",
        isnan(energy.joules)
            ? json_pack("{s:n, s:o}", "joules", "missing", tool_json_text(energy.missing))
            : json_pack("{s:f, s:f, s:f}", "joules", energy.joules, "idle_joules", energy.idle_j,
                        "copy_joules", energy.copy_j));
}
