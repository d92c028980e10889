/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/entities.h - what the tasks of a record are in trace files: each
 * pair of name and colour once, with a text that tells it from all others. One
 * thread.
 */
#pragma once

#include "core/observe/timeline.h"

struct orr_entity {
    const char *name; /* of its tasks, lent by the record */
    unsigned colour;  /* 0xrrggbb, 0: automatic */
    size_t rank;      /* of the name among all, from 0; the same in other
                       * colours */
    char *shown;      /* the name as orr_trace_safe_text says, not
                       * empty; owned */
    char *alias;      /* unique: `shown` where that is; owned */
};

/* What was found last for a pair: most tasks have one of few. */
enum { ORR_ENTITY_MEMOS = 64 };

struct orr_entity_memo {
    const char *name; /* NULL: nothing yet */
    unsigned colour;
    const struct orr_entity *entity;
};

struct orr_entities {
    struct orr_entity *items; /* owned; by name, then colour */
    size_t n, room;
    struct orr_entity_memo memos[ORR_ENTITY_MEMOS];
    /* [const] what no alias may be, ends with NULL; lent */
    const char *const *taken;
};

/* Begins as {.taken = …}; borrows from the record and is ended with
 * orr_entities_done. */
void orr_entities_done(struct orr_entities *entities);

/* Adds the pairs of the tasks in that part of a timeline, each of which has its text as
 * its alias then. Errors: -ENOMEM; -ESTALE: some text cannot be an alias, or there are
 * very many, so that all parts have to be known before. */
int orr_entities_add(struct orr_entities *entities,
                     const struct orr_timeline *part);

/* The same for a whole timeline at once: gives all pairs short aliases. Errors:
 * -ENOMEM. */
int orr_entities_take(struct orr_entities *entities,
                      const struct orr_timeline *line);

/* The entity of a task that was added. */
const struct orr_entity *orr_entities_get(struct orr_entities *entities,
                                          const struct orr_trace_task *task);

/* The text as core/base/shown.h says, and without quotation marks; one that is empty
 * becomes "-", since readers of Pajé files take no empty field. Owned by the
 * caller, NULL without memory. */
char *orr_trace_safe_text(const char *text);
