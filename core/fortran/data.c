/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/fortran/data.c - filters, parts of data, arrays of handles. */
#include <limits.h>

#include "core/fortran/fortran.h"

/* --- filters --- */

void *fstarpu_data_filter_allocate(void)
{
    return orr_fortran_new(__func__, 1, sizeof(struct starpu_data_filter));
}

void fstarpu_data_filter_free(struct starpu_data_filter *filter)
{
    free(filter);
}

#define FILTER(name)                                                           \
    void *fstarpu_df_alloc_##name(void)                                        \
    {                                                                          \
        struct starpu_data_filter *filter =                                    \
            orr_fortran_new(__func__, 1, sizeof(*filter));                     \
                                                                               \
        filter->filter_func = starpu_##name;                                   \
        return filter;                                                         \
    }

FILTER(bcsr_filter_canonical_block)
FILTER(csr_filter_vertical_block)
FILTER(matrix_filter_block)
FILTER(matrix_filter_block_shadow)
FILTER(matrix_filter_vertical_block)
FILTER(matrix_filter_vertical_block_shadow)
FILTER(vector_filter_block)
FILTER(vector_filter_block_shadow)
FILTER(vector_filter_list)
FILTER(vector_filter_divide_in_2)
FILTER(block_filter_block)
FILTER(block_filter_block_shadow)
FILTER(block_filter_vertical_block)
FILTER(block_filter_vertical_block_shadow)

void fstarpu_data_filter_set_filter_func(struct starpu_data_filter *filter,
                                         void *f_ptr)
{
    filter->filter_func = (void (*)(void *, void *, struct starpu_data_filter *,
                                    unsigned, unsigned))(uintptr_t)f_ptr;
}

void fstarpu_data_filter_set_nchildren(struct starpu_data_filter *filter,
                                       int nchildren)
{
    ORR_FORTRAN_RANGE("a number of children", nchildren, 0, INT_MAX);
    filter->nchildren = (unsigned)nchildren;
}

void fstarpu_data_filter_set_get_nchildren_func(
    struct starpu_data_filter *filter, void *f_ptr)
{
    filter->get_nchildren = (unsigned (*)(
        struct starpu_data_filter *, starpu_data_handle_t))(uintptr_t)f_ptr;
}

void fstarpu_data_filter_set_get_child_ops_func(
    struct starpu_data_filter *filter, void *f_ptr)
{
    filter->get_child_ops = (struct starpu_data_interface_ops *
                             (*)(struct starpu_data_filter *, unsigned))(
        uintptr_t)f_ptr;
}

void fstarpu_data_filter_set_filter_arg(struct starpu_data_filter *filter,
                                        int filter_arg)
{
    ORR_FORTRAN_RANGE("filter_arg", filter_arg, 0, INT_MAX);
    filter->filter_arg = (unsigned)filter_arg;
}

void fstarpu_data_filter_set_filter_arg_ptr(struct starpu_data_filter *filter,
                                            void *filter_arg_ptr)
{
    filter->filter_arg_ptr = filter_arg_ptr;
}

void fstarpu_data_map_filters(starpu_data_handle_t root_dh, int nfilters,
                              void *const *filters)
{
    struct starpu_data_filter **copy;

    ORR_FORTRAN_RANGE("a number of filters", nfilters, 0, INT_MAX);
    copy = orr_fortran_new(__func__, (size_t)nfilters, sizeof(struct starpu_data_filter *));
    for (int i = 0; i < nfilters; i++)
        copy[i] = filters[i];
    starpu_data_map_filters_parray(root_dh, nfilters, copy);
    free(copy);
}

void *fstarpu_data_get_sub_data(starpu_data_handle_t root_dh, int depth,
                                const int *indices)
{
    starpu_data_handle_t handle = root_dh;

    for (int i = 0; i < depth; i++) {
        ORR_FORTRAN_RANGE("the number of a child,", indices[i], 0,
                          starpu_data_get_nb_children(handle) - 1);
        handle = starpu_data_get_child(handle, (unsigned)indices[i]);
    }
    return handle;
}

/* --- access --- */

void fstarpu_data_acquire(starpu_data_handle_t dh, intptr_t mode)
{
    int err;

    if (mode != STARPU_R && mode != STARPU_W && mode != STARPU_RW)
        ORR_FORTRAN_FAIL("%#lx is none of FSTARPU_R, FSTARPU_W and FSTARPU_RW",
                         (unsigned long)mode);
    err = starpu_data_acquire(dh, (enum starpu_data_access_mode)mode);
    if (err)
        ORR_FORTRAN_FAIL("the program does not have the data (%d)", err);
}

/* --- arrays for FSTARPU_DATA_ARRAY and FSTARPU_DATA_MODE_ARRAY --- */

static size_t length_of(const char *call, int nb)
{
    if (nb >= 0)
        return (size_t)nb;
    orr_log_error("%s: an array of %d elements", call, nb);
    abort();
}

void *fstarpu_data_handle_array_alloc(int nb)
{
    return orr_fortran_new(__func__, length_of(__func__, nb),
                           sizeof(starpu_data_handle_t));
}

void fstarpu_data_handle_array_free(starpu_data_handle_t *handles)
{
    free(handles);
}

void fstarpu_data_handle_array_set(starpu_data_handle_t *handles, int i,
                                   starpu_data_handle_t handle)
{
    handles[i] = handle;
}

void *fstarpu_data_descr_array_alloc(int nb)
{
    return orr_fortran_new(__func__, length_of(__func__, nb),
                           sizeof(struct starpu_data_descr));
}

void *fstarpu_data_descr_alloc(void)
{
    return orr_fortran_new(__func__, 1, sizeof(struct starpu_data_descr));
}

void fstarpu_data_descr_array_free(struct starpu_data_descr *descrs)
{
    free(descrs);
}

void fstarpu_data_descr_free(struct starpu_data_descr *descr)
{
    free(descr);
}

void fstarpu_data_descrg_free(struct starpu_data_descr *descr)
{
    free(descr);
}

void fstarpu_data_descr_array_set(struct starpu_data_descr *descrs, int i,
                                  starpu_data_handle_t handle, intptr_t mode)
{
    descrs[i].handle = handle;
    descrs[i].mode = (enum starpu_data_access_mode)mode;
}

void fstarpu_data_descr_set(struct starpu_data_descr *descr,
                            starpu_data_handle_t handle, intptr_t mode)
{
    fstarpu_data_descr_array_set(descr, 0, handle, mode);
}
