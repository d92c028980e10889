// SPDX-License-Identifier: LGPL-2.1-or-later
// features.cpp - each feature of orrery/stf.hpp once, with its result checked. Runs real,
// and on simulated GPUs.
#include "../programs/expect.h"

#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

// A format of the program's own: a vector with its squares, in two blocks.
template <class T> struct pairs {
    T *value = nullptr, *square = nullptr;
    std::size_t n = 0;
};
template <class T> class orrery::stf::shape_of<pairs<T>> : public box<1>
{
  public:
    shape_of() = default;
    explicit shape_of(std::size_t n) : box<1>(n)
    {
    }
    explicit shape_of(const pairs<T> &view) : box<1>(view.n)
    {
    }
};
template <class T> struct orrery::stf::data_format<pairs<T>> {
    static constexpr std::size_t blocks = 2;
    static std::size_t bytes(const shape_of<pairs<T>> &shape, std::size_t)
    {
        return shape.size() * sizeof(T);
    }
    static void *address(const pairs<T> &view, std::size_t block)
    {
        return block ? view.square : view.value;
    }
    static pairs<T> view(const shape_of<pairs<T>> &shape, void *const *blocks)
    {
        return {static_cast<T *>(blocks[0]), static_cast<T *>(blocks[1]),
                shape.size()};
    }
};

// An index space of the program's own: the pairs i < j.
struct triangle {
    using coords_t = std::tuple<std::size_t, std::size_t>;
    std::size_t n;
    std::size_t size() const
    {
        return n * (n - 1) / 2;
    }
    coords_t index_to_coords(std::size_t index) const
    {
        std::size_t j = 1;
        while (index >= j)
            index -= j++;
        return {index, j};
    }
};

// The largest value, and where it is.
struct place_of_max {
    double value;
    std::size_t at;
};
struct larger {
    static void init_op(place_of_max &dst)
    {
        dst = {-1., 0};
    }
    static void apply_op(place_of_max &dst, const place_of_max &src)
    {
        if (src.value > dst.value || (src.value == dst.value && src.at < dst.at))
            dst = src;
    }
};

static void modes_and_order()
{
    context ctx;
    double x[100], y[100], z[10];
    auto lx = ctx.logical_data(x).set_symbol("x");
    auto ly = ctx.logical_data(y, 100);
    auto lz = ctx.logical_data(slice<double>(z, {10}));

    ctx.parallel_for(lx.shape(), lx.write())->*[](size_t i, auto a) {
        a(i) = static_cast<double>(i);
    };
    ctx.parallel_for(ly.shape(), lx.read(), ly.write())
            ->*[](size_t i, slice<const double> a, slice<double> b) {
        b(i) = 2 * a(i);
    };
    for (int round = 0; round < 10; round++) {
        ctx.parallel_for(ly.shape(), lx.read(), ly.rw())
                ->*[round](size_t i, auto a, auto b) { b(i) += round * a(i); };
        ctx.parallel_for(lx.shape(), lx.rw(), ly.read())
                ->*[](size_t i, auto a, auto b) { a(i) += b(i) > 1e9; };
    }
    for (int k = 0; k < 10; k++)
        ctx.parallel_for(box<1>(1), lz.relaxed())
                ->*[k](size_t, auto c) { c(static_cast<size_t>(k)) = k; };
    ctx.finalize();
    for (int i = 0; i < 100; i++)
        EXPECT_RESULT(x[i] == i && y[i] == 47. * i);
    for (int k = 0; k < 10; k++)
        EXPECT_RESULT(z[k] == k);
}

// Bodies that are copied read what they point to when they run: here when the data are
// free, which is after the variable has changed.
struct scaled {
    double factor;
    void submit(context &ctx, logical_data<slice<double>> &x)
    {
        const double *there = &factor;

        ctx.parallel_for(x.shape(), x.rw())->*[there](size_t i, auto a) {
            a(i) += *there;
        };
        ctx.parallel_for(x.shape(), x.rw())->*[this](size_t i, auto a) {
            a(i) += factor;
        };
        ctx.host_launch(x.rw())->*[&](auto a) { a(0) += factor; };
    }
};
static void what_bodies_point_to()
{
    context ctx;
    double x[2] = {};
    auto lx = ctx.logical_data(x);
    scaled by{1.};

    auto frozen = ctx.freeze(lx);
    (void)frozen.get();
    by.submit(ctx, lx);
    by.factor = 100.;
    frozen.unfreeze();
    ctx.finalize();
    EXPECT_RESULT(x[0] == 300. && x[1] == 200.);
}

