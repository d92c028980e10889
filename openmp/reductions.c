/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* openmp/reductions.c - see reductions.h. */
#include "openmp/reductions.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of a description. */
enum { NVARIABLES, PART, BASE, AROUND = 4, SIZE = 5, VARIABLES = 7, EACH = 3, OFFSET = 1 };

void openmp_reduction_register(uintptr_t *d)
{
    void **inherited = orr_openmp_inherited();
    size_t align = d[BASE] > sizeof(void *) ? d[BASE] : sizeof(void *);
    size_t size = d[PART] * (size_t)starpu_omp_get_num_threads();
    void *memory;

    if (posix_memalign(&memory, align, size) != 0)
        openmp_refuse("there is no memory", "for a reduction");
    memset(memory, 0, size);
    d[BASE] = (uintptr_t)memory;
    d[SIZE] = size;
    d[AROUND] = (uintptr_t)*inherited;
    *inherited = d;
}

void openmp_reduction_unregister(uintptr_t *d)
{
    void **inherited = orr_openmp_inherited();

    if (*inherited == d)
        *inherited = (void *)d[AROUND];
    free((void *)d[BASE]);
}

void openmp_reduction_share(uintptr_t *own, uintptr_t *first)
{
    void **inherited = orr_openmp_inherited();

    own[BASE] = first[BASE];
    own[SIZE] = first[SIZE];
    own[AROUND] = (uintptr_t)*inherited;
    *inherited = own;
}

/* The variable to which the pointer is, or to a thread's part of it; NULL: it is none of
 * the description's. */
static const uintptr_t *find_variable(const uintptr_t *d, uintptr_t pointer)
{
    uintptr_t within = pointer - d[BASE];
    const uintptr_t *variable = d + VARIABLES;

    for (size_t i = 0; i < d[NVARIABLES]; i++, variable += EACH)
        if (variable[0] == pointer ||
            (within < d[SIZE] && within % d[PART] == variable[OFFSET]))
            return variable;
    return NULL;
}

void openmp_reduction_remap(size_t n, size_t norigs, void **pointers)
{
    size_t thread = (size_t)starpu_omp_get_thread_num();

    for (size_t i = 0; i < n; i++) {
        const uintptr_t *d = *orr_openmp_inherited(), *variable = NULL;

        while (d && !(variable = find_variable(d, (uintptr_t)pointers[i])))
            d = (const uintptr_t *)d[AROUND];
        if (!d)
            openmp_refuse("in_reduction", "names a variable of no reduction around it");
        if (i < norigs)
            pointers[n + i] = (void *)variable[0];
        pointers[i] = (void *)(d[BASE] + thread * d[PART] + variable[OFFSET]);
    }
}
