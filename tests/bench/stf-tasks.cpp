// SPDX-License-Identifier: LGPL-2.1-or-later
// stf-tasks.cpp - tasks of two data that do nothing, for bench-stf.py: their number, and
// how they are made, are arguments.
#include <cstdlib>
#include <cstring>

#include <orrery/stf.hpp>

using namespace orrery::stf;

int main(int argc, char **argv)
{
    const long n = argc > 1 ? std::atol(argv[1]) : 1000;
    const char *how = argc > 2 ? argv[2] : "task";
    double x[16] = {}, y[16] = {};
    const int captured = 3;
    context ctx;
    auto lx = ctx.logical_data(x), ly = ctx.logical_data(y);

    const bool task = !std::strcmp(how, "task");
    const bool host_launch = !std::strcmp(how, "host_launch");
    for (long i = 0; i < n; i++)
        if (task)
            ctx.task(lx.read(), ly.rw())->*[](stream_t, auto, auto) {};
        else if (host_launch)
            ctx.host_launch(lx.read(), ly.rw())->*[captured](auto, auto) {
                (void)captured;
            };
        else
            ctx.parallel_for(box<1>(1), lx.read(), ly.rw())
                    ->*[](std::size_t, auto, auto) {};
    ctx.finalize();
    return 0;
}
