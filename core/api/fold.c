/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/fold.c - see fold.h. The list of what is mapped outlives the
 * runtime, as the memory does.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* memfd_create */
#endif
#include "core/api/fold.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/api/process.h"

/* The file holds as much as the kernel's number of maps per process demands:
 * smaller pieces run out of maps before 64 GiB. A multiple of huge pages. */
enum { SMALLEST = 64 << 20, HUGE_PAGE = 2 << 20, MAPS = 16384 };

struct orr_folded {
    struct orr_folded *next;
    void *address;
    size_t size;
};

static struct orr_process *fold_enter(void)
{
    struct orr_process *process = orr_process();

    pthread_mutex_lock(&process->fold_lock);
    return process;
}

static void fold_unlock(struct orr_process *process)
{
    pthread_mutex_unlock(&process->fold_lock);
}

/* Bytes of the file that an allocation repeats. */
static size_t fold_of(size_t size)
{
    size_t fold = size / MAPS;

    if (fold < SMALLEST)
        return SMALLEST;
    return (fold + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
}

/* Makes the file at least that long. */
static int fold_grow_file(struct orr_process *process, size_t fold)
{
    if (fold <= process->fold_size)
        return 0;
    if (process->fold_fd <= 0) {
        int fd = memfd_create("orrery-fold", MFD_CLOEXEC);

        if (fd < 0)
            return -ENOMEM;
        process->fold_fd = fd;
    }
    if (ftruncate(process->fold_fd, (off_t)fold) < 0)
        return -ENOMEM;
    process->fold_size = fold;
    return 0;
}

static int map_pieces(int fd, char *address, size_t size, size_t fold)
{
    for (size_t at = 0; at < size; at += fold) {
        size_t piece = size - at < fold ? size - at : fold;

        if (mmap(address + at, piece, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED)
            return -ENOMEM;
    }
    return 0;
}

int orr_fold_map(size_t size, void **ret)
{
    struct orr_folded *folded = malloc(sizeof(*folded));
    struct orr_process *process;
    size_t fold = fold_of(size);
    char *address;
    int rc;

    if (!folded)
        return -ENOMEM;
    /* One range first, so that the pieces are neighbours. */
    address = mmap(NULL, size, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) {
        free(folded);
        return -ENOMEM;
    }
    process = fold_enter();
    rc = fold_grow_file(process, fold);
    if (rc == 0)
        rc = map_pieces(process->fold_fd, address, size, fold);
    if (rc == 0) {
        *folded = (struct orr_folded){process->folded, address, size};
        process->folded = folded;
    }
    fold_unlock(process);
    if (rc < 0) {
        munmap(address, size);
        free(folded);
        return rc;
    }
    *ret = address;
    return 0;
}

bool orr_fold_unmap(void *address)
{
    struct orr_process *process = fold_enter();
    struct orr_folded **link = &process->folded, *folded;

    while (*link && (*link)->address != address)
        link = &(*link)->next;
    folded = *link;
    if (folded)
        *link = folded->next;
    fold_unlock(process);
    if (!folded)
        return false;
    munmap(folded->address, folded->size);
    free(folded);
    return true;
}
