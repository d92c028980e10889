/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/fake-nvml.c - a library that stands in for NVIDIA's: 2 GPUs, of
 * which number 1 is too old to have a counter, and number 0 is at 0000:41:00.0. Each look at the counter of
 * number 0 finds 1500 mJ more. FAKE_NVML_SLOW is the ms by which number 0 has been
 * slowed down for its power limit, and half as many for heat, from look to look; if
 * FAKE_NVML_COUNTS is 1, it is number 1 that knows.
 * FAKE_NVML_FAIL says what fails: `init', `energy', each look at the counter but the
 * first (`read'), or that counter, which goes back (`back').
 */
#include <stdlib.h>
#include <string.h>

enum {
    NOT_SUPPORTED = 3,
    NO_PERMISSION = 4,
    NOT_FOUND = 6,
    DRIVER_NOT_LOADED = 9,
    GPU_IS_LOST = 15,
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **ret);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret);
const char *nvmlErrorString(int code);
int nvmlDeviceGetName(void *device, char *ret, unsigned size);
int nvmlDeviceGetViolationStatus(void *device, int policy,
                                 unsigned long long *ret);

static int devices[2];
static unsigned long long millijoules = 123456;
static unsigned nlooks; /* at the counter, since the library was initialised */

static int fails(const char *what)
{
    const char *text = getenv("FAKE_NVML_FAIL");

    return text && strcmp(text, what) == 0;
}

int nvmlInit_v2(void)
{
    nlooks = 0;
    return fails("init") ? DRIVER_NOT_LOADED : 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
    if (index >= 2)
        return NOT_FOUND;
    *ret = &devices[index];
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **ret)
{
    if (strcmp(bus, "0000:41:00.0") != 0)
        return NOT_FOUND;
    *ret = &devices[0];
    return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret)
{
    if (device != &devices[0])
        return NOT_SUPPORTED;
    if (fails("energy"))
        return NO_PERMISSION;
    if (fails("read") && nlooks > 0)
        return GPU_IS_LOST;
    *ret = fails("back") && nlooks > 0 ? 0 : millijoules;
    millijoules += 1500;
    nlooks++;
    return 0;
}

const char *nvmlErrorString(int code)
{
    switch (code) {
    case NO_PERMISSION:
        return "Insufficient Permissions";
    case NOT_FOUND:
        return "Not Found";
    case DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    case GPU_IS_LOST:
        return "GPU is lost";
    default:
        return "Not Supported";
    }
}

int nvmlDeviceGetName(void *device, char *ret, unsigned size)
{
    strncpy(ret, device == &devices[0] ? "Fake GPU" : "Old GPU", size);
    return 0;
}

/* Of the two numbers the second one counts, in ns. */
int nvmlDeviceGetViolationStatus(void *device, int policy,
                                 unsigned long long *ret)
{
    static unsigned long long looks[2];
    const char *slow = getenv("FAKE_NVML_SLOW");
    const char *counts = getenv("FAKE_NVML_COUNTS");

    if (device != &devices[counts && *counts == '1'] || !slow || policy > 1)
        return NOT_SUPPORTED;
    ret[0] = 0;
    ret[1] =
        looks[policy]++ * strtoull(slow, NULL, 10) * 1000000 / (policy ? 2 : 1);
    return 0;
}
