/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/lent.c - see lent.h. Without OpenCL devices the program is
 * skipped. */
#include "lent.h"
#undef cpu_funcs

#include <stdio.h>
#include <stdlib.h>

/* The buffers of a task that are mapped: at most three for each of them. */
struct maps {
    cl_command_queue queue;
    cl_mem *memory;
    void **at;
    unsigned n;
};

static void check(cl_int error, const char *call)
{
    if (!error)
        return;
    fprintf(stderr, "lent: %s: error %d\n", call, error);
    abort();
}

/* Where all bytes of a buffer are for this process. */
static void *map(void *arg, uintptr_t handle, size_t offset, size_t element)
{
    struct maps *maps = arg;
    cl_mem memory = (cl_mem)handle;
    cl_int error;
    size_t size;
    void *at;

    (void)element;
    if (!memory)
        return NULL;
    check(clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(size), &size, NULL),
          "clGetMemObjectInfo");
    at = clEnqueueMapBuffer(maps->queue, memory, CL_TRUE,
                            CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, NULL,
                            &error);
    check(error, "clEnqueueMapBuffer");
    maps->memory[maps->n] = memory;
    maps->at[maps->n++] = at;
    return (char *)at + offset;
}

void lent_to_opencl(void *buffers[], void *arg)
{
    size_t most =
        3 * (size_t)STARPU_TASK_GET_NBUFFERS(starpu_task_get_current()) + 3;
    struct maps maps = {.memory = calloc(most, sizeof(*maps.memory)),
                        .at = calloc(most, sizeof(*maps.at))};

    starpu_opencl_get_current_queue(&maps.queue);
    lent_run(buffers, arg, map, &maps);
    while (maps.n-- > 0)
        check(clEnqueueUnmapMemObject(maps.queue, maps.memory[maps.n],
                                      maps.at[maps.n], 0, NULL, NULL),
              "clEnqueueUnmapMemObject");
    clFinish(maps.queue);
    free(maps.memory);
    free(maps.at);
}
