/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/api/profiler.c - the library of a profiler: it hears of the beginning, and of
 * kernels on processors, but not of their ends, which it registers for and takes
 * back.
 */
#include "heard.h"

void starpu_prof_tool_library_register(
    starpu_prof_tool_entry_register_func reg,
    starpu_prof_tool_entry_register_func unreg);

static void hear(struct starpu_prof_tool_info *info,
                 union starpu_prof_tool_event_info *event,
                 struct starpu_prof_tool_api_info *api)
{
    (void)event;
    (void)api;
    heard(info);
}

void starpu_prof_tool_library_register(
    starpu_prof_tool_entry_register_func reg,
    starpu_prof_tool_entry_register_func unreg)
{
    reg(starpu_prof_tool_event_init, hear, starpu_prof_tool_command_reg);
    reg(starpu_prof_tool_event_start_cpu_exec, hear,
        starpu_prof_tool_command_reg);
    reg(starpu_prof_tool_event_end_cpu_exec, hear,
        starpu_prof_tool_command_reg);
    unreg(starpu_prof_tool_event_end_cpu_exec, hear,
          starpu_prof_tool_command_reg);
}
