/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/turns.h - sequential consistency: in which order the accesses to a datum
 * get it. A handle has turns, and so has each datum, or part of one, that a task lends
 * to those that it has submitted (struct orr_scope).
 *
 * Accesses stand in one list in the order of submission, from then until their jobs
 * end. Neighbours of one group (readers, commuting writers, contributions to a
 * reduction) have their turn together; an access of ORR_GROUP_ALONE has one by itself.
 * The accesses of the first turn are granted; all others hold their jobs back by one
 * each. When the last granted access leaves, the next turn begins.
 *
 * Nothing is allocated: the links are part of the accesses, so that a submission that
 * has begun cannot fail. Whoever owns the turns has the lock of their handle.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"
#include "core/job/access.h"

struct orr_turns {
    struct orr_list order; /* accesses that have not left, as submitted */
    uint32_t number;       /* number number of the turn of the access that was submitted
                            * last, from 1, also when that has left: the recorded graph
                            * is made of these numbers */
    uint8_t group;         /* enum orr_access_group of that turn */
    bool closed;           /* nobody is granted */
    /* Turns alone do not exclude all accesses from each other: some did not enter, or
     * commuted. Jobs claim the datum, too: claim.c. Read without the lock. */
    atomic_bool requires_claims;
};

/* Zeroed turns become some that nobody has entered. */
static inline void orr_turns_init(struct orr_turns *turns)
{
    orr_list_init(&turns->order);
}

static inline bool orr_turns_empty(const struct orr_turns *turns)
{
    return orr_list_empty(&turns->order);
}

/* The first access; NULL: there is none. */
static inline struct orr_access *orr_turns_first(const struct orr_turns *turns)
{
    return orr_turns_empty(turns)
               ? NULL
               : orr_container(turns->order.next, struct orr_access, link);
}

/* The next one in the order, whichever turn it has; NULL: none. */
static inline struct orr_access *
orr_turns_after(const struct orr_turns *turns, const struct orr_access *access)
{
    return access->link.next == &turns->order
               ? NULL
               : orr_container(access->link.next, struct orr_access, link);
}

/* Walks the accesses in their order; the current one may not leave. */
#define orr_turns_foreach(access, turns)                                       \
    for (struct orr_access *access = orr_turns_first(turns); access;           \
         access = orr_turns_after(turns, access))

static inline bool orr_access_goes_with(const struct orr_access *access,
                                        enum orr_access_group group)
{
    return access->group == group && group != ORR_GROUP_ALONE;
}

/* Whether an access that comes last would be granted. If the last one of the list is
 * granted, so are all before it. */
static inline bool orr_turns_would_grant(const struct orr_turns *turns,
                                         enum orr_access_group group)
{
    const struct orr_access *last =
        orr_container(turns->order.prev, struct orr_access, link);

    return !turns->closed &&
           (orr_turns_empty(turns) ||
            (last->granted && orr_access_goes_with(last, group)));
}

/* The access comes last. Returns whether it is granted. */
static inline bool orr_turns_enter(struct orr_turns *turns,
                                   struct orr_access *access,
                                   enum orr_access_group group)
{
    struct orr_access *last =
        orr_container(turns->order.prev, struct orr_access, link);

    if (group == ORR_GROUP_ALONE || group != turns->group) {
        turns->number++;
        turns->group = (uint8_t)group;
    }
    access->group = (uint8_t)group;
    access->granted = orr_turns_would_grant(turns, group);
    /* Also which access is behind one that waits; that is final when its turn comes. */
    if (!access->granted && !orr_turns_empty(turns) && !last->granted)
        last->behind = access->job;
    orr_list_append(&turns->order, &access->link);
    return access->granted;
}

/* The access, which was held back elsewhere, enters where it would be if it had entered
 * when its job was submitted, which was_before() knows, behind all that are granted. It
 * is not granted. */
void orr_turns_insert(struct orr_turns *turns, struct orr_access *access,
                      enum orr_access_group group,
                      bool (*was_before)(const struct orr_access *a,
                                         const struct orr_access *b));

/* Grants all accesses that may go together with the first one, and returns those that
 * were not granted before, as a chain in their order. */
struct orr_access *orr_turns_grant(struct orr_turns *turns);

/* The same, unless some access is granted already: after one has left. */
static inline struct orr_access *orr_turns_grant_next(struct orr_turns *turns)
{
    const struct orr_access *first = orr_turns_first(turns);

    return !first || first->granted ? NULL : orr_turns_grant(turns);
}

/* The granted access, which goes together with no other, goes on as a reader. Returns
 * the readers that are granted now. */
struct orr_access *orr_turns_share(struct orr_turns *turns,
                                   struct orr_access *access);

/* --- which access is in which turn --- */

/* The first one whose turn comes after that of the access, or of one like it that has
 * left; NULL: none. */
struct orr_access *orr_turns_behind(const struct orr_turns *turns,
                                    const struct orr_access *access);

/* The next one that has its turn together with the access; NULL: none. */
struct orr_access *orr_turns_mate(const struct orr_turns *turns,
                                  const struct orr_access *access);

/* Stops the program if the turns are not as they must be. */
void orr_turns_check(const struct orr_turns *turns);
