/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/old.c - libraries of vendors that lack most entries: both have
 * those before that of the bus. */
#define ENTRY(name)                                                            \
    int name(void);                                                            \
    int name(void)                                                             \
    {                                                                          \
        return 0;                                                              \
    }
ENTRY(cuInit)
ENTRY(cuDriverGetVersion)
ENTRY(cuDeviceGetCount)
ENTRY(cuDeviceGet)
ENTRY(cuDeviceGetName)
ENTRY(cuDeviceTotalMem_v2)
ENTRY(hipInit)
ENTRY(hipDriverGetVersion)
ENTRY(hipGetDeviceCount)
ENTRY(hipDeviceGet)
ENTRY(hipDeviceGetName)
ENTRY(hipDeviceTotalMem)
