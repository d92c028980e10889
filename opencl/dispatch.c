/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/dispatch.c - what a loader finds: the platform, and the table of all functions.
 * Any thread.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/socl.h"

cl_icd_dispatch socl_dispatch;
struct _cl_platform_id socl_platform = {&socl_dispatch};

static pthread_once_t filled = PTHREAD_ONCE_INIT;

/* -- the platform -- */

static cl_int CL_API_CALL get_platforms(cl_uint n, cl_platform_id *to, cl_uint *ret)
{
    if ((n == 0 && to) || (!to && !ret))
        return CL_INVALID_VALUE;
    pthread_once(&filled, socl_fill_dispatch);
    if (to)
        to[0] = &socl_platform;
    if (ret)
        *ret = 1;
    return CL_SUCCESS;
}

/* SOCL's programs look for its vendor. */
static const char *vendor(void)
{
    const char *compatible = getenv("SOCL_COMPAT");

    return compatible && *compatible && strcmp(compatible, "0") != 0 ? "Inria" : "Orrery";
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info what,
                                            size_t size, void *to, size_t *ret)
{
    if (platform && platform != &socl_platform)
        return CL_INVALID_PLATFORM;
    switch (what) {
    case CL_PLATFORM_PROFILE:
        return socl_answer_text("FULL_PROFILE", size, to, ret);
    case CL_PLATFORM_VERSION:
        return socl_answer_text("OpenCL 1.2 Orrery " ORR_VERSION, size, to, ret);
    case CL_PLATFORM_NAME:
        return socl_answer_text("SOCL Platform", size, to, ret);
    case CL_PLATFORM_VENDOR:
        return socl_answer_text(vendor(), size, to, ret);
    case CL_PLATFORM_EXTENSIONS:
        return socl_answer_text("cl_khr_icd", size, to, ret);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return socl_answer_text("SOCL", size, to, ret);
    default:
        return CL_INVALID_VALUE;
    }
}

/* -- functions by name -- */

CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *to,
                                                       cl_uint *ret);
CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *to,
                                                       cl_uint *ret)
{
    return get_platforms(n, to, ret);
}

static void CL_API_CALL shut_down(void)
{
    socl_stop();
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } known[] = {
        {"clIcdGetPlatformIDsKHR", (void (*)(void))clIcdGetPlatformIDsKHR},
        {"clGetPlatformInfo", (void (*)(void))get_platform_info},
        {"clShutdown", shut_down},
    };
    void *found = NULL;

    for (size_t i = 0; name && i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(name, known[i].name) == 0)
            memcpy(&found, &known[i].function, sizeof(found));
    return found;
}

static void *CL_API_CALL get_function_of(cl_platform_id platform, const char *name)
{
    return platform == &socl_platform ? clGetExtensionFunctionAddress(name) : NULL;
}

void socl_fill_dispatch(void)
{
    cl_icd_dispatch *to = &socl_dispatch;

    socl_fill_refusals(to); /* first: others replace these */
    to->clGetPlatformIDs = get_platforms;
    to->clGetPlatformInfo = get_platform_info;
    to->clGetExtensionFunctionAddress = clGetExtensionFunctionAddress;
    to->clGetExtensionFunctionAddressForPlatform = get_function_of;
    socl_fill_contexts(to);
    socl_fill_devices(to);
    socl_fill_events(to);
    socl_fill_kernels(to);
    socl_fill_maps(to);
    socl_fill_mems(to);
    socl_fill_programs(to);
    socl_fill_queues(to);
    socl_fill_ranges(to);
    socl_fill_transfers(to);
}
