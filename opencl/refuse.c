/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/refuse.c - functions that this implementation does not have: images, samplers,
 * pipes, shared virtual memory, other libraries' objects, programs in intermediate languages.
 * They answer CL_INVALID_OPERATION, so that nothing crashes in the loader.
 */
#include <stddef.h>
#include <string.h>

#include "opencl/socl.h"

/* In the place of all that return a code or nothing: these take their arguments in registers
 * or on the caller's stack, and need not be looked at. */
static cl_int CL_API_CALL refuse(void)
{
    return CL_INVALID_OPERATION;
}

/* Those that return an object have a code as the last argument. */
static cl_mem CL_API_CALL image_2d(cl_context context, cl_mem_flags flags,
                                   const cl_image_format *format, size_t width, size_t height,
                                   size_t row, void *host, cl_int *error)
{
    (void)context, (void)flags, (void)format, (void)width, (void)height, (void)row, (void)host;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_mem CL_API_CALL image_3d(cl_context context, cl_mem_flags flags,
                                   const cl_image_format *format, size_t width, size_t height,
                                   size_t depth, size_t row, size_t slice, void *host,
                                   cl_int *error)
{
    (void)context, (void)flags, (void)format, (void)width, (void)height, (void)depth;
    (void)row, (void)slice, (void)host;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_mem CL_API_CALL image(cl_context context, cl_mem_flags flags,
                                const cl_image_format *format, const cl_image_desc *desc,
                                void *host, cl_int *error)
{
    (void)context, (void)flags, (void)format, (void)desc, (void)host;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_mem CL_API_CALL image_with(cl_context context, const cl_mem_properties *properties,
                                     cl_mem_flags flags, const cl_image_format *format,
                                     const cl_image_desc *desc, void *host, cl_int *error)
{
    (void)properties;
    return image(context, flags, format, desc, host, error);
}

static void *CL_API_CALL map_image(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                   cl_map_flags flags, const size_t *origin,
                                   const size_t *region, size_t *row, size_t *slice, cl_uint n,
                                   const cl_event *waits, cl_event *event, cl_int *error)
{
    (void)queue, (void)mem, (void)blocking, (void)flags, (void)origin, (void)region, (void)row;
    (void)slice, (void)n, (void)waits, (void)event;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_int CL_API_CALL image_formats(cl_context context, cl_mem_flags flags,
                                        cl_mem_object_type type, cl_uint n,
                                        cl_image_format *formats, cl_uint *ret_n)
{
    (void)flags, (void)type, (void)n, (void)formats;
    if (!socl_is(context))
        return CL_INVALID_CONTEXT;
    if (ret_n)
        *ret_n = 0;
    return CL_SUCCESS;
}

static cl_sampler CL_API_CALL sampler(cl_context context, cl_bool normalized,
                                      cl_addressing_mode mode, cl_filter_mode filter,
                                      cl_int *error)
{
    (void)context, (void)normalized, (void)mode, (void)filter;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_sampler CL_API_CALL sampler_with(cl_context context,
                                           const cl_sampler_properties *properties,
                                           cl_int *error)
{
    (void)context, (void)properties;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_mem CL_API_CALL pipe_of(cl_context context, cl_mem_flags flags, cl_uint size,
                                  cl_uint most, const cl_pipe_properties *properties,
                                  cl_int *error)
{
    (void)context, (void)flags, (void)size, (void)most, (void)properties;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static void *CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, size_t size,
                                   cl_uint alignment)
{
    (void)context, (void)flags, (void)size, (void)alignment;
    return NULL;
}

static cl_program CL_API_CALL program_with_il(cl_context context, const void *il, size_t length,
                                              cl_int *error)
{
    (void)context, (void)il, (void)length;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_mem CL_API_CALL gl_buffer(cl_context context, cl_mem_flags flags, cl_GLuint buffer,
                                    int *error)
{
    (void)context, (void)flags, (void)buffer;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_mem CL_API_CALL gl_texture(cl_context context, cl_mem_flags flags, cl_GLenum target,
                                     cl_GLint level, cl_GLuint texture, cl_int *error)
{
    (void)context, (void)flags, (void)target, (void)level, (void)texture;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_event CL_API_CALL gl_sync(cl_context context, cl_GLsync sync, cl_int *error)
{
    (void)context, (void)sync;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_mem CL_API_CALL egl_image(cl_context context, CLeglDisplayKHR display,
                                    CLeglImageKHR from, cl_mem_flags flags,
                                    const cl_egl_image_properties_khr *properties,
                                    cl_int *error)
{
    (void)context, (void)display, (void)from, (void)flags, (void)properties;
    return socl_fail(error, CL_INVALID_OPERATION);
}

static cl_event CL_API_CALL egl_sync(cl_context context, CLeglSyncKHR sync,
                                     CLeglDisplayKHR display, cl_int *error)
{
    (void)context, (void)sync, (void)display;
    return socl_fail(error, CL_INVALID_OPERATION);
}

void socl_fill_refusals(cl_icd_dispatch *to)
{
    cl_int(CL_API_CALL * const answer)(void) = refuse;

    for (size_t at = 0; at + sizeof(answer) <= sizeof(*to); at += sizeof(answer))
        memcpy((char *)to + at, &answer, sizeof(answer));
    to->clCreateImage2D = image_2d;
    to->clCreateImage3D = image_3d;
    to->clCreateImage = image;
    to->clCreateImageWithProperties = image_with;
    to->clEnqueueMapImage = map_image;
    to->clGetSupportedImageFormats = image_formats;
    to->clCreateSampler = sampler;
    to->clCreateSamplerWithProperties = sampler_with;
    to->clCreatePipe = pipe_of;
    to->clSVMAlloc = svm_alloc;
    to->clCreateProgramWithIL = program_with_il;
    to->clCreateFromGLBuffer = gl_buffer;
    to->clCreateFromGLTexture = gl_texture;
    to->clCreateFromGLTexture2D = gl_texture;
    to->clCreateFromGLTexture3D = gl_texture;
    to->clCreateFromGLRenderbuffer =
        (cl_mem(CL_API_CALL *)(cl_context, cl_mem_flags, cl_GLuint, cl_int *))gl_buffer;
    to->clCreateEventFromGLsyncKHR = gl_sync;
    to->clCreateFromEGLImageKHR = egl_image;
    to->clCreateEventFromEGLSyncKHR = egl_sync;
}
