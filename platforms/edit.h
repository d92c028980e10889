/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit.h - what-if edits of a machine description, such as
 * "cuda.count = 8; pcie.bandwidth *= 2", and what each has changed. The grammar
 * is in docs/WHAT_IF.md. One thread per description.
 */
#pragma once

#include <stdio.h>

#include "platforms/machine_desc.h"

struct orr_cluster_desc; /* platforms/cluster.h */

/* A device or a link that an edit has changed. NaN: there was, or is, none. */
struct orr_edit_item {
    char *name;
    double before, after; /* in the unit of `quantity` */
};

/* A route between two hosts that passes something that was changed. */
struct orr_edit_route {
    char *src, *dst; /* names of hosts */
};

/* The effect of one edit. */
struct orr_edit_echo {
    char *edit;   /* as written, without blanks around it */
    char *text;   /* a sentence for display: what is different now */
    char *kernel; /* pattern of an edit of kernels, else NULL */
    bool effect;  /* something is different now and something uses it */
    /* Of the items' values: "bytes", "bytes_per_second", "seconds", "speed", or
     * "count" (no values: devices and links were added or removed). */
    const char *quantity;
    struct orr_edit_item *devices, *links, *costs;
    unsigned ndevices, nlinks, ncosts;
    struct orr_edit_route *routes; /* the first ORR_EDIT_MAX_ROUTES */
    unsigned nroutes, routes_left_out;
};

#define ORR_EDIT_MAX_ROUTES 16384

/* At most so many edits, and bytes of text, at once. */
#define ORR_EDIT_MAX       256
#define ORR_EDIT_MAX_BYTES 65536

/* Applies edits, separated by ";" or line ends, in their order. What they
 * changed is appended to desc->edits. Bus parameters follow (docs/WHAT_IF.md). The
 * description is complete again afterwards.
 *
 * Errors: -EINVAL with a message that names the edit and the place in it, and
 * the existing names; -ENOMEM. All edits are read before the first is applied;
 * after an error in applying, the description can only be freed. */
int orr_machine_desc_edit(struct orr_machine_desc *desc, const char *edits,
                          struct orr_error *err);

/* The same for a cluster. Edits of its network are applied, and what they changed is
 * appended to cluster->edits; those of its nodes are appended to the edits of their groups,
 * which are split where only some nodes are meant: they are applied when the machines are
 * read. Errors: as above, then the cluster can only be freed. */
int orr_cluster_edit(struct orr_cluster_desc *cluster, const char *edits,
                     struct orr_error *err);

/* Whether edits can be read: no machine is needed. Errors: as above. */
int orr_edits_check(const char *edits, struct orr_error *err);

/* The first of the characters `ends` outside quotation marks, or the end of the
 * line: where an edit (";") or its target ("=") ends. Borrowed from `at`. */
const char *orr_edit_find(const char *at, const char *ends);

/* The members of a JSON object, without its braces: "edit", "echo", "quantity",
 * "devices", "links" (name, before, after; null: none), "ways" (pairs of names),
 * "ways_left_out" (how many more); not "effect", of which a run knows more. Owned
 * by the caller; NULL when out of memory. */
char *orr_edit_echo_json(const struct orr_edit_echo *echo);
