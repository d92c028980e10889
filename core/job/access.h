/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/access.h - one datum of a job: its turn among the jobs that use the datum,
 * and what it has of the datum meanwhile.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <starpu.h>

#include "core/base/heap.h"
#include "core/base/list.h"

struct orr_handle;
struct orr_job;

/* When something is needed; the smaller, the sooner: core/data/nextuse.c. */
struct orr_use {
    int64_t first;
    uint64_t second;
};

static inline bool orr_use_is_sooner(struct orr_use a, struct orr_use b)
{
    return a.first < b.first || (a.first == b.first && a.second < b.second);
}

/* How neighbours go together. */
enum orr_access_group {
    ORR_GROUP_ALONE, /* with nobody */
    ORR_GROUP_READ,
    ORR_GROUP_COMMUTE, /* writers in any order */
    ORR_GROUP_REDUX,
};

struct orr_access {
    struct orr_list link;      /* [handle lock] in the turns of the handle, or of what
                                * a task around its own lends */
    union {
        /* The next one of the chain that it is in, one at a time: accesses sorted for
         * submission, or granted ones; orr_access_waits, too. */
        struct orr_access *next;
        /* [handle lock] While it waits for its turn: the job that came behind it in the
         * order, for core/job/ahead.h alone. */
        const void *behind;
    };
    struct orr_job *job;       /* [const] */
    struct orr_handle *handle; /* [const] what is ordered and claimed */
    union {
        struct orr_handle *datum; /* [owner] if `elsewhere`: orr_access_datum */
        struct orr_access *waits; /* [handle lock] if not: orr_access_waits */
    };
    uint16_t mode;             /* [const] enum starpu_data_access_mode, but for
                                * orr_access_share and a first value that comes
                                * too late: [handle lock] */
    uint16_t index;          /* [const] which buffer of the task */
    uint16_t scoped;         /* [handle lock] the depth of the nest of a task
                              * around its own in whose scope it is; 0: in none */
    uint8_t wants_order : 1; /* [const] takes part in the handle's order */
    uint8_t duplicate : 1;   /* [const] an earlier access has the handle */
    uint8_t optional : 1;    /* [const] a datum without a value will do */
    uint8_t lent : 1;        /* [const] by the job that holds the handle: it has no turn
                              * and claims nothing */
    uint8_t tried : 1;       /* [const] of an acquisition that did not wait */
    uint8_t placed : 1;      /* [const] its codelet says where: place.c */
    uint8_t own : 1;         /* [const] of scoped ones: an acquisition by the
                              * task whose data they are */
    uint8_t : 0; /* others read those above while these change: C has them apart so */
    uint8_t group : 2;       /* [handle lock] in its turns: enum orr_access_group */
    uint8_t ordered : 1;     /* [handle lock] is in that list */
    uint8_t granted : 1;     /* [handle lock] no earlier one is in its way */
    uint8_t claimed : 1;     /* [handle lock] holds a claim: claim.c */
    uint8_t promised : 1;    /* [handle lock] `node` is promised to it, where
                              * it is not pinned yet */
    uint8_t used : 1;        /* [handle lock] its kernel has ended */
    uint8_t returned : 1;    /* [handle lock] … and excludes only jobs that are behind
                              * it in the order */
    /* [owner] The job's worker changes the rest without the lock. It is in no word
     * with what others read under it: compilers read several bytes at once. */
    _Alignas(8) uint8_t begins; /* its kernel begins the partial */
    uint8_t held : 1;           /* that reference is not final yet: admit.c */
    uint8_t alias : 1;         /* an earlier access has the datum */
    uint8_t reads : 1;         /* the datum's value is fetched */
    uint8_t node;   /* where it is pinned */
    uint8_t at;     /* the node where the kernel uses it, from the fetch on; ORR_NO_PLACE:
                     * none */
    uint8_t writes; /* counts in its handle's `writing` */
    uint8_t pinned; /* holds a reference on its replicate */
    uint8_t elsewhere; /* does not use the memory of `handle` */
};

/* A line of the cache, so that workers that end the predecessors of a job's accesses do
 * not write in one. */
static_assert(sizeof(struct orr_access) == 64, "see above");

static_assert(STARPU_ACCESS_MODE_MAX <= 1 << 16, "a mode fits 16 bits");

/* The handle whose memory it uses: its own, or, from the fetch on, private data of the worker
 * (core/data/private.h). */
static inline struct orr_handle *
orr_access_datum(const struct orr_access *access)
{
    return access->elsewhere ? access->datum : access->handle;
}

/* By the owner, while it waits for nothing. */
static inline void orr_access_set_datum(struct orr_access *access,
                                        struct orr_handle *datum)
{
    access->elsewhere = datum != access->handle;
    if (access->elsewhere)
        access->datum = datum;
}

/* [handle lock] The link to the next of those that wait for the same request. A job that
 * follows others asks for values before its turn has come, so that its access may be in the
 * chain of those that are granted meanwhile: not so that of private data, which has no turn, or
 * is a reduction's, and those follow nobody. */
static inline struct orr_access **orr_access_waits(struct orr_access *access)
{
    return access->elsewhere ? &access->next : &access->waits;
}

/* A value of orr_access.at: the access is at no node. */
#define ORR_NO_PLACE UINT8_MAX
static_assert(STARPU_MAXNODES <= 64,
              "a node fits 8 bits and a mask of them 64");

/* How the access goes together with others in the order of its handle. */
static inline enum orr_access_group
orr_access_group(const struct orr_access *access)
{
    if (access->mode & STARPU_REDUX)
        return ORR_GROUP_REDUX;
    if (access->mode & STARPU_W)
        return access->mode & STARPU_COMMUTE ? ORR_GROUP_COMMUTE
                                             : ORR_GROUP_ALONE;
    /* A reader that commutes contradicts itself, and is a group of its own. */
    return access->mode & STARPU_COMMUTE ? ORR_GROUP_ALONE : ORR_GROUP_READ;
}
