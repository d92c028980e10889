/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/openmp/sizes.c - the functions that allocate memory, passed on: what they have
 * given is known by address (blocks.h), and the recorder asks. An object of its own, which
 * is preloaded for `orrery record --sizes` alone. Any thread.
 */
#undef _FILE_OFFSET_BITS /* mmap and mmap64 are two names here */
#include "record/openmp/sizes.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/openmp/blocks.h"

#define PUBLIC __attribute__((visibility("default")))

/* The functions behind ours, found by the first call. */
static struct {
    atomic_bool found;
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
} behind;

/* What the search itself allocates; never freed. */
static _Alignas(16) char early[1 << 14];
static atomic_size_t early_used;
static __thread bool searching __attribute__((tls_model("initial-exec")));

static void *early_take(size_t bytes)
{
    size_t at = atomic_fetch_add(&early_used, (bytes + 15) & ~(size_t)15);

    return at + bytes <= sizeof(early) ? early + at : NULL;
}

static bool is_early(const void *at)
{
    return (const char *)at >= early && (const char *)at < early + sizeof(early);
}

static void find_behind(void)
{
    if (atomic_load(&behind.found))
        return;
    searching = true;
    behind.malloc = (__typeof__(behind.malloc))dlsym(RTLD_NEXT, "malloc");
    behind.calloc = (__typeof__(behind.calloc))dlsym(RTLD_NEXT, "calloc");
    behind.realloc = (__typeof__(behind.realloc))dlsym(RTLD_NEXT, "realloc");
    behind.memalign = (__typeof__(behind.memalign))dlsym(RTLD_NEXT, "memalign");
    behind.aligned_alloc = (__typeof__(behind.aligned_alloc))dlsym(RTLD_NEXT, "aligned_alloc");
    behind.posix_memalign =
        (__typeof__(behind.posix_memalign))dlsym(RTLD_NEXT, "posix_memalign");
    behind.free = (__typeof__(behind.free))dlsym(RTLD_NEXT, "free");
    behind.mmap = (__typeof__(behind.mmap))dlsym(RTLD_NEXT, "mmap");
    behind.munmap = (__typeof__(behind.munmap))dlsym(RTLD_NEXT, "munmap");
    searching = false;
    atomic_store(&behind.found, true);
}

__attribute__((constructor)) static void sizes_begin(void)
{
    find_behind();
    pthread_atfork(orr_blocks_lock, orr_blocks_unlock, orr_blocks_unlock);
}

static void *noted(void *at, size_t bytes)
{
    int error = errno;

    orr_blocks_add(at, bytes);
    errno = error;
    return at;
}

PUBLIC void *malloc(size_t bytes)
{
    if (searching)
        return early_take(bytes);
    find_behind();
    return noted(behind.malloc(bytes), bytes);
}

PUBLIC void *calloc(size_t n, size_t bytes)
{
    if (searching)
        return early_take(n * bytes);
    find_behind();
    return noted(behind.calloc(n, bytes), n * bytes);
}

/* The block is forgotten before another thread may get its memory. */
PUBLIC void *realloc(void *at, size_t bytes)
{
    size_t before;
    void *moved;

    if (searching)
        return early_take(bytes);
    find_behind();
    if (is_early(at)) {
        moved = malloc(bytes);
        before = (size_t)(early + sizeof(early) - (char *)at);
        return moved ? memcpy(moved, at, bytes < before ? bytes : before) : NULL;
    }
    before = orr_blocks_remove(at);
    moved = behind.realloc(at, bytes);
    if (!moved && bytes)
        (void)noted(at, before);
    return noted(moved, bytes);
}

PUBLIC void *reallocarray(void *at, size_t n, size_t bytes)
{
    if (bytes && n > SIZE_MAX / bytes) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(at, n * bytes);
}

PUBLIC void *memalign(size_t align, size_t bytes)
{
    find_behind();
    return noted(behind.memalign(align, bytes), bytes);
}

PUBLIC void *aligned_alloc(size_t align, size_t bytes)
{
    find_behind();
    return noted(behind.aligned_alloc(align, bytes), bytes);
}

PUBLIC int posix_memalign(void **ret, size_t align, size_t bytes)
{
    int rc;

    find_behind();
    rc = behind.posix_memalign(ret, align, bytes);
    if (!rc)
        (void)noted(*ret, bytes);
    return rc;
}

PUBLIC void free(void *at)
{
    int error = errno;

    if (is_early(at))
        return;
    find_behind();
    (void)orr_blocks_remove(at);
    errno = error;
    behind.free(at);
}

PUBLIC void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *mapped;

    find_behind();
    mapped = behind.mmap(at, bytes, protection, flags, fd, offset);
    return mapped == MAP_FAILED ? mapped : noted(mapped, bytes);
}

PUBLIC void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return mmap(at, bytes, protection, flags, fd, offset);
}

/* A part that is given back leaves the rest as it is known. */
PUBLIC int munmap(void *at, size_t bytes)
{
    size_t before;
    int rc;

    find_behind();
    before = orr_blocks_remove(at);
    if (before > bytes)
        (void)noted((char *)at + bytes, before - bytes);
    rc = behind.munmap(at, bytes);
    if (rc)
        (void)noted(at, before);
    return rc;
}

PUBLIC bool orrery_openmp_block(uint64_t address, uint64_t *ret_begin, uint64_t *ret_bytes)
{
    return orr_blocks_find(address, ret_begin, ret_bytes);
}
