/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policies.h - the policies of this folder. */
#pragma once

#include <starpu.h>
#include <starpu_scheduler_toolbox.h>

extern struct starpu_sched_policy earliest;
extern struct starpu_sched_policy urgent;
