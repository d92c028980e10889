/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/arch.h - combs: the device sets that a task can run on, numbered
 * in order of first appearance. Any thread; combs live as long as the registry.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Device types as model files number them. 3 is unused; numbers beyond these, such as
 * those of drivers that are modules, are kept when files are read and written. */
enum orr_device_type {
    ORR_DEVICE_CPU = 0,
    ORR_DEVICE_CUDA = 1,
    ORR_DEVICE_OPENCL = 2,
    ORR_DEVICE_FPGA = 4,
    ORR_DEVICE_MPI_MS = 5,
    ORR_DEVICE_TCPIP_MS = 6,
    ORR_DEVICE_HIP = 7,
};

struct orr_device {
    int type;   /* enum orr_device_type, or any number read from a file */
    int devid;  /* number among the devices of its type */
    int ncores; /* 1, or the size of a combined worker */
};

/* A set of devices: one, or several for a combined worker. */
struct orr_comb {
    unsigned id; /* its number in the registry */
    unsigned ndevices;
    struct orr_device devices[];
};

struct orr_combs;

/* Bit `type` of `homogeneous` set: all devices of that type share one model.
 * StarPU's default is the CPU alone. */
#define ORR_HOMOGENEOUS_DEFAULT (1U << ORR_DEVICE_CPU)

/* Makes an empty registry, owned by the caller. Errors: -ENOMEM. */
int orr_combs_new(unsigned homogeneous, struct orr_combs **ret);
void orr_combs_free(struct orr_combs *combs);

/* The number of the comb equal to these devices; a new one is added. Two are
 * equal when their devices pair off with the same type, ncores and devid; a
 * homogeneous type's devid does not count. Takes the registry's lock. Errors:
 * -ENOMEM, -EINVAL without devices. */
int orr_combs_get(struct orr_combs *combs, const struct orr_device *devices,
                  unsigned ndevices, unsigned *ret);

unsigned orr_combs_count(struct orr_combs *combs);

/* The comb numbered `id`, NULL beyond the last. Lent; it never changes. */
const struct orr_comb *orr_combs_at(struct orr_combs *combs, unsigned id);

/* The rule of orr_combs_get on its own. */
bool orr_devices_equal(const struct orr_device *a, unsigned na,
                       const struct orr_device *b, unsigned nb,
                       unsigned homogeneous);

/* How much faster than a CPU core of weight 1 a set is assumed to be by common
 * cost functions: the sum of weight × ncores. A type without a name is taken to be
 * like a core. */
double orr_devices_speedup(const struct orr_device *devices, unsigned ndevices);

/* "cuda", "cpu"…, NULL for a number that has no name. */
const char *orr_device_type_name(int type);

/* The type called `name` (any letter case), -1 when there is none. */
int orr_device_type_find(const char *name);

#define ORR_ARCH_NAME_SIZE 32

/* Writes the device's name, "cuda0", or "type24_0" if its type has none; the result is
 * snprintf's. */
int orr_device_label(const struct orr_device *device, char *ret, size_t size);

/* Writes the architecture's name, "cuda0_impl1 (Comb3)", cut to 31 characters
 * as StarPU cuts it; "type24_0_…" of a type that has no name. ncores does not appear
 * in it. */
void orr_arch_name(const struct orr_device *devices, unsigned ndevices,
                   unsigned comb, unsigned impl, char ret[ORR_ARCH_NAME_SIZE]);

/* Reads STARPU_PERF_MODEL_HOMOGENEOUS_<T> through `get`, for tools; core has
 * its own configuration. Unset ones keep the default. */
unsigned orr_homogeneous_from_env(const char *(*get)(const char *name));
