/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/needed.h - the libraries that a program was linked to, by its file. No state.
 */
#pragma once

#include <stdbool.h>

/* Whether the program, as a shell finds it, was linked to a library whose name begins so,
 * "libgomp.so". False as well of what is no program of this kind of machine, such as a
 * script, or cannot be read. */
bool program_needs(const char *program, const char *library);

/* Whether it was linked to an OpenCL loader, and not to StarPU or us. */
bool program_is_opencl(const char *program);

/* Whether it was linked to a compiler's OpenMP, gcc's or LLVM's, and not to StarPU or us. */
bool program_is_openmp(const char *program);
