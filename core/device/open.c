/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/open.c - see open.h. Main's.
 */
#include "core/device/open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/device/kind.h"

/* -- options --------------------------------------------------------------- */

static void gpu_options(struct orr_gpu_options *options,
                        const struct orr_config *config, enum orr_config_id ids,
                        enum orr_config_id library, enum orr_config_id workers,
                        enum orr_config_id cpu_per_worker,
                        enum orr_config_id cpu_per_device)
{
    options->ids = orr_config_string(config, ids);
    options->library = orr_config_string(config, library);
    options->per_device = (unsigned)orr_config_int(config, workers);
    options->peers = orr_config_bool(config, ORR_CFG_GPU_PEERS);
    options->cpu_per_worker = orr_config_bool(config, cpu_per_worker);
    options->cpu_for_all = !orr_config_bool(config, cpu_per_device);
    options->cpu_twice =
        options->cpu_per_worker && orr_config_is_set(config, cpu_per_device);
}

int orr_conf_count(const struct starpu_conf *conf, int from_conf,
                   const struct orr_config *config, enum orr_config_id id)
{
    bool conf_first = conf && conf->precedence_over_environment_variables;

    if (conf_first && from_conf != -1)
        return from_conf;
    if (orr_config_is_set(config, id))
        return orr_config_int(config, id);
    return from_conf;
}

void orr_machine_options_devices(struct orr_machine_options *options,
                                 const struct orr_config *config)
{
    gpu_options(&options->cuda, config, ORR_CFG_WORKERS_CUDAID,
                ORR_CFG_CUDA_LIBRARY, ORR_CFG_NWORKER_PER_CUDA,
                ORR_CFG_CUDA_CPU_PER_WORKER, ORR_CFG_CUDA_CPU_PER_DEVICE);
    gpu_options(&options->hip, config, ORR_CFG_WORKERS_HIPID,
                ORR_CFG_HIP_LIBRARY, ORR_CFG_NWORKER_PER_HIP,
                ORR_CFG_HIP_CPU_PER_WORKER, ORR_CFG_HIP_CPU_PER_DEVICE);
    options->no_peers = !orr_config_bool(config, ORR_CFG_GPU_PEERS);
    options->opencl_on_cpus = orr_config_bool(config, ORR_CFG_OPENCL_ON_CPUS);
    options->opencl_only_on_cpus =
        orr_config_bool(config, ORR_CFG_OPENCL_ONLY_ON_CPUS);
    options->opencl_parts = orr_config_string(config, ORR_CFG_OPENCL_PARTS);
    options->opencl_ids = orr_config_string(config, ORR_CFG_WORKERS_OPENCLID);
    options->opencl_vendors =
        orr_config_string(config, ORR_CFG_OCL_ICD_VENDORS);
    options->opencl_below = orr_config_string(config, ORR_CFG_OPENCL_VENDORS);
    options->opencl_program_dir =
        orr_config_string(config, ORR_CFG_OPENCL_PROGRAM_DIR);
}

/* By the environment alone where `conf` is NULL. */
static struct orr_wanted counts_of(const struct starpu_conf *conf,
                                   const struct orr_config *config)
{
    bool older = orr_config_is_set(config, ORR_CFG_NCPUS) &&
                 !orr_config_is_set(config, ORR_CFG_NCPU);

    return (struct orr_wanted){
        .ncpu = orr_conf_count(conf, conf ? conf->ncpus : -1, config,
                               older ? ORR_CFG_NCPUS : ORR_CFG_NCPU),
        .ncuda = orr_conf_count(conf, conf ? conf->ncuda : -1, config,
                                ORR_CFG_NCUDA),
        .nopencl = orr_conf_count(conf, conf ? conf->nopencl : -1, config,
                                  ORR_CFG_NOPENCL),
    };
}

/* What differs from what would be without the program. */
static int only_by_program(int with, int without)
{
    return with == without ? -1 : with;
}

static void choose_counts(struct orr_machine_options *options,
                          const struct starpu_conf *conf,
                          const struct orr_config *config)
{
    const char *devices = orr_config_string(config, ORR_CFG_DEVICES);
    struct orr_wanted with = counts_of(conf, config), counts;

    options->without = counts_of(NULL, config);
    options->program = (struct orr_wanted){
        .ncpu = only_by_program(with.ncpu, options->without.ncpu),
        .ncuda = only_by_program(with.ncuda, options->without.ncuda),
        .nopencl = only_by_program(with.nopencl, options->without.nopencl),
    };
    options->all_devices =
        options->name && devices && strcmp(devices, "all") == 0;
    counts = options->all_devices ? options->without : with;
    options->ncpu = counts.ncpu;
    options->ncuda = counts.ncuda;
    options->nopencl = counts.nopencl;
}

