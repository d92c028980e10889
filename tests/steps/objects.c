/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/steps/objects.c - see objects.h. */
#include "tests/steps/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/exec.h"
#include "core/base/lock.h"
#include "core/base/slab.h"
#include "tests/steps/explore.h"

#if defined(__SANITIZE_ADDRESS__)
#    define HAS_ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define HAS_ASAN 1
#    endif
#endif
#ifndef HAS_ASAN
#    define HAS_ASAN 0
#endif

enum { FREED = 0xdd };

struct orr_slab {
    size_t size;
};

struct object {
    struct object *next;
    size_t size;
    long pad[2];
};

static struct object *freed;
static long nobjects;

int __wrap_orr_slab_new(size_t size, unsigned nworkers, struct orr_slab **ret);
void __wrap_orr_slab_free(struct orr_slab *slab);
void *__wrap_orr_slab_get(struct orr_slab *slab);
void *__wrap_orr_slab_get_zeroed(struct orr_slab *slab);
void __wrap_orr_slab_put(struct orr_slab *slab, void *object);

int __wrap_orr_slab_new(size_t size, unsigned nworkers, struct orr_slab **ret)
{
    (void)nworkers;
    *ret = malloc(sizeof(**ret));
    if (!*ret)
        return -ENOMEM;
    (*ret)->size = size;
    return 0;
}

void __wrap_orr_slab_free(struct orr_slab *slab)
{
    free(slab);
}

void *__wrap_orr_slab_get(struct orr_slab *slab)
{
    struct object *object = malloc(sizeof(*object) + slab->size);

    STEP_ASSERT(object != NULL);
    STEP_ASSERT(!(orr_self->ranks >> ORR_RANK_HANDLE & 1));
    object->size = slab->size;
    memset(object + 1, 0x5a, slab->size);
    nobjects++;
    return object + 1;
}

void *__wrap_orr_slab_get_zeroed(struct orr_slab *slab)
{
    return memset(__wrap_orr_slab_get(slab), 0, slab->size);
}

void __wrap_orr_slab_put(struct orr_slab *slab, void *memory)
{
    struct object *object = (struct object *)memory - 1;

    STEP_ASSERT(object->size == slab->size); /* not given back before */
    nobjects--;
    if (HAS_ASAN) {
        free(object);
        return;
    }
    object->size = 0;
    memset(memory, FREED, slab->size);
    object->pad[0] = (long)slab->size;
    object->next = freed;
    freed = object;
}

static void check_freed(void)
{
    while (freed) {
        struct object *object = freed;
        const unsigned char *byte = (unsigned char *)(object + 1);

        for (long i = 0; i < object->pad[0]; i++)
            if (byte[i] != FREED)
                step_fail("an object was written after it was given back");
        freed = object->next;
        free(object);
    }
}

void objects_begin(void)
{
    nobjects = 0;
}

void objects_end(void)
{
    if (nobjects)
        step_fail("%ld objects are not given back", nobjects);
    check_freed();
}
