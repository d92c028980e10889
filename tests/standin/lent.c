/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/standin/lent.c - see lent.h. */
#include "lent.h"
#undef cpu_funcs
#undef cuda_funcs

#include <stdbool.h>
#include <stdint.h>

#include "../api/on-gpu.h"

/* Elements, from one to the end of its block, that are in main memory meanwhile.
 * Others may change some of them on the device at the same time: parts of data are
 * in the block of the whole. */
struct staged {
    struct staged *next;
    uintptr_t address;
    size_t size, element;
    char *now, *before;
};

static void check(int code, const char *call)
{
    if (!code)
        return;
    fprintf(stderr, "lent: %s: error %d\n", call, code);
    abort();
}

/* From the address to the end of its block. */
static size_t size_from(uintptr_t address)
{
    uintptr_t base;
    size_t size;

    check(on_range(&base, &size, address), ON_RANGE);
    return base + size - address;
}

static void *stage(void *arg, uintptr_t handle, size_t offset, size_t element)
{
    struct staged **all = arg, *s;
    uintptr_t address = handle + offset;

    for (s = *all; s && address - s->address >= s->size;)
        s = s->next;
    if (s || !handle)
        return s ? s->now + (address - s->address) : NULL;
    s = malloc(sizeof(*s));
    *s =
        (struct staged){*all, address, size_from(address), element, NULL, NULL};
    s->now = malloc(s->size);
    s->before = malloc(s->size);
    check(on_read(s->now, address, s->size), ON_READ);
    memcpy(s->before, s->now, s->size);
    *all = s;
    return s->now;
}

static bool is_changed(const struct staged *s, size_t at)
{
    size_t left = s->size - at;

    return memcmp(s->now + at, s->before + at,
                  left < s->element ? left : s->element) != 0;
}

/* Only the elements that the function has changed, as many at once as are one
 * behind the other. */
static void write_back(const struct staged *s)
{
    for (size_t from = 0, to; from < s->size; from = to) {
        bool changed = is_changed(s, from);

        for (to = from + s->element;
             to < s->size && is_changed(s, to) == changed;)
            to += s->element;
        if (to > s->size)
            to = s->size;
        if (changed)
            check(on_write(s->address + from, s->now + from, to - from),
                  ON_WRITE);
    }
}

static void unstage(struct staged *s)
{
    while (s) {
        struct staged *next = s->next;

        write_back(s);
        free(s->now);
        free(s->before);
        free(s);
        s = next;
    }
}

static void *look(void *arg, uintptr_t handle, size_t offset, size_t element)
{
    char *bytes = on_bytes((void *)handle);

    (void)arg;
    (void)element;
    return bytes ? bytes + offset : NULL;
}

/* What the stream has comes first; then this thread is the device. */
void lent_to_gpu(void *buffers[], void *arg)
{
    struct staged *staged = NULL;

    check(on_synchronize(), ON_SYNC);
    if (on_is_standin()) {
        lent_run(buffers, arg, look, NULL);
        return;
    }
    lent_run(buffers, arg, stage, &staged);
    unstage(staged);
}
