/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/fake-nvml.c - a library that stands in for NVIDIA's: 2 GPUs, of
 * which number 1 is too old to have a counter. Each look at the counter of
 * number 0 finds 1500 mJ more.
 */

enum { NOT_SUPPORTED = 3, NOT_FOUND = 6 };

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret);
const char *nvmlErrorString(int code);

static int devices[2];
static unsigned long long millijoules = 123456;

int nvmlInit_v2(void)
{
    return 0;
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

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *ret)
{
    if (device != &devices[0])
        return NOT_SUPPORTED;
    *ret = millijoules;
    millijoules += 1500;
    return 0;
}

const char *nvmlErrorString(int code)
{
    return code == NOT_FOUND ? "Not Found" : "Not Supported";
}
