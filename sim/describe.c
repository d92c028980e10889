/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/describe.c - see describe.h. Memory node 0 is the host RAM, or the first
 * ones are RAM0, RAM1 …; then come the CUDA and OpenCL devices in use. Workers
 * are numbered CPU, CUDA, OpenCL. Each device takes a processor for its driver.
 */
#include "sim/describe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/number.h"
#include "platforms/bus_files.h"
#include "platforms/desc_build.h"
#include "platforms/locality.h"
#include "platforms/rates.h"
#include "sim/place.h"
#include "sim/powers.h"
#include "sim/what_if.h"

/* A device type: the names of hosts and nodes, and their types. */
struct kind {
    const char *prefix; /* of host names and of node and worker names */
    enum starpu_node_kind node;
    enum starpu_worker_archtype worker;
};

static const struct kind cuda = {"CUDA", STARPU_CUDA_RAM, STARPU_CUDA_WORKER};
static const struct kind opencl = {"OpenCL", STARPU_OPENCL_RAM,
                                   STARPU_OPENCL_WORKER};

/* The parts of a machine in use. OpenCL devices that are CUDA devices are left
 * out, so those in use begin at number first_opencl. */
struct choice {
    unsigned nmain; /* nodes of main memory */
    unsigned ncpu, ncuda, nopencl, first_opencl;
};

/* Main memory, then CUDA devices, then OpenCL devices. */
static unsigned count_nodes(const struct choice *choice)
{
    return choice->nmain + choice->ncuda + choice->nopencl;
}

/* `count` is what an edit of the machine sets. */
static unsigned limit_to_request(const char *what, const char *count,
                                 int wanted, unsigned there)
{
    if (wanted < 0)
        return there;
    if ((unsigned)wanted > there) {
        orr_log_warning("%d %s workers were requested, the machine supports "
                        "%u, which are simulated; ORRERY_SET='%s = %d' (orrery "
                        "run --set) gives it more",
                        wanted, what, there, count, wanted);
        return there;
    }
    return (unsigned)wanted;
}

static unsigned at_most(int wanted, unsigned there)
{
    return wanted >= 0 && (unsigned)wanted < there ? (unsigned)wanted : there;
}

/* Devices, and `cpus`: the processors that they leave. */
static void choose_counts(const struct orr_machine_desc *desc, int ncuda,
                          int nopencl, int reserved, struct choice *ret,
                          unsigned *cpus)
{
    unsigned drivers;

    ret->ncuda = at_most(ncuda, desc->ncuda);
    ret->first_opencl = ret->ncuda;
    /* Requesting more than CUDA leaves is common (a variable set for another
     * machine), so no warning. */
    ret->nopencl = at_most(nopencl, desc->nopencl > ret->first_opencl
                                         ? desc->nopencl - ret->ncuda
                                         : 0);
    drivers = ret->ncuda + ret->nopencl;
    if (reserved > 0)
        drivers += (unsigned)reserved;
    *cpus = desc->ncpu > drivers ? desc->ncpu - drivers : 0;
}

static void choose_device_counts(const struct orr_machine_desc *desc,
                                 const struct orr_machine_options *options,
                                 struct choice *ret)
{
    unsigned cpus;

    ret->nmain =
        (options->numa || orr_machine_desc_has_storage(desc)) && desc->nnuma > 1
            ? desc->nnuma
            : 1;
    limit_to_request("CUDA", "cuda.count", options->ncuda, desc->ncuda);
    choose_counts(desc, options->ncuda, options->nopencl, options->reserve_ncpu,
                  ret, &cpus);
    ret->ncpu = limit_to_request("CPU", "cpu.count", options->ncpu, cpus);
}

/* What there would be without the program, and what it asks for. */
static void note_asked(const struct orr_machine_desc *desc,
                       const struct orr_machine_options *options,
                       struct orr_machine *machine)
{
    const struct orr_wanted *program = &options->program;
    const struct orr_wanted *without = &options->without;
    struct choice all = {0};
    unsigned cpus;

