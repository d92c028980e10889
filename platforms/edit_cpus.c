/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_cpus.c - on which NUMA nodes cores are added and removed. No
 * state.
 *
 * Nodes are given by the property `numa` of CPU hosts. New cores copy those of
 * their node in turn; of a node that loses cores the last ones are removed, and
 * the numbers of the others close up. On a machine whose cores are all of one
 * node core j is therefore a copy of core j mod n.
 */
#include "platforms/edit_private.h"

#include <stdlib.h>
#include <string.h>

static unsigned cpu_numa_node(const struct orr_host_desc *host)
{
    const char *value = orr_host_desc_prop(host, "numa");

    return value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

static int unsigned_compare(const void *a, const void *b)
{
    const unsigned *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The place of a node among those that have cores; the first for others, whose
 * drivers take some core. */
static unsigned cores_node_index(const struct orr_edit_cores *cores,
                                 unsigned numa)
{
    for (unsigned k = 0; k < cores->n; k++)
        if (cores->numa[k] == numa)
            return k;
    return 0;
}

int orr_edit_cores_init(const struct orr_machine_desc *desc,
                        struct orr_edit_cores *ret)
{
    struct orr_edit_cores cores = {0};
    size_t room = desc->ncpu + (size_t)1;
    unsigned n = 0;

    cores.numa = calloc(room, sizeof(*cores.numa));
    cores.have = calloc(room, sizeof(*cores.have));
    cores.wanted = calloc(room, sizeof(*cores.wanted));
    cores.place = calloc(room, sizeof(*cores.place));
    if (!cores.numa || !cores.have || !cores.wanted || !cores.place) {
        orr_edit_cores_done(&cores);
        return -1;
    }
    for (unsigned h = 0; h < desc->nhosts; h++)
        if (orr_host_desc_number(&desc->hosts[h], "CPU") >= 0)
            cores.numa[n++] = cpu_numa_node(&desc->hosts[h]);
    qsort(cores.numa, n, sizeof(*cores.numa), unsigned_compare);
    for (unsigned i = 0; i < n; i++)
        if (i == 0 || cores.numa[i] != cores.numa[cores.n - 1])
            cores.numa[cores.n++] = cores.numa[i];
    for (unsigned h = 0; h < desc->nhosts; h++) {
        int number = orr_host_desc_number(&desc->hosts[h], "CPU");

        if (number < 0)
            continue;
        cores.place[number] =
            cores_node_index(&cores, cpu_numa_node(&desc->hosts[h]));
        cores.have[cores.place[number]]++;
    }
    *ret = cores;
    return 0;
}

void orr_edit_cores_done(struct orr_edit_cores *cores)
{
    free(cores->numa);
    free(cores->have);
    free(cores->wanted);
    free(cores->place);
    *cores = (struct orr_edit_cores){0};
}

void orr_edit_cores_count_drivers(const struct orr_machine_desc *desc,
                                  struct orr_edit_cores *cores, int each)
{
    for (unsigned h = 0; cores->n && h < desc->nhosts; h++) {
        const struct orr_host_desc *host = &desc->hosts[h];
        int opencl = orr_host_desc_number(host, "OpenCL");

        if (orr_host_desc_number(host, "CUDA") >= 0 ||
            (opencl >= 0 && (unsigned)opencl >= desc->ncuda))
            cores->wanted[cores_node_index(cores, cpu_numa_node(host))] +=
                (unsigned)each;
    }
}

void orr_edit_cores_spread(struct orr_edit_cores *cores, unsigned n)
{
    for (unsigned k = 0; k < cores->n; k++)
        cores->wanted[k] += n / cores->n + (k < n % cores->n);
}

/* If `wanted` does not sum to `total`, for lack of cores: the node with most
 * cores loses one, that with fewest gains one. Differences count as signed,
 * since drivers that have gone may have taken cores of another node. */
static void cores_adjust_total(struct orr_edit_cores *cores, unsigned total)
{
    long sum = 0;

    for (unsigned k = 0; k < cores->n; k++) {
        if ((int)cores->wanted[k] < 0)
            cores->wanted[k] = 0;
        sum += cores->wanted[k];
    }
    while (cores->n && sum != (long)total) {
        unsigned best = 0;

        for (unsigned k = 1; k < cores->n; k++)
            if (sum > (long)total ? cores->wanted[k] >= cores->wanted[best]
                                  : cores->wanted[k] < cores->wanted[best])
                best = k;
        cores->wanted[best] += sum > (long)total ? -1u : 1u;
        sum += sum > (long)total ? -1 : 1;
    }
}

/* The last cores of nodes that have too many. */
static int cores_remove(struct orr_edit_work *work,
                        struct orr_edit_cores *cores)
{
    unsigned n = work->desc->ncpu, kept = 0;
    bool *gone = calloc(n + (size_t)1, sizeof(*gone)), any = false;
    int rc = 0;

    if (!gone)
        return orr_edit_no_memory(work);
    for (unsigned c = n; c-- > 0;) {
        unsigned place = cores->place[c];

        if (cores->have[place] <= cores->wanted[place])
            continue;
        cores->have[place]--;
        gone[c] = any = true;
    }
    for (unsigned c = 0; c < n; c++)
        if (!gone[c])
            cores->place[kept++] = cores->place[c];
    if (any)
        rc = orr_edit_remove_hosts(work, "CPU", gone);
    free(gone);
    return rc;
}

/* The core number `turn` of those at a place, beginning anew after the last. */
static unsigned core_at(const struct orr_edit_cores *cores, unsigned n,
                        unsigned place, unsigned turn)
{
    turn %= cores->have[place];
    for (unsigned c = 0; c < n; c++)
        if (cores->place[c] == place && turn-- == 0)
            return c;
    return 0;
}

static int cores_add(struct orr_edit_work *work,
                     const struct orr_edit_cores *cores, unsigned total)
{
    unsigned n = 0, *like, count = 0;
    int rc;

    for (unsigned k = 0; k < cores->n; k++)
        n += cores->have[k];
    if (total <= n)
        return 0;
    like = calloc(total - n, sizeof(*like));
    if (!like)
        return orr_edit_no_memory(work);
    for (unsigned k = 0; k < cores->n; k++)
        for (unsigned i = cores->have[k]; i < cores->wanted[k]; i++)
            like[count++] = core_at(cores, n, k, i - cores->have[k]);
    rc = orr_edit_add_hosts(work, "CPU", n, total, like);
    free(like);
    return rc;
}

int orr_edit_cores_apply(struct orr_edit_work *work,
                         struct orr_edit_cores *cores, unsigned total)
{
    int rc;

    cores_adjust_total(cores, total);
    rc = cores_remove(work, cores);
    return rc ? rc : cores_add(work, cores, total);
}
