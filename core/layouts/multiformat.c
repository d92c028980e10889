/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/multiformat.c - objects that have a form of their own on
 * each sort of device. Each copy has room for all forms, and says which of them
 * have the value. Transfers move one form; what another sort of device made is
 * converted where it is used, by codelets of the application.
 */
#include "core/layouts/multiformat.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <starpu_task.h>
#include <starpu_util.h>
#include <starpu_worker.h>

#include "core/base/crc.h"
#include "core/base/log.h"
#include "core/layouts/nodes.h"
#include "core/layouts/sparse.h"

/* The public structure comes first: kernels see it. */
struct multiformat {
    struct starpu_multiformat_interface public;
    /* [atomic] bit per form, and CONVERTING; a copy that is stale may read it at any
     * time */
    atomic_uint valid;
    unsigned own; /* forms whose memory the interface allocated in main memory,
                     * beside what the application registered */
};

/* Readers on several processors share a copy: one of them converts it, which may take
 * long. */
#define CONVERTING (1U << ORR_NFORMS)

static unsigned bit(enum orr_form form)
{
    return 1U << form;
}

static void **place_of(struct multiformat *m, enum orr_form form)
{
    switch (form) {
    case ORR_FORM_CUDA:
        return &m->public.cuda_ptr;
    case ORR_FORM_OPENCL:
        return &m->public.opencl_ptr;
    default:
        return &m->public.cpu_ptr;
    }
}

static size_t bytes_of(const struct multiformat *m, enum orr_form form)
{
    const struct starpu_multiformat_data_interface_ops *ops = m->public.ops;
    const size_t sizes[ORR_NFORMS] = {
        [ORR_FORM_CPU] = ops->cpu_elemsize,
        [ORR_FORM_CUDA] = ops->cuda_elemsize,
        [ORR_FORM_OPENCL] = ops->opencl_elemsize,
    };

    return m->public.nx * sizes[form];
}

static struct multiformat *on_node(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_get_interface_on_node(handle, node);
}

/* --- the copies --- */

static void register_handle(starpu_data_handle_t handle, int home_node,
                            void *data_interface)
{
    const struct multiformat *given = data_interface;
    const struct starpu_multiformat_data_interface_ops *ops = given->public.ops;

    STARPU_ASSERT_MSG_ALWAYS(ops,
                             "starpu_multiformat_data_register: format_ops is "
                             "NULL, it says how large an object is");
    orr_arrays_expect_room(given->public.nx, 1, ops->cpu_elemsize);
    orr_arrays_expect_room(given->public.nx, 1, ops->cuda_elemsize);
    orr_arrays_expect_room(given->public.nx, 1, ops->opencl_elemsize);
    for (unsigned node = 0; node < orr_interface_nodes(handle); node++) {
        struct multiformat *m = on_node(handle, node);

        *m = *given;
        if ((int)node == home_node)
            m->valid = bit(orr_form_of_node(node));
        else
            m->public.cpu_ptr = m->public.cuda_ptr = m->public.hip_ptr =
                m->public.opencl_ptr = NULL;
    }
}

/* What was allocated for the other forms beside the application's memory. */
static void unregister_handle(starpu_data_handle_t handle)
{
    for (unsigned node = 0; node < orr_interface_nodes(handle); node++) {
        struct multiformat *m = on_node(handle, node);

        for (enum orr_form form = ORR_FORM_CPU; form < ORR_NFORMS; form++)
            if (m->own & bit(form))
                free(*place_of(m, form));
        m->own = 0;
    }
}

static void release(void *data_interface, unsigned node)
{
    struct multiformat *m = data_interface;

    for (enum orr_form form = ORR_FORM_CPU; form < ORR_NFORMS; form++) {
        void **place = place_of(m, form);

        if (*place && bytes_of(m, form))
            starpu_free_on_node(node, (uintptr_t)*place, bytes_of(m, form));
        *place = NULL;
    }
    m->public.hip_ptr = NULL;
}

static starpu_ssize_t allocate(void *data_interface, unsigned node)
{
    struct multiformat *m = data_interface;
    starpu_ssize_t sum = 0;

    m->valid = m->own = 0;
    for (enum orr_form form = ORR_FORM_CPU; form < ORR_NFORMS; form++)
        *place_of(m, form) = NULL;
    for (enum orr_form form = ORR_FORM_CPU; form < ORR_NFORMS; form++) {
        size_t bytes = bytes_of(m, form);

        if (!bytes)
            continue;
        *place_of(m, form) = (void *)starpu_malloc_on_node(node, bytes);
        if (!*place_of(m, form)) {
            release(m, node);
            return -ENOMEM;
        }
        sum += (starpu_ssize_t)bytes;
    }
    m->public.hip_ptr = m->public.cpu_ptr;
    return sum;
}

