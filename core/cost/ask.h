/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/ask.h - models that are functions of the application instead of
 * measures in files. Any context, no lock held; the functions may be set by one
 * thread before tasks use the model.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

#include "core/base/crc.h"
#include "core/data/handle.h"
#include "perfmodel/model.h"

struct orr_job;
struct orr_worker_class;
struct orr_model_file;
struct orr_runtime;

/* The functions of one set of devices and implementation. */
struct orr_per_devices {
    struct orr_per_devices *next;
    unsigned impl;
    int ndevices;
    struct starpu_perfmodel_per_arch pub; /* list: owned, one block of memory */
    struct starpu_perfmodel_device devices[];
};

/* The state behind a model of the application. */
struct _starpu_perfmodel_state {
    struct orr_model_file *file;         /* owned; loaded for a tool, or NULL */
    char *path;                          /* owned; where it was loaded from */
    struct orr_per_devices *per_devices; /* owned */
};

/* Whether the model calls functions. */
bool orr_model_asks(const struct starpu_perfmodel *model);

/* µs of the task on a worker by the model's functions, at the speed of the
 * worker; NaN when none is set for it. Calls the application's code. */
double orr_model_ask_worker(const struct orr_runtime *rt,
                            const struct starpu_perfmodel *model,
                            struct starpu_task *task, unsigned worker,
                            unsigned impl);

/* The same for a class, whose first worker stands for all: a model of single
 * workers is not distinguished further by schedulers. Without the class's
 * speed. */
double orr_model_ask(const struct orr_runtime *rt,
                     const struct starpu_perfmodel *model,
                     struct starpu_task *task,
                     const struct orr_worker_class *class, unsigned impl);

/* The model's size_base for a worker class alone, NULL without. `class` may
 * be NULL: the first class of all. */
starpu_perfmodel_per_arch_size_base
orr_model_size_base(const struct orr_runtime *rt,
                    const struct starpu_perfmodel *model,
                    const struct orr_worker_class *class, unsigned impl);

/* Bytes of the task, or what the model's size_base returns for implementation
 * `impl` on a worker of the class (NULL: of the first). Calls the application's
 * code. */
size_t orr_model_size(const struct orr_runtime *rt,
                      const struct starpu_perfmodel *model,
                      struct starpu_task *task,
                      const struct orr_worker_class *class, unsigned impl);

/* The hash of the task's data alone. Inline: most tasks have no other. */
static inline uint32_t orr_data_footprint(struct starpu_task *task)
{
    uint32_t footprint = 0;

    for (unsigned i = 0; task->cl && i < STARPU_TASK_GET_NBUFFERS(task); i++)
        if (!(STARPU_TASK_GET_MODE(task, i) & STARPU_NOFOOTPRINT))
            footprint = orr_crc_u32(
                orr_handle_of(STARPU_TASK_GET_HANDLE(task, i))->footprint,
                footprint);
    return footprint;
}

/* The hash under which the model keeps times of the task, by the model's
 * footprint, its size_base, or the data. Calls the application's code. */
uint32_t orr_model_footprint(const struct orr_runtime *rt,
                             const struct starpu_perfmodel *model,
                             struct starpu_task *task,
                             const struct orr_worker_class *class,
                             unsigned impl);

/* The type of model in files that a type stands for. */
enum orr_model_kind orr_model_kind_of(enum starpu_perfmodel_type type);

/* Sets the terms of a multiple regression. Errors: -ENOMEM. */
int orr_model_declare(struct orr_model *model,
                      const struct starpu_perfmodel *perfmodel);

/* The task's parameters for a multiple regression, for the caller to free();
 * NULL for other types, or without memory. Calls the application's code. */
double *orr_model_parameters(const struct starpu_perfmodel *perfmodel,
                             struct starpu_task *task);

/* The smallest memory of the devices that compute, bytes; SIZE_MAX: none has a
 * limit. */
size_t orr_memory_least(const struct orr_runtime *rt);

/* Bit k: the memory of class k does not hold all data of the task at once. Main
 * memory is left to the application. `least` is orr_memory_least; without a limit there
 * is nothing to ask. */
uint64_t orr_task_misfits(const struct orr_runtime *rt,
                          struct starpu_task *task, size_t least);

/* The hash under which a job's times are kept; computed once. */
uint32_t orr_job_footprint(struct orr_runtime *rt, struct orr_job *job);

/* The runtime's model of that symbol, NULL when it has none or its file is
 * broken (reported on stderr). Lent until starpu_shutdown. */
struct orr_model *orr_cost_model(struct orr_runtime *rt,
                                 const struct starpu_perfmodel *model);

/* What the model says of the task on that class, with an implementation: µs or joules; NaN
 * where it does not know. May call the application's code. */
double orr_model_expect(struct orr_runtime *rt, struct starpu_perfmodel *model,
                        struct starpu_task *task,
                        const struct orr_worker_class *class, unsigned nimpl);
