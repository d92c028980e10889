// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/cuda.hpp - bodies as kernels of CUDA devices; for compilers of CUDA alone. Work
// is put into the queue of the worker that executes the task, and not waited for.
#pragma once

#include <string>
#include <vector>

#include <orrery/stf/hierarchy.hpp>
#include <orrery/stf/parts.hpp>
#include <orrery/stf/task.hpp>

namespace orrery::stf::detail
{

inline constexpr unsigned cuda_threads = 256, cuda_blocks = 512;

inline void cuda_check(cudaError_t err, const char *what)
{
    if (err != cudaSuccess)
        fail(std::string(what) + ": " + cudaGetErrorString(err));
}

inline unsigned cuda_blocks_for(std::size_t n)
{
    const std::size_t blocks = (n + cuda_threads - 1) / cuda_threads;

    return blocks < 1             ? 1
           : blocks > cuda_blocks ? cuda_blocks
                                  : static_cast<unsigned>(blocks);
}

// --- what a thread gets of each data ---

template <class D> struct cuda_argument;

template <class V> struct cuda_argument<task_dep<V, void>> {
    cuda_argument(void *buffer, const part &p, unsigned, stream_t)
        : view(part_view<V>(buffer, p))
    {
    }
    void finish(void *, access_mode, unsigned, stream_t)
    {
    }
    __device__ void begin()
    {
    }
    __device__ V &get()
    {
        return view;
    }
    __device__ void end(char *)
    {
    }
    V view;
};

// Of threads and blocks to one value.
template <class V, class Op>
__global__ void cuda_add_up(V view,
                            typename owning_container_of<V>::type *of_block,
                            unsigned blocks, bool init)
{
    auto &value = owning_container_of<V>::get(view);

    if (init)
        Op::init_op(value);
    for (unsigned i = 0; i < blocks; i++)
        Op::apply_op(value, of_block[i]);
}

template <class V, class Op> struct cuda_argument<task_dep<V, Op>> {
    using T = typename owning_container_of<V>::type;

    cuda_argument(void *, const part &, unsigned blocks, stream_t stream)
    {
        cuda_check(cudaMallocAsync(&of_block, blocks * sizeof(T), stream),
                   "memory of a reduction");
    }
    void finish(void *buffer, access_mode mode, unsigned blocks,
                stream_t stream)
    {
        cuda_add_up<V, Op><<<1, 1, 0, stream>>>(
            view_of<V>(buffer), of_block, blocks, mode == access_mode::reduce);
        cuda_check(cudaFreeAsync(of_block, stream), "memory of a reduction");
    }
    __device__ void begin()
    {
        Op::init_op(sum);
    }
    __device__ T &get()
    {
        return sum;
    }
    __device__ void end(char *shared)
    {
        T *of_thread = reinterpret_cast<T *>(shared);

        of_thread[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half)
                Op::apply_op(of_thread[threadIdx.x],
                             of_thread[threadIdx.x + half]);
            __syncthreads();
        }
        if (threadIdx.x == 0)
            of_block[blockIdx.x] = of_thread[0];
        __syncthreads();
    }
    T sum;
    T *of_block = nullptr;
};

template <class V, class Op> constexpr std::size_t cuda_bytes(task_dep<V, Op> *)
{
    return sizeof(typename owning_container_of<V>::type) * cuda_threads;
}
template <class V> constexpr std::size_t cuda_bytes(task_dep<V, void> *)
{
    return 0;
}

constexpr std::size_t largest(std::initializer_list<std::size_t> values)
{
    std::size_t most = 0;
    for (const std::size_t value : values)
        most = value > most ? value : most;
    return most;
}

// --- parallel_for ---

template <class F, class S, std::size_t... I, class... A>
__device__ void cuda_at(const S &shape, std::size_t index, F &f,
                        std::index_sequence<I...>, A &...arguments)
{
    std::size_t at[sizeof...(I)];

    for (std::size_t d = 0; d < sizeof...(I); d++) {
        at[d] = shape.begin(d) + index % shape.extent(d);
        index /= shape.extent(d);
    }
    f(at[I]..., arguments.get()...);
}

