/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/debugger.c - see debugger.h. */
#include "core/observe/debugger.h"

#include <errno.h>
#include <fcntl.h>

#include "core/base/module.h"
#include "core/exec/runtime.h"

int orr_debugger_observe(struct orr_runtime *rt, struct orr_error *err)
{
    int fd = orr_config_int(&rt->config, ORR_CFG_DEBUGGER);
    const struct orr_debugger_ops *ops;
    const struct orr_observer *observer;
    const void *table;
    int code;

    if (fd < 0)
        return 0;
    if (!rt->sim)
        return orr_fail(err, -EINVAL,
                        "ORRERY_DEBUGGER: only a simulated run can be stopped and go back: name "
                        "a machine (orrery debug -m); for a real one there is gdb with "
                        "share/orrery/gdb/orrery.py");
    if (fcntl(fd, F_GETFD) < 0)
        return orr_fail(err, -EINVAL,
                        "ORRERY_DEBUGGER=%d is no open descriptor: it is set by `orrery debug', "
                        "unset it",
                        fd);
    code = orr_module_open("debug", &table, err);
    if (code)
        return code;
    ops = table;
    observer = ops->open(fd);
    if (!observer)
        return 0;
    orr_observers_add(&rt->observers, observer);
    orr_observers_want(&rt->observers, observer, ORR_TOLD_ALL, true);
    return 0;
}
