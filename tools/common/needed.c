/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/needed.c - see needed.h. */
#include "tools/common/needed.h"

#include "tools/common/tool.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file, of which nothing is trusted. */
struct image {
    const char *bytes;
    size_t size;
};

static const void *image_at(const struct image *image, uint64_t offset, size_t size)
{
    return offset <= image->size && size <= image->size - offset ? image->bytes + offset : NULL;
}

/* Which program of PATH is meant; owned, NULL: none. */
static char *find_program(const char *name)
{
    const char *path = getenv("PATH"), *end;

    if (strchr(name, '/'))
        return strdup(name);
    for (; path && *path; path = *end ? end + 1 : end) {
        char *file;

        end = strchrnul(path, ':');
        file = tool_format("%.*s/%s", (int)(end - path), path, name);
        if (!file || access(file, X_OK) == 0)
            return file;
        free(file);
    }
    return NULL;
}

static const ElfW(Phdr) * header_at(const struct image *image, const ElfW(Ehdr) * file, unsigned i)
{
    return image_at(image, file->e_phoff + (uint64_t)i * sizeof(ElfW(Phdr)), sizeof(ElfW(Phdr)));
}

/* Where in the file is what is at an address; UINT64_MAX: it is not there. */
static uint64_t offset_of(const struct image *image, const ElfW(Ehdr) * file, uint64_t address)
{
    for (unsigned i = 0; i < file->e_phnum; i++) {
        const ElfW(Phdr) *part = header_at(image, file, i);

        if (part && part->p_type == PT_LOAD && address >= part->p_vaddr &&
            address - part->p_vaddr < part->p_filesz)
            return part->p_offset + (address - part->p_vaddr);
    }
    return UINT64_MAX;
}

/* Whether one of the n entries names such a library. */
static bool any_needed(const struct image *image, const ElfW(Ehdr) * file,
                       const ElfW(Dyn) * entries, size_t n, const char *library)
{
    uint64_t names = UINT64_MAX;

    for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++)
        if (entries[i].d_tag == DT_STRTAB)
            names = offset_of(image, file, entries[i].d_un.d_ptr);
    for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
        const char *name = entries[i].d_tag == DT_NEEDED && names != UINT64_MAX
                               ? image_at(image, names + entries[i].d_un.d_val, strlen(library))
                               : NULL;

        if (name && !strncmp(name, library, strlen(library)))
            return true;
    }
    return false;
}

static bool image_needs(const struct image *image, const char *library)
{
    const ElfW(Ehdr) *file = image_at(image, 0, sizeof(*file));

    if (!file || memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 ||
        file->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        file->e_phentsize != sizeof(ElfW(Phdr)))
        return false;
    for (unsigned i = 0; i < file->e_phnum; i++) {
        const ElfW(Phdr) *part = header_at(image, file, i);
        const ElfW(Dyn) *entries = part && part->p_type == PT_DYNAMIC
                                       ? image_at(image, part->p_offset, part->p_filesz)
                                       : NULL;

        if (entries)
            return any_needed(image, file, entries, part->p_filesz / sizeof(*entries), library);
    }
    return false;
}

bool program_needs(const char *program, const char *library)
{
    char *path = find_program(program);
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat st;
    bool needs = false;

    if (file >= 0 && fstat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);

        if (bytes != MAP_FAILED) {
            needs = image_needs(&(struct image){bytes, (size_t)st.st_size}, library);
            munmap(bytes, (size_t)st.st_size);
        }
    }
    if (file >= 0)
        close(file);
    free(path);
    return needs;
}

bool program_is_opencl(const char *program)
{
    return program_needs(program, "libOpenCL.so") && !program_needs(program, "liborrery.so") &&
           !program_needs(program, "libstarpu");
}

bool program_is_openmp(const char *program)
{
    return (program_needs(program, "libgomp.so") || program_needs(program, "libomp.so") ||
            program_needs(program, "libiomp5.so")) &&
           !program_needs(program, "liborrery.so") && !program_needs(program, "libstarpu");
}
