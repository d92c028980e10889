/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/layouts/convert.c - data that have a form per sort of device get the one that
 * who uses them wants, by functions of the application: convert.h;
 * core/layouts/multiformat.h has the rest.
 */
#include "core/layouts/convert.h"
#include "core/base/log.h"
#include "core/data/handle.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/layouts/conversion.h"
#include "core/layouts/multiformat.h"

enum orr_form orr_form_of_node(unsigned node)
{
    const struct orr_device_kind *kind =
        orr_device_kind_of_memory(starpu_node_get_kind(node));

    return kind ? kind->form : ORR_FORM_CPU;
}

/* --- done --- */

/* Data that a codelet has placed in main memory are converted there, on whatever worker
 * it runs. */
static orr_kernel_func_t find_function(struct orr_runtime *rt,
                                       const struct starpu_codelet *cl,
                                       const struct orr_converter *converter,
                                       unsigned node)
{
    orr_kernel_func_t function =
        orr_node_is_main(&rt->machine->nodes[node])
            ? orr_codelet_host_function(cl, 0)
            : converter->function_of(cl, converter->worker);

    if (function)
        return function;
    orr_log_error("the conversion codelet `%s' has no function for where "
                  "the data are used: processors and the application need "
                  "cpu_funcs, and so does all that is simulated",
                  cl->name ? cl->name : "?");
    orr_runtime_fail(rt);
}

/* Returns how long that took, really. */
static double conversion_call(struct orr_runtime *rt, struct starpu_codelet *cl,
                              void *interface,
                              const struct orr_converter *converter,
                              unsigned node)
{
    orr_kernel_func_t function = find_function(rt, cl, converter, node);
    double start = orr_exec_now(rt->exec);

    orr_self->frozen++;
    function(&interface, NULL);
    orr_self->frozen--;
    return orr_exec_now(rt->exec) - start;
}

enum { LOOK_AGAIN_US = 5 };

static double access_convert(struct orr_runtime *rt,
                             const struct orr_access *access,
                             const struct orr_converter *converter)
{
    void *interface =
        orr_access_datum(access)->replicates[access->at].interface;
    static const struct orr_awaited awaited = {
        .noun = "another reader to convert its data"};
    struct starpu_codelet *cl;
    double us = 0;

    /* Another reader on this node converts it. */
    while (!orr_multiformat_begin(interface, access->at, &cl))
        orr_context_poll(&awaited, LOOK_AGAIN_US);
    if (!cl)
        return 0;
    if (rt->machine->runs_kernels)
        us = conversion_call(rt, cl, interface, converter, access->at);
    orr_multiformat_end(interface, access->at);
    if (converter->worker && !rt->machine->kernels_take_their_length)
        orr_conversion_measure(rt, cl, access->handle, converter->worker, us);
    return us;
}

static bool has_a_form(const struct orr_access *access)
{
    return access->handle->multiformat && !access->alias &&
           access->at != ORR_NO_PLACE;
}

double orr_job_convert(struct orr_runtime *rt, const struct orr_job *job,
                       const struct orr_converter *converter)
{
    double us = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (!has_a_form(access))
            continue;
        if (access->mode & STARPU_R)
            us += access_convert(rt, access, converter);
        if (access->mode & (STARPU_W | STARPU_REDUX | STARPU_SCRATCH))
            orr_multiformat_write(
                orr_access_datum(access)->replicates[access->at].interface,
                access->at);
    }
    return us;
}

/* --- simulated --- */

double orr_job_conversion_us(struct orr_runtime *rt, const struct orr_job *job,
                             unsigned class_id)
{
    double us = 0;

    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];
        struct starpu_codelet *cl = NULL;

        if (has_a_form(access) && access->mode & STARPU_R)
            cl = orr_multiformat_lacks(
                orr_access_datum(access)->replicates[access->at].interface,
                access->at);
        if (cl)
            us += orr_conversion_us(rt, cl, access->handle, class_id);
    }
    return us;
}
