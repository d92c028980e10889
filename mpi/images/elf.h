/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/images/elf.h - what a loaded object imports, and other functions put in the place of
 * these. Objects are those of dlopen(3) and of the dynamic linker (<link.h>).
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The address that an entry of the object's dynamic section is about. The dynamic linker has
 * made addresses of them, but in objects that it may not write, as the kernel's. */
const void *orr_elf_address(const struct link_map *object, const ElfW(Dyn) *entry);

/* A place in the object where the address of a function or variable of that name, of
 * another object, stands. */
struct orr_import {
    const char *name;
    ptrdiff_t addend; /* bytes behind that address */
    void **slot;
};

/* Calls visit for each of the object's imports. It may write *slot when the object was
 * made writable. */
void orr_elf_each_import(const struct link_map *object,
                         void (*visit)(const struct orr_import *import, void *arg), void *arg);

/* Makes what the dynamic linker has protected after relocation writable, or protects it
 * again. False: the system refuses. */
bool orr_elf_set_writable(const struct link_map *object, bool writable);

/* A variable of another object that this one has a copy of (a copy relocation). */
struct orr_elf_copy {
    const char *name;
    void *own; /* the copy */
    size_t size;
};

/* The first one at or behind place *at of the object's relocations, where the caller begins
 * with 0, whose name begins like that; *at is behind it then. False: there is none. */
bool orr_elf_next_copy(const struct link_map *object, const char *prefix, size_t *at,
                       struct orr_elf_copy *ret);

/* The copy of that variable, NULL: there is none. */
void *orr_elf_copied(const struct link_map *object, const char *name);

/* What the dynamic linker calls when it has loaded the object, by their distance from where
 * it is: a function, and an array of n. */
struct orr_elf_constructors {
    uintptr_t init; /* 0: none */
    uintptr_t array;
    size_t n;
};
struct orr_elf_constructors orr_elf_constructors(const struct link_map *object);

/* Where the object is in memory. */
void orr_elf_extent(const struct link_map *object, uintptr_t *first, uintptr_t *end);

/* A segment of that type (PT_TLS …), NULL: it has none. */
const ElfW(Phdr) *orr_elf_segment(const struct link_map *object, unsigned type);

/* The executable of this process. */
const struct link_map *orr_elf_program(void);