template <class S, class F, class... A>
__global__ void cuda_each(S shape, F f, A... arguments)
{
    extern __shared__ __align__(16) char shared[];
    const std::size_t n = shape.size();

    (arguments.begin(), ...);
    for (std::size_t i =
             blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
         i < n; i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
        if constexpr (has_bounds<S>::value)
            cuda_at(shape, i, f, std::make_index_sequence<S::dimensions>{},
                    arguments...);
        else
            std::apply([&](auto... at) { f(at..., arguments.get()...); },
                       shape.index_to_coords(i));
    }
    (arguments.end(shared), ...);
}

template <class S, class F, class... D, std::size_t... K>
void cuda_for(const S &shape, const F &f, const access_mode *modes,
              const part *parts, void **buffers, stream_t stream,
              std::index_sequence<K...>)
{
    const unsigned blocks = cuda_blocks_for(shape.size());
    constexpr std::size_t bytes =
        largest({std::size_t{0}, cuda_bytes(static_cast<D *>(nullptr))...});
    auto start = [&](cuda_argument<D>... arguments) {
        cuda_each<S, F, cuda_argument<D>...>
            <<<blocks, cuda_threads, bytes, stream>>>(shape, f, arguments...);
        cuda_check(cudaGetLastError(), "a kernel of parallel_for()");
        (arguments.finish(buffers[K], modes[K], blocks, stream), ...);
    };

    start(cuda_argument<D>(buffers[K], parts[K], blocks, stream)...);
}
template <class S, class F, class... D>
void cuda_for(const S &shape, const F &f, const access_mode *modes,
              const part *parts, void **buffers, stream_t stream)
{
    cuda_for<S, F, D...>(shape, f, modes, parts, buffers, stream,
                         std::index_sequence_for<D...>{});
}

// --- launch ---

// How a hierarchy lies on blocks: the levels from `outer` on are a block's threads.
struct cuda_layout {
    std::size_t outer, first_group, offset[8];
};

// Waits for the threads of the group: all of the block, or such as are neighbours.
template <std::size_t D>
__device__ void device_sync(const thread_place<D> &place, std::size_t level)
{
    unsigned members = 1, number = 0;

    for (std::size_t i = level; i < D; i++)
        members *= static_cast<unsigned>(place.width[i]);
    if (members >= blockDim.x) {
        __syncthreads();
        return;
    }
    number = threadIdx.x / members;
    if (members <= 32) {
        const unsigned lanes = members == 32 ? ~0u : (1u << members) - 1;
        __syncwarp(lanes << (threadIdx.x % 32 / members * members));
        (void)number;
        return;
    }
#if ORR_STF_ON_DEVICE
    asm volatile("bar.sync %0, %1;" ::"r"(number + 1), "r"(members) : "memory");
#endif
}

template <class H, std::size_t D, class F, class... V>
__global__ void cuda_threads_of(thread_place<D> place, cuda_layout layout, F f,
                                V... views)
{
    extern __shared__ __align__(16) char shared[];
    std::size_t group = layout.first_group + blockIdx.x;
    std::size_t member = threadIdx.x;

    for (std::size_t i = D; i-- > layout.outer;) {
        place.rank[i] = member % place.width[i];
        member /= place.width[i];
    }
    for (std::size_t i = layout.outer; i-- > 0;) {
        place.rank[i] = group % place.width[i];
        group /= place.width[i];
    }
    for (std::size_t i = 0; i < D; i++) {
        std::size_t inside = 0;
        for (std::size_t k = layout.outer; k < i; k++)
            inside = inside * place.width[k] + place.rank[k];
        place.storage[i] = shared + layout.offset[i] + inside * place.bytes[i];
    }
    f(H(place, nullptr), views...);
}

template <class H, std::size_t depth, class F, class... D, std::size_t... K>
void launch_views(const thread_place<depth> &place, const cuda_layout &layout,
                  const F &f, std::size_t blocks, std::size_t threads,
                  std::size_t bytes, void **buffers, stream_t stream,
                  std::index_sequence<K...>)
{
    cuda_threads_of<H, depth, F, typename D::view...>
        <<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), bytes,
           stream>>>(place, layout, f,
                     view_of<typename D::view>(buffers[K])...);
    cuda_check(cudaGetLastError(), "a kernel of launch()");
}

