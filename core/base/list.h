/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/list.h - circular doubly linked list whose links live in the
 * elements. No allocation, no locking: the owner of the list does that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct orr_list {
    struct orr_list *next, *prev;
};

#define orr_container(link, type, member)                                      \
    ((type *)((char *)(link)-offsetof(type, member)))

/* Walks the links from first to last; the current one may not be removed. */
#define orr_list_foreach(link, list)                                           \
    for (struct orr_list *link = (list)->next; link != (list);                 \
         link = link->next)

static inline void orr_list_init(struct orr_list *list)
{
    list->next = list->prev = list;
}

static inline bool orr_list_empty(const struct orr_list *list)
{
    return list->next == list;
}

/* A link that is zero or was removed is in no list. */
static inline bool orr_link_free(const struct orr_list *link)
{
    return !link->next;
}

static inline void orr_list_insert_before(struct orr_list *position,
                                          struct orr_list *link)
{
    link->prev = position->prev;
    link->next = position;
    position->prev->next = link;
    position->prev = link;
}

static inline void orr_list_append(struct orr_list *list, struct orr_list *link)
{
    orr_list_insert_before(list, link);
}

static inline void orr_list_prepend(struct orr_list *list,
                                    struct orr_list *link)
{
    orr_list_insert_before(list->next, link);
}

static inline void orr_list_remove(struct orr_list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->next = link->prev = NULL;
}

/* Removes and returns the first link, NULL when empty. */
static inline struct orr_list *orr_list_pop(struct orr_list *list)
{
    struct orr_list *link = list->next;

    if (link == list)
        return NULL;
    orr_list_remove(link);
    return link;
}

/* Moves all links of `from` behind those of `to`. */
static inline void orr_list_move_all(struct orr_list *to, struct orr_list *from)
{
    if (orr_list_empty(from))
        return;
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    orr_list_init(from);
}
