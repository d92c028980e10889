/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/aliases.h - what the aliases and keys in a Pajé file stand for: a
 * table from texts to numbers. One thread.
 */
#pragma once

#include <stddef.h>

struct alias;

/* Zero is an empty one. */
struct aliases {
    struct alias **buckets; /* owned */
    size_t nbuckets, n;     /* nbuckets: 0 or a power of 2 */
};

#define ALIAS_UNKNOWN ((size_t)-1)

/* The text, which is copied, stands for that number from now on. Errors:
 * -ENOMEM. */
int aliases_set(struct aliases *aliases, const char *text, size_t number);

/* ALIAS_UNKNOWN if it was not set. */
size_t aliases_find(const struct aliases *aliases, const char *text);

void aliases_done(struct aliases *aliases);
