/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/lent_views.c - see lent_views.h. */
#include "lent_views.h"

#include <stdbool.h>
#include <stdlib.h>

#undef cpu_funcs
#undef cuda_funcs
#undef starpu_data_set_reduction_methods

union view {
    struct starpu_vector_interface vector;
    struct starpu_variable_interface variable;
    struct starpu_matrix_interface matrix;
    struct starpu_block_interface block;
    struct starpu_tensor_interface tensor;
    struct starpu_ndim_interface ndim;
    struct starpu_csr_interface csr;
    struct starpu_bcsr_interface bcsr;
    struct starpu_coo_interface coo;
    struct starpu_multiformat_interface multiformat;
    _Alignas(16) char own[LENT_ROOM];
};

/* The host's view of a buffer. */
#define DENSE(kind)                                                            \
    do {                                                                       \
        struct starpu_##kind##_interface *d = &view->kind;                     \
                                                                               \
        *d = *(const struct starpu_##kind##_interface *)buffer;                \
        d->ptr = (uintptr_t)find(arg, d->dev_handle, d->offset, d->elemsize);  \
        d->dev_handle = d->ptr;                                                \
        d->offset = 0;                                                         \
        return d;                                                              \
    } while (0)
#define SPARSE(kind, type, a, b, c)                                            \
    do {                                                                       \
        struct starpu_##kind##_interface *s = &view->kind;                     \
                                                                               \
        *s = *(const struct starpu_##kind##_interface *)buffer;                \
        s->a = (type)find(arg, (uintptr_t)s->a, 0, s->elemsize);               \
        s->b = find(arg, (uintptr_t)s->b, 0, sizeof(*s->b));                   \
        s->c = find(arg, (uintptr_t)s->c, 0, sizeof(*s->c));                   \
        return s;                                                              \
    } while (0)

static void *look_at_forms(struct starpu_multiformat_interface *view,
                           const void *buffer, lent_find_t find, void *arg)
{
    const struct starpu_multiformat_data_interface_ops *ops;

    *view = *(const struct starpu_multiformat_interface *)buffer;
    ops = view->ops;
    view->cpu_ptr = find(arg, (uintptr_t)view->cpu_ptr, 0, ops->cpu_elemsize);
    view->cuda_ptr =
        find(arg, (uintptr_t)view->cuda_ptr, 0, ops->cuda_elemsize);
    view->opencl_ptr =
        find(arg, (uintptr_t)view->opencl_ptr, 0, ops->opencl_elemsize);
    view->hip_ptr = view->cpu_ptr;
    return view;
}

/* All interfaces begin with their kind. */
static void *look(union view *view, void *buffer, lent_find_t find, void *arg)
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
    case STARPU_MULTIFORMAT_INTERFACE_ID:
        return look_at_forms(&view->multiformat, buffer, find, arg);
    default:
        if (!lent_own_view)
            return buffer;
        lent_own_view(view, buffer, find, arg);
        return view;
    }
}

/* -- reductions -- */

void (*lent_init)(void *buffers[], void *arg);
void (*lent_convert)(void *buffers[], void *arg);
void (*lent_own_view)(void *view, const void *buffer, lent_find_t find,
                      void *arg);

void lent_reduction(starpu_data_handle_t handle, struct starpu_codelet *redux,
                    struct starpu_codelet *init)
{
    /* Workers may be reading it. */
    if (init && init->cpu_funcs[0] && lent_init != init->cpu_funcs[0])
        lent_init = init->cpu_funcs[0];
    starpu_data_set_reduction_methods(handle, redux, init);
}

/* Init functions of reductions, and conversions, get other buffers than the task
 * has: one. */
static bool is_beside(const struct starpu_task *task, void *const *buffers)
{
    return buffers !=
           (task->dyn_interfaces ? task->dyn_interfaces : task->interfaces);
}

static bool is_converted(const void *buffer)
{
    return lent_convert && *(const enum starpu_data_interface_id *)buffer ==
                               STARPU_MULTIFORMAT_INTERFACE_ID;
}

/* A codelet may have placed the buffer in main memory, and nothing has no structure
 * to look at. */
static bool is_the_hosts(const struct starpu_task *task, unsigned buffer)
{
    int node = starpu_task_get_current_data_node(buffer);

    return starpu_data_get_interface_id(STARPU_TASK_GET_HANDLE(task, buffer)) ==
               STARPU_VOID_INTERFACE_ID ||
           (node >= 0 &&
            starpu_node_get_kind((unsigned)node) == STARPU_CPU_RAM);
}

/* -- calls -- */

void lent_run(void *buffers[], void *cl_arg, lent_find_t find, void *arg)
{
    struct starpu_task *task = starpu_task_get_current();
    bool beside = is_beside(task, buffers);
    unsigned n = beside ? 1 : (unsigned)STARPU_TASK_GET_NBUFFERS(task);
    union view *views = calloc(n + 1, sizeof(*views));
    void **given = calloc(n + 1, sizeof(*given));

    for (unsigned i = 0; i < n; i++)
        given[i] = !beside && is_the_hosts(task, i)
                       ? buffers[i]
                       : look(&views[i], buffers[i], find, arg);
    if (!beside)
        task->cl->cpu_funcs[0](given, cl_arg);
    else
        (is_converted(buffers[0]) ? lent_convert : lent_init)(given, cl_arg);
    free(views);
    free(given);
}
