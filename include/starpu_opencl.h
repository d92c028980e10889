/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_opencl.h - programs, kernels, buffers and queues for codelets'
 * opencl_funcs. All functions are there in any build of the library, which
 * opens OpenCL when it runs; where the compiler finds Khronos' header, it is
 * included, and STARPU_USE_OPENCL is defined. Devices are named by their
 * number, which starpu_worker_get_devid() and starpu_memory_node_get_devid()
 * return.
 *
 * A codelet's function gets the buffer of a piece of data from
 * STARPU_<INTERFACE>_GET_DEV_HANDLE (a cl_mem) and the first byte of the data
 * in it from STARPU_<INTERFACE>_GET_OFFSET, which is not 0 for parts of data:
 * it hands both to its kernel, and puts that into the queue of its device. It
 * waits for the kernel's end, unless the codelet's opencl_flags say
 * STARPU_OPENCL_ASYNC.
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu_config.h>

#ifdef STARPU_USE_OPENCL
#    ifndef CL_TARGET_OPENCL_VERSION
#        define CL_TARGET_OPENCL_VERSION 100
#    endif
#    ifdef __APPLE__
#        include <OpenCL/cl.h>
#    else
#        include <CL/cl.h>
#    endif
#else
/* The same types as in Khronos' header. */
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;
typedef int32_t cl_int;
typedef uint64_t cl_mem_flags;
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -- devices; any thread -- */

/* The context of a device, lent; NULL for a number that no device has, and for a
 * device without worker. */
void starpu_opencl_get_context(int devid, cl_context *context);
/* OpenCL's own number of the device, lent; NULL for a number that no device has. */
void starpu_opencl_get_device(int devid, cl_device_id *device);
/* The queue of a device's kernels, lent; NULL as for contexts. */
void starpu_opencl_get_queue(int devid, cl_command_queue *queue);

/* The context of the calling worker's device, lent; NULL elsewhere. */
void starpu_opencl_get_current_context(cl_context *context);
/* The queue of the calling worker's kernels, lent; NULL elsewhere. */
void starpu_opencl_get_current_queue(cl_command_queue *queue);

/* -- programs; any thread that may block -- */

/* A compiled program, by number of device; NULL: there is none. The
 * application may fill it by itself. */
struct starpu_opencl_program {
    cl_program programs[STARPU_MAXOPENCLDEVS];
};

/* Finds a source file: the name as it is, then in the folder
 * STARPU_OPENCL_PROGRAM_DIR, then in share/starpu/opencl of the installation. Its
 * path, its folder with the last slash ("" without), and its text go to arrays of
 * the caller, of 1024, 1024 and 16384 bytes: what is longer is cut, with a message.
 * A file that is found nowhere ends the program with a message. */
void starpu_opencl_load_program_source(const char *source_file_name,
                                       char *located_file_name,
                                       char *located_dir_name,
                                       char *opencl_program_source);
/* The same in texts of any length, which the caller free()s. */
void starpu_opencl_load_program_source_malloc(const char *source_file_name,
                                              char **located_file_name,
                                              char **located_dir_name,
                                              char **opencl_program_source);

/* Compiles a source file, found as above, for each device that has a worker.
 * `build_options` are the compiler's, or NULL; the file's folder is searched for
 * what it includes. The compiler's messages are printed. 0; without OpenCL workers
 * it does nothing. 1: it does not compile, or there is no memory. */
int starpu_opencl_load_opencl_from_file(
    const char *source_file_name, struct starpu_opencl_program *opencl_programs,
    const char *build_options);
/* The same of a text. */
int starpu_opencl_load_opencl_from_string(
    const char *opencl_program_source,
    struct starpu_opencl_program *opencl_programs, const char *build_options);

/* Compiles, and keeps the binary of each device in a file of <home>/.starpu/opencl,
 * whose name has that of the source. Results as above. */
int starpu_opencl_compile_opencl_from_file(const char *source_file_name,
                                           const char *build_options);
/* The same of a text; the binaries are kept under file_name. */
int starpu_opencl_compile_opencl_from_string(const char *opencl_program_source,
                                             const char *file_name,
                                             const char *build_options);

/* Reads what compile has kept under that name. 1: there is none, with a
 * message. */
int starpu_opencl_load_binary_opencl(
    const char *kernel_id, struct starpu_opencl_program *opencl_programs);

