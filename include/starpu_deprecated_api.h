/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_deprecated_api.h - older names of what has been renamed. starpu.h
 * includes it when STARPU_USE_DEPRECATED_API is defined.
 */
#pragma once

#include <starpu_perfmodel.h>
#include <starpu_profiling.h>

#define starpu_bus_profiling_info starpu_profiling_bus_info
#define starpu_bus_profiling_helper_display_summary                            \
    starpu_profiling_bus_helper_display_summary
#define starpu_print_bus_bandwidth starpu_bus_print_bandwidth
