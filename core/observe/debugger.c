/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/debugger.c - see debugger.h. */
#include "core/observe/debugger.h"

#include <errno.h>
#include <fcntl.h>

#include "core/base/module.h"
#include "core/exec/runtime.h"

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

    if (orr_config_int(&rt->config, ORR_CFG_WATCH) >= 0)
        code = open_observer(rt, ORR_CFG_WATCH, "watch", err);
    if (code || orr_config_int(&rt->config, ORR_CFG_DEBUGGER) < 0)
        return code;
    if (!rt->sim)
        return orr_fail(err, -EINVAL,
                        "ORRERY_DEBUGGER: only a simulated run can be stopped and go back: name "
                        "a machine (orrery debug -m); for a real one there is gdb with "
                        "share/orrery/gdb/orrery.py");
    return open_observer(rt, ORR_CFG_DEBUGGER, "debug", err);
}
