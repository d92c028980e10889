/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/lent.c - see lent.h. Without OpenCL devices the program is
 * skipped. */
#include "lent.h"
#undef cpu_funcs

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

/* What a buffer of a task is made of. */
struct mapped {
    cl_mem memory[3];
    void *at[3];
    unsigned n;
    union {
        struct starpu_vector_interface vector;
        struct starpu_variable_interface variable;
        struct starpu_matrix_interface matrix;
        struct starpu_block_interface block;
        struct starpu_tensor_interface tensor;
        struct starpu_ndim_interface ndim;
        struct starpu_csr_interface csr;
        struct starpu_bcsr_interface bcsr;
        struct starpu_coo_interface coo;
    } interface;
};

static void check(cl_int error, const char *call)
{
    if (!error)
        return;
    fprintf(stderr, "lent: %s: error %d\n", call, error);
    abort();
}

/* Where all bytes of a buffer are for this process. */
static void *map(struct mapped *m, cl_command_queue queue, uintptr_t handle)
{
    cl_mem memory = (cl_mem)handle;
    cl_int error;
    size_t size;
    void *at;

    if (!memory)
        return NULL;
    check(clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(size), &size, NULL),
          "clGetMemObjectInfo");
    at = clEnqueueMapBuffer(queue, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                            0, size, 0, NULL, NULL, &error);
    check(error, "clEnqueueMapBuffer");
    m->memory[m->n] = memory;
    m->at[m->n++] = at;
    return at;
}

static void unmap(struct mapped *m, cl_command_queue queue)
{
    while (m->n-- > 0)
        check(clEnqueueUnmapMemObject(queue, m->memory[m->n], m->at[m->n], 0,
                                      NULL, NULL),
              "clEnqueueUnmapMemObject");
}

/* The host's view of a buffer. */
#define DENSE(kind)                                                            \
    do {                                                                       \
        struct starpu_##kind##_interface *d = &m->interface.kind;              \
                                                                               \
        *d = *(const struct starpu_##kind##_interface *)buffer;                \
        d->ptr = (uintptr_t)map(m, queue, d->dev_handle) + d->offset;          \
        d->dev_handle = d->ptr;                                                \
        d->offset = 0;                                                         \
        return d;                                                              \
    } while (0)
#define SPARSE(kind, type, a, b, c)                                            \
    do {                                                                       \
        struct starpu_##kind##_interface *s = &m->interface.kind;              \
                                                                               \
        *s = *(const struct starpu_##kind##_interface *)buffer;                \
        s->a = (type)map(m, queue, (uintptr_t)s->a);                           \
        s->b = map(m, queue, (uintptr_t)s->b);                                 \
        s->c = map(m, queue, (uintptr_t)s->c);                                 \
        return s;                                                              \
    } while (0)

/* All interfaces begin with their kind. */
static void *look(struct mapped *m, cl_command_queue queue, void *buffer)
{
    switch (*(const enum starpu_data_interface_id *)buffer) {
    case STARPU_VECTOR_INTERFACE_ID:
        DENSE(vector);
    case STARPU_VARIABLE_INTERFACE_ID:
        DENSE(variable);
    case STARPU_MATRIX_INTERFACE_ID:
        DENSE(matrix);
    case STARPU_BLOCK_INTERFACE_ID:
        DENSE(block);
    case STARPU_TENSOR_INTERFACE_ID:
        DENSE(tensor);
    case STARPU_NDIM_INTERFACE_ID:
        DENSE(ndim);
    case STARPU_CSR_INTERFACE_ID:
        SPARSE(csr, uintptr_t, nzval, colind, rowptr);
    case STARPU_BCSR_INTERFACE_ID:
        SPARSE(bcsr, uintptr_t, nzval, colind, rowptr);
    case STARPU_COO_INTERFACE_ID:
        SPARSE(coo, uintptr_t, values, columns, rows);
    default:
        return buffer;
    }
}

void (*lent_init)(void *buffers[], void *arg);

/* Init functions of reductions get other buffers than the task has. */
static bool is_init(const struct starpu_task *task, void *const *buffers)
{
    return buffers !=
           (task->dyn_interfaces ? task->dyn_interfaces : task->interfaces);
}

void lent_to_opencl(void *buffers[], void *arg)
{
    struct starpu_task *task = starpu_task_get_current();
    bool init = is_init(task, buffers);
    unsigned n = init ? 1 : (unsigned)STARPU_TASK_GET_NBUFFERS(task);
    struct mapped *maps = calloc(n + 1, sizeof(*maps));
    void **views = calloc(n + 1, sizeof(*views));
    cl_command_queue queue;

    starpu_opencl_get_current_queue(&queue);
    for (unsigned i = 0; i < n; i++)
        views[i] = look(&maps[i], queue, buffers[i]);
    (init ? lent_init : task->cl->cpu_funcs[0])(views, arg);
    for (unsigned i = 0; i < n; i++)
        unmap(&maps[i], queue);
    clFinish(queue);
    free(maps);
    free(views);
}
