/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/data/turns.c - see turns.h. */
#include "core/data/turns.h"

#include "core/base/check.h"
#include "core/task/ahead.h"

static struct orr_access *turns_access(struct orr_list *link)
{
    return orr_container(link, struct orr_access, link);
}

static bool turns_go_together(const struct orr_access *access,
                        enum orr_access_group group)
{
    return access->group == group && group != ORR_GROUP_ALONE;
}

/* --- entering --- */

/* If the last one of the list is granted, so are all before it. */
bool orr_turns_would_grant(const struct orr_turns *turns,
                           enum orr_access_group group)
{
    const struct orr_access *last;

    if (turns->closed)
        return false;
    if (orr_turns_empty(turns))
        return true;
    last = turns_access(turns->order.prev);
    return last->granted && turns_go_together(last, group);
}

bool orr_turns_enter(struct orr_turns *turns, struct orr_access *access,
                     enum orr_access_group group)
{
    if (group == ORR_GROUP_ALONE || group != turns->group) {
        turns->number++;
        turns->group = (uint8_t)group;
    }
    access->group = group & 3;
    access->granted = orr_turns_would_grant(turns, group);
    if (!access->granted && !orr_turns_empty(turns)) {
        struct orr_access *last = turns_access(turns->order.prev);

        /* Who is behind one that waits, too, is known when that one's turn comes. */
        if (!last->granted)
            last->behind = access->job;
    }
    orr_list_append(&turns->order, &access->link);
    return access->granted;
}

void orr_turns_insert(struct orr_turns *turns, struct orr_access *access,
                      enum orr_access_group group,
                      bool (*was_before)(const struct orr_access *a,
                                         const struct orr_access *b))
{
    struct orr_list *position = &turns->order;

    while (position->prev != &turns->order &&
           !turns_access(position->prev)->granted &&
           was_before(access, turns_access(position->prev)))
        position = position->prev;
    access->group = group & 3;
    orr_list_insert_before(position, &access->link);
}

/* --- turns begin --- */

/* When the access leaves, who is behind it is read. */
__attribute__((always_inline)) static inline void
turns_look_behind(const struct orr_access *access)
{
    orr_ahead_access(turns_access(access->link.next));
    orr_ahead_job(access->behind);
}

struct orr_access *orr_turns_grant(struct orr_turns *turns)
{
    struct orr_access *chain = NULL, **end = &chain;
    const struct orr_access *first = turns_access(turns->order.next);

    if (turns->closed)
        return NULL;
    orr_list_foreach (link, &turns->order) {
        struct orr_access *access = turns_access(link);

        if (access != first && !turns_go_together(access, first->group))
            break;
        if (access->granted)
            continue;
        access->granted = 1;
        turns_look_behind(access);
        *end = access;
        end = &access->next;
    }
    *end = NULL;
    return chain;
}

struct orr_access *orr_turns_share(struct orr_turns *turns,
                                   struct orr_access *access)
{
    access->group = ORR_GROUP_READ;
    return orr_turns_grant(turns);
}

/* --- who is where --- */

struct orr_access *orr_turns_behind(const struct orr_turns *turns,
                                    const struct orr_access *access)
{
    struct orr_access *next = access->ordered ? orr_turns_after(turns, access)
                                              : orr_turns_first(turns);

    while (next && turns_go_together(next, access->group))
        next = orr_turns_after(turns, next);
    return next;
}

struct orr_access *orr_turns_mate(const struct orr_turns *turns,
                                  const struct orr_access *access)
{
    struct orr_access *next = orr_turns_after(turns, access);

    return next && turns_go_together(next, access->group) ? next : NULL;
}

/* Granted accesses come first; they may all be active at once. */
void orr_turns_check(const struct orr_turns *turns)
{
    const struct orr_access *first = NULL, *before = NULL;

    orr_turns_foreach (access, turns) {
        ORR_CHECK(!access->duplicate);
        ORR_CHECK(first ? !access->granted || before->granted
                        : turns->closed || access->granted);
        ORR_CHECK(!first || !access->granted ||
                  turns_go_together(access, first->group));
        first = first ? first : access;
        before = access;
    }
}
