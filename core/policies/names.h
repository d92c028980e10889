/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/names.h - the built-in policies by name, in the order of
 * STARPU_SCHED=help: list.c makes the list of them, the commands look names up.
 * Programs start each policy of the list in turn; static=FILE, which needs a file, is
 * not in the list (builtin.c).
 */
#pragma once

/* X(name, its table of operations) */
#define ORR_SCHED_NAMES(X)                                                   \
    X("modular-eager", orr_sched_modular_eager)                              \
    X("modular-eager-prefetching", orr_sched_modular_eager_prefetching)      \
    X("modular-eager-prio", orr_sched_modular_eager_prio)                    \
    X("modular-gemm", orr_sched_modular_gemm)                                \
    X("modular-prio", orr_sched_modular_prio)                                \
    X("modular-prio-prefetching", orr_sched_modular_prio_prefetching)        \
    X("modular-random", orr_sched_modular_random)                            \
    X("modular-random-prio", orr_sched_modular_random_prio)                  \
    X("modular-random-prefetching", orr_sched_modular_random_prefetching)    \
    X("modular-random-prio-prefetching", orr_sched_modular_random_prio_prefetching) \
    X("modular-prandom", orr_sched_modular_prandom)                          \
    X("modular-prandom-prio", orr_sched_modular_prandom_prio)                \
    X("modular-ws", orr_sched_modular_ws)                                    \
    X("modular-dmda", orr_sched_modular_dmda)                                \
    X("modular-dmdap", orr_sched_modular_dmdap)                              \
    X("modular-dmdar", orr_sched_modular_dmdar)                              \
    X("modular-dmdas", orr_sched_modular_dmdas)                              \
    X("modular-heft", orr_sched_modular_heft)                                \
    X("modular-heft-prio", orr_sched_modular_heft_prio)                      \
    X("modular-heft2", orr_sched_modular_heft2)                              \
    X("modular-heteroprio", orr_sched_modular_heteroprio)                    \
    X("modular-heteroprio-heft", orr_sched_modular_heteroprio_heft)          \
    X("modular-pheft", orr_sched_modular_pheft)                              \
    X("eager", orr_sched_eager)                                              \
    X("prio", orr_sched_prio)                                                \
    X("random", orr_sched_random)                                            \
    X("lws", orr_sched_lws)                                                  \
    X("ws", orr_sched_ws)                                                    \
    X("dm", orr_sched_dm.ops)                                                \
    X("dmda", orr_sched_dmda.ops)                                            \
    X("dmdap", orr_sched_dmdap.ops)                                          \
    X("dmdar", orr_sched_dmdar.ops)                                          \
    X("dmdas", orr_sched_dmdas.ops)                                          \
    X("dmdasd", orr_sched_dmdasd.ops)                                        \
    X("pheft", orr_sched_pheft)                                              \
    X("peager", orr_sched_peager)                                            \
    X("heteroprio", orr_sched_heteroprio)                                    \
    X("graph_test", orr_sched_graph_test)                                    \
    X("robust", orr_sched_robust.ops)                                        \
    X("memaware", orr_sched_memaware)                                        \
    X("plan-heft", orr_sched_plan_heft)
