/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/open.c - see open.h. Main's.
 */
#include "core/device/open.h"

#include <errno.h>
#include <stdlib.h>

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

void orr_machine_options_devices(struct orr_machine_options *options,
                                 const struct orr_config *config)
{
    gpu_options(&options->cuda, config, ORR_CFG_WORKERS_CUDAID,
                ORR_CFG_CUDA_LIBRARY, ORR_CFG_NWORKER_PER_CUDA,
                ORR_CFG_CUDA_CPU_PER_WORKER, ORR_CFG_CUDA_CPU_PER_DEVICE);
    gpu_options(&options->hip, config, ORR_CFG_WORKERS_HIPID,
                ORR_CFG_HIP_LIBRARY, ORR_CFG_NWORKER_PER_HIP,
                ORR_CFG_HIP_CPU_PER_WORKER, ORR_CFG_HIP_CPU_PER_DEVICE);
    options->opencl_on_cpus = orr_config_bool(config, ORR_CFG_OPENCL_ON_CPUS);
    options->opencl_only_on_cpus =
        orr_config_bool(config, ORR_CFG_OPENCL_ONLY_ON_CPUS);
    options->opencl_parts = orr_config_string(config, ORR_CFG_OPENCL_PARTS);
    options->opencl_ids = orr_config_string(config, ORR_CFG_WORKERS_OPENCLID);
    options->opencl_vendors =
        orr_config_string(config, ORR_CFG_OCL_ICD_VENDORS);
    options->opencl_program_dir =
        orr_config_string(config, ORR_CFG_OPENCL_PROGRAM_DIR);
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
