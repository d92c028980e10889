// SPDX-License-Identifier: LGPL-2.1-or-later
// stf-loops.cpp - y += a x, and a scalar product, by parallel_for() and by OpenMP in turns
// on the same memory, for bench-stf.py: prints the medians of both in ms, and of the
// ratios.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

namespace {

constexpr int rounds = 9;

double now()
{
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct times {
    std::vector<double> ours, theirs, ratio;
    void add(double start, double between, double end)
    {
        theirs.push_back(between - start);
        ours.push_back(end - between);
        ratio.push_back(ours.back() / theirs.back());
    }
    void print(const char *name, std::size_t n) const
    {
        std::printf("bench stf-%s n=%zu %.1f ms, OpenMP %.1f ms, ratio %.3f\n",
                    name, n, median(ours), median(theirs), median(ratio));
    }
};

} // namespace

int main(int argc, char **argv)
{
    const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10)
                                   : 100000000;
    const double a = 0.5;
    // Not initialised by one thread.
    std::unique_ptr<double[]> x(new double[n]), y(new double[n]);
    double *const px = x.get(), *const py = y.get();
    double off = 0.;
    times axpy, dot;

#pragma omp parallel for
    for (std::size_t i = 0; i < n; i++) {
        px[i] = static_cast<double>(i % 7);
        py[i] = 1.;
    }
    context ctx;
    auto lx = ctx.logical_data(px, n), ly = ctx.logical_data(py, n);
    auto lsum = ctx.logical_data(shape_of<scalar_view<double>>());

    for (int round = 0; round < rounds; round++) {
        double start = now();
#pragma omp parallel for
        for (std::size_t i = 0; i < n; i++)
            py[i] += a * px[i];
        double between = now();
        ctx.parallel_for(lx.shape(), lx.read(), ly.rw())
                ->*[a](std::size_t i, auto u, auto v) { v(i) += a * u(i); };
        ctx.fence().wait();
        axpy.add(start, between, now());

        double sum = 0.;
        start = now();
#pragma omp parallel for reduction(+ : sum)
        for (std::size_t i = 0; i < n; i++)
            sum += px[i] * py[i];
        between = now();
        ctx.parallel_for(lx.shape(), lx.read(), ly.read(),
                         lsum.reduce(reducer::sum<double>{}))
                ->*[](std::size_t i, auto u, auto v, double &s) {
            s += u(i) * v(i);
        };
        off += std::abs(ctx.wait(lsum) / sum - 1.);
        dot.add(start, between, now());
    }
    ctx.finalize();
    axpy.print("axpy", n);
    dot.print("dot", n);
    return off < 1e-6 ? 0 : 1;
}
