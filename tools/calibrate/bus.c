/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/calibrate/bus.c - `orrery calibrate bus`: measures the links between
 * the memory nodes of this machine and stores the results where the runtime and
 * the simulator look for them. Main, and the threads that copy.
 */
#include "tools/calibrate/bus.h"
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/machine.h"
#include "tools/common/interrupt.h"
#include "tools/common/plot.h"
#include "tools/common/quiet.h"
#include "tools/common/tool.h"

#include "core/device/bus/bus.h"
#include "core/device/cpu/topology.h"
#include "core/device/threads.h"
#include "platforms/doctor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: orrery calibrate bus [--quick] [--spread PERCENT] [--json]\n"
    "                            [--plot FILE] [--disk [WAY:]PATH]\n"
    "Measures bandwidth and latency between all memory nodes of this machine, "
    "in both\n"
    "directions, alone and several at once, from 1 byte to 32 MiB, and keeps "
    "them in\n"
    "StarPU's bus files and in <host>.machine.xml beside these, which -m <host> "
    "then\n"
    "simulates. Of a node with itself, it measures copies within its memory. "
    "OpenCL\n"
    "devices are measured like other nodes (docs/OPENCL.md).\n"
    "      --quick      one byte and 32 MiB only, one block instead of five\n"
    "      --spread PERCENT  keep bandwidths with a spread of up to so much (50%);\n"
    "                   one that spreads more is of other programs, too: then\n"
    "                   nothing is stored, and what is there stays\n"
    "      --json       print the results as JSON\n"
    "      --plot FILE  draw bandwidth over size; .svg, or .png\n"
    "      --disk [WAY:]PATH  measure a disk as well, which the description then "
    "has:\n"
    "                   a directory, by stdio, unistd (as without WAY), or\n"
    "                   unistd_o_direct, past the system's cache; or hdf5\n"
    "spread is the range of the medians of five blocks, each with new memory.\n"
    "Exit codes: 0; 1 when something failed, or spreads too much; 2 for a wrong\n"
    "command line.\n"
    "example: orrery calibrate bus --plot bus.svg\n";

struct request {
    bool quick, json;
    const char *plot, *disk;
    double spread; /* of a bandwidth that is kept, relative */
};

static int store_bus_measures(struct orr_machine *machine,
                              const struct orr_bus_measures *measures,
                              const struct calibrate_place *place,
                              struct orr_error *err)
{
    struct orr_bus_tables tables;
    struct orr_bus_counts counts;
    struct orr_cpus cpus;
    unsigned nmain = 0;
    int rc = orr_cpus_find(NULL, &cpus, err);

    if (rc < 0)
        return rc;
    while (nmain < machine->nnodes && orr_node_is_main(&machine->nodes[nmain]))
        nmain++;
    orr_bus_counts_of(machine, cpus.ncores, nmain, &counts);
    orr_cpus_done(&cpus);
    rc = orr_bus_tables_init(&tables, &counts);
    if (rc < 0)
        return orr_fail(err, rc, "the bus files cannot be written: %s",
                        strerror(-rc));
    rc = orr_bus_tables_fill(&tables, machine, measures);
    if (rc == 0)
        rc = orr_bus_store_write(place->stem, &tables, err);
    orr_bus_tables_done(&tables);
    return rc;
}

static int show_bus_measures(const struct bus_shown *shown,
                             const struct request *request)
{
    int rc = request->json ? bus_print_json(shown) : bus_print(shown);

    if (rc < 0)
        tool_error("%s", strerror(-rc));
    else if (request->plot)
        rc = bus_draw(shown, request->plot);
    return rc < 0 || fflush(stdout) != 0 ? -1 : 0;
}

/* Names the bandwidths that spread by more than `limit`; how many there are. */
static unsigned tell_spreads(const struct orr_machine *machine,
                             const struct orr_bus_measures *measures,
                             double limit, const char *severity)
{
    unsigned n = 0;

    for (unsigned l = 0; l < measures->nlinks; l++) {
        const struct orr_bus_link *link = &measures->links[l];

        if (!(link->bandwidth.spread > limit))
            continue;
        tool_error("%s%s to %s: %.0f MB/s with a spread of %.0f %%: others use the "
                   "machine",
                   severity, machine->nodes[link->src].name,
                   machine->nodes[link->dst].name, link->bandwidth.median,
                   100 * link->bandwidth.spread);
        n++;
    }
    return n;
}

