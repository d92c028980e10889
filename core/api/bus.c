/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/bus.c - transfers between memory nodes: what is known of them, what
 * was measured, and how the links are shared. Any thread.
 */
#include <errno.h>
#include <stdlib.h>

#include "core/api/api.h"
#include "core/base/number.h"
#include "core/cost/estimates.h"
#include "core/data/bus.h"
#include "core/data/node.h"
#include "core/data/nodes.h"
#include "core/device/kind.h"
#include "perfmodel/sampling.h"

double starpu_transfer_bandwidth(unsigned src_node, unsigned dst_node)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    (void)orr_api_node(__func__, src_node);
    (void)orr_api_node(__func__, dst_node);
    return rt->machine->bandwidth[orr_machine_pair(rt->machine, src_node, dst_node)];
}

double starpu_transfer_latency(unsigned src_node, unsigned dst_node)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();

    (void)orr_api_node(__func__, src_node);
    (void)orr_api_node(__func__, dst_node);
    return rt->machine->latency[orr_machine_pair(rt->machine, src_node, dst_node)];
}

double starpu_transfer_predict(unsigned src_node, unsigned dst_node,
                               size_t size)
{
    ORR_QUESTION();

    (void)orr_api_node(__func__, src_node);
    (void)orr_api_node(__func__, dst_node);
    return orr_transfer_predict(ORR_API_RUNTIME(), src_node, dst_node, size);
}

/* -- links -- */

int starpu_bus_get_count(void)
{
    ORR_QUESTION();
    return (int)ORR_API_RUNTIME()->nodes->nbuses;
}

int starpu_bus_get_id(int src, int dst)
{
    ORR_QUESTION();
    struct orr_runtime *rt = ORR_API_RUNTIME();
    const struct orr_bus *bus = orr_bus_find(rt, src, dst);

    return bus ? (int)(bus - rt->nodes->buses) : -1;
}

/* The link numbered `id`; NULL after a message when there is none. */
static struct orr_bus *find_bus(const char *call, int id)
{
    struct orr_runtime *rt = orr_runtime_need(call);

    if (id >= 0 && id < (int)rt->nodes->nbuses)
        return &rt->nodes->buses[id];
    if (rt->nodes->nbuses == 0)
        orr_log_error("%s: there is no bus %d: the machine has one memory node "
                      "and no bus at all",
                      call, id);
    else
        orr_log_error("%s: there is no bus %d, they are numbered 0 to %u; "
                      "starpu_bus_get_id gives the number of a pair of nodes",
                      call, id, rt->nodes->nbuses - 1);
    return NULL;
}

int starpu_bus_get_src(int busid)
{
    ORR_QUESTION();
    const struct orr_bus *bus = find_bus(__func__, busid);

    return bus ? (int)bus->src : -EINVAL;
}

int starpu_bus_get_dst(int busid)
{
    ORR_QUESTION();
    const struct orr_bus *bus = find_bus(__func__, busid);

    return bus ? (int)bus->dst : -EINVAL;
}

int starpu_bus_get_direct(int busid)
{
    ORR_QUESTION();
    const struct orr_bus *bus = find_bus(__func__, busid);

    return bus ? atomic_load(&bus->direct) : -EINVAL;
}

int starpu_bus_get_ngpus(int busid)
{
    ORR_QUESTION();
    const struct orr_bus *bus = find_bus(__func__, busid);

    return bus ? (int)orr_bus_sharers(ORR_API_RUNTIME(), bus) : -EINVAL;
}

void starpu_bus_set_direct(int busid, int direct)
{
    struct orr_bus *bus = find_bus(__func__, busid);

    if (!bus)
        abort();
    atomic_store(&bus->direct, direct != 0);
    orr_nodes_estimate(ORR_API_RUNTIME());
}

void starpu_bus_set_ngpus(int busid, int ngpus)
{
    struct orr_bus *bus = find_bus(__func__, busid);

    if (!bus)
        abort();
    if (ngpus < 0) {
        orr_log_error("%s: %d GPUs cannot share a bus; give 1 or more, or 0 "
                      "for all of the machine",
                      __func__, ngpus);
        abort();
    }
    atomic_store(&bus->ngpus, ngpus);
    orr_nodes_estimate(ORR_API_RUNTIME());
}

/* -- what they carried -- */

