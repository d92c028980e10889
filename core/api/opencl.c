/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* So that the compiler sees our declarations beside Khronos' types. */
#undef _ORR_LEAN
/*
 * core/api/opencl.c - starpu_opencl.h on the driver of the running machine. A
 * machine without one, such as a simulated one, has no device in use: nothing
 * is compiled, and there are no contexts. Any thread, if it may block.
 */
#include "starpu_opencl.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/api/api.h"
#include "core/base/installed.h"
#include "core/device/opencl/opencl.h"
#include "perfmodel/sampling.h"

/* NULL: the machine has none. */
#define DRIVER() orr_opencl_of(ORR_API_RUNTIME()->machine)

/* The machine's driver; ends the program with a message if there is none. */
static struct opencl *opencl_driver_needed(const char *call)
{
    struct opencl *driver = orr_opencl_of(orr_runtime_need(call)->machine);

    if (driver)
        return driver;
    orr_log_error("%s: this machine has no OpenCL device in use: ask "
                  "starpu_opencl_worker_get_count() first",
                  call);
    abort();
}

/* -- devices -- */

static struct opencl_device *opencl_device_of_id(int devid)
{
    struct opencl *driver = DRIVER();

    return driver && devid >= 0 && (unsigned)devid < driver->ndevices
               ? &driver->devices[devid]
               : NULL;
}

/* The device of the calling worker; NULL: it has none. */
static struct opencl_device *current_device(void)
{
    struct opencl *driver = DRIVER();

    return driver ? orr_opencl_on_node(driver, orr_api_local_node()) : NULL;
}

static cl_command_queue queue_of(const struct opencl_device *device)
{
    return device ? device->queues[ORR_QUEUE_KERNELS].queue : NULL;
}

void starpu_opencl_get_context(int devid, cl_context *context)
{
    const struct opencl_device *device = opencl_device_of_id(devid);

    *context = device ? device->context : NULL;
}

void starpu_opencl_get_device(int devid, cl_device_id *device)
{
    const struct opencl_device *found = opencl_device_of_id(devid);

    *device = found ? found->id : NULL;
}

void starpu_opencl_get_queue(int devid, cl_command_queue *queue)
{
    *queue = queue_of(opencl_device_of_id(devid));
}

void starpu_opencl_get_current_context(cl_context *context)
{
    const struct opencl_device *device = current_device();

    *context = device ? device->context : NULL;
}

void starpu_opencl_get_current_queue(cl_command_queue *queue)
{
    *queue = queue_of(current_device());
}

/* -- sources -- */

/* The path under which a source can be read, for free(); ends the program. */
static char *locate(const char *call, const char *name)
{
    struct orr_runtime *rt = orr_runtime_need(call);
    const char *own =
        orr_config_string(&rt->config, ORR_CFG_OPENCL_PROGRAM_DIR);
    char data[PATH_MAX], installed[PATH_MAX + sizeof("/starpu/opencl")];
    const char *const folders[] = {own, installed};
    char *path;

    snprintf(installed, sizeof(installed), "%s/starpu/opencl", orr_data_directory(data));

    if (access(name, R_OK) == 0 && (path = strdup(name)))
        return path;
    for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (!folders[i] || asprintf(&path, "%s/%s", folders[i], name) < 0)
            continue;
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    orr_log_error("%s: there is no file `%s', nor one in %s or %s: give a path "
                  "that can be read, or set STARPU_OPENCL_PROGRAM_DIR",
                  call, name, own ? own : "STARPU_OPENCL_PROGRAM_DIR",
                  folders[1]);
    abort();
}

/* The path up to its last slash. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup("");
}

static void load_source(const char *call, const char *name, char **path,
                        char **folder, char **text)
{
    size_t size;

    *path = locate(call, name);
    *folder = folder_of(*path);
    *text = orr_opencl_read_file(*path, &size);
    if (*folder && *text)
        return;
    orr_log_error("%s: %s: %s", call, *path, strerror(errno));
    abort();
}

void starpu_opencl_load_program_source_malloc(const char *source_file_name,
                                              char **located_file_name,
                                              char **located_dir_name,
                                              char **opencl_program_source)
{
    load_source(__func__, source_file_name, located_file_name, located_dir_name,
                opencl_program_source);
}

/* Writes the text to an array of the caller's whose size the interface fixes. Text that
 * is too long is cut, with a message. */
static void store(char *to, size_t size, const char *text, const char *name)
{
    if (strlen(text) >= size)
        orr_log_error("starpu_opencl_load_program_source: `%s' has more than "
                      "%zu bytes, what follows is cut: call "
                      "starpu_opencl_load_program_source_malloc",
                      name, size - 1);
    snprintf(to, size, "%s", text);
}

