/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/machines.h - what -m names: a machine, a cluster (docs/CLUSTERS.md), several
 * of them. No state.
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"

/* The names of a list "A,B", as a NULL-terminated array, owned by the caller (free, one
 * block); empty ones are dropped. NULL without memory. Not between names are commas in
 * quotation marks, and those of a fat tree's "32,2:1" and of speeds, "8KiB:2GB/s,1MiB:8GB/s". A name that begins with several counts,
 * "4,8,12*A", is one for each; "4..64*A" is 4, 8, 16 … of A. */
char **machines_split(const char *list);

/* Whether the list has several names. */
bool machines_are_several(const char *list);

/* Whether a comma before this text is of such a word, and ends nothing. */
bool machines_comma_joins(const char *behind);

/* Whether there is a machine or a cluster of that name. */
bool machine_is_known(const char *name);

/* Whether the machine is called so, "dir/moon.xml" moon, or nodes of the cluster are. */
bool machine_is_called(const char *name, const char *called);

/* Of a cluster. */
struct machine_size {
    unsigned nodes, ranks;
};

/* The size of the cluster of that name, with edits (NULL: none), in *ret. Returns 1 if it is
 * no cluster. Errors: a message in *err and less. */
int machine_size(const char *name, const char *edits, struct machine_size *ret,
                 struct orr_error *err);
