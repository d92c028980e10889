// SPDX-License-Identifier: LGPL-2.1-or-later
// places.cpp - grids of places, and data at several places at once: in parts, or copied.
// Real, and on virtual GPUs; without devices, grids are of processors.
#include "../programs/expect.h"

#include <cstring>
#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

namespace
{

// Rows from the middle outward to each place in turn, in pairs.
struct pairs_partition : partitioner_base {
    template <std::size_t D>
    static tiled_box<D> apply(const box<D> &whole, pos4 position, dim4 grid)
    {
        return tiled_box<D>(whole, 2, grid.get_index(position), grid.size());
    }
    // No static function, as CUDASTF's documentation has it.
    pos4 get_executor(pos4 at, dim4 data, dim4 grid) const
    {
        const int outer = data.z > 1 ? 2 : data.y > 1 ? 1 : 0;
        return grid.get_position(static_cast<std::size_t>(at.get(outer)) / 2 %
                                 grid.size());
    }
};

template <class F> bool refused(F call, const char *words)
{
    try {
        call();
    } catch (const error &e) {
        if (!std::strstr(e.what(), words))
            std::fprintf(stderr, "%s\n", e.what());
        return std::strstr(e.what(), words);
    }
    return false;
}

exec_place_grid four_places()
{
    auto all = exec_place::all_devices();
    std::vector<exec_place> places;

    for (std::size_t i = 0; i < 4; i++)
        places.push_back(all.get_place(i % all.size()));
    return exec_place::grid(places);
}

int ndevices()
{
    return static_cast<int>(starpu_memory_nodes_get_count()) - 1;
}
bool is_on(starpu_data_handle_t handle, unsigned node)
{
    int allocated = 0, valid = 0, requested = 0;

    starpu_data_query_status(handle, static_cast<int>(node), &allocated, &valid,
                             &requested);
    return valid;
}

void grids()
{
    context ctx;
    const exec_place h = exec_place::host(), d = exec_place::device(0);
    auto grid = make_grid({h, d, d, h, h, d}, dim4(3, 2));

    EXPECT(grid.get_place(pos4(0, 1)) == h && grid.get_place(pos4(2, 1)) == d);
    EXPECT(grid.get_place(pos4(1, 0)) == d && grid.size() == 6);
    auto tile = partition_tile(grid, dim4(2, 1), pos4(1, 1));
    EXPECT(tile.size() == 1 && tile.get_place(0) == d);
    auto first = partition_tile(grid, dim4(2, 2), pos4(0, 0));
    EXPECT(first.get_dims() == dim4(2, 2) && first.get_place(2) == h);
    auto cyclic = partition_cyclic(grid, dim4(2, 1), pos4(0, 0));
    EXPECT(cyclic.get_dims() == dim4(2, 2));
    EXPECT(cyclic.get_place(pos4(1, 0)) == d && cyclic.get_place(2) == h);
    EXPECT(grid.reshape(dim4(6)).get_dim(0) == 6);
    EXPECT(refused([&] { grid.get_place(6); }, "does not have"));
    EXPECT(refused([&] { partition_tile(grid, dim4(2, 1), pos4(4, 0)); },
                   "a grid of no places"));
    EXPECT(refused([&] { grid.reshape(dim4(4)); }, "multiply"));
    ctx.finalize();
}

void places_are_values()
{
    context ctx;
    auto all = exec_place::all_devices();
    const auto a = data_place::composite(blocked_partition(), all);
    const auto b = data_place::composite(blocked_partition(), all);
    const auto c = data_place::composite(tiled_partition<4>(), all);
    const auto r = data_place::replicated(all);

    EXPECT(a == b && a != c && a != r && !(a < b));
    EXPECT(a < c || c < a);
    EXPECT(a.is_composite() && !a.is_replicated() && r.is_replicated());
    EXPECT(std::hash<data_place>()(a) == std::hash<data_place>()(b));
    EXPECT(data_place::composite(pairs_partition(), all).is_composite());
    EXPECT(data_place::managed().is_managed());
    ctx.finalize();
}

// One dimension, cut in several ways; a neighbour's values are read as a whole.
template <class P> void composite_vectors(P partition, std::size_t n)
{
    context ctx;
    const auto grid = four_places();
    const auto spread = data_place::composite(partition, grid);
    std::vector<double> x(n), y(n, 1.);
    auto lx = ctx.logical_data(x), ly = ctx.logical_data(y);

    ctx.parallel_for(grid, lx.shape(), lx.write(spread))
            ->*[](size_t i, auto v) { v(i) = static_cast<double>(i); };
    for (int round = 0; round < 3; round++)
        ctx.parallel_for(partition, grid, lx.shape(), lx.read(spread),
                         ly.rw(spread))
                ->*[n](size_t i, auto from, auto to) {
            to(i) += from((i + 1) % n);
        };
    // All of it elsewhere, in between.
    ctx.parallel_for(exec_place::host(), ly.shape(), ly.rw())
            ->*[](size_t i, auto v) { v(i) *= 2; };
    ctx.parallel_for(grid, ly.shape(), ly.rw(spread))
            ->*[](size_t i, auto v) { v(i) -= static_cast<double>(i); };
    ctx.finalize();
    for (std::size_t i = 0; i < n; i++)
        EXPECT_RESULT(y[i] == 2. + 6. * static_cast<double>((i + 1) % n) -
                                  static_cast<double>(i));
}

void composite_in_more_dimensions()
{
    context ctx;
    const auto grid = four_places();
    const auto rows = data_place::composite(tiled_partition<2>(), grid);
    const auto planes = data_place::composite(pairs_partition(), grid);
    std::vector<int> memory(8 * 13, -1);
    auto gaps = ctx.logical_data(make_slice(&memory[0], std::tuple{5, 13}, 8));
    auto cube = ctx.logical_data<int>(3, 4, 9);

    ctx.parallel_for(grid, gaps.shape(), gaps.write(rows))
            ->*[](size_t i, size_t j, auto v) {
        v(i, j) = static_cast<int>(10 * i + j);
    };
    ctx.parallel_for(grid, cube.shape(), cube.write(planes))
            ->*[](size_t i, size_t j, size_t k, auto v) {
        v(i, j, k) = static_cast<int>(100 * i + 10 * j + k);
    };
    ctx.host_launch(cube.read())->*[](auto v) {
        for (size_t k = 0; k < 9; k++)
            EXPECT(v(2, 3, k) == static_cast<int>(230 + k));
    };
    ctx.finalize();
    for (size_t j = 0; j < 13; j++) {
        EXPECT_RESULT(memory[8 * j + 4] == static_cast<int>(40 + j));
        EXPECT(memory[8 * j + 6] == -1);
    }
}

// Where the parts are.
void parts_are_at_their_places()
{
    context ctx;
    const auto grid = exec_place::all_devices();
    auto x = ctx.logical_data<double>(1 << 16);

    ctx.parallel_for(grid, x.shape(),
                     x.write(data_place::composite(blocked_partition(), grid)))
            ->*[](size_t i, auto v) { v(i) = static_cast<double>(i); };
    ctx.fence().wait();
    const std::size_t each = (sizeof(double) << 16) / grid.size();
    for (int i = 0; i < ndevices(); i++)
        EXPECT(starpu_memory_get_used(static_cast<unsigned>(i + 1)) == each);
    ctx.finalize();
}

void copies_at_all_places()
{
    context ctx;
    const auto grid = exec_place::all_devices();
    const auto copied = data_place::replicated(grid);
    std::vector<double> x(1000, 2.);
    auto lx = ctx.logical_data(x);
    auto sum = ctx.logical_data(shape_of<scalar_view<double>>());

    // The task is at one place, the copies at all.
    ctx.parallel_for(grid.get_place(0), lx.shape(), lx.read(copied),
                     sum.reduce(reducer::sum<double>{}))
            ->*[](size_t i, auto v, double &s) { s += v(i); };
    EXPECT_RESULT(ctx.wait(sum) == 2000.);
    ctx.fence().wait();
    for (int i = 0; i < ndevices(); i++)
        EXPECT(is_on(lx.get_handle(), static_cast<unsigned>(i + 1)));
    // A new value, on a grid, each place with its own copy.
    ctx.parallel_for(grid.get_place(0), lx.shape(), lx.rw())
            ->*[](size_t, auto v) { (void)v; };
    ctx.fence().wait();
    for (int i = 1; i < ndevices(); i++)
        EXPECT(!is_on(lx.get_handle(), static_cast<unsigned>(i + 1)));
    ctx.parallel_for(grid, box<1>(grid.size()), lx.read(copied),
                     sum.reduce(reducer::sum<double>{}))
            ->*[](size_t i, auto v, double &s) { s += v(i); };
    EXPECT_RESULT(ctx.wait(sum) == 2. * static_cast<double>(grid.size()));
    ctx.parallel_for(grid.get_place(0), box<1>(1),
                     lx.read(data_place::replicated()), sum.rw())
            ->*[](size_t i, auto v, auto s) { *s = v(i); };
    ctx.finalize();
}

// Pages go where they are used.
void managed_memory()
{
    context ctx;
    const auto place = exec_place::all_devices().get_place(0);
    double x[10];
    auto lx = ctx.logical_data(x, data_place::managed());

    for (double &value : x)
        value = 3.;
    ctx.parallel_for(place, lx.shape(), lx.rw(data_place::managed()))
            ->*[](size_t i, auto v) { v(i) += static_cast<double>(i); };
    ctx.fence().wait();
    if (ndevices() > 0)
        EXPECT(is_on(lx.get_handle(), 1) && !is_on(lx.get_handle(), 0));
    ctx.parallel_for(exec_place::host(), lx.shape(),
                     lx.rw(data_place::managed()))
            ->*[](size_t i, auto v) { v(i) *= 2; };
    auto t = ctx.task();
    t.add_deps(lx.read(data_place::managed()));
    t.start();
    t.end();
    ctx.finalize();
    for (int i = 0; i < 10; i++)
        EXPECT_RESULT(x[i] == 2. * (3 + i));
}

// A task on a grid has one body, which knows all places; in a simulation it is at the
// first one.
void tasks_on_grids()
{
    context ctx;
    double value = 1.;
    int called = 0;
    auto x = ctx.logical_data(&value, 1);
    const exec_place_grid four = four_places().reshape(dim4(2, 2));
    auto t = ctx.task(four, x.rw());

    t.set_symbol("on four")->*[&](stream_t s, slice<double> v) {
        called++;
        v(0) += t.get_grid_dims().y + static_cast<double>(t.grid_size());
        // Processors, which have none; devices are in queues.cpp.
        EXPECT(!s && !t.get_stream(3) && !t.get_stream(pos4(1, 1)));
        t.activate(3);
        t.deactivate();
    };
    EXPECT(t.get_exec_place() == four && t.get_grid_dims() == dim4(2, 2));
    ctx.fence().wait();
    if (ndevices() > 0)
        EXPECT(is_on(x.get_handle(), 1));
    ctx.task(ndevices() > 0 ? exec_place::cuda_stream(nullptr)
                            : exec_place::host(),
             x.rw())
            ->*[&](stream_t, slice<double> v) { called++, v(0) *= 2.; };
    auto started = ctx.task(four, x.rw());
    started.start();
    EXPECT(!started.get_stream(2));
    (void)started.get<slice<double>>(0);
    started.end();
    EXPECT(refused([&] { (void)t.get_stream(4); }, "does not have"));
    ctx.finalize();
    EXPECT_RESULT(value == 14. && called == 2);
}

void what_cannot_be()
{
    context ctx;
    const auto grid = four_places();
    const auto blocks = data_place::composite(blocked_partition(), grid);
    const auto copied = data_place::replicated(grid);
    auto x = ctx.logical_data<double>(100), y = ctx.logical_data<double>(100);
    auto one = ctx.logical_data(shape_of<scalar_view<double>>());
    auto fill = [](size_t i, auto v) { v(i) = 1.; };
    auto nothing = [](auto...) {};

    EXPECT(refused([&] { ctx.host_launch(x.write(blocks))->*nothing; },
                   "composite place"));
    EXPECT(refused(
        [&] { ctx.parallel_for(x.shape(), x.write(blocks))->*fill; },
        "composite place"));
    EXPECT(refused(
        [&] {
            ctx.parallel_for(exec_place::grid({exec_place::host()}), x.shape(),
                             x.write(blocks))
                    ->*fill;
        },
        "another grid"));
    EXPECT(refused(
        [&] {
            ctx.parallel_for(tiled_partition<3>(), grid, x.shape(),
                             x.write(blocks))
                    ->*fill;
        },
        "cut differently"));
    EXPECT(refused(
        [&] {
            ctx.parallel_for(
                grid, x.shape(), x.write(blocks),
                y.write(data_place::composite(pairs_partition(), grid)))
                    ->*[](size_t, auto, auto) {};
        },
        "different indices"));
    EXPECT(refused(
        [&] {
            ctx.parallel_for(grid, x.shape(), x.write(data_place::composite(
                                                  cyclic_partition(), grid)),
                             one.write(blocks))
                    ->*[](size_t, auto, auto) {};
        },
        "up to three dimensions"));
    auto many = ctx.logical_data<double>(5000);
    EXPECT(refused(
        [&] {
            ctx.parallel_for(grid, many.shape(),
                             many.write(data_place::composite(
                                 cyclic_partition(), grid)))
                    ->*fill;
        },
        "larger tiles"));
    EXPECT(refused([&] { ctx.parallel_for(grid, x.shape(), x.write(copied))
                                 ->*fill; },
                   "replicated place"));
    ctx.parallel_for(grid, x.shape(), x.write(blocks))->*fill;
    if (ndevices() > 0)
        EXPECT(refused(
            [&] {
                ctx.parallel_for(exec_place::host(), x.shape(), x.read(copied))
                        ->*[](size_t, auto) {};
            },
            "is not: name a grid"));
    EXPECT(refused([&] { ctx.freeze(x, access_mode::read, blocks); },
                   "freeze()"));
    double memory[4];
    EXPECT(refused([&] { ctx.logical_data(memory, copied); }, "is at one"));
    ctx.finalize();
}

} // namespace

int main()
{
    grids();
    places_are_values();
    composite_vectors(blocked_partition(), 1000);
    composite_vectors(blocked_partition(), 4);
    composite_vectors(tiled_partition<7>(), 1000);
    composite_vectors(pairs_partition(), 50);
    composite_vectors(cyclic_partition(), 101);
    composite_in_more_dimensions();
    parts_are_at_their_places();
    copies_at_all_places();
    managed_memory();
    tasks_on_grids();
    what_cannot_be();
    return 0;
}
