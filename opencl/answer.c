/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opencl/answer.c - see socl.h: answers of queries, references of objects. */
#include <string.h>

#include "opencl/socl.h"

cl_int socl_answer(const void *value, size_t n, size_t size, void *to, size_t *ret)
{
    if (to && size < n)
        return CL_INVALID_VALUE;
    if (to && n)
        memcpy(to, value, n);
    if (ret)
        *ret = n;
    return CL_SUCCESS;
}

cl_int socl_answer_text(const char *text, size_t size, void *to, size_t *ret)
{
    return socl_answer(text ? text : "", text ? strlen(text) + 1 : 1, size, to, ret);
}

void *socl_fail(cl_int *ret_error, cl_int error)
{
    if (ret_error)
        *ret_error = error;
    return NULL;
}

void socl_retain(struct socl_head *head)
{
    __atomic_add_fetch(&head->refs, 1, __ATOMIC_RELAXED);
}

bool socl_drop(struct socl_head *head)
{
    return __atomic_sub_fetch(&head->refs, 1, __ATOMIC_ACQ_REL) == 0;
}

int socl_find_device(const cl_device_id *devices, unsigned n, cl_device_id device)
{
    for (unsigned i = 0; i < n; i++)
        if (devices[i] == device)
            return (int)i;
    return -1;
}
