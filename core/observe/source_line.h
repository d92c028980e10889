/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/source_line.h - lines of the program's source, and links to them. No state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether code at that address submits tasks for others: the library, a module of it, its
 * layers for MPI and OpenCL. `call` is the address behind a call. */
bool orr_source_is_ours(uintptr_t call);

/* "FILE:LINE" of that call as addr2line (binutils) finds it, owned; "" where that is not
 * installed, or the program has no such information (-g); NULL without memory. */
char *orr_source_look_up(uintptr_t call);

/* In which object that call is, a path that needs no process, and where in it; the same of
 * orr_source_look_up by these. False: it is not known. */
bool orr_source_place(uintptr_t call, char *ret_path, size_t size,
                      uint64_t *ret_offset);
char *orr_source_look_up_at(const char *object, uint64_t offset);

/* Whether that call is in code that our C++ headers (orrery/stf.hpp) have put into the program,
 * which submits for others: asks addr2line where the program has them. *ret_text: what
 * orr_source_look_up says, owned, if that was asked; else NULL. */
bool orr_source_is_in_headers(uintptr_t call, char **ret_text);

/* Splits "FILE:LINE" (or FILE:LINE:COLUMN). False: it is none. *ret_line: its number;
 * returns the length of FILE in *ret_length. */
bool orr_source_split(const char *source, int *ret_length, unsigned long *ret_line);

/* The address by which an editor opens the line, owned: `scheme` is one of the names in
 * ORRERY_LINKS, or has {file} and {line}, which are replaced. NULL: there is no scheme (NULL,
 * ""), the file has no folder and is not here, or no memory. */
char *orr_source_link(const char *scheme, const char *source);

/* Whether `scheme` is one; NULL and "" are none. */
extern const char orr_source_scheme_names[]; /* with commas */
bool orr_source_scheme_is_known(const char *scheme);
