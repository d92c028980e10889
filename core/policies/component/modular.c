/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/policies/component/modular.c - the policies modular-*, each a tree by flags,
 * written as an application would.
 */
#include "core/policies/component/modular.h"

#include "core/policies/component/component.h"

#define F(name) STARPU_SCHED_SIMPLE_##name
#define BY_WORKER (F(DECIDE_WORKERS) | F(IMPL))
#define ABOVE F(FIFO_ABOVE)
#define ABOVE_PRIO (F(FIFO_ABOVE) | F(FIFO_ABOVE_PRIO))
#define BELOW F(FIFOS_BELOW)
#define BELOW_PRIO (F(FIFOS_BELOW) | F(FIFOS_BELOW_PRIO))
#define READY F(FIFOS_BELOW_READY)
#define EXPECTED (F(FIFOS_BELOW_EXP) | F(PERFMODEL))
#define FREE F(FIFOS_BELOW_NOLIMIT)
#define COMBINED F(COMBINED_WORKERS)

static void modular_make_tree(unsigned ctx, void (*create)(void),
                              unsigned flags)
{
    starpu_sched_component_initialize_simple_scheduler(
        (starpu_sched_component_create_t)create, NULL, flags, ctx);
}

/* name, its C name, what creates the decision, flags, help */
#define POLICIES(X)                                                            \
    X("modular-eager", eager, eager, BY_WORKER | ABOVE, "one queue")           \
    X("modular-eager-prefetching", eager_prefetching, eager,                   \
      BY_WORKER | ABOVE | BELOW | READY, "one queue, short ones per worker")   \
    X("modular-eager-prio", eager_prio, eager_prio,                            \
      BY_WORKER | BELOW_PRIO | READY, "by priority, short queues per worker")  \
    X("modular-gemm", gemm, gemm,                                              \
      F(DECIDE_MEMNODES) | F(IMPL) | ABOVE_PRIO | BELOW_PRIO |                 \
          F(FIFOS_BELOW_EXP),                                                  \
      "products of matrices by expected ends, the rest on processors")         \
    X("modular-prio", prio, eager, BY_WORKER | ABOVE_PRIO,                     \
      "one queue, by priority")                                                \
    X("modular-prio-prefetching", prio_prefetching, eager,                     \
      BY_WORKER | ABOVE_PRIO | BELOW_PRIO | READY,                             \
      "one queue by priority, short ones per worker")                          \
    X("modular-random", random, random, BY_WORKER | ABOVE,                     \
      "drawn by speed")                                                        \
    X("modular-random-prio", random_prio, random, BY_WORKER | ABOVE_PRIO,      \
      "drawn by speed, by priority")                                           \
    X("modular-random-prefetching", random_prefetching, random,                \
      BY_WORKER | ABOVE | BELOW | READY, "drawn by speed, short queues")       \
    X("modular-random-prio-prefetching", random_prio_prefetching, random,      \
      BY_WORKER | ABOVE_PRIO | BELOW_PRIO | READY,                             \
      "drawn by speed, short queues by priority")                              \
    X("modular-prandom", prandom, random, BY_WORKER | ABOVE | BELOW | COMBINED, \
      "drawn by speed, combined workers too")                                  \
    X("modular-prandom-prio", prandom_prio, random,                            \
      BY_WORKER | ABOVE_PRIO | BELOW_PRIO | COMBINED,                          \
      "drawn by speed, combined workers too, by priority")                     \
    X("modular-ws", ws, work_stealing, BY_WORKER, "work stealing")             \
    X("modular-dmda", dmda, mct, BY_WORKER | BELOW | EXPECTED | FREE,          \
      "least expected cost")                                                   \
    X("modular-dmdap", dmdap, mct, BY_WORKER | BELOW_PRIO | EXPECTED | FREE,   \
      "least expected cost, by priority")                                      \
    X("modular-dmdar", dmdar, mct, BY_WORKER | BELOW | READY | EXPECTED | FREE, \
      "least expected cost, ready data first")                                 \
    X("modular-dmdas", dmdas, mct,                                             \
      BY_WORKER | BELOW_PRIO | READY | EXPECTED | FREE,                        \
      "least expected cost, by priority, ready data first")                    \
    X("modular-heft", heft, mct,                                               \
      BY_WORKER | ABOVE_PRIO | BELOW_PRIO | READY | EXPECTED,                  \
      "least expected cost, decided late, by priority")                        \
    X("modular-heft-prio", heft_prio, mct,                                     \
      F(DECIDE_MEMNODES) | F(IMPL) | ABOVE_PRIO | BELOW_PRIO | READY |         \
          EXPECTED,                                                            \
      "least expected cost per memory node, by priority")                      \
    X("modular-heft2", heft2, heft,                                            \
      BY_WORKER | ABOVE_PRIO | BELOW_PRIO | READY | EXPECTED,                  \
      "the task that ends first, where it does")                               \
    X("modular-heteroprio", heteroprio, heteroprio,                            \
      BY_WORKER | ABOVE_PRIO | BELOW_PRIO | READY | EXPECTED,                  \
      "the most accelerated ones to accelerators")                             \
    X("modular-pheft", pheft, mct,                                             \
      BY_WORKER | ABOVE_PRIO | BELOW_PRIO | READY | EXPECTED | COMBINED,       \
      "least expected cost, combined workers too")

#define starpu_sched_component_gemm_create orr_component_gemm_create
#define INIT(name, id, create, flags, help)                                    \
    static void init_##id(unsigned ctx)                                        \
    {                                                                          \
        modular_make_tree(                                                     \
            ctx, (void (*)(void))starpu_sched_component_##create##_create,     \
            flags);                                                            \
    }
POLICIES(INIT)

static void init_heteroprio_heft(unsigned ctx)
{
    unsigned common =
        BY_WORKER | BELOW_PRIO | READY | F(FIFOS_BELOW_EXP);

    starpu_sched_component_initialize_simple_schedulers(
        ctx, 2U,
        (starpu_sched_component_create_t)
            starpu_sched_component_heteroprio_create,
        NULL, (common & ~(unsigned)F(FIFOS_BELOW_PRIO)),
        (starpu_sched_component_create_t)starpu_sched_component_heft_create,
        NULL, common | ABOVE_PRIO);
}

#define HOOKS(title, id, text)                                                 \
    static struct starpu_sched_policy hooks_##id = {                           \
        .init_sched = init_##id,                                               \
        .deinit_sched = starpu_sched_tree_deinitialize,                        \
        .add_workers = starpu_sched_tree_add_workers,                          \
        .remove_workers = starpu_sched_tree_remove_workers,                    \
        .do_schedule = starpu_sched_tree_do_schedule,                          \
        .push_task = starpu_sched_tree_push_task,                              \
        .pop_task = starpu_sched_tree_pop_task,                                \
        .pre_exec_hook = starpu_sched_component_worker_pre_exec_hook,          \
        .post_exec_hook = starpu_sched_component_worker_post_exec_hook,        \
        .prefetches = 1,                                                       \
        .policy_name = title,                                                  \
        .policy_description = text,                                            \
        .worker_type = STARPU_WORKER_LIST,                                     \
    };                                                                         \
    const struct orr_sched_ops orr_sched_modular_##id = {                      \
        .name = title, .help = "components: " text, .hooks = &hooks_##id};
#define POLICY(name, id, create, flags, help) HOOKS(name, id, help)
POLICIES(POLICY)
HOOKS("modular-heteroprio-heft", heteroprio_heft,
      "sched_data 0: heteroprio, 1: heft")
