/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/job/turns.c - see turns.h. */
#include "core/job/turns.h"

#include "core/base/check.h"
#include "core/job/ahead.h"

static struct orr_access *turns_access(struct orr_list *link)
{
    return orr_container(link, struct orr_access, link);
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
    access->group = (uint8_t)group;
    orr_list_insert_before(position, &access->link);
}

/* --- turns begin --- */

/* When the access leaves, the one behind it is read. */
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

        if (access != first && !orr_access_goes_with(access, first->group))
            break;
        if (access->granted)
            continue;
        access->granted = 1;
        turns_look_behind(access);
        *end = access;
        end = &access->next;
        if (access->group == ORR_GROUP_ALONE)
            break; /* what is behind it is in no cache */
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

/* --- which access is in which turn --- */

struct orr_access *orr_turns_behind(const struct orr_turns *turns,
                                    const struct orr_access *access)
{
    struct orr_access *next = access->ordered ? orr_turns_after(turns, access)
                                              : orr_turns_first(turns);

    while (next && orr_access_goes_with(next, access->group))
        next = orr_turns_after(turns, next);
    return next;
}

struct orr_access *orr_turns_mate(const struct orr_turns *turns,
                                  const struct orr_access *access)
{
    struct orr_access *next = orr_turns_after(turns, access);

    return next && orr_access_goes_with(next, access->group) ? next : NULL;
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
                  orr_access_goes_with(access, first->group));
        first = first ? first : access;
        before = access;
    }
}
