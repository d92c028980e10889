/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/shape.c - what codelets looked like when their cost rows were made, each
 * once: one that looks so still has the same signature. Any context.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cost/cost_private.h"

const struct shape *orr_shape_of(struct orr_costs_table *table,
                                 const struct starpu_codelet *cl)
{
    struct shape *fresh = malloc(sizeof(*fresh)), *there;

    if (!fresh)
        return NULL;
    memcpy(fresh->bytes, cl, SHAPE_SIZE);
    orr_lock(&table->lock);
    there = table->shapes;
    while (there && memcmp(there->bytes, fresh->bytes, SHAPE_SIZE) != 0)
        there = there->next;
    if (!there) {
        fresh->next = table->shapes;
        table->shapes = fresh;
    }
    orr_unlock(&table->lock);
    if (!there)
        return fresh;
    free(fresh);
    return there;
}

void orr_shapes_free(struct orr_costs_table *table)
{
    for (struct shape *shape = table->shapes, *next; shape; shape = next) {
        next = shape->next;
        free(shape);
    }
}
