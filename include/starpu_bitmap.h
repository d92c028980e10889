/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_bitmap.h - sets of numbers from 0 to STARPU_NMAXWORKERS - 1, such as
 * workers. Nothing is locked: a set has one writer at a time. Header only.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include <starpu_config.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

#define _STARPU_LONG_BIT ((int)(sizeof(unsigned long) * 8))
#define _STARPU_BITMAP_SIZE                                                    \
    ((STARPU_NMAXWORKERS - 1) / (int)(sizeof(unsigned long) * 8) + 1)

struct starpu_bitmap {
    unsigned long bits[_STARPU_BITMAP_SIZE];
    /* How many are in it. */
    int cardinal;
};

/* An empty set on the heap, for starpu_bitmap_destroy(); NULL without memory. */
struct starpu_bitmap *starpu_bitmap_create(void);
_ORR_INLINE struct starpu_bitmap *starpu_bitmap_create(void)
{
    return (struct starpu_bitmap *)calloc(1, sizeof(struct starpu_bitmap));
}

/* Makes a set of the caller's empty, whatever is in its memory. */
void starpu_bitmap_init(struct starpu_bitmap *b);
_ORR_INLINE void starpu_bitmap_init(struct starpu_bitmap *b)
{
    memset(b, 0, sizeof(*b));
}

/* Frees a set of starpu_bitmap_create(); NULL is nothing. */
void starpu_bitmap_destroy(struct starpu_bitmap *b);
_ORR_INLINE void starpu_bitmap_destroy(struct starpu_bitmap *b)
{
    free(b);
}

static __starpu_inline int _starpu_get_first_bit_rank(unsigned long ms)
{
    return __builtin_ctzl(ms);
}

static __starpu_inline int _starpu_get_last_bit_rank(unsigned long l)
{
    return _STARPU_LONG_BIT - 1 - __builtin_clzl(l);
}

static __starpu_inline int _starpu_count_bit_static(unsigned long e)
{
    return __builtin_popcountl(e);
}

/* Whether the count is that of the bits. */
static __starpu_inline int _orr_bitmap_is_right(const struct starpu_bitmap *b)
{
    int n = 0;

    for (int i = 0; i < _STARPU_BITMAP_SIZE; i++)
        n += _starpu_count_bit_static(b->bits[i]);
    return n == b->cardinal;
}
#define _starpu_check_bitmap(b) _orr_bitmap_is_right(b)

/* Whether `e` is in the set; no number outside the range is. */
int starpu_bitmap_get(struct starpu_bitmap *b, int e);
_ORR_INLINE int starpu_bitmap_get(struct starpu_bitmap *b, int e)
{
    if (e < 0 || e >= _STARPU_BITMAP_SIZE * _STARPU_LONG_BIT)
        return 0;
    return (int)(b->bits[e / _STARPU_LONG_BIT] >> (e % _STARPU_LONG_BIT) & 1);
}

/* Puts `e` in, which may be in before; a number outside the range fails an
 * assertion. */
void starpu_bitmap_set(struct starpu_bitmap *b, int e);
_ORR_INLINE void starpu_bitmap_set(struct starpu_bitmap *b, int e)
{
    if (starpu_bitmap_get(b, e))
        return;
    STARPU_ASSERT(e >= 0 && e < _STARPU_BITMAP_SIZE * _STARPU_LONG_BIT);
    b->bits[e / _STARPU_LONG_BIT] |= 1UL << (e % _STARPU_LONG_BIT);
    b->cardinal++;
}

/* Takes `e` out, which may be out before. */
void starpu_bitmap_unset(struct starpu_bitmap *b, int e);
_ORR_INLINE void starpu_bitmap_unset(struct starpu_bitmap *b, int e)
{
    if (!starpu_bitmap_get(b, e))
        return;
    b->bits[e / _STARPU_LONG_BIT] &= ~(1UL << (e % _STARPU_LONG_BIT));
    b->cardinal--;
}