static void views_of_many_dimensions()
{
    context ctx;
    std::vector<int> memory(7 * 5 * 4, -1);
    int nested[3][4] = {};
    auto gaps = ctx.logical_data(make_slice(&memory[0], std::tuple{4, 5}, 7));
    auto cube = ctx.logical_data<int>(3, 4, 5);
    auto five = ctx.logical_data(shape_of<slice<long, 5>>(2, 3, 2, 3, 2));
    auto array = ctx.logical_data(nested);
    auto lsum = ctx.logical_data(shape_of<scalar_view<long>>());

    static_assert(std::is_same_v<decltype(array),
                                 logical_data<slice<int, 2>>>);
    ctx.parallel_for(gaps.shape(), gaps.write())
            ->*[](size_t i, size_t j, auto a) {
        a(i, j) = static_cast<int>(10 * i + j);
    };
    ctx.parallel_for(inner<1>(gaps.shape()), gaps.rw())
            ->*[](size_t i, size_t j, auto a) { a(i, j) += 1000; };
    ctx.parallel_for(cube.shape(), cube.write())
            ->*[](size_t i, size_t j, size_t k, auto a) {
        a(i, j, k) = static_cast<int>(i + j + k);
    };
    ctx.parallel_for(five.shape(), five.write())
            ->*[](size_t a, size_t b, size_t c, size_t d, size_t e, auto v) {
        v(a, b, c, d, e) = static_cast<long>(a + 10 * b + 100 * c + d + e);
    };
    ctx.parallel_for(five.shape(), five.read(), cube.read(),
                     lsum.reduce(reducer::sum<long>{}))
            ->*[](size_t a, size_t b, size_t c, size_t d, size_t e, auto v,
                  auto w, long &sum) {
        sum += v(a, b, c, d, e) + w(1, 1, 1);
    };
    ctx.parallel_for(array.shape(), array.rw())
            ->*[](size_t i, size_t j, auto a) {
        a(i, j) = static_cast<int>(j * 100 + i);
    };
    // Sums over 72 elements of 0.5 + 10 + 50 + 1 + 0.5, and 3.
    const long sum = ctx.wait(lsum);
    EXPECT_RESULT(sum == 72 * 65);
    ctx.finalize();
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 7; i++) {
            const bool inside = i > 0 && i < 3 && j > 0 && j < 4;
            EXPECT_RESULT(memory[static_cast<size_t>(j * 7 + i)] ==
                          (i >= 4   ? -1
                           : inside ? 10 * i + j + 1000
                                    : 10 * i + j));
        }
    EXPECT_RESULT(nested[2][3] == 203);
}

