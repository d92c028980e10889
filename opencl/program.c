/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/program.c - programs. On a real machine each device's own implementation builds
 * them; simulated, their source is read (count.h), and the host's implementation builds them
 * when kernels are executed. A binary of a simulated device is the source behind a mark.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "opencl/socl.h"

#define MARK "orrery-source\n"

typedef void(CL_CALLBACK *notify_t)(cl_program, void *);

/* -- the end -- */

static void clear_built(struct socl_built *built)
{
    if (built->program)
        SOCL_BELOW(built->program)->clReleaseProgram(built->program);
    free(built->log);
    free(built->options);
    *built = (struct socl_built){.status = CL_BUILD_NONE};
}

void socl_program_unref(cl_program program)
{
    if (!socl_drop(&program->head))
        return;
    for (unsigned i = 0; program->built && i < program->n; i++)
        clear_built(&program->built[i]);
    if (program->host)
        SOCL_BELOW(program->host)->clReleaseProgram(program->host);
    socl_source_free(program->scanned);
    free(program->built);
    free(program->devices);
    free(program->source);
    free(program->linked);
    free(program->options);
    socl_context_unref(program->context);
    free(program);
}

/* -- making one -- */

static cl_program new_program(cl_context context, unsigned n, const cl_device_id *devices)
{
    cl_program program = calloc(1, sizeof(*program));

    if (!program)
        return NULL;
    program->head = (struct socl_head){&socl_dispatch, 1};
    socl_retain(&context->head);
    program->context = context;
    program->n = n;
    program->devices = malloc(n * sizeof(*devices));
    program->built = calloc(n, sizeof(*program->built));
    if (!program->devices || !program->built) {
        program->n = 0;
        socl_program_unref(program);
        return NULL;
    }
    memcpy(program->devices, devices, n * sizeof(*devices));
    for (unsigned i = 0; i < n; i++)
        program->built[i].status = CL_BUILD_NONE;
    return program;
}

static char *join(cl_uint n, const char *const *texts, const size_t *lengths)
{
    size_t size = 1;
    char *all, *to;

    for (cl_uint i = 0; i < n; i++)
        size += lengths && lengths[i] ? lengths[i] : strlen(texts[i]);
    to = all = malloc(size);
    for (cl_uint i = 0; all && i < n; i++) {
        size_t length = lengths && lengths[i] ? lengths[i] : strlen(texts[i]);

        memcpy(to, texts[i], length);
        to += length;
    }
    if (all)
        *to = 0;
    return all;
}

