/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/bus.c - what is known of transfers between memory nodes. Fixed by
 * starpu_init; any thread.
 */
#include <stdlib.h>

#include "core/api/api.h"
#include "core/data/node.h"
#include "perfmodel/sampling.h"

double starpu_transfer_bandwidth(unsigned src_node, unsigned dst_node)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    (void)orr_api_node(__func__, src_node);
    (void)orr_api_node(__func__, dst_node);
    return rt->machine->bandwidth[src_node * rt->nnodes + dst_node];
}

double starpu_transfer_latency(unsigned src_node, unsigned dst_node)
{
    struct orr_runtime *rt = ORR_API_RUNTIME();

    (void)orr_api_node(__func__, src_node);
    (void)orr_api_node(__func__, dst_node);
    return rt->machine->latency[src_node * rt->nnodes + dst_node];
}

double starpu_transfer_predict(unsigned src_node, unsigned dst_node,
                               size_t size)
{
    (void)orr_api_node(__func__, src_node);
    (void)orr_api_node(__func__, dst_node);
    return orr_transfer_predict(ORR_API_RUNTIME(), src_node, dst_node, size);
}

static void print_matrix(FILE *f, const struct orr_machine *machine,
                         const double *values)
{
    unsigned n = machine->nnodes;

    fprintf(f, "from/to");
    for (unsigned dst = 0; dst < n; dst++)
        fprintf(f, "\t%s", machine->nodes[dst].name);
    fputc('\n', f);
    for (unsigned src = 0; src < n; src++) {
        fputs(machine->nodes[src].name, f);
        for (unsigned dst = 0; dst < n; dst++)
            fprintf(f, "\t%.0f", src == dst ? 0 : values[src * n + dst]);
        fputc('\n', f);
    }
}

void starpu_bus_print_bandwidth(FILE *f)
{
    const struct orr_machine *machine = ORR_API_RUNTIME()->machine;

    fprintf(f, "bandwidth (MB/s)\n");
    print_matrix(f, machine, machine->bandwidth);
    fprintf(f, "\nlatency (us)\n");
    print_matrix(f, machine, machine->latency);
}

/* There is one node of main memory, which is nearest to all. */
void starpu_bus_print_affinity(FILE *f)
{
    const struct orr_machine *machine = ORR_API_RUNTIME()->machine;

    fprintf(f, "# GPU\tNUMA0\n");
    for (unsigned i = 0; i < machine->nnodes; i++)
        if (machine->nodes[i].kind != STARPU_CPU_RAM)
            fprintf(f, "%d\t0\n", machine->nodes[i].devid);
}

void starpu_bus_print_filenames(FILE *f)
{
    static const char *const endings[] = {"affinity",     "latency",
                                          "bandwidth",    "config",
                                          "platform.xml", "platform.v4.xml"};
    struct orr_runtime *rt = ORR_API_RUNTIME();

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char name[512];
        char *path;

        snprintf(name, sizeof(name), "%s.%s", rt->machine->host, endings[i]);
        if (orr_sampling_place(rt->sampling, ORR_SAMPLING_BUS, name, &path) < 0)
            return;
        fprintf(f, "%s\n", path);
        free(path);
    }
}
