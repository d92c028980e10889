/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/api/heard.h - what a profiler's library tells the test program. */
#pragma once

#include <starpu_profiling_tool.h>

void heard(const struct starpu_prof_tool_info *info);