static cl_program CL_API_CALL create_with_source(cl_context context, cl_uint n,
                                                 const char **texts, const size_t *lengths,
                                                 cl_int *ret_error)
{
    cl_program program;

    if (!socl_is(context))
        return socl_fail(ret_error, CL_INVALID_CONTEXT);
    for (cl_uint i = 0; i < n; i++)
        if (!texts || !texts[i])
            return socl_fail(ret_error, CL_INVALID_VALUE);
    if (n == 0)
        return socl_fail(ret_error, CL_INVALID_VALUE);
    program = new_program(context, context->n, context->devices);
    if (program)
        program->source = join(n, texts, lengths);
    if (program && !program->source) {
        socl_program_unref(program);
        program = NULL;
    }
    socl_fail(ret_error, program ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
    return program;
}

static bool is_marked(const unsigned char *binary, size_t size)
{
    return size >= strlen(MARK) && memcmp(binary, MARK, strlen(MARK)) == 0;
}

/* Real: the implementation below says whether it takes it. */
static cl_int load_binary(cl_program program, unsigned i, size_t size,
                          const unsigned char *binary)
{
    const cl_device_id device = program->devices[i];
    cl_int error = CL_SUCCESS, status = CL_SUCCESS;

    if (!binary || size == 0)
        return CL_INVALID_VALUE;
    if (is_marked(binary, size) != socl.simulated)
        return CL_INVALID_BINARY;
    if (socl.simulated) {
        const char *text = (const char *)binary + strlen(MARK);

        program->linked = strndup(text, size - strlen(MARK));
        return program->linked ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    program->built[i].program = SOCL_BELOW(device->context)
                                    ->clCreateProgramWithBinary(device->context, 1,
                                                                &device->below, &size, &binary,
                                                                &status, &error);
    return error != CL_SUCCESS ? error : status;
}

static cl_program CL_API_CALL create_with_binary(cl_context context, cl_uint n,
                                                 const cl_device_id *devices,
                                                 const size_t *sizes,
                                                 const unsigned char **binaries,
                                                 cl_int *status, cl_int *ret_error)
{
    cl_program program;
    cl_int error = CL_SUCCESS;

    if (!socl_is(context))
        return socl_fail(ret_error, CL_INVALID_CONTEXT);
    if (n == 0 || !devices || !sizes || !binaries)
        return socl_fail(ret_error, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < n; i++)
        if (socl_find_device(context->devices, context->n, devices[i]) < 0)
            return socl_fail(ret_error, CL_INVALID_DEVICE);
    program = new_program(context, n, devices);
    if (!program)
        return socl_fail(ret_error, CL_OUT_OF_HOST_MEMORY);
    for (cl_uint i = 0; i < n; i++) {
        cl_int one = program->linked && socl.simulated
                         ? CL_SUCCESS
                         : load_binary(program, i, sizes[i], binaries[i]);

        if (status)
            status[i] = one;
        if (one != CL_SUCCESS)
            error = one;
    }
    socl_fail(ret_error, error);
    if (error == CL_SUCCESS)
        return program;
    socl_program_unref(program);
    return NULL;
}

static cl_program CL_API_CALL create_with_built_in(cl_context context, cl_uint n,
                                                   const cl_device_id *devices,
                                                   const char *names, cl_int *ret_error)
{
    (void)n;
    (void)devices;
    (void)names; /* devices have no built-in kernels */
    return socl_fail(ret_error, socl_is(context) ? CL_INVALID_VALUE : CL_INVALID_CONTEXT);
}

/* -- building -- */

static const char *type_macro(cl_device_id device)
{
    return device->type & CL_DEVICE_TYPE_GPU           ? "-DSOCL_DEVICE_TYPE_GPU"
           : device->type & CL_DEVICE_TYPE_CPU         ? "-DSOCL_DEVICE_TYPE_CPU"
           : device->type & CL_DEVICE_TYPE_ACCELERATOR ? "-DSOCL_DEVICE_TYPE_ACCELERATOR"
                                                       : "-DSOCL_DEVICE_TYPE_UNKNOWN";
}

static char *with_macro(cl_device_id device, const char *options)
{
    char *all;

    return asprintf(&all, "%s %s", type_macro(device), options ? options : "") < 0 ? NULL : all;
}

static char *log_of(cl_program below, cl_device_id device)
{
    size_t size = 0;
    char *text;

    if (SOCL_BELOW(below)->clGetProgramBuildInfo(below, device->below, CL_PROGRAM_BUILD_LOG, 0,
                                                 NULL, &size) != CL_SUCCESS)
        return NULL;
    text = calloc(1, size + 1);
    if (text)
        SOCL_BELOW(below)->clGetProgramBuildInfo(below, device->below, CL_PROGRAM_BUILD_LOG,
                                                 size, text, NULL);
    return text;
}

/* What the build of one device is made of. */
enum step { BUILD, COMPILE };

struct headers {
    cl_uint n;
    const cl_program *programs;
    const char **names;
};

static cl_int compile_below(cl_program below, cl_device_id device, const char *options,
                            const struct headers *headers)
{
    const cl_icd_dispatch *table = SOCL_BELOW(below);
    cl_program *own = calloc(headers->n + 1, sizeof(*own));
    cl_int error = own ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

    for (cl_uint i = 0; error == CL_SUCCESS && i < headers->n; i++) {
        const char *text = headers->programs[i]->source;

        own[i] = table->clCreateProgramWithSource(device->context, 1, &text, NULL, &error);
    }
    if (error == CL_SUCCESS)
        error = table->clCompileProgram(below, 1, &device->below, options, headers->n,
                                        headers->n ? own : NULL, headers->names, NULL, NULL);
    for (cl_uint i = 0; own && i < headers->n; i++)
        if (own[i])
            table->clReleaseProgram(own[i]);
    free(own);
    return error;
}

static cl_int build_below(cl_program program, unsigned i, enum step step, const char *options,
                          const struct headers *headers)
{
    struct socl_built *built = &program->built[i];
    const cl_device_id device = program->devices[i];
    const char *text = program->source;
    char *all = with_macro(device, options);
    cl_int error = all ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

    if (error == CL_SUCCESS && text) {
        clear_built(built);
        built->program = SOCL_BELOW(device->context)
                             ->clCreateProgramWithSource(device->context, 1, &text, NULL,
                                                         &error);
    }
    if (error == CL_SUCCESS && step == COMPILE)
        error = compile_below(built->program, device, all, headers);
    else if (error == CL_SUCCESS)
        error = SOCL_BELOW(built->program)
                    ->clBuildProgram(built->program, 1, &device->below, all, NULL, NULL);
    if (built->program) {
        free(built->log);
        built->log = log_of(built->program, device);
    }
    free(all);
    return error;
}

/* Reads the source again, with these options. Simulated, that is the build. */
static cl_int scan(cl_program program, const char *options, char **ret_log)
{
    const char *text = program->linked ? program->linked : program->source;
    char *all = with_macro(program->devices[0], options);

    *ret_log = NULL;
    socl_source_free(program->scanned);
    program->scanned = text && all ? socl_source_read(text, all, ret_log) : NULL;
    free(all);
    if (program->scanned || !socl.simulated)
        return CL_SUCCESS;
    return *ret_log ? CL_BUILD_PROGRAM_FAILURE : CL_OUT_OF_HOST_MEMORY;
}

/* Options of the build of all, and what became of it. */
static void note_build(cl_program program, unsigned i, const char *options, cl_int error,
                       const char *log)
{
    struct socl_built *built = &program->built[i];

    free(built->options);
    built->options = strdup(options ? options : "");
    built->status = error == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    if (log) {
        free(built->log);
        built->log = strdup(log);
    }
    if (error != CL_SUCCESS && built->log && !getenv("STARPU_SILENT"))
        fprintf(stderr, "OpenCL: a program does not compile for %s:\n%s\n",
                program->devices[i]->name, built->log);
}

static cl_int make(cl_program program, cl_uint n, const cl_device_id *devices, enum step step,
                   const char *options, const struct headers *headers)
{
    char *log, *kept = strdup(options ? options : "");
    cl_int result = scan(program, options, &log);
    cl_int failure = step == BUILD ? CL_BUILD_PROGRAM_FAILURE : CL_COMPILE_PROGRAM_FAILURE;

    free(program->options);
    program->options = kept;
    if (result != CL_SUCCESS && log)
        result = failure;
    for (unsigned i = 0; i < program->n; i++) {
        cl_int error = result;

        if (n && socl_find_device(devices, n, program->devices[i]) < 0)
            continue;
        if (!socl.simulated)
            error = build_below(program, i, step, options, headers);
        note_build(program, i, options, error, socl.simulated ? log : NULL);
        if (error != CL_SUCCESS)
            result = error;
    }
    if (program->host) {
        SOCL_BELOW(program->host)->clReleaseProgram(program->host);
        program->host = NULL;
    }
    program->binary_type = step == BUILD ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE
                                         : CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    free(log);
    return result;
}

static cl_int check_build(cl_program program, cl_uint n, const cl_device_id *devices,
                          notify_t notify, const void *data)
{
    if (!socl_is(program))
        return CL_INVALID_PROGRAM;
    if ((n > 0) != (devices != NULL) || (!notify && data))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++)
        if (socl_find_device(program->devices, program->n, devices[i]) < 0)
            return CL_INVALID_DEVICE;
    return program->nkernels ? CL_INVALID_OPERATION : CL_SUCCESS;
}

static cl_int CL_API_CALL build(cl_program program, cl_uint n, const cl_device_id *devices,
                                const char *options, notify_t notify, void *data)
{
    const struct headers none = {0};
    cl_int error = check_build(program, n, devices, notify, data);

    if (error != CL_SUCCESS)
        return error;
    error = make(program, n, devices, BUILD, options, &none);
    if (notify)
        notify(program, data);
    return error;
}

/* Lines that include one of the headers become empty: its text is there already. */
static void blank_includes(char *text, const struct headers *headers)
{
    for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = line + strspn(line, " \t");

        if (*at != '#')
            continue;
        at++;
        at += strspn(at, " \t");
        if (strncmp(at, "include", 7) != 0)
            continue;
        at += 7 + strspn(at + 7, " \t\"<");
        for (cl_uint i = 0; i < headers->n; i++)
            if (strncmp(at, headers->names[i], strlen(headers->names[i])) == 0)
                memset(line, ' ', strcspn(line, "\n"));
    }
}

