/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/nvml.c - energy of NVIDIA GPUs as their driver reports it,
 * through libnvidia-ml, which comes with the driver and is opened on the first
 * measurement. The declarations are those of NVIDIA's public NVML reference.
 */
#include "core/device/nvml.h"
#include "core/device/energy.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libnvidia-ml.so.1"

/* nvmlReturn_t; 0 is NVML_SUCCESS. */
enum { NVML_ERROR_NOT_SUPPORTED = 3, NVML_ERROR_NO_PERMISSION = 4 };

struct functions {
    int (*init)(void);
    int (*shutdown)(void);
    int (*device_by_index)(unsigned index, void **ret_device);
    int (*device_by_bus)(const char *bus, void **ret_device);
    int (*total_energy)(void *device, unsigned long long *ret_mj);
    const char *(*error_string)(int code);
};

struct nvml {
    struct orr_energy_meter meter; /* first */
    void *library;
    struct functions f;
    bool initialised;
    void *device;
    int number;
    unsigned long long before; /* mJ */
};

/* POSIX guarantees that a function pointer fits; ISO C has no cast for it. */
static int nvml_find_function(struct nvml *nvml, const char *name, void *ret,
                              struct orr_error *err)
{
    void *symbol = dlsym(nvml->library, name);

    if (!symbol)
        return orr_fail(err, -ENODEV,
                        "the NVIDIA driver's library has no %s: install a "
                        "driver of version 410 or later",
                        name);
    memcpy(ret, &symbol, sizeof(symbol));
    return 0;
}

static int find_functions(struct nvml *nvml, struct orr_error *err)
{
    struct functions *f = &nvml->f;
    int rc = nvml_find_function(nvml, "nvmlInit_v2", &f->init, err);

    if (rc == 0)
        rc = nvml_find_function(nvml, "nvmlShutdown", &f->shutdown, err);
    if (rc == 0)
        rc = nvml_find_function(nvml, "nvmlDeviceGetHandleByIndex_v2",
                                &f->device_by_index, err);
    if (rc == 0)
        rc = nvml_find_function(nvml, "nvmlDeviceGetHandleByPciBusId_v2",
                                &f->device_by_bus, err);
    if (rc == 0)
        rc = nvml_find_function(nvml, "nvmlDeviceGetTotalEnergyConsumption",
                                &f->total_energy, err);
    if (rc == 0)
        rc = nvml_find_function(nvml, "nvmlErrorString", &f->error_string, err);
    return rc;
}

static int nvml_open_library(struct nvml *nvml, const char *name,
                             struct orr_error *err)
{
    nvml->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (nvml->library)
        return find_functions(nvml, err);
    return orr_fail(err, -ENODEV,
                    "the energy of GPUs is read through %s, which is not "
                    "there (%s): install NVIDIA's driver, which brings it "
                    "(Debian: libnvidia-ml1)",
                    name, dlerror());
}

static int nvml_fail(const struct nvml *nvml, const char *what, int code,
                     struct orr_error *err)
{
    const char *remedy = "see whether nvidia-smi works";
    int rc = -EIO;

    if (code == NVML_ERROR_NOT_SUPPORTED) {
        rc = -ENODEV;
        remedy = "GPUs before Volta have no energy counter";
    } else if (code == NVML_ERROR_NO_PERMISSION) {
        rc = -EACCES;
        remedy = "run as a user who may use the GPU";
    }
    return orr_fail(err, rc, "NVML: %s of GPU %d: %s; %s", what, nvml->number,
                    nvml->f.error_string(code), remedy);
}

static int nvml_total_energy(const struct nvml *nvml, unsigned long long *ret,
                             struct orr_error *err)
{
    int code = nvml->f.total_energy(nvml->device, ret);

    return code ? nvml_fail(nvml, "the energy", code, err) : 0;
}

/* With the domain, which others leave out if it is 0. */
static void whole_bus(const char *bus, char *ret, size_t size)
{
    const char *colon = strchr(bus, ':');

    snprintf(ret, size, "%s%s",
             colon && strchr(colon + 1, ':') ? "" : "0000:", bus);
}

static int find_device(struct nvml *nvml, const char *bus)
{
    char whole[32];

    if (!bus)
        return nvml->f.device_by_index((unsigned)nvml->number, &nvml->device);
    whole_bus(bus, whole, sizeof(whole));
    return nvml->f.device_by_bus(whole, &nvml->device);
}

static int nvml_begin(struct nvml *nvml, const char *bus, struct orr_error *err)
{
    int code = nvml->f.init();

    if (code)
        return nvml_fail(nvml, "the driver", code, err);
    nvml->initialised = true;
    code = find_device(nvml, bus);
    if (code)
        return nvml_fail(nvml, "the handle", code, err);
    return nvml_total_energy(nvml, &nvml->before, err);
}

static void nvml_close(struct orr_energy_meter *meter)
{
    struct nvml *nvml = (struct nvml *)meter;

    if (nvml->initialised)
        nvml->f.shutdown();
    if (nvml->library)
        dlclose(nvml->library);
    free(nvml);
}

