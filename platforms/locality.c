/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/locality.c - see locality.h. No state. */
#include "platforms/locality.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double orr_host_desc_value(const struct orr_host_desc *host, const char *id)
{
    const char *text = orr_host_desc_prop(host, id);
    char *end;
    unsigned long long value;

    if (!text || *text < '0' || *text > '9')
        return -1;
    value = strtoull(text, &end, 10);
    return *end ? -1 : (double)value;
}

unsigned orr_host_desc_numa(const struct orr_host_desc *host)
{
    double number = orr_host_desc_value(host, "numa");

    return number >= 0 && number < 65536 ? (unsigned)number : 0;
}

static const char *const levels[] = {ORR_PROP_L3, ORR_PROP_NUMA,
                                     ORR_PROP_PACKAGE};

/* Whether both are said, and not the same. */
static bool numbers_differ(double a, double b)
{
    return a >= 0 && b >= 0 && a != b;
}

bool orr_machine_desc_places_cpus(const struct orr_machine_desc *desc)
{
    for (unsigned h = 0; h < desc->nhosts; h++)
        for (unsigned k = 0; k < sizeof(levels) / sizeof(levels[0]); k++)
            if (orr_host_desc_number(&desc->hosts[h], "CPU") >= 0 &&
                orr_host_desc_value(&desc->hosts[h], levels[k]) >= 0)
                return true;
    return false;
}

struct orr_cpu_place orr_host_desc_place(const struct orr_host_desc *host)
{
    return (struct orr_cpu_place){
        .package = orr_host_desc_value(host, ORR_PROP_PACKAGE),
        .l3 = orr_host_desc_value(host, ORR_PROP_L3),
        .numa = orr_host_desc_numa(host),
        .is_cpu = orr_host_desc_number(host, "CPU") >= 0,
    };
}

unsigned orr_cpu_distance(const struct orr_cpu_place *a,
                          const struct orr_cpu_place *b)
{
    if (numbers_differ(a->package, b->package))
        return 3;
    if (a->numa != b->numa)
        return 2;
    return numbers_differ(a->l3, b->l3);
}

int orr_machine_desc_home(const struct orr_machine_desc *desc,
                          const struct orr_host_desc *device)
{
    unsigned numa = orr_host_desc_numa(device);
    char id[16];

    if (desc->nnuma < 2)
        return orr_machine_desc_host(desc, "RAM");
    snprintf(id, sizeof(id), "RAM%u", numa < desc->nnuma ? numa : 0);
    return orr_machine_desc_host(desc, id);
}

static struct orr_locality_node *locality_get_node(struct orr_locality *l,
                                                   unsigned number)
{
    unsigned at = 0;

    while (at < l->nnodes && l->nodes[at].number < number)
        at++;
    if (at < l->nnodes && l->nodes[at].number == number)
        return &l->nodes[at];
    if (!orr_array_reserve(&l->nodes, l->nnodes, sizeof(*l->nodes)))
        return NULL;
    memmove(&l->nodes[at + 1], &l->nodes[at],
            (l->nnodes++ - at) * sizeof(*l->nodes));
    l->nodes[at] =
        (struct orr_locality_node){.number = number, .host = -1, .package = -1};
    return &l->nodes[at];
}

static int locality_add_cpu(struct orr_locality *l,
                            const struct orr_host_desc *host)
{
    struct orr_locality_node *node =
        locality_get_node(l, orr_host_desc_numa(host));
    double package = orr_host_desc_value(host, "package");
    int number = package >= 0 && package < 65536 ? (int)package : -1;

    if (!node)
        return -ENOMEM;
    for (unsigned level = 0; node->ncpus == 0 && level < ORR_CACHE_LEVELS;
         level++) {
        char id[16];
        double bytes;

        snprintf(id, sizeof(id), "l%u-cache", level + 1);
        bytes = orr_host_desc_value(host, id);
        node->caches[level] = bytes > 0 ? bytes : 0;
    }
    if (node->ncpus++ == 0)
        node->package = number;
    else if (node->package != number)
        node->package = -1;
    return 0;
}

/* The sizes of memories that discovery found: properties "numa<i>-memory". */
static int add_memory_stated(struct orr_locality *l,
                             const struct orr_host_desc *ram)
{
    for (unsigned i = 0; i < ram->nprops; i++) {
        struct orr_locality_node *node;
        unsigned number;
        int end = 0;
        double bytes;

        if (sscanf(ram->props[i].id, "numa%5u-memory%n", &number, &end) != 1 ||
            end == 0 || ram->props[i].id[end])
            continue;
        bytes = orr_host_desc_value(ram, ram->props[i].id);
        node = locality_get_node(l, number);
        if (!node)
            return -ENOMEM;
        node->memory = bytes > 0 ? bytes : 0;
    }
    return 0;
}

static int locality_add_host(const struct orr_machine_desc *desc, unsigned h,
                             struct orr_locality *l)
{
    const struct orr_host_desc *host = &desc->hosts[h];
    int number = orr_host_desc_number(host, "RAM");
    struct orr_locality_node *node;
    double bytes;

    if (orr_host_desc_number(host, "CPU") >= 0)
        return locality_add_cpu(l, host);
    if (strcmp(host->id, "RAM") == 0)
        return add_memory_stated(l, host);
    if (number < 0 || (unsigned)number >= desc->nnuma)
        return 0;
    node = locality_get_node(l, (unsigned)number);
    if (!node)
        return -ENOMEM;
    node->host = (int)h;
    bytes = orr_host_desc_value(host, "memsize");
    if (bytes > 0)
        node->memory = bytes;
    return 0;
}

/* One node without memory of its own has that of RAM. */
static void locality_complete(const struct orr_machine_desc *desc,
                              struct orr_locality *l)
{
    int ram = orr_machine_desc_host(desc, "RAM");
    double bytes = ram < 0 || l->nnodes > 1 || l->nodes[0].memory > 0
                       ? 0
                       : orr_host_desc_value(&desc->hosts[ram], "memsize");

    if (bytes > 0)
        l->nodes[0].memory = bytes;
    l->memories = desc->nnuma > 1;
}

int orr_locality_init(const struct orr_machine_desc *desc,
                      struct orr_locality *ret)
{
    struct orr_locality l = {0};
    int rc = 0;

    for (unsigned h = 0; h < desc->nhosts && rc == 0; h++)
        rc = locality_add_host(desc, h, &l);
    if (rc == 0 && l.nnodes == 0 && !locality_get_node(&l, 0))
        rc = -ENOMEM;
    if (rc < 0) {
        orr_locality_done(&l);
        return rc;
    }
    locality_complete(desc, &l);
    *ret = l;
    return 0;
}

void orr_locality_done(struct orr_locality *locality)
{
    free(locality->nodes);
    *locality = (struct orr_locality){0};
}

bool orr_machine_desc_has_storage(const struct orr_machine_desc *desc)
{
    int host = orr_machine_desc_host(desc, "RAM0");
    const char *value =
        host < 0 ? NULL
                 : orr_host_desc_prop(&desc->hosts[host], ORR_PROP_STORAGE);

    return value && strcmp(value, "1") == 0;
}
