/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/api/bundle.c - tasks that are placed together. Any thread. */
#include "core/sched/bundle.h"

#include "core/api/api.h"
#include "core/job/job.h"

void starpu_task_bundle_create(starpu_task_bundle_t *bundle)
{
    *bundle = orr_bundle_new();
    if (*bundle)
        return;
    orr_log_error("%s: out of memory", __func__);
    abort();
}

static void expect(const char *call, starpu_task_bundle_t bundle,
                   const struct starpu_task *task)
{
    if (bundle && task)
        return;
    orr_log_error("%s: the %s is NULL", call, bundle ? "task" : "bundle");
    abort();
}

static void expect_bundle(const char *call, starpu_task_bundle_t bundle)
{
    static const struct starpu_task any;

    expect(call, bundle, &any);
}

int starpu_task_bundle_insert(starpu_task_bundle_t bundle,
                              struct starpu_task *task)
{
    expect(__func__, bundle, task);
    return orr_bundle_insert(bundle, task);
}

int starpu_task_bundle_remove(starpu_task_bundle_t bundle,
                              struct starpu_task *task)
{
    expect(__func__, bundle, task);
    if (task->bundle && task->bundle != bundle) {
        orr_log_error("%s: the task is in another bundle", __func__);
        abort();
    }
    return orr_bundle_remove(bundle, task);
}

void starpu_task_bundle_close(starpu_task_bundle_t bundle)
{
    expect_bundle(__func__, bundle);
    orr_bundle_close(bundle);
}

/* -- estimates -- */

struct where {
    struct starpu_perfmodel_arch *arch;
    unsigned impl;
};

static double bundle_task_length(struct starpu_task *task, void *arg)
{
    const struct where *where = arg;

    return starpu_task_expected_length(task, where->arch, where->impl);
}

double starpu_task_bundle_expected_length(starpu_task_bundle_t bundle,
                                          struct starpu_perfmodel_arch *arch,
                                          unsigned nimpl)
{
    ORR_QUESTION();
    struct where where = {arch, nimpl};

    expect_bundle(__func__, bundle);
    return orr_bundle_sum(bundle, true, bundle_task_length, &where);
}

static double bundle_task_energy(struct starpu_task *task, void *arg)
{
    const struct where *where = arg;

    return starpu_task_expected_energy(task, where->arch, where->impl);
}

double starpu_task_bundle_expected_energy(starpu_task_bundle_t bundle,
                                          struct starpu_perfmodel_arch *arch,
                                          unsigned nimpl)
{
    ORR_QUESTION();
    struct where where = {arch, nimpl};

    expect_bundle(__func__, bundle);
    return orr_bundle_sum(bundle, false, bundle_task_energy, &where);
}

double
starpu_task_bundle_expected_data_transfer_time(starpu_task_bundle_t bundle,
                                               unsigned memory_node)
{
    ORR_QUESTION();
    (void)orr_api_node(__func__, memory_node);
    expect_bundle(__func__, bundle);
    return orr_bundle_transfer_time(bundle, memory_node, NULL);
}
