// SPDX-License-Identifier: LGPL-2.1-or-later
// algorithms.cpp - what programs are written for: small whole ones, each compared with the
// same computed by loops.
#include "../programs/expect.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

// --- a sparse matrix, data of three arrays ---

struct csr {
    size_t rows, entries;
    double *value;
    int *column, *begin;
};
template <> class orrery::stf::shape_of<csr> : public box<1>
{
  public:
    shape_of() = default;
    explicit ORR_STF_HD shape_of(const csr &m)
        : box<1>(m.rows), entries(m.entries)
    {
    }
    size_t entries = 0;
};
template <> struct orrery::stf::data_format<csr> {
    static constexpr std::size_t blocks = 3;
    static std::size_t bytes(const shape_of<csr> &s, std::size_t block)
    {
        return block == 0   ? s.entries * sizeof(double)
               : block == 1 ? s.entries * sizeof(int)
                            : (s.size() + 1) * sizeof(int);
    }
    static void *address(const csr &m, std::size_t block)
    {
        return block == 0   ? static_cast<void *>(m.value)
               : block == 1 ? static_cast<void *>(m.column)
                            : static_cast<void *>(m.begin);
    }
    static csr view(const shape_of<csr> &s, void *const *at)
    {
        return {s.size(), s.entries, static_cast<double *>(at[0]),
                static_cast<int *>(at[1]), static_cast<int *>(at[2])};
    }
};

// --- operators of the program's ---

struct best {
    double value;
    size_t index;
};
struct larger {
    static ORR_STF_HD void init_op(best &b)
    {
        b = {-1e300, 0};
    }
    static ORR_STF_HD void apply_op(best &b, const best &other)
    {
        if (other.value > b.value ||
            (other.value == b.value && other.index < b.index))
            b = other;
    }
};
struct counts {
    size_t of[26];
};
struct add_counts {
    static ORR_STF_HD void init_op(counts &c)
    {
        c = {};
    }
    static ORR_STF_HD void apply_op(counts &c, const counts &other)
    {
        for (int i = 0; i < 26; i++)
            c.of[i] += other.of[i];
    }
};

