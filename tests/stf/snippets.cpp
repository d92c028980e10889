// SPDX-License-Identifier: LGPL-2.1-or-later
// snippets.cpp - what CUDASTF's documentation shows, as a program that checks the
// results: with its names, and with a C++ compiler alone. Kernels in sources for nvcc
// are in kernels.cu.
#include "../programs/expect.h"

#include <cassert>
#include <cmath>
#include <vector>

#include <cuda/experimental/stf.cuh>

using namespace cuda::experimental::stf;

// "A simple example", its kernel a loop.
static void a_simple_example()
{
    context ctx;

    const size_t N = 16;
    double X[N], Y[N];

    for (size_t ind = 0; ind < N; ind++) {
        X[ind] = sin((double)ind);
        Y[ind] = cos((double)ind);
    }

    auto lX = ctx.logical_data(X);
    auto lY = ctx.logical_data(Y);

    double alpha = 3.14;

    /* Compute Y = Y + alpha X */
    ctx.task(lX.read(), lY.rw())->*[&](cudaStream_t s, auto sX, auto sY) {
        EXPECT(s == nullptr);
        for (size_t ind = 0; ind < sX.size(); ind++)
            sY(ind) += alpha * sX(ind);
    };
    ctx.finalize();
    for (size_t i = 0; i < N; i++)
        EXPECT_RESULT(std::fabs(Y[i] - (cos((double)i) + 3.14 * sin((double)i))) <
                      1e-12);
}

// "Backends and contexts"
static void backends()
{
    context chosen = graph_ctx();
    stream_ctx streams;
    graph_ctx graphs;

    chosen.finalize();
    streams.submit();
    graphs.submit();
    streams.finalize();
    graphs.finalize();
}

// "Slices", "Defining slices with multiple dimensions", "Logical data from a shape"
static void slices()
{
    double A[5 * 3 * 40];

    slice<double, 2> s = make_slice(A, std::tuple{5, 2}, 5);
    slice<double, 2> s2 = make_slice(A, std::tuple{4, 2}, 5);
    EXPECT(s.contiguous() && !s2.contiguous());
    EXPECT(&s2(3, 0) == &A[3] && &s2(0, 1) == &A[5]);
    slice<double, 3> c = make_slice(A, std::tuple{5, 3, 40}, 5, 5 * 3);
    slice<double, 3> c2 = make_slice(A, std::tuple{4, 3, 40}, 5, 5 * 3);
    slice<double, 3> c3 = make_slice(A, std::tuple{5, 2, 40}, 5, 5 * 3);
    EXPECT(c.size() == 600 && c2.stride(2) == 15 && c3.extent(1) == 2);

    context ctx;
    double B[32 * 32] = {};
    auto lX = ctx.logical_data(make_slice(B, std::tuple{32, 32}, 32));
    auto lB = ctx.logical_data(slice<double>(A, {10}));
    auto lM = ctx.logical_data(slice<double, 2>(A + 10, {4, 4}, {8}));
    auto lI = ctx.logical_data(shape_of<slice<int>>(10));
    auto lX_2D = ctx.logical_data(shape_of<slice<double, 2>>(16, 24));
    auto lX_3D = ctx.logical_data(shape_of<slice<double, 3>>(16, 24, 10));
    auto lY = ctx.logical_data(lX.shape());

    ctx.task(lI.write())->*[](cudaStream_t stream, auto X) {
        cudaMemsetAsync(X.data_handle(), 0, X.size() * sizeof(int), stream);
    };
    ctx.parallel_for(lM.shape(), lX_2D.write(), lX_3D.write(), lB.rw(),
                     lY.write(), lM.write())
            ->*[](size_t i, size_t j, auto a, auto b, auto, auto d, auto m) {
        m(i, j) = a(i, j) = b(i, j, 2) = d(i, j) = 1.;
    };
    ctx.host_launch(lI.read())->*[](auto X) {
        for (size_t i = 0; i < X.size(); i++)
            EXPECT_RESULT(X(i) == 0);
    };
    ctx.finalize();
}

static int tasks_seen;
template <class X, class Y> static void callback(const X &x, const Y &y)
{
    tasks_seen += x(0) == 0 && y(0) == 3;
}

