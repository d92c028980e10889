/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/submissions.c - see submissions.h. Arrays grow by doubling. */
#include "core/observe/submissions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int orr_submissions_new(struct orr_submissions **ret)
{
    struct orr_submissions *s = calloc(1, sizeof(*s));

    if (!s)
        return -ENOMEM;
    orr_lock_init(&s->lock, ORR_RANK_RUNTIME);
    *ret = s;
    return 0;
}

void orr_submissions_free(struct orr_submissions *s)
{
    if (!s)
        return;
    free(s->all);
    free(s->uses);
    free(s->data);
    orr_texts_done(&s->texts);
    free(s);
}

/* A zeroed element more; NULL without memory. */
static void *add(void *array, size_t *n, size_t *room, size_t size)
{
    char **elements = array;

    if (*n == *room) {
        size_t larger = *room ? 2 * *room : 256;
        void *moved = reallocarray(*elements, larger, size);

        if (!moved)
            return NULL;
        *elements = moved;
        *room = larger;
    }
    memset(*elements + *n * size, 0, size);
    return *elements + (*n)++ * size;
}

/* Describes the datum when it is first used. */
static void see_datum(struct orr_submissions *s,
                      const struct orr_submitted_datum *datum)
    ORR_REQUIRES(s->lock)
{
    if (datum->handle >= s->ndata) {
        size_t larger = 2 * (datum->handle + 8);
        void *moved = reallocarray(s->data, larger, sizeof(*s->data));

        if (!moved) {
            s->lost = true;
            return;
        }
        s->data = moved;
        memset(s->data + s->ndata, 0, (larger - s->ndata) * sizeof(*s->data));
        s->ndata = larger;
    }
    if (s->data[datum->handle].handle)
        return;
    s->data[datum->handle] = *datum;
    s->data[datum->handle].name = orr_submissions_text(s, datum->name);
}

const char *orr_submissions_text(struct orr_submissions *s, const char *text)
{
    return text ? orr_texts_add(&s->texts, text) : NULL;
}

void orr_submissions_use(struct orr_submissions *s, struct orr_submitted *entry,
                         const struct orr_submitted_datum *datum, uint32_t mode)
{
    struct orr_submitted_use *use;

    if (!entry)
        return;
    see_datum(s, datum);
    use = add(&s->uses, &s->nuses, &s->room_uses, sizeof(*s->uses));
    if (!use) {
        s->lost = true;
        return;
    }
    *use = (struct orr_submitted_use){datum->handle, mode, datum->bytes};
    entry->nuses++;
}

struct orr_submitted *orr_submissions_begin(struct orr_submissions *s,
                                            double time)
{
    struct orr_submitted *entry;

    orr_lock(&s->lock);
    entry = add(&s->all, &s->n, &s->room, sizeof(*s->all));
    if (!entry) {
        s->lost = true;
        return NULL;
    }
    entry->time = time;
    entry->first_use = s->nuses;
    return entry;
}

void orr_submissions_end(struct orr_submissions *s)
{
    orr_unlock(&s->lock);
}
