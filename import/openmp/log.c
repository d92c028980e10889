/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/openmp/log.c - see log.h. The file is mapped; threads stand in a heap by the date
 * of their next event, then by number.
 */
#include "import/openmp/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/grow.h"

/* Where a thread's events are. */
struct log_thread {
    uint64_t number;
    const struct orr_omp_chunk **chunks; /* owned; in their order */
    size_t nchunks, chunk;
    size_t at; /* bytes of this chunk that have been read */
};

struct omp_log {
    const char *map;
    size_t size;
    struct log_thread *threads;
    size_t nthreads;
    size_t *heap, nheap;
};

static const size_t room = ORR_OMP_CHUNK - sizeof(struct orr_omp_chunk);

/* --- the next event of a thread --- */

static const struct orr_omp_event *thread_event(const struct log_thread *thread)
{
    const struct orr_omp_chunk *chunk = thread->chunks[thread->chunk];

    return (const struct orr_omp_event *)((const char *)(chunk + 1) + thread->at);
}

static size_t chunk_used(const struct orr_omp_chunk *chunk)
{
    return chunk->used < room ? chunk->used : room;
}

/* Goes to a chunk that has a whole event left; false: there is none. */
static bool thread_settle(struct log_thread *thread)
{
    while (thread->chunk < thread->nchunks) {
        if (thread->at + sizeof(struct orr_omp_event) <=
            chunk_used(thread->chunks[thread->chunk]))
            return true;
        thread->chunk++;
        thread->at = 0;
    }
    return false;
}

/* The text behind the event, which has to end within the chunk; NULL: it does not. */
static const char *thread_text(const struct log_thread *thread, const struct orr_omp_event *event,
                               size_t *bytes)
{
    size_t left = chunk_used(thread->chunks[thread->chunk]) - thread->at - sizeof(*event);
    const char *text = (const char *)(event + 1);

    if (event->n == 0 || event->n > left || text[event->n - 1] != '\0')
        return NULL;
    *bytes += (event->n + sizeof(*event) - 1) / sizeof(*event) * sizeof(*event);
    return text;
}

/* --- the heap --- */

static bool heap_before(const struct omp_log *log, size_t a, size_t b)
{
    uint64_t x = thread_event(&log->threads[a])->wall, y = thread_event(&log->threads[b])->wall;

    return x != y ? x < y : a < b;
}

static void heap_sink(struct omp_log *log, size_t i)
{
    for (;;) {
        size_t child = 2 * i + 1, t = log->heap[i];

        if (child >= log->nheap)
            return;
        if (child + 1 < log->nheap && heap_before(log, log->heap[child + 1], log->heap[child]))
            child++;
        if (!heap_before(log, log->heap[child], t))
            return;
        log->heap[i] = log->heap[child];
        log->heap[child] = t;
        i = child;
    }
}

void omp_log_rewind(struct omp_log *log)
{
    log->nheap = 0;
    for (size_t t = 0; t < log->nthreads; t++) {
        log->threads[t].chunk = log->threads[t].at = 0;
        if (thread_settle(&log->threads[t]))
            log->heap[log->nheap++] = t;
    }
    for (size_t i = log->nheap; i-- > 0;)
        heap_sink(log, i);
}

bool omp_log_next(struct omp_log *log, struct omp_log_event *ret)
{
    struct log_thread *thread;
    size_t bytes = sizeof(struct orr_omp_event);

    if (!log->nheap)
        return false;
    thread = &log->threads[log->heap[0]];
    *ret = (struct omp_log_event){.event = thread_event(thread), .thread = log->heap[0]};
    if (ret->event->kind == ORR_OMP_CODE || ret->event->kind == ORR_OMP_DATUM)
        ret->text = thread_text(thread, ret->event, &bytes);
    thread->at += bytes;
    if (!thread_settle(thread))
        log->heap[0] = log->heap[--log->nheap];
    heap_sink(log, 0);
    return true;
}

/* --- the file --- */

static struct log_thread *log_thread(struct omp_log *log, uint64_t number)
{
    struct log_thread *added;

    for (size_t t = log->nthreads; t-- > 0;)
        if (log->threads[t].number == number)
            return &log->threads[t];
    added = orr_array_add(log->threads, log->nthreads);
    if (added)
        *added = (struct log_thread){.number = number};
    return added;
}

static int log_find_chunks(struct omp_log *log)
{
    for (size_t at = ORR_OMP_PAGE; at + ORR_OMP_CHUNK <= log->size; at += ORR_OMP_CHUNK) {
        const struct orr_omp_chunk *chunk = (const struct orr_omp_chunk *)(log->map + at);
        const struct orr_omp_chunk **place;
        struct log_thread *thread;

        if (!chunk->thread)
            continue;
        thread = log_thread(log, chunk->thread);
        place = thread ? orr_array_add(thread->chunks, thread->nchunks) : NULL;
        if (!place)
            return -ENOMEM;
        *place = chunk;
    }
    log->heap = calloc(log->nthreads + 1, sizeof(*log->heap));
    return log->heap ? 0 : -ENOMEM;
}

static int log_map(struct omp_log *log, const char *path, struct orr_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *map;

    if (fd < 0 || fstat(fd, &st) < 0) {
        int rc = -errno;

        if (fd >= 0)
            close(fd);
        return orr_fail(err, rc, "%s: %s", path, strerror(-rc));
    }
    if (st.st_size < ORR_OMP_PAGE) {
        close(fd);
        return orr_fail(err, -EINVAL, "%s: no log of an OpenMP program: it is too short", path);
    }
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    log->map = map;
    log->size = (size_t)st.st_size;
    if (memcmp(omp_log_header(log)->magic, ORR_OMP_MAGIC, sizeof(omp_log_header(log)->magic)))
        return orr_fail(err, -EINVAL, "%s: no log of an OpenMP program that this version knows",
                        path);
    return 0;
}

int omp_log_open(const char *path, struct omp_log **ret, struct orr_error *err)
{
    struct omp_log *log = calloc(1, sizeof(*log));
    int rc;

    if (!log)
        return orr_fail(err, -ENOMEM, "%s: out of memory", path);
    rc = log_map(log, path, err);
    if (!rc && log_find_chunks(log))
        rc = orr_fail(err, -ENOMEM, "%s: out of memory", path);
    if (rc) {
        omp_log_close(log);
        return rc;
    }
    omp_log_rewind(log);
    *ret = log;
    return 0;
}

void omp_log_close(struct omp_log *log)
{
    if (!log)
        return;
    if (log->map)
        munmap((void *)(uintptr_t)log->map, log->size);
    for (size_t t = 0; t < log->nthreads; t++)
        free(log->threads[t].chunks);
    free(log->threads);
    free(log->heap);
    free(log);
}

const struct orr_omp_header *omp_log_header(const struct omp_log *log)
{
    return (const struct orr_omp_header *)log->map;
}

size_t omp_log_threads(const struct omp_log *log)
{
    return log->nthreads;
}