// "Example of creating and using multiple tasks"
static void several_tasks()
{
    context ctx;
    int X[4] = {1, 1, 1, 1}, Y[4] = {1, 1, 1, 1};
    auto lX = ctx.logical_data(X);
    auto lY = ctx.logical_data(Y);

    // Task 1
    ctx.task(lX.read(), lY.rw())->*[](cudaStream_t, auto sX, auto sY) {
        sY(0) += sX(0);
    };
    // Task 2
    ctx.task(lX.rw())->*[](cudaStream_t, auto sX) { sX(0) = 0; };
    // Task 3
    ctx.task(lY.rw())->*[](cudaStream_t, auto sY) { sY(0)++; };
    // Task 4
    ctx.host_launch(lX.read(), lY.read())->*[](auto sX, auto sY) {
        callback(sX, sY);
    };
    // Unrelated code might go here
    ctx.submit();
    cudaStream_t stream = ctx.task_fence();
    cudaStreamSynchronize(stream);
    ctx.finalize();
    EXPECT_RESULT(tasks_seen == 1);
}

// "Execution places", "Data places"; ORRERY_STF_PLACE=any lets it run without devices.
static void places()
{
    context ctx;

    int X = 42, other = 0;
    auto lX = ctx.logical_data(slice<int>(&X, {1}));
    auto A = ctx.logical_data(slice<int>(&other, {1}));
    A.set_write_back(false);

    ctx.task(exec_place::device(0), lX.rw())->*[](cudaStream_t, auto sX) {
        sX(0)++;
    };
    ctx.task(exec_place::device(1), lX.rw())->*[](cudaStream_t, auto sX) {
        sX(0)++;
    };
    ctx.task(exec_place::host(), lX.read())
            ->*[](cudaStream_t stream, auto sX) {
        cudaStreamSynchronize(stream);
        EXPECT_RESULT(sX(0) == 44);
    };
    ctx.host_launch(lX.read())->*[](auto sX) { EXPECT_RESULT(sX(0) == 44); };

    ctx.task(exec_place::device(0), A.rw(data_place::affine()))
            ->*[](cudaStream_t, auto a) { a(0) = 1; };
    ctx.task(exec_place::device(0), A.rw(data_place::host()))
            ->*[](cudaStream_t, auto a) { a(0)++; };
    ctx.task(exec_place::host(), A.rw(data_place::managed()))
            ->*[](cudaStream_t, auto a) { a(0)++; };
    ctx.host_launch(A.read())->*[](auto a) { EXPECT_RESULT(a(0) == 3); };
    ctx.finalize();
    EXPECT_RESULT(X == 44);
}

// "Partitioning policies"
class MyPartition : public partitioner_base
{
  public:
    template <typename S_in>
    static box<1> apply(const S_in &in, pos4 position, dim4 grid_dims)
    {
        const size_t n = in.size(), k = grid_dims.size();
        const size_t p = grid_dims.get_index(position);
        return box<1>({{n * p / k, n * (p + 1) / k}});
    }
    static pos4 get_executor(pos4 data_coords, dim4 data_dims, dim4 grid_dims)
    {
        return pos4(data_coords.x * grid_dims.x / data_dims.x);
    }
};

// "Creating grids of places", "Shaped grids"
static void grids()
{
    context ctx;
    int A[64] = {};
    auto lA = ctx.logical_data(A);
    auto all = exec_place::all_devices();
    auto eight = exec_place::grid(
        std::vector<exec_place>(8, exec_place::host()));
    auto cube = eight.reshape(dim4(2, 2, 2));

    EXPECT(cube.get_dim(1) == 2 && all.size() >= 1);
    ctx.parallel_for(MyPartition(), cube, lA.shape(), lA.rw())
            ->*[](size_t i, auto sA) { sA(i)++; };
    ctx.parallel_for(blocked_partition(), all, lA.shape(), lA.rw())
            ->*[](size_t i, auto sA) { sA(i)++; };
    ctx.parallel_for(tiled_partition<10>(), all, lA.shape(), lA.rw())
            ->*[](size_t i, auto sA) { sA(i)++; };
    ctx.finalize();
    for (int a : A)
        EXPECT_RESULT(a == 3);
}

