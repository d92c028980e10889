/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/entities.c - see entities.h. One thread. */
#include "core/observe/entities.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/shown.h"

enum { MOST_ADDED = 1024 };

char *orr_trace_safe_text(const char *text)
{
    char *safe = strdup(*text ? text : "-"), *to = safe;
    const char *from = safe, *shown;
    size_t n;

    while (safe && (shown = orr_shown_next(&from, &n), n > 0)) {
        if (n == 1)
            *to = *shown == '"' ? '_' : *shown;
        else
            memmove(to, shown, n);
        to += n;
    }
    if (safe)
        *to = '\0';
    return safe;
}

static int entity_compare(const void *a, const void *b)
{
    const struct orr_entity *x = a, *y = b;
    /* Most tasks of a buffer share their names. */
    int order = x->name == y->name ? 0 : strcmp(x->name, y->name);

    if (order)
        return order;
    return (x->colour > y->colour) - (x->colour < y->colour);
}

static struct orr_entity of_task(const struct orr_trace_task *task)
{
    return (struct orr_entity){.name = task->name, .colour = task->colour};
}

/* Where a pair is remembered. Equal names have few addresses, one per buffer. */
static struct orr_entity_memo *memo_of(struct orr_entities *entities,
                                       const char *name, unsigned colour)
{
    uintptr_t hash = (uintptr_t)name / 16 + colour;

    return &entities
                ->memos[(hash ^ hash / ORR_ENTITY_MEMOS) % ORR_ENTITY_MEMOS];
}

static bool entity_memo_matches(const struct orr_entity_memo *memo,
                                const char *name, unsigned colour)
{
    return memo->name == name && memo->colour == colour;
}

static void entities_forget_memos(struct orr_entities *entities)
{
    memset(entities->memos, 0, sizeof(entities->memos));
}

/* Writes the entities of all tasks to `all`; most appear there a few times only. */
static size_t entities_gather(const struct orr_timeline *line,
                              struct orr_entities *entities,
                              struct orr_entity *all)
{
    size_t n = 0;

    for (size_t i = 0; i < line->n; i++) {
        const struct orr_trace_task *task = &line->moments[i].event->u.task;
        struct orr_entity_memo *memo;

        if (line->moments[i].event->type != ORR_EVENT_TASK ||
            line->moments[i].end)
            continue;
        memo = memo_of(entities, task->name, task->colour);
        if (entity_memo_matches(memo, task->name, task->colour))
            continue;
        *memo = (struct orr_entity_memo){task->name, task->colour, NULL};
        all[n++] = of_task(task);
    }
    return n;
}

/* Takes what is there several times out, and numbers the names. */
static void entities_number(struct orr_entities *entities)
{
    struct orr_entity *all = entities->items;
    size_t kept = 0;

    for (size_t i = 0; i < entities->n; i++) {
        const struct orr_entity *last = kept ? &all[kept - 1] : NULL;
        size_t rank = 0;

        if (last && entity_compare(last, &all[i]) == 0)
            continue;
        if (last)
            rank = last->rank + (strcmp(last->name, all[i].name) != 0);
        all[kept] = all[i];
        all[kept++].rank = rank;
    }
    entities->n = kept;
}

/* --- aliases --- */

static int compare_shown(const void *a, const void *b)
{
    const struct orr_entity *x = *(struct orr_entity *const *)a;
    const struct orr_entity *y = *(struct orr_entity *const *)b;
    int order = strcmp(x->shown, y->shown);

    return order ? order : (x > y) - (x < y);
}

static int compare_text(const void *text, const void *entity)
{
    return strcmp(text, (*(struct orr_entity *const *)entity)->shown);
}

static bool is_taken(const char *text, const char *const *taken)
{
    while (*taken && strcmp(*taken, text) != 0)
        taken++;
    return *taken != NULL;
}

/* "name#2", "name#3" … from `number` on, the first one that is no entity's
 * name. Those of other names have another text before the last #. */
static char *numbered(struct orr_entity *const *sorted, size_t n,
                      const char *shown, unsigned *number)
{
    size_t size = strlen(shown) + 16;
    char *text = malloc(size);

    if (!text)
        return NULL;
    do
        snprintf(text, size, "%s#%u", shown, (*number)++);
    while (bsearch(text, sorted, n, sizeof(struct orr_entity *), compare_text));
    return text;
}

