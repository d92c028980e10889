/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/ask.h - models that are functions of the application, not figures
 * in files. Any context, no lock held; the functions may be set by one thread
 * before tasks use the model.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

struct orr_kind;
struct orr_model_file;
struct orr_runtime;

/* The functions of one set of devices and implementation. */
struct orr_per_devices {
    struct orr_per_devices *next;
    unsigned impl;
    int ndevices;
    struct starpu_perfmodel_per_arch pub;
    struct starpu_perfmodel_device devices[];
};

/* What hangs on a model of the application. */
struct _starpu_perfmodel_state {
    struct orr_model_file *file;         /* owned; loaded for a tool, or NULL */
    struct orr_per_devices *per_devices; /* owned */
};

/* Whether the model is one that asks functions. */
bool orr_model_asks(const struct starpu_perfmodel *model);

/* µs of the task on a worker of the kind, as the model's functions say; NaN
 * when none is set for it. Calls the application's code. */
double orr_model_ask(const struct orr_runtime *rt,
                     const struct starpu_perfmodel *model,
                     struct starpu_task *task, const struct orr_kind *kind,
                     unsigned impl);
