/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * openmp/locks.h - locks by a number, since gcc's omp_lock_t has four bytes, and critical
 * sections by the address of a pointer that the compiler has zeroed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "openmp/start.h"

void openmp_critical_begin(void **name);
void openmp_critical_end(void **name);

/* As omp_*_lock and, where `nests`, omp_*_nest_lock: `lock` is where the number is. */
void openmp_lock_init(uint32_t *lock, bool nests);
void openmp_lock_destroy(uint32_t *lock, bool nests);
void openmp_lock_set(const uint32_t *lock, bool nests);
void openmp_lock_unset(const uint32_t *lock, bool nests);
int openmp_lock_test(const uint32_t *lock, bool nests);
