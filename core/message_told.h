/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/message_told.h - what a layer above the runtime tells observers of messages between
 * ranks (core/remote.h), and of their clocks. Times are µs of this rank's machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct orr_handle;
struct orr_job;

/* A message that has gone, or has come. */
struct orr_message_told {
    bool received; /* else it was sent */
    int peer;      /* rank in the communicator of all: to, or from, whom */
    int64_t tag;
    uint64_t number; /* among the sender's: both ranks have the same one; 0: it went by way
                      * of others, and they know it by its place among those of its tag */
    size_t bytes;
    const struct orr_handle *handle;
    struct orr_job *job; /* that has the datum for it, maybe for others, too */
    double called; /* the call that sends or receives it was made */
    double start; /* the datum was there to be sent, or for the message to come */
    double end;   /* the datum may be used */
};

/* Rank 0's clock was `offset` µs ahead of this one, at a moment between the two. */
struct orr_clocks_told {
    double start, end;
    double offset;
};