static void reductions()
{
    context ctx;
    const size_t n = 100000; // processors share it
    std::vector<double> x(n);
    std::iota(x.begin(), x.end(), 1.);
    auto lx = ctx.logical_data(&x[0], n);
    auto sum = ctx.logical_data(shape_of<scalar_view<double>>());
    auto low = ctx.logical_data(shape_of<scalar_view<double>>());
    auto top = ctx.logical_data(shape_of<scalar_view<place_of_max>>());
    auto bits = ctx.logical_data(shape_of<scalar_view<unsigned>>());
    auto all = ctx.logical_data(shape_of<scalar_view<bool>>());
    auto product = ctx.logical_data(shape_of<scalar_view<long>>());

    ctx.parallel_for(lx.shape(), lx.read(), sum.reduce(reducer::sum<double>{}),
                     low.reduce(reducer::minval<double>{}), top.reduce(larger{}),
                     bits.reduce(reducer::bitwise_xor<unsigned>{}),
                     all.reduce(reducer::logical_and<bool>{}))
            ->*[](size_t i, auto v, double &s, double &l, place_of_max &t,
                  unsigned &b, bool &positive) {
        s += v(i);
        l = v(i) < l ? v(i) : l;
        larger::apply_op(t, {v(i) < 5000. ? v(i) : 0., i});
        b ^= static_cast<unsigned>(i);
        positive = positive && v(i) > 0.;
    };
    EXPECT_RESULT(ctx.wait(sum) == n * (n + 1) / 2.);
    EXPECT_RESULT(ctx.wait(low) == 1.);
    EXPECT_RESULT(ctx.wait(top).value == 4999. && ctx.wait(top).at == 4998);
    EXPECT_RESULT(ctx.wait(bits) == 0);
    EXPECT_RESULT(ctx.wait(all));
    // What is there, and what comes to it.
    ctx.parallel_for(box<1>(10), sum.reduce(reducer::sum<double>{}, no_init{}))
            ->*[](size_t, double &s) { s += 1.; };
    EXPECT_RESULT(ctx.wait(sum) == n * (n + 1) / 2. + 10.);
    // Nothing comes: the value is what changes nothing.
    ctx.parallel_for(box<1>(0), product.reduce(reducer::product<long>{}))
            ->*[](size_t, long &p) { p *= 2; };
    EXPECT_RESULT(ctx.wait(product) == 1);
    ctx.parallel_for(box<2>({4, 2}), product.reduce(reducer::product<long>{}))
            ->*[](size_t, size_t, long &p) { p *= 3; };
    EXPECT_RESULT(ctx.wait(product) == 6561);
    ctx.finalize();
}

static void shapes()
{
    context ctx;
    auto count = ctx.logical_data(shape_of<scalar_view<long>>());
    auto sum = ctx.logical_data(shape_of<scalar_view<long>>());
    const auto add = reducer::sum<long>{};

    ctx.parallel_for(box<2>({{5, 8}, {2, 4}}), count.reduce(add),
                     sum.reduce(add))
            ->*[](size_t i, size_t j, long &n, long &s) {
        n++;
        s += static_cast<long>(10 * i + j);
    };
    EXPECT_RESULT(ctx.wait(count) == 6 && ctx.wait(sum) == 375);
    ctx.parallel_for(box({4}), sum.reduce(add))
            ->*[](size_t i, long &s) { s += static_cast<long>(i); };
    EXPECT_RESULT(ctx.wait(sum) == 6);
    ctx.parallel_for(triangle{5}, count.reduce(add), sum.reduce(add))
            ->*[](size_t i, size_t j, long &n, long &s) {
        n += i < j;
        s += static_cast<long>(i * j);
    };
    EXPECT_RESULT(ctx.wait(count) == 10 && ctx.wait(sum) == 35);
    ctx.finalize();
}

static void tasks()
{
    context ctx;
    int x[8] = {}, factor = 3;
    auto lx = ctx.logical_data(x).set_symbol("x");
    auto token = ctx.token();

    // The variable is read when the body runs, in the call.
    ctx.task(lx.rw()).set_symbol("by reference")->*[&](stream_t, auto a) {
        a(0) = factor;
    };
    factor = 4;
    // Captured by value, later; what is owned lives until then.
    const auto owned = std::make_shared<int>(5);
    ctx.task_later(exec_place::host(), lx.rw())->*[owned](stream_t, auto a) {
        a(1) = *owned;
    };
    // Tokens are left out, or not.
    ctx.task(token.rw(), lx.rw())->*[](stream_t, auto a) { a(2) = 6; };
    ctx.task(token.rw(), lx.rw())->*[](stream_t, void_interface, auto a) {
        a(3) = 7;
    };
    ctx.task(lx.rw())
            ->*on_host([](stream_t, auto a) { a(4) = 8; })
                  .on_device([](stream_t, auto) {});
    // The same data twice are used both ways.
    ctx.task(lx.read(), lx.rw())->*[](stream_t, auto a, auto b) {
        b(5) = a(4) + 1;
    };
    ctx.task(lx.write(), lx.read())->*[](stream_t, auto a, auto b) {
        a(6) = b(5) + 1; // and the rest stays
    };
    ctx.host_launch(token.read(), lx.read())->*[owned](auto a) {
        EXPECT_RESULT(a(5) == 9 && *owned == 5);
    };
    ctx.finalize();
    EXPECT_RESULT(x[0] == 3 && x[1] == 5 && x[2] == 6 && x[3] == 7 &&
                  x[4] == 8 && x[5] == 9 && x[6] == 10);
    EXPECT(owned.use_count() == 1);
}

