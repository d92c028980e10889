/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/text_pool.c - see text_pool.h. A table of lists that doubles when it has
 * a text per list: a program may give each of its tasks a name of its own.
 */
#include "core/observe/text_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct orr_text {
    struct orr_text *next;
    uint32_t hash;
    char text[];
};

/* FNV-1a. */
static uint32_t hash_text(const char *text)
{
    uint32_t hash = 2166136261U;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619U;
    return hash;
}

static struct orr_text **bucket(const struct orr_texts *texts, uint32_t hash)
{
    return &texts->buckets[hash & (texts->nbuckets - 1)];
}

/* Enlarges the table. Without memory the table stays as it is, and is slower; -1 if
 * there is no table. */
static int texts_grow(struct orr_texts *texts)
{
    struct orr_texts larger = {.nbuckets =
                                   texts->nbuckets ? 2 * texts->nbuckets : 16};

    larger.buckets = calloc(larger.nbuckets, sizeof(struct orr_text *));
    if (!larger.buckets)
        return texts->buckets ? 0 : -1;
    for (size_t b = 0; b < texts->nbuckets; b++)
        while (texts->buckets[b]) {
            struct orr_text *kept = texts->buckets[b];
            struct orr_text **at = bucket(&larger, kept->hash);

            texts->buckets[b] = kept->next;
            kept->next = *at;
            *at = kept;
        }
    free(texts->buckets);
    texts->buckets = larger.buckets;
    texts->nbuckets = larger.nbuckets;
    return 0;
}

const char *orr_texts_add(struct orr_texts *texts, const char *text)
{
    uint32_t hash = hash_text(text);
    size_t size = strlen(text) + 1;
    struct orr_text *kept = NULL;

    if (texts->nbuckets)
        kept = *bucket(texts, hash);
    while (kept && (kept->hash != hash || strcmp(kept->text, text) != 0))
        kept = kept->next;
    if (kept)
        return kept->text;
    if (texts->n == texts->nbuckets && texts_grow(texts) < 0)
        return NULL;
    kept = malloc(sizeof(*kept) + size);
    if (!kept)
        return NULL;
    kept->hash = hash;
    memcpy(kept->text, text, size);
    kept->next = *bucket(texts, hash);
    *bucket(texts, hash) = kept;
    texts->n++;
    return kept->text;
}

const char *orr_texts_keep(struct orr_texts *texts,
                           struct orr_texts_recent *recent, const char *text)
{
    unsigned at = (unsigned)((uintptr_t)text / 16 % ORR_TEXTS_RECENT);
    const char *kept = recent->items[at].kept;

    /* The address may be that of another one by now. */
    if (text == recent->items[at].text && kept && !strcmp(kept, text))
        return kept;
    kept = orr_texts_add(texts, text);
    recent->items[at].text = text;
    recent->items[at].kept = kept;
    return kept;
}

void orr_texts_done(struct orr_texts *texts)
{
    for (size_t b = 0; b < texts->nbuckets; b++)
        while (texts->buckets[b]) {
            struct orr_text *kept = texts->buckets[b];

            texts->buckets[b] = kept->next;
            free(kept);
        }
    free(texts->buckets);
    *texts = (struct orr_texts){0};
}
