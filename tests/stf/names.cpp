// SPDX-License-Identifier: LGPL-2.1-or-later
// names.cpp - the list of CUDASTF's names that are here: each is used, with the type that
// its documentation gives it. What they do is in the other programs.
#include "../programs/expect.h"

#include <functional>
#include <map>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include <cudastf/cudastf.h>

using namespace cuda::experimental::stf;

template <class A, class B> constexpr bool same = std::is_same_v<A, B>;

// --- contexts ---

static void contexts()
{
    async_resources_handle resources;
    context chosen = graph_ctx();
    stream_ctx streams{cudaStream_t{}, resources};
    graph_ctx graphs{resources};
    int rounds = 0;

    static_assert(std::is_base_of_v<context, stream_ctx> &&
                  std::is_base_of_v<context, graph_ctx> &&
                  std::is_base_of_v<context, stackable_ctx>);
    chosen.change_stage();
    chosen.submit();
    (void)chosen.async_resources();
    chosen.repeat(2)->*[&](context, size_t) { rounds++; };
    chosen.repeat([&] { return rounds < 5; })->*[&](context, size_t) {
        rounds++;
    };
    EXPECT(rounds == 5);
    cudaStream_t fenced = streams.fence();
    cudaStreamSynchronize(fenced);
    fenced = streams.task_fence();
    chosen.finalize();
    streams.finalize();
    graphs.finalize();
}

// --- logical data ---

static void data()
{
    context ctx;
    double A[6] = {1., 2.}, M[3][2] = {};
    std::vector<double> v(4, 1.);
    logical_data<slice<double>> lA = ctx.logical_data(A);
    logical_data<slice<double, 2>> lM = ctx.logical_data(M);
    auto lv = ctx.logical_data(&v[0], v.size());
    auto lh = ctx.logical_data(slice<double>(&v[0], {4}), data_place::host());
    auto ls = ctx.logical_data(make_slice(&A[0], std::tuple{2, 2}, 3));
    auto lshape = ctx.logical_data(lA.shape());
    auto l2D = ctx.logical_data(shape_of<slice<double, 2>>(2, 3));
    auto ln = ctx.logical_data<int>(2, 3);
    logical_data<scalar_view<double>> sum =
        ctx.logical_data(shape_of<scalar_view<double>>());
    auto token = ctx.token(), logical = ctx.logical_token();

    static_assert(same<owning_container_of<scalar_view<double>>::type, double>);
    static_assert(same<decltype(token), logical_data<void_interface>>);
    lh.set_write_back(false);
    lv.set_write_back(false);
    ls.set_write_back(false);
    lA.set_symbol("A");
    EXPECT(lM.shape().size() == 6 && ln.shape().extent(1) == 3);
    ctx.task(logical.rw(), token.read(), lshape.write(), l2D.write(), ln.write())
            ->*[](cudaStream_t, auto, auto, auto) {};
    ctx.parallel_for(lA.shape(), lA.read(), lshape.rw(),
                     sum.reduce(reducer::sum<double>{}))
            ->*[](size_t i, auto a, auto b, double &s) { s += b(i) = a(i); };
    ctx.parallel_for(lA.shape(), lA.relaxed(),
                     sum.reduce(reducer::sum<double>{}, no_init{}))
            ->*[](size_t, auto, double &s) { s += 1.; };
    const double value = ctx.wait(sum);
    if (orrery_runs_kernels())
        EXPECT(value == 9.);
    ctx.wait(token);

    auto frozen = ctx.freeze(lA, access_mode::read, data_place::host());
    EXPECT(frozen.get_access_mode() == access_mode::read);
    EXPECT(frozen.get(data_place::host(), cudaStream_t{}).size() == 6);
    frozen.unfreeze(cudaStream_t{});
    ctx.finalize();
}

static void reducers()
{
    int a = 6, b = 3;

    reducer::sum<int>::apply_op(a, b);
    reducer::product<int>::apply_op(a, b);
    reducer::minval<int>::apply_op(a, b);
    reducer::maxval<int>::apply_op(a, 5);
    reducer::bitwise_xor<int>::apply_op(a, 1);
    reducer::bitwise_or<int>::apply_op(a, 2);
    reducer::bitwise_and<int>::apply_op(a, 7);
    EXPECT(a == (((5 ^ 1) | 2) & 7));
    reducer::bitwise_and<int>::init_op(a);
    EXPECT(a == ~0);
    bool c = true;
    reducer::logical_and<bool>::apply_op(c, false);
    reducer::logical_or<bool>::apply_op(c, true);
    EXPECT(c);
}

