/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/fortran/views.c - what a kernel asks of its buffers, from 0. The kernel has them,
 * and does not give another number than it has: nothing is checked here.
 */
#include "core/fortran/fortran.h"

#define POINTER(layout, LAYOUT)                                                \
    void *fstarpu_##layout##_get_ptr(void **buffers, int i)                    \
    {                                                                          \
        return (void *)STARPU_##LAYOUT##_GET_PTR(buffers[i]);                  \
    }
#define NUMBER(layout, LAYOUT, name, NAME)                                     \
    int fstarpu_##layout##_get_##name(void **buffers, int i)                   \
    {                                                                          \
        return (int)STARPU_##LAYOUT##_GET_##NAME(buffers[i]);                  \
    }

POINTER(variable, VARIABLE)

POINTER(vector, VECTOR)
NUMBER(vector, VECTOR, nx, NX)

POINTER(matrix, MATRIX)
NUMBER(matrix, MATRIX, ld, LD)
NUMBER(matrix, MATRIX, nx, NX)
NUMBER(matrix, MATRIX, ny, NY)

POINTER(block, BLOCK)
NUMBER(block, BLOCK, ldy, LDY)
NUMBER(block, BLOCK, ldz, LDZ)
NUMBER(block, BLOCK, nx, NX)
NUMBER(block, BLOCK, ny, NY)
NUMBER(block, BLOCK, nz, NZ)

POINTER(tensor, TENSOR)
NUMBER(tensor, TENSOR, ldy, LDY)
NUMBER(tensor, TENSOR, ldz, LDZ)
NUMBER(tensor, TENSOR, ldt, LDT)
NUMBER(tensor, TENSOR, nx, NX)
NUMBER(tensor, TENSOR, ny, NY)
NUMBER(tensor, TENSOR, nz, NZ)
NUMBER(tensor, TENSOR, nt, NT)
