/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/self.h - the OpenMP task of the calling context, without a call where that
 * is in a kernel: constructs that are met a million times a second ask.
 */
#pragma once

#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/omp/omp.h"

/* As orr_omp_thread_need. */
static inline struct orr_omp_task *orr_omp_thread_here(const char *call)
{
    const struct orr_context *self = orr_self;
    struct orr_omp_task *task = NULL;

    if (self && self->job && self->job->task)
        task = self->job->task->omp_task;
    return task && task->implicit ? task : orr_omp_thread_need(call);
}
