/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/opencl/program.c - see opencl.h: programs, compiled for each
 * device that is used, and their binaries in files. Any thread that may block.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/result.h"
#include "core/device/opencl/opencl.h"

/* -- compiling -- */

static void opencl_report_error(const struct opencl_device *device,
                                const char *what, cl_int error)
{
    orr_log_error("opencl: %s for device %d (%s): %s (%d)", what,
                  device->number, device->name, opencl_error(error), error);
}

/* What the compiler says, also of what it compiles. */
static void print_log(const struct opencl_device *device, cl_program program)
{
    const struct opencl_api *cl = &device->driver->cl;
    size_t size = 0;
    char *text;

    if (cl->GetProgramBuildInfo(program, device->id, OPENCL_PROGRAM_BUILD_LOG,
                                0, NULL, &size) ||
        size <= 2)
        return;
    text = calloc(1, size + 1);
    if (text &&
        !cl->GetProgramBuildInfo(program, device->id, OPENCL_PROGRAM_BUILD_LOG,
                                 size, text, NULL))
        fprintf(stderr, "opencl: the compiler for device %d (%s) says:\n%s\n",
                device->number, device->name, text);
    free(text);
}

/* Builds what was created, or releases it. */
static int opencl_build_program(const struct opencl_device *device,
                                cl_program program, const char *options,
                                cl_program *ret)
{
    const struct opencl_api *cl = &device->driver->cl;
    cl_int error =
        cl->BuildProgram(program, 1, &device->id, options, NULL, NULL);

    print_log(device, program);
    if (error) {
        opencl_report_error(device, "a program does not compile", error);
        cl->ReleaseProgram(program);
        return 1;
    }
    *ret = program;
    return 0;
}

/* Nothing was made yet, for those after one that fails, too. */
static void forget_all(const struct opencl *driver,
                       struct starpu_opencl_program *program)
{
    for (unsigned i = 0; i < driver->ndevices; i++)
        program->programs[i] = NULL;
}

int orr_opencl_compile(struct opencl *driver, const char *source,
                       const char *options, struct starpu_opencl_program *ret)
{
    int failed = 0;

    forget_all(driver, ret);
    for (unsigned i = 0; i < driver->ndevices && !failed; i++) {
        const struct opencl_device *device = &driver->devices[i];
        cl_int error = 0;
        cl_program program;

        if (!device->used)
            continue;
        program = driver->cl.CreateProgramWithSource(device->context, 1,
                                                     &source, NULL, &error);
        if (error)
            opencl_report_error(device, "a program cannot be made", error);
        failed = error ? 1
                       : opencl_build_program(device, program, options,
                                              &ret->programs[i]);
    }
    return failed;
}

void orr_opencl_unload(struct opencl *driver,
                       const struct starpu_opencl_program *program)
{
    for (unsigned i = 0; i < driver->ndevices; i++)
        if (program->programs[i])
            driver->cl.ReleaseProgram(program->programs[i]);
}

/* -- binaries -- */

static const char *type_name(const struct opencl_device *device)
{
    if (device->type & OPENCL_DEVICE_TYPE_GPU)
        return "gpu";
    if (device->type & OPENCL_DEVICE_TYPE_ACCELERATOR)
        return "acc";
    return device->type & OPENCL_DEVICE_TYPE_CPU ? "cpu" : "unk";
}

/* <folder>/<base>.<type>.vendor_id_<id>_device_id_<d>, for free(); NULL: no
 * memory. The base is the file's name up to the first ".cl". */
static char *opencl_binary_path(const struct opencl_device *device,
                                const char *folder, const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *end = strstr(base, ".cl");
    int length = (int)(end ? (size_t)(end - base) : strlen(base));
    char *path;

    if (asprintf(&path, "%s/%.*s.%s.vendor_id_%d_device_id_%d", folder, length,
                 base, type_name(device), (int)device->vendor,
                 device->number) < 0)
        return NULL;
    return path;
}

/* The binary of a program for one device; for free(), NULL without. */
static unsigned char *binary_of(const struct opencl_device *device,
                                cl_program program, size_t *ret_size)
{
    const struct opencl_api *cl = &device->driver->cl;
    unsigned char *binary;

    if (cl->GetProgramInfo(program, OPENCL_PROGRAM_BINARY_SIZES,
                           sizeof(*ret_size), ret_size, NULL) ||
        *ret_size == 0)
        return NULL;
    binary = malloc(*ret_size);
    if (binary && cl->GetProgramInfo(program, OPENCL_PROGRAM_BINARIES,
                                     sizeof(binary), &binary, NULL)) {
        free(binary);
        return NULL;
    }
    return binary;
}

/* The compiler of binaries for the device, for free(); NULL: no memory. */
static char *opencl_binary_maker(const struct opencl_device *device)
{
    const struct opencl *driver = device->driver;
    char *platform =
        opencl_platform_text(driver, device->platform, OPENCL_PLATFORM_NAME);
    char *version =
        opencl_platform_text(driver, device->platform, OPENCL_PLATFORM_VERSION);
    char *name = opencl_device_text(device, OPENCL_DEVICE_NAME);
    char *own = opencl_device_text(device, OPENCL_DRIVER_VERSION);
    char *text;

    if (asprintf(&text, "platform %s, %s\ndevice %s\ndriver %s\n",
                 platform ? platform : "", version ? version : "",
                 name ? name : "", own ? own : "") < 0)
        text = NULL;
    free(platform);
    free(version);
    free(name);
    free(own);
    return text;
}

/* The file beside a binary that names its compiler, for free(). StarPU has
 * none: its names of binaries tell neither platforms nor versions apart. */
static char *maker_path(const char *path)
{
    char *beside;

    return asprintf(&beside, "%s.made-by", path) < 0 ? NULL : beside;
}

