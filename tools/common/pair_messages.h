/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/pair_messages.h - the two ends of each message, of which its sender's trace
 * has one and its receiver's the other. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct message_end {
    unsigned from, to;
    bool received;
    int64_t tag;
    /* Among the sender's; 0: it went by way of other ranks, and is the sender's and the
     * receiver's k-th such message of that tag. */
    uint64_t number;
    double time;  /* by which those of one tag are in order on each side */
    size_t index; /* the caller's */
};

/* Sorts the ends, and calls `pair` for each two of one message. */
void pair_messages(struct message_end *ends, size_t n,
                   void (*pair)(void *arg, const struct message_end *sent,
                                const struct message_end *received),
                   void *arg);