static void tasks_without_types()
{
    context ctx;
    double x[4] = {1, 2, 3, 4}, y[4] = {};
    auto lx = ctx.logical_data(x), ly = ctx.logical_data(y);

    stream_task<> t = ctx.task(exec_place::host());
    t.add_deps(lx.read(), ly.rw());
    t.set_symbol("by hand");
    t.start();
    auto a = t.get<slice<const double>>(0);
    auto b = t.get<slice<double>>(1);
    for (size_t i = 0; i < 4; i++)
        b(i) = 10 * a(i);
    t.end();

    auto typed = ctx.task(lx.read());
    typed.add_deps(ly.rw());
    typed->*[&](stream_t, auto view) {
        slice<double> more = typed.get<slice<double>>(1);
        more(0) += view(0);
    };
    stream_task<> forgets = ctx.task(lx.read(), ly.rw());
    forgets->*[&](stream_t) { forgets.get<slice<double>>(1)(1) = 7; };
    // More data than a task has room for by itself.
    std::vector<logical_data<slice<int>>> many;
    stream_task<> gather = ctx.task(exec_place::host());
    for (int i = 0; i < 20; i++) {
        many.push_back(ctx.logical_data<int>(1));
        ctx.parallel_for(box<1>(1), many.back().write())
                ->*[i](size_t k, auto v) { v(k) = i; };
        gather.add_deps(many.back().read());
    }
    int sum = 0;
    gather->*[&](stream_t) {
        for (size_t i = 0; i < 20; i++)
            sum += gather.get<slice<const int>>(i)(0);
    };
    ctx.finalize();
    EXPECT_RESULT(y[0] == 11 && y[1] == 7 && y[3] == 40 && sum == 190);
}

// What is before it has ended, what is behind it is not waited for.
static void fences()
{
    context ctx;
    double x = 1., y = 1.;
    auto lx = ctx.logical_data(&x, 1), ly = ctx.logical_data(&y, 1);
    std::atomic<int> ended{0};

    auto none = ctx.fence();
    EXPECT(none.ready());
    for (int i = 0; i < 20; i++)
        ctx.host_launch(lx.rw())->*[&ended](auto v) { v(0) += 1., ended++; };
    auto half = ctx.fence();
    auto held = ctx.freeze(ly, access_mode::rw);
    held.get()(0) = 5.;
    // These wait until the program gives the data back.
    for (int i = 0; i < 20; i++)
        ctx.host_launch(ly.rw())->*[&ended](auto v) { v(0) += 1., ended++; };
    half.wait();
    EXPECT(half.ready());
    EXPECT_RESULT(ended == 20);
    auto all = ctx.task_fence(), copy = all;
    EXPECT(!all.ready());
    held.unfreeze();
    stream_t queue = all; // waits
    EXPECT(!queue && copy.ready());
    EXPECT_RESULT(ended == 40);
    copy.wait();
    for (int i = 0; i < 1000; i++)
        ctx.fence();
    ctx.finalize();
    EXPECT_RESULT(x == 21. && y == 25.);
}

