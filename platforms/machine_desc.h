/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/machine_desc.h - a machine by its description: hosts, links and
 * routes of a SimGrid platform file, with the properties that StarPU and this
 * library read. Plain data, no threads, no SimGrid.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/error.h"

struct orr_edit_echo; /* platforms/edit.h */
struct orr_drawn;     /* platforms/draw.h */

#define ORR_NCOSTS 15 /* of the runtime: platforms/desc_build.h */

/* Properties of the zone: where a machine's figures come from, and the licence
 * of that source. */
#define ORR_PROP_ORIGIN  "orrery-origin"
#define ORR_PROP_LICENCE "orrery-licence"

struct orr_prop_desc {
    char *id, *value;
};

struct orr_host_desc {
    char *id;     /* "MAIN", "CPU3", "CUDA0", "OpenCL1", "RAM", "DISK0" */
    double speed; /* flop/s, a filler: kernels take the times of their models */
    struct orr_prop_desc *props;
    unsigned nprops;
    unsigned line; /* in the file it was read from, 0: none */
};

enum orr_link_sharing {
    ORR_LINK_SHARED,      /* both directions share the bandwidth */
    ORR_LINK_SPLITDUPLEX, /* a link per direction: SimGrid makes id_UP,
                           * id_DOWN */
    ORR_LINK_FATPIPE,     /* each transfer gets the whole bandwidth */
};

struct orr_link_desc {
    char *id;
    double bandwidth; /* bytes per second */
    double latency;   /* seconds */
    enum orr_link_sharing sharing;
    struct orr_prop_desc *props;
    unsigned nprops;
    unsigned line; /* in the file it was read from, 0: none */
    /* Before edits changed it; 0: it is as the file has it; NaN: it is what the user
     * says. Not written. */
    double stated_bandwidth, stated_latency;
};

/* What is known otherwise than from the user, 0: nothing. */
static inline double orr_stated(double stated, double value)
{
    return stated > 0 ? stated : isnan(stated) ? 0 : value;
}

enum orr_hop_direction {
    ORR_HOP_NONE, /* links that are not split */
    ORR_HOP_UP,
    ORR_HOP_DOWN,
};

struct orr_hop_desc {
    unsigned link; /* index in links */
    enum orr_hop_direction direction;
};

/* One direction; a symmetrical route in a file becomes two. */
struct orr_route_desc {
    unsigned src, dst; /* indices in hosts */
    struct orr_hop_desc *hops;
    unsigned nhops;
    unsigned line; /* in the file it was read from, 0: none */
};

struct orr_machine_desc {
    char *name;         /* "mirage" */
    char *path;         /* file it was read from */
    char *provenance;   /* "measured", "derived", "partly measured", NULL:
                         * unknown */
    char *sampling_dir; /* directory whose codelets/45/ hold the machine's
                         * kernel models, NULL: the usual search path */
    char *host;         /* host name under which models are looked up: the
                         * property orrery-host of MAIN, else the name */
    struct orr_prop_desc *config; /* SimGrid options, "network/crosstraffic" */
    unsigned nconfig;
    struct orr_prop_desc *props; /* of the zone, nothing reads them yet */
    unsigned nprops;
    struct orr_host_desc *hosts;
    unsigned nhosts;
    struct orr_link_desc *links;
    unsigned nlinks;
    struct orr_route_desc *routes;
    unsigned nroutes;
    /* Hosts CPU0…, CUDA0…, OpenCL0… found, numbered without holes. */
    unsigned ncpu, ncuda, nopencl;
    /* Hosts RAM0… up to the first hole: the NUMA nodes of main memory, which
     * RAM is as a whole. 0: nothing is known of them. */
    unsigned nnuma;
    /* StarPU's bus parameters when .bandwidth and .latency stand beside the
     * platform (bus_measured), else derived from the routes, see
     * platforms/bus_files.h. Nodes in the order RAM, CUDA0…, OpenCL0…;
     * row-major nnodes × nnodes, source first; MB/s and µs; 0 on the diagonal;
     * NaN unknown. */
    unsigned nnodes;
    double *bandwidth, *latency;
    bool bus_measured;
    /* Runtime costs in µs, NaN: not given. Read from properties of the host
     * MAIN: orrery-cost-submit, …-submit-per-buffer, …-push, …-fetch,
     * …-device-alloc, …-device-free, …-pinned-alloc-per-mib, …-first-use-per-mib,
     * …-device-first-use-per-mib, …-kernel-queue, …-kernel-latency, …-copy-queue, …-progress, …-wake,
     * …-wake-soon (not given: as …-wake).
     * These, orrery-host and orrery-provenance are fields here and do not
     * appear among MAIN's properties. */
    double cost_submit, cost_submit_per_buffer, cost_push, cost_fetch,
        cost_device_alloc, cost_device_free, cost_pinned_alloc_per_mib,
        cost_first_use_per_mib, cost_device_first_use_per_mib,
        cost_kernel_queue, cost_kernel_latency, cost_copy_queue, cost_progress,
        cost_wake, cost_wake_soon;
    /* The effects of orr_machine_desc_edit, in order. Not written. */
    struct orr_edit_echo *edits;
    unsigned nedits;
    /* Of costs that are not given: what they were before edits changed them, µs, 0:
     * they are not changed, NaN: as the user says. Not written. */
    double stated_costs[ORR_NCOSTS];
    struct orr_drawn *drawn; /* what orr_machine_desc_draw changed. Not written. */
    unsigned ndrawn;
};

