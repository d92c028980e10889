/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/java/kernels.c - kernels in C that Java programs name. */
#include <starpu.h>

void increment(void *buffers[], void *arg);
void add_argument(void *buffers[], void *arg);

void increment(void *buffers[], void *arg)
{
    (void)arg;
    ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

void add_argument(void *buffers[], void *arg)
{
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += *(const int *)arg;
}