void starpu_opencl_load_program_source(const char *source_file_name,
                                       char *located_file_name,
                                       char *located_dir_name,
                                       char *opencl_program_source)
{
    char *path, *folder, *text;

    load_source(__func__, source_file_name, &path, &folder, &text);
    store(located_file_name, 1024, path, source_file_name);
    store(located_dir_name, 1024, folder, source_file_name);
    store(opencl_program_source, 16384, text, source_file_name);
    free(path);
    free(folder);
    free(text);
}

/* -- programs -- */

int starpu_opencl_load_opencl_from_string(
    const char *opencl_program_source,
    struct starpu_opencl_program *opencl_programs, const char *build_options)
{
    struct opencl *driver = DRIVER();

    return driver ? orr_opencl_compile(driver, opencl_program_source,
                                       build_options, opencl_programs)
                  : 0;
}

/* What the file includes is beside it. */
static char *options_for(const char *folder, const char *options)
{
    char *all;

    if (asprintf(&all, "%s%s%s%s", *folder ? "-I " : "", folder,
                 *folder ? " " : "", options ? options : "") < 0)
        return NULL;
    return all;
}

/* Compiles a file. The binaries that are kept get the file's name. */
static int from_file(const char *call, const char *name,
                     struct starpu_opencl_program *programs,
                     const char *options)
{
    struct opencl *driver = orr_opencl_of(orr_runtime_need(call)->machine);
    char *path, *folder, *text, *all;
    int failed;

    if (!driver)
        return 0;
    load_source(call, name, &path, &folder, &text);
    all = options_for(folder, options);
    failed = all ? orr_opencl_compile(driver, text, all, programs) : 1;
    free(path);
    free(folder);
    free(text);
    free(all);
    return failed;
}

int starpu_opencl_load_opencl_from_file(
    const char *source_file_name, struct starpu_opencl_program *opencl_programs,
    const char *build_options)
{
    return from_file(__func__, source_file_name, opencl_programs,
                     build_options);
}

/* <home>/.starpu/opencl, which is made; for free(). */
static char *kept_folder(void)
{
    const char *home = orr_sampling_home(orr_getenv);
    char *folder;

    if (asprintf(&folder, "%s/.starpu", home) < 0)
        return NULL;
    (void)mkdir(home, 0700);
    (void)mkdir(folder, 0700);
    free(folder);
    if (asprintf(&folder, "%s/.starpu/opencl", home) < 0)
        return NULL;
    (void)mkdir(folder, 0700);
    return folder;
}

/* Stores the binaries of the programs under `name`, and releases the programs. */
static int opencl_keep_binaries(const char *name, int failed,
                                const struct starpu_opencl_program *programs)
{
    struct opencl *driver = DRIVER();
    char *folder;

    if (!driver)
        return 0;
    folder = kept_folder();
    if (!failed)
        failed = folder ? orr_opencl_keep(driver, folder, name, programs) : 1;
    free(folder);
    orr_opencl_unload(driver, programs);
    return failed;
}

int starpu_opencl_compile_opencl_from_file(const char *source_file_name,
                                           const char *build_options)
{
    struct starpu_opencl_program programs = {{NULL}};
    int failed =
        from_file(__func__, source_file_name, &programs, build_options);

    return opencl_keep_binaries(source_file_name, failed, &programs);
}

int starpu_opencl_compile_opencl_from_string(const char *opencl_program_source,
                                             const char *file_name,
                                             const char *build_options)
{
    struct starpu_opencl_program programs = {{NULL}};
    int failed = starpu_opencl_load_opencl_from_string(
        opencl_program_source, &programs, build_options);

    return opencl_keep_binaries(file_name, failed, &programs);
}

int starpu_opencl_load_binary_opencl(
    const char *kernel_id, struct starpu_opencl_program *opencl_programs)
{
    struct opencl *driver = DRIVER();
    char *folder;
    int failed;

    if (!driver)
        return 0;
    folder = kept_folder();
    failed = folder
                 ? orr_opencl_load(driver, folder, kernel_id, opencl_programs)
                 : 1;
    free(folder);
    return failed;
}

int starpu_opencl_unload_opencl(struct starpu_opencl_program *opencl_programs)
{
    struct opencl *driver = DRIVER();

    if (driver)
        orr_opencl_unload(driver, opencl_programs);
    return 0;
}

/* -- kernels -- */

int starpu_opencl_load_kernel(cl_kernel *kernel, cl_command_queue *queue,
                              struct starpu_opencl_program *opencl_programs,
                              const char *kernel_name, int devid)
{
    const struct opencl_device *device = opencl_device_of_id(devid);
    cl_program program = device ? opencl_programs->programs[devid] : NULL;
    cl_int error = 0;

    *queue = queue_of(device);
    if (!program) {
        orr_log_error("%s: no program with kernel `%s' was compiled for OpenCL "
                      "device %d",
                      __func__, kernel_name, devid);
        return OPENCL_INVALID_PROGRAM;
    }
    *kernel = device->driver->cl.CreateKernel(program, kernel_name, &error);
    if (!error)
        return OPENCL_SUCCESS;
    orr_log_error("%s: kernel `%s' for OpenCL device %d (%s): %s (%d)",
                  __func__, kernel_name, devid, device->name,
                  opencl_error(error), error);
    abort();
}

