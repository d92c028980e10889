/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/java/kernels.c - kernels in C that Java programs name; one is for the devices of
 * tests/standin.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include <starpu.h>

#include "tests/standin/standin.h"

void increment(void *buffers[], void *arg);
void add_argument(void *buffers[], void *arg);
void scale_on_device(void *buffers[], void *arg);

void increment(void *buffers[], void *arg)
{
    (void)arg;
    ++*(int *)STARPU_VARIABLE_GET_PTR(buffers[0]);
}

void add_argument(void *buffers[], void *arg)
{
    *(int *)STARPU_VARIABLE_GET_PTR(buffers[0]) += *(const int *)arg;
}

/* On the device: twice each element. */
struct scale {
    standin_bytes_t bytes;
    const void *address;
    unsigned n;
};

static void scale(void *arg)
{
    struct scale *s = arg;
    float *elements = s->bytes(s->address);

    for (unsigned i = 0; i < s->n; i++)
        elements[i] *= 2;
    free(s);
}

/* Launches that, and does not wait for it. */
void scale_on_device(void *buffers[], void *arg)
{
    void *library = dlopen(getenv("ORRERY_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
    struct scale *s = malloc(sizeof(*s));
    standin_launch_t launch;

    (void)arg;
    *(void **)&launch = dlsym(library, STANDIN_LAUNCH);
    *(void **)&s->bytes = dlsym(library, STANDIN_BYTES);
    s->address = (const void *)STARPU_VECTOR_GET_PTR(buffers[0]);
    s->n = STARPU_VECTOR_GET_NX(buffers[0]);
    launch(starpu_cuda_get_local_stream(), scale, s);
}
