/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/images/copy.c - see copy.h. The dynamic linker loads a file once, and no executable: a
 * copy is another file, in memory, of the same segments, which says that it is a library. It
 * says that there are no constructors, too: who loads it calls them.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* memfd_create */
#endif
#include "mpi/images/copy.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/images/elf.h"
#include "mpi/simulated/program.h"

struct orr_copier {
    int original;    /* the file … */
    char *path;      /* … where it is */
    char *file;      /* its bytes, changed */
    size_t size;
    int *copies;     /* files that stay open until all are loaded: the linker tells them
                      * apart by their numbers */
    unsigned ncopies, room;
    size_t page;
};

/* --- what cannot be copied --- */

const char *orr_copy_trouble(void)
{
    const struct link_map *program = orr_elf_program();

    if (program->l_addr == 0)
        return "the program is not position-independent, so that there cannot be several "
               "copies of it: compile it with -fPIE and link it with -pie, or record each rank "
               "(orrery record --ranks)";
    if (orr_elf_segment(program, PT_TLS))
        return "the program has thread-local variables (__thread, thread_local, threadprivate), "
               "which its copies would share: take them out, or record each rank (orrery "
               "record --ranks)";
    return NULL;
}

/* --- files --- */

/* Without section headers: only what is loaded is copied. */
static void make_library(char *file)
{
    ElfW(Ehdr) *header = (void *)file;
    ElfW(Phdr) *segments = (void *)(file + header->e_phoff);

    for (unsigned i = 0; i < header->e_phnum; i++) {
        ElfW(Dyn) *d = (void *)(file + segments[i].p_offset);

        for (; segments[i].p_type == PT_DYNAMIC && d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_FLAGS_1)
                d->d_un.d_val &= ~(ElfW(Xword))(DF_1_PIE | DF_1_NOOPEN);
            else if (d->d_tag == DT_INIT_ARRAYSZ)
                d->d_un.d_val = 0;
            else if (d->d_tag == DT_INIT)
                d->d_tag = DT_DEBUG; /* which nobody reads */
    }
    header->e_shoff = 0;
    header->e_shnum = header->e_shstrndx = 0;
}

int orr_copier_new(const struct link_map *object, unsigned ncopies, struct orr_copier **ret,
                   struct orr_error *err)
{
    const char *path = object->l_name[0] ? object->l_name : "/proc/self/exe";
    struct orr_copier *copier = calloc(1, sizeof(*copier));
    struct stat status = {.st_size = 0};

    if (copier)
        copier->copies = calloc(ncopies + 1, sizeof(*copier->copies));
    if (!copier || !copier->copies) {
        free(copier);
        return orr_fail(err, -ENOMEM, "out of memory");
    }
    copier->path = realpath(path, NULL); /* NULL: it was removed since it was started */
    copier->room = ncopies;
    copier->page = (size_t)sysconf(_SC_PAGESIZE);
    copier->original = open(path, O_RDONLY | O_CLOEXEC);
    if (copier->original >= 0 && fstat(copier->original, &status) == 0) {
        copier->size = (size_t)status.st_size;
        copier->file = mmap(NULL, copier->size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
                            copier->original, 0);
    }
    if (!copier->file || copier->file == MAP_FAILED) {
        int error = errno;

        copier->file = NULL;
        orr_copier_free(copier);
        return orr_fail(err, -error, "%s cannot be read: %s", path, strerror(error));
    }
    make_library(copier->file);
    orr_simulated_allow_files(ncopies); /* each is open for a while */
    *ret = copier;
    return 0;
}

void orr_copier_free(struct orr_copier *copier)
{
    for (unsigned i = 0; i < copier->ncopies; i++)
        close(copier->copies[i]);
    if (copier->file)
        munmap(copier->file, copier->size);
    if (copier->original >= 0)
        close(copier->original);
    free(copier->path);
    free(copier->copies);
    free(copier);
}

static const ElfW(Phdr) *segments_of(const struct orr_copier *copier, unsigned *n)
{
    const ElfW(Ehdr) *header = (const void *)copier->file;

    *n = header->e_phnum;
    return (const void *)(copier->file + header->e_phoff);
}

static bool write_range(int fd, const char *file, size_t offset, size_t size)
{
    while (size > 0) {
        ssize_t n = pwrite(fd, file + offset, size, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        offset += (size_t)n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_segments(const struct orr_copier *copier, int fd)
{
    unsigned n;
    const ElfW(Phdr) *segments = segments_of(copier, &n);
    bool well = write_range(fd, copier->file, 0, sizeof(ElfW(Ehdr)));

    for (unsigned i = 0; well && i < n; i++)
        if (segments[i].p_type == PT_LOAD)
            well = write_range(fd, copier->file, segments[i].p_offset, segments[i].p_filesz);
    return well;
}

/* The copy's file has no page any more that only this segment is in. */
static void forget_pages(const struct orr_copier *copier, int fd, const ElfW(Phdr) *segment)
{
    off_t page = (off_t)copier->page, first = (off_t)segment->p_offset + page - 1;
    off_t end = (off_t)(segment->p_offset + segment->p_filesz);

    first -= first % page;
    end -= end % page;
    if (first < end)
        (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first, end - first);
}

/* What is only read is the program's: a copy has no pages of its own of it. */
static void share_code(const struct orr_copier *copier, int fd, const struct link_map *copy)
{
    unsigned n;
    const ElfW(Phdr) *segments = segments_of(copier, &n);

    for (unsigned i = 0; i < n; i++) {
        size_t head = segments[i].p_vaddr % copier->page;
        int protection = (segments[i].p_flags & PF_R ? PROT_READ : 0) |
                         (segments[i].p_flags & PF_X ? PROT_EXEC : 0);

        if (segments[i].p_type == PT_LOAD && !(segments[i].p_flags & PF_W) &&
            mmap((void *)(copy->l_addr + segments[i].p_vaddr - head),
                 segments[i].p_filesz + head, protection, MAP_PRIVATE | MAP_FIXED,
                 copier->original, (off_t)(segments[i].p_offset - head)) != MAP_FAILED)
            forget_pages(copier, fd, &segments[i]);
    }
}

/* Who asks where an address is (backtraces, names of kernels, debuggers) reads the original's
 * file: that in memory has no symbols, and its name is another file's when it is closed. The
 * linker's own name is in memory of malloc, which dlclose frees. */
static int name_as_original(const struct orr_copier *copier, struct link_map *copy)
{
    char *name = strdup(copier->path ? copier->path : "");

    if (!name)
        return -ENOMEM;
    free(copy->l_name);
    copy->l_name = name;
    return 0;
}

int orr_copier_load(struct orr_copier *copier, const struct link_map **ret,
                    struct orr_error *err)
{
    char name[40];
    struct link_map *object;
    int fd = memfd_create("rank", MFD_CLOEXEC);

    if (fd < 0 || copier->ncopies == copier->room)
        return orr_fail(err, -errno, "a copy cannot be made: %s",
                        strerror(errno));
    copier->copies[copier->ncopies++] = fd;
    if (!write_segments(copier, fd))
        return orr_fail(err, -errno, "a copy cannot be written: %s",
                        strerror(errno));
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return orr_fail(err, -ENOEXEC, "a copy cannot be loaded: %s",
                        dlerror());
    *ret = object;
    share_code(copier, fd, object);
    return name_as_original(copier, object) == 0 ? 0 : orr_fail(err, -ENOMEM, "out of memory");
}
