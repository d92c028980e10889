/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_record_private.h - what graph_record.c collects and
 * graph_make.c makes graphs of. All of it: [lock],
 * unless it says so.
 *
 * A node is any job; it has a number that is unique in the run, and lies at
 * nodes[number - first].
 */
#pragma once

#include "core/base/lock.h"
#include "core/job/job.h"
#include "core/observe/graph_record.h"
#include "core/observe/graph_turns.h"
#include "core/observe/graph_type.h"

#define ORR_NONE UINT32_MAX

/* A node that is no task, with p before and s behind it, stays in the graph when p·s
 * pairs are more than this many times p + s. */
#define ORR_GRAPH_JOIN_RATIO 64

struct orr_graph_node_record {
    uint64_t id, tag;
    double start, end, charged; /* µs; NaN: did not run, or not simulated */
    uint32_t window;            /* that counts it, 0: none */
    uint32_t type;              /* ORR_NONE: no codelet, or not submitted */
    uint32_t worker;            /* ORR_NONE: did not run */
    uint32_t edges;             /* the latest of those to it, or ORR_NONE */
    uint32_t first_access, naccesses;
    uint32_t colour; /* 0xrrggbb, 0: none */
    int priority;
    bool has_tag;
    bool ready; /* it was pushed within its submission */
    bool is_message; /* it has some in `messages` */
    enum orr_graph_by by;
    uint32_t submitter; /* as struct orr_graph_task; a task's number, not its index */
};

/* A thread that submits. */
struct orr_graph_chain_record {
    const struct orr_context *of;
    const struct orr_job *last; /* that it has submitted */
};

struct orr_graph_edge_record {
    uint64_t bytes;
    uint32_t next;   /* of the same node, or ORR_NONE */
    uint32_t before; /* number */
};

/* A handle. */
struct orr_graph_datum_record {
    char *name; /* owned, or NULL */
    double bytes;
    struct orr_graph_turns turns;
    bool vague; /* the order of its writers is not known beforehand, or where it
                 * is after them: a codelet has named memory nodes */
    unsigned home;
    bool valued;
};

/* Tasks of a row mostly have the type of the one before. */
enum { ORR_GRAPH_RECENT = 64 };

struct orr_graph_recent {
    const struct orr_cost_row *row; /* NULL: nothing yet */
    double flops;
    uint32_t version, type;
};

struct orr_graph_tags_record {
    struct orr_bound_tag_dep dep;
    uint32_t window;
    bool holds;
};

/* What has gone, or come, in the turn of a node. */
struct orr_graph_message_record {
    uint32_t node; /* number */
    struct orr_graph_message message;
};

/* Arrays with their length and their room. */
struct orr_graph_record {
    struct orr_lock lock; /* rank ORR_RANK_RUNTIME */
    struct orr_runtime *runtime;
    struct orr_waits_log *log; /* [const] owned: is told all, too; or NULL */
    bool all, open, lost;
    bool tells; /* it is told what submits tasks */
    bool late; /* tasks of threads were pushed where the cost is paid later */
    struct orr_graph_chain_record *chains; /* main is the first; of simulated runs */
    uint32_t nchains, room_chains;
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
    struct orr_graph_message_record *messages; /* in order of their ends */
    uint32_t nnodes, nedges, naccesses, ndata, ndatum_of, ntags, nvague, nmessages;
    uint32_t room_nodes, room_edges, room_accesses, room_data, room_datum_of,
        room_tags, room_vague, room_messages;
    struct orr_graph_types types;
    struct orr_graph_recent
        recent[ORR_GRAPH_RECENT]; /* by the address of the row */
    struct orr_graph_runs
        *runs;      /* owned, [const]: what workers have noted themselves */
    unsigned nruns; /* [const] workers with such a list; 0: simulated */
};

/* Parts of the record, for code that makes a record of something else; the caller has
 * the lock, or no other thread has the record. All return false, or ORR_NONE, without
 * memory. */

/* What workers have noted of tasks that have run joins the nodes. Before these are read. */
void orr_graph_record_settle(struct orr_graph_record *record)
    ORR_REQUIRES(record->lock);

/* A new one, whose number is returned. */
uint32_t orr_graph_record_add_node(struct orr_graph_record *record);

/* Nodes by their numbers; `bytes` are those of the data because of which it waits. */
bool orr_graph_record_add_edge(struct orr_graph_record *record, uint32_t number,
                               uint32_t before, uint64_t bytes);
/* It has that turn of a datum, and waits for the jobs that had the turn before. */
bool orr_graph_record_order(struct orr_graph_record *record, uint32_t number,
                            struct orr_graph_turns *turns, uint32_t turn,
                            uint64_t bytes);
bool orr_graph_record_add_tags(struct orr_graph_record *record,
                               struct orr_graph_tags_record tags);
void orr_graph_record_add_vague(struct orr_graph_record *record, uint64_t id);

/* The graph of a record that is not the runtime's. As orr_graph_record_make. */
int orr_graph_record_make_of(struct orr_graph_record *record,
                             enum orr_graph_view view, struct orr_graph **ret,
                             struct orr_error *err);
