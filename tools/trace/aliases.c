/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/trace/aliases.c - see aliases.h: lists that are kept short. One thread. */
#include "tools/trace/aliases.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct alias {
    struct alias *next;
    size_t number;
    uint32_t hash;
    char text[];
};

/* FNV-1a. */
static uint32_t alias_hash(const char *text)
{
    uint32_t hash = 2166136261U;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619U;
    return hash;
}

static struct alias *aliases_find_text(const struct aliases *aliases,
                                       const char *text, uint32_t hash)
{
    struct alias *alias = NULL;

    if (aliases->nbuckets)
        alias = aliases->buckets[hash & (aliases->nbuckets - 1)];
    while (alias && (alias->hash != hash || strcmp(alias->text, text) != 0))
        alias = alias->next;
    return alias;
}

static int aliases_grow(struct aliases *aliases)
{
    size_t n = aliases->nbuckets ? 2 * aliases->nbuckets : 64;
    struct alias **buckets = calloc(n, sizeof(struct alias *));

    if (!buckets)
        return -ENOMEM;
    for (size_t b = 0; b < aliases->nbuckets; b++)
        while (aliases->buckets[b]) {
            struct alias *alias = aliases->buckets[b];
            struct alias **at = &buckets[alias->hash & (n - 1)];

            aliases->buckets[b] = alias->next;
            alias->next = *at;
            *at = alias;
        }
    free(aliases->buckets);
    aliases->buckets = buckets;
    aliases->nbuckets = n;
    return 0;
}

int aliases_set(struct aliases *aliases, const char *text, size_t number)
{
    uint32_t hash = alias_hash(text);
    struct alias *alias = aliases_find_text(aliases, text, hash), **at;
    size_t size = strlen(text) + 1;

    if (!alias) {
        if (aliases->n == aliases->nbuckets && aliases_grow(aliases) < 0)
            return -ENOMEM;
        alias = malloc(sizeof(*alias) + size);
        if (!alias)
            return -ENOMEM;
        at = &aliases->buckets[hash & (aliases->nbuckets - 1)];
        alias->hash = hash;
        alias->next = *at;
        memcpy(alias->text, text, size);
        *at = alias;
        aliases->n++;
    }
    alias->number = number;
    return 0;
}

size_t aliases_find(const struct aliases *aliases, const char *text)
{
    const struct alias *alias =
        aliases_find_text(aliases, text, alias_hash(text));

    return alias ? alias->number : ALIAS_UNKNOWN;
}

void aliases_done(struct aliases *aliases)
{
    for (size_t b = 0; b < aliases->nbuckets; b++)
        while (aliases->buckets[b]) {
            struct alias *alias = aliases->buckets[b];

            aliases->buckets[b] = alias->next;
            free(alias);
        }
    free(aliases->buckets);
    *aliases = (struct aliases){0};
}
