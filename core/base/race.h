/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/race.h - reads of memory that somebody may be writing, on purpose: a
 * copy from one memory to another may still be under way when a task begins to
 * write its source. Nobody waits for it, its bytes are thrown away then (core/data
 * marks it as stale). Whether they are is known at its end only, so that is when
 * the thread sanitizer is told of the read. Without that sanitizer nothing of this
 * is there. Any thread.
 *
 *     orr_race_copy(to, from, size);
 *     …                              with the lock under which copies get stale:
 *     if (!stale)
 *         orr_race_read(from, size);
 *
 * And writes of bytes that are there already, beside readers, on purpose: from
 * orr_race_repeat_begin to orr_race_repeat_end.
 */
#pragma once

#include <stddef.h>
#include <string.h>

/* Whether the thread sanitizer sees what this source does: 0 or 1. */
#if defined(__SANITIZE_THREAD__)
#    define ORR_RACE_SEEN 1
#elif defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        define ORR_RACE_SEEN 1
#    endif
#endif
#if !defined(ORR_RACE_SEEN)
#    define ORR_RACE_SEEN 0
#endif

#if ORR_RACE_SEEN
/* The sanitizer's own. */
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void __tsan_read_range(void *address, long size); /* gcc's types */
void __tsan_write_range(void *address, long size);
#endif

/* What the calling thread reads and writes from here on is not looked at … */
static inline void orr_race_begin(void)
{
#if ORR_RACE_SEEN
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
#endif
}

/* … until here. */
static inline void orr_race_end(void)
{
#if ORR_RACE_SEEN
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

/* What the calling thread writes from here on is there already, and not looked at … */
static inline void orr_race_repeat_begin(void)
{
#if ORR_RACE_SEEN
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}

/* … until here. */
static inline void orr_race_repeat_end(void)
{
#if ORR_RACE_SEEN
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
#endif
}

/* As memcpy; the sanitizer sees what is written, if it was not there already, but not what
 * is read. */
static inline void orr_race_copy(void *to, const void *from, size_t size)
{
#if ORR_RACE_SEEN
    const char *is = to, *will = from;

    for (size_t begin, end = 0; end < size;) {
        orr_race_begin();
        for (begin = end; begin < size && is[begin] == will[begin];)
            begin++;
        for (end = begin; end < size && is[end] != will[end];)
            end++;
        orr_race_end();
        __tsan_write_range((char *)to + begin, (long)(end - begin));
    }
#endif
    orr_race_begin();
    memcpy(to, from, size);
    orr_race_end();
}

/* What the thread has read from there is used after all: nobody may have written
 * it meanwhile without an order. */
static inline void orr_race_read(const void *address, size_t size)
{
#if ORR_RACE_SEEN
    __tsan_read_range((void *)(size_t)address, (long)size);
#else
    (void)address, (void)size;
#endif
}
