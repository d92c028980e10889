/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/arch.c - the registry of combs and the names of architectures.
 * One lock guards the list; combs themselves are constant.
 */
#include "perfmodel/arch.h"

#include "core/base/grow.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct orr_combs {
    pthread_mutex_t lock;
    struct orr_comb **list; /* [lock] owned */
    unsigned count;         /* [lock] */
    unsigned homogeneous;   /* [const] bit per type */
};

static const struct {
    int type;
    const char *name;
    double weight;
} types[] = {
    {ORR_DEVICE_CPU, "cpu", 0.5},
    {ORR_DEVICE_CUDA, "cuda", 13.33},
    {ORR_DEVICE_OPENCL, "opencl", 12.22},
    {ORR_DEVICE_FPGA, "fpga", 0.5},
    {ORR_DEVICE_MPI_MS, "mpi_ms", 1.0},
    {ORR_DEVICE_TCPIP_MS, "tcpip_ms", 1.0},
    {ORR_DEVICE_HIP, "hip", 13.33},
};

#define NTYPES (sizeof(types) / sizeof(types[0]))

int orr_combs_new(unsigned homogeneous, struct orr_combs **ret)
{
    struct orr_combs *combs = calloc(1, sizeof(*combs));

    if (!combs)
        return -ENOMEM;
    pthread_mutex_init(&combs->lock, NULL);
    combs->homogeneous = homogeneous;
    *ret = combs;
    return 0;
}

void orr_combs_free(struct orr_combs *combs)
{
    if (!combs)
        return;
    for (unsigned i = 0; i < combs->count; i++)
        free(combs->list[i]);
    free(combs->list);
    pthread_mutex_destroy(&combs->lock);
    free(combs);
}

static bool device_equal(const struct orr_device *a, const struct orr_device *b,
                         unsigned homogeneous)
{
    if (a->type != b->type || a->ncores != b->ncores)
        return false;
    if (a->devid == b->devid)
        return true;
    return a->type >= 0 && a->type < 32 && (homogeneous >> a->type & 1);
}

static unsigned devices_count(const struct orr_device *set, unsigned n,
                              const struct orr_device *like,
                              unsigned homogeneous)
{
    unsigned count = 0;

    for (unsigned i = 0; i < n; i++)
        count += device_equal(&set[i], like, homogeneous);
    return count;
}

bool orr_devices_equal(const struct orr_device *a, unsigned na,
                       const struct orr_device *b, unsigned nb,
                       unsigned homogeneous)
{
    if (na != nb)
        return false;
    /* device_equal is an equivalence: the sets pair off when each class has
     * as many members on both sides. */
    for (unsigned i = 0; i < na; i++)
        if (devices_count(a, na, &a[i], homogeneous) !=
            devices_count(b, nb, &a[i], homogeneous))
            return false;
    return true;
}

static int comb_add_locked(struct orr_combs *combs,
                           const struct orr_device *devices, unsigned ndevices,
                           unsigned *ret)
{
    size_t bytes = ndevices * sizeof(*devices);
    struct orr_comb *comb = malloc(sizeof(*comb) + bytes), **added;

    if (!comb)
        return -ENOMEM;
    comb->id = combs->count;
    comb->ndevices = ndevices;
    memcpy(comb->devices, devices, bytes);
    added = orr_array_add(combs->list, combs->count);
    if (!added) {
        free(comb);
        return -ENOMEM;
    }
    *added = comb;
    *ret = comb->id;
    return 0;
}

static bool comb_find_locked(const struct orr_combs *combs,
                             const struct orr_device *devices,
                             unsigned ndevices, unsigned *ret)
{
    for (unsigned i = 0; i < combs->count; i++) {
        const struct orr_comb *comb = combs->list[i];

        if (!orr_devices_equal(comb->devices, comb->ndevices, devices, ndevices,
                               combs->homogeneous))
            continue;
        *ret = i;
        return true;
    }
    return false;
}

int orr_combs_get(struct orr_combs *combs, const struct orr_device *devices,
                  unsigned ndevices, unsigned *ret)
{
    int rc = 0;

    if (ndevices == 0)
        return -EINVAL;
    pthread_mutex_lock(&combs->lock);
    if (!comb_find_locked(combs, devices, ndevices, ret))
        rc = comb_add_locked(combs, devices, ndevices, ret);
    pthread_mutex_unlock(&combs->lock);
    return rc;
}

unsigned orr_combs_count(struct orr_combs *combs)
{
    unsigned count;

    pthread_mutex_lock(&combs->lock);
    count = combs->count;
    pthread_mutex_unlock(&combs->lock);
    return count;
}

const struct orr_comb *orr_combs_at(struct orr_combs *combs, unsigned id)
{
    const struct orr_comb *comb = NULL;

    pthread_mutex_lock(&combs->lock);
    if (id < combs->count)
        comb = combs->list[id];
    pthread_mutex_unlock(&combs->lock);
    return comb;
}

double orr_devices_speedup(const struct orr_device *devices, unsigned ndevices)
{
    double speedup = 0;

    for (unsigned i = 0; i < ndevices; i++) {
        unsigned t = 0;

        while (t < NTYPES && types[t].type != devices[i].type)
            t++;
        speedup += types[t < NTYPES ? t : 0].weight * devices[i].ncores;
    }
    return speedup;
}

const char *orr_device_type_name(int type)
{
    for (unsigned t = 0; t < NTYPES; t++)
        if (types[t].type == type)
            return types[t].name;
    return NULL;
}

int orr_device_type_find(const char *name)
{
    for (unsigned t = 0; t < NTYPES; t++)
        if (strcasecmp(types[t].name, name) == 0)
            return types[t].type;
    return -1;
}

int orr_device_label(const struct orr_device *device, char *ret, size_t size)
{
    const char *name = orr_device_type_name(device->type);

    return name ? snprintf(ret, size, "%s%d", name, device->devid)
                : snprintf(ret, size, "type%d_%d", device->type, device->devid);
}

void orr_arch_name(const struct orr_device *devices, unsigned ndevices,
                   unsigned comb, unsigned impl, char ret[ORR_ARCH_NAME_SIZE])
{
    size_t used = 0;

    ret[0] = '\0';
    for (unsigned i = 0; i < ndevices && used < ORR_ARCH_NAME_SIZE; i++) {
        if (i)
            used +=
                (size_t)snprintf(ret + used, ORR_ARCH_NAME_SIZE - used, "_");
        if (used < ORR_ARCH_NAME_SIZE)
            used += (size_t)orr_device_label(&devices[i], ret + used,
                                             ORR_ARCH_NAME_SIZE - used);
    }
    if (used < ORR_ARCH_NAME_SIZE)
        snprintf(ret + used, ORR_ARCH_NAME_SIZE - used, "_impl%u (Comb%u)",
                 impl, comb);
}

unsigned orr_homogeneous_from_env(const char *(*get)(const char *name))
{
    unsigned homogeneous = ORR_HOMOGENEOUS_DEFAULT;

    for (unsigned t = 0; t < NTYPES; t++) {
        char variable[64] = "STARPU_PERF_MODEL_HOMOGENEOUS_";
        size_t used = strlen(variable);
        const char *value;

        for (const char *c = types[t].name; *c; c++)
            variable[used++] = *c >= 'a' ? (char)(*c - 'a' + 'A') : *c;
        variable[used] = '\0';
        value = get(variable);
        if (!value || !*value)
            continue;
        homogeneous &= ~(1U << types[t].type);
        if (atoi(value) != 0)
            homogeneous |= 1U << types[t].type;
    }
    return homogeneous;
}
