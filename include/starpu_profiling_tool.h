/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_profiling_tool.h - for the library of a profiler that is told what the
 * runtime does. It defines
 *
 *   void starpu_prof_tool_library_register(
 *       starpu_prof_tool_entry_register_func reg,
 *       starpu_prof_tool_entry_register_func unreg);
 *
 * which is called when starpu_init begins, and registers a callback for each event
 * that it wants to hear of. STARPU_PROF_TOOL names its file; without that it may be
 * the program's own, or be preloaded.
 */
#pragma once

#include <starpu.h>

#ifdef __cplusplus
extern "C" {
#endif

enum starpu_prof_tool_event {
    starpu_prof_tool_event_none = 0,
    starpu_prof_tool_event_init,              /* starpu_init begins … */
    starpu_prof_tool_event_terminate,         /* the workers have ended */
    starpu_prof_tool_event_init_begin,        /* … sent as well */
    starpu_prof_tool_event_init_end,          /* starpu_init is about to return */
    starpu_prof_tool_event_driver_init,       /* a worker begins */
    starpu_prof_tool_event_driver_deinit,     /* … ends */
    starpu_prof_tool_event_driver_init_start, /* … before it begins */
    starpu_prof_tool_event_driver_init_end,   /* … is ready */
    starpu_prof_tool_event_start_cpu_exec,    /* of a kernel, on a processor … */
    starpu_prof_tool_event_end_cpu_exec,
    starpu_prof_tool_event_start_gpu_exec,    /* … or on another device */
    starpu_prof_tool_event_end_gpu_exec,
    starpu_prof_tool_event_start_transfer,    /* a worker waits for data */
    starpu_prof_tool_event_end_transfer,
    starpu_prof_tool_event_user_start,        /* never sent */
    starpu_prof_tool_event_user_end           /* never sent */
};

enum starpu_prof_tool_driver_type {
    starpu_prof_tool_driver_cpu = 0,
    starpu_prof_tool_driver_gpu = 1, /* CUDA and HIP */
    starpu_prof_tool_driver_hip = 2, /* not used */
    starpu_prof_tool_driver_ocl = 3
};

/* What a registration is for; accepted, and always the first one. */
enum starpu_prof_tool_command {
    starpu_prof_tool_command_reg = 0,
    starpu_prof_tool_command_toggle = 1,
    starpu_prof_tool_command_toggle_per_thread = 2
};

/* What is known of an event; it lasts as long as the callback. */
struct starpu_prof_tool_info {
    enum starpu_prof_tool_event event_type;
    unsigned int starpu_version[3]; /* of the interface */
    int thread_id;                  /* of the operating system, of the caller */
    int worker_id;                  /* -1: none */
    int device_number;              /* of the worker; -1 */
    enum starpu_prof_tool_driver_type driver_type;
    unsigned int memnode;            /* of the worker; UINT_MAX: none */
    unsigned int bytes_to_transfer;  /* buffers of the task; 0 without one */
    unsigned int bytes_transfered;   /* the same */
    void *fun_ptr;                   /* the kernel's function, or NULL */
    struct starpu_conf *conf;        /* that of starpu_init; init_end only */
};

union starpu_prof_tool_event_info {
    enum starpu_prof_tool_event event_type;
};

struct starpu_prof_tool_api_info {
    char unused;
};

/* Called where the event is: it may not block, nor call what submits or waits. The
 * second and third argument are NULL. */
typedef void (*starpu_prof_tool_cb_func)(
    struct starpu_prof_tool_info *, union starpu_prof_tool_event_info *,
    struct starpu_prof_tool_api_info *);

/* Registers the callback for an event in the place of the one before, if any; or
 * takes it away. */
typedef void (*starpu_prof_tool_entry_register_func)(
    enum starpu_prof_tool_event, starpu_prof_tool_cb_func,
    enum starpu_prof_tool_command);

typedef void (*starpu_prof_tool_entry_func)(
    starpu_prof_tool_entry_register_func reg,
    starpu_prof_tool_entry_register_func unreg);

#ifdef __cplusplus
}
#endif
