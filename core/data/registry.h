/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/registry.h - the data handles of a run, and what holds for all of them.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/list.h"
#include "core/base/lock.h"

struct orr_data {
    struct orr_list handles; /* [runtime's lock] */
    struct orr_list dead;    /* [runtime's lock] handles to be freed … */
    atomic_uint ndead;       /* … and the length of that list */
    unsigned nhandles, most_handles; /* [runtime's lock] registered, and at most */
    struct orr_lock plans_lock;      /* rank ORR_RANK_PLANS */
    atomic_uint nplans;              /* planned partitions there are */
    atomic_uint nreduced;            /* handles with partials: reduction.h */
    atomic_bool requires_claims;     /* some handle does, or did */
    bool default_sequential;         /* [main] new handles keep sequential order */
    atomic_bool writes_through;      /* starpu_data_set_wt_mask was called */
    char pad[64];
    atomic_ullong last_handle, last_claim; /* numbers given out last */
    uint64_t asked_handle; /* [main] what the next one is to have; 0: the one behind */
    char pad_rest[64];
};