    choose_counts(desc, without->ncuda, without->nopencl, options->reserve_ncpu,
                  &all, &cpus);
    machine->all_devices = options->all_devices;
    machine->asked[0] = (struct orr_asked){
        STARPU_CPU_WORKER, at_most(without->ncpu, cpus), program->ncpu};
    machine->asked[1] =
        (struct orr_asked){STARPU_CUDA_WORKER, all.ncuda, program->ncuda};
    machine->asked[2] =
        (struct orr_asked){STARPU_OPENCL_WORKER, all.nopencl, program->nopencl};
}

static int describe_find_host(const struct orr_machine_desc *desc,
                              const char *id, unsigned *ret,
                              struct orr_error *err)
{
    int host = orr_machine_desc_host(desc, id);

    if (host < 0)
        return orr_fail(err, -EINVAL, "machine \"%s\": there is no host \"%s\"",
                        desc->name, id);
    *ret = (unsigned)host;
    return 0;
}

static double number_prop(const struct orr_host_desc *host, const char *id)
{
    const char *value = orr_host_desc_prop(host, id);

    return value ? orr_strtod(value, NULL) : 0;
}

/* Usable bytes of a device: 90 % of its memory, in whole MiB. */
static size_t usable_bytes(const struct orr_host_desc *host)
{
    double mib = floor(number_prop(host, "memsize") / 1048576 * 0.9);

    return mib > 0 && mib < 1e12 ? (size_t)mib << 20 : 0;
}

static bool is_route(const struct orr_machine_desc *desc, unsigned src,
                     unsigned dst)
{
    for (unsigned i = 0; i < desc->nroutes; i++)
        if (desc->routes[i].src == src && desc->routes[i].dst == dst)
            return true;
    return false;
}

static void name_worker(struct orr_worker_desc *worker, const struct kind *kind,
                        const struct orr_host_desc *host,
                        const struct orr_node_desc *node)
{
    const char *model = orr_host_desc_prop(host, "model");

    orr_snprintf(worker->name, sizeof(worker->name), "%s %d.0 (%.40s %.1f GiB)",
                 kind->prefix, worker->devid, model ? model : "simulated",
                 (double)node->capacity / (1 << 30));
}

static double rate_per_us(const struct orr_machine_desc *desc, unsigned host,
                          enum orr_rate which)
{
    double rate = orr_machine_desc_rate(desc, host, which);

    return rate > 0 ? rate / 1e6 : 0;
}

static void describe_set_rates(struct orr_worker_desc *worker,
                               const struct orr_machine_desc *desc,
                               unsigned host)
{
    worker->flops32 = rate_per_us(desc, host, ORR_RATE_FP32);
    worker->flops64 = rate_per_us(desc, host, ORR_RATE_FP64);
    worker->bytes = rate_per_us(desc, host, ORR_RATE_MEMORY);
}

static int describe_add_device(const struct orr_machine_desc *desc,
                               const struct kind *kind, unsigned number,
                               struct orr_machine *machine, unsigned *endpoints,
                               unsigned *hosts, struct orr_error *err)
{
    unsigned i = machine->nnodes;
    struct orr_node_desc *node = &machine->nodes[i];
    struct orr_worker_desc *worker = &machine->workers[machine->nworkers];
    char id[32];
    int error;

    snprintf(id, sizeof(id), "%s%u", kind->prefix, number);
    error = describe_find_host(desc, id, &endpoints[i], err);
    if (error < 0)
        return error;
    node->kind = kind->node;
    node->devid = (int)number;
    node->capacity = usable_bytes(&desc->hosts[endpoints[i]]);
    node->suballocated = true;
    snprintf(node->name, sizeof(node->name), "%s %u", kind->prefix, number);

    worker->type = kind->worker;
    worker->devid = (int)number;
    worker->node = i;
    worker->cpu = -1;
    worker->pipeline = 2;
    worker->async = true;
    worker->speed = 1;
    name_worker(worker, kind, &desc->hosts[endpoints[i]], node);
    machine->nnodes++;
    hosts[machine->nworkers] = endpoints[i];
    return orr_sim_speeds(&desc->hosts[endpoints[i]], kind->prefix, machine,
                          machine->nworkers++);
}