namespace
{

bool near(double a, double b)
{
    return std::fabs(a - b) <= 1e-9 * (1. + std::fabs(b));
}

exec_place_grid several_places()
{
    return orrery_is_simulated() && starpu_cuda_worker_get_count()
               ? exec_place::all_devices()
               : exec_place::repeat(exec_place::host(), 3);
}

// --- bodies that attract each other ---

struct body {
    double at[3], speed[3];
};

void step_of(const body *from, size_t n, size_t i, body &to)
{
    double force[3] = {};

    for (size_t k = 0; k < n; k++) {
        double d[3], square = 0.01;
        for (int c = 0; c < 3; c++) {
            d[c] = from[k].at[c] - from[i].at[c];
            square += d[c] * d[c];
        }
        for (int c = 0; c < 3; c++)
            force[c] += d[c] / (square * std::sqrt(square));
    }
    to = from[i];
    for (int c = 0; c < 3; c++) {
        to.speed[c] += 0.001 * force[c];
        to.at[c] += 0.001 * to.speed[c];
    }
}

void nbody()
{
    const size_t n = 60, steps = 6;
    std::vector<body> now(n), next(n);

    for (size_t i = 0; i < n; i++)
        now[i] = {{std::sin(1. * i), std::cos(2. * i), std::sin(3. * i)}, {}};
    std::vector<body> expected = now;
    for (size_t s = 0; s < steps; s++) {
        for (size_t i = 0; i < n; i++)
            step_of(expected.data(), n, i, next[i]);
        std::swap(expected, next);
    }

    context ctx;
    auto l_now = ctx.logical_data(now).set_symbol("bodies");
    auto l_next = ctx.logical_data(l_now.shape());
    const exec_place_grid places = several_places();
    for (size_t s = 0; s < steps; s++) {
        ctx.parallel_for(places, l_now.shape(), l_now.read(),
                         l_next.write().in_parts())
                .set_symbol("attract")
                ->*[](size_t i, auto from, auto to) {
                        step_of(from.data_handle(), from.size(), i, to(i));
                    };
        std::swap(l_now, l_next);
    }
    ctx.finalize();
    for (size_t i = 0; i < n; i++)
        EXPECT_RESULT(near(now[i].at[0], expected[i].at[0]));
}

// --- heat on a plate whose rows several places have ---

void heat()
{
    const size_t n = 40, m = 36, steps = 10;
    std::vector<double> plate(n * m, 0.), other(n * m);

    for (size_t j = 0; j < m; j++)
        plate[j * n] = 100.;
    std::vector<double> expected = plate;
    for (size_t s = 0; s < steps; s++) {
        other = expected;
        for (size_t j = 1; j + 1 < m; j++)
            for (size_t i = 1; i + 1 < n; i++)
                other[j * n + i] =
                    0.25 *
                    (expected[j * n + i - 1] + expected[j * n + i + 1] +
                     expected[(j - 1) * n + i] + expected[(j + 1) * n + i]);
        std::swap(expected, other);
    }

    context ctx;
    const exec_place_grid places = several_places();
    const data_place spread =
        data_place::composite(tiled_partition<4>(), places);
    auto now = ctx.logical_data(make_slice(plate.data(), std::tuple{n, m}));
    auto next = ctx.logical_data(now.shape());
    double change = 0.;
    for (size_t s = 0; s < steps; s++) {
        auto lost = ctx.logical_data(shape_of<scalar_view<double>>());
        ctx.parallel_for(places, now.shape(), now.read(), next.write(spread))
                .set_symbol("heat")
                ->*
            [n, m](size_t i, size_t j, auto from, auto to) {
                to(i, j) = i == 0 || j == 0 || i + 1 == n || j + 1 == m
                               ? from(i, j)
                               : 0.25 * (from(i - 1, j) + from(i + 1, j) +
                                         from(i, j - 1) + from(i, j + 1));
            };
        ctx.parallel_for(inner<1>(now.shape()), now.read(), next.read(),
                         lost.reduce(reducer::maxval<double>{}))
                ->*[](size_t i, size_t j, auto a, auto b, double &most) {
                        const double d = std::fabs(a(i, j) - b(i, j));
                        most = d > most ? d : most;
                    };
        change = ctx.wait(lost);
        std::swap(now, next);
    }
    ctx.finalize();
    EXPECT_RESULT(change > 0. && change < 25.);
    for (size_t k = 0; k < n * m; k++)
        EXPECT_RESULT(near(plate[k], expected[k]));
}

// --- words and letters ---

void words()
{
    const std::string text = "the quick brown fox jumps over the lazy dog  and "
                             "the dog does not mind";
    std::vector<char> letters(text.begin(), text.end());
    context ctx;
    auto lt = ctx.logical_data(letters);
    auto nwords = ctx.logical_data(shape_of<scalar_view<int>>());
    auto histogram = ctx.logical_data(shape_of<scalar_view<counts>>());

    ctx.parallel_for(lt.shape(), lt.read(), nwords.reduce(reducer::sum<int>{}),
                     histogram.reduce(add_counts{}))
            ->*[](size_t i, auto t, int &n, counts &c) {
                    const bool letter = t(i) >= 'a' && t(i) <= 'z';
                    n += letter && (i == 0 || t(i - 1) == ' ');
                    if (letter)
                        c.of[t(i) - 'a']++;
                };
    const int n = ctx.wait(nwords);
    const counts c = ctx.wait(histogram);
    ctx.finalize();
    EXPECT_RESULT(n == 15 && c.of['t' - 'a'] == 4 && c.of['q' - 'a'] == 1);
}

// --- a pipeline: stages keep their order, items the order of their stages ---

void pipeline()
{
    const size_t nstages = 3, nitems = 8;
    context ctx;
    std::vector<logical_data<void_interface>> stage, item;
    std::vector<int> trace[nstages];

    for (size_t s = 0; s < nstages; s++)
        stage.push_back(ctx.token().set_symbol("stage"));
    for (size_t i = 0; i < nitems; i++)
        item.push_back(ctx.token());
    for (size_t i = 0; i < nitems; i++)
        for (size_t s = 0; s < nstages; s++)
            ctx.host_launch(stage[s].rw(), item[i].rw())->*[&trace, s, i] {
                if (s > 0 && trace[s - 1].size() <= i)
                    std::abort();
                trace[s].push_back(static_cast<int>(i));
            };
    ctx.finalize();
    for (size_t s = 0; s < nstages; s++)
        for (size_t i = 0; i < nitems; i++)
            EXPECT_RESULT(trace[s].at(i) == static_cast<int>(i));
}

// --- conjugate gradients: numbers stay where the vectors are ---

void multiply(context ctx, const logical_data<csr> &a,
              const logical_data<slice<double>> &x,
              const logical_data<slice<double>> &y)
{
    ctx.parallel_for(a.shape(), a.read(), x.read(), y.write())
            .set_symbol("multiply")
            ->*
        [](size_t i, csr m, auto from, auto to) {
            double sum = 0.;
            for (int k = m.begin[i]; k < m.begin[i + 1]; k++)
                sum += m.value[k] * from(static_cast<size_t>(m.column[k]));
            to(i) = sum;
        };
}

void dot(context ctx, const logical_data<slice<double>> &x,
         const logical_data<slice<double>> &y,
         const logical_data<scalar_view<double>> &to)
{
    ctx.parallel_for(x.shape(), x.read(), y.read(),
                     to.reduce(reducer::sum<double>{}))
            .set_symbol("dot")
            ->*[](size_t i, auto a, auto b, double &s) { s += a(i) * b(i); };
}

void conjugate_gradients()
{
    const size_t n = 50;
    std::vector<double> value, x(n, 0.), b(n, 1.);
    std::vector<int> column, begin{0};

    for (size_t i = 0; i < n; i++) {
        for (size_t k = i ? i - 1 : 0; k < n && k <= i + 1; k++) {
            value.push_back(k == i ? 4. : -1.);
            column.push_back(static_cast<int>(k));
        }
        begin.push_back(static_cast<int>(value.size()));
    }
    stackable_ctx ctx;
    auto A = ctx.logical_data(
        csr{n, value.size(), value.data(), column.data(), begin.data()});
    auto lx = ctx.logical_data(x), lr = ctx.logical_data(b);
    auto lp = ctx.logical_data<double>(n), lq = ctx.logical_data<double>(n);
    auto number = [&] {
        return ctx.logical_data(shape_of<scalar_view<double>>());
    };
    auto rho = number(), before = number(), pq = number();

    lr.set_write_back(false);
    A.set_write_back(false);
    ctx.parallel_for(lp.shape(), lr.read(), lp.write())
            ->*[](size_t i, auto r, auto p) { p(i) = r(i); };
    dot(ctx, lr, lr, rho);
    {
        auto loop = ctx.while_graph_scope();
        loop.assume_rounds(20);
        multiply(ctx, A, lp, lq);
        dot(ctx, lp, lq, pq);
        ctx.parallel_for(lx.shape(), rho.read(), pq.read(), lp.read(),
                         lq.read(), lx.rw(), lr.rw(), before.write())
                ->*[](size_t i, auto ro, auto d, auto p, auto q, auto to,
                      auto r, auto old) {
                        const double alpha = *ro / *d;
                        to(i) += alpha * p(i);
                        r(i) -= alpha * q(i);
                        if (i == 0)
                            *old = *ro;
                    };
        dot(ctx, lr, lr, rho);
        ctx.parallel_for(lp.shape(), rho.read(), before.read(), lr.read(),
                         lp.rw())
                ->*[](size_t i, auto ro, auto old, auto r, auto p) {
                        p(i) = r(i) + *ro / *old * p(i);
                    };
        loop.update_cond(rho.read())->*[](auto ro) { return *ro > 1e-20; };
    }
    ctx.finalize();
    for (size_t i = 0; i < n; i++) {
        const double left = i ? x[i - 1] : 0.,
                     right = i + 1 < n ? x[i + 1] : 0.;
        EXPECT_RESULT(near(4. * x[i] - left - right, 1.));
    }
}

// --- loops with conditions inside of each other ---

void roots()
{
    const size_t n = 8;
    std::vector<double> root(n, 1.);
    stackable_ctx ctx;
    auto lr = ctx.logical_data(root);
    auto which = ctx.logical_data(shape_of<scalar_view<int>>());

    ctx.parallel_for(box<1>(1), which.write())->*[](size_t, auto w) { *w = 0; };
    {
        auto each = ctx.while_graph_scope();
        {
            auto newton = ctx.while_graph_scope();
            ctx.parallel_for(box<1>(1), lr.rw(), which.read())
                    ->*[](size_t, auto r, auto w) {
                            const double a = *w + 2.;
                            double &x = r(static_cast<size_t>(*w));
                            x = 0.5 * (x + a / x);
                        };
            newton.update_cond(lr.read(), which.read())->*[](auto r, auto w) {
                const double x = r(static_cast<size_t>(*w));
                return std::fabs(x * x - (*w + 2.)) > 1e-10;
            };
        }
        ctx.parallel_for(box<1>(1), which.rw())->*[](size_t, auto w) { ++*w; };
        each.update_cond(which.read())->*[n](auto w) {
            return static_cast<size_t>(*w) < n;
        };
    }
    ctx.finalize();
    for (size_t i = 0; i < n; i++)
        EXPECT_RESULT(std::fabs(root[i] * root[i] - (2. + i)) < 1e-9);
}

// --- the largest of many, and where it is ---

void largest()
{
    const size_t n = 100000;
    std::vector<double> x(n);

    for (size_t i = 0; i < n; i++)
        x[i] = std::sin(0.001 * static_cast<double>(i));
    best expected;
    larger::init_op(expected);
    for (size_t i = 0; i < n; i++)
        larger::apply_op(expected, {x[i], i});
    context ctx;
    auto lx = ctx.logical_data(x);
    auto found = ctx.logical_data(shape_of<scalar_view<best>>());
    for (const exec_place &place :
         {exec_place(), exec_place::host(), exec_place::any()}) {
        ctx.parallel_for(place, lx.shape(), lx.read(), found.reduce(larger{}))
                ->*[](size_t i, auto v, best &b) {
                        larger::apply_op(b, {v(i), i});
                    };
        const best b = ctx.wait(found);
        EXPECT_RESULT(b.index == expected.index && b.value == expected.value);
    }
    ctx.finalize();
}

// --- contexts beside each other, on one runtime ---

void many_contexts()
{
    const int n = 24;
    async_resources_handle resources;
    std::vector<double> sum(n, 0.);
    std::vector<context> open;
    std::vector<logical_data<scalar_view<double>>> data;

    for (int k = 0; k < n; k++) {
        open.push_back(k % 2 ? context(graph_ctx(resources))
                             : context(stream_ctx(nullptr, resources)));
        data.push_back(open[k].logical_data(scalar_view<double>(&sum[k])));
    }
    for (int round = 0; round < 5; round++)
        for (int k = 0; k < n; k++)
            open[k].parallel_for(
                box<1>(k + 1),
                data[k].reduce(reducer::sum<double>{}, no_init{}))
                    ->*[](size_t i, double &s) { s += 1. + i; };
    for (context &ctx : open)
        ctx.submit();
    // In another order than they were made.
    for (int k = n; k-- > 0;)
        open[k].finalize();
    for (int k = 0; k < n; k++)
        EXPECT_RESULT(sum[k] == 5. * (k + 1) * (k + 2) / 2.);
}

// --- threads that submit to one context ---

void many_threads()
{
    const int nthreads = 4, each = 100;
    double own[nthreads] = {}, all = 0.;
    context ctx;
    auto shared = ctx.logical_data(scalar_view<double>(&all));
    std::vector<std::thread> threads;

    // In a simulation there is one thread of the program's.
    auto submit = [&](int t) {
        auto mine = ctx.logical_data(scalar_view<double>(&own[t]));
        for (int i = 0; i < each; i++) {
            ctx.parallel_for(box<1>(1), mine.rw(), shared.rw())
                    ->*[](size_t, auto a, auto b) { *a += 1., *b += 1.; };
            ctx.host_launch(mine.rw(), shared.read())->*[](auto a, auto) {
                *a += 1.;
            };
            auto made = ctx.logical_data<double>(4);
            ctx.parallel_for(made.shape(), made.write())
                    ->*[](size_t j, auto v) { v(j) = 1.; };
        }
    };
    for (int t = 0; t < nthreads; t++)
        if (orrery_is_simulated())
            submit(t);
        else
            threads.emplace_back(submit, t);
    for (std::thread &one : threads)
        one.join();
    ctx.finalize();
    EXPECT_RESULT(all == nthreads * each);
    for (const double value : own)
        EXPECT_RESULT(value == 2 * each);
}

} // namespace

int main()
{
    nbody();
    heat();
    words();
    pipeline();
    conjugate_gradients();
    roots();
    largest();
    many_contexts();
    many_threads();
    return 0;
}
