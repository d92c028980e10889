/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/members.h - what struct orr_rank has of the parts above it. Their headers say what
 * it means.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <starpu.h>

#include "core/base/list.h"
#include "mpi/transport.h"

struct orr_datum;
struct orr_rank;
struct orr_waiter;

/* --- control.h --- */

enum orr_control_kind {
    ORR_CONTROL_CHECK,      /* mpi/check.c */
    ORR_CONTROL_CHECKPOINT, /* mpi/checkpoint.c */
    ORR_CONTROL_STALL,      /* mpi/stall.c */
    ORR_CONTROL_CLOCK,      /* mpi/clocks.c */
    ORR_CONTROLS
};

/* A message has come; on the carrier. `bytes` are valid until it returns. */
typedef void orr_control(struct orr_rank *rank, const struct orr_header *header,
                         const void *bytes);

/* --- select.h --- */

/* Returns a rank of the communicator of `size` ranks, in which the caller is `me`. */
typedef int orr_policy(int me, int size, struct starpu_data_descr *data, int n);

/* 0, which is always there, takes the rank with most bytes, the lowest one of equals. */
enum { ORR_MOST_POLICIES = 24 };

struct orr_policies {
    orr_policy *at[ORR_MOST_POLICIES]; /* NULL: none; of 0 as well */
    int current;
};

/* --- datum.h --- */

/* A rank's data. */
struct orr_data_table {
    struct orr_datum **buckets;
    size_t nbuckets, n; /* with a tag */
    struct orr_list all, cached, reduced;
};

/* --- clocks.h --- */

struct orr_clocks {
    bool compared;       /* [const] after orr_clocks_open: some rank leaves a file */
    unsigned left;       /* [carrier] questions to rank 0 that are to come */
    double sent;         /* [carrier] µs, when the last one went */
    double start, end;   /* [carrier] of the shortest round trip … */
    double offset;       /* … and what rank 0's clock was ahead in its middle */
    struct orr_waiter *waiter;
};