static void launches()
{
    context ctx;
    const size_t n = 1000;
    std::vector<double> x(n, 1.), y(n, 0.);
    auto lx = ctx.logical_data(x), ly = ctx.logical_data(y);
    auto lsum = ctx.logical_data(shape_of<scalar_view<double>>());

    ctx.launch(par(128), lx.read(), ly.rw())
            ->*[](thread_info t, slice<const double> a, slice<double> b) {
        for (size_t i = t.thread_id(); i < a.size(); i += t.get_num_threads())
            b(i) += 2 * a(i);
    };
    ctx.launch(lx.read(), ly.rw())->*[](auto th, auto a, auto b) {
        for (const size_t i : th.apply_partition(shape(a)))
            b(i) += a(i);
    };
    // Sums in the memory of a group, then in the value.
    ctx.parallel_for(box<1>(1), lsum.write())->*[](size_t, auto s) { *s = 0.; };
    ctx.launch(con<4>(mem(4 * sizeof(double)), con<8>(mem(8 * sizeof(double)))),
               ly.read(), lsum.rw())
            ->*[](auto th, auto v, auto s) {
        static_assert(th.depth() == 2 && th.static_width(1) == 8);
        slice<double> mine = th.template storage<double>(1);
        slice<double> all = th.template storage<double>(0);

        mine(th.rank(1)) = 0.;
        for (size_t i = th.rank(); i < v.size(); i += th.size())
            mine(th.rank(1)) += v(i);
        th.inner().sync();
        if (th.rank(1) == 0) {
            all(th.rank(0)) = 0.;
            for (size_t i = 0; i < th.size(1); i++)
                all(th.rank(0)) += mine(i);
        }
        th.sync();
        if (th.rank() == 0)
            for (size_t i = 0; i < th.size(0); i++)
                *s += all(i);
    };
    EXPECT_RESULT(ctx.wait(lsum) == 3. * n);
    ctx.launch(par(hw_scope::device | hw_scope::block,
                   con<16>(hw_scope::thread)),
               ly.rw())
            ->*[](auto th, auto v) {
        if (th.is_synchronizable(1) && !th.template is_synchronizable<0>() &&
            th.get_scope(1) == hw_scope::thread && th.inner().size() == 16)
            for (size_t i = th.rank(); i < v.size(); i += th.size())
                v(i) = 5.;
    };
    ctx.finalize();
    for (const double v : y)
        EXPECT_RESULT(v == 5.);
}

static void grids()
{
    context ctx;
    const size_t n = 103;
    std::vector<int> x(n, 0);
    auto lx = ctx.logical_data(&x[0], n);
    auto two = ctx.logical_data(shape_of<slice<int, 2>>(5, 17));
    auto lsum = ctx.logical_data(shape_of<scalar_view<long>>());
    const auto places = exec_place::repeat(exec_place::host(), 3);

    ctx.parallel_for(blocked_partition(), places, lx.shape(), lx.rw())
            ->*[](size_t i, auto v) { v(i) += 1; };
    ctx.parallel_for(tiled_partition<8>(), exec_place::all_devices(),
                     lx.shape(), lx.rw())
            ->*[](size_t i, auto v) { v(i) += 10; };
    ctx.parallel_for(places, cyclic_partition(), lx.shape(), lx.rw())
            ->*[](size_t i, auto v) { v(i) += 100; };
    ctx.parallel_for(tiled_partition<4>(), places, two.shape(), two.write())
            ->*[](size_t i, size_t j, auto v) {
        v(i, j) = static_cast<int>(i * j);
    };
    ctx.parallel_for(places, two.shape(), two.read(),
                     lsum.reduce(reducer::sum<long>{}))
            ->*[](size_t i, size_t j, auto v, long &s) { s += v(i, j); };
    ctx.launch(par(6, con<2>()), places, lx.rw())->*[](auto th, auto v) {
        for (size_t i = th.rank(); i < v.size(); i += th.size())
            v(i) += 1000;
    };
    EXPECT_RESULT(ctx.wait(lsum) == 10 * 136);
    ctx.finalize();
    for (const int v : x)
        EXPECT_RESULT(v == 1111);

    const exec_place_grid cube =
        exec_place::repeat(exec_place::host(), 8).reshape(dim4(2, 2, 2));
    EXPECT(cube.get_dims() == dim4(2, 2, 2) && cube.size() == 8);
    EXPECT(dim4(2, 3, 4).get_position(dim4(2, 3, 4).get_index({1, 2, 3})) ==
           pos4(1, 2, 3));
    EXPECT(blocked_partition::get_executor(pos4(7), dim4(8), dim4(4)) ==
           pos4(3));
    EXPECT(std::hash<exec_place>()(exec_place::device(1)) !=
           std::hash<exec_place>()(exec_place::device(2)));
    EXPECT(exec_place::device(1) < exec_place::device(2) &&
           exec_place::host() == exec_place::host());
}

