// SPDX-License-Identifier: LGPL-2.1-or-later
// memory.cpp - 16 vectors of a MiB, each round all of them with their neighbours: the
// result is the same where a device has memory for a quarter of the data.
#include "../programs/expect.h"

#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

int main()
{
    constexpr size_t n = 16, length = 1 << 17;
    std::vector<std::vector<double>> memory(n, std::vector<double>(length));
    std::vector<logical_data<slice<double>>> data;
    context ctx;
    auto lsum = ctx.logical_data(shape_of<scalar_view<double>>());

    for (size_t k = 0; k < n; k++) {
        data.push_back(ctx.logical_data(&memory[k][0], length));
        ctx.parallel_for(data[k].shape(), data[k].write())
                ->*[k](size_t i, auto x) {
            x(i) = static_cast<double>(k + i % 2);
        };
    }
    for (int round = 0; round < 3; round++)
        for (size_t k = 0; k < n; k++)
            ctx.parallel_for(data[k].shape(), data[(k + n / 2) % n].read(),
                             data[k].rw())
                    .set_symbol("add")
                    ->*[](size_t i, auto x, auto y) { y(i) += x(i); };
    // Temporary data come and go.
    for (size_t k = 0; k < n; k++) {
        auto square = ctx.logical_data(data[k].shape());
        const auto sum = reducer::sum<double>{};

        ctx.parallel_for(square.shape(), data[k].read(), square.write())
                ->*[](size_t i, auto x, auto s) { s(i) = x(i) * x(i); };
        ctx.parallel_for(square.shape(), square.read(),
                         k ? lsum.reduce(sum, no_init{}) : lsum.reduce(sum))
                ->*[](size_t i, auto s, double &total) { total += s(i); };
    }
    const double sum = ctx.wait(lsum);
    ctx.finalize();

    double wanted = 0.;
    std::vector<double> value(2 * n);
    for (size_t k = 0; k < 2 * n; k++)
        value[k] = static_cast<double>(k / 2 + k % 2);
    for (int round = 0; round < 3; round++)
        for (size_t k = 0; k < n; k++)
            for (size_t odd = 0; odd < 2; odd++)
                value[2 * k + odd] += value[2 * ((k + n / 2) % n) + odd];
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < 2; i++) {
            EXPECT_RESULT(memory[k][length - 2 + i] == value[2 * k + i]);
            wanted += value[2 * k + i] * value[2 * k + i] * (length / 2);
        }
    EXPECT_RESULT(sum == wanted);
    return 0;
}