// "parallel_for construct", "Box shape"
static void loops()
{
    context ctx;
    int A[128];
    auto lA = ctx.logical_data(A);

    ctx.parallel_for(exec_place::device(1), lA.shape(), lA.write())
            ->*[] __device__(size_t i, auto sA) {
        sA(i) = 2 * static_cast<int>(i) + 1;
    };

    const size_t N = 16;
    static double X[2 * N * 2 * N];
    static double Y[N * N];
    auto lx =
        ctx.logical_data(make_slice(&X[0], std::tuple{2 * N, 2 * N}, 2 * N));
    auto ly = ctx.logical_data(make_slice(&Y[0], std::tuple{N, N}, N));
    ctx.parallel_for(lx.shape(), lx.write())
            ->*[=] __device__(size_t i, size_t j, auto sx) { sx(i, j) = 0.1; };
    ctx.parallel_for(ly.shape(), lx.read(), ly.write())
            ->*[=] __device__(size_t i, size_t j, auto sx, auto sy) {
        sy(i, j) = 0.;
        for (size_t ii = 0; ii < 2; ii++)
            for (size_t jj = 0; jj < 2; jj++)
                sy(i, j) += sx(2 * i + ii, 2 * j + jj);
    };

    auto count = ctx.logical_data(shape_of<scalar_view<int>>());
    ctx.parallel_for(box<2>({2, 3}), count.reduce(reducer::sum<int>{}))
            ->*[] __device__(size_t i, size_t j, int &n) {
        n += i < 2 && j < 3;
    };
    EXPECT_RESULT(ctx.wait(count) == 6);
    ctx.parallel_for(box({4}), count.reduce(reducer::sum<int>{}))
            ->*[] __device__(size_t, int &n) { n++; };
    EXPECT_RESULT(ctx.wait(count) == 4);
    ctx.parallel_for(box<2>({{5, 8}, {2, 4}}),
                     count.reduce(reducer::sum<int>{}))
            ->*[] __device__(size_t i, size_t j, int &n) {
        n += i >= 5 && i < 8 && j >= 2 && j < 4;
    };
    EXPECT_RESULT(ctx.wait(count) == 6);
    ctx.finalize();
    EXPECT_RESULT(A[127] == 255 && std::fabs(Y[N * N - 1] - 0.4) < 1e-12);
}

template <typename T> class own_sum
{
  public:
    static __host__ __device__ void init_op(T &dst)
    {
        dst = static_cast<T>(0);
    }
    static __host__ __device__ void apply_op(T &dst, const T &src)
    {
        dst += src;
    }
};

// "dot product using a reduction operation"
static void dot_product()
{
    context ctx;
    double X[100], Y[100];
    auto lX = ctx.logical_data(X), lY = ctx.logical_data(Y);
    auto lsum = ctx.logical_data(shape_of<scalar_view<double>>());

    ctx.parallel_for(lX.shape(), lX.write(), lY.write())
            ->*[] __device__(size_t i, auto dX, auto dY) {
        dX(i) = static_cast<double>(i);
        dY(i) = 2.;
    };
    /* Compute sum(x_i * y_i)*/
    ctx.parallel_for(lY.shape(), lX.read(), lY.read(),
                     lsum.reduce(reducer::sum<double>{}))
            ->*[] __device__(size_t i, auto dX, auto dY, double &sum) {
        sum += dX(i) * dY(i);
    };
    double res = ctx.wait(lsum);
    EXPECT_RESULT(res == 9900.);
    ctx.parallel_for(lY.shape(), lX.read(),
                     lsum.reduce(own_sum<double>{}, no_init{}))
            ->*[] __device__(size_t i, auto dX, double &sum) { sum += dX(i); };
    EXPECT_RESULT(ctx.wait(lsum) == 9900. + 4950.);
    ctx.finalize();
}

