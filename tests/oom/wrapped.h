/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/oom/wrapped.h - allocations that fail when the test sets it. The linker
 * sends our own ones, not those inside other libraries, through the functions
 * below (-Wl,--wrap=malloc …). For one source of a program; one thread. It may
 * define WRAPPED_LOOK(), which is called at each allocation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifndef WRAPPED_LOOK
#    define WRAPPED_LOOK() ((void)0)
#endif

static long left = -1; /* allocations that succeed yet; < 0: all */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);

static bool refused(void)
{
    WRAPPED_LOOK();
    if (left > 0)
        left--;
    else if (left == 0) {
        left = -1; /* this one, and the rest succeed again */
        return true;
    }
    return false;
}

void *__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return refused() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
    return refused() ? NULL : __real_strdup(text);
}
