/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/source_line.h - lines of the program's source, and links to them. No state.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether code at that address submits tasks for others: the library, a module of it, its
 * layers for MPI and OpenCL. `call` is the address behind a call. */
bool orr_source_is_ours(uintptr_t call);

/* "FILE:LINE" of that call as addr2line (binutils) finds it, owned; "" where that is not
 * installed, or the program has no such information (-g); NULL without memory. */
char *orr_source_look_up(uintptr_t call);

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
