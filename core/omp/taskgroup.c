/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/omp/taskgroup.c - taskgroups, and taskloops, which are tasks in a group. A
 * task is counted in the innermost group open where it is created; what it creates
 * is, too. Groups further out end after those inside of them.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/exec/runtime.h"
#include "core/omp/closures.h"
#include "core/omp/omp.h"

void orr_omp_group_open(struct orr_omp_task *task, const char *call)
{
    struct orr_omp_group *group = calloc(1, sizeof(*group));

    if (!group)
        orr_omp_no_memory(call);
    group->outer = task->group;
    task->group = group;
}

void orr_omp_group_close(struct orr_omp_task *task, const char *call)
{
    struct orr_omp_group *group = task->group;

    if (!group || group == task->counts_in) {
        orr_log_error("%s: called without a taskgroup that this task has begun",
                      call);
        abort();
    }
    if (!orr_may_block(call))
        abort();
    orr_omp_closures_run_counted(task, &group->unfinished);
    orr_omp_count_wait(&group->unfinished, "tasks of its taskgroup");
    task->group = group->outer;
    free(group);
}

void starpu_omp_taskgroup_inline_begin(void)
{
    orr_omp_group_open(orr_omp_self_need(__func__), __func__);
}

void starpu_omp_taskgroup_inline_end(void)
{
    orr_omp_group_close(orr_omp_self_need(__func__), __func__);
}

void starpu_omp_taskgroup(void (*f)(void *arg), void *arg)
{
    starpu_omp_taskgroup_inline_begin();
    f(arg);
    starpu_omp_taskgroup_inline_end();
}

/* -- taskloops -- */

/* The number of tasks: as asked for, or by the grain size, or 4; none is
 * empty. */
static unsigned long long
taskloop_count_tasks(const struct starpu_omp_task_region_attr *attr)
{
    unsigned long long n = 4;

    if (attr->num_tasks > 0)
        n = (unsigned long long)attr->num_tasks;
    else if (attr->grainsize > 0)
        n = attr->nb_iterations / attr->grainsize;
    if (n > attr->nb_iterations)
        n = attr->nb_iterations;
    return n ? n : attr->nb_iterations > 0;
}

/* Each task is to find its own range in `attr`, which it can only if that is in
 * the argument: then it gets a copy of this. Where `attr` is in there; SIZE_MAX: it
 * is not. */
static size_t attr_in_arg(const struct starpu_omp_task_region_attr *attr)
{
    uintptr_t arg = (uintptr_t)attr->cl_arg, place = (uintptr_t)attr;

    if (arg == place)
        return 0;
    if (!arg || place < arg || place - arg > attr->cl_arg_size ||
        attr->cl_arg_size - (place - arg) < sizeof(*attr))
        return SIZE_MAX;
    return place - arg;
}

/* The copy for one task, which owns it. */
static void *copy_arg(const struct starpu_omp_task_region_attr *attr, size_t at)
{
    size_t size =
        attr->cl_arg_size > sizeof(*attr) ? attr->cl_arg_size : sizeof(*attr);
    char *copy = malloc(size);

    if (!copy)
        orr_omp_no_memory("starpu_omp_taskloop_inline_begin");
    memcpy(copy, attr->cl_arg, size);
    ((struct starpu_omp_task_region_attr *)(void *)(copy + at))->cl_arg = copy;
    return copy;
}

static void taskloop_create_task(struct orr_omp_task *parent,
                                 const struct starpu_omp_task_region_attr *attr)
{
    struct orr_omp_creation creation = orr_omp_creation_of(attr);
    struct orr_omp_task *task = orr_omp_task_new(parent, parent->team);
    size_t at = attr_in_arg(attr);

    if (!task)
        orr_omp_no_memory("starpu_omp_taskloop_inline_begin");
    creation.frees_arg = false;
    if (at == SIZE_MAX) /* all tasks read their ranges in `attr`, so they run one after
                         * the other */
        creation.deferred = false;
    else
        creation.arg = task->loop_arg = copy_arg(attr, at);
    orr_omp_task_create(parent, task, &creation);
}

void starpu_omp_taskloop_inline_begin(struct starpu_omp_task_region_attr *attr)
{
    struct orr_omp_task *self = orr_omp_self_need(__func__);
    unsigned long long ntasks = taskloop_count_tasks(attr);
    unsigned long long each = ntasks ? attr->nb_iterations / ntasks : 0;

    if (!attr->nogroup_clause)
        orr_omp_group_open(self, __func__);
    attr->is_loop = 1;
    for (unsigned long long i = 0; i < ntasks; i++) {
        attr->begin_i = i * each;
        attr->end_i = i + 1 < ntasks ? (i + 1) * each : attr->nb_iterations;
        attr->chunk = attr->end_i - attr->begin_i;
        taskloop_create_task(self, attr);
    }
}

void starpu_omp_taskloop_inline_end(
    const struct starpu_omp_task_region_attr *attr)
{
    if (!attr->nogroup_clause)
        orr_omp_group_close(orr_omp_self_need(__func__), __func__);
    if (attr->cl_arg_free)
        free(attr->cl_arg);
}