/* The texts that a compiler would have read, one behind the other. */
static cl_int put_headers_before(cl_program program, const struct headers *headers)
{
    const char **texts = calloc(headers->n + 1, sizeof(*texts));
    cl_int error = texts ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

    for (cl_uint i = 0; error == CL_SUCCESS && i < headers->n; i++) {
        if (!socl_is(headers->programs[i]) || !headers->programs[i]->source)
            error = CL_INVALID_VALUE;
        else
            texts[i] = headers->programs[i]->source;
    }
    if (error == CL_SUCCESS) {
        texts[headers->n] = program->source;
        free(program->linked);
        program->linked = join(headers->n + 1, texts, NULL);
        error = program->linked ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    }
    if (error == CL_SUCCESS)
        blank_includes(program->linked, headers);
    free(texts);
    return error;
}

static cl_int CL_API_CALL compile(cl_program program, cl_uint n, const cl_device_id *devices,
                                  const char *options, cl_uint nheaders,
                                  const cl_program *programs, const char **names,
                                  notify_t notify, void *data)
{
    const struct headers headers = {nheaders, programs, names};
    cl_int error = check_build(program, n, devices, notify, data);

    if (error == CL_SUCCESS && (nheaders > 0) != (programs != NULL && names != NULL))
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS && !program->source)
        error = CL_INVALID_OPERATION;
    if (error == CL_SUCCESS && nheaders)
        error = put_headers_before(program, &headers);
    if (error != CL_SUCCESS)
        return error;
    error = make(program, n, devices, COMPILE, options, &headers);
    if (notify)
        notify(program, data);
    return error;
}

