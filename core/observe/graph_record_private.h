/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_record_private.h - what graph_record.c collects and
 * graph_make.c makes graphs of. All of it: [lock].
 *
 * A node is any job; it has a number that is unique in the run, and lies at
 * nodes[number - first].
 */
#pragma once

#include "core/base/lock.h"
#include "core/observe/graph_record.h"
#include "core/observe/graph_type.h"
#include "core/task/job.h"

#define ORR_NONE UINT32_MAX

struct orr_graph_node_record {
    uint64_t id, tag;
    double start, end, charged; /* µs; NaN: did not run, or not simulated */
    uint32_t window;            /* that counts it, 0: none */
    uint32_t type;              /* ORR_NONE: no codelet, or not submitted */
    uint32_t worker;            /* ORR_NONE: did not run */
    uint32_t edges;             /* the latest of those to it, or ORR_NONE */
    uint32_t first_access, naccesses;
    int priority;
    bool has_tag;
};

struct orr_graph_edge_record {
    uint64_t bytes;
    uint32_t next;   /* of the same node, or ORR_NONE */
    uint32_t before; /* number */
};

/* A handle, with the numbers of its last writers and readers. */
struct orr_graph_datum_record {
    char *name; /* owned, or NULL */
    double bytes;
    /* The last accesses that may go together, and those of the group before,
     * which each of them waits for. */
    struct orr_graph_group_record {
        uint32_t *tasks;
        uint32_t n, room;
    } last, before;
    enum orr_access_group group; /* of the last ones, if there are any */
    bool vague; /* the order of its writers is not known beforehand, or where it
                 * is after them: a codelet has named memory nodes */
    unsigned home;
    bool valued;
};

struct orr_graph_tags_record {
    struct orr_bound_tag_dep dep;
    uint32_t window;
    bool holds;
};

/* Arrays with their length and their room. */
struct orr_graph_record {
    struct orr_lock lock; /* rank ORR_RANK_RUNTIME */
    struct orr_runtime *runtime;
    bool all, open, lost;
    uint32_t window; /* the present or last one, from 1 */
    uint32_t first;  /* number of nodes[0] */
    uint32_t past;   /* tasks below this number have ended: graph_ahead.c */
    struct orr_graph_node_record *nodes;
    struct orr_graph_edge_record *edges;
    struct orr_graph_access *accesses; /* .datum: index in data */
    struct orr_graph_datum_record *data;
    uint32_t *datum_of; /* by the handle's id: index + 1, 0: none */
    struct orr_graph_tags_record *tags;
    uint64_t *vague;
    uint32_t nnodes, nedges, naccesses, ndata, ndatum_of, ntags, nvague;
    uint32_t room_nodes, room_edges, room_accesses, room_data, room_datum_of,
        room_tags, room_vague;
    struct orr_graph_types types;
};
