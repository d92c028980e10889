/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/oom/refuse.c - preloaded into a program: refuses allocation number
 * REFUSE of those that the program's own code makes; those of libraries
 * succeed. At exit, writes into the file REFUSE_COUNT how many there were. One
 * thread.
 */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static struct {
    unsigned long seen, which;
    const char *begin, *end; /* of the program's code; NULL before it is
                              * known */
} state;

/* The program is the first of the loaded objects. */
static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *base = (const char *)info->dlpi_addr;

    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
            state.begin = base + part->p_vaddr;
            state.end = state.begin + part->p_memsz;
        }
    }
    return 1;
}

static void __attribute__((constructor)) begin(void)
{
    const char *which = getenv("REFUSE");

    dl_iterate_phdr(find_program, NULL);
    state.which = which ? strtoul(which, NULL, 10) : 0;
}

static void __attribute__((destructor)) end(void)
{
    const char *path = getenv("REFUSE_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;

    if (!file)
        return;
    fprintf(file, "%lu\n", state.seen);
    fclose(file);
}

static int refused(const void *caller)
{
    const char *at = caller;

    if (at < state.begin || at >= state.end || ++state.seen != state.which)
        return 0;
    errno = ENOMEM;
    return 1;
}

#define REFUSED refused(__builtin_return_address(0))

void *malloc(size_t size)
{
    return REFUSED ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return REFUSED ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
    return REFUSED ? NULL : __libc_realloc(old, size);
}

char *strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = REFUSED ? NULL : __libc_malloc(length + 1);

    if (!copy)
        return NULL;
    copy[length] = '\0';
    return memcpy(copy, text, length);
}

char *strdup(const char *text)
{
    size_t length = strlen(text);
    char *copy = REFUSED ? NULL : __libc_malloc(length + 1);

    return copy ? memcpy(copy, text, length + 1) : NULL;
}
