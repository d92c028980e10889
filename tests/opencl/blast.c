/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/opencl/blast.c - a product of matrices by CLBlast, a library of others.
 * usage: blast [check] */
#define CL_TARGET_OPENCL_VERSION 120
#include <clblast_c.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

static cl_mem upload(cl_context context, const float *values)
{
    return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          N * N * sizeof(*values), (void *)(uintptr_t)values, NULL);
}

static float worst(const float *a, const float *b, const float *got)
{
    float most = 0;

    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            float sum = 0;

            for (int k = 0; k < N; k++)
                sum += a[y * N + k] * b[k * N + x];
            most = fmaxf(most, fabsf(sum - got[y * N + x]));
        }
    return most;
}

int main(int argc, char **argv)
{
    static float a[N * N], b[N * N], got[N * N];
    cl_platform_id platform;
    cl_device_id device;
    cl_command_queue queue;
    cl_context context;
    cl_mem mems[3];
    int rc;

    (void)argv;
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
    }
    if (clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return 1;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    mems[0] = upload(context, a);
    mems[1] = upload(context, b);
    mems[2] = upload(context, got);
    rc = (int)CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, N, N, N,
                           1, mems[0], 0, N, mems[1], 0, N, 0, mems[2], 0, N, &queue, NULL);
    if (rc)
        printf("CLBlastSgemm: %d\n", rc);
    if (!rc)
        rc = clEnqueueReadBuffer(queue, mems[2], CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL);
    if (!rc && argc > 1)
        rc = worst(a, b, got) > 1e-2f;
    puts(rc ? "WRONG" : "right");
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(mems[i]);
    CLBlastClearCache();
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return rc != 0;
}