// Places that write their parts of the same data side by side.
static void parts()
{
    context ctx;
    const size_t n = 101, rows = 7, columns = 30;
    std::vector<double> x(n, 1.), m(rows * columns, 0.);
    auto lx = ctx.logical_data(x).set_symbol("x");
    auto ly = ctx.logical_data(lx.shape()).set_symbol("y");
    auto lm = ctx.logical_data(make_slice(&m[0], std::tuple{rows, columns}));
    const auto places = orrery_is_simulated() && starpu_cuda_worker_get_count()
                            ? exec_place::all_devices()
                            : exec_place::repeat(exec_place::host(), 3);

    ctx.parallel_for(places, ly.shape(), ly.write().in_parts())
            ->*[](size_t i, auto v) { v(i) = static_cast<double>(i); };
    for (int round = 0; round < 3; round++)
        ctx.parallel_for(blocked_partition(), places, ly.shape(), lx.read(),
                         ly.rw().in_parts())
                .set_symbol("part")
                ->*[](size_t i, auto a, auto b) {
            b(i) += a(a.size() - 1 - i); // all of x is there
        };
    // All of it, between parts.
    ctx.parallel_for(lx.shape(), lx.rw(), ly.read())
            ->*[](size_t i, auto a, auto b) { a(i) += b(i); };
    ctx.parallel_for(places, lm.shape(), lm.rw().in_parts())
            ->*[](size_t i, size_t j, auto v) {
        v(i, j) += static_cast<double>(100 * j + i);
    };
    ctx.parallel_for(places, box<2>(rows, columns), lm.rw().in_parts())
            ->*[](size_t i, size_t j, auto v) { v(i, j) += 1.; };
    ctx.finalize();
    for (size_t i = 0; i < n; i++)
        EXPECT_RESULT(x[i] == 4. + static_cast<double>(i));
    EXPECT_RESULT(m[rows - 1 + 29 * rows] == 2907. && m[0] == 1.);
}

static void own_format()
{
    context ctx;
    double value[20], square[20];
    auto data = ctx.logical_data(pairs<double>{value, square, 20});
    auto copy = ctx.logical_data(data.shape());

    ctx.parallel_for(copy.shape(), copy.write())
            ->*[](size_t i, pairs<double> p) {
        p.value[i] = static_cast<double>(i);
        p.square[i] = static_cast<double>(i * i);
    };
    ctx.parallel_for(exec_place::host(), data.shape(), copy.read(),
                     data.write())
            ->*[](size_t i, auto from, auto to) {
        to.value[i] = from.value[i];
        to.square[i] = from.square[i];
    };
    ctx.finalize();
    for (int i = 0; i < 20; i++)
        EXPECT_RESULT(value[i] == i && square[i] == i * i);
}

static void frozen_data()
{
    context ctx;
    int x[4] = {1, 2, 3, 4}, sum = 0;
    auto lx = ctx.logical_data(x);

    ctx.parallel_for(lx.shape(), lx.rw())->*[](size_t i, auto v) { v(i) *= 2; };
    auto frozen = ctx.freeze(lx);
    EXPECT(frozen.get_access_mode() == access_mode::read);
    auto view = frozen.get(data_place::host());
    EXPECT_RESULT(view(3) == 8);
    // Readers go on, a writer waits, other places get copies meanwhile.
    ctx.task(exec_place::host(), lx.read())->*[&](stream_t, auto v) {
        sum = v(0);
    };
    ctx.parallel_for(lx.shape(), lx.rw())->*[](size_t i, auto v) { v(i) += 1; };
    if (starpu_cuda_worker_get_count() > 0)
        (void)frozen.get(data_place::device(0));
    EXPECT_RESULT(view(3) == 8);
    frozen.unfreeze();
    auto mine = ctx.freeze(lx, access_mode::rw, data_place::host());
    EXPECT_RESULT(mine.get()(3) == 9);
    mine.get()(3) = 100;
    mine.unfreeze();
    ctx.parallel_for(lx.shape(), lx.rw())->*[](size_t i, auto v) { v(i) += 1; };
    ctx.finalize();
    EXPECT_RESULT(x[3] == 101 && x[0] == 4 && sum == 2);
}

