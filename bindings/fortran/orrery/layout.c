/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* layout.c - arrays of Fortran as data, and buffers as arrays of Fortran. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "orrery_fortran.h"

/* --- messages --- */

static _Thread_local char message[256];

int complain(int err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(message, sizeof(message), format, ap);
    va_end(ap);
    return err;
}

void orrery_fortran_message(char *text, size_t size);
/* The sentence that belongs to the last error of this thread, padded with blanks. */
void orrery_fortran_message(char *text, size_t size)
{
    size_t length = strlen(message);

    if (length > size)
        length = size;
    memcpy(text, message, length);
    memset(text + length, ' ', size - length);
}

/* --- from Fortran --- */

static int check_strides(const struct layout *l)
{
    ptrdiff_t element = (ptrdiff_t)l->element, inner = element;

    for (int k = 0; k < l->rank; k++) {
        if (l->stride[k] <= 0)
            return complain(-EINVAL, "an array whose dimension %d runs backwards, or stands "
                                     "still, is no data: give one that runs forwards",
                            k + 1);
        if (l->stride[k] % inner)
            return complain(-EINVAL, "the elements of dimension %d lie %td bytes apart, no "
                                     "multiple of %td: a component of derived types, or "
                                     "every other column of an odd number, is no data, give "
                                     "the whole array",
                            k + 1, l->stride[k], inner);
        inner = k > 0 ? l->stride[k] : element;
    }
    return 0;
}

int layout_of(const CFI_cdesc_t *array, struct layout *ret)
{
    if (!array->base_addr)
        return complain(-EINVAL, "the array is not allocated");
    if (array->rank > MOST_DIMENSIONS)
        return complain(-EINVAL, "the array has %d dimensions: data have %d at most",
                        array->rank, MOST_DIMENSIONS);
    *ret = (struct layout){
        .at = array->base_addr,
        .element = array->elem_len,
        .rank = array->rank,
    };
    for (int k = 0; k < array->rank; k++) {
        if (array->dim[k].extent < 1)
            return complain(-EINVAL, "dimension %d of the array has no elements", k + 1);
        ret->n[k] = (size_t)array->dim[k].extent;
        ret->stride[k] = array->dim[k].sm;
        /* Of one element the stride says nothing. */
        if (ret->n[k] == 1 && ret->stride[k] <= 0)
            ret->stride[k] = k > 0 ? ret->stride[k - 1] * (ptrdiff_t)ret->n[k - 1]
                                   : (ptrdiff_t)ret->element;
    }
    return check_strides(ret);
}

size_t layout_span(const struct layout *l)
{
    size_t span = l->element;

    for (int k = 0; k < l->rank; k++)
        span += (l->n[k] - 1) * (size_t)l->stride[k];
    return span;
}

bool layouts_are_equal(const struct layout *one, const struct layout *other)
{
    if (one->at != other->at || one->element != other->element || one->rank != other->rank)
        return false;
    for (int k = 0; k < one->rank; k++)
        if (one->n[k] != other->n[k] ||
            (one->n[k] > 1 && one->stride[k] != other->stride[k]))
            return false;
    return true;
}

/* Whether there are x, y with one.at + x*stride = other.at + y*stride in the first `k`
 * dimensions, which have equal strides, if the second begins `distance` bytes later. */
static bool boxes_meet(const struct layout *one, const struct layout *other, int k,
                       ptrdiff_t distance)
{
    ptrdiff_t stride, steps;

    if (k == 0)
        return distance > -(ptrdiff_t)other->element && distance < (ptrdiff_t)one->element;
    stride = one->stride[k - 1];
    steps = distance / stride - (distance % stride < 0);
    /* The rest goes forwards in the inner dimensions, or backwards from one step more. */
    for (int i = 0; i < 2; i++, steps++)
        if (steps > -(ptrdiff_t)other->n[k - 1] && steps < (ptrdiff_t)one->n[k - 1] &&
            boxes_meet(one, other, k - 1, distance - steps * stride))
            return true;
    return false;
}

bool layouts_meet(const struct layout *one, const struct layout *other)
{
    bool same = one->rank == other->rank;

    if (one->at + layout_span(one) <= other->at || other->at + layout_span(other) <= one->at)
        return false;
    for (int k = 0; k < one->rank && same; k++)
        same = one->stride[k] == other->stride[k];
    return !same || boxes_meet(one, other, one->rank, other->at - one->at);
}

/* Where the first dimension has gaps it becomes the second one, behind one of a single
 * element. */
static void insert_dimension(struct layout *l)
{
    if (l->rank == 0 || l->stride[0] == (ptrdiff_t)l->element)
        return;
    memmove(l->n + 1, l->n, (size_t)l->rank * sizeof(*l->n));
    memmove(l->stride + 1, l->stride, (size_t)l->rank * sizeof(*l->stride));
    l->n[0] = 1;
    l->stride[0] = (ptrdiff_t)l->element;
    l->rank++;
}

