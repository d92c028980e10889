// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/dot.hpp - the graph of tasks as they are submitted, for Graphviz: the library draws
// it (orrery_drawing.h), into a file that the environment names.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <orrery_drawing.h>

#include <orrery/stf/error.hpp>
#include <orrery/stf/runtime.hpp>

namespace orrery::stf::detail
{

class dot_graph
{
  public:
    ORR_STF_COLD dot_graph()
    {
        const orrery_drawing_look look = {
            number("CUDASTF_DOT_MAX_DEPTH", -1),
            number("CUDASTF_DOT_TIMING", 0),
            number("CUDASTF_DOT_COLOR_BY_DEVICE", 0),
            number("CUDASTF_DOT_REMOVE_DATA_DEPS", 0),
            number("CUDASTF_DOT_IGNORE_PREREQS", 1) == 0};

        drawing_ = orrery_drawing_new(&look);
        if (look.times || look.colours || look.copies)
            starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
        if (!drawing_)
            throw std::bad_alloc();
    }
    dot_graph(const dot_graph &) = delete;
    dot_graph &operator=(const dot_graph &) = delete;
    ORR_STF_COLD ~dot_graph()
    {
        orrery_drawing_free(drawing_);
    }
    // The file that the environment asks for, NULL: none.
    ORR_STF_COLD static const char *file()
    {
        const char *name = std::getenv("ORRERY_STF_DOT");
        if (!name || !*name)
            name = std::getenv("CUDASTF_DOT_FILE");
        return name && *name ? name : nullptr;
    }
    ORR_STF_COLD void write()
    {
        const int err = orrery_drawing_write(drawing_, file());
        if (err)
            fail_with("the graph cannot be written to %s: %s", file(),
                      std::strerror(-err));
    }
    orrery_drawing *get() const
    {
        return drawing_;
    }

  private:
    ORR_STF_COLD static int number(const char *variable, int otherwise)
    {
        const char *text = std::getenv(variable);

        return text && *text ? std::atoi(text) : otherwise;
    }

    orrery_drawing *drawing_;
};

} // namespace orrery::stf::detail
