/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mpi/api/datatype.c - data that the application describes by datatypes of MPI: they are
 * packed by MPI. Registration by any thread, with or without a run; packing on the thread
 * that owns MPI.
 */
#include <limits.h>
#include <stdlib.h>

#include "mpi/api/api.h"
#include "mpi/layout.h"

/* One of the two allocate functions. */
struct description {
    starpu_mpi_datatype_allocate_func_t allocate;
    starpu_mpi_datatype_node_allocate_func_t allocate_on;
    starpu_mpi_datatype_free_func_t free;
};

/* False: the datum is to be packed by its interface. */
static bool make_type(const struct description *d, starpu_data_handle_t handle,
                      unsigned node, MPI_Datatype *ret)
{
    return (d->allocate_on ? d->allocate_on(handle, node, ret)
                           : d->allocate(handle, ret)) == 0;
}

static void *address_of(starpu_data_handle_t handle, unsigned node)
{
    return starpu_data_handle_to_pointer(handle, node);
}

static ptrdiff_t pack(void *arg, starpu_data_handle_t handle, unsigned node, void *to,
                      size_t bytes)
{
    const struct description *d = arg;
    MPI_Datatype type;
    int size = -1, position = 0, code;

    if (!make_type(d, handle, node, &type))
        return -ENOTSUP;
    code = MPI_Pack_size(1, type, MPI_COMM_SELF, &size);
    if (to && code == MPI_SUCCESS) {
        code = MPI_Pack(address_of(handle, node), 1, type, to,
                        bytes > INT_MAX ? INT_MAX : (int)bytes, &position, MPI_COMM_SELF);
        size = position;
    }
    d->free(&type);
    if (code != MPI_SUCCESS)
        orr_log_error("starpu_mpi_datatype_register: MPI could not pack data of interface "
                      "%d (error %d): was the datatype committed, and are there less than "
                      "2 GiB?",
                      (int)starpu_data_get_interface_id(handle), code);
    return code == MPI_SUCCESS ? size : -EINVAL;
}

static ptrdiff_t unpack(void *arg, starpu_data_handle_t handle, unsigned node,
                        const void *from, size_t bytes)
{
    const struct description *d = arg;
    MPI_Datatype type;
    int position = 0, code;

    if (bytes > INT_MAX || !make_type(d, handle, node, &type))
        return -EINVAL;
    code = MPI_Unpack(from, (int)bytes, &position, address_of(handle, node), 1, type,
                      MPI_COMM_SELF);
    d->free(&type);
    return code == MPI_SUCCESS ? position : -EINVAL;
}

static int set(int id, const struct description *description, const char *call)
{
    struct orr_native_layout layout = {.pack = pack, .unpack = unpack, .free = free};
    struct description *mine;

    if (id < STARPU_MAX_INTERFACE_ID) {
        orr_log_error("%s: interface %d is one of the library's, whose data need no "
                      "datatype: give a number from %d on (starpu_data_interface_get_next_id)",
                      call, id, STARPU_MAX_INTERFACE_ID);
        abort();
    }
    if ((!description->allocate && !description->allocate_on) || !description->free) {
        orr_log_error("%s: give both functions, to make a datatype and to free it", call);
        abort();
    }
    mine = malloc(sizeof(*mine));
    if (!mine) {
        orr_log_error("%s: out of memory", call);
        return -ENOMEM;
    }
    *mine = *description;
    layout.arg = mine;
    if (orr_native_layout_set(id, &layout) == 0)
        return 0;
    free(mine);
    orr_log_error("%s: out of memory", call);
    return -ENOMEM;
}

/* The interface of a handle, whose pointer the datatype describes. */
static int interface_of(starpu_data_handle_t handle, const char *call)
{
    const char *trouble = orr_handle_trouble(orr_handle_of(handle));

    if (!trouble && !orr_handle_of(handle)->ops->to_pointer &&
        !orr_handle_of(handle)->ops->handle_to_pointer)
        trouble = "of an interface without to_pointer: give it that function, by which the "
                  "datatype's address is found";
    if (!trouble)
        return (int)starpu_data_get_interface_id(handle);
    orr_log_error("%s: the data handle is %s", call, trouble);
    abort();
}

int starpu_mpi_interface_datatype_register(
    enum starpu_data_interface_id id,
    starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
    starpu_mpi_datatype_free_func_t free_datatype_func)
{
    struct description d = {allocate_datatype_func, NULL, free_datatype_func};

    return set((int)id, &d, __func__);
}

int starpu_mpi_interface_datatype_node_register(
    enum starpu_data_interface_id id,
    starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
    starpu_mpi_datatype_free_func_t free_datatype_func)
{
    struct description d = {NULL, allocate_datatype_func, free_datatype_func};

    return set((int)id, &d, __func__);
}

int starpu_mpi_datatype_register(
    starpu_data_handle_t handle, starpu_mpi_datatype_allocate_func_t allocate_datatype_func,
    starpu_mpi_datatype_free_func_t free_datatype_func)
{
    struct description d = {allocate_datatype_func, NULL, free_datatype_func};

    return set(interface_of(handle, __func__), &d, __func__);
}

int starpu_mpi_datatype_node_register(
    starpu_data_handle_t handle,
    starpu_mpi_datatype_node_allocate_func_t allocate_datatype_func,
    starpu_mpi_datatype_free_func_t free_datatype_func)
{
    struct description d = {NULL, allocate_datatype_func, free_datatype_func};

    return set(interface_of(handle, __func__), &d, __func__);
}

int starpu_mpi_interface_datatype_unregister(enum starpu_data_interface_id id)
{
    return orr_native_layout_set((int)id, NULL);
}

int starpu_mpi_datatype_unregister(starpu_data_handle_t handle)
{
    return orr_native_layout_set(interface_of(handle, __func__), NULL);
}