/* That of the node's users; without a conversion the one that all have, as where a
 * program that knows no devices is simulated on some. */
static enum orr_form form_wanted(const struct multiformat *m, unsigned node)
{
    const struct starpu_multiformat_data_interface_ops *ops = m->public.ops;
    enum orr_form form = orr_form_of_node(node);
    bool converted = form == ORR_FORM_CUDA ? ops->cpu_to_cuda_cl || ops->cuda_to_cpu_cl
                     : form == ORR_FORM_OPENCL
                         ? ops->cpu_to_opencl_cl || ops->opencl_to_cpu_cl
                         : true;

    return converted ? form : ORR_FORM_CPU;
}

/* The form that needs no conversion there, if the source has it. */
static enum orr_form form_to_send(const struct multiformat *src,
                                  unsigned dst_node)
{
    enum orr_form form = form_wanted(src, dst_node);
    unsigned valid = atomic_load_explicit(&src->valid, memory_order_relaxed);

    if (valid & bit(form))
        return form;
    for (form = ORR_FORM_CPU; form < ORR_NFORMS - 1 && !(valid & bit(form));)
        form++;
    return form;
}

static int copy(void *src, unsigned src_node, void *dst, unsigned dst_node,
                void *async_data)
{
    struct multiformat *from = src, *to = dst;
    enum orr_form form = form_to_send(from, dst_node);
    size_t bytes = bytes_of(from, form);
    void **place = place_of(to, form);

    to->valid = bit(form);
    if (!bytes)
        return 0;
    if (!*place) { /* only beside what the application registered */
        *place = malloc(bytes);
        if (!*place)
            return -ENOMEM;
        to->own |= bit(form);
    }
    return starpu_interface_copy((uintptr_t)*place_of(from, form), 0, src_node,
                                 (uintptr_t)*place, 0, dst_node, bytes,
                                 async_data);
}

static const struct starpu_data_copy_methods copy_methods = {
    .any_to_any = copy,
};

/* --- conversions --- */

static struct starpu_codelet *conversion(const struct multiformat *m,
                                         enum orr_form wanted)
{
    const struct starpu_multiformat_data_interface_ops *ops = m->public.ops;

    if (wanted == ORR_FORM_CUDA)
        return ops->cpu_to_cuda_cl;
    if (wanted == ORR_FORM_OPENCL)
        return ops->cpu_to_opencl_cl;
    return m->valid & bit(ORR_FORM_CUDA) ? ops->cuda_to_cpu_cl
                                         : ops->opencl_to_cpu_cl;
}

struct starpu_codelet *orr_multiformat_lacks(void *data_interface,
                                             unsigned node)
{
    const struct multiformat *m = data_interface;
    enum orr_form wanted = form_wanted(m, node);

    return m->valid && !(m->valid & bit(wanted)) ? conversion(m, wanted) : NULL;
}

bool orr_multiformat_begin(void *data_interface, unsigned node,
                           struct starpu_codelet **ret)
{
    struct multiformat *m = data_interface;
    unsigned valid = atomic_load_explicit(&m->valid, memory_order_acquire);

    *ret = NULL;
    do {
        if (valid & CONVERTING)
            return false;
        *ret = orr_multiformat_lacks(m, node);
    } while (*ret && !atomic_compare_exchange_weak(&m->valid, &valid,
                                                   valid | CONVERTING));
    return true;
}

void orr_multiformat_end(void *data_interface, unsigned node)
{
    struct multiformat *m = data_interface;

    /* Pairs with the load of the contexts that see that it is converted. */
    atomic_fetch_xor_explicit(&m->valid,
                              bit(form_wanted(m, node)) | CONVERTING,
                              memory_order_release);
}

void orr_multiformat_sent(void *src, void *dst, unsigned dst_node)
{
    struct multiformat *to = dst;

    to->valid = bit(form_to_send(src, dst_node));
}

void orr_multiformat_write(void *data_interface, unsigned node)
{
    struct multiformat *m = data_interface;

    m->valid = bit(form_wanted(m, node));
}

/* --- the interface --- */

static size_t get_size(starpu_data_handle_t handle)
{
    return bytes_of(on_node(handle, STARPU_MAIN_RAM), ORR_FORM_CPU);
}

static size_t get_alloc_size(starpu_data_handle_t handle)
{
    const struct multiformat *m = on_node(handle, STARPU_MAIN_RAM);

    return bytes_of(m, ORR_FORM_CPU) + bytes_of(m, ORR_FORM_CUDA) +
           bytes_of(m, ORR_FORM_OPENCL);
}