/* Whether the measures are of the machine; else says what becomes of them. */
static bool are_steady(const struct orr_machine *machine,
                       const struct orr_bus_measures *measures,
                       const struct calibrate_place *place, double limit)
{
    double most = 0;

    if (tell_spreads(machine, measures, limit, "") == 0)
        return true;
    for (unsigned l = 0; l < measures->nlinks; l++)
        most = fmax(most, measures->links[l].bandwidth.spread);
    tool_error("calibrate bus: nothing was stored, %s is as it was: measure again "
               "when the machine is quiet, or keep such figures with --spread "
               "%.0f%%, labelled so",
               place->path, ceil(100 * most));
    return false;
}

static int keep_and_show(struct orr_machine *machine,
                         const struct orr_bus_measures *measures,
                         const struct calibrate_place *place,
                         const struct request *request)
{
    const struct bus_shown shown = {machine, measures, place->host, place->stem,
                                    place->path};
    struct orr_error err = {"out of memory"};
    int rc;

    interrupt_says("while the results were being stored: some files may be "
                        "of before; repeat it");
    /* The bus files have no disks, which each program measures. */
    machine->nnodes -= request->disk != NULL;
    rc = store_bus_measures(machine, measures, place, &err);
    machine->nnodes += request->disk != NULL;
    if (rc < 0) {
        tool_error("%s", err.text);
        return -1;
    }
    if (calibrate_write_bus(place, machine, measures) < 0)
        return -1;
    tell_spreads(machine, measures, ORR_DOCTOR_SPREAD, "warning: ");
    interrupt_says("all results are stored, not all were shown");
    return show_bus_measures(&shown, request);
}

static int measure_bus(struct orr_exec *exec,
                       const struct calibrate_place *place,
                       const struct request *request)
{
    const struct orr_bus_options options = {
        .budget_us = request->quick ? 3e5 : 3e6,
        .blocks = request->quick ? 1 : 5,
        .all_sizes = !request->quick,
        .within = true,
        .groups = true,
    };
    struct orr_bus_measures measures;
    struct orr_machine *machine;
    struct orr_error err = {""};
    int rc = calibrate_machine_open(exec, request->disk, &machine, &err);

    if (rc == 0) {
        rc = orr_bus_measure(machine, &options, &measures, &err);
        if (rc < 0)
            machine->ops->close(machine);
    }
    if (rc < 0) {
        tool_error("%s", err.text);
        return -1;
    }
    rc = are_steady(machine, &measures, place, request->spread)
             ? keep_and_show(machine, &measures, place, request)
             : -1;
    orr_bus_measures_done(&measures);
    machine->ops->close(machine);
    return rc;
}

static bool read_percent(const char *text, double *ret)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || strcmp(end, "%") != 0 || !(value >= 0 && value < 1e9))
        return false;
    *ret = value / 100;
    return true;
}

int calibrate_bus(int argc, char **argv)
{
    struct request request = {.spread = ORR_DOCTOR_SPREAD};
    const char *spread = NULL;
    const struct tool_option list[] = {{0, "quick", NULL, &request.quick},
                                       {0, "spread", &spread, NULL},
                                       {0, "json", NULL, &request.json},
                                       {0, "plot", &request.plot, NULL},
                                       {0, "disk", &request.disk, NULL},
                                       {0}};
    struct calibrate_place place;
    struct orr_exec *exec;
    int first = tool_parse(argc, argv, list, help), rc;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first < argc)
        return tool_fail(TOOL_USAGE,
                         "calibrate bus: %s is not understood; see orrery "
                         "calibrate bus --help",
                         argv[first]);
    if (spread && !read_percent(spread, &request.spread))
        return tool_fail(TOOL_USAGE,
                         "calibrate bus: --spread %s: write a percentage, such as "
                         "80%%",
                         spread);
    rc = plot_check_name("calibrate bus: --plot", request.plot);
    if (rc != TOOL_OK)
        return rc;
    if (calibrate_place_open(&place) < 0)
        return TOOL_FAILED;
    quiet_begin(request.json);
    interrupt_says("nothing was stored; what was measured is lost, and the "
                        "bus files are as they were");
    rc = calibrate_place_lock(&place);
    if (rc == 0) {
        rc = orr_threads_new(NULL, &exec);
        if (rc < 0) {
            tool_error("no threads: %s", strerror(-rc));
        } else {
            rc = measure_bus(exec, &place, &request);
            orr_threads_free(exec);
        }
    }
    calibrate_place_close(&place);
    return rc < 0 ? TOOL_FAILED : TOOL_OK;
}