/* Positions that workers are bound to, unless the environment has others. */
static const unsigned *bindid_of(const struct starpu_conf *conf,
                                 const struct orr_config *config)
{
    if (!conf || !conf->use_explicit_workers_bindid)
        return NULL;
    if ((orr_config_is_set(config, ORR_CFG_WORKERS_CPUID) ||
         orr_config_is_set(config, ORR_CFG_WORKERS_COREID)) &&
        !conf->precedence_over_environment_variables)
        return NULL;
    return conf->workers_bindid;
}

/* Numbers of devices, if they are used, unless the environment has others. */
static const unsigned *gpuid_of(const struct starpu_conf *conf, unsigned used,
                                const unsigned *numbers,
                                const struct orr_config *config,
                                enum orr_config_id ids)
{
    if (!used || (orr_config_is_set(config, ids) &&
                  !conf->precedence_over_environment_variables))
        return NULL;
    return numbers;
}

static void choose_devices(struct orr_machine_options *options,
                           const struct starpu_conf *conf,
                           const struct orr_config *config)
{
    orr_machine_options_devices(options, config);
    options->cuda.n = options->ncuda;
    options->hip.n =
        orr_conf_count(conf, conf ? conf->nhip : -1, config, ORR_CFG_NHIP);
    if (!conf)
        return;
    options->cuda.first =
        gpuid_of(conf, conf->use_explicit_workers_cuda_gpuid,
                 conf->workers_cuda_gpuid, config, ORR_CFG_WORKERS_CUDAID);
    options->hip.first =
        gpuid_of(conf, conf->use_explicit_workers_hip_gpuid,
                 conf->workers_hip_gpuid, config, ORR_CFG_WORKERS_HIPID);
    options->opencl_gpuid =
        gpuid_of(conf, conf->use_explicit_workers_opencl_gpuid,
                 conf->workers_opencl_gpuid, config, ORR_CFG_WORKERS_OPENCLID);
}

void orr_machine_options_fill(struct orr_machine_options *options,
                              const struct starpu_conf *conf,
                              const struct orr_config *config)
{
    const char *kernels = orr_config_string(config, ORR_CFG_SIM_KERNELS);
    const char *const *sampling_dirs = options->sampling_dirs;
    struct orr_pinned *pinned = options->pinned;

    *options = (struct orr_machine_options){
        .sampling_dirs = sampling_dirs,
        .pinned = pinned,
        .name = orr_config_string(config, ORR_CFG_MACHINE),
        .edits = orr_config_string(config, ORR_CFG_SET),
        .powers = orr_config_string(config, ORR_CFG_POWERS),
        .draw = (uint64_t)orr_config_int(config, ORR_CFG_SIM_DRAW),
        .mbps = orr_config_int(config, ORR_CFG_LIMIT_BANDWIDTH),
        .reserve_ncpu = orr_conf_count(conf, conf ? conf->reserve_ncpus : -1,
                                       config, ORR_CFG_RESERVE_NCPU),
        .host = orr_config_string(config, ORR_CFG_HOSTNAME),
        .run_kernels = kernels && strcmp(kernels, "run") == 0,
        .network = orr_config_string(config, ORR_CFG_SIM_NETWORK),
        .contexts = orr_config_string(config, ORR_CFG_SIM_CONTEXTS),
        .workers_cpuid = orr_config_string(config, ORR_CFG_WORKERS_CPUID),
        .workers_bindid = bindid_of(conf, config),
        .bind = !orr_config_bool(config, ORR_CFG_WORKERS_NOBIND),
        .bus_calibrate = orr_conf_count(conf, conf ? conf->bus_calibrate : -1,
                                        config, ORR_CFG_BUS_CALIBRATE) > 0,
        .workers_coreid = orr_config_string(config, ORR_CFG_WORKERS_COREID),
        .ignore_affinity = !orr_config_bool(config, ORR_CFG_WORKERS_GETBIND),
        .per_core = (unsigned)orr_config_int(config, ORR_CFG_NTHREADS_PER_CORE),
        .first_pauses =
            conf ? conf->driver_spinning_backoff_min
                 : (unsigned)orr_config_int(config, ORR_CFG_BACKOFF_MIN),
        .most_pauses =
            conf ? conf->driver_spinning_backoff_max
                 : (unsigned)orr_config_int(config, ORR_CFG_BACKOFF_MAX),
        .main_bind = orr_config_bool(config, ORR_CFG_MAIN_THREAD_BIND),
        .main_cpuid = orr_config_int(config, ORR_CFG_MAIN_THREAD_CPUID),
        .main_coreid = orr_config_int(config, ORR_CFG_MAIN_THREAD_COREID),
        .numa = orr_config_bool(config, ORR_CFG_USE_NUMA),
        .drivers = orr_config_string(config, ORR_CFG_DRIVERS),
        .hwloc_input = orr_config_string(config, ORR_CFG_HWLOC_INPUT),
    };
    if (options->reserve_ncpu < 0)
        options->reserve_ncpu = 0;
    choose_counts(options, conf, config);
    choose_devices(options, conf, config);
}