/* -- linking -- */

static cl_int link_below(cl_program program, unsigned i, const char *options, cl_uint n,
                         const cl_program *inputs)
{
    struct socl_built *built = &program->built[i];
    const cl_device_id device = program->devices[i];
    cl_program *own = calloc(n, sizeof(*own));
    cl_int error = own ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;

    for (cl_uint k = 0; error == CL_SUCCESS && k < n; k++) {
        int index = socl_find_device(inputs[k]->devices, inputs[k]->n, device);

        own[k] = index < 0 ? NULL : inputs[k]->built[index].program;
        if (!own[k])
            error = CL_INVALID_OPERATION;
    }
    if (error == CL_SUCCESS)
        built->program = SOCL_BELOW(device->context)
                             ->clLinkProgram(device->context, 1, &device->below, options, n, own,
                                             NULL, NULL, &error);
    if (built->program)
        built->log = log_of(built->program, device);
    free(own);
    return error;
}

static cl_int join_inputs(cl_program program, cl_uint n, const cl_program *inputs)
{
    const char **texts = calloc(n, sizeof(*texts));

    for (cl_uint i = 0; texts && i < n; i++)
        texts[i] = inputs[i]->linked   ? inputs[i]->linked
                   : inputs[i]->source ? inputs[i]->source
                                       : "";
    program->linked = texts ? join(n, texts, NULL) : NULL;
    free(texts);
    return program->linked ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static cl_int check_link(cl_context context, cl_uint n, const cl_device_id *devices,
                         cl_uint ninputs, const cl_program *inputs)
{
    if (!socl_is(context))
        return CL_INVALID_CONTEXT;
    if ((n > 0) != (devices != NULL) || ninputs == 0 || !inputs)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++)
        if (socl_find_device(context->devices, context->n, devices[i]) < 0)
            return CL_INVALID_DEVICE;
    for (cl_uint i = 0; i < ninputs; i++) {
        if (!socl_is(inputs[i]))
            return CL_INVALID_PROGRAM;
        if (inputs[i]->binary_type == CL_PROGRAM_BINARY_TYPE_NONE)
            return CL_INVALID_OPERATION;
    }
    return CL_SUCCESS;
}

/* The program itself is at fault, and is returned with its log. */
static bool is_link_failure(cl_int error)
{
    return error == CL_LINK_PROGRAM_FAILURE || error == CL_BUILD_PROGRAM_FAILURE;
}