static void describe_add_cpu(struct orr_machine *machine, unsigned number)
{
    struct orr_worker_desc *worker = &machine->workers[machine->nworkers++];

    worker->type = STARPU_CPU_WORKER;
    worker->devid = (int)number;
    worker->cpu = -1;
    worker->pipeline = 1;
    worker->speed = 1;
    snprintf(worker->name, sizeof(worker->name), "CPU %u", number);
}

static int describe_add_main_memories(const struct orr_machine_desc *desc,
                                      unsigned nmain,
                                      struct orr_machine *machine,
                                      unsigned *endpoints,
                                      struct orr_error *err)
{
    int error = 0;

    if (nmain > STARPU_MAXNUMANODES)
        return orr_fail(err, -EINVAL,
                        "machine \"%s\" has %u NUMA nodes; at most %d are "
                        "possible (starpu_config.h): unset STARPU_USE_NUMA",
                        desc->name, nmain, STARPU_MAXNUMANODES);
    for (unsigned i = 0; i < nmain && error == 0; i++) {
        struct orr_node_desc *node = &machine->nodes[i];
        char id[32];

        snprintf(id, sizeof(id), nmain > 1 ? "RAM%u" : "RAM", i);
        error = describe_find_host(desc, id, &endpoints[i], err);
        if (error < 0)
            break;
        node->kind = STARPU_CPU_RAM;
        node->devid = node->os_number = (int)i;
        snprintf(node->name, sizeof(node->name), "NUMA %u", i);
        if (nmain > 1)
            node->capacity =
                (size_t)number_prop(&desc->hosts[endpoints[i]], "memsize");
        node->task_memory = (size_t)number_prop(&desc->hosts[endpoints[i]],
                                                ORR_PROP_TASK_MEMORY);
    }
    machine->nnodes = nmain;
    return error;
}

static int describe_add_devices(const struct orr_machine_desc *desc,
                                const struct choice *choice,
                                struct orr_machine *machine,
                                unsigned *endpoints, unsigned *hosts,
                                struct orr_error *err)
{
    int error = 0;

    for (unsigned i = 0; i < choice->ncuda && error == 0; i++)
        error =
            describe_add_device(desc, &cuda, i, machine, endpoints, hosts, err);
    for (unsigned i = 0; i < choice->nopencl && error == 0; i++)
        error = describe_add_device(desc, &opencl, choice->first_opencl + i,
                                    machine, endpoints, hosts, err);
    return error;
}

static int describe_add_workers(const struct orr_machine_desc *desc,
                                const struct choice *choice,
                                struct orr_machine *machine,
                                unsigned *endpoints, unsigned *hosts,
                                struct orr_error *err)
{
    int error = describe_add_main_memories(desc, choice->nmain, machine,
                                           endpoints, err);

    if (error < 0)
        return error;
    for (unsigned i = 0; i < choice->ncpu; i++)
        describe_add_cpu(machine, i);
    error = describe_add_devices(desc, choice, machine, endpoints, hosts, err);
    if (error == 0)
        error = orr_sim_place_cpus(desc, choice->nmain, choice->ncpu, machine,
                                   hosts);
    for (unsigned w = 0; error == 0 && w < machine->nworkers; w++)
        describe_set_rates(&machine->workers[w], desc, hosts[w]);
    return error ? error : orr_sim_place_neighbours(desc, hosts, machine);
}

/* Whether two devices copy to each other without main memory: the destination
 * handles the copy, and must be able to. */
static bool nodes_are_peers(const struct orr_machine_desc *desc,
                            const struct orr_machine *machine,
                            const unsigned *endpoints, unsigned src,
                            unsigned dst)
{
    return machine->nodes[src].kind == STARPU_CUDA_RAM &&
           machine->nodes[dst].kind == STARPU_CUDA_RAM &&
           number_prop(&desc->hosts[endpoints[dst]], "memcpy_peer") != 0 &&
           is_route(desc, endpoints[src], endpoints[dst]);
}

static bool node_is_main_memory(const struct orr_machine *machine,
                                unsigned node)
{
    return machine->nodes[node].kind == STARPU_CPU_RAM;
}

