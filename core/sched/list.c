/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/sched/list.c - the list of policies, in the order of STARPU_SCHED=help. */
#include "core/sched/component/modular.h"
#include "core/sched/dm.h"
#include "core/sched/policies.h"

const struct orr_sched_ops *const orr_sched_builtin[] = {
    &orr_sched_modular_eager,
    &orr_sched_modular_eager_prefetching,
    &orr_sched_modular_eager_prio,
    &orr_sched_modular_gemm,
    &orr_sched_modular_prio,
    &orr_sched_modular_prio_prefetching,
    &orr_sched_modular_random,
    &orr_sched_modular_random_prio,
    &orr_sched_modular_random_prefetching,
    &orr_sched_modular_random_prio_prefetching,
    &orr_sched_modular_prandom,
    &orr_sched_modular_prandom_prio,
    &orr_sched_modular_ws,
    &orr_sched_modular_dmda,
    &orr_sched_modular_dmdap,
    &orr_sched_modular_dmdar,
    &orr_sched_modular_dmdas,
    &orr_sched_modular_heft,
    &orr_sched_modular_heft_prio,
    &orr_sched_modular_heft2,
    &orr_sched_modular_heteroprio,
    &orr_sched_modular_heteroprio_heft,
    &orr_sched_modular_pheft,
    &orr_sched_eager,     &orr_sched_prio,       &orr_sched_random,
    &orr_sched_lws,       &orr_sched_ws,         &orr_sched_dm.ops,
    &orr_sched_dmda.ops,  &orr_sched_dmdap.ops,  &orr_sched_dmdar.ops,
    &orr_sched_dmdas.ops, &orr_sched_dmdasd.ops, &orr_sched_pheft,
    &orr_sched_peager,    &orr_sched_heteroprio, NULL,
};
