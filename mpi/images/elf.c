/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/images/elf.c - see elf.h. The headers are in memory: the first segment of an object
 * begins with them. */
#include "mpi/images/elf.h"

#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { COPIES = R_X86_64_COPY };
static bool is_address(unsigned type)
{
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}
#elif defined(__aarch64__)
enum { COPIES = R_AARCH64_COPY };
static bool is_address(unsigned type)
{
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ||
           type == R_AARCH64_ABS64;
}
#else
#    error "relocations of this architecture are not known"
#endif

struct tables {
    const ElfW(Rela) *rela, *plt;
    size_t nrela, nplt;
    const ElfW(Sym) *symbols;
    const char *strings;
};

const void *orr_elf_address(const struct link_map *object, const ElfW(Dyn) *entry)
{
    ElfW(Addr) at = entry->d_un.d_ptr;

    return (const void *)(at < object->l_addr ? at + object->l_addr : at);
}

static struct tables tables_of(const struct link_map *object)
{
    struct tables t = {NULL, NULL, 0, 0, NULL, NULL};

    for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_RELA)
            t.rela = orr_elf_address(object, d);
        else if (d->d_tag == DT_RELASZ)
            t.nrela = d->d_un.d_val / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_JMPREL)
            t.plt = orr_elf_address(object, d);
        else if (d->d_tag == DT_PLTRELSZ)
            t.nplt = d->d_un.d_val / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_SYMTAB)
            t.symbols = orr_elf_address(object, d);
        else if (d->d_tag == DT_STRTAB)
            t.strings = orr_elf_address(object, d);
    }
    return t;
}

static const char *name_of(const struct tables *t, const ElfW(Rela) *r)
{
    return t->strings + t->symbols[ELF64_R_SYM(r->r_info)].st_name;
}

static void visit_table(const struct link_map *object, const struct tables *t,
                        const ElfW(Rela) *relocations, size_t n,
                        void (*visit)(const struct orr_import *import, void *arg), void *arg)
{
    for (size_t i = 0; i < n; i++) {
        const ElfW(Rela) *r = &relocations[i];
        struct orr_import import;

        if (!is_address((unsigned)ELF64_R_TYPE(r->r_info)))
            continue;
        import.name = name_of(t, r);
        import.addend = r->r_addend;
        import.slot = (void **)(object->l_addr + r->r_offset);
        visit(&import, arg);
    }
}

void orr_elf_each_import(const struct link_map *object,
                         void (*visit)(const struct orr_import *import, void *arg), void *arg)
{
    struct tables t = tables_of(object);

    visit_table(object, &t, t.rela, t.nrela, visit, arg);
    visit_table(object, &t, t.plt, t.nplt, visit, arg);
}

bool orr_elf_next_copy(const struct link_map *object, const char *prefix, size_t *at,
                       struct orr_elf_copy *ret)
{
    struct tables t = tables_of(object);

    while (*at < t.nrela) {
        const ElfW(Rela) *r = &t.rela[(*at)++];

        if (ELF64_R_TYPE(r->r_info) != COPIES ||
            strncmp(name_of(&t, r), prefix, strlen(prefix)) != 0)
            continue;
        *ret = (struct orr_elf_copy){
            .name = name_of(&t, r),
            .own = (void *)(object->l_addr + r->r_offset),
            .size = t.symbols[ELF64_R_SYM(r->r_info)].st_size,
        };
        return true;
    }
    return false;
}

void *orr_elf_copied(const struct link_map *object, const char *name)
{
    struct orr_elf_copy copy;

    for (size_t at = 0; orr_elf_next_copy(object, name, &at, &copy);)
        if (strcmp(copy.name, name) == 0)
            return copy.own;
    return NULL;
}

/* That of the executable need not begin at the address that all of its own are from. */
static const ElfW(Phdr) *headers_of(const struct link_map *object, size_t *n)
{
    const ElfW(Ehdr) *header = (const void *)object->l_addr;

    if (object == orr_elf_program()) {
        *n = getauxval(AT_PHNUM);
        return (const void *)getauxval(AT_PHDR);
    }
    *n = header->e_phnum;
    return (const void *)(object->l_addr + header->e_phoff);
}

struct orr_elf_constructors orr_elf_constructors(const struct link_map *object)
{
    struct orr_elf_constructors ret = {0, 0, 0};

    for (const ElfW(Dyn) *d = object->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_INIT)
            ret.init = (uintptr_t)orr_elf_address(object, d) - object->l_addr;
        else if (d->d_tag == DT_INIT_ARRAY)
            ret.array = (uintptr_t)orr_elf_address(object, d) - object->l_addr;
        else if (d->d_tag == DT_INIT_ARRAYSZ)
            ret.n = d->d_un.d_val / sizeof(void *);
    }
    return ret;
}

void orr_elf_extent(const struct link_map *object, uintptr_t *first, uintptr_t *end)
{
    size_t n;
    const ElfW(Phdr) *headers = headers_of(object, &n);

    *first = UINTPTR_MAX;
    *end = 0;
    for (size_t i = 0; i < n; i++) {
        uintptr_t at = object->l_addr + headers[i].p_vaddr;

        if (headers[i].p_type != PT_LOAD)
            continue;
        *first = at < *first ? at : *first;
        *end = at + headers[i].p_memsz > *end ? at + headers[i].p_memsz : *end;
    }
}

const ElfW(Phdr) *orr_elf_segment(const struct link_map *object, unsigned type)
{
    size_t n;
    const ElfW(Phdr) *headers = headers_of(object, &n);

    for (size_t i = 0; i < n; i++)
        if (headers[i].p_type == type)
            return &headers[i];
    return NULL;
}

bool orr_elf_set_writable(const struct link_map *object, bool writable)
{
    const ElfW(Phdr) *segment = orr_elf_segment(object, PT_GNU_RELRO);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first, end;

    if (!segment)
        return true;
    first = (object->l_addr + segment->p_vaddr) & ~(page - 1);
    end = (object->l_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
    return first >= end || mprotect((void *)first, end - first,
                                    PROT_READ | (writable ? PROT_WRITE : 0)) == 0;
}

const struct link_map *orr_elf_program(void)
{
    return _r_debug.r_map;
}