static int fail_route(const struct orr_machine_desc *desc, unsigned src,
                      unsigned dst, struct orr_error *err)
{
    const char *from = desc->hosts[src].id, *to = desc->hosts[dst].id;
    bool numa = orr_host_desc_number(&desc->hosts[src], "RAM") >= 0 ||
                orr_host_desc_number(&desc->hosts[dst], "RAM") >= 0;

    return orr_fail(err, -EINVAL,
                    "machine \"%s\": there is no route from \"%s\" to "
                    "\"%s\"%s",
                    desc->name, from, to,
                    numa ? ": add it, or unset STARPU_USE_NUMA" : "");
}

static int find_direct(const struct orr_machine_desc *desc,
                       const unsigned *endpoints, bool no_peers,
                       struct orr_machine *machine, struct orr_error *err)
{
    unsigned n = machine->row = machine->nnodes;

    for (unsigned src = 0; src < n; src++) {
        for (unsigned dst = 0; dst < n; dst++) {
            bool *direct = &machine->direct[src * n + dst];

            if (src == dst)
                continue;
            *direct = node_is_main_memory(machine, src) ||
                      node_is_main_memory(machine, dst) ||
                      (!no_peers &&
                       nodes_are_peers(desc, machine, endpoints, src, dst));
            if (*direct && !is_route(desc, endpoints[src], endpoints[dst]))
                return fail_route(desc, endpoints[src], endpoints[dst], err);
        }
    }
    return 0;
}

/* The node's row in the description's matrices: RAM, all CUDA devices, all
 * OpenCL devices. */
static unsigned desc_node(const struct orr_machine_desc *desc,
                          const struct orr_node_desc *node)
{
    if (node->kind == STARPU_CUDA_RAM)
        return 1 + (unsigned)node->devid;
    if (node->kind == STARPU_OPENCL_RAM)
        return 1 + desc->ncuda + (unsigned)node->devid;
    return 0;
}

static double desc_entry(const struct orr_machine_desc *desc,
                         const double *matrix, unsigned row, unsigned column)
{
    if (!matrix || row >= desc->nnodes || column >= desc->nnodes)
        return (double)NAN;
    return matrix[row * desc->nnodes + column];
}

/* If main memory is several nodes, the matrices have values for it as a whole,
 * which hold for none of them: the routes are used. */
static int copy_parameters(const struct orr_machine_desc *desc,
                           const unsigned *endpoints,
                           struct orr_machine *machine)
{
    unsigned n = machine->nnodes;
    bool numa = n > 1 && node_is_main_memory(machine, 1);
    int error = 0;

    for (unsigned i = 0; i < n * n && error == 0; i++) {
        unsigned src = i / n, dst = i % n;
        unsigned row = desc_node(desc, &machine->nodes[src]);
        unsigned column = desc_node(desc, &machine->nodes[dst]);

        if (numa && src != dst &&
            (node_is_main_memory(machine, src) ||
             node_is_main_memory(machine, dst))) {
            error =
                orr_bus_of_route(desc, endpoints[src], endpoints[dst],
                                 &machine->bandwidth[i], &machine->latency[i]);
            continue;
        }
        machine->bandwidth[i] = desc_entry(desc, desc->bandwidth, row, column);
        machine->latency[i] = desc_entry(desc, desc->latency, row, column);
    }
    return error;
}

static int describe_allocate(const struct orr_machine_desc *desc,
                             const struct choice *choice,
                             struct orr_machine *machine,
                             unsigned **ret_endpoints)
{
    unsigned n = count_nodes(choice);
    unsigned nworkers = choice->ncpu + choice->ncuda + choice->nopencl;

    machine->name = strdup(desc->name ? desc->name : "simulated");
    machine->host = strdup(desc->host      ? desc->host
                           : machine->name ? machine->name
                                           : "");
    if (desc->sampling_dir) {
        machine->sampling_dir = strdup(desc->sampling_dir);
        if (!machine->sampling_dir)
            return -ENOMEM;
    }
    machine->nodes = calloc(n, sizeof(*machine->nodes));
    machine->workers = calloc(nworkers, sizeof(*machine->workers));
    machine->bandwidth = calloc((size_t)n * n, sizeof(double));
    machine->latency = calloc((size_t)n * n, sizeof(double));
    machine->direct = calloc((size_t)n * n, sizeof(bool));
    machine->kernel_speeds = calloc(nworkers, sizeof(*machine->kernel_speeds));
    *ret_endpoints = calloc(n, sizeof(**ret_endpoints));
    if (!machine->name || !machine->host || !machine->nodes ||
        !machine->workers || !machine->bandwidth || !machine->latency ||
        !machine->direct || !machine->kernel_speeds || !*ret_endpoints)
        return -ENOMEM;
    return 0;
}