/* -- drivers --------------------------------------------------------------- */

#define KIND(name)
#define DRIVER(name) ORR_DRIVER_OPEN(name);
#include "core/device/kinds.inc"
#undef DRIVER

static const orr_driver_open_fn drivers[] = {
#define DRIVER(name) orr_driver_##name##_open,
#include "core/device/kinds.inc"
#undef DRIVER
#undef KIND
};

enum { NDRIVERS = sizeof(drivers) / sizeof(drivers[0]) };

int orr_machine_add_driver(struct orr_machine *machine,
                           struct orr_driver *driver)
{
    unsigned n = machine->ndrivers;
    struct orr_driver **all;

    if (!driver)
        return 0;
    all = realloc(machine->drivers, (n + 1) * sizeof(*all));
    if (!all) {
        driver->ops->close(driver);
        return -ENOMEM;
    }
    all[n] = driver;
    machine->drivers = all;
    machine->ndrivers = n + 1;
    return 0;
}

/* From that one on; main memory's is the first. */
static int drivers_open_from(unsigned first,
                             const struct orr_machine_options *options,
                             struct orr_machine *machine, struct orr_error *err)
{
    int rc = 0;

    for (unsigned i = first; rc == 0 && i < NDRIVERS; i++) {
        struct orr_driver *driver = NULL;
        int added;

        rc = drivers[i](options, machine, &driver, err);
        added = orr_machine_add_driver(machine, driver);
        if (rc >= 0)
            rc = added;
    }
    return rc;
}

int orr_drivers_open(const struct orr_machine_options *options,
                     struct orr_machine *machine, struct orr_error *err)
{
    int rc = drivers_open_from(0, options, machine, err);

    return rc == 0 && options->drivers
               ? orr_driver_modules_open(options->drivers, machine, err)
               : rc;
}

int orr_device_drivers_open(const struct orr_machine_options *options,
                            struct orr_machine *machine, struct orr_error *err)
{
    struct orr_machine_options all = *options;

    all.ncpu = 0;
    /* Boards that OpenCL may get in a run with these options. */
    all.opencl_doubles = options->opencl_ids || options->opencl_gpuid ||
                         options->cuda.n >= 0 || options->hip.n >= 0;
    all.ncuda = all.nopencl = all.cuda.n = all.hip.n = -1;
    all.cuda.ids = all.hip.ids = NULL;
    all.cuda.first = all.hip.first = NULL;
    all.cuda.per_device = all.hip.per_device = 1;
    all.opencl_ids = NULL;
    all.opencl_gpuid = NULL;
    return drivers_open_from(1, &all, machine, err);
}

void orr_drivers_close(struct orr_machine *machine)
{
    while (machine->ndrivers > 0) {
        struct orr_driver *driver = machine->drivers[--machine->ndrivers];

        driver->ops->close(driver);
    }
    free(machine->drivers);
    machine->drivers = NULL;
}

/* Devices are numbered by the machine, or have a handle of their vendor's; processors
 * are numbered from 0. The numbers share their memory. */
bool orr_worker_is_named(const struct orr_worker_desc *desc, unsigned nth,
                         const struct starpu_driver *driver)
{
    if (desc->handle)
        return desc->handle == (void *)driver->id.opencl_id;
    return driver->id.cpu_id == (orr_device_kind(desc->type)->is_processor
                                     ? nth
                                     : (unsigned)desc->devid);
}
