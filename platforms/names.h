/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/names.h - from the ids of hosts or links to their indices, for
 * files with many. One thread per table.
 */
#pragma once

#include <stdbool.h>

struct orr_name {
    const char *id; /* borrowed from the description; NULL: free */
    unsigned index;
};

/* All zero: an empty table. End it with orr_names_done. */
struct orr_names {
    struct orr_name *slots;
    unsigned nslots, n; /* nslots is a power of two, at least twice n */
};

/* Adds an id, which must live as long as the table. -EEXIST: it is already
 * there and stays as it was; -ENOMEM. */
int orr_names_add(struct orr_names *names, const char *id, unsigned index);

/* Whether the id is there; then its index is in *ret. */
bool orr_names_find(const struct orr_names *names, const char *id,
                    unsigned *ret);

void orr_names_done(struct orr_names *names);
