/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/data/convert.c - data that have a form per sort of device get the one that
 * who uses them wants, by functions of the application; interfaces/multiformat.h
 * has the rest.
 */
#include "core/base/log.h"
#include "core/data/handle.h"
#include "core/data/interfaces/multiformat.h"
#include "core/device/kind.h"
#include "core/runtime.h"
#include "core/task/job.h"

enum orr_form orr_form_of_node(unsigned node)
{
    const struct orr_device_kind *kind =
        orr_device_kind_of_memory(starpu_node_get_kind(node));

    return kind ? kind->form : ORR_FORM_CPU;
}

static void convert(struct orr_runtime *rt, const struct orr_access *access,
                    orr_conversion_t *function_of, const void *arg)
{
    void *interface = access->datum->replicates[access->at].interface;
    struct starpu_codelet *cl = orr_multiformat_begin(interface, access->at);
    void (*function)(void **, void *);

    if (!cl)
        return;
    function = function_of(cl, arg);
    if (!function) {
        orr_log_error("the conversion codelet `%s' has no function for where "
                      "the data are used: processors and the application need "
                      "cpu_funcs, and so does all that is simulated",
                      cl->name ? cl->name : "?");
        orr_runtime_fail(rt);
    }
    orr_self->frozen++;
    function(&interface, NULL);
    orr_self->frozen--;
    orr_multiformat_end(interface, access->at);
}

void orr_job_convert(struct orr_runtime *rt, const struct orr_job *job,
                     orr_conversion_t *function_of, const void *arg)
{
    for (unsigned i = 0; i < job->naccesses; i++) {
        const struct orr_access *access = &job->accesses[i];

        if (!access->handle->multiformat || access->alias ||
            access->at == ORR_NO_PLACE)
            continue;
        if (access->mode & STARPU_R)
            convert(rt, access, function_of, arg);
        if (access->mode & (STARPU_W | STARPU_REDUX | STARPU_SCRATCH))
            orr_multiformat_write(
                access->datum->replicates[access->at].interface, access->at);
    }
}