static void values_go_back()
{
    context ctx;
    int kept[2] = {1, 1}, dropped[2] = {1, 1}, early[2] = {1, 1};
    const int fixed[2] = {1, 1};
    auto lkept = ctx.logical_data(kept), ldropped = ctx.logical_data(dropped);
    auto lfixed = ctx.logical_data(fixed);

    ldropped.set_write_back(false);
    {
        auto learly = ctx.logical_data(early);
        auto temporary = ctx.logical_data<int>(2);
        ctx.parallel_for(learly.shape(), learly.rw(), temporary.write())
                ->*[](size_t i, auto v, auto t) { t(i) = v(i) += 1; };
    }
    ctx.parallel_for(lkept.shape(), lkept.rw(), ldropped.rw(), lfixed.read())
            ->*[](size_t i, auto a, auto b, auto c) { b(i) = a(i) += c(i); };
    ctx.finalize();
    EXPECT_RESULT(kept[1] == 2 && early[1] == 2);
}

static void contexts()
{
    int x[2] = {0, 0};

    // After each other, and copies; graphs and streams are the same here.
    for (int i = 0; i < 3; i++) {
        context ctx = i == 1 ? context(graph_ctx()) : context(stream_ctx());
        const context same = ctx;
        auto lx = ctx.logical_data(x);
        ctx.parallel_for(lx.shape(), lx.rw())->*[](size_t k, auto v) { v(k)++; };
        EXPECT(same == ctx);
        ctx.submit();
        ctx.finalize();
    }
    EXPECT_RESULT(x[0] == 3);
    {
        // Without finalize() the values come all the same.
        context ctx;
        auto lx = ctx.logical_data(x);
        ctx.parallel_for(lx.shape(), lx.rw())->*[](size_t k, auto v) { v(k)++; };
    }
    EXPECT_RESULT(x[0] == 4);
    context ctx(async_resources_handle{});
    auto lx = ctx.logical_data(x);
    ctx.push_affinity(exec_place::host());
    ctx.repeat(3)->*[&](context inside, size_t i) {
        EXPECT(i < 3);
        inside.parallel_for(lx.shape(), lx.rw())
                ->*[](size_t k, auto v) { v(k)++; };
    };
    int left = 2;
    ctx.repeat([&] { return left-- > 0; })->*[&](context inside, size_t) {
        inside.host_launch(lx.rw())->*[](auto v) { v(0)++; };
        inside.change_stage();
    };
    ctx.pop_affinity();
    ctx.fence().wait();
    ctx.finalize();
    EXPECT_RESULT(x[0] == 9 && x[1] == 7);
}

static void loops()
{
    stackable_ctx ctx;
    double x[64] = {}, residual = 100.;
    auto lx = ctx.logical_data(x);
    auto left = ctx.logical_data(scalar_view<double>(&residual));
    auto rounds = ctx.logical_data(shape_of<scalar_view<int>>());

    ctx.parallel_for(box<1>(1), rounds.write())->*[](size_t, auto n) { *n = 0; };
    {
        auto scope = ctx.repeat_graph_scope(5);
        ctx.parallel_for(lx.shape(), lx.rw())
                ->*[](size_t i, auto v) { v(i) += static_cast<double>(i); };
    }
    {
        auto scope = ctx.while_graph_scope();
        ctx.task(left.rw(), rounds.rw())->*[](stream_t, auto r, auto n) {
            *r /= 2.;
            ++*n;
        };
        scope.update_cond(left.read())->*[](auto r) { return *r > 1.; };
    }
    {
        auto scope = ctx.graph_scope();
        auto inside = ctx.logical_data_no_export<double>(64);
        lx.push(access_mode::read, data_place::host());
        ctx.parallel_for(lx.shape(), lx.read(), inside.write())
                ->*[](size_t i, auto a, auto b) { b(i) = a(i); };
    }
    EXPECT_RESULT(ctx.wait(rounds) == 7);
    ctx.finalize();
    EXPECT_RESULT(x[3] == 15. && residual == 100. / 128.);
}

static int ncalls;

static int fibonacci(int n)
{
    ncalls++;
    if (n < 2)
        return n;
    const auto before = [](int m) { return fibonacci(m); };
    return (run_once(n - 1)->*before) + (run_once(n - 2)->*before);
}