/* Takes all out. */
void starpu_bitmap_unset_all(struct starpu_bitmap *b);
_ORR_INLINE void starpu_bitmap_unset_all(struct starpu_bitmap *b)
{
    starpu_bitmap_init(b);
}

/* *a = *b and *c: what is in both. */
void starpu_bitmap_unset_and(struct starpu_bitmap *a, struct starpu_bitmap *b,
                             struct starpu_bitmap *c);
_ORR_INLINE void starpu_bitmap_unset_and(struct starpu_bitmap *a,
                                         struct starpu_bitmap *b,
                                         struct starpu_bitmap *c)
{
    int n = 0;

    for (int i = 0; i < _STARPU_BITMAP_SIZE; i++) {
        a->bits[i] = b->bits[i] & c->bits[i];
        n += __builtin_popcountl(a->bits[i]);
    }
    a->cardinal = n;
}

/* *a = *a or *b: what is in one of them. */
void starpu_bitmap_or(struct starpu_bitmap *a, struct starpu_bitmap *b);
_ORR_INLINE void starpu_bitmap_or(struct starpu_bitmap *a,
                                  struct starpu_bitmap *b)
{
    int n = 0;

    for (int i = 0; i < _STARPU_BITMAP_SIZE; i++) {
        a->bits[i] |= b->bits[i];
        n += __builtin_popcountl(a->bits[i]);
    }
    a->cardinal = n;
}

/* Whether `e` is in both. */
int starpu_bitmap_and_get(struct starpu_bitmap *b1, struct starpu_bitmap *b2,
                          int e);
_ORR_INLINE int starpu_bitmap_and_get(struct starpu_bitmap *b1,
                                      struct starpu_bitmap *b2, int e)
{
    return starpu_bitmap_get(b1, e) && starpu_bitmap_get(b2, e);
}

/* How many are in it. */
int starpu_bitmap_cardinal(struct starpu_bitmap *b);
_ORR_INLINE int starpu_bitmap_cardinal(struct starpu_bitmap *b)
{
    return b->cardinal;
}

/* The least number above `e`, -1 without; `e` = -1: the least of all. */
int starpu_bitmap_next(struct starpu_bitmap *b, int e);
_ORR_INLINE int starpu_bitmap_next(struct starpu_bitmap *b, int e)
{
    int at = e + 1, word = at / _STARPU_LONG_BIT;
    unsigned long left;

    if (at >= _STARPU_BITMAP_SIZE * _STARPU_LONG_BIT)
        return -1;
    left = b->bits[word] & ~0UL << (at % _STARPU_LONG_BIT);
    while (!left) {
        if (++word == _STARPU_BITMAP_SIZE)
            return -1;
        left = b->bits[word];
    }
    return word * _STARPU_LONG_BIT + __builtin_ctzl(left);
}

/* The least of all, -1 for an empty set. */
int starpu_bitmap_first(struct starpu_bitmap *b);
_ORR_INLINE int starpu_bitmap_first(struct starpu_bitmap *b)
{
    return starpu_bitmap_next(b, -1);
}

/* Whether there is one above `e`. */
int starpu_bitmap_has_next(struct starpu_bitmap *b, int e);
_ORR_INLINE int starpu_bitmap_has_next(struct starpu_bitmap *b, int e)
{
    return starpu_bitmap_next(b, e) >= 0;
}

/* The greatest number plus one, as StarPU has it; -1 for an empty set. */
int starpu_bitmap_last(struct starpu_bitmap *b);
_ORR_INLINE int starpu_bitmap_last(struct starpu_bitmap *b)
{
    for (int word = _STARPU_BITMAP_SIZE - 1; word >= 0; word--)
        if (b->bits[word])
            return (word + 1) * _STARPU_LONG_BIT -
                   __builtin_clzl(b->bits[word]);
    return -1;
}

#ifdef __cplusplus
}
#endif
