/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/library.h - policies of a shared object, STARPU_SCHED_LIB. Main. */
#pragma once

#include <starpu_scheduler.h>

#include "core/base/error.h"

/* The shared object's policy of that name in *ret, NULL if it has none; owned by the
 * object, which stays open for the rest of the process. `file` may be empty: then there
 * is none. Errors, with a message: -ENOENT, it cannot be opened; -EINVAL, it has no
 * starpu_get_sched_lib_policy, its policy has no hooks or another name, or it was
 * linked with another StarPU. */
int orr_sched_library_find(const char *file, const char *name,
                           struct starpu_sched_policy **ret,
                           struct orr_error *err);

/* All that it has, NULL-terminated; *ret is NULL if it does not tell. Errors: as
 * above. */
int orr_sched_library_list(const char *file, struct starpu_sched_policy ***ret,
                           struct orr_error *err);
