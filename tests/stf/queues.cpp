// SPDX-License-Identifier: LGPL-2.1-or-later
// Tasks on a device that has a queue, a stand-in (tests/standin): bodies run at
// submission, and what they put into the queue later.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// A kernel: waits until it may go on, multiplies and adds.
struct kernel {
    std::atomic<bool> *go;
    const double *address;
    double summand, factor;
};

void run(void *arg)
{
    auto *k = static_cast<kernel *>(arg);
    const auto bytes = find<standin_bytes_t>(STANDIN_BYTES);

    while (k->go && !k->go->load())
        sched_yield();
    auto *value = static_cast<double *>(bytes(k->address));
    *value = *value * k->factor + k->summand;
    delete k;
}

void launch(stream_t stream, slice<double> x, double summand,
            std::atomic<bool> *go = nullptr, double factor = 1.)
{
    static const auto put = find<standin_launch_t>(STANDIN_LAUNCH);

    check(put(stream, run, new kernel{go, x.data_handle(), summand, factor}) ==
              0,
          "the queue takes a kernel");
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

// What a task on both devices puts into their queues begins when its data are there, and
// is waited for by what follows, on either.
void tasks_on_grids()
{
    const exec_place_grid both = exec_place::all_devices();
    context ctx;
    double value = 1., right = 1.;
    auto x = ctx.logical_data(&value, 1);

    for (int i = 0; i < 20; i++) {
        ctx.task(exec_place::device(0), x.rw())
                ->*[&](stream_t s, slice<double> v) { launch(s, v, 1.); };
        auto t = ctx.task(both, x.rw());
        t->*[&](stream_t s, slice<double> v) {
            check(t.get_grid_dims() == dim4(2) && t.grid_size() == 2,
                  "the grid is that of the places");
            check(s == t.get_stream() && s == t.get_stream(0) &&
                      s != t.get_stream(1) &&
                      t.get_stream(1) == t.get_stream(pos4(1)),
                  "each place has its queue");
            t.activate(1);
            launch(t.get_stream(1), v, 0., nullptr, i % 3 ? 1.5 : 0.25);
            t.deactivate();
        };
        check(t.get_stream(1) == nullptr, "queues are the body's");
        // What is beside it is on the other device's own queue.
        ctx.task(exec_place::device(i % 2), x.rw())
                ->*[&](stream_t s, slice<double> v) { launch(s, v, 3.); };
        right = (right + 1.) * (i % 3 ? 1.5 : 0.25) + 3.;
    }
    ctx.finalize();
    check(value == right, "all devices have their turns");
}

stream_t new_stream(unsigned device)
{
    void *stream = nullptr;
    constexpr unsigned non_blocking = 1;

    starpu_cuda_set_device(device);
    check(find<int (*)(void **, unsigned)>("cuStreamCreate")(&stream,
                                                             non_blocking) == 0,
          "a queue of the program's");
    return static_cast<stream_t>(stream);
}
void end_stream(stream_t stream)
{
    find<int (*)(void *)>("cuStreamDestroy_v2")(stream);
}

// Bodies get the queue that the place names: what it has by then is before, and what
// the runtime's queues have is ordered with it.
void queues_of_the_program()
{
    context ctx;
    const stream_t own[2] = {new_stream(0), new_stream(1)};
    double value = 1., right = 1.;
    int called = 0;
    auto x = ctx.logical_data(&value, 1);

    check(exec_place::cuda_stream(own[0]) ==
                  exec_place::cuda_stream(own[0], 0) &&
              exec_place::cuda_stream(own[0]) != exec_place::device(0) &&
              exec_place::cuda_stream(nullptr) == exec_place::device(0),
          "places with queues are values");
    for (int i = 0; i < 20; i++) {
        const int device = i % 2;
        ctx.task(exec_place::cuda_stream(own[device], device), x.rw())
                ->*[&](stream_t s, slice<double> v) {
                        called += s == own[device];
                        launch(s, v, 1., nullptr, 2.);
                    };
        ctx.task(exec_place::device(i / 2 % 2), x.rw())
                ->*[&](stream_t s, slice<double> v) {
                        launch(s, v, 0., nullptr, 0.75);
                    };
        right = (right * 2. + 1.) * 0.75;
    }
    // Places that name none.
    ctx.push_affinity(exec_place::cuda_stream(own[1], 1));
    ctx.task(x.read())->*
        [&](stream_t s, slice<const double>) { called += s == own[1]; };
    ctx.pop_affinity();
    // As one of several.
    auto t = ctx.task(exec_place::grid({exec_place::cuda_stream(own[0], 0),
                                        exec_place::cuda_stream(own[1], 1)}),
                      x.rw());
    t->*[&](stream_t s, slice<double> v) {
        called += s == own[0] && t.get_stream(1) == own[1];
        launch(s, v, 1.);
    };
    ctx.finalize();
    check(value == right + 1. && called == 22, "queues are used in turn");
    end_stream(own[0]);
    end_stream(own[1]);
}

// A queue of another device than the place's is told of by the next call that waits.
void queue_of_another_device()
{
    context ctx;
    const stream_t own = new_stream(0);
    double value = 1.;
    bool told = false;
    auto x = ctx.logical_data(&value, 1);

    ctx.task(exec_place::device(0), x.rw())->*[&](stream_t s, slice<double> v) {
        launch(s, v, 1.);
    };
    try {
        ctx.task(exec_place::cuda_stream(own, 1), x.rw())
                ->*[&](stream_t, slice<double>) {};
        ctx.finalize();
    } catch (const error &e) {
        told = std::strstr(e.what(), "cuda_stream()");
    }
    check(told, "a queue of another device is refused");
    end_stream(own);
}

} // namespace

// Tasks follow others from device to device (ORRERY_FOLLOW_PLACED=1), or, with `apart',
// only in the queue of one.
int main(int argc, char **argv)
{
    const bool apart = argc > 1 && std::strcmp(argv[1], "apart") == 0;

    if (!apart) {
        bodies_run_at_submission();
        bodies_run_ahead_of_copies();
        processors_wait();
        memory_of_allocators();
    }
    tasks_on_grids();
    queues_of_the_program();
    queue_of_another_device();
    return 0;
}
