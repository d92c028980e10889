/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/openmp/names.h - what a place in a program's code is called: function and line, and
 * which variable is at an address: from the symbols of its files (ELF) and, if binutils' addr2line is there, from their
 * debugging information. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct omp_names;

struct omp_names *omp_names_new(void); /* NULL without memory */
void omp_names_free(struct omp_names *names);

/* A function, or a place in one to which a call before it returns, or a variable. */
enum omp_named { OMP_FUNCTION, OMP_RETURN, OMP_VARIABLE };

/* Such a thing at an address, of a file that is loaded at `base`. The second time nothing is
 * done. Errors: -ENOMEM. */
int omp_names_add(struct omp_names *names, uint64_t address, uint64_t base, const char *path,
                  enum omp_named kind);

/* Finds the names of all; what cannot be found is called by its place in its file.
 * Errors: -ENOMEM. */
int omp_names_resolve(struct omp_names *names);

/* "potrf:17", "chol.c:17", "main+0x2c": borrowed; NULL: it was not added. */
const char *omp_names_find(const struct omp_names *names, uint64_t address);

/* The variable that has the address: where it begins, its bytes; 0: none that is known. */
void omp_names_variable(const struct omp_names *names, uint64_t address, uint64_t *ret_begin,
                        uint64_t *ret_bytes);

/* Whether some code has no line. */
bool omp_names_lack_lines(const struct omp_names *names);
