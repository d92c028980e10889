/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/layout.c - see layout.h. */
#include "mpi/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/log.h"
#include "core/remote.h"
#include "mpi/kept.h"
#include "mpi/rank.h"

/* --- layouts of the application's --- */

struct orr_native {
    int id; /* of an interface */
    struct orr_native_layout layout;
};

static struct orr_native *find_native(const struct orr_kept *kept, int id)
{
    for (size_t i = 0; i < kept->nnatives; i++)
        if (kept->natives[i].id == id)
            return &kept->natives[i];
    return NULL;
}

int orr_native_layout_set(int interface_id, const struct orr_native_layout *layout)
{
    struct orr_native_layout old = {NULL, NULL, NULL, NULL};
    struct orr_kept *kept = orr_kept_enter();
    struct orr_native *native = find_native(kept, interface_id);
    int rc = 0;

    if (!native && layout &&
        (rc = orr_grow(&kept->natives, &kept->natives_room, kept->nnatives + 1,
                       sizeof(*kept->natives))) == 0) {
        native = &kept->natives[kept->nnatives++];
        *native = (struct orr_native){.id = interface_id};
    }
    if (native) {
        old = native->layout;
        if (layout)
            native->layout = *layout;
        else
            *native = kept->natives[--kept->nnatives];
    }
    orr_kept_leave(kept);
    if (old.free)
        old.free(old.arg);
    return rc;
}

static bool get_native(starpu_data_handle_t handle, struct orr_native_layout *ret)
{
    struct orr_kept *kept = orr_kept_enter();
    const struct orr_native *native =
        find_native(kept, (int)starpu_data_get_interface_id(handle));

    if (native)
        *ret = native->layout;
    orr_kept_leave(kept);
    return native != NULL;
}

void orr_kept_free_natives(struct orr_kept *kept)
{
    for (size_t i = 0; i < kept->nnatives; i++)
        if (kept->natives[i].layout.free)
            kept->natives[i].layout.free(kept->natives[i].layout.arg);
    free(kept->natives);
}

/* --- dense data --- */

enum { MOST_DIMS = 64 };

/* n[d] elements along dimension d, ld[d] elements from one to the next; ld NULL: side by
 * side. What is deeper than a part can say becomes several. */
static bool set_dense(struct orr_layout *layout, uintptr_t address, size_t elemsize,
                      unsigned ndims, const uint32_t *n, const uint32_t *ld)
{
    bool is_dense = ndims > 0 && (!ld || ld[0] == 1);
    unsigned first = is_dense ? 1 : 0, inner = first + ORR_PART_LEVELS;
    size_t nparts = 1, at[MOST_DIMS] = {0};

    for (unsigned d = inner; d < ndims; d++)
        nparts *= n[d];
    if (nparts > ORR_FEW_PARTS) {
        layout->parts = calloc(nparts, sizeof(*layout->parts));
        if (!layout->parts)
            return false;
    }
    layout->nparts = (unsigned)nparts;
    for (size_t p = 0; p < nparts; p++) {
        struct orr_part part = {.size = is_dense ? n[0] * elemsize : elemsize};
        size_t offset = 0;

        for (unsigned d = inner; d < ndims; d++)
            offset += at[d] * ld[d] * elemsize;
        part.address = (char *)NULL + address + offset;
        for (unsigned d = first; d < ndims && d < inner; d++) {
            part.n[part.levels] = n[d];
            part.step[part.levels++] = ld[d] * elemsize;
        }
        layout->parts[p] = orr_part_simplified(&part);
        layout->bytes += orr_part_bytes(&part);
        for (unsigned d = inner; d < ndims && ++at[d] == n[d]; d++)
            at[d] = 0;
    }
    return true;
}

enum form { DENSE, PACKED, NO_MEMORY };