static cl_program CL_API_CALL link_programs(cl_context context, cl_uint n,
                                            const cl_device_id *devices, const char *options,
                                            cl_uint ninputs, const cl_program *inputs,
                                            notify_t notify, void *data, cl_int *ret_error)
{
    cl_int error = !notify && data ? CL_INVALID_VALUE
                                   : check_link(context, n, devices, ninputs, inputs);
    cl_int one;
    cl_program program;
    char *log = NULL;

    if (error != CL_SUCCESS)
        return socl_fail(ret_error, error);
    program = n ? new_program(context, n, devices)
                : new_program(context, context->n, context->devices);
    if (!program)
        return socl_fail(ret_error, CL_OUT_OF_HOST_MEMORY);
    error = join_inputs(program, ninputs, inputs);
    if (error == CL_SUCCESS)
        error = scan(program, inputs[0]->options, &log);
    program->options = strdup(inputs[0]->options ? inputs[0]->options : "");
    for (unsigned i = 0; i < program->n; i++) {
        one = socl.simulated ? error : link_below(program, i, options, ninputs, inputs);
        note_build(program, i, options, one, log);
        if (one != CL_SUCCESS)
            error = is_link_failure(one) ? CL_LINK_PROGRAM_FAILURE : one;
    }
    program->binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    if (options && strstr(options, "-create-library"))
        program->binary_type = CL_PROGRAM_BINARY_TYPE_LIBRARY;
    free(log);
    socl_fail(ret_error, error);
    if (notify)
        notify(program, data);
    if (error == CL_SUCCESS || is_link_failure(error))
        return program;
    socl_program_unref(program);
    return NULL;
}

/* -- on the host -- */

cl_program socl_program_on_host(cl_program program)
{
    const struct socl_host *host = socl_host();
    const char *text = program->linked ? program->linked : program->source;
    cl_int error;
    char *all;

    if (program->host || !host || program->host_failed)
        return program->host;
    all = with_macro(program->devices[0], program->options);
    program->host = SOCL_BELOW(host->context)
                        ->clCreateProgramWithSource(host->context, 1, &text, NULL, &error);
    if (error == CL_SUCCESS)
        error = SOCL_BELOW(program->host)
                    ->clBuildProgram(program->host, 1, &host->device, all, NULL, NULL);
    if (error != CL_SUCCESS) {
        orr_log_error("OpenCL: a program does not compile on this host (%d), where "
                      "ORRERY_SIM_KERNELS=run executes it",
                      error);
        if (program->host)
            SOCL_BELOW(program->host)->clReleaseProgram(program->host);
        program->host = NULL;
        program->host_failed = true;
    }
    free(all);
    return program->host;
}

/* -- queries -- */

char *socl_program_kernels(cl_program program)
{
    size_t size = 1;
    char *names;

    for (unsigned i = 0; !socl.simulated && i < program->n; i++) {
        cl_program below = program->built[i].program;

        if (!below || SOCL_BELOW(below)->clGetProgramInfo(below, CL_PROGRAM_KERNEL_NAMES, 0,
                                                          NULL, &size) != CL_SUCCESS)
            continue;
        names = calloc(1, size + 1);
        if (names)
            SOCL_BELOW(below)->clGetProgramInfo(below, CL_PROGRAM_KERNEL_NAMES, size, names,
                                                NULL);
        return names;
    }
    for (unsigned i = 0; program->scanned && i < program->scanned->n; i++)
        size += strlen(program->scanned->functions[i].name) + 1;
    names = calloc(1, size);
    for (unsigned i = 0; names && program->scanned && i < program->scanned->n; i++) {
        if (!program->scanned->functions[i].kernel)
            continue;
        if (*names)
            strcat(names, ";");
        strcat(names, program->scanned->functions[i].name);
    }
    return names;
}

static size_t binary_size(cl_program program, unsigned i)
{
    cl_program below = program->built[i].program;
    size_t size = 0;

    if (program->built[i].status != CL_BUILD_SUCCESS && !below)
        return 0;
    if (socl.simulated)
        return strlen(MARK) + strlen(program->linked ? program->linked : program->source);
    if (below)
        SOCL_BELOW(below)->clGetProgramInfo(below, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size,
                                            NULL);
    return size;
}

static void copy_binary(cl_program program, unsigned i, unsigned char *to)
{
    size_t size = binary_size(program, i);
    cl_program below = program->built[i].program;

    if (!to || size == 0)
        return;
    if (socl.simulated) {
        memcpy(to, MARK, strlen(MARK));
        memcpy(to + strlen(MARK), program->linked ? program->linked : program->source,
               size - strlen(MARK));
    } else if (below) {
        SOCL_BELOW(below)->clGetProgramInfo(below, CL_PROGRAM_BINARIES, sizeof(to), &to, NULL);
    }
}

static cl_int answer_binaries(cl_program program, cl_program_info what, size_t size, void *to,
                              size_t *ret)
{
    size_t wanted =
        program->n * (what == CL_PROGRAM_BINARIES ? sizeof(char *) : sizeof(size_t));

    if (to && size < wanted)
        return CL_INVALID_VALUE;
    for (unsigned i = 0; to && i < program->n; i++) {
        if (what == CL_PROGRAM_BINARIES)
            copy_binary(program, i, ((unsigned char **)to)[i]);
        else
            ((size_t *)to)[i] = binary_size(program, i);
    }
    if (ret)
        *ret = wanted;
    return CL_SUCCESS;
}

