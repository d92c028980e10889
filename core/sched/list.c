/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/list.c - the list of policies, in the order of STARPU_SCHED=help. */
#include "core/sched/component/modular.h"
#include "core/sched/dm.h"
#include "core/sched/names.h"
#include "core/sched/policies.h"

#define ENTRY(name, ops) &ops,

const struct orr_sched_ops *const orr_sched_builtin[] = {
    ORR_SCHED_NAMES(ENTRY) NULL};