static enum form find_dense(struct orr_layout *layout, starpu_data_handle_t handle,
                            unsigned node)
{
    void *interface = starpu_data_get_interface_on_node(handle, node);
    bool ok;

    switch ((int)starpu_data_get_interface_id(handle)) {
    case STARPU_VOID_INTERFACE_ID:
        layout->nparts = 0;
        return DENSE;
    case STARPU_VARIABLE_INTERFACE_ID: {
        const struct starpu_variable_interface *v = interface;

        ok = set_dense(layout, v->ptr, v->elemsize, 0, NULL, NULL);
        break;
    }
    case STARPU_VECTOR_INTERFACE_ID: {
        const struct starpu_vector_interface *v = interface;

        ok = set_dense(layout, v->ptr, v->elemsize, 1, &v->nx, NULL);
        break;
    }
    case STARPU_MATRIX_INTERFACE_ID: {
        const struct starpu_matrix_interface *m = interface;

        ok = set_dense(layout, m->ptr, m->elemsize, 2, (uint32_t[]){m->nx, m->ny},
                       (uint32_t[]){1, m->ld});
        break;
    }
    case STARPU_BLOCK_INTERFACE_ID: {
        const struct starpu_block_interface *b = interface;

        ok = set_dense(layout, b->ptr, b->elemsize, 3,
                       (uint32_t[]){b->nx, b->ny, b->nz},
                       (uint32_t[]){1, b->ldy, b->ldz});
        break;
    }
    case STARPU_TENSOR_INTERFACE_ID: {
        const struct starpu_tensor_interface *t = interface;

        ok = set_dense(layout, t->ptr, t->elemsize, 4,
                       (uint32_t[]){t->nx, t->ny, t->nz, t->nt},
                       (uint32_t[]){1, t->ldy, t->ldz, t->ldt});
        break;
    }
    case STARPU_NDIM_INTERFACE_ID: {
        const struct starpu_ndim_interface *d = interface;

        if (d->ndim > MOST_DIMS)
            return PACKED;
        ok = set_dense(layout, d->ptr, d->elemsize, (unsigned)d->ndim, d->nn, d->ldn);
        break;
    }
    default:
        return PACKED;
    }
    return ok ? DENSE : NO_MEMORY;
}

/* --- packed data --- */

static int pack_native(struct orr_layout *layout, const struct orr_native_layout *native,
                       starpu_data_handle_t handle, unsigned node)
{
    ptrdiff_t bytes = native->pack(native->arg, handle, node, NULL, 0);

    if (bytes < 0)
        return -ENOTSUP;
    layout->packed = malloc(bytes ? (size_t)bytes : 1);
    if (!layout->packed)
        return -ENOMEM;
    bytes = native->pack(native->arg, handle, node, layout->packed, (size_t)bytes);
    layout->by_native = true;
    layout->bytes = (size_t)bytes;
    return bytes < 0 ? -EINVAL : 0;
}

static int pack(struct orr_layout *layout, starpu_data_handle_t handle, unsigned node,
                const char *call)
{
    const struct starpu_data_interface_ops *ops = orr_handle_of(handle)->ops;
    starpu_ssize_t bytes = -1;

    if (!ops->pack_data) {
        orr_log_error("%s: data of interface %d (%s) cannot be sent: give the interface "
                      "pack_data and peek_data, or a datatype by "
                      "starpu_mpi_interface_datatype_node_register",
                      call, (int)ops->interfaceid, ops->name ? ops->name : "no name");
        return -EINVAL;
    }
    if (ops->pack_data(handle, node, &layout->packed, &bytes) != 0 || bytes < 0 ||
        !layout->packed) {
        orr_log_error("%s: pack_data of interface %d has failed", call,
                      (int)ops->interfaceid);
        return -EINVAL;
    }
    layout->by_method = true;
    layout->bytes = (size_t)bytes;
    return 0;
}

static void set_packed_part(struct orr_layout *layout)
{
    layout->parts[0] = (struct orr_part){.address = layout->packed,
                                         .size = layout->bytes};
    layout->nparts = layout->bytes > 0;
}

static void begin(struct orr_layout *layout, unsigned node)
{
    *layout = (struct orr_layout){.node = node};
    layout->parts = layout->few;
}

