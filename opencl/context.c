/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opencl/context.c - contexts: devices, and the policy that chooses among them. A context
 * of some of the devices, or with a policy of its own, is a scheduling context.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "opencl/socl.h"

typedef void(CL_CALLBACK *notify_t)(const char *, const void *, size_t, void *);

void socl_context_unref(cl_context context)
{
    if (!socl_drop(&context->head))
        return;
    if (context->owns_sched_ctx && socl_inside) { /* deleting it waits */
        context->next = __atomic_load_n(&socl.dead_contexts, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&socl.dead_contexts, &context->next, context,
                                            false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
        return;
    }
    if (context->owns_sched_ctx && socl.started > 0)
        starpu_sched_ctx_delete(context->sched_ctx);
    free(context->devices);
    free(context->properties);
    free(context);
}

void socl_contexts_sweep(void)
{
    cl_context dead = __atomic_exchange_n(&socl.dead_contexts, NULL, __ATOMIC_ACQUIRE);

    while (dead) {
        cl_context next = dead->next;

        dead->head.refs = 1;
        socl_context_unref(dead);
        dead = next;
    }
}

/* What the properties ask for. */
struct wishes {
    const char *policy, *name;
    size_t n; /* of entries, with the 0 */
};

static cl_int read_properties(const cl_context_properties *properties, struct wishes *ret)
{
    *ret = (struct wishes){0};
    for (; properties && properties[ret->n]; ret->n += 2) {
        cl_context_properties value = properties[ret->n + 1];

        for (size_t i = 0; i < ret->n; i += 2)
            if (properties[i] == properties[ret->n])
                return CL_INVALID_PROPERTY; /* twice */
        switch (properties[ret->n]) {
        case CL_CONTEXT_PLATFORM:
            if ((cl_platform_id)value != &socl_platform)
                return CL_INVALID_PLATFORM;
            break;
        case CL_CONTEXT_SCHEDULER_SOCL:
            ret->policy = (const char *)value;
            break;
        case CL_CONTEXT_NAME_SOCL:
            ret->name = (const char *)value;
            break;
        case CL_CONTEXT_INTEROP_USER_SYNC:
            break;
        default:
            return CL_INVALID_PROPERTY;
        }
    }
    if (properties)
        ret->n++;
    return CL_SUCCESS;
}

static bool is_policy(const char *name)
{
    struct starpu_sched_policy **all = starpu_sched_get_predefined_policies();

    for (; all && *all; all++)
        if (strcmp((*all)->policy_name, name) == 0)
            return true;
    return false;
}

static cl_int make_sched_ctx(cl_context context, const struct wishes *wishes)
{
    int workers[SOCL_MAX_DEVICES];
    const char *policy = wishes->policy ? wishes->policy : getenv("STARPU_SCHED");

    if (wishes->policy && !is_policy(wishes->policy)) {
        orr_log_error("clCreateContext: CL_CONTEXT_SCHEDULER_SOCL: there is no policy `%.60s'; "
                      "STARPU_SCHED=help lists them",
                      wishes->policy);
        return CL_INVALID_PROPERTY;
    }
    if (!wishes->policy && context->n == socl.ndevices)
        return CL_SUCCESS;
    for (unsigned i = 0; i < context->n; i++)
        workers[i] = context->devices[i]->worker;
    context->sched_ctx = starpu_sched_ctx_create(
        workers, (int)context->n, wishes->name ? wishes->name : "OpenCL",
        STARPU_SCHED_CTX_POLICY_NAME, policy && *policy ? policy : "dmdas", 0);
    context->owns_sched_ctx = context->sched_ctx != STARPU_NMAX_SCHED_CTXS;
    return context->owns_sched_ctx ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

static cl_int check_devices(cl_uint n, const cl_device_id *devices)
{
    if (n == 0 || !devices)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < n; i++)
        if (!socl_is(devices[i]))
            return CL_INVALID_DEVICE;
    return CL_SUCCESS;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint n,
                                             const cl_device_id *devices, notify_t notify,
                                             void *data, cl_int *ret_error)
{
    struct wishes wishes;
    cl_context context;
    cl_int error = check_devices(n, devices);

    if (error == CL_SUCCESS && data && !notify)
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS)
        error = read_properties(properties, &wishes);
    if (error != CL_SUCCESS)
        return socl_fail(ret_error, error);
    context = calloc(1, sizeof(*context));
    if (!context)
        return socl_fail(ret_error, CL_OUT_OF_HOST_MEMORY);
    context->head = (struct socl_head){&socl_dispatch, 1};
    context->devices = malloc(n * sizeof(*devices));
    context->properties = malloc((wishes.n + 1) * sizeof(*properties));
    error = context->devices && context->properties ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; error == CL_SUCCESS && i < n; i++)
        if (socl_find_device(context->devices, context->n, devices[i]) < 0)
            context->devices[context->n++] = devices[i];
    if (error == CL_SUCCESS && wishes.n)
        memcpy(context->properties, properties, wishes.n * sizeof(*properties));
    context->nproperties = wishes.n;
    if (error == CL_SUCCESS)
        error = make_sched_ctx(context, &wishes);
    if (ret_error)
        *ret_error = error;
    if (error == CL_SUCCESS)
        return context;
    socl_context_unref(context);
    return NULL;
}

static cl_context CL_API_CALL create_context_from_type(const cl_context_properties *properties,
                                                       cl_device_type type, notify_t notify,
                                                       void *data, cl_int *ret_error)
{
    cl_device_id devices[SOCL_MAX_DEVICES];
    cl_uint n = 0;
    cl_int error =
        socl_dispatch.clGetDeviceIDs(&socl_platform, type, SOCL_MAX_DEVICES, devices, &n);

    if (error != CL_SUCCESS)
        return socl_fail(ret_error, error);
    return create_context(properties, n < SOCL_MAX_DEVICES ? n : SOCL_MAX_DEVICES, devices,
                          notify, data, ret_error);
}

static cl_int CL_API_CALL retain_context(cl_context context)
{
    if (!socl_is(context))
        return CL_INVALID_CONTEXT;
    socl_retain(&context->head);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL release_context(cl_context context)
{
    if (!socl_is(context))
        return CL_INVALID_CONTEXT;
    socl_sweep();
    socl_context_unref(context);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_context_info(cl_context context, cl_context_info what, size_t size,
                                           void *to, size_t *ret)
{
    if (!socl_is(context))
        return CL_INVALID_CONTEXT;
    switch (what) {
    case CL_CONTEXT_REFERENCE_COUNT:
        SOCL_ANSWER(cl_uint, context->head.refs);
    case CL_CONTEXT_NUM_DEVICES:
        SOCL_ANSWER(cl_uint, context->n);
    case CL_CONTEXT_DEVICES:
        return socl_answer(context->devices, context->n * sizeof(*context->devices), size, to,
                           ret);
    case CL_CONTEXT_PROPERTIES:
        return socl_answer(context->properties,
                           context->nproperties * sizeof(*context->properties), size, to, ret);
    default:
        return CL_INVALID_VALUE;
    }
}

void socl_fill_contexts(cl_icd_dispatch *to)
{
    to->clCreateContext = create_context;
    to->clCreateContextFromType = create_context_from_type;
    to->clRetainContext = retain_context;
    to->clReleaseContext = release_context;
    to->clGetContextInfo = get_context_info;
}
