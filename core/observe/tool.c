/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/observe/tool.c - see tool.h. The functions that a profiler registers with get
 * no argument that says for whom: `registering` is the one that is being opened.
 */
#include "core/observe/tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/device/kind.h"
#include "core/exec/runtime.h"
#include "core/job/job.h"
#include "core/observe/views.h"
#include "core/worker/workers.h"

enum { NEVENTS = starpu_prof_tool_event_user_end + 1 };

struct orr_tool {
    void *library; /* owned; NULL: it is the program's */
    starpu_prof_tool_cb_func callbacks[NEVENTS];
};

static _Thread_local struct orr_tool *registering;

static bool knows(enum starpu_prof_tool_event event)
{
    if (event > starpu_prof_tool_event_none && (unsigned)event < NEVENTS)
        return true;
    orr_log_error("the profiler's library registers for event %d, which there "
                  "is not",
                  (int)event);
    return false;
}

static void tool_register(enum starpu_prof_tool_event event,
                          starpu_prof_tool_cb_func callback,
                          enum starpu_prof_tool_command command)
{
    (void)command;
    if (registering && knows(event))
        registering->callbacks[event] = callback;
}

static void tool_unregister(enum starpu_prof_tool_event event,
                            starpu_prof_tool_cb_func callback,
                            enum starpu_prof_tool_command command)
{
    (void)callback;
    tool_register(event, NULL, command);
}

/* The library's function, NULL without. */
static starpu_prof_tool_entry_func entry_of(const char *file, void **ret_library)
{
    static const char name[] = "starpu_prof_tool_library_register";
    starpu_prof_tool_entry_func entry = NULL;
    void *symbol;

    *ret_library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (file && !*ret_library) {
        orr_log_error("STARPU_PROF_TOOL: %s; the run goes on without it",
                      dlerror());
        return NULL;
    }
    symbol = dlsym(file ? *ret_library : RTLD_DEFAULT, name);
    if (file && !symbol)
        orr_log_error("STARPU_PROF_TOOL: %s has no %s; the run goes on without "
                      "it",
                      file, name);
    /* ISO C has no conversion between the two, POSIX has. */
    *(void **)(void *)&entry = symbol;
    return entry;
}

/* *ret is NULL without a library. */
static int tool_open(const char *file, struct orr_tool **ret)
{
    void *library;
    starpu_prof_tool_entry_func entry = entry_of(file, &library);
    struct orr_tool *tool = entry ? calloc(1, sizeof(*tool)) : NULL;

    *ret = tool;
    if (!tool) {
        if (library)
            dlclose(library);
        return entry ? -ENOMEM : 0;
    }
    tool->library = library;
    registering = tool;
    entry(tool_register, tool_unregister);
    registering = NULL;
    return 0;
}

void orr_tool_close(struct orr_tool *tool)
{
    if (tool && tool->library)
        dlclose(tool->library);
    free(tool);
}

static void describe_worker(const struct orr_worker *worker,
                            struct starpu_prof_tool_info *info)
{
    info->worker_id = (int)worker->id;
    info->device_number = worker->desc->devid;
    info->memnode = worker->desc->node;
    info->driver_type = orr_device_kind(worker->desc->type)->profiled_as;
}

static void tool_call(const struct orr_tool *tool,
                      enum starpu_prof_tool_event event,
                      struct starpu_prof_tool_info *info)
{
    static const unsigned version[] = {STARPU_MAJOR_VERSION,
                                       STARPU_MINOR_VERSION,
                                       STARPU_RELEASE_VERSION};

    for (unsigned i = 0; i < 3; i++)
        info->starpu_version[i] = version[i];
    info->event_type = event;
    info->thread_id = (int)gettid();
    if (orr_self)
        orr_self->frozen++;
    tool->callbacks[event](info, NULL, NULL);
    if (orr_self)
        orr_self->frozen--;
}

static void tool_event(const struct orr_tool *tool,
                       enum starpu_prof_tool_event event,
                       const struct orr_worker *worker,
                       const struct orr_job *job)
{
    struct starpu_prof_tool_info info = {
        .worker_id = -1, .device_number = -1, .memnode = UINT_MAX};

    if (!tool->callbacks[event])
        return;
    if (worker)
        describe_worker(worker, &info);
    if (job)
        info.bytes_to_transfer = info.bytes_transfered = job->naccesses;
    tool_call(tool, event, &info);
}

static void tool_run_begins(struct orr_runtime *rt, const struct orr_told *told)
{
    (void)told;
    tool_event(rt->views->tool, starpu_prof_tool_event_init, NULL, NULL);
    tool_event(rt->views->tool, starpu_prof_tool_event_init_begin, NULL, NULL);
}

