/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/disk/extents.h - which bytes of a file are allocated: extents of
 * whole pages, taken from the first gap that is large enough, else at the end.
 * Any thread.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

struct gap;

struct extents {
    pthread_mutex_t lock;
    size_t page;      /* [const] */
    struct gap *gaps; /* [lock] by start, never adjacent */
    off_t end;        /* [lock] of the last extent */
};

void extents_init(struct extents *extents, size_t page);
void extents_done(struct extents *extents);

/* Whole pages, at least one. */
size_t extents_round(const struct extents *extents, size_t size);

/* Allocates `size` bytes and returns their offset; they are the caller's. */
off_t extents_take(struct extents *extents, size_t size);

/* Gives back what was taken with that size. */
void extents_give(struct extents *extents, off_t start, size_t size);
