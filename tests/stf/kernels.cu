// SPDX-License-Identifier: LGPL-2.1-or-later
// kernels.cu - CUDASTF's constructs with kernels for devices, for compilers of CUDA. Without
// a device it is simulated: kernels take their time, and are not executed.
#include <cmath>
#include <cstdio>
#include <vector>

#include <cuda/experimental/stf.cuh>

using namespace cuda::experimental::stf;

template <typename T> __global__ void axpy(T a, slice<const T> x, slice<T> y)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    int nthreads = gridDim.x * blockDim.x;

    for (size_t ind = tid; ind < x.size(); ind += nthreads)
        y(ind) += a * x(ind);
}

// Kernels in the queue of a task; the body refers to what the program has.
static void tasks(context &ctx, logical_data<slice<double>> &lX,
                  logical_data<slice<double>> &lY)
{
    double alpha = 3.14;

    ctx.task(lX.read(), lY.rw()).set_symbol("axpy")
            ->*[&](cudaStream_t s, auto sX, auto sY) {
        axpy<<<16, 128, 0, s>>>(alpha, sX, sY);
    };
    ctx.task(exec_place::device(0), lX.read(), lY.rw())
            ->*on_host([](cudaStream_t, auto, auto sY) { sY(0) = 1.; })
                  .on_device([alpha](cudaStream_t s, auto sX, auto sY) {
                      axpy<<<16, 128, 0, s>>>(alpha, sX, sY);
                  });
    auto wide = ctx.task(exec_place::all_devices(), lX.read(), lY.rw());
    wide.set_symbol("axpy on all")->*[&](cudaStream_t, auto sX, auto sY) {
        for (size_t i = 0; i < wide.grid_size(); i++) {
            wide.activate(i);
            axpy<<<16, 128, 0, wide.get_stream(i)>>>(alpha, sX, sY);
        }
        wide.deactivate();
    };
    ctx.cuda_kernel(lX.read(), lY.rw()).set_symbol("axpy")
            ->*[&](auto sX, auto sY) {
        return cuda_kernel_desc{axpy<double>, 16, 128, 0, alpha, sX, sY};
    };
    ctx.cuda_kernel_chain(lX.read(), lY.rw()).set_symbol("axpy twice")
            ->*[&](auto sX, auto sY) {
        return std::vector<cuda_kernel_desc>{
            {axpy<double>, 16, 128, 0, alpha, sX, sY},
            {axpy<double>, 32, 64, 0, 1., sX, sY}};
    };
}

static void loops(context &ctx, logical_data<slice<double>> &lX,
                  logical_data<slice<double>> &lY)
{
    double alpha = 2.;
    auto lsum = ctx.logical_data(shape_of<scalar_view<double>>());
    auto lmax = ctx.logical_data(shape_of<scalar_view<double>>());
    auto lM = ctx.logical_data(shape_of<slice<double, 2>>(20, 30));

    ctx.parallel_for(lY.shape(), lX.read(), lY.rw()).set_symbol("axpy")
            ->*[alpha] __device__(size_t i, auto dX, auto dY) {
        dY(i) += alpha * dX(i);
    };
    ctx.parallel_for(blocked_partition(), exec_place::all_devices(), lM.shape(),
                     lM.write())
            ->*[] __device__(size_t i, size_t j, auto m) { m(i, j) = i + j; };
    ctx.parallel_for(tiled_partition<4>(), exec_place::all_devices(),
                     lM.shape(), lM.rw())
            ->*[] __device__(size_t i, size_t j, auto m) { m(i, j) += 1; };
    ctx.parallel_for(lY.shape(), lX.read(), lsum.reduce(reducer::sum<double>{}),
                     lmax.reduce(reducer::maxval<double>{}))
            ->*[] __device__(size_t i, auto dX, double &sum, double &top) {
        sum += dX(i);
        top = dX(i) > top ? dX(i) : top;
    };
    ctx.wait(lsum);
    ctx.parallel_for(exec_place::cuda_stream(cudaStream_t{}), lY.shape(),
                     lX.read(), lY.rw())
            ->*[] __device__(size_t i, auto dX, auto dY) { dY(i) += dX(i); };
    ctx.parallel_for(blocked_partition(), exec_place::all_devices(),
                     lY.shape(), lX.read(), lY.rw().in_parts())
            ->*[] __device__(size_t i, auto dX, auto dY) { dY(i) += dX(0); };
    ctx.parallel_for(exec_place::any(), lY.shape(), lX.read(), lY.rw())
                    .set_symbol("anywhere")
            ->*[alpha] __host__ __device__(size_t i, slice<const double> dX,
                                           slice<double> dY) {
        dY(i) += alpha * dX(i);
    };
}

static void launches(context &ctx, logical_data<slice<double>> &lX,
                     logical_data<slice<double>> &lY)
{
    ctx.launch(par(128, con<32>(mem(1024 * sizeof(double)), con<32>())),
               lX.read(), lY.rw())
            ->*[] __device__(auto th, auto x, auto y) {
        slice<double> local = th.template storage<double>(1);
        for (size_t i = th.rank(); i < y.size(); i += th.size())
            y(i) += x(i);
        local(th.rank(1)) = 1.;
        th.sync(1);
        th.inner().inner().sync();
    };
    ctx.launch(par(1024), exec_place::all_devices(), lX.read(), lY.rw())
            ->*[] __device__(auto t, auto x, auto y) {
        for (size_t i = t.thread_id(); i < y.size(); i += t.get_num_threads())
            y(i) += x(i);
    };
}

static void scopes()
{
    stackable_ctx ctx;
    auto lx = ctx.logical_data(shape_of<scalar_view<double>>());

    ctx.parallel_for(box<1>(1), lx.write())
            ->*[] __device__(size_t, auto x) { *x.addr = 100.; };
    {
        auto scope = ctx.while_graph_scope();
        ctx.parallel_for(box<1>(1), lx.rw())
                ->*[] __device__(size_t, auto x) { *x.addr /= 2.; };
        scope.update_cond(lx.read())
                ->*[] __device__(auto x) { return *x.addr > 1.; };
        scope.assume_rounds(7);
    }
    ctx.finalize();
}

int main()
{
    context ctx;
    const size_t N = 1000;
    std::vector<double> X(N, 1.), Y(N, 0.);
    auto lX = ctx.logical_data(&X[0], N).set_symbol("X");
    auto lY = ctx.logical_data(&Y[0], N).set_symbol("Y");

    tasks(ctx, lX, lY);
    loops(ctx, lX, lY);
    launches(ctx, lX, lY);
    ctx.host_launch(lY.read())->*[](auto y) { std::printf("%g\n", y(1)); };
    ctx.finalize();
    scopes();
    return 0;
}