static void views()
{
    double A[24];
    slice<double, 2> s = make_slice(A, std::tuple{4, 3}, 6);
    slice<double> line(A, {4});

    EXPECT(s.data_handle() == A && s.extent(1) == 3 && s.stride(1) == 6 &&
           s.size() == 12 && &s(1, 2) == A + 13 && &line(3) == A + 3);
    EXPECT((box<2>({2, 3}).size() == 6 &&
            box<2>({{5, 8}, {2, 4}}).size() == 6 && box({4}).size() == 4));
    EXPECT(inner<1>(shape_of<slice<double>>(6)).size() == 4);
    static_assert(same<shape_of<slice<double>>::coords_t,
                       decltype(shape_of<slice<double>>(6).index_to_coords(2))>);
}

// --- tasks ---

static void tasks()
{
    context ctx;
    double X[4] = {1., 1., 1., 1.}, Y[4] = {};
    auto lX = ctx.logical_data(X), lY = ctx.logical_data(Y);

    static_assert(same<decltype(ctx.task(lX.read(), lY.rw())),
                       stream_task<slice<const double>, slice<double>>>);
    stream_task<> t = ctx.task();
    t.add_deps(lX.read(), lY.rw());
    t.set_symbol("by hand");
    t.start();
    (void)t.template get<slice<const double>>(0);
    EXPECT(t.get_stream() == cudaStream_t{});
    t.end();
    graph_task<> graph = ctx.task(lX.read());
    unified_task<slice<const double>> unified = ctx.task(lX.read());
    unified.set_symbol("unified");
    graph->*[](cudaStream_t) {};
    unified.add_deps(lY.rw());
    unified->*[&](cudaStream_t stream, auto) {
        EXPECT(unified.get_stream() == stream);
        (void)unified.template get<slice<double>>(1);
    };
    auto wide = ctx.task(exec_place::grid({exec_place::host()}), lX.read());
    wide->*[&](cudaStream_t, auto) {
        static_assert(same<decltype(wide.get_stream(0)), cudaStream_t>);
        EXPECT(wide.get_grid_dims() == dim4(1));
    };
    ctx.host_launch(lX.read())->*[](auto) {};
    const int calls = run_once(3)->*[](int n) { return n + 1; };
    EXPECT(calls == 4);
    ctx.finalize();
}

static void hierarchies()
{
    context ctx;
    int A[8] = {};
    auto lA = ctx.logical_data(A);

    ctx.launch(par(2, con<4>(mem(64), con())), lA.rw())
            ->*[](auto th, auto a) {
        static_assert(th.depth() == 3);
        static_assert(th.template is_synchronizable<1>());
        slice<int> shared = th.template storage<int>(1);
        th.sync(1);
        th.inner().sync();
        if (th.rank(2) == 0 && th.template size<1>() == 4 &&
            th.static_with(1) == 4 && th.get_mem(1) == 64 &&
            th.size() == 8 * th.size(2) && !th.is_synchronizable(0) &&
            th.inner().rank(0) == th.template rank<1>() && shared.size() == 16)
            a(th.rank(0) * 4 + th.rank(1))++;
    };
    ctx.launch(par(hw_scope::device | hw_scope::block,
                   par<4>(hw_scope::thread)),
               lA.rw())
            ->*[](auto th, auto a) {
        if (th.get_scope(1) == hw_scope::thread)
            for (auto i : th.apply_partition(shape(a)))
                a(i)++;
    };
    ctx.launch(par(4), lA.rw())->*[](thread_info t, slice<int> a) {
        for (size_t i = t.thread_id(); i < a.size(); i += t.get_num_threads())
            a(i)++;
    };
    (void)hw_scope::all;
    ctx.finalize();
    for (const int a : A)
        EXPECT_RESULT(a == 3);
}

// --- places ---

class by_hand : public partitioner_base
{
  public:
    template <class S> static S apply(const S &in, pos4 position, dim4 grid)
    {
        return blocked_partition::apply(in, position, grid);
    }
    static pos4 get_executor(pos4 at, dim4 data, dim4 grid)
    {
        return cyclic_partition::get_executor(at, data, grid);
    }
};

