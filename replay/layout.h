/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/layout.h - the layout of a datum of a record, as a structure of its
 * interface that has no address yet. Only values.
 */
#pragma once

#include "record/shape.h"
#include "replay/player.h"

/* The fields with which the structures of dense kinds begin. */
typedef struct starpu_variable_interface place_t;

/* With the arrays that it may point to. */
struct laid_out {
    struct starpu_data_interface_ops *ops;
    union {
        union orr_layout layout;
        struct recorded recorded;
        place_t place; /* with which those with an offset begin */
    };
    uint32_t nn[ORR_SHAPE_MOST], ldn[ORR_SHAPE_MOST];
};

/* That of the call; ends the run if it has none. */
void player_lay_out(const struct player *player, const struct orr_call *call,
                    struct laid_out *ret);

/* Bytes that it may reach; more than that need not be known. */
size_t layout_reach(const struct laid_out *laid);

/* All arrays of a structure begin there. */
void layout_set_address(enum starpu_data_interface_id id, void *layout,
                        uintptr_t address);

/* Where the first one begins; 0: nowhere. */
uintptr_t layout_address(const void *layout);
