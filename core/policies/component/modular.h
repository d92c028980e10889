/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/modular.h - the policies made of components. Their tables
 * have a name and hooks.
 */
#pragma once

#include "core/sched/sched.h"

extern const struct orr_sched_ops orr_sched_modular_eager,
    orr_sched_modular_eager_prefetching, orr_sched_modular_eager_prio,
    orr_sched_modular_gemm, orr_sched_modular_prio,
    orr_sched_modular_prio_prefetching, orr_sched_modular_random,
    orr_sched_modular_random_prio, orr_sched_modular_random_prefetching,
    orr_sched_modular_random_prio_prefetching, orr_sched_modular_prandom,
    orr_sched_modular_prandom_prio, orr_sched_modular_ws,
    orr_sched_modular_dmda, orr_sched_modular_dmdap, orr_sched_modular_dmdar,
    orr_sched_modular_dmdas, orr_sched_modular_heft,
    orr_sched_modular_heft_prio, orr_sched_modular_heft2,
    orr_sched_modular_heteroprio, orr_sched_modular_heteroprio_heft,
    orr_sched_modular_pheft;
