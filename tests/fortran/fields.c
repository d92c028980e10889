/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fields.c - what a task's fields are, for programs in Fortran, which have none. */
#include <string.h>

#include <starpu.h>

double field_number(const struct starpu_task *task, const char *name);
void *field_pointer(const struct starpu_task *task, const char *name);

/* Of a name that is none the bits of NaN that nothing equals. */
double field_number(const struct starpu_task *task, const char *name)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {
        {"priority", task->priority},
        {"execute_on_a_specific_worker", task->execute_on_a_specific_worker},
        {"workerid", task->workerid},
        {"workerorder", task->workerorder},
        {"workerids_len", task->workerids_len},
        {"sched_ctx", task->sched_ctx},
        {"possibly_parallel", task->possibly_parallel},
        {"hypervisor_tag", task->hypervisor_tag},
        {"color", task->color},
        {"synchronous", task->synchronous},
        {"line", task->line},
        {"sequential_consistency", task->sequential_consistency},
        {"no_submitorder", task->no_submitorder},
        {"flops", task->flops},
        {"use_tag", task->use_tag},
        {"tag_id", (double)task->tag_id},
        {"where", task->where},
        {"nbuffers", STARPU_TASK_GET_NBUFFERS(task)},
        {"cl_arg_size", (double)task->cl_arg_size},
        {"cl_arg_free", task->cl_arg_free},
        {"callback_arg_free", task->callback_arg_free},
        {"prologue_callback_arg_free", task->prologue_callback_arg_free},
        {"prologue_callback_pop_arg_free", task->prologue_callback_pop_arg_free},
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (strcmp(fields[i].name, name) == 0)
            return fields[i].value;
    return -1e300;
}

#define POINTER(field) {#field, (const void *)(uintptr_t)task->field}

void *field_pointer(const struct starpu_task *task, const char *name)
{
    const struct {
        const char *name;
        const void *value;
    } fields[] = {
        POINTER(cl), POINTER(name), POINTER(file), POINTER(cl_arg), POINTER(workerids),
        POINTER(callback_func), POINTER(callback_arg), POINTER(epilogue_callback_func),
        POINTER(epilogue_callback_arg), POINTER(prologue_callback_func),
        POINTER(prologue_callback_arg), POINTER(prologue_callback_pop_func),
        POINTER(prologue_callback_pop_arg), POINTER(handles_sequential_consistency),
        POINTER(sched_data), POINTER(profiling_info), POINTER(transaction),
        {"handle", STARPU_TASK_GET_HANDLE(task, 0)},
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        if (strcmp(fields[i].name, name) == 0)
            return (void *)(uintptr_t)fields[i].value;
    return (void *)-1;
}