static cl_int answer_kernels(cl_program program, cl_program_info what, size_t size, void *to,
                             size_t *ret)
{
    char *names;
    size_t n = 0;
    cl_int error;

    if (program->binary_type == CL_PROGRAM_BINARY_TYPE_NONE)
        return CL_INVALID_PROGRAM_EXECUTABLE;
    names = socl_program_kernels(program);
    if (!names)
        return CL_OUT_OF_HOST_MEMORY;
    for (const char *at = names; *at; at++)
        n += *at == ';' || at == names;
    error = what == CL_PROGRAM_NUM_KERNELS ? socl_answer(&n, sizeof(n), size, to, ret)
                                           : socl_answer_text(names, size, to, ret);
    free(names);
    return error;
}

static cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info what, size_t size,
                                           void *to, size_t *ret)
{
    if (!socl_is(program))
        return CL_INVALID_PROGRAM;
    switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT:
        SOCL_ANSWER(cl_uint, program->head.refs);
    case CL_PROGRAM_CONTEXT:
        SOCL_ANSWER(cl_context, program->context);
    case CL_PROGRAM_NUM_DEVICES:
        SOCL_ANSWER(cl_uint, program->n);
    case CL_PROGRAM_DEVICES:
        return socl_answer(program->devices, program->n * sizeof(*program->devices), size, to,
                           ret);
    case CL_PROGRAM_SOURCE:
        return socl_answer_text(program->source, size, to, ret);
    case CL_PROGRAM_BINARY_SIZES:
    case CL_PROGRAM_BINARIES:
        return answer_binaries(program, what, size, to, ret);
    case CL_PROGRAM_NUM_KERNELS:
    case CL_PROGRAM_KERNEL_NAMES:
        return answer_kernels(program, what, size, to, ret);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id device,
                                         cl_program_build_info what, size_t size, void *to,
                                         size_t *ret)
{
    const struct socl_built *built;
    int index;

    if (!socl_is(program))
        return CL_INVALID_PROGRAM;
    index = socl_find_device(program->devices, program->n, device);
    if (index < 0)
        return CL_INVALID_DEVICE;
    built = &program->built[index];
    switch (what) {
    case CL_PROGRAM_BUILD_STATUS:
        SOCL_ANSWER(cl_build_status, built->status);
    case CL_PROGRAM_BUILD_OPTIONS:
        return socl_answer_text(built->options, size, to, ret);
    case CL_PROGRAM_BUILD_LOG:
        return socl_answer_text(built->log, size, to, ret);
    case CL_PROGRAM_BINARY_TYPE:
        SOCL_ANSWER(cl_program_binary_type, built->status == CL_BUILD_SUCCESS
                                                ? program->binary_type
                                                : CL_PROGRAM_BINARY_TYPE_NONE);
    default:
        return CL_INVALID_VALUE;
    }
}

/* -- functions -- */

static cl_int CL_API_CALL retain_program(cl_program program)
{
    if (!socl_is(program))
        return CL_INVALID_PROGRAM;
    socl_retain(&program->head);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_program(cl_program program)
{
    if (!socl_is(program))
        return CL_INVALID_PROGRAM;
    socl_program_unref(program);
    return CL_SUCCESS;
}

/* A hint, which changes nothing. */
static cl_int CL_API_CALL unload(void)
{
    return CL_SUCCESS;
}

static cl_int CL_API_CALL unload_platform(cl_platform_id platform)
{
    return platform == &socl_platform ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

void socl_fill_programs(cl_icd_dispatch *to)
{
    to->clCreateProgramWithSource = create_with_source;
    to->clCreateProgramWithBinary = create_with_binary;
    to->clCreateProgramWithBuiltInKernels = create_with_built_in;
    to->clRetainProgram = retain_program;
    to->clReleaseProgram = release_program;
    to->clBuildProgram = build;
    to->clCompileProgram = compile;
    to->clLinkProgram = link_programs;
    to->clUnloadCompiler = unload;
    to->clUnloadPlatformCompiler = unload_platform;
    to->clGetProgramInfo = get_program_info;
    to->clGetProgramBuildInfo = get_build_info;
}
