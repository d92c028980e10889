/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/opencl.c - see opencl.h. */
#include "opencl.h"

#include <stdlib.h>

struct starpu_opencl_program program;

void open_runtime(void)
{
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_OPENCL_PROGRAM_DIR", KERNELS, 1);
    ck_assert_int_eq(starpu_init(NULL), 0);
}

/* The worker of a device. */
int worker_of(int devid)
{
    return starpu_worker_get_by_devid(STARPU_OPENCL_WORKER, devid);
}

unsigned node_of(int devid)
{
    return starpu_worker_get_memory_node((unsigned)worker_of(devid));
}

void load(void)
{
    ck_assert_int_eq(
        starpu_opencl_load_opencl_from_file("scale.cl", &program, "-DMORE=1"),
        0);
}

/* v = 3 v + 1 */
void start_scale(void *buffers[])
{
    cl_mem v = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]);
    cl_ulong offset = STARPU_VECTOR_GET_OFFSET(buffers[0]);
    cl_uint n = STARPU_VECTOR_GET_NX(buffers[0]);
    size_t items = n;
    cl_kernel kernel;
    cl_command_queue queue;
    cl_int error;

    ck_assert_int_eq(starpu_opencl_load_kernel(
                         &kernel, &queue, &program, "scale",
                         starpu_worker_get_devid(starpu_worker_get_id())),
                     CL_SUCCESS);
    ck_assert_int_eq(starpu_opencl_set_kernel_args(&error, &kernel, sizeof(v),
                                                   &v, sizeof(offset), &offset,
                                                   sizeof(n), &n, 0),
                     3);
    ck_assert_int_eq(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items,
                                            NULL, 0, NULL, NULL),
                     CL_SUCCESS);
    ck_assert_int_eq(starpu_opencl_release_kernel(kernel), CL_SUCCESS);
}

void insert(struct starpu_codelet *cl, starpu_data_handle_t handle, int worker)
{
    ck_assert_int_eq(starpu_task_insert(cl, STARPU_RW, handle,
                                        STARPU_EXECUTE_ON_WORKER, worker, 0),
                     0);
}
