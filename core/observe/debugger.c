/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/debugger.c - see debugger.h. */
#include "core/observe/debugger.h"

#include <errno.h>
#include <fcntl.h>

#include "core/base/module.h"
#include "core/exec/runtime.h"
#include "core/observe/sources.h"

/* --- the program's own debugger --- */

/* The arguments are there, whatever the compiler knows of who uses them. */
__attribute__((noinline)) void orr_debugger_event(struct orr_runtime *rt,
                                                  const struct orr_told *told)
{
    __asm__ volatile("" : : "r"(rt), "r"(told) : "memory");
}

__attribute__((noinline)) void orr_debugger_opened(struct orr_runtime *rt)
{
    __asm__ volatile("" : : "r"(rt) : "memory");
}

/* Those that have a name in tools/gdb/orrery.py. */
const struct orr_observer orr_debugger_native = {{
    [ORR_TOLD_TASK_WAITS] = orr_debugger_event,
    [ORR_TOLD_TASK_READY] = orr_debugger_event,
    [ORR_TOLD_TASK_FETCHES] = orr_debugger_event,
    [ORR_TOLD_KERNEL_BEGINS] = orr_debugger_event,
    [ORR_TOLD_TASK_EXECUTED] = orr_debugger_event,
    [ORR_TOLD_TASK_SKIPPED] = orr_debugger_event,
    [ORR_TOLD_TASK_RETURNED] = orr_debugger_event,
    [ORR_TOLD_COPY_BEGINS] = orr_debugger_event,
    [ORR_TOLD_COPY_ENDED] = orr_debugger_event,
    [ORR_TOLD_STOLEN] = orr_debugger_event,
    [ORR_TOLD_MARK] = orr_debugger_event,
}};

/* --- ours --- */

static int open_observer(struct orr_runtime *rt, enum orr_config_id variable, const char *module,
                         struct orr_error *err)
{
    int fd = orr_config_int(&rt->config, variable);
    const struct orr_debugger_ops *ops;
    const struct orr_observer *observer;
    const void *table;
    int code;

    if (fcntl(fd, F_GETFD) < 0)
        return orr_fail(err, -EINVAL,
                        "%s=%d is no open descriptor: it is set by `orrery %s', unset it",
                        orr_config_name(variable), fd, module);
    code = orr_module_open(module, &table, err);
    if (code)
        return code;
    ops = table;
    observer = ops->open(rt, fd);
    if (!observer)
        return 0;
    orr_observers_add(&rt->observers, observer);
    orr_observers_want(&rt->observers, observer, ORR_TOLD_ALL, true);
    return 0;
}

int orr_debugger_observe(struct orr_runtime *rt, struct orr_error *err)
{
    int code = 0;

    orr_observers_add(&rt->observers, &orr_debugger_native);
    orr_debugger_opened(rt);
    if (orr_config_int(&rt->config, ORR_CFG_WATCH) >= 0)
        code = open_observer(rt, ORR_CFG_WATCH, "watch", err);
    if (code || orr_config_int(&rt->config, ORR_CFG_DEBUGGER) < 0)
        return code;
    if (!rt->sim)
        return orr_fail(err, -EINVAL,
                        "ORRERY_DEBUGGER: only a simulated run can be stopped and go back: name "
                        "a machine (orrery debug -m); for a real one there is gdb with "
                        "share/orrery/gdb/orrery.py");
    /* It is told of a submission when that is noted. */
    if (orr_sources_keep(rt) != 0)
        return orr_fail(err, -ENOMEM, "out of memory");
    return open_observer(rt, ORR_CFG_DEBUGGER, "debug", err);
}
