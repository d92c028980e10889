/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/slab.h - objects of one size, carved from large blocks.
 *
 * Each worker has a cache of free objects of its own (orr_context.cache: its
 * number + 1), and so has main, the last one; all other contexts share one (0). Contexts that
 * take turns in one thread have one together (ORR_CACHE_OF_TURNS), so that what one gives back
 * the next one takes, which the processor still has.
 * Caches exchange whole batches with a common depot, so that what main allocates
 * may be freed by workers and come back.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct orr_slab;

/* Each slab has it. */
enum { ORR_CACHE_OF_TURNS = 1 };

/* Makes a slab of objects of `size` bytes for `nworkers` workers. Errors:
 * -ENOMEM. The caller owns *ret and ends it with orr_slab_free. */
int orr_slab_new(size_t size, unsigned nworkers, struct orr_slab **ret);

/* Frees the slab and every object taken from it. NULL is allowed. */
void orr_slab_free(struct orr_slab *slab);

/* Whether no object is in use. No worker's or main's cache is used meanwhile. */
bool orr_slab_is_unused(struct orr_slab *slab);

/* Frees the memory of a slab that is to be used further, if no object is in use. No
 * worker's or main's cache is used meanwhile. */
void orr_slab_trim(struct orr_slab *slab);

/* Whether the slab has made the object. Nobody takes any meanwhile. */
bool orr_slab_made(const struct orr_slab *slab, const void *object);

/* One object with undefined content, aligned to 8 bytes, and to 64 where
 * their size is a multiple of that; NULL when memory is
 * out. The calling thread must be a context, maybe one of no run. */
void *orr_slab_get(struct orr_slab *slab);

/* The same, all zero: lines of the cache of one that nobody has had yet are not touched. */
void *orr_slab_get_zeroed(struct orr_slab *slab);

/* Gives an object back; any context. */
void orr_slab_put(struct orr_slab *slab, void *object);

/* Gives the slab an object of that size that malloc has made; any context. */
void orr_slab_adopt(struct orr_slab *slab, void *object);

/* Calls visit(object, arg) for every object that the slab has made: those
 * in use, those given back (their first 16 bytes are the slab's, the rest is
 * as it was) and those never taken, which are zero. For reports at the end of
 * a program that is stuck: nobody else may use the slab. */
void orr_slab_each(struct orr_slab *slab, void (*visit)(void *, void *),
                   void *arg);