bool orr_layout_packs(starpu_data_handle_t handle)
{
    struct orr_native_layout native;

    if (get_native(handle, &native))
        return true;
    switch ((int)starpu_data_get_interface_id(handle)) {
    case STARPU_VOID_INTERFACE_ID:
    case STARPU_VARIABLE_INTERFACE_ID:
    case STARPU_VECTOR_INTERFACE_ID:
    case STARPU_MATRIX_INTERFACE_ID:
    case STARPU_BLOCK_INTERFACE_ID:
    case STARPU_TENSOR_INTERFACE_ID:
    case STARPU_NDIM_INTERFACE_ID:
        return false;
    default:
        return true;
    }
}

/* --- what callers use --- */

int orr_layout_send(struct orr_layout *layout, starpu_data_handle_t handle, unsigned node,
                    const char *call)
{
    struct orr_native_layout native;
    enum form form;
    int rc = -ENOTSUP;

    begin(layout, node);
    if (get_native(handle, &native))
        rc = pack_native(layout, &native, handle, node);
    if (rc == -ENOTSUP) {
        form = find_dense(layout, handle, node);
        if (form != PACKED)
            return form == DENSE ? 0 : -ENOMEM;
        rc = pack(layout, handle, node, call);
    }
    if (rc == 0)
        set_packed_part(layout);
    return rc;
}

int orr_layout_receive(struct orr_layout *layout, starpu_data_handle_t handle,
                       unsigned node, size_t bytes, const char *call)
{
    const struct starpu_data_interface_ops *ops = orr_handle_of(handle)->ops;
    struct orr_native_layout native;
    enum form form;

    begin(layout, node);
    layout->by_native = get_native(handle, &native) &&
                        native.pack(native.arg, handle, node, NULL, 0) >= 0;
    if (!layout->by_native) {
        form = find_dense(layout, handle, node);
        if (form != PACKED)
            return form == DENSE ? 0 : -ENOMEM;
        if (!ops->peek_data && !ops->unpack_data) {
            orr_log_error("%s: data of interface %d (%s) cannot be received: give the "
                          "interface peek_data, or a datatype by "
                          "starpu_mpi_interface_datatype_node_register",
                          call, (int)ops->interfaceid, ops->name ? ops->name : "no name");
            return -EINVAL;
        }
    }
    layout->by_method = !layout->by_native;
    layout->bytes = bytes;
    layout->packed = layout->by_native
                         ? malloc(bytes ? bytes : 1)
                         : (void *)starpu_malloc_on_node_flags(node, bytes, 0);
    if (!layout->packed && bytes)
        return -ENOMEM;
    set_packed_part(layout);
    return 0;
}

int orr_layout_received(struct orr_layout *layout, starpu_data_handle_t handle,
                        size_t moved, const char *call)
{
    const struct starpu_data_interface_ops *ops = orr_handle_of(handle)->ops;
    struct orr_native_layout native;
    int rc = 0;

    if (layout->by_native && get_native(handle, &native))
        rc = native.unpack(native.arg, handle, layout->node, layout->packed, moved) < 0
                 ? -EINVAL
                 : 0;
    else if (layout->by_method && ops->peek_data)
        rc = ops->peek_data(handle, layout->node, layout->packed, moved);
    else if (layout->by_method) {
        rc = ops->unpack_data(handle, layout->node, layout->packed, moved);
        layout->packed = NULL; /* unpack_data has freed it */
    }
    if (rc)
        orr_log_error("%s: a message of %zu bytes could not be unpacked into data of "
                      "interface %d: error %d",
                      call, moved, (int)ops->interfaceid, rc);
    return rc;
}

bool orr_layout_is_unreal(const struct orr_rank *rank, const struct orr_layout *layout)
{
    return !rank->computes && !layout->packed;
}

void orr_layout_done(struct orr_layout *layout)
{
    if (layout->by_method && layout->packed)
        starpu_free_on_node_flags(layout->node, (uintptr_t)layout->packed, layout->bytes,
                                  0);
    else
        free(layout->packed);
    if (layout->parts != layout->few)
        free(layout->parts);
    layout->packed = NULL;
    layout->parts = layout->few;
    layout->nparts = 0;
}