static int add_aliases(struct orr_entities *entities, const char *const *taken)
{
    struct orr_entity **sorted =
        malloc((entities->n + 1) * sizeof(struct orr_entity *));
    unsigned number = 2;
    int result = sorted ? 0 : -ENOMEM;

    for (size_t i = 0; i < entities->n && result == 0; i++) {
        sorted[i] = &entities->items[i];
        sorted[i]->shown = orr_trace_safe_text(sorted[i]->name);
        result = sorted[i]->shown ? 0 : -ENOMEM;
    }
    if (result == 0 && entities->n)
        qsort(sorted, entities->n, sizeof(struct orr_entity *), compare_shown);
    for (size_t i = 0; i < entities->n && result == 0; i++) {
        const char *shown = sorted[i]->shown;
        bool again = i > 0 && !strcmp(sorted[i - 1]->shown, shown);

        if (!again)
            number = 2;
        sorted[i]->alias = again || is_taken(shown, taken)
                               ? numbered(sorted, entities->n, shown, &number)
                               : strdup(shown);
        result = sorted[i]->alias ? 0 : -ENOMEM;
    }
    free(sorted);
    return result;
}

int orr_entities_take(struct orr_entities *entities,
                      const struct orr_timeline *line)
{
    assert(!entities->items);
    entities->items = calloc(line->ntasks + 1, sizeof(*entities->items));
    if (!entities->items)
        return -ENOMEM;
    entities->n = entities_gather(line, entities, entities->items);
    qsort(entities->items, entities->n, sizeof(*entities->items),
          entity_compare);
    entities_number(entities);
    entities_forget_memos(entities);
    return add_aliases(entities, entities->taken);
}

/* --- one after the other --- */

/* The place where the entity is, or would have to be inserted. */
static size_t entities_lower_bound(const struct orr_entities *entities,
                                   const struct orr_entity *wanted)
{
    size_t low = 0, high = entities->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (entity_compare(&entities->items[middle], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool entities_have_alias(const struct orr_entities *entities,
                                const char *text)
{
    for (size_t i = 0; i < entities->n; i++)
        if (!strcmp(entities->items[i].alias, text))
            return true;
    return is_taken(text, entities->taken);
}

static int entities_make_room(struct orr_entities *entities)
{
    size_t room = entities->room ? 2 * entities->room : 16;
    struct orr_entity *moved;

    if (entities->n < entities->room)
        return 0;
    moved = reallocarray(entities->items, room, sizeof(*moved));
    if (!moved)
        return -ENOMEM;
    entities->items = moved;
    entities->room = room;
    return 0;
}

/* The entity, whose texts are made here, at its place. */
static int entities_insert(struct orr_entities *entities, struct orr_entity new)
{
    size_t at = entities_lower_bound(entities, &new);

    if (at < entities->n && entity_compare(&entities->items[at], &new) == 0)
        return 0;
    if (entities->n == MOST_ADDED)
        return -ESTALE;
    new.shown = orr_trace_safe_text(new.name);
    new.alias = new.shown ? strdup(new.shown) : NULL;
    if (!new.alias || entities_make_room(entities) < 0) {
        free(new.shown);
        free(new.alias);
        return -ENOMEM;
    }
    if (entities_have_alias(entities, new.alias)) {
        free(new.shown);
        free(new.alias);
        return -ESTALE;
    }
    memmove(&entities->items[at + 1], &entities->items[at],
            (entities->n - at) * sizeof(*entities->items));
    entities->items[at] = new;
    entities->n++;
    entities_forget_memos(entities); /* they have moved */
    return 0;
}

int orr_entities_add(struct orr_entities *entities,
                     const struct orr_timeline *part)
{
    int rc = 0;

    for (size_t i = 0; i < part->n && rc == 0; i++) {
        const struct orr_trace_task *task = &part->moments[i].event->u.task;

        if (part->moments[i].event->type == ORR_EVENT_TASK &&
            !part->moments[i].end &&
            !entity_memo_matches(memo_of(entities, task->name, task->colour),
                                 task->name, task->colour)) {
            rc = entities_insert(entities, of_task(task));
            if (rc == 0)
                (void)orr_entities_get(entities, task);
        }
    }
    entities_number(entities);
    return rc;
}

void orr_entities_done(struct orr_entities *entities)
{
    for (size_t i = 0; i < entities->n; i++) {
        free(entities->items[i].shown);
        free(entities->items[i].alias);
    }
    free(entities->items);
    *entities = (struct orr_entities){0};
}

const struct orr_entity *orr_entities_get(struct orr_entities *entities,
                                          const struct orr_trace_task *task)
{
    struct orr_entity_memo *memo = memo_of(entities, task->name, task->colour);

    if (!entity_memo_matches(memo, task->name, task->colour))
        *memo = (struct orr_entity_memo){
            task->name, task->colour,
            &entities->items[entities_lower_bound(
                entities, &(struct orr_entity){.name = task->name,
                                               .colour = task->colour})]};
    return memo->entity;
}
