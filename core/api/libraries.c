/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/libraries.c - vendors' libraries on workers: starpu_cublas.h and the
 * like. Called by the application, after starpu_init; without such devices, as on
 * a simulated machine, there is nothing to make or to end, and nothing is opened.
 */
#include <starpu.h>
#include <starpu_cublasLt.h>
#include <starpu_cublas_v2.h>
#include <starpu_cusolver.h>

#include <stdlib.h>

#include "core/api/api.h"
#include "core/device/gpu/handles.h"

/* What is done on one worker. */
struct call {
    struct gpu *driver;
    enum gpu_handle which;
};

static struct gpu *library_driver(const struct gpu_vendor *vendor)
{
    return orr_gpu_of(ORR_API_RUNTIME()->machine, vendor);
}

static _Noreturn void library_fail(enum gpu_handle which, const char *why)
{
    orr_log_error("%s cannot be used: %s", orr_gpu_library_title(which), why);
    abort();
}

static void library_handle_make(void *arg)
{
    const struct call *call = arg;
    int code =
        orr_gpu_handle_make(call->driver, call->which, starpu_worker_get_id());
    char text[40];

    if (!code)
        return;
    snprintf(text, sizeof(text), "no handle was made (%d)", code);
    library_fail(call->which, text);
}

static void library_handle_end(void *arg)
{
    const struct call *call = arg;

    orr_gpu_handle_end(call->driver, call->which, starpu_worker_get_id());
}

/* Calls the function on the calling thread, and on each of the driver's workers. */
static void on_workers(void (*what)(void *), struct call *call)
{
    const struct orr_machine *machine = call->driver->head.machine;
    unsigned workers[STARPU_NMAXWORKERS], n = 0;

    for (unsigned w = 0; w < machine->nworkers && w < STARPU_NMAXWORKERS; w++)
        if (machine->workers[w].driver == &call->driver->head)
            workers[n++] = w;
    what(call);
    starpu_execute_on_specific_workers(what, call, n, workers,
                                       orr_gpu_library_title(call->which));
}

static void library_init_on_workers(const struct gpu_vendor *vendor,
                                    enum gpu_handle which)
{
    struct call call = {library_driver(vendor), which};
    struct orr_error err;

    if (!call.driver)
        return;
    if (orr_gpu_library_open(which, &err) < 0)
        library_fail(which, err.text);
    on_workers(library_handle_make, &call);
}

static void shut_down(const struct gpu_vendor *vendor, enum gpu_handle which)
{
    struct call call = {library_driver(vendor), which};

    if (call.driver)
        on_workers(library_handle_end, &call);
}

static void *local(const struct gpu_vendor *vendor, enum gpu_handle which)
{
    struct gpu *driver = library_driver(vendor);

    return driver ? orr_gpu_handle_get(driver, which, starpu_worker_get_id())
                  : NULL;
}

/* -- cuBLAS -- */

void starpu_cublas_init(void)
{
    library_init_on_workers(&orr_gpu_cuda, GPU_CUBLAS);
}

void starpu_cublas_shutdown(void)
{
    shut_down(&orr_gpu_cuda, GPU_CUBLAS);
}

void starpu_cublas_set_stream(void)
{
    struct gpu *driver = library_driver(&orr_gpu_cuda);

    if (driver)
        orr_gpu_cublas_stream(driver, starpu_worker_get_id());
}

struct cublasContext *starpu_cublas_get_local_handle(void)
{
    return local(&orr_gpu_cuda, GPU_CUBLAS);
}

void starpu_cublasLt_init(void)
{
    library_init_on_workers(&orr_gpu_cuda, GPU_CUBLAS_LT);
}

void starpu_cublasLt_shutdown(void)
{
    shut_down(&orr_gpu_cuda, GPU_CUBLAS_LT);
}

struct cublasLtContext *starpu_cublasLt_get_local_handle(void)
{
    return local(&orr_gpu_cuda, GPU_CUBLAS_LT);
}

/* -- cuSPARSE -- */

void starpu_cusparse_init(void)
{
    library_init_on_workers(&orr_gpu_cuda, GPU_CUSPARSE);
}

void starpu_cusparse_shutdown(void)
{
    shut_down(&orr_gpu_cuda, GPU_CUSPARSE);
}

struct cusparseContext *starpu_cusparse_get_local_handle(void)
{
    return local(&orr_gpu_cuda, GPU_CUSPARSE);
}

/* -- cuSOLVER -- */

void starpu_cusolver_init(void)
{
    library_init_on_workers(&orr_gpu_cuda, GPU_CUSOLVER_DN);
    library_init_on_workers(&orr_gpu_cuda, GPU_CUSOLVER_SP);
    library_init_on_workers(&orr_gpu_cuda, GPU_CUSOLVER_RF);
}

void starpu_cusolver_shutdown(void)
{
    shut_down(&orr_gpu_cuda, GPU_CUSOLVER_DN);
    shut_down(&orr_gpu_cuda, GPU_CUSOLVER_SP);
    shut_down(&orr_gpu_cuda, GPU_CUSOLVER_RF);
}

struct cusolverDnContext *starpu_cusolverDn_get_local_handle(void)
{
    return local(&orr_gpu_cuda, GPU_CUSOLVER_DN);
}

struct cusolverSpContext *starpu_cusolverSp_get_local_handle(void)
{
    return local(&orr_gpu_cuda, GPU_CUSOLVER_SP);
}

starpu_cusolverRfHandle_t starpu_cusolverRf_get_local_handle(void)
{
    return local(&orr_gpu_cuda, GPU_CUSOLVER_RF);
}

/* -- hipBLAS -- */

void starpu_hipblas_init(void)
{
    library_init_on_workers(&orr_gpu_hip, GPU_HIPBLAS);
}

void starpu_hipblas_shutdown(void)
{
    shut_down(&orr_gpu_hip, GPU_HIPBLAS);
}

starpu_hipblasHandle_t starpu_hipblas_get_local_handle(void)
{
    return local(&orr_gpu_hip, GPU_HIPBLAS);
}