/* A binary without the other file is anybody's: that goes first, and comes last. */
static int write_binary(const struct opencl_device *device, const char *path,
                        const void *binary, size_t size)
{
    char *beside = maker_path(path), *maker = opencl_binary_maker(device);
    int rc = -ENOMEM;

    if (beside && maker) {
        unlink(beside);
        rc = orr_result_write(path, binary, size);
        if (!rc)
            rc = orr_result_write(beside, maker, strlen(maker));
    }
    free(beside);
    free(maker);
    return rc;
}

/* False: another platform, or another version of it, made the binary, which might
 * be taken for one of its own. */
static bool is_maker(const struct opencl_device *device, const char *path)
{
    char *beside = maker_path(path), *maker = opencl_binary_maker(device);
    size_t size;
    char *made_by = beside ? orr_opencl_read_file(beside, &size) : NULL;
    bool same = !made_by || (maker && strcmp(made_by, maker) == 0);

    free(beside);
    free(maker);
    free(made_by);
    return same;
}

static int keep_one(const struct opencl_device *device, const char *folder,
                    const char *name, cl_program program)
{
    char *path = opencl_binary_path(device, folder, name);
    size_t size = 0;
    unsigned char *binary = binary_of(device, program, &size);
    int rc =
        path && binary ? write_binary(device, path, binary, size) : -ENOMEM;

    if (!binary)
        orr_log_error("opencl: device %d (%s) gives no binary of `%s'",
                      device->number, device->name, name);
    else if (rc)
        orr_log_error("opencl: the binary of `%s' cannot be kept in %s: %s",
                      name, path ? path : folder, strerror(-rc));
    free(binary);
    free(path);
    return rc ? 1 : 0;
}

int orr_opencl_keep(struct opencl *driver, const char *folder, const char *name,
                    const struct starpu_opencl_program *program)
{
    for (unsigned i = 0; i < driver->ndevices; i++)
        if (driver->devices[i].used &&
            keep_one(&driver->devices[i], folder, name, program->programs[i]))
            return 1;
    return 0;
}

char *orr_opencl_read_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0, room = 0, got;

    if (!file)
        return NULL;
    do {
        if (size + 1 >= room) {
            char *more = realloc(text, room = room * 2 + 4096);

            if (!more)
                break;
            text = more;
        }
        got = fread(text + size, 1, room - 1 - size, file);
        size += got;
    } while (got > 0);
    if (!text || size + 1 > room || ferror(file)) {
        free(text);
        text = NULL;
    }
    fclose(file);
    if (text)
        text[size] = 0;
    *ret_size = size;
    return text;
}

static int load_one(const struct opencl_device *device, const char *folder,
                    const char *name, cl_program *ret)
{
    const struct opencl_api *cl = &device->driver->cl;
    char *path = opencl_binary_path(device, folder, name);
    size_t size = 0;
    char *bytes = path ? orr_opencl_read_file(path, &size) : NULL;
    const unsigned char *binary = (const unsigned char *)bytes;
    cl_int error = 0;
    cl_program program = NULL;

    if (!bytes)
        orr_log_error("opencl: no binary of `%s' was kept for device %d (%s): "
                      "%s: %s; starpu_opencl_compile_opencl_from_file makes it",
                      name, device->number, device->name, path ? path : folder,
                      strerror(errno));
    else if (!is_maker(device, path))
        orr_log_error("opencl: %s was made by another platform or another "
                      "version of it, as the file .made-by beside it says: "
                      "starpu_opencl_compile_opencl_from_file makes it anew",
                      path);
    else
        program = cl->CreateProgramWithBinary(device->context, 1, &device->id,
                                              &size, &binary, NULL, &error);
    free(bytes);
    free(path);
    if (error)
        opencl_report_error(device, "a binary that was kept is of no use",
                            error);
    if (error || !program)
        return 1;
    return opencl_build_program(device, program, NULL, ret);
}

int orr_opencl_load(struct opencl *driver, const char *folder, const char *name,
                    struct starpu_opencl_program *ret)
{
    forget_all(driver, ret);
    for (unsigned i = 0; i < driver->ndevices; i++)
        if (driver->devices[i].used &&
            load_one(&driver->devices[i], folder, name, &ret->programs[i]))
            return 1;
    return 0;
}

/* -- a kernel that does nothing -- */

/* The kernel keeps its program. */
static cl_int make_null_kernel(struct opencl_device *device)
{
    const struct opencl_api *cl = &device->driver->cl;
    const char *source = "__kernel void orrery_null(void) {}\n";
    cl_int error = 0;
    cl_program program =
        cl->CreateProgramWithSource(device->context, 1, &source, NULL, &error);

    if (error)
        return error;
    error = cl->BuildProgram(program, 1, &device->id, NULL, NULL, NULL);
    if (!error)
        device->null_kernel = cl->CreateKernel(program, "orrery_null", &error);
    cl->ReleaseProgram(program);
    return error;
}

int opencl_null_kernel(struct orr_driver *driver, unsigned worker)
{
    struct opencl *opencl = (struct opencl *)driver;
    struct opencl_device *device =
        orr_opencl_on_node(opencl, driver->machine->workers[worker].node);
    const size_t one = 1;
    cl_int error = device->null_kernel ? 0 : make_null_kernel(device);

    if (!error)
        error = opencl->cl.EnqueueNDRangeKernel(
            device->queues[ORR_QUEUE_KERNELS].queue, device->null_kernel, 1,
            NULL, &one, NULL, 0, NULL, NULL);
    if (error)
        opencl_report_error(
            device, "a kernel that does nothing cannot be started", error);
    return opencl_errno(error);
}