int layout_register(const struct layout *layout, starpu_data_handle_t *ret)
{
    struct layout l = *layout;
    uintptr_t at = (uintptr_t)l.at;
    uint32_t n[MOST_DIMENSIONS], ld[MOST_DIMENSIONS];

    if (l.rank == MOST_DIMENSIONS && l.stride[0] != (ptrdiff_t)l.element)
        return complain(-EINVAL, "an array of %d dimensions whose first one has gaps is no "
                                 "data",
                        MOST_DIMENSIONS);
    insert_dimension(&l);
    for (int k = 0; k < l.rank; k++) {
        n[k] = (uint32_t)l.n[k];
        ld[k] = (uint32_t)(l.stride[k] / (ptrdiff_t)l.element);
        if (n[k] != l.n[k] || (size_t)ld[k] * l.element != (size_t)l.stride[k])
            return complain(-EINVAL, "dimension %d of the array has %zu elements, more than "
                                     "data may have",
                            k + 1, l.n[k]);
    }
    switch (l.rank) {
    case 0:
        starpu_variable_data_register(ret, STARPU_MAIN_RAM, at, l.element);
        break;
    case 1:
        starpu_vector_data_register(ret, STARPU_MAIN_RAM, at, n[0], l.element);
        break;
    case 2:
        starpu_matrix_data_register(ret, STARPU_MAIN_RAM, at, ld[1], n[0], n[1], l.element);
        break;
    case 3:
        starpu_block_data_register(ret, STARPU_MAIN_RAM, at, ld[1], ld[2], n[0], n[1], n[2],
                                   l.element);
        break;
    default:
        starpu_tensor_data_register(ret, STARPU_MAIN_RAM, at, ld[1], ld[2], ld[3], n[0],
                                    n[1], n[2], n[3], l.element);
    }
    return 0;
}

/* --- in kernels --- */

/* What a buffer is: extents and strides in elements. */
struct buffer {
    const char *name;
    uintptr_t at;
    size_t element;
    int rank;
    uint32_t n[MOST_DIMENSIONS], stride[MOST_DIMENSIONS];
};

static bool read_buffer(const void *interface, struct buffer *b)
{
    const struct starpu_vector_interface *vector = interface;
    const struct starpu_variable_interface *variable = interface;
    const struct starpu_matrix_interface *matrix = interface;
    const struct starpu_block_interface *block = interface;
    const struct starpu_tensor_interface *tensor = interface;

    /* All begin with their number. */
    switch (vector->id) {
    case STARPU_VARIABLE_INTERFACE_ID:
        *b = (struct buffer){"a scalar", variable->ptr, variable->elemsize, 0, {0}, {0}};
        return true;
    case STARPU_VECTOR_INTERFACE_ID:
        *b = (struct buffer){"a vector", vector->ptr, vector->elemsize, 1, {vector->nx}, {1}};
        return true;
    case STARPU_MATRIX_INTERFACE_ID:
        *b = (struct buffer){"a matrix", matrix->ptr, matrix->elemsize, 2,
                             {matrix->nx, matrix->ny}, {1, matrix->ld}};
        return true;
    case STARPU_BLOCK_INTERFACE_ID:
        *b = (struct buffer){"a block", block->ptr, block->elemsize, 3,
                             {block->nx, block->ny, block->nz},
                             {1, block->ldy, block->ldz}};
        return true;
    case STARPU_TENSOR_INTERFACE_ID:
        *b = (struct buffer){"a tensor", tensor->ptr, tensor->elemsize, 4,
                             {tensor->nx, tensor->ny, tensor->nz, tensor->nt},
                             {1, tensor->ldy, tensor->ldz, tensor->ldt}};
        return true;
    default:
        return false;
    }
}

int orrery_fortran_view(void **buffers, int i, size_t element, int rank, void **at,
                        int *extents, int *rooms, int *step);
/* Buffer i, from 1, as an array of `rank` dimensions: extents[k] elements of rooms[k] that
 * lie in the dimension; in the first one they are *step apart, up to that extent. */
int orrery_fortran_view(void **buffers, int i, size_t element, int rank, void **at,
                        int *extents, int *rooms, int *step)
{
    static const char *const names[] = {"a scalar", "a vector", "a matrix",
                                        "an array of 3 dimensions",
                                        "an array of 4 dimensions"};
    struct buffer b;
    int skip = 0;

    if (i < 1)
        return complain(-EINVAL, "view: there is no buffer %d, they are numbered from 1", i);
    if (!read_buffer(buffers[i - 1], &b))
        return complain(-EINVAL, "view: buffer %d is no array", i);
    /* The dimension that an array with gaps got. */
    if (b.rank == rank + 1 && b.n[0] == 1)
        skip = 1;
    if (b.rank - skip != rank || b.element != element)
        return complain(-EINVAL, "view: buffer %d is %s of %zu bytes each, not %s of %zu",
                        i, b.name, b.element, names[rank], element);
    *at = (void *)b.at;
    *step = rank ? (int)b.stride[skip] : 1;
    for (int k = 0; k < rank; k++) {
        uint32_t here = k ? b.stride[k + skip] : 1;

        extents[k] = k ? (int)b.n[k + skip] : *step * ((int)b.n[skip] - 1) + 1;
        rooms[k] = k + 1 < rank ? (int)(b.stride[k + 1 + skip] / here) : extents[k];
    }
    return 0;
}

int orrery_fortran_address(void **buffers, int i, void **at);
int orrery_fortran_address(void **buffers, int i, void **at)
{
    struct buffer b;

    if (i < 1 || !read_buffer(buffers[i - 1], &b))
        return complain(-EINVAL, "address: buffer %d is no array", i);
    *at = (void *)b.at;
    return 0;
}

int orrery_fortran_leading(void **buffers, int i, int *distance);
/* Elements from one column of a buffer to the next one. */
int orrery_fortran_leading(void **buffers, int i, int *distance)
{
    struct buffer b;

    if (i < 1 || !read_buffer(buffers[i - 1], &b) || b.rank < 2)
        return complain(-EINVAL, "leading: buffer %d has no columns", i);
    *distance = (int)b.stride[1];
    return 0;
}
