/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wrapper.h - what orrery-sys has of the headers: all but those of MPI and of vendors. */
#include <orrery.h>
#include <orrery_drawing.h>
#include <starpu.h>
#include <starpu_heteroprio.h>
#include <starpu_profiling_tool.h>
#include <starpu_sched_component.h>
#include <starpu_scheduler_toolbox.h>
