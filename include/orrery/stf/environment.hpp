// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/environment.hpp - variables of CUDASTF's that a program is started with: those that
// nothing here looks at are named, with what to use instead, in a line each.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstring>

#include <orrery/stf/config.hpp>

namespace orrery::stf::detail
{

// A variable without CUDASTF_, and what is here instead; NULL: it is looked at.
struct cudastf_variable {
    const char *name, *instead;
};
inline constexpr const char *whole_graph =
    "no edge and no fence is left out of graphs, and none is added";
inline constexpr const char *reports =
    "`orrery report' and `orrery explain' have times by symbol, and the "
    "critical path";
inline constexpr const char *no_cuda_graph = "tasks become no CUDA graph";
inline constexpr const char *no_parts = "parts of a device are no places";
inline constexpr cudastf_variable cudastf_variables[] = {
    {"BOUNDSCHECK", "a macro: compile with -DCUDASTF_BOUNDSCHECK"},
    {"DEFAULT_ALLOCATOR", nullptr},
    {"DISABLE_CODE_GENERATION", "kernels are compiled, or the body is not "
                                "__device__"},
    {"DISPLAY_GRAPH_STATS", no_cuda_graph},
    {"DISPLAY_STATS", reports},
    {"DOT_COLOR_BY_DEVICE", nullptr},
    {"DOT_DISPLAY_STAGES", "ctx.dot_section(name) draws a box"},
    {"DOT_FILE", nullptr},
    {"DOT_IGNORE_PREREQS", nullptr},
    {"DOT_KEEP_FREEZE", whole_graph},
    {"DOT_KEEP_REDUNDANT", whole_graph},
    {"DOT_MAX_DEPTH", nullptr},
    {"DOT_NO_FENCE", whole_graph},
    {"DOT_REMOVE_DATA_DEPS", nullptr},
    {"DOT_SHOW_FENCE", whole_graph},
    {"DOT_STATS_FILE", reports},
    {"DOT_TIMING", nullptr},
    {"DUMP_GRAPHS", "ORRERY_STF_DOT=FILE draws the tasks"},
    {"FAKE_LOCALITY_DOMAINS", no_parts},
    {"GRAPH_CACHE_SIZE_MB", no_cuda_graph},
    {"GREEN_CONTEXT_SIZE", no_parts},
    {"SCHEDULE", "STARPU_SCHED chooses among places that are any(), all of "
                 "them with ORRERY_STF_PLACE=any"},
    {"TASK_STATISTICS", reports},
};

// Of a definition NAME=VALUE: what is to be said, NULL: nothing.
ORR_STF_COLD inline const char *instead_of(const char *definition)
{
    const std::size_t n = std::strcspn(definition, "=");

    for (const cudastf_variable &known : cudastf_variables)
        if (std::strlen(known.name) == n &&
            std::strncmp(known.name, definition, n) == 0)
            return known.instead;
    return "it is unknown";
}

// What is set and has no effect, on stderr.
ORR_STF_COLD inline void tell_of_environment()
{
    static constexpr char prefix[] = "CUDASTF_";

    for (char **at = environ; at && *at; at++) {
        if (std::strncmp(*at, prefix, sizeof(prefix) - 1) != 0)
            continue;
        const char *instead = instead_of(*at + sizeof(prefix) - 1);
        if (instead)
            std::fprintf(
                stderr, "orrery::stf: %.*s has no effect: %s (docs/STF.md)\n",
                static_cast<int>(std::strcspn(*at, "=")), *at, instead);
    }
}

} // namespace orrery::stf::detail
