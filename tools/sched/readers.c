/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/sched/readers.c - see readers.h. tests/unit/test-sched-command.py compares the
 * table with what core/sched reads.
 */
#include "tools/sched/readers.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

enum { MOST_PATTERNS = 9 };

/* Names of policies as the shell's patterns; NULL-terminated unless full. */
struct reader {
    enum orr_config_id id;
    const char *policies[MOST_PATTERNS];
};

#define BY_COST                                                                \
    {                                                                          \
        "dmda*", "robust", "pheft", "modular-dmda*", "modular-heft*",          \
            "modular-hetero*", "modular-pheft"                                 \
    }
#define SHORT_QUEUES                                                           \
    {                                                                          \
        "modular-*prefetching", "modular-eager-prio", "modular-gemm",          \
            "modular-prandom*", "modular-heft*", "modular-hetero*",            \
            "modular-pheft"                                                    \
    }
#define BELOW                                                                  \
    {                                                                          \
        "modular-*prefetching", "modular-eager-prio", "modular-gemm",          \
            "modular-prandom*", "modular-dmda*", "modular-heft*",              \
            "modular-hetero*", "modular-pheft"                                 \
    }
#define COMBINED_WORKERS                                                       \
    {                                                                          \
        "pheft", "peager", "modular-prandom*", "modular-pheft"                 \
    }

static const struct reader readers[] = {
    {ORR_CFG_SCHED_ALPHA, BY_COST},
    {ORR_CFG_SCHED_BETA, BY_COST},
    {ORR_CFG_SCHED_GAMMA, BY_COST},
    {ORR_CFG_IDLE_POWER, BY_COST},
    {ORR_CFG_ROBUST_QUANTILE, {"robust"}},
    {ORR_CFG_HETEROPRIO_AUTO, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_GROUPING, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_INTERVAL, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_ORDERING, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_LOCALITY, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_PUSH, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_NEAR_CPU, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_NEAR_CUDA, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_NEAR_OPENCL, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_NEAR_HIP, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_STEP_CPU, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_STEP_CUDA, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_STEP_OPENCL, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_STEP_HIP, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_DATA_DIR, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_DATA_FILE, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_FREEZE, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_PRINT_ORDER, {"heteroprio"}},
    {ORR_CFG_HETEROPRIO_PRINT_DATA, {"heteroprio"}},
    {ORR_CFG_HP_NOD_TIME_MULTIPLIER, {"heteroprio"}},
    {ORR_CFG_HP_NOD_TIME_SELECTIVITY, {"heteroprio"}},
    {ORR_CFG_HP_BEST_NODS_SELECTIVITY, {"heteroprio"}},
    {ORR_CFG_HP_URT_MULTIPLIER, {"heteroprio"}},
    {ORR_CFG_HP_URT_2_MULTIPLIER, {"heteroprio"}},
    {ORR_CFG_HP_URT_2_NEED, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_2_NEED, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_3_NEED, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_4_NEED, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_5_NOD, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_5_ARCH, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_9_NOD, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_9_ARCH, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_10_NOD, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_10_ARCH, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_11_NOD, {"heteroprio"}},
    {ORR_CFG_HP_DIFF_11_ARCH, {"heteroprio"}},
    {ORR_CFG_HP_URTS_TIME_MULTIPLIER, {"heteroprio"}},
    {ORR_CFG_HP_URTS_TIME_SELECTIVITY, {"heteroprio"}},
    {ORR_CFG_GRAPH_TEST_DESCENDANTS, {"graph_test"}},
    {ORR_CFG_NTASKS_THRESHOLD, SHORT_QUEUES},
    {ORR_CFG_EXP_LEN_THRESHOLD, SHORT_QUEUES},
    {ORR_CFG_SCHED_SORTED_ABOVE,
     {"modular-eager", "modular-*prefetching", "modular-prio", "modular-*random*",
      "modular-gemm", "modular-heft*", "modular-hetero*", "modular-pheft"}},
    {ORR_CFG_SCHED_SORTED_BELOW, BELOW},
    {ORR_CFG_SCHED_READY, BELOW},
    {ORR_CFG_RAND_SEED, {"random"}},
    {ORR_CFG_MIN_WORKERSIZE, COMBINED_WORKERS},
    {ORR_CFG_MAX_WORKERSIZE, COMBINED_WORKERS},
    {ORR_CFG_SYNTHESIZE_ARITY_COMBINED_WORKER, COMBINED_WORKERS},
    {ORR_CFG_SINGLE_COMBINED_WORKER, COMBINED_WORKERS},
    /* Around every policy. */
    {ORR_CFG_MIN_PRIO, {"*"}},
    {ORR_CFG_MAX_PRIO, {"*"}},
    {ORR_CFG_PREFETCH, {"*"}},
};

static bool reader_reads_for_policy(const struct reader *reader,
                                    const char *policy)
{
    bool found = false;

    for (size_t k = 0; k < MOST_PATTERNS && reader->policies[k]; k++)
        found = found || fnmatch(reader->policies[k], policy, 0) == 0;
    return found;
}

static bool find_config_row(enum orr_config_id id, struct orr_config_row *ret)
{
    const char *name = orr_config_name(id);

    for (unsigned i = 0; orr_config_row(i, ret); i++)
        if (!strcmp(ret->name, name))
            return true;
    return false;
}

bool readers_variable(const char *policy, unsigned i,
                      struct orr_config_row *ret)
{
    for (size_t k = 0; k < sizeof(readers) / sizeof(*readers); k++)
        if (reader_reads_for_policy(&readers[k], policy) && i-- == 0)
            return find_config_row(readers[k].id, ret);
    return false;
}

const char *readers_source(const char *policy)
{
    static const struct {
        const char *policies, *source;
    } sources[] = {
        {"plan-heft",
         "H. Topcuoglu, S. Hariri, M. Wu: Performance-effective and "
         "low-complexity task scheduling for heterogeneous "
         "computing, 2002"},
        {"memaware", "M. Gonthier, L. Marchal, S. Thibault: Memory-aware "
                     "scheduling of tasks sharing data on multiple GPUs with "
                     "dynamic runtime systems, 2022"},
    };

    for (size_t k = 0; k < sizeof(sources) / sizeof(*sources); k++)
        if (fnmatch(sources[k].policies, policy, 0) == 0)
            return sources[k].source;
    return NULL;
}
