/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/kept.h - what a program (core/exec/program.h) has of StarPU-MPI before the first rank
 * and after the last: layouts that it has registered, ranges of tags. Any thread.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>

struct orr_native;
struct orr_tag_range;

struct orr_kept {
    pthread_mutex_t lock;
    struct orr_native *natives; /* [lock] owned; layout.c */
    size_t nnatives, natives_room;
    struct orr_tag_range *ranges; /* [lock] owned, by their first tag; tags.c */
    size_t nranges, ranges_room;
};

/* That of the caller's program, with its lock held, which orr_kept_leave gives back. The
 * process ends without memory. */
struct orr_kept *orr_kept_enter(void);
void orr_kept_leave(struct orr_kept *kept);

/* Frees the natives; layout.c. */
void orr_kept_free_natives(struct orr_kept *kept);