static void tool_run_is_open(struct orr_runtime *rt,
                             const struct orr_told *told)
{
    const struct orr_tool *tool = rt->views->tool;
    struct starpu_prof_tool_info info = {.worker_id = -1,
                                         .device_number = -1,
                                         .memnode = UINT_MAX,
                                         .conf = told->conf};

    if (tool->callbacks[starpu_prof_tool_event_init_end])
        tool_call(tool, starpu_prof_tool_event_init_end, &info);
}

static void tool_run_ends(struct orr_runtime *rt, const struct orr_told *told)
{
    (void)told;
    tool_event(rt->views->tool, starpu_prof_tool_event_terminate, NULL, NULL);
}

static void tool_worker_up(struct orr_runtime *rt, const struct orr_told *told)
{
    tool_event(rt->views->tool, starpu_prof_tool_event_driver_init_start,
               told->worker, NULL);
    tool_event(rt->views->tool, starpu_prof_tool_event_driver_init,
               told->worker, NULL);
    tool_event(rt->views->tool, starpu_prof_tool_event_driver_init_end,
               told->worker, NULL);
}

static void tool_worker_down(struct orr_runtime *rt,
                             const struct orr_told *told)
{
    tool_event(rt->views->tool, starpu_prof_tool_event_driver_deinit,
               told->worker, NULL);
}

/* The worker begins or ends a time in which it waits for data and does nothing else. */
static void tool_worker_state(struct orr_runtime *rt,
                              const struct orr_told *told)
{
    const struct orr_worker *worker = told->worker;

    if (atomic_load_explicit(&worker->state, memory_order_relaxed) ==
        ORR_WORKER_FETCHING)
        tool_event(rt->views->tool, starpu_prof_tool_event_start_transfer,
                   worker, worker->fetching);
    else if (told->before_state == ORR_WORKER_FETCHING)
        tool_event(rt->views->tool, starpu_prof_tool_event_end_transfer, worker,
                   worker->fetching);
}

static void tool_kernel(const struct orr_tool *tool, bool begins,
                        const struct orr_worker *worker,
                        const struct orr_job *job)
{
    struct starpu_prof_tool_info info = {0};
    enum starpu_prof_tool_event event;
    orr_kernel_func_t function = orr_codelet_function(
        job->task->cl, worker->desc->type, job->implementation);

    describe_worker(worker, &info);
    if (info.driver_type == starpu_prof_tool_driver_cpu)
        event = begins ? starpu_prof_tool_event_start_cpu_exec
                       : starpu_prof_tool_event_end_cpu_exec;
    else
        event = begins ? starpu_prof_tool_event_start_gpu_exec
                       : starpu_prof_tool_event_end_gpu_exec;
    if (!tool->callbacks[event])
        return;
    info.bytes_to_transfer = info.bytes_transfered = job->naccesses;
    info.fun_ptr = *(void **)(void *)&function;
    tool_call(tool, event, &info);
}

static void tool_kernel_begins(struct orr_runtime *rt,
                               const struct orr_told *told)
{
    tool_kernel(rt->views->tool, true, told->worker, told->job);
}

static void tool_kernel_ended(struct orr_runtime *rt,
                              const struct orr_told *told)
{
    tool_kernel(rt->views->tool, false, told->worker, told->job);
}

static const struct orr_observer tool_observer = {{
    [ORR_TOLD_RUN_BEGINS] = tool_run_begins,
    [ORR_TOLD_RUN_IS_OPEN] = tool_run_is_open,
    [ORR_TOLD_RUN_ENDS] = tool_run_ends,
    [ORR_TOLD_WORKER_UP] = tool_worker_up,
    [ORR_TOLD_WORKER_DOWN] = tool_worker_down,
    [ORR_TOLD_WORKER_STATE] = tool_worker_state,
    [ORR_TOLD_KERNEL_BEGINS] = tool_kernel_begins,
    [ORR_TOLD_KERNEL_ENDED] = tool_kernel_ended,
}};

int orr_tool_observe(struct orr_runtime *rt)
{
    const char *file = orr_config_string(&rt->config, ORR_CFG_PROF_TOOL);
    int code = tool_open(file && *file ? file : NULL, &rt->views->tool);

    if (!rt->views->tool)
        return code;
    orr_observers_add(&rt->observers, &tool_observer);
    orr_observers_want(&rt->observers, &tool_observer, ORR_TOLD_ALL, true);
    return 0;
}