static void results_that_are_kept()
{
    context ctx;
    int x[2] = {3, 4};
    auto lx = ctx.logical_data(x);
    int tasks = 0, failures = 0;

    // 46 numbers, each once, but the first one, which asks for itself from outside.
    EXPECT(fibonacci(45) == 1134903170 && ncalls == 46);
    // Data, of the context and data that they are made of.
    const auto doubled = [&](const context &, const auto &of) {
        auto y = ctx.logical_data(of.shape());
        tasks++;
        ctx.parallel_for(exec_place::host(), y.shape(), of.read(), y.write())
                ->*[](size_t i, auto a, auto b) { b(i) = 2 * a(i); };
        return y;
    };
    auto y = run_once(ctx, lx)->*doubled;
    EXPECT((run_once(ctx, lx)->*doubled) == y && tasks == 1);
    EXPECT(!((run_once(ctx, y)->*doubled) == y) && tasks == 2);
    // What fails is not kept.
    const auto fails = [&](int) -> int { throw ++failures; };
    for (int i = 0; i < 2; i++)
        try {
            run_once(1)->*fails;
        } catch (int) {
        }
    EXPECT(failures == 2);
    // Many arguments, of several types.
    const auto sum = [&](int i, const std::string &text) {
        tasks++;
        return i + static_cast<int>(text.size());
    };
    tasks = 0;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 1000; i++)
            EXPECT((run_once(i, std::string("three"))->*sum) == i + 5);
    EXPECT(tasks == 1000);
    ctx.finalize();
}

static void failures_of_bodies()
{
    context ctx;
    int x[2] = {};
    auto lx = ctx.logical_data(x);
    bool told = false;

    ctx.host_launch(lx.read())->*[](auto) { throw std::out_of_range("no"); };
    try {
        ctx.fence().wait();
    } catch (const std::out_of_range &) {
        told = true;
    }
    EXPECT(told || !orrery_runs_kernels());
    ctx.finalize();
}

static void several_threads()
{
    context ctx;
    std::array<long, 4> x = {};
    auto token = ctx.token();
    std::vector<logical_data<slice<long>>> data;
    std::vector<std::thread> threads;

    for (long &value : x)
        data.push_back(ctx.logical_data(&value, 1));
    for (size_t t = 0; t < 4 && !orrery_is_simulated(); t++)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 100; i++)
                ctx.parallel_for(box<1>(1), data[t].rw(),
                                 data[(t + 1) % 4].read(), token.read())
                        ->*[](size_t k, auto v, auto, auto) { v(k)++; };
        });
    for (std::thread &thread : threads)
        thread.join();
    ctx.finalize();
    for (const long value : x)
        EXPECT(value == 100 || orrery_is_simulated());

    std::atomic<int> n{0};
    const auto count = [&](int) { return ++n; };
    threads.clear();
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < 100; i++)
                run_once(i)->*count;
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT(n == 100);
}

static void any_place()
{
    context ctx;
    const size_t n = 8;
    std::vector<std::vector<double>> x(n, std::vector<double>(256, 1.));
    std::vector<logical_data<slice<double>>> tiles;

    for (auto &tile : x)
        tiles.push_back(ctx.logical_data(&tile[0], tile.size()));
    for (int round = 0; round < 4; round++)
        for (size_t k = 0; k < n; k++)
            ctx.parallel_for(exec_place::any(), tiles[k].shape(),
                             tiles[(k + 1) % n].read(), tiles[k].rw())
                    .set_symbol("any")
                    ->*[](size_t i, auto a, auto b) { b(i) += a(i); };
    ctx.finalize();
    EXPECT_RESULT(x[0][0] == 16. || x[0][255] > 16.);
}

int main()
{
    modes_and_order();
    what_bodies_point_to();
    views_of_many_dimensions();
    reductions();
    shapes();
    tasks();
    tasks_without_types();
    fences();
    launches();
    grids();
    parts();
    own_format();
    frozen_data();
    values_go_back();
    contexts();
    loops();
    results_that_are_kept();
    failures_of_bodies();
    several_threads();
    any_place();
    return 0;
}
