/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/numbered.h - the data of a record by their numbers. A rank of many names few of the
 * program's data, whose numbers go up to that of the last one: memory grows with those that
 * are named. One thread.
 */
#pragma once

#include <starpu.h>
#include <stddef.h>
#include <stdint.h>

struct datum {
    uint64_t number;             /* plus one; 0: no datum has this place */
    starpu_data_handle_t handle; /* NULL: there is none of that number now */
    void *memory;    /* owned, or NULL: it has an address where nothing is */
    unsigned shares; /* of a duplicate: how often it was given */
};

/* All zero at first. */
struct numbered {
    struct datum *at; /* owned: places, of which a power of two or none */
    size_t n, room;   /* those taken, and all */
};

/* The datum that had its place once; NULL: none had that number. Valid until a place is made. */
struct datum *numbered_find(const struct numbered *numbered, uint64_t number);

/* The same, or a place for it, all zero but the number. NULL without memory. */
struct datum *numbered_make(struct numbered *numbered, uint64_t number);

/* Frees the data's memory and the places. */
void numbered_done(struct numbered *numbered);