/* Where the description says how many processors there are. */
static bool is_crowded(const struct orr_machine_desc *desc, unsigned nworkers)
{
    int host = orr_machine_desc_host(desc, "MAIN");
    double n = host < 0 ? 0 : number_prop(&desc->hosts[host], "processors");

    return n > 0 && nworkers >= n;
}

/* machine->provenance borrows a constant, not the description's string. */
static const char *desc_provenance(const struct orr_machine_desc *desc)
{
    static const char *const known[] = {"measured", "derived",
                                        "partly measured"};

    for (unsigned i = 0; desc->provenance && i < 3; i++)
        if (strcmp(desc->provenance, known[i]) == 0)
            return known[i];
    return NULL;
}

static bool options_have_limits(const struct orr_machine_options *options)
{
    return options->ncpu >= 0 || options->ncuda >= 0 || options->nopencl >= 0 ||
           options->reserve_ncpu > 0;
}

int orr_describe(const struct orr_machine_desc *desc,
                 const struct orr_machine_options *options,
                 struct orr_machine *machine, unsigned **ret_endpoints,
                 struct orr_error *err)
{
    unsigned *endpoints = NULL, *hosts;
    char *not_measured = NULL;
    struct choice choice;
    int error;

    choose_device_counts(desc, options, &choice);
    if (choice.ncpu + choice.ncuda + choice.nopencl == 0)
        return orr_fail(err, -ENODEV,
                        "machine \"%s\": no worker is left of %u CPU, %u CUDA "
                        "and %u OpenCL hosts (each device takes a CPU for its "
                        "driver)%s",
                        desc->name, desc->ncpu, desc->ncuda, desc->nopencl,
                        options_have_limits(options)
                            ? "; STARPU_NCPU, STARPU_NCUDA, STARPU_NOPENCL, "
                              "STARPU_RESERVE_NCPU or starpu_conf leave out "
                              "the others (ORRERY_DEVICES=all takes no heed of "
                              "the latter)"
                            : "");
    hosts = calloc(choice.ncpu + choice.ncuda + choice.nopencl, sizeof(*hosts));
    error =
        hosts ? describe_allocate(desc, &choice, machine, &endpoints) : -ENOMEM;
    if (error == 0)
        error =
            describe_add_workers(desc, &choice, machine, endpoints, hosts, err);
    if (error == 0)
        error = find_direct(desc, endpoints, options->no_peers, machine, err);
    if (error == 0)
        error = orr_sim_edits(desc, endpoints, hosts, machine);
    if (error == 0)
        error = orr_sim_powers(desc, hosts, machine);
    if (error == 0)
        error = orr_sim_drawn(desc, machine);
    if (error == 0)
        error = copy_parameters(desc, endpoints, machine);
    if (error == 0)
        error = orr_machine_desc_not_measured(desc, &not_measured);
    free(hosts);
    if (error < 0) {
        free(endpoints);
        return error;
    }
    note_asked(desc, options, machine);
    machine->provenance = desc_provenance(desc);
    machine->not_measured = not_measured;
    machine->crowded = is_crowded(desc, machine->nworkers);
    *ret_endpoints = endpoints;
    return 0;
}

void orr_describe_done(struct orr_machine *machine)
{
    orr_sim_what_if_done(machine);
    orr_sim_powers_done(machine);
    free(machine->name);
    free(machine->host);
    free(machine->sampling_dir);
    free(machine->not_measured);
    free(machine->nodes);
    free(machine->workers);
    free(machine->bandwidth);
    free(machine->latency);
    free(machine->direct);
    free(machine->neighbours);
    free(machine->distances);
}
