/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/machine_desc.c - the end of machine descriptions, and looking
 * things up in them. desc_build.c makes them.
 */
#include "platforms/machine_desc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_props(struct orr_prop_desc *props, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        free(props[i].id);
        free(props[i].value);
    }
    free(props);
}

static void free_hosts(struct orr_machine_desc *desc)
{
    for (unsigned i = 0; i < desc->nhosts; i++) {
        free(desc->hosts[i].id);
        free_props(desc->hosts[i].props, desc->hosts[i].nprops);
    }
    free(desc->hosts);
}

static void desc_free_links(struct orr_machine_desc *desc)
{
    for (unsigned i = 0; i < desc->nlinks; i++) {
        free(desc->links[i].id);
        free_props(desc->links[i].props, desc->links[i].nprops);
    }
    free(desc->links);
}

void orr_machine_desc_free(struct orr_machine_desc *desc)
{
    if (!desc)
        return;
    free(desc->name);
    free(desc->path);
    free(desc->provenance);
    free(desc->sampling_dir);
    free(desc->host);
    free_props(desc->config, desc->nconfig);
    free_props(desc->props, desc->nprops);
    free_hosts(desc);
    desc_free_links(desc);
    for (unsigned i = 0; i < desc->nroutes; i++)
        free(desc->routes[i].hops);
    free(desc->routes);
    free(desc->bandwidth);
    free(desc->latency);
    orr_edit_echoes_free(desc->edits, desc->nedits);
    orr_drawn_free(desc->drawn, desc->ndrawn);
    free(desc);
}

const char *orr_props_find(const struct orr_prop_desc *props, unsigned nprops,
                           const char *id)
{
    for (unsigned i = 0; i < nprops; i++)
        if (strcmp(props[i].id, id) == 0)
            return props[i].value;
    return NULL;
}

const char *orr_host_desc_prop(const struct orr_host_desc *host, const char *id)
{
    return orr_props_find(host->props, host->nprops, id);
}

int orr_machine_desc_host(const struct orr_machine_desc *desc, const char *id)
{
    for (unsigned i = 0; i < desc->nhosts; i++)
        if (strcmp(desc->hosts[i].id, id) == 0)
            return (int)i;
    return -1;
}

int orr_host_desc_number(const struct orr_host_desc *host, const char *kind)
{
    size_t length = strlen(kind);
    const char *digits = host->id + length;
    int number = 0;

    if (strncmp(host->id, kind, length) != 0 || !*digits)
        return -1;
    if (digits[0] == '0' && digits[1])
        return -1; /* "CPU01" would be a second CPU1 */
    for (; *digits; digits++) {
        if (*digits < '0' || *digits > '9' || number > 99999999)
            return -1;
        number = 10 * number + (*digits - '0');
    }
    return number;
}

int orr_machine_desc_route(const struct orr_machine_desc *desc, unsigned src,
                           unsigned dst)
{
    for (unsigned i = 0; i < desc->nroutes; i++)
        if (desc->routes[i].src == src && desc->routes[i].dst == dst)
            return (int)i;
    return -1;
}
