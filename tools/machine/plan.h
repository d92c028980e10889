/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/plan.h - a machine as a list of processors, devices and their
 * connections. It becomes a description whose parameters are derived from
 * published figures and from the assumptions of platforms/catalogue/parts.py.
 * One thread per plan.
 */
#pragma once

#include <stdbool.h>

#include "tools/machine/machine.h"

#define MACHINE_PLAN_MAX_DEVICES 128
#define MACHINE_PLAN_MAX_CORES   8192
#define MACHINE_PLAN_MAX_NODES   32
#define MACHINE_PLAN_CACHES      3

struct machine_plan_device {
    char *model;               /* owned; "NVIDIA H100 PCIe 80GB" */
    double tflops;             /* single precision; 0: not known */
    unsigned long long memory; /* bytes */
    double pcie_rate;          /* bytes per second, one direction, published */
    int group;                 /* of devices behind one PCIe switch, -1: none */
    unsigned numa;             /* the node it is connected to */
    char pci[16];              /* "0000:1b:00.0", "": not known */
};

struct machine_plan_node {
    unsigned package;
    unsigned long long memory; /* bytes, 0: not known */
};

struct machine_plan_core {
    unsigned numa, package;
    int l3; /* the cache that it shares; -1: not known */
    unsigned long long caches[MACHINE_PLAN_CACHES]; /* L1…, 0: not known */
};

/* All zero: nothing is known. */
struct machine_plan {
    char *name;                        /* owned */
    char *processor;                   /* owned; its model */
    unsigned ncores, nnuma, npackages; /* 0 packages: as many as nodes */
    struct machine_plan_node nodes[MACHINE_PLAN_MAX_NODES];
    struct machine_plan_core *cores; /* owned; NULL: nodes have equal parts */
    double core_flops;  /* single precision, of one core; 0: not known */
    double memory_rate; /* of a NUMA node, bytes per second, published */
    double socket_rate; /* from a socket to all others, the same */
    struct machine_plan_device *devices; /* owned */
    unsigned ndevices;
    bool no_peer; /* devices cannot copy to each other over PCIe */
    /* Links between devices besides PCIe, bytes per second in one direction as
     * published: a port of each device to a switch, or ndevices × ndevices of
     * single pairs; 0: none. */
    double switch_rate;
    double *pair_rates; /* owned; NULL: none */
    bool models;        /* copy kernel models, scaled */
    char *assumed;      /* owned; what was assumed, "; " between */
    char *origin;       /* owned; where the parts' figures are published */
};

/* Sets name and processor (copied); parameters of a known processor are looked
 * up, those of others assumed: `ghz` (0: not known) and `flops` per cycle (0:
 * assumed). Errors are printed: -ENOMEM. */
int machine_plan_set_processor(struct machine_plan *plan, const char *name,
                               const char *model, unsigned ncores, double ghz,
                               double flops);

/* Makes `n` NUMA nodes, each a socket, before the processor is set. */
void machine_plan_set_sockets(struct machine_plan *plan, unsigned n);

/* Adds devices of a model, with its known parameters; `memory` and `tflops`
 * have precedence unless 0. Errors are printed: -EINVAL when the memory is not
 * known, -E2BIG, -ENOMEM. */
int machine_plan_add_devices(struct machine_plan *plan, const char *model,
                             unsigned n, unsigned long long memory,
                             double tflops, double pcie_rate);

/* The rate of sixteen lanes of PCI Express, generation 3 to 6, bytes per
 * second in one direction; 0 for others. */
double machine_plan_pcie_rate(unsigned generation);

/* The rate of all links of a device of that model to others, one direction; 0
 * when it has none. */
double machine_plan_nvlink_rate(const char *model);

/* Notes an assumption (printf style). Errors are printed: -ENOMEM. */
int machine_plan_assume(struct machine_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes the assumption between sockets, where there are several. Errors are
 * printed: -ENOMEM. */
int machine_plan_note_sockets(struct machine_plan *plan);

/* The description. *ret is owned by the caller. Errors are printed. */
int machine_plan_describe(const struct machine_plan *plan,
                          struct orr_machine_desc **ret);

/* Where a machine is written, by the options. */
struct machine_destination {
    const char *output; /* a platform file; NULL: where -m finds it */
    const char *const *sampling_dirs; /* ends with NULL */
    bool force;                       /* replace files that are there */
    bool json;                        /* report as JSON what was made */
};

/* Writes the description, and the models if requested, and reports it. Errors
 * are printed. */
int machine_plan_finish(const struct machine_plan *plan,
                        const struct machine_destination *where);
void machine_plan_done(struct machine_plan *plan);

/* Adds models of the catalogue's nearest machine to `files`, in `folder`, with
 * times scaled by published peaks, for host `host`. `ret_source` gets the name
 * of that machine, owned by the caller. Errors are printed: -ENOENT when no
 * machine of the catalogue is similar. */
int machine_scale_models(const struct machine_plan *plan, const char *host,
                         const char *folder, const char *const *sampling_dirs,
                         struct machine_files *files, char **ret_source);