static uint32_t footprint(starpu_data_handle_t handle)
{
    return orr_crc_u32(on_node(handle, STARPU_MAIN_RAM)->public.nx, 0);
}

static int compare(void *a, void *b)
{
    const struct multiformat *x = a, *y = b;

    return bytes_of(x, ORR_FORM_CPU) == bytes_of(y, ORR_FORM_CPU) &&
           bytes_of(x, ORR_FORM_CUDA) == bytes_of(y, ORR_FORM_CUDA) &&
           bytes_of(x, ORR_FORM_OPENCL) == bytes_of(y, ORR_FORM_OPENCL) &&
           x->public.nx == y->public.nx;
}

static void *to_pointer(void *data_interface, unsigned node)
{
    return *place_of(data_interface, form_wanted(data_interface, node));
}

static struct starpu_multiformat_data_interface_ops *
get_mf_ops(void *data_interface)
{
    return ((struct multiformat *)data_interface)->public.ops;
}

static void display(starpu_data_handle_t handle, FILE *f)
{
    fprintf(f, "%u\t", on_node(handle, STARPU_MAIN_RAM)->public.nx);
}

/* The form that the node's device uses is what is packed. */
static int pack(starpu_data_handle_t handle, unsigned node, void **ptr,
                starpu_ssize_t *count)
{
    const struct multiformat *m = on_node(handle, node);
    enum orr_form form = form_wanted(m, node);
    size_t bytes = bytes_of(m, form);
    uintptr_t to;

    *count = (starpu_ssize_t)bytes;
    if (!ptr)
        return 0;
    *ptr = NULL;
    if (!bytes)
        return 0;
    to = starpu_malloc_on_node_flags(node, bytes, 0);
    if (!to)
        return -ENOMEM;
    *ptr = (void *)to;
    return starpu_interface_copy((uintptr_t)*place_of(on_node(handle, node),
                                                      form),
                                 0, node, to, 0, node, bytes, NULL);
}

static int peek(starpu_data_handle_t handle, unsigned node, void *ptr,
                size_t count)
{
    struct multiformat *m = on_node(handle, node);
    enum orr_form form = form_wanted(m, node);
    size_t bytes = bytes_of(m, form);

    if (count != bytes) {
        orr_log_error("starpu_data_unpack: got %zu bytes for data of %zu: pack "
                      "it from a handle of the same shape",
                      count, bytes);
        return -EINVAL;
    }
    if (bytes)
        (void)starpu_interface_copy((uintptr_t)ptr, 0, node,
                                    (uintptr_t)*place_of(m, form), 0, node,
                                    bytes, NULL);
    m->valid = bit(form);
    return 0;
}

static int unpack(starpu_data_handle_t handle, unsigned node, void *ptr,
                  size_t count)
{
    return orr_unpack_end(peek(handle, node, ptr, count), node, ptr, count);
}

static struct starpu_data_interface_ops multiformat_ops = {
    .register_data_handle = register_handle,
    .unregister_data_handle = unregister_handle,
    .allocate_data_on_node = allocate,
    .free_data_on_node = release,
    .copy_methods = &copy_methods,
    .to_pointer = to_pointer,
    .get_size = get_size,
    .get_alloc_size = get_alloc_size,
    .footprint = footprint,
    .compare = compare,
    .display = display,
    .pack_data = pack,
    .peek_data = peek,
    .unpack_data = unpack,
    .interfaceid = STARPU_MULTIFORMAT_INTERFACE_ID,
    .interface_size = sizeof(struct multiformat),
    .is_multiformat = 1,
    .dontcache = 1, /* how much is to be freed, the application's table says */
    .get_mf_ops = get_mf_ops,
    .name = (char[]){"STARPU_MULTIFORMAT_INTERFACE"},
};

bool orr_is_multiformat(const struct starpu_data_interface_ops *ops)
{
    return ops == &multiformat_ops;
}

void starpu_multiformat_data_register(
    starpu_data_handle_t *handle, int home_node, void *ptr, uint32_t nobjects,
    struct starpu_multiformat_data_interface_ops *format_ops)
{
    struct multiformat m = {
        .public =
            {
                .id = STARPU_MULTIFORMAT_INTERFACE_ID,
                .nx = nobjects,
                .ops = format_ops,
            },
    };

    if (home_node >= 0)
        *place_of(&m, orr_form_of_node((unsigned)home_node)) = ptr;
    if (home_node >= 0 && orr_form_of_node((unsigned)home_node) == ORR_FORM_CPU)
        m.public.hip_ptr = ptr;
    orr_interface_register(__func__, handle, home_node, &m, &multiformat_ops);
}