static int nvml_open(const struct orr_energy_options *options, int device,
                     struct orr_energy_meter **ret, struct orr_error *err)
{
    struct nvml *nvml = calloc(1, sizeof(*nvml));
    int rc;

    if (!nvml)
        return orr_fail(err, -ENOMEM, "no memory to measure energy");
    nvml->meter.ops = &orr_energy_nvml;
    nvml->number = device;
    rc = nvml_open_library(
        nvml, options && options->nvml ? options->nvml : LIBRARY, err);
    if (rc == 0)
        rc = nvml_begin(nvml, options ? options->bus : NULL, err);
    if (rc) {
        nvml_close(&nvml->meter);
        return rc;
    }
    *ret = &nvml->meter;
    return 0;
}

static int nvml_read(struct orr_energy_meter *meter, double *ret_joules,
                     struct orr_error *err)
{
    const struct nvml *nvml = (const struct nvml *)meter;
    unsigned long long now;
    int rc = nvml_total_energy(nvml, &now, err);

    if (rc)
        return rc;
    /* The counter begins anew when the driver is loaded again. */
    if (now < nvml->before)
        return orr_fail(err, -EIO,
                        "the energy counter of GPU %d went back: the driver "
                        "was loaded again meanwhile; measure once more",
                        nvml->number);
    *ret_joules = (double)(now - nvml->before) / 1e3;
    return 0;
}

const struct orr_energy_ops orr_energy_nvml = {
    .open = nvml_open,
    .read = nvml_read,
    .close = nvml_close,
};

/* -- questions beside energy -- */

/* nvmlViolationTime_t: us, ns. */
struct violation {
    unsigned long long reference, time;
};

/* nvmlPerfPolicyType_t. */
enum { POLICY_POWER = 0, POLICY_HEAT = 1 };

/* Entries are NULL where the library, or its driver, is not there. */
static struct {
    pthread_once_t once;
    int (*by_bus)(const char *bus, struct nvmlDevice_st **ret);
    int (*by_index)(unsigned index, struct nvmlDevice_st **ret);
    int (*name)(struct nvmlDevice_st *device, char *ret, unsigned size);
    int (*violation)(struct nvmlDevice_st *device, int policy,
                     struct violation *ret);
    char problem[200]; /* why slowdowns cannot be read; "": they can */
} questions = {.once = PTHREAD_ONCE_INIT};

static void cuda_find_function(void *library, const char *name, void *ret)
{
    void *symbol = dlsym(library, name);

    memcpy(ret, &symbol, sizeof(symbol));
}

/* An entry that one question needs. */
static void look_up_for_slowdown(void *library, const char *name, void *ret)
{
    void *symbol;

    cuda_find_function(library, name, ret);
    memcpy(&symbol, ret, sizeof(symbol));
    if (!symbol && !*questions.problem)
        snprintf(questions.problem, sizeof(questions.problem),
                 LIBRARY " has no %s", name);
}

static void open_questions(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *(*words)(int code) = NULL;
    int (*start)(void) = NULL;
    int code;

    if (!library) {
        snprintf(questions.problem, sizeof(questions.problem),
                 "there is no " LIBRARY " (%s)", dlerror());
        return;
    }
    look_up_for_slowdown(library, "nvmlInit_v2", &start);
    cuda_find_function(library, "nvmlErrorString", &words);
    code = start ? start() : 0;
    if (code)
        snprintf(questions.problem, sizeof(questions.problem), "NVML: %s (%d)",
                 words ? words(code) : "error", code);
    if (!start || code)
        return;
    cuda_find_function(library, "nvmlDeviceGetHandleByPciBusId_v2",
                       &questions.by_bus);
    look_up_for_slowdown(library, "nvmlDeviceGetHandleByIndex_v2",
                         &questions.by_index);
    cuda_find_function(library, "nvmlDeviceGetName", &questions.name);
    look_up_for_slowdown(library, "nvmlDeviceGetViolationStatus",
                         &questions.violation);
}

struct nvmlDevice_st *orr_nvml_device(const char *bus)
{
    struct nvmlDevice_st *device;
    char whole[32];

    pthread_once(&questions.once, open_questions);
    whole_bus(bus, whole, sizeof(whole));
    if (!questions.by_bus || questions.by_bus(whole, &device) != 0)
        return NULL;
    return device;
}

const char *orr_nvml_no_slowdown(void)
{
    pthread_once(&questions.once, open_questions);
    return *questions.problem ? questions.problem : NULL;
}

int orr_nvml_slowdown(unsigned index, struct orr_nvml_slowdown *ret)
{
    struct violation power, heat;
    struct nvmlDevice_st *device;

    if (orr_nvml_no_slowdown() || questions.by_index(index, &device) != 0)
        return -ENODEV;
    if (!questions.name ||
        questions.name(device, ret->name, sizeof(ret->name)) != 0)
        snprintf(ret->name, sizeof(ret->name), "GPU");
    if (questions.violation(device, POLICY_POWER, &power) != 0 ||
        questions.violation(device, POLICY_HEAT, &heat) != 0)
        return -ENOTSUP;
    ret->power_us = (double)power.time / 1e3;
    ret->heat_us = (double)heat.time / 1e3;
    return 0;
}