// "launch construct"
static void launches()
{
    context ctx;
    const size_t N = 1000;
    std::vector<double> X(N, 1.), Y(N, 0.);
    const double alpha = 3.;
    auto lX = ctx.logical_data(&X[0], N), lY = ctx.logical_data(&Y[0], N);
    auto all_devs = exec_place::all_devices();

    ctx.launch(par(1024), all_devs, lX.read(), lY.rw())
            ->*[=] __device__(thread_info t, slice<const double> x,
                              slice<double> y) {
        size_t tid = t.thread_id();
        size_t nthreads = t.get_num_threads();
        for (size_t ind = tid; ind < N; ind += nthreads)
            y(ind) += alpha * x(ind);
    };
    ctx.launch(par(16, con<32>()), lY.rw())->*[] __device__(auto th, auto y) {
        static_assert(th.depth() == 2);
        if (th.size() == 512 && th.size(1) == 32 && th.static_with(1) == 32 &&
            !th.is_synchronizable(0))
            for (size_t i = th.rank(); i < y.size(); i += th.size())
                y(i) += 1.;
        th.sync(1);
    };
    ctx.launch(con(16, mem(64)), lY.rw())->*[] __device__(auto th, auto y) {
        slice<char> smem = th.template storage<char>(0);
        smem(th.rank()) = 1;
        th.sync();
        if (th.rank() == 0 && smem(15) == 1 && th.get_mem(0) == 64)
            y(0) += 1.;
    };
    ctx.launch(par(hw_scope::device | hw_scope::block,
                   par<128>(hw_scope::thread)),
               lY.rw())
            ->*[] __device__(auto th, auto y) {
        for (size_t i = th.rank(); i < y.size(); i += th.size())
            y(i) += 1.;
    };
    ctx.finalize();
    EXPECT_RESULT(Y[0] == 6. && Y[N - 1] == 5.);
}

// "C++ types", "Dynamically-typed tasks", "Combining typed and untyped tasks"
class foo
{
  public:
    explicit foo(context &ctx) : ldata(ctx.logical_data(shape_of<slice<int>>(4)))
    {
    }
    mutable logical_data<slice<int>> ldata;
};
static void func(context &ctx, const foo &f)
{
    ctx.task(f.ldata.read())->*[](cudaStream_t, auto) {};
}
static void types()
{
    context ctx;
    double X[16] = {}, Y[16] = {};
    logical_data<slice<double>> lX = ctx.logical_data(X);
    auto lY = ctx.logical_data(Y);
    const foo f(ctx);

    ctx.task(f.ldata.write())->*[](cudaStream_t, auto) {};
    func(ctx, f);
    stream_task<> t = ctx.task(exec_place::host());
    t.add_deps(lX.read(), lY.rw());
    t.start();
    slice<double> y = t.get<slice<double>>(1);
    cudaStreamSynchronize(t.get_stream());
    y(0) = 1.;
    t.end();
    auto typed = ctx.task(lX.read());
    typed.add_deps(lY.rw());
    typed->*[&](cudaStream_t, auto x) {
        slice<double> more = typed.template get<slice<double>>(1);
        more(1) = x(1) + 2.;
    };
    stream_task<> untyped = ctx.task(lX.read(), lY.rw());
    untyped->*[](cudaStream_t) {};
    stream_task<slice<const double>, slice<double>> exact =
        ctx.task(lX.read(), lY.rw());
    exact->*[](cudaStream_t, slice<const double>, slice<double>) {};
    ctx.finalize();
    EXPECT_RESULT(Y[0] == 1. && Y[1] == 2.);
}

// "Freezing logical data", "Logical token"
static void modular_use()
{
    context ctx;
    int X[4] = {1, 2, 3, 4};
    auto ld = ctx.logical_data(X);
    cudaStream_t stream = nullptr;

    auto frozen_ld = ctx.freeze(ld);
    auto dX = frozen_ld.get(data_place::host(), stream);
    EXPECT_RESULT(dX(3) == 4);
    frozen_ld.unfreeze(stream);
    auto again = ctx.freeze(ld, access_mode::rw, data_place::host());
    again.get(data_place::host(), stream)(0) = 5;
    again.unfreeze(stream);

    auto token = ctx.logical_token();
    auto A = ctx.logical_data<int>(1), B = ctx.logical_data<int>(1);
    ctx.task(A.write(), B.write())->*[](cudaStream_t, auto, auto) {};
    ctx.task(token.rw(), A.read(), B.rw())
            ->*[](cudaStream_t, auto, auto) {};
    ctx.task(token.rw(), A.read(), B.rw())
            ->*[](cudaStream_t, void_interface, auto, auto) {};
    ctx.finalize();
    EXPECT_RESULT(X[0] == 5);
}

