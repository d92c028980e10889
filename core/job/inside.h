/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/job/inside.h - which task the calling context runs, for those that it
 * submits. */
#pragma once

#include "core/job/nest.h"

struct orr_job;

/* The nest of the kernel that the calling context runs, made if needed; NULL: it
 * runs none that may wait, or memory is out. In the kernel itself, not in
 * callbacks. */
struct orr_nest *orr_nest_here(struct orr_runtime *rt);

/* The job belongs in that nest. */
void orr_job_enter_nest(struct orr_runtime *rt, struct orr_job *job,
                        struct orr_nest *around);
