/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/symbol.c - see symbol.h. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* dladdr1 */
#endif
#include "core/base/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const char *bytes;
    size_t size;
};

/* `n` bytes from `offset` on, NULL: the file has not so many there. */
static const void *image_part(const struct image *image, uint64_t offset,
                              uint64_t n)
{
    return offset <= image->size && n <= image->size - offset
               ? image->bytes + offset
               : NULL;
}

/* A string of a table, which must end in it. */
static const char *image_string(const struct image *image,
                                const ElfW(Shdr) * table, uint64_t at)
{
    const char *all = image_part(image, table->sh_offset, table->sh_size);

    return all && at < table->sh_size &&
                   memchr(all + at, '\0', table->sh_size - at)
               ? all + at
               : NULL;
}

static const char *symbol_at(const struct image *image,
                             const ElfW(Shdr) * symbols,
                             const ElfW(Shdr) * names, uintptr_t value)
{
    const ElfW(Sym) *all =
        image_part(image, symbols->sh_offset, symbols->sh_size);
    size_t n = all ? symbols->sh_size / sizeof(*all) : 0;

    for (size_t i = 0; i < n; i++)
        if (ELF32_ST_TYPE(all[i].st_info) == STT_FUNC &&
            all[i].st_value == value)
            return image_string(image, names, all[i].st_name);
    return NULL;
}

static const char *image_find_symbol(const struct image *image, uintptr_t value)
{
    const ElfW(Ehdr) *head = image_part(image, 0, sizeof(*head));
    const ElfW(Shdr) *sections;

    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] !=
            (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        head->e_shentsize != sizeof(*sections))
        return NULL;
    sections = image_part(image, head->e_shoff,
                          (uint64_t)head->e_shnum * sizeof(*sections));
    for (unsigned i = 0; sections && i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB &&
            sections[i].sh_link < head->e_shnum)
            return symbol_at(image, &sections[i],
                             &sections[sections[i].sh_link], value);
    return NULL;
}

static char *copy_symbol_name(const char *name)
{
    return name && *name ? strndup(name, strcspn(name, ".")) : NULL;
}

static char *find_in_file(const char *path, uintptr_t value)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct image image = {NULL, 0};
    char *name = NULL;
    struct stat st;
    void *bytes;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        image.size = (size_t)st.st_size;
        bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            image.bytes = bytes;
            name = copy_symbol_name(image_find_symbol(&image, value));
            munmap(bytes, image.size);
        }
    }
    close(fd);
    return name;
}

char *orr_symbol_at(const void *address)
{
    struct link_map *object = NULL;
    char *name = NULL;
    Dl_info info;

    if (!address ||
        !dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) || !object)
        return NULL;
    /* The program's own name is empty. */
    name = find_in_file(*object->l_name ? object->l_name : "/proc/self/exe",
                        (uintptr_t)address - object->l_addr);
    if (!name && info.dli_saddr == address)
        name = copy_symbol_name(info.dli_sname);
    return name;
}
