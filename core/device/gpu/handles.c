/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/device/gpu/handles.c - see handles.h. What was found in libraries is the
 * process's, as they are; handles are the driver's. */
#include "core/device/gpu/handles.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef int (*make_t)(void **ret);
typedef int (*end_t)(void *handle);
typedef int (*stream_t)(void *handle, gpu_stream_t stream);

/* Names of its functions; without `stream` handles have none. */
struct library {
    const char *title;
    const char *files[6];
    const char *make, *end, *stream;
};

static const struct library libraries[GPU_HANDLES] = {
    [GPU_CUBLAS] = {"cuBLAS",
                    {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                     "libcublas.so"},
                    "cublasCreate_v2",
                    "cublasDestroy_v2",
                    "cublasSetStream_v2"},
    [GPU_CUBLAS_LT] = {"cuBLASLt",
                       {"libcublasLt.so.13", "libcublasLt.so.12",
                        "libcublasLt.so.11", "libcublasLt.so"},
                       "cublasLtCreate",
                       "cublasLtDestroy",
                       NULL},
    [GPU_CUSPARSE] = {"cuSPARSE",
                      {"libcusparse.so.12", "libcusparse.so.11",
                       "libcusparse.so"},
                      "cusparseCreate",
                      "cusparseDestroy",
                      "cusparseSetStream"},
    [GPU_CUSOLVER_DN] = {"cuSOLVER",
                         {"libcusolver.so.12", "libcusolver.so.11",
                          "libcusolver.so"},
                         "cusolverDnCreate",
                         "cusolverDnDestroy",
                         "cusolverDnSetStream"},
    [GPU_CUSOLVER_SP] = {"cuSOLVER (sparse)",
                         {"libcusolver.so.12", "libcusolver.so.11",
                          "libcusolver.so"},
                         "cusolverSpCreate",
                         "cusolverSpDestroy",
                         "cusolverSpSetStream"},
    [GPU_CUSOLVER_RF] = {"cuSOLVER (refactorisation)",
                         {"libcusolver.so.12", "libcusolver.so.11",
                          "libcusolver.so"},
                         "cusolverRfCreate",
                         "cusolverRfDestroy",
                         NULL},
    [GPU_HIPBLAS] = {"hipBLAS",
                     {"libhipblas.so.3", "libhipblas.so.2", "libhipblas.so.1",
                      "libhipblas.so.0", "libhipblas.so"},
                     "hipblasCreate",
                     "hipblasDestroy",
                     "hipblasSetStream"},
};

/* -- functions -- */

static struct {
    make_t make;
    end_t end;
    stream_t stream;
    int (*first_stream)(gpu_stream_t); /* of cuBLAS' first version */
} found[GPU_HANDLES];

static void *open_one(const struct library *library)
{
    void *handle = NULL;

    for (unsigned i = 0; library->files[i] && !handle; i++)
        handle =
            dlopen(library->files[i], RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    return handle;
}

/* POSIX guarantees that a function pointer fits; ISO C has no cast for it. */
static bool library_find_function(void *library, const char *name, void *ret)
{
    void *symbol = name ? dlsym(library, name) : NULL;

    if (symbol)
        memcpy(ret, &symbol, sizeof(symbol));
    return symbol || !name;
}

int orr_gpu_library_open(enum gpu_handle which, struct orr_error *err)
{
    const struct library *library = &libraries[which];
    void *handle = RTLD_DEFAULT; /* NULL */
    bool loaded = dlsym(RTLD_DEFAULT, library->make) != NULL;

    if (found[which].make)
        return 0;
    if (!loaded)
        handle = open_one(library);
    if (!loaded && !handle)
        return orr_fail(err, -ENOENT,
                        "there is no %s: %s and other versions were looked for",
                        library->title, library->files[0]);
    if (!library_find_function(handle, library->end, &found[which].end) ||
        !library_find_function(handle, library->stream, &found[which].stream) ||
        !library_find_function(handle, library->make, &found[which].make))
        return orr_fail(err, -ENOENT, "this %s lacks %s, %s or %s",
                        library->title, library->make, library->end,
                        library->stream ? library->stream : "both");
    if (which == GPU_CUBLAS)
        (void)library_find_function(handle, "cublasSetKernelStream",
                                    &found[GPU_CUBLAS].first_stream);
    return 0;
}

const char *orr_gpu_library_title(enum gpu_handle which)
{
    return libraries[which].title;
}

/* -- handles -- */

/* Workers by number, and behind them one slot for all threads that are no
 * workers. */
static void **gpu_handle_slot(struct gpu *driver, enum gpu_handle which,
                              int worker)
{
    unsigned n = driver->head.machine->nworkers;

    if (!driver->handles[which])
        return NULL;
    return &driver->handles[which][worker < 0 ? n : (unsigned)worker];
}

int orr_gpu_handle_make(struct gpu *driver, enum gpu_handle which, int worker)
{
    struct gpu_worker *self =
        worker < 0 ? NULL : orr_gpu_worker(driver, (unsigned)worker);
    void **place, *handle;
    int code;

    /* The first call is that of a thread that is no worker. */
    if (!driver->handles[which])
        driver->handles[which] = calloc(driver->head.machine->nworkers + 1,
                                        sizeof(*driver->handles[which]));
    place = gpu_handle_slot(driver, which, worker);
    if (!place || *place)
        return place ? 0 : -ENOMEM;
    code = found[which].make(&handle);
    if (code)
        return code;
    *place = handle;
    return self && found[which].stream
               ? found[which].stream(handle, self->kernels.stream)
               : 0;
}

void orr_gpu_handle_end(struct gpu *driver, enum gpu_handle which, int worker)
{
    void **place = gpu_handle_slot(driver, which, worker);

    if (!place || !*place)
        return;
    (void)found[which].end(*place);
    *place = NULL;
}

void *orr_gpu_handle_get(struct gpu *driver, enum gpu_handle which, int worker)
{
    void **place = gpu_handle_slot(driver, which, worker);

    return place ? *place : NULL;
}

void orr_gpu_cublas_stream(struct gpu *driver, int worker)
{
    struct gpu_worker *self = orr_gpu_worker(driver, (unsigned)worker);

    if (self && found[GPU_CUBLAS].first_stream)
        (void)found[GPU_CUBLAS].first_stream(self->kernels.stream);
}
