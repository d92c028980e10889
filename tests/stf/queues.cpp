// SPDX-License-Identifier: LGPL-2.1-or-later
// Tasks on a device that has a queue, a stand-in (tests/standin): bodies run at
// submission, and what they put into the queue later.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sched.h>

#include <orrery/stf.hpp>

#include "../standin/standin.h"

using namespace orrery::stf;

namespace
{

void check(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "not so: %s\n", what);
    std::exit(1);
}

template <class Function> Function find(const char *name)
{
    void *library = dlopen(std::getenv("ORRERY_CUDA_LIBRARY"), RTLD_NOW);

    return reinterpret_cast<Function>(dlsym(library, name));
}

// A kernel: waits until it may go on, and adds.
struct kernel {
    std::atomic<bool> *go;
    const double *address;
    double summand;
};

void run(void *arg)
{
    auto *k = static_cast<kernel *>(arg);
    const auto bytes = find<standin_bytes_t>(STANDIN_BYTES);

    while (k->go && !k->go->load())
        sched_yield();
    *static_cast<double *>(bytes(k->address)) += k->summand;
    delete k;
}

void launch(stream_t stream, slice<double> x, double summand,
            std::atomic<bool> *go = nullptr)
{
    static const auto put = find<standin_launch_t>(STANDIN_LAUNCH);

    put(stream, run, new kernel{go, x.data_handle(), summand});
}

// Kernels wait until the program says so, which it does when all bodies have run.
void bodies_run_at_submission()
{
    context ctx;
    std::atomic<bool> go{false};
    double value = 1.;
    int called = 0;
    auto x = ctx.logical_data(&value, 1);
    auto y = ctx.logical_data<double>(1);

    for (int i = 0; i < 40; i++) {
        int here = i; // gone when its kernel runs
        ctx.task(exec_place::device(0), x.rw())
                ->*[&](stream_t s, slice<double> v) {
            called += here == i;
            launch(s, v, 1., &go);
        };
        check(called == i + 1, "the body has run");
    }
    // Memory of the queue's device, which no kernel has used.
    ctx.task(exec_place::device(0), x.read(), y.write())
            ->*[&](stream_t, slice<const double>, slice<double>) { called++; };
    check(called == 41, "the body of a task with data to be allocated has run");
    // It has its turn, and is waited for when it is used.
    auto frozen = ctx.freeze(x);
    go = true;
    check(frozen.get()(0) == 41., "what is frozen has all that was before");
    frozen.unfreeze();
    ctx.finalize();
    check(value == 41., "all kernels have run");
}

// The same from device to device: what copies the value waits for the kernels as well.
void bodies_run_ahead_of_copies()
{
    context ctx;
    std::atomic<bool> go{false};
    double value = 1.;
    int called = 0;
    auto x = ctx.logical_data(&value, 1);

    for (int i = 0; i < 40; i++) {
        int here = i;
        ctx.task(exec_place::device(i % 2), x.rw())
                ->*[&](stream_t s, slice<double> v) {
            called += here == i;
            launch(s, v, 1., &go);
        };
        check(called == i + 1, "the body has run on the other device");
    }
    go = true;
    ctx.finalize();
    check(value == 41., "all kernels have run, and found the value");
}

// Bodies on processors are behind those of devices, and wait for them.
void processors_wait()
{
    context ctx;
    double value = 1.;
    auto x = ctx.logical_data(&value, 1);

    for (int i = 0; i < 20; i++) {
        const double factor = i % 5;
        ctx.task(exec_place::device(i % 2), x.rw())
                ->*[&](stream_t s, slice<double> v) { launch(s, v, factor); };
        ctx.task(exec_place::host(), x.rw())
                ->*[&](stream_t, slice<double> v) { v(0) += factor; };
    }
    ctx.finalize();
    check(value == 81., "devices and processors take turns");
}

// Memory of a device that an allocator has cut from a larger piece.
void memory_of_allocators()
{
    const std::size_t before = starpu_memory_get_used(1);
    context ctx;
    double value = 1.;
    block_allocator<buddy_allocator> buddy(ctx);

    ctx.set_allocator(buddy);
    auto x = ctx.logical_data(&value, 1);
    for (int i = 0; i < 10; i++) {
        auto y = ctx.logical_data<double>(1);
        ctx.task(exec_place::device(0), y.write(), x.rw())
                ->*[&](stream_t s, slice<double> to, slice<double> v) {
            check(to.data_handle() != v.data_handle(), "apart");
            launch(s, v, 1.);
        };
    }
    ctx.fence().wait();
    const std::size_t piece = starpu_memory_get_used(1) - before;
    check(piece >= 1u << 20 && (piece & (piece - 1)) == 0,
          "all data are in one piece of the device");
    ctx.finalize();
    check(value == 11., "the values are right");
    check(starpu_memory_get_used(1) == before, "the piece has gone");
}

} // namespace

int main()
{
    bodies_run_at_submission();
    bodies_run_ahead_of_copies();
    processors_wait();
    memory_of_allocators();
    return 0;
}