/* Releases the programs, once. 0. */
int starpu_opencl_unload_opencl(struct starpu_opencl_program *opencl_programs);

/* -- kernels -- */

/* A kernel of the program for a device, and that device's queue. CL_SUCCESS, or
 * CL_INVALID_PROGRAM with a message when there is no program for it; a program
 * without such a kernel ends the run with a message. */
int starpu_opencl_load_kernel(cl_kernel *kernel, cl_command_queue *queue,
                              struct starpu_opencl_program *opencl_programs,
                              const char *kernel_name, int devid);
/* May follow at once on what enqueues it. CL_SUCCESS. */
int starpu_opencl_release_kernel(cl_kernel kernel);

/* Sets the kernel's arguments from the first one on: (size, pointer) pairs, and
 * a 0. How many were set; or, on failure, the number of the culprit, with its
 * code in *err, which is left alone otherwise. */
int starpu_opencl_set_kernel_args(cl_int *err, cl_kernel *kernel, ...);

/* Of an event that has happened: adds what vendors' headers measure (cycles,
 * energy) to the profiling of the calling task. Khronos' headers measure none,
 * so that nothing is added. 0. */
int starpu_opencl_collect_stats(cl_event event);

/* -- memory and copies -- */

/* A buffer whose memory is there at once. The code of clCreateBuffer or of the
 * first write; CL_INVALID_DEVICE for a device without worker. The caller
 * releases it. */
cl_int starpu_opencl_allocate_memory(int devid, cl_mem *addr, size_t size,
                                     cl_mem_flags flags);

/* Copies `size` bytes from main memory to a buffer of the device whose memory
 * dst_node is, `offset` bytes after its start. Without `event` it waits, and *ret is
 * 0; else the event is stored, which the caller releases, and *ret is -EAGAIN. `ret`
 * may be NULL. Returns the code of what was enqueued. */
cl_int starpu_opencl_copy_ram_to_opencl(void *ptr, unsigned src_node,
                                        cl_mem buffer, unsigned dst_node,
                                        size_t size, size_t offset,
                                        cl_event *event, int *ret);
/* The same the other way. */
cl_int starpu_opencl_copy_opencl_to_ram(cl_mem buffer, unsigned src_node,
                                        void *ptr, unsigned dst_node,
                                        size_t size, size_t offset,
                                        cl_event *event, int *ret);
/* The same within a device: both nodes are its memory. */
cl_int starpu_opencl_copy_opencl_to_opencl(cl_mem src, unsigned src_node,
                                           size_t src_offset, cl_mem dst,
                                           unsigned dst_node, size_t dst_offset,
                                           size_t size, cl_event *event,
                                           int *ret);
/* The one of them that fits the nodes. 0 or -EAGAIN; an error ends the program
 * with a message. */
cl_int starpu_opencl_copy_async_sync(uintptr_t src, size_t src_offset,
                                     unsigned src_node, uintptr_t dst,
                                     size_t dst_offset, unsigned dst_node,
                                     size_t size, cl_event *event);

/* -- errors -- */

/* The code in words, "Invalid kernel name". A constant. */
const char *starpu_opencl_error_string(cl_int status);

/* Prints where it happened, `msg` and the code in words to stderr. */
void starpu_opencl_display_error(const char *func, const char *file, int line,
                                 const char *msg, cl_int status);
#define STARPU_OPENCL_DISPLAY_ERROR(status)                                    \
    starpu_opencl_display_error(__starpu_func__, __FILE__, __LINE__, NULL,     \
                                status)

/* The same, and stops. */
void starpu_opencl_report_error(const char *func, const char *file, int line,
                                const char *msg, cl_int status);
_ORR_INLINE void starpu_opencl_report_error(const char *func, const char *file,
                                            int line, const char *msg,
                                            cl_int status)
{
    starpu_opencl_display_error(func, file, line, msg, status);
    assert(0);
}
#define STARPU_OPENCL_REPORT_ERROR(status)                                     \
    starpu_opencl_report_error(__starpu_func__, __FILE__, __LINE__, NULL,      \
                               status)
#define STARPU_OPENCL_REPORT_ERROR_WITH_MSG(msg, status)                       \
    starpu_opencl_report_error(__starpu_func__, __FILE__, __LINE__, msg, status)

#ifdef __cplusplus
}
#endif
