/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/open.h - what a machine is opened with, and how it gets its drivers:
 * those of this library, then those of modules (driver_module.h). Main's.
 */
#pragma once

#include "core/base/config.h"
#include "core/device/driver.h"

/* GPUs of one vendor. */
struct orr_gpu_options {
    int n;                 /* devices; below 0: all */
    const char *ids;       /* STARPU_WORKERS_<…>ID or NULL */
    const unsigned *first; /* starpu_conf's numbers, before these, or NULL */
    const char *library;   /* ORRERY_<…>_LIBRARY or NULL */
    unsigned per_device;   /* workers of each */
    /* What has a processor of its own: each worker, or all devices together; else each
     * device. */
    bool cpu_per_worker, cpu_for_all;
    bool cpu_twice; /* the user asks for both */
    bool peers;     /* devices copy to each other where they can */
};

/* Numbers of workers; -1: nothing is said of them. */
struct orr_wanted {
    int ncpu, ncuda, nopencl;
};

/* The options of starpu_init, after configuration: -1 means all there are. */
struct orr_machine_options {
    const char *name;  /* NULL: the real machine */
    const char *edits; /* what-if edits of a simulated one, or NULL */
    const char *powers; /* what its parts draw, ORRERY_POWERS or NULL */
    uint64_t draw;     /* which of the machines that errors allow; 0: none */
    int ncpu, ncuda, nopencl, reserve_ncpu;
    /* Of these, what the program itself asks for, and what they are without that;
     * whether they are without (ORRERY_DEVICES=all), of a simulated machine alone. */
    struct orr_wanted program, without;
    bool all_devices;
    const char *host;                 /* STARPU_HOSTNAME or NULL */
    const char *const *sampling_dirs; /* NULL-terminated search path */
    bool run_kernels;                 /* ORRERY_SIM_KERNELS=run */
    const char *network;              /* ORRERY_SIM_NETWORK or NULL */
    const char *contexts;             /* ORRERY_SIM_CONTEXTS or NULL */
    const char *workers_cpuid;        /* STARPU_WORKERS_CPUID or NULL */
    const char *workers_coreid;       /* STARPU_WORKERS_COREID or NULL */
    /* Before workers_cpuid: NULL, or where each of STARPU_NMAXWORKERS workers
     * would be bound, as positions in the topology. */
    const unsigned *workers_bindid;
    bool bind;            /* bind workers to processors */
    bool bus_calibrate;   /* real: measure the links anew */
    bool ignore_affinity; /* use processors outside the inherited mask, too */
    unsigned per_core;    /* CPU workers per core, 0 is 1 */
    /* Main's own processor: whether a core is left to it, and its position, or
     * that of a core, in the topology; -1: none. */
    bool main_bind;
    int main_cpuid, main_coreid;
    bool numa;                        /* a memory node per NUMA node */
    const char *drivers;              /* ORRERY_DRIVERS or NULL */
    struct orr_gpu_options cuda, hip; /* of a real machine */
    /* OpenCL devices of processors, too, or alone; STARPU_WORKERS_OPENCLID or
     * NULL, and before it starpu_conf's numbers or NULL; OCL_ICD_VENDORS and
     * STARPU_OPENCL_PROGRAM_DIR or NULL. */
    bool opencl_on_cpus, opencl_only_on_cpus;
    bool opencl_doubles;      /* boards that other drivers use, too */
    const char *opencl_parts; /* ORRERY_OPENCL_PARTS or NULL */
    const char *opencl_ids;
    const unsigned *opencl_gpuid;
    const char *opencl_vendors, *opencl_program_dir;
    const char *opencl_below; /* ORRERY_OPENCL_VENDORS or NULL */
    unsigned first_pauses, most_pauses; /* as core/device/threads.h has them */
    /* Simulated: devices copy to each other by way of main memory, whatever links they
     * have. */
    bool no_peers;
    int mbps; /* of all links when simulated; 0 or less: as they are */
    const char *hwloc_input; /* XML file to read the topology from, or NULL */
    /* Where main memory that drivers pin is noted; outlives the machine. NULL:
     * nothing is pinned. */
    struct orr_pinned *pinned;
};

/* Opens a machine; the caller's thread becomes its main context (orr_self).
 * Errors: -ENODEV no worker results; -EINVAL with a message in `err`. On error
 * nothing is left behind. */
typedef int (*orr_machine_open_fn)(const struct orr_machine_options *options,
                                   struct orr_machine **ret,
                                   struct orr_error *err);

int orr_real_machine_open(const struct orr_machine_options *options,
                          struct orr_machine **ret, struct orr_error *err);

/* Adds the devices of a driver to the machine, which has its main memory and its
 * engine, and says so in *ret; without devices *ret is NULL. Errors: -ENOMEM, or
 * others with a message. */
typedef int (*orr_driver_open_fn)(const struct orr_machine_options *options,
                                  struct orr_machine *machine,
                                  struct orr_driver **ret,
                                  struct orr_error *err);

/* Declares that of the driver in folder `name`, which defines it. */
#define ORR_DRIVER_OPEN(name)                                                  \
    int orr_driver_##name##_open(const struct orr_machine_options *options,    \
                                 struct orr_machine *machine,                  \
                                 struct orr_driver **ret,                      \
                                 struct orr_error *err)

/* Whether the structure names the worker, the nth of its type. */
bool orr_worker_is_named(const struct orr_worker_desc *desc, unsigned nth,
                         const struct starpu_driver *driver);

/* Opens all drivers that this library has, in the order of meson.build, then those
 * of options->drivers in its order. */
int orr_drivers_open(const struct orr_machine_options *options,
                     struct orr_machine *machine, struct orr_error *err);
/* Adds all devices that these options allow, whatever number of them is asked for,
 * to a machine that has its main memory already: to measure them. */
int orr_device_drivers_open(const struct orr_machine_options *options,
                            struct orr_machine *machine, struct orr_error *err);
/* Which goes first of a value of struct starpu_conf, -1: none, and the variable's:
 * that, unless the structure says otherwise. `conf` may be NULL. */
int orr_conf_count(const struct starpu_conf *conf, int from_conf,
                   const struct orr_config *config, enum orr_config_id id);
/* All but sampling_dirs and pinned, by starpu_conf, which may be NULL, and the
 * environment. What they point to is the structure's and the configuration's. */
void orr_machine_options_fill(struct orr_machine_options *options,
                              const struct starpu_conf *conf,
                              const struct orr_config *config);
/* What the environment says about devices. The texts are the configuration's. */
void orr_machine_options_devices(struct orr_machine_options *options,
                                 const struct orr_config *config);
/* Closes those that are open, the last one first. */
void orr_drivers_close(struct orr_machine *machine);

/* Opens the modules that the text names, "FILE:SETTINGS; FILE", and their drivers;
 * whatever fails, those that were opened are the machine's. Errors: -EINVAL, -EEXIST
 * or the driver's own, with a message. */
int orr_driver_modules_open(const char *text, struct orr_machine *machine,
                            struct orr_error *err);

/* Adds a driver that was opened to the machine, which closes it; NULL: there is
 * none. Errors: -ENOMEM; the driver is closed then. */
int orr_machine_add_driver(struct orr_machine *machine,
                           struct orr_driver *driver);
