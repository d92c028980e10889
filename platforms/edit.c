/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/edit.c - see edit.h: from the text to the edited description. */
#include "core/base/number.h"
#include "platforms/edit_private.h"

#include "platforms/units.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int orr_edit_wrong(const struct orr_edit_work *work, unsigned column,
                   const char *format, ...)
{
    char message[800];
    va_list args;

    va_start(args, format);
    orr_vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    return orr_fail(work->err, -EINVAL, "edit \"%.120s\", column %u: %s",
                    work->edit->text, column, message);
}

int orr_edit_no_memory(const struct orr_edit_work *work)
{
    return orr_fail(work->err, -ENOMEM, "edit \"%.120s\": out of memory",
                    work->edit->text);
}

static int edit_change_desc(struct orr_edit_work *work)
{
    const struct orr_edit *edit = work->edit;

    if (edit->class >= ORR_EDIT_NETWORK || edit->nnodes)
        return orr_edit_wrong(work, edit->at_target,
                              "%s of a cluster, and this is one machine: leave the edit "
                              "out",
                              edit->nnodes ? "nodes are" : "networks and NICs are");
    if (edit->prop == ORR_EDIT_COUNT)
        return orr_edit_change_count(work);
    if (edit->prop == ORR_EDIT_SWITCH)
        return orr_edit_switch_nvlink(work);
    if (edit->class == ORR_EDIT_KERNEL)
        return orr_edit_change_kernel(work);
    if (edit->class == ORR_EDIT_COST)
        return orr_edit_change_costs(work);
    if (edit->class <= ORR_EDIT_OPENCL || edit->prop == ORR_EDIT_MEMORY)
        return orr_edit_change_hosts(work);
    return orr_edit_change_links(work);
}

/* Line numbers of the file are no longer valid. */
static void forget_lines(struct orr_machine_desc *desc)
{
    for (unsigned i = 0; i < desc->nhosts; i++)
        desc->hosts[i].line = 0;
    for (unsigned i = 0; i < desc->nlinks; i++)
        desc->links[i].line = 0;
    for (unsigned i = 0; i < desc->nroutes; i++)
        desc->routes[i].line = 0;
}

static int edit_apply(struct orr_machine_desc *desc,
                      const struct orr_edit *edit, struct orr_edit_echo *echo,
                      struct orr_error *err)
{
    struct orr_edit_work work = {desc, edit, echo, err, false};
    struct orr_edit_bus bus = {0};
    int rc;

    echo->edit = strdup(edit->text);
    rc = echo->edit ? 0 : -ENOMEM;
    if (rc == 0)
        rc = orr_edit_bus_begin(desc, &bus);
    if (rc)
        rc = orr_edit_no_memory(&work);
    else
        rc = edit_change_desc(&work);
    if (rc == 0)
        rc = orr_edit_bus_end(desc, &bus, err);
    orr_edit_bus_done(&bus);
    return rc;
}

static int apply_all(struct orr_machine_desc *desc,
                     const struct orr_edit_list *list, struct orr_error *err)
{
    struct orr_edit_echo *echoes = realloc(
        desc->edits, (desc->nedits + list->n + (size_t)1) * sizeof(*echoes));
    int rc = 0;

    if (!echoes)
        return orr_fail(err, -ENOMEM, "no memory for the edits");
    desc->edits = echoes;
    forget_lines(desc);
    for (unsigned i = 0; i < list->n && rc == 0; i++) {
        struct orr_edit_echo *echo = &echoes[desc->nedits++];

        *echo = (struct orr_edit_echo){.quantity = "count"};
        rc = edit_apply(desc, &list->items[i], echo, err);
    }
    return rc;
}

int orr_machine_desc_edit(struct orr_machine_desc *desc, const char *edits,
                          struct orr_error *err)
{
    struct orr_edit_list list;
    int rc = orr_edit_parse(edits, &list, err);

    if (rc == 0) {
        rc = apply_all(desc, &list, err);
        orr_edit_list_done(&list);
    }
    return rc;
}
