/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_task_bundle.h - groups of tasks that a scheduler should place
 * together. Types only.
 */
#pragma once

#include <starpu_config.h>

struct _starpu_task_bundle;
typedef struct _starpu_task_bundle *starpu_task_bundle_t;
