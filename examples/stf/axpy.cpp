// SPDX-License-Identifier: LGPL-2.1-or-later
// axpy.cpp - y = y + a x, the shortest program: data, a loop over their shape, a check.
#include <cstdio>
#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

int main()
{
    constexpr std::size_t n = 1000000;
    const double a = 3.;
    std::vector<double> x(n, 1.), y(n, 2.);
    context ctx;

    auto lx = ctx.logical_data(&x[0], n).set_symbol("x");
    auto ly = ctx.logical_data(&y[0], n).set_symbol("y");

    ctx.parallel_for(ly.shape(), lx.read(), ly.rw()).set_symbol("axpy")
            ->*[a](std::size_t i, auto u, auto v) { v(i) += a * u(i); };
    ctx.finalize();

    if (!orrery_runs_kernels()) {
        std::puts("simulated: kernels are skipped");
        return 0;
    }
    for (const double value : y)
        if (value != 5.) {
            std::printf("wrong: %g\n", value);
            return 1;
        }
    std::puts("right");
    return 0;
}
