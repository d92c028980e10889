// SPDX-License-Identifier: LGPL-2.1-or-later
// stencil.cpp - heat in a rod, in pieces with a cell of each neighbour: rounds until the
// largest change is small, which a loop scope decides without the program.
#include <cmath>
#include <cstdio>
#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

namespace {

constexpr std::size_t pieces = 4, length = 64;

// A piece, and its value in the next round; cells 0 and length + 1 are the neighbours'.
struct piece {
    stackable_logical_data<slice<double>> now, next;
};

void exchange(stackable_ctx &ctx, piece &left, piece &right)
{
    ctx.host_launch(left.now.rw(), right.now.rw()).set_symbol("exchange")
            ->*[](auto a, auto b) {
        a(length + 1) = b(1);
        b(0) = a(length);
    };
}

void step(stackable_ctx &ctx, piece &p,
          stackable_logical_data<scalar_view<double>> &change)
{
    ctx.parallel_for(exec_place::any(), inner<1>(p.now.shape()), p.now.read(),
                     p.next.rw())
            .set_symbol("step")
            ->*[](std::size_t i, auto now, auto next) {
        next(i) = (now(i - 1) + now(i + 1)) / 2.;
    };
    ctx.parallel_for(inner<1>(p.now.shape()), p.next.read(), p.now.rw(),
                     change.reduce(reducer::maxval<double>{}, no_init{}))
            .set_symbol("copy")
            ->*[](std::size_t i, auto next, auto now, double &top) {
        const double by = next(i) > now(i) ? next(i) - now(i) : now(i) - next(i);
        top = by > top ? by : top;
        now(i) = next(i);
    };
}

} // namespace

int main()
{
    std::vector<std::vector<double>> heat(
        pieces, std::vector<double>(length + 2, 0.));
    stackable_ctx ctx;
    std::vector<piece> rod;
    auto change = ctx.logical_data(shape_of<scalar_view<double>>());

    heat[0][0] = 1.; // one end is hot
    for (auto &cells : heat)
        rod.push_back({ctx.logical_data(&cells[0], cells.size()),
                       ctx.logical_data<double>(length + 2)});
    for (piece &p : rod)
        ctx.parallel_for(p.next.shape(), p.next.write()).set_symbol("clear")
                ->*[](std::size_t i, auto next) { next(i) = 0.; };
    {
        auto loop = ctx.while_graph_scope();
        loop.assume_rounds(100);
        ctx.parallel_for(box<1>(0), change.reduce(reducer::maxval<double>{}))
                .set_symbol("clear")
                ->*[](std::size_t, double &) {};
        for (std::size_t k = 0; k + 1 < pieces; k++)
            exchange(ctx, rod[k], rod[k + 1]);
        for (piece &p : rod)
            step(ctx, p, change);
        loop.update_cond(change.read())->*[](auto top) { return *top > 1e-4; };
    }
    ctx.finalize();

    if (!orrery_runs_kernels()) {
        std::puts("simulated: kernels are skipped");
        return 0;
    }
    // Warmer towards the hot end, everywhere.
    double last = 1.;
    for (const auto &cells : heat)
        for (std::size_t i = 1; i <= length; i++) {
            if (!(cells[i] < last + 1e-3) || !(cells[i] >= 0.)) {
                std::printf("wrong: %g behind %g\n", cells[i], last);
                return 1;
            }
            last = cells[i];
        }
    std::printf("right: %.3f in the middle\n", heat[pieces / 2][1]);
    return heat[0][1] > 0.9 ? 0 : 1;
}
