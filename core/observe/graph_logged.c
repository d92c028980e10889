/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/graph_logged.c - the graph of a list of what waits for what, by way of a
 * record of its own: where the list is not plain (waits.h), or when nothing was made of
 * it beside the run. One thread.
 */
#include "core/observe/waits_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/exec/runtime.h"
#include "core/observe/graph_record_private.h"
#include "core/worker/workers.h"

struct logged {
    struct orr_graph_record *record; /* owned */
    struct orr_graph_turns *turns;   /* owned, by the handle's number */
    size_t nturns;
    struct {
        const char *symbol;
        uint32_t type;
    } last; /* tasks of one kernel follow each other */
};

/* There is a node for the job. */
static bool record_know_job(struct orr_graph_record *record, uint32_t job)
{
    while (record->nnodes <= job)
        if (orr_graph_record_add_node(record) == ORR_NONE)
            return false;
    return true;
}

static struct orr_graph_turns *turns_of(struct logged *logged, uint64_t datum)
{
    return orr_grow(&logged->turns, &logged->nturns, datum + 1,
                    sizeof(*logged->turns)) == 0
               ? &logged->turns[datum]
               : NULL;
}

/* The number of the type of that name. */
static uint32_t logged_type(struct logged *logged, const char *symbol)
{
    struct orr_graph_record *record = logged->record;
    struct orr_graph_type_record *type;

    if (!symbol)
        symbol = "";
    if (logged->last.symbol && !strcmp(logged->last.symbol, symbol))
        return logged->last.type;
    type = orr_graph_type_named(record->runtime->workers->n, symbol);
    if (!type)
        return ORR_NONE;
    logged->last.symbol = symbol;
    logged->last.type =
        orr_graph_types_put(&record->types, record->runtime->workers->n, type);
    return logged->last.type;
}

static bool logged_submit(struct logged *logged,
                          const struct orr_waits_entry *entry)
{
    struct orr_graph_node_record *node;

    if (!record_know_job(logged->record, entry->job))
        return false;
    node = &logged->record->nodes[entry->job];
    node->id = entry->u.submit.id;
    node->has_tag = entry->is_set;
    node->tag = entry->u.submit.tag;
    node->colour = entry->u.submit.colour;
    if (entry->is_task)
        node->type = logged_type(logged, entry->u.submit.symbol);
    return !entry->is_task || node->type != ORR_NONE;
}

static void logged_note_run(struct logged *logged,
                            const struct orr_waits_entry *entry)
{
    struct orr_graph_node_record *node;

    if (entry->job >= logged->record->nnodes)
        return;
    node = &logged->record->nodes[entry->job];
    node->worker = entry->u.ran.worker;
    node->start = entry->u.ran.start;
    node->end = entry->u.ran.end;
}

static bool logged_enter(struct logged *logged,
                         const struct orr_waits_entry *entry)
{
    struct orr_graph_turns *turns = turns_of(logged, entry->u.access.datum);

    return turns && record_know_job(logged->record, entry->job) &&
           orr_graph_record_order(logged->record, entry->job, turns,
                                  entry->u.access.turn, 0);
}

static bool logged_add_entry(struct logged *logged,
                             const struct orr_waits_entry *entry)
{
    struct orr_graph_record *record = logged->record;

    switch ((enum orr_waits_kind)entry->kind) {
    case ORR_WAITS_ACCESS:
        return logged_enter(logged, entry);
    case ORR_WAITS_DEP:
        return record_know_job(record, entry->job) &&
               record_know_job(record, entry->u.before) &&
               orr_graph_record_add_edge(record, entry->job, entry->u.before,
                                         0);
    case ORR_WAITS_SUBMIT:
        return logged_submit(logged, entry);
    case ORR_WAITS_RAN:
        logged_note_run(logged, entry);
        return true;
    case ORR_WAITS_TAGS:
        return orr_graph_record_add_tags(
            record,
            (struct orr_graph_tags_record){
                {entry->u.tags.id, entry->u.tags.before}, 0, entry->is_set});
    case ORR_WAITS_VAGUE:
        orr_graph_record_add_vague(record, entry->u.tags.id);
        return true;
    }
    return true;
}

int orr_waits_log_graph(const struct orr_waits_log *log, struct orr_graph **ret,
                        struct orr_error *err)
{
    struct logged logged = {.record = calloc(1, sizeof(*logged.record))};
    struct orr_chain_place place = orr_waits_first(log);
    const struct orr_waits_entry *entry;
    bool good = logged.record != NULL;
    int rc;

    if (good) {
        logged.record->runtime = log->runtime;
        orr_lock_init(&logged.record->lock, ORR_RANK_RUNTIME);
    }
    while (good && (entry = orr_waits_next(&place)))
        good = logged_add_entry(&logged, entry);
    rc = good ? orr_graph_record_make_of(logged.record, ORR_GRAPH_ALL, ret, err)
              : orr_fail(err, -ENOMEM, "out of memory");
    for (size_t d = 0; d < logged.nturns; d++)
        orr_graph_turns_done(&logged.turns[d]);
    free(logged.turns);
    orr_graph_record_free(logged.record);
    return rc;
}
