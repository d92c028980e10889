// SPDX-License-Identifier: LGPL-2.1-or-later
// dot.cpp - a scalar product in blocks: each is a reduction where the policy places it,
// and adds to the sum.
#include <cstdio>
#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

int main()
{
    constexpr std::size_t blocks = 8, length = 100000;
    std::vector<double> x(blocks * length, 2.), y(blocks * length, 3.);
    context ctx;
    auto lsum = ctx.logical_data(shape_of<scalar_view<double>>());

    ctx.parallel_for(box<1>(0), lsum.reduce(reducer::sum<double>{}))
            .set_symbol("zero")
            ->*[](std::size_t, double &) {};
    for (std::size_t k = 0; k < blocks; k++) {
        auto lx = ctx.logical_data(&x[k * length], length);
        auto ly = ctx.logical_data(&y[k * length], length);
        auto part = ctx.logical_data(shape_of<scalar_view<double>>());

        ctx.parallel_for(exec_place::any(), lx.shape(), lx.read(), ly.read(),
                         part.reduce(reducer::sum<double>{}))
                .set_symbol("dot")
                ->*[](std::size_t i, auto u, auto v, double &sum) {
            sum += u(i) * v(i);
        };
        ctx.host_launch(part.read(), lsum.rw()).set_symbol("add")
                ->*[](auto p, auto sum) { *sum += *p; };
    }
    const double sum = ctx.wait(lsum);
    ctx.finalize();

    if (!orrery_runs_kernels()) {
        std::puts("simulated: kernels are skipped");
        return 0;
    }
    std::printf("%s: %g\n", sum == 6. * blocks * length ? "right" : "wrong",
                sum);
    return sum == 6. * blocks * length ? 0 : 1;
}
