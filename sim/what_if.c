/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/what_if.c - see what_if.h. */
#include "sim/what_if.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platforms/draw.h"
#include "platforms/edit.h"
#include "platforms/speeds.h"

/* ---- speeds ---- */

static void kernel_speeds_free(struct orr_kernel_speeds *list)
{
    for (unsigned i = 0; i < list->n; i++)
        free(list->items[i].pattern);
    free(list->items);
}

static int read_kernels(const struct orr_host_desc *host,
                        struct orr_kernel_speeds *ret)
{
    struct orr_kernel_speeds list = {
        calloc(host->nprops + (size_t)1, sizeof(*list.items)), 0};

    if (!list.items)
        return -ENOMEM;
    for (unsigned i = 0; i < host->nprops; i++) {
        size_t length;
        double speed;
        const char *pattern =
            orr_host_desc_kernel_speed(host, i, &length, &speed);

        if (!pattern)
            continue;
        list.items[list.n].pattern = strndup(pattern, length);
        list.items[list.n].speed = speed;
        if (!list.items[list.n++].pattern) {
            kernel_speeds_free(&list);
            return -ENOMEM;
        }
    }
    *ret = list;
    return 0;
}

static bool kernel_speeds_equal(const struct orr_kernel_speeds *a,
                                const struct orr_kernel_speeds *b)
{
    for (unsigned i = 0; a->n == b->n && i < a->n; i++)
        if (a->items[i].speed != b->items[i].speed ||
            strcmp(a->items[i].pattern, b->items[i].pattern) != 0)
            return false;
    return a->n == b->n;
}

/* Takes the list. There is room for one per worker. */
static struct orr_kernel_speeds *
machine_share_speeds(struct orr_machine *machine,
                     struct orr_kernel_speeds *list)
{
    for (unsigned i = 0; i < machine->nkernel_speeds; i++)
        if (kernel_speeds_equal(&machine->kernel_speeds[i], list)) {
            kernel_speeds_free(list);
            return &machine->kernel_speeds[i];
        }
    machine->kernel_speeds[machine->nkernel_speeds] = *list;
    return &machine->kernel_speeds[machine->nkernel_speeds++];
}

int orr_sim_speeds(const struct orr_host_desc *host, const char *kind,
                   struct orr_machine *machine, unsigned worker)
{
    struct orr_worker_desc *w = &machine->workers[worker];
    struct orr_kernel_speeds list;
    int rc;

    w->speed = orr_host_desc_speed(host);
    w->models_of = (unsigned)(orr_host_desc_models_of(host, kind) + 1);
    rc = read_kernels(host, &list);
    if (rc)
        return rc;
    if (list.n)
        w->kernels = machine_share_speeds(machine, &list);
    else
        kernel_speeds_free(&list);
    return 0;
}

/* ---- edits ---- */

static int copy_text(char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to ? -ENOMEM : 0;
}

static bool is_item(const struct orr_edit_echo *echo, const char *name)
{
    for (unsigned i = 0; i < echo->ndevices; i++)
        if (strcmp(echo->devices[i].name, name) == 0)
            return true;
    return false;
}

/* The node of a host, -1 for others. */
static int endpoint_node(const struct orr_machine_desc *desc,
                         const unsigned *endpoints, unsigned nnodes,
                         const char *name)
{
    for (unsigned i = 0; i < nnodes; i++)
        if (strcmp(desc->hosts[endpoints[i]].id, name) == 0)
            return (int)i;
    return -1;
}

static int copy_edit(const struct orr_machine_desc *desc,
                     const struct orr_edit_echo *echo,
                     const unsigned *endpoints, const unsigned *hosts,
                     const struct orr_machine *machine,
                     struct orr_machine_edit *edit)
{
    unsigned n = machine->nnodes;

    edit->effect = echo->effect;
    edit->values = strcmp(echo->quantity, "count") != 0 && !echo->ncosts;
    edit->members = orr_edit_echo_json(echo);
    edit->workers = calloc(machine->nworkers, sizeof(*edit->workers));
    edit->pairs = calloc((size_t)n * n, sizeof(*edit->pairs));
    if (copy_text(&edit->edit, echo->edit) ||
        copy_text(&edit->text, echo->text) ||
        copy_text(&edit->kernel, echo->kernel) || !edit->members ||
        !edit->workers || !edit->pairs)
        return -ENOMEM;
    for (unsigned w = 0; w < machine->nworkers; w++)
        edit->workers[w] =
            is_item(echo, desc->hosts[hosts[w]].id) ||
            is_item(echo, desc->hosts[endpoints[machine->workers[w].node]].id);
    for (unsigned i = 0; i < echo->nroutes; i++) {
        int src = endpoint_node(desc, endpoints, n, echo->routes[i].src);
        int dst = endpoint_node(desc, endpoints, n, echo->routes[i].dst);

        if (src >= 0 && dst >= 0)
            edit->pairs[(unsigned)src * n + (unsigned)dst] = true;
    }
    return 0;
}

int orr_sim_edits(const struct orr_machine_desc *desc,
                  const unsigned *endpoints, const unsigned *hosts,
                  struct orr_machine *machine)
{
    int rc = 0;

    if (desc->nedits == 0)
        return 0;
    machine->edits = calloc(desc->nedits, sizeof(*machine->edits));
    if (!machine->edits)
        return -ENOMEM;
    for (unsigned i = 0; i < desc->nedits && rc == 0; i++)
        rc = copy_edit(desc, &desc->edits[i], endpoints, hosts, machine,
                       &machine->edits[machine->nedits++]);
    return rc;
}

int orr_sim_drawn(const struct orr_machine_desc *desc, struct orr_machine *machine)
{
    if (desc->ndrawn == 0)
        return 0;
    machine->drawn = calloc(desc->ndrawn, sizeof(*machine->drawn));
    if (!machine->drawn)
        return -ENOMEM;
    for (; machine->ndrawn < desc->ndrawn; machine->ndrawn++) {
        const struct orr_drawn *from = &desc->drawn[machine->ndrawn];

        machine->drawn[machine->ndrawn] = (struct orr_machine_drawn){
            strdup(from->figure), from->factor, from->error, from->measured};
        if (!machine->drawn[machine->ndrawn].figure)
            return -ENOMEM;
    }
    return 0;
}

void orr_sim_what_if_done(struct orr_machine *machine)
{
    for (unsigned i = 0; i < machine->ndrawn; i++)
        free(machine->drawn[i].figure);
    free(machine->drawn);
    for (unsigned i = 0; i < machine->nkernel_speeds; i++)
        kernel_speeds_free(&machine->kernel_speeds[i]);
    free(machine->kernel_speeds);
    for (unsigned i = 0; i < machine->nedits; i++) {
        free(machine->edits[i].edit);
        free(machine->edits[i].text);
        free(machine->edits[i].members);
        free(machine->edits[i].kernel);
        free(machine->edits[i].workers);
        free(machine->edits[i].pairs);
    }
    free(machine->edits);
}