// "Visualizing task graphs"
static void sections()
{
    context ctx;
    auto lA = ctx.logical_token().set_symbol("A");
    auto lB = ctx.logical_token().set_symbol("B");
    auto lC = ctx.logical_token().set_symbol("C");

    // Begin a top-level section named "foo"
    auto s_foo = ctx.dot_section("foo");
    for (size_t i = 0; i < 2; i++) {
        // Section named "bar" using RAII
        auto s_bar = ctx.dot_section("bar");
        ctx.task(lA.read(), lB.rw()).set_symbol("t1")
                ->*[](cudaStream_t, auto, auto) {};
        for (size_t j = 0; j < 2; j++) {
            // Section named "baz" using RAII
            auto s_baz = ctx.dot_section("baz");
            ctx.task(lA.read(), lC.rw()).set_symbol("t2")
                    ->*[](cudaStream_t, auto, auto) {};
            ctx.task(lB.read(), lC.read(), lA.rw()).set_symbol("t3")
                    ->*[](cudaStream_t, auto, auto, auto) {};
            // Implicit end of section "baz"
        }
        // Implicit end of section "bar"
    }
    s_foo.end(); // Explicit end of section "foo"
    ctx.finalize();
}

// "Visualizing task graphs", "Kernel tuning", "Manipulating a thread hierarchy", and the
// "Reference Card"
static void reference_card()
{
    context ctx;
    const size_t N = 16;
    double X[N * N] = {}, Y[N], W[256] = {};
    int A[128];
    auto lX = ctx.logical_data(make_slice(&X[0], std::tuple{N, N}));
    auto lY = ctx.logical_data(Y).set_symbol("Y");
    auto lA = ctx.logical_data(A);
    auto lW = ctx.logical_data(W);

    ctx.parallel_for(lY.shape(), lY.write())
            ->*[] __device__(size_t i, auto dY) { dY(i) = 1. + i; };
    ctx.parallel_for(lX.shape(), lX.rw(), lY.read())
            ->*[] __device__(size_t i, size_t j, auto dX, auto dY) {
                    dX(i, j) += dY(i) * dY(j);
                };
    ctx.parallel_for(lA.shape(), lA.write()).set_symbol("updateA")->*
        [] __device__(size_t i, auto sA) {
            sA(i) = 2 * static_cast<int>(i) + 1;
        };
    // Explicit manipulation of the task class
    auto t = ctx.task(lX.rw(), lY.read());
    t.set_symbol("axpy");
    t->*[&](cudaStream_t, auto dX, auto dY) { dX(0, 0) += dY(0); };

    auto spec = con<128>(con(2));
    ctx.launch(spec, lW.write())->*[] __device__(auto th, auto w) {
        auto ti = th.inner();
        w(th.rank()) = static_cast<double>(ti.size() * 100 + ti.rank());
        th.inner().sync();
    };
    (void)con(128, par(32));
    ctx.launch(con(8, mem(64), con(2)), lW.rw())
            ->*[] __device__(auto th, auto w) {
                    if (th.rank() == 15 && th.template size<1>() == 2)
                        w(0) += 1.;
                };
    if (exec_place::all_devices().get_place(0).is_device()) {
        auto frozen_ld = ctx.freeze(lA);
        auto dA = frozen_ld.get(data_place::current_device());
        auto hA = frozen_ld.get(data_place::host());
        EXPECT_RESULT(dA.size() == 128 && hA(5) == 11);
        EXPECT(frozen_ld.get_access_mode() == access_mode::read);
        frozen_ld.unfreeze(nullptr);
        ctx.task(exec_place::host(), lA.rw(data_place::device(0)))
                ->*[](cudaStream_t, auto) {};
    }
    ctx.finalize();
    EXPECT_RESULT(X[0] == 2. && X[N * N - 1] == 256. && A[127] == 255);
    EXPECT_RESULT(W[0] == 201. && W[255] == 201.);
}

int main()
{
    reference_card();
    a_simple_example();
    backends();
    slices();
    several_tasks();
    places();
    grids();
    loops();
    dot_product();
    launches();
    types();
    modular_use();
    sections();
    return 0;
}