int starpu_opencl_release_kernel(cl_kernel kernel)
{
    return opencl_driver_needed(__func__)->cl.ReleaseKernel(kernel);
}

int starpu_opencl_set_kernel_args(cl_int *err, cl_kernel *kernel, ...)
{
    const struct opencl_api *cl = &opencl_driver_needed(__func__)->cl;
    int size, i = 0;
    va_list list;

    va_start(list, kernel);
    while ((size = va_arg(list, int)) > 0) {
        cl_int error = cl->SetKernelArg(*kernel, (uint32_t)i, (size_t)size,
                                        va_arg(list, void *));

        if (error) {
            *err = error;
            break;
        }
        i++;
    }
    va_end(list);
    return i;
}

int starpu_opencl_collect_stats(cl_event event)
{
    (void)event;
    return 0;
}

/* -- memory and copies -- */

cl_int starpu_opencl_allocate_memory(int devid, cl_mem *addr, size_t size,
                                     cl_mem_flags flags)
{
    struct opencl_device *device = opencl_device_of_id(devid);

    return device && device->used
               ? orr_opencl_alloc(device, size, flags, true, addr)
               : OPENCL_INVALID_DEVICE;
}

static cl_int opencl_copy_bytes(const char *call,
                                const struct orr_raw_copy *raw, cl_event *event,
                                int *ret)
{
    cl_int error = orr_opencl_copy(opencl_driver_needed(call), raw, event);

    if (ret)
        *ret = error ? opencl_errno(error) : event ? -EAGAIN : 0;
    return error;
}

cl_int starpu_opencl_copy_ram_to_opencl(void *ptr, unsigned src_node,
                                        cl_mem buffer, unsigned dst_node,
                                        size_t size, size_t offset,
                                        cl_event *event, int *ret)
{
    const struct orr_raw_copy raw = {.src = (uintptr_t)ptr,
                                     .dst = (uintptr_t)buffer,
                                     .dst_offset = offset,
                                     .src_node = src_node,
                                     .dst_node = dst_node,
                                     .size = size};

    return opencl_copy_bytes(__func__, &raw, event, ret);
}

cl_int starpu_opencl_copy_opencl_to_ram(cl_mem buffer, unsigned src_node,
                                        void *ptr, unsigned dst_node,
                                        size_t size, size_t offset,
                                        cl_event *event, int *ret)
{
    const struct orr_raw_copy raw = {.src = (uintptr_t)buffer,
                                     .dst = (uintptr_t)ptr,
                                     .src_offset = offset,
                                     .src_node = src_node,
                                     .dst_node = dst_node,
                                     .size = size};

    return opencl_copy_bytes(__func__, &raw, event, ret);
}

cl_int starpu_opencl_copy_opencl_to_opencl(cl_mem src, unsigned src_node,
                                           size_t src_offset, cl_mem dst,
                                           unsigned dst_node, size_t dst_offset,
                                           size_t size, cl_event *event,
                                           int *ret)
{
    const struct orr_raw_copy raw = {.src = (uintptr_t)src,
                                     .dst = (uintptr_t)dst,
                                     .src_offset = src_offset,
                                     .dst_offset = dst_offset,
                                     .src_node = src_node,
                                     .dst_node = dst_node,
                                     .size = size};

    return opencl_copy_bytes(__func__, &raw, event, ret);
}

cl_int starpu_opencl_copy_async_sync(uintptr_t src, size_t src_offset,
                                     unsigned src_node, uintptr_t dst,
                                     size_t dst_offset, unsigned dst_node,
                                     size_t size, cl_event *event)
{
    const struct orr_raw_copy raw = {.src = src,
                                     .dst = dst,
                                     .src_offset = src_offset,
                                     .dst_offset = dst_offset,
                                     .src_node = src_node,
                                     .dst_node = dst_node,
                                     .size = size};
    int result;
    cl_int error = opencl_copy_bytes(__func__, &raw, event, &result);

    if (!error)
        return result;
    orr_log_error("%s: %zu bytes from memory node %u to %u: %s (%d)", __func__,
                  size, src_node, dst_node, opencl_error(error), error);
    abort();
}

/* -- errors -- */

const char *starpu_opencl_error_string(cl_int status)
{
    return opencl_error(status);
}

void starpu_opencl_display_error(const char *func, const char *file, int line,
                                 const char *msg, cl_int status)
{
    fprintf(stderr,
            "[starpu][starpu_opencl_display_error] oops in %s (%s:%d) (%s) ... "
            "<%s> (%d) \n",
            func, file, line, msg ? msg : "(null)", opencl_error(status),
            status);
}