// Without a level that synchronizes, the last one is the block's.
template <class H, class F, class... D, class Levels, class Part>
void cuda_launch(const Levels &levels, const Part &part, const F &f,
                 void **buffers, stream_t stream)
{
    constexpr std::size_t depth = H::depth();
    static_assert(depth <= 8, "a hierarchy of at most eight levels");
    thread_place<depth> place{};
    cuda_layout layout{levels.block(), 0, {}};
    const std::size_t threads = levels.threads(layout.outer, depth);
    std::size_t bytes = 0;

    levels
        .require_block(); // which nobody knew before if a policy has chosen the place
    for (std::size_t i = 0; i < depth; i++) {
        place.width[i] = levels.width[i];
        place.bytes[i] = levels.bytes[i];
        place.scope[i] = levels.scope[i];
        layout.offset[i] = bytes;
        if (i >= layout.outer)
            bytes += levels.bytes[i] * levels.threads(layout.outer, i);
    }
    const std::size_t inside =
        layout.outer ? levels.threads(1, layout.outer) : 1;
    const std::size_t blocks =
        layout.outer ? (part.behind - part.first) * inside : 1;
    layout.first_group = part.first * inside;
    if (!blocks)
        return;
    launch_views<H, depth, F, D...>(place, layout, f, blocks, threads, bytes,
                                    buffers, stream,
                                    std::index_sequence_for<D...>{});
}

} // namespace orrery::stf::detail

namespace orrery::stf
{

// One kernel: the function, its blocks, their threads, their shared memory, its
// arguments.
class cuda_kernel_desc
{
  public:
    template <class... P, class... A>
    cuda_kernel_desc(void (*kernel)(P...), dim3 blocks, dim3 threads,
                     std::size_t shared_bytes, A... arguments)
        : kernel_(reinterpret_cast<const void *>(kernel)), blocks_(blocks),
          threads_(threads), shared_bytes_(shared_bytes),
          arguments_(
              new values<std::decay_t<P>...>(std::decay_t<P>(arguments)...))
    {
    }
    void launch(stream_t stream) const
    {
        detail::cuda_check(cudaLaunchKernel(kernel_, blocks_, threads_,
                                            arguments_->addresses(),
                                            shared_bytes_, stream),
                           "a kernel of cuda_kernel()");
    }

  private:
    struct any_values : detail::has_owners {
        virtual void **addresses() = 0;
    };
    template <class... P> struct values : any_values {
        explicit values(P... given) : all(given...)
        {
            std::apply(
                [this](P &...one) {
                    std::size_t i = 0;
                    ((at[i++] = &one), ...);
                },
                all);
        }
        void **addresses() override
        {
            return at;
        }
        std::tuple<P...> all;
        void *at[sizeof...(P) + 1] = {};
    };

    const void *kernel_;
    dim3 blocks_, threads_;
    std::size_t shared_bytes_;
    detail::co_owned<any_values> arguments_;
};

namespace detail
{

// The body of cuda_kernel(): makes a description, or several, of the views.
template <class F, class... V> struct cuda_kernel_call {
    void operator()(stream_t stream, V... views)
    {
        start(f(views...), stream);
    }
    static void start(const cuda_kernel_desc &one, stream_t stream)
    {
        one.launch(stream);
    }
    static void start(const std::vector<cuda_kernel_desc> &chain,
                      stream_t stream)
    {
        for (const cuda_kernel_desc &one : chain)
            one.launch(stream);
    }
    F f;
};

} // namespace detail

// A task whose body returns the kernel, or the vector of kernels, that is to be started.
template <class... V> class cuda_kernel_scope
{
  public:
    explicit cuda_kernel_scope(stream_task<V...> task) : task_(std::move(task))
    {
    }
    cuda_kernel_scope &set_symbol(const std::string &symbol)
    {
        task_.set_symbol(symbol);
        return *this;
    }
    template <class F> void operator->*(F &&f)
    {
        if constexpr (std::is_empty_v<std::decay_t<F>>)
            task_->*detail::cuda_kernel_call<std::decay_t<F>, V...>{f};
        else
            task_->*detail::cuda_kernel_call<F &, V...>{f};
    }

  private:
    stream_task<V...> task_;
};

} // namespace orrery::stf
