/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/policies/list.c - the list of policies, in the order of STARPU_SCHED=help. */
#include "core/policies/component/modular.h"
#include "core/policies/dm.h"
#include "core/policies/names.h"
#include "core/policies/policies.h"

#define ENTRY(name, ops) &ops,

const struct orr_sched_ops *const orr_sched_builtin[] = {
    ORR_SCHED_NAMES(ENTRY) NULL};