/* The time is never below 0 nor beyond what a time_t holds. */
static struct timespec timespec_of(double us)
{
    time_t s = (time_t)(us / 1e6);

    return (struct timespec){s, (long)((us - (double)s * 1e6) * 1e3)};
}

int starpu_bus_get_profiling_info(int busid,
                                  struct starpu_profiling_bus_info *bus_info)
{
    ORR_QUESTION();
    struct orr_bus *bus = find_bus(__func__, busid);
    struct orr_bus_counters counters;

    if (!bus)
        return -EINVAL;
    orr_bus_take_counters(ORR_API_RUNTIME(), bus, &counters);
    if (bus_info)
        *bus_info = (struct starpu_profiling_bus_info){
            .start_time = timespec_of(counters.start),
            .total_time = timespec_of(counters.length),
            .transferred_bytes = (long long)counters.bytes,
            .transfer_count = (int)counters.transfers,
        };
    return 0;
}

void starpu_profiling_bus_helper_display_summary(void)
{
    ORR_QUESTION();
    orr_buses_print(ORR_API_RUNTIME(), stderr);
}

/* -- tables, in the shapes of StarPU's bus files -- */

static void print_bus_rows(FILE *f, const struct orr_machine *machine,
                           const double *values)
{
    unsigned n = machine->nnodes;

    for (unsigned src = 0; src < n; src++) {
        fprintf(f, "%s\t", machine->nodes[src].name);
        for (unsigned dst = 0; dst < n; dst++)
            orr_fprintf(f, "%.0f\t",
                        src == dst ? 0
                                   : values[orr_machine_pair(machine, src, dst)]);
        fputc('\n', f);
    }
}

/* Per GPU its nodes of main memory, nearest first: there is one. */
static void print_near_nodes(FILE *f, const struct orr_machine *machine)
{
    unsigned n = machine->nnodes;

    fprintf(f, "\nGPU\tNUMA in preference order (logical index), "
               "host-to-device, device-to-host\n");
    for (unsigned i = 1; i < n; i++)
        orr_fprintf(f, "%s\t0\t%.0f\t%.0f\t\n", machine->nodes[i].name,
                    machine->bandwidth[orr_machine_pair(machine, 0, i)],
                    machine->bandwidth[orr_machine_pair(machine, i, 0)]);
}

void starpu_bus_print_bandwidth(FILE *f)
{
    ORR_QUESTION();
    const struct orr_machine *machine = ORR_API_RUNTIME()->machine;

    fprintf(f, "from/to\t");
    for (unsigned dst = 0; dst < machine->nnodes; dst++)
        fprintf(f, "%s\t", machine->nodes[dst].name);
    fputc('\n', f);
    print_bus_rows(f, machine, machine->bandwidth);
    fputc('\n', f);
    print_bus_rows(f, machine, machine->latency);
    if (!machine->exec->virtual_time && machine->nnodes > 1)
        print_near_nodes(f, machine);
}

/* There is one node of main memory, which is nearest to all. */
void starpu_bus_print_affinity(FILE *f)
{
    ORR_QUESTION();
    const struct orr_machine *machine = ORR_API_RUNTIME()->machine;
    const struct orr_device_kind *kind;

    fprintf(f, "# GPU\tNUMA0\t\n");
    for (unsigned k = 0; (kind = orr_device_kind_at(k)); k++) {
        bool any = false;

        for (unsigned i = 0; i < machine->nnodes && !kind->is_processor; i++) {
            if (machine->nodes[i].kind != kind->memory)
                continue;
            if (!any)
                fprintf(f, "# %s\n", kind->name);
            any = true;
            fprintf(f, "%d\t0\t\n", machine->nodes[i].devid);
        }
    }
}

void starpu_bus_print_filenames(FILE *f)
{
    ORR_QUESTION();
    static const char *const files[] = {"bandwidth", "affinity", "latency"};
    struct orr_runtime *rt = ORR_API_RUNTIME();

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char name[512];
        char *path;

        snprintf(name, sizeof(name), "%s.%s", rt->machine->host, files[i]);
        if (orr_sampling_place(rt->estimates->sampling, ORR_SAMPLING_BUS, name,
                               &path) < 0) {
            orr_log_error("%s: out of memory", __func__);
            return;
        }
        fprintf(f, "%9s: %s\n", files[i], path);
        free(path);
    }
}
