/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/fortran/names.c - functions under names that StarPU's module has and no header,
 * and those about workers whose types are addresses there.
 */
#include <string.h>

#include "core/fortran/fortran.h"

/* --- workers --- */

void fstarpu_topology_print(void)
{
    starpu_topology_print(stderr);
}

static enum starpu_worker_archtype type_of(intptr_t typeid)
{
    return (enum starpu_worker_archtype)typeid;
}

void *fstarpu_worker_get_type(int id)
{
    return (void *)(intptr_t)starpu_worker_get_type(id);
}

int fstarpu_worker_get_count_by_type(intptr_t typeid)
{
    return starpu_worker_get_count_by_type(type_of(typeid));
}

int fstarpu_worker_get_ids_by_type(intptr_t typeid, int *workerids, int maxsize)
{
    return (int)starpu_worker_get_ids_by_type(
        type_of(typeid), workerids, maxsize > 0 ? (unsigned)maxsize : 0);
}

int fstarpu_worker_get_by_type(intptr_t typeid, int num)
{
    return starpu_worker_get_by_type(type_of(typeid), num);
}

int fstarpu_worker_get_by_devid(intptr_t typeid, int devid)
{
    return starpu_worker_get_by_devid(type_of(typeid), devid);
}

void fstarpu_worker_get_type_as_string(intptr_t typeid, char *dst, size_t maxlen)
{
    if (maxlen)
        snprintf(dst, maxlen, "%s",
                 starpu_worker_get_type_as_string(type_of(typeid)));
}

int starpu_worker_is_blocked(int id)
{
    return (int)starpu_worker_is_blocked_in_parallel(id);
}

/* --- names that have a word twice, or too few --- */

void starpu_parallel_task_barrier_init_init(struct starpu_task *task, int id)
{
    starpu_parallel_task_barrier_init(task, id);
}

void starpu_parallel_task_barrier_init_n_init_n(struct starpu_task *task, int sz)
{
    starpu_parallel_task_barrier_init_n(task, sz);
}

void starpu_vector_divide_in_2(void *father_interface, void *child_interface,
                               struct starpu_data_filter *filter, uintptr_t id,
                               uintptr_t nparts)
{
    starpu_vector_filter_divide_in_2(father_interface, child_interface, filter,
                                     (unsigned)id, (unsigned)nparts);
}

void starpu_display_memory_stats(void)
{
    starpu_data_display_memory_stats();
}

void starpu_trace_user_event(long code)
{
    starpu_fxt_trace_user_event((unsigned long)code);
}

/* --- for policies --- */

void starpu_sched_ctx_list_task_counters_increment_all(struct starpu_task *task,
                                                       int sched_ctx_id)
{
    starpu_sched_ctx_list_task_counters_increment_all_ctx_locked(
        task, (unsigned)sched_ctx_id);
}

void starpu_sched_ctx_list_task_counters_decrement_all(struct starpu_task *task,
                                                       int sched_ctx_id)
{
    starpu_sched_ctx_list_task_counters_decrement_all_ctx_locked(
        task, (unsigned)sched_ctx_id);
}

void starpu_sched_ctx_revert_task_counters(int sched_ctx_id, double flops)
{
    starpu_sched_ctx_revert_task_counters_ctx_locked((unsigned)sched_ctx_id,
                                                     flops);
}

void starpu_sched_ctx_move_task_to_ctx(struct starpu_task *task, int sched_ctx,
                                       int manage_mutex)
{
    starpu_sched_ctx_move_task_to_ctx_locked(task, (unsigned)sched_ctx,
                                             (unsigned)manage_mutex);
}

/* It would tell StarPU's hypervisor of contexts that a task was pushed; there is none. */
void starpu_sched_ctx_call_pushed_task_cb(int workerid, int sched_ctx_id)
{
    (void)workerid;
    (void)sched_ctx_id;
}

/* --- traces of FxT, of which there are none --- */

void starpu_fxt_options_init(struct starpu_fxt_options *fxt_options)
{
    memset(fxt_options, 0, sizeof(*fxt_options));
}

static void say_what_traces(const char *call)
{
    orr_log_warning("%s: there are no FxT files to convert: run the program with "
                    "ORRERY_TRACE=paje.trace, or with ORRERY_TRACE=run.csv and then "
                    "starpu_fxt_tool -i run.csv",
                    call);
}

void starpu_fxt_generate_trace(struct starpu_fxt_options *fxt_options)
{
    (void)fxt_options;
    say_what_traces(__func__);
}

void starpu_fxt_write_data_trace(const char *filename)
{
    (void)filename;
    say_what_traces(__func__);
}
