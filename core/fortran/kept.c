/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/fortran/kept.c - what outlives a call, or its end. In Fortran a literal//c_null_char
 * is a temporary; names of codelets and models are few and repeat, so they are kept once
 * each, and never freed. Codelets and models that are freed while the library is
 * initialised are kept until it is not: what is told at its end is about them.
 */
#include <pthread.h>
#include <string.h>

#include "core/fortran/fortran.h"

struct text {
    struct text *next;
    char at[];
};

enum { NBUCKETS = 256 };

struct retired {
    struct retired *next;
    void *object;
};

static struct {
    pthread_mutex_t lock;
    struct text *buckets[NBUCKETS]; /* [lock] by hash */
    struct retired *retired;        /* [lock] */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned hash_of(const char *text)
{
    unsigned hash = 5381;

    for (; *text; text++)
        hash = 33 * hash + (unsigned char)*text;
    return hash % NBUCKETS;
}

const char *orr_fortran_keep(const char *call, const char *text)
{
    struct text **bucket, *found;

    if (!text)
        return NULL;
    bucket = &kept.buckets[hash_of(text)];
    pthread_mutex_lock(&kept.lock);
    for (found = *bucket; found && strcmp(found->at, text) != 0;)
        found = found->next;
    if (!found) {
        size_t size = strlen(text) + 1;

        found = orr_fortran_new(call, 1, sizeof(*found) + size);
        memcpy(found->at, text, size);
        found->next = *bucket;
        *bucket = found;
    }
    pthread_mutex_unlock(&kept.lock);
    return found->at;
}

void *orr_fortran_new(const char *call, size_t n, size_t size)
{
    void *object = calloc(n ? n : 1, size);

    if (object)
        return object;
    orr_log_error("%s: no memory for %zu bytes", call, n * size);
    abort();
}

static struct retired *take_retired(void)
{
    struct retired *all;

    pthread_mutex_lock(&kept.lock);
    all = kept.retired;
    kept.retired = NULL;
    pthread_mutex_unlock(&kept.lock);
    return all;
}

void orr_fortran_retire(const char *call, void *object)
{
    struct retired *item;

    if (!object)
        return;
    item = orr_fortran_new(call, 1, sizeof(*item));
    item->object = object;
    pthread_mutex_lock(&kept.lock);
    item->next = kept.retired;
    kept.retired = item;
    pthread_mutex_unlock(&kept.lock);
    if (starpu_is_initialized())
        return;
    for (struct retired *next, *all = take_retired(); all; all = next) {
        next = all->next;
        free(all->object);
        free(all);
    }
}