static void exec_places()
{
    context ctx;
    std::vector<exec_place> four(4, exec_place::host());
    exec_place_grid line = exec_place::grid(four);
    exec_place_grid square = exec_place::grid(four, dim4(2, 2));
    auto all = exec_place::all_devices<tiled_partition<2>>();
    auto eight = exec_place::grid<exec_place_device, by_hand>(
        std::vector<exec_place>(8, exec_place::host()));
    auto plain = exec_place::all_devices<null_partition>();
    auto cube = eight.reshape(dim4(2, 2, 2));
    int A[16] = {};
    auto lA = ctx.logical_data(A);

    EXPECT(cuda::experimental::places::exec_place::host() == four[0]);
    EXPECT(line.size() == 4 && square.get_dim(1) == 2 &&
           square.get_dims().size() == 4 && cube.get_dims().z == 2);
    EXPECT(line == exec_place::repeat(exec_place::host(), 4));
    EXPECT(square != line && square.reshape(dim4(4)) == line);
    EXPECT(square.get_place(pos4(1, 1)) == exec_place::host());
    ctx.push_affinity(exec_place::host());
    ctx.pop_affinity();
    for (const auto &grid : {exec_place_grid(all), exec_place_grid(plain)})
        ctx.parallel_for(grid, lA.shape(), lA.rw())
                ->*[](size_t i, auto a) { a(i)++; };
    ctx.parallel_for(all, lA.shape(), lA.rw())->*[](size_t i, auto a) { a(i)++; };
    ctx.parallel_for(plain, lA.shape(), lA.rw())
            ->*[](size_t i, auto a) { a(i)++; };
    ctx.parallel_for(cube, lA.shape(), lA.rw())
            ->*[](size_t i, auto a) { a(i)++; };
    ctx.parallel_for(tiled_partition<3>(), cube, lA.shape(), lA.rw())
            ->*[](size_t i, auto a) { a(i)++; };
    ctx.finalize();
    for (const int a : A)
        EXPECT_RESULT(a == 6);
    const std::unordered_set<exec_place> hashed{exec_place::current_device(),
                                                line, four[0]};
    const std::map<exec_place, int> ordered{{exec_place::device(0), 1},
                                            {square, 2}, {line, 3}};
    EXPECT(hashed.size() == 3 && ordered.size() == 3);
    EXPECT(exec_place::cuda_stream(cudaStream_t{}) == exec_place::device(0));
}

static void data_places()
{
    auto all = exec_place::all_devices();
    const std::unordered_set<data_place> hashed{
        data_place::affine(),
        data_place::host(),
        data_place::managed(),
        data_place::device(1),
        data_place::current_device(),
        data_place::composite(blocked_partition(), all),
        data_place::replicated(all)};
    const std::map<data_place, int> ordered{{data_place::affine(), 1},
                                            {data_place::managed(), 2}};

    EXPECT(hashed.size() == 7 && ordered.size() == 2);
    auto *at = static_cast<double *>(
        data_place::host().allocate(4 * sizeof(double), cudaStream_t{}));
    at[3] = 1.;
    data_place::host().deallocate(at, 4 * sizeof(double), cudaStream_t{});
}

// --- scopes ---

static void scopes()
{
    stackable_ctx ctx;
    int A[4] = {};
    auto lA = ctx.logical_data(A);
    auto sum = ctx.logical_data(shape_of<scalar_view<int>>());

    ctx.push();
    lA.push(access_mode::rw, data_place::affine());
    auto inside = ctx.logical_data_no_export(shape_of<slice<int>>(4));
    ctx.parallel_for(inside.shape(), inside.write(), lA.rw())
            ->*[](size_t i, auto b, auto a) { b(i) = a(i)++; };
    ctx.pop();
    {
        auto scope = ctx.graph_scope();
        ctx.parallel_for(lA.shape(), lA.rw())->*[](size_t i, auto a) { a(i)++; };
    }
    {
        auto scope = ctx.repeat_graph_scope(3);
        ctx.parallel_for(lA.shape(), lA.rw())->*[](size_t i, auto a) { a(i)++; };
    }
    {
        auto scope = ctx.while_graph_scope();
        ctx.parallel_for(box<1>(1), lA.read(), sum.write())
                ->*[](size_t, auto a, auto s) { *s = a(0); };
        ctx.parallel_for(lA.shape(), lA.rw())->*[](size_t i, auto a) { a(i)++; };
        scope.update_cond(sum.read())->*[](auto s) { return *s < 8; };
    }
    {
        launchable_graph_scope scope(ctx);
        ctx.parallel_for(lA.shape(), lA.rw())->*[](size_t i, auto a) { a(i)++; };
        scope.launch();
    }
    lA.set_read_only();
    auto section = ctx.dot_section("section");
    section.end();
    ctx.finalize();
    EXPECT_RESULT(A[0] == 10);
}

int main()
{
    contexts();
    data();
    reducers();
    views();
    tasks();
    hierarchies();
    exec_places();
    data_places();
    scopes();
    return 0;
}