/* Finds and reads a machine. A name with a slash or ending in .xml or .orrery is
 * a path: of a platform file, of the folder of an exported machine (a
 * platform.xml with codelets/45/ beside it), or of such a folder packed in one
 * file (platforms/packed.h), which is unpacked below the first of
 * `sampling_dirs`. Any other name is such a folder here; then a machine of the
 * catalogue; then NAME.machine.xml (what `orrery calibrate` writes),
 * NAME.platform.v4.xml or NAME.platform.xml in the bus/ of each directory of
 * `sampling_dirs` (NULL-terminated, may be NULL). *ret is owned by the caller,
 * who ends it with orr_machine_desc_free. Errors: -ENOENT naming the machines
 * that are known; -EINVAL with file:line, element and reason; -ENOMEM. */
int orr_machine_desc_load(const char *name, const char *const *sampling_dirs,
                          struct orr_machine_desc **ret, struct orr_error *err);

/* Reads one platform file (versions 3, 4.0, 4.1), and the bus files beside it.
 * The result is complete and consistent: MAIN and RAM exist, devices are
 * numbered without holes, each has a route from and to RAM. Two devices without
 * a route between them reach each other through RAM only. Errors as above. */
int orr_machine_desc_read(const char *path, struct orr_machine_desc **ret,
                          struct orr_error *err);

/* The same from memory, without looking for other files. `path` serves for
 * names and messages only. */
int orr_machine_desc_parse(const char *path, const void *text, size_t size,
                           struct orr_machine_desc **ret,
                           struct orr_error *err);

/* Writes version 4.1 XML that SimGrid loads; read again it gives an equal
 * description (but for the name, which is the file's). Measured bus parameters
 * are written beside it, NAME.bandwidth and NAME.latency. Each file appears
 * whole or not at all. Errors: -EINVAL what could not be read again; -EEXIST
 * bus files of another machine exist beside `path`; those of the system. */
int orr_machine_desc_write(const struct orr_machine_desc *desc,
                           const char *path, struct orr_error *err);

/* Prints that XML, for a file that gives the machine the name `name`. Does not
 * check. A write error shows in ferror(out). */
void orr_machine_desc_print_xml(const struct orr_machine_desc *desc,
                                const char *name, FILE *out);

/* One machine that can be found by name. Borrowed for the call. */
struct orr_machine_entry {
    const char *name;
    const char *path; /* of the platform file */
    bool catalogue;   /* else from the bus/ of a sampling directory */
};

/* Visits the machines that orr_machine_desc_load finds by name alone, those of
 * the catalogue first, then each sampling directory's, sorted by name within
 * each; a name that is hidden by an earlier one is left out. Ends early with
 * what `visit` returned when that is not 0. Errors: -ENOMEM. */
int orr_machine_desc_list(const char *const *sampling_dirs,
                          int (*visit)(const struct orr_machine_entry *entry,
                                       void *arg),
                          void *arg);

void orr_machine_desc_free(struct orr_machine_desc *desc);

/* The value of property `id`, NULL without. Borrowed. */
const char *orr_props_find(const struct orr_prop_desc *props, unsigned nprops,
                           const char *id);

/* The value of property `id` of host `host`, NULL without. Borrowed. */
const char *orr_host_desc_prop(const struct orr_host_desc *host,
                               const char *id);

/* Index of the host `id`, -1 without. */
int orr_machine_desc_host(const struct orr_machine_desc *desc, const char *id);

/* Number k of the host "<type><k>", type "CPU", "CUDA" or "OpenCL"; -1 for
 * every other name. */
int orr_host_desc_number(const struct orr_host_desc *host, const char *kind);

/* Index of the route from host `src` to host `dst`, -1 without. */
int orr_machine_desc_route(const struct orr_machine_desc *desc, unsigned src,
                           unsigned dst);

/* Frees desc->drawn (platforms/draw.c). */
void orr_drawn_free(struct orr_drawn *drawn, unsigned n);

/* What edits have changed, after all of them, by the names of their targets:
 * "pcie.bandwidth (set), cost[push] (set)", behind `before`; nothing where each figure
 * is as it was. Returns whether something is different. `out` may be NULL.
 * (platforms/edit_net.c) */
bool orr_edits_print_net(const struct orr_machine_desc *desc, const char *before,
                         FILE *out);

/* Frees the edits' reports, desc->edits (platforms/edit.c). */
void orr_edit_echoes_free(struct orr_edit_echo *echoes, unsigned n);
