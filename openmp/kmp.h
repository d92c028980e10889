/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/kmp.h - what the files of LLVM's entries share. The entries are those that LLVM's
 * documentation of its OpenMP runtime describes ("OpenMP Library Interfaces"), and what
 * `clang -emit-llvm` shows of their arguments.
 */
#pragma once

#include "openmp/locks.h"
#include "openmp/loop.h"
#include "openmp/start.h"

/* Compilers declare them, no header does. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wmissing-declarations"

/* Where a construct is in the program's text; not looked at. */
typedef const void kmp_place;

/* A thread's number in the process, which is given to all entries; not looked at. */
int32_t openmp_kmp_thread(void);
