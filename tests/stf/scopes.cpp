// SPDX-License-Identifier: LGPL-2.1-or-later
// scopes.cpp - stages of a graph_ctx, scopes in each other, loops in each other, scopes
// that are launched; and what launches of graphs take in a simulation.
#include "../programs/expect.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

namespace
{

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

// Rounds of a task on the same value, with the program's wait in between; how long.
template <class Context> double rounds(Context ctx, int n, bool fences)
{
    double value = 0.;
    auto x = ctx.logical_data(&value, 1);
    auto add = [](size_t j, auto v) { v(j) += 1.; };

    ctx.parallel_for(x.shape(), x.rw())->*add;
    ctx.fence().wait();
    const double start = starpu_timing_now();
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++)
            ctx.parallel_for(x.shape(), x.rw())->*add;
        if (fences)
            ctx.fence().wait();
        else
            ctx.change_stage();
    }
    ctx.fence().wait();
    const double us = starpu_timing_now() - start;
    ctx.finalize();
    EXPECT_RESULT(value == 3 * n + 1);
    return us;
}

// Kernels of a graph are not handed to their device one by one: a chain of short ones is
// limited by that, if it is none. `ORRERY_ASSUME' has 1 us for kernel[short].
void short_kernels()
{
    double took[2];

    for (const bool graph : {false, true}) {
        context ctx = graph ? context(graph_ctx()) : context();
        double value = 0.;
        auto x = ctx.logical_data(&value, 1);
        auto add = [](size_t j, auto v) { v(j) += 1.; };
        ctx.parallel_for(x.shape(), x.rw())->*add;
        ctx.fence().wait();
        const double start = starpu_timing_now();
        for (int i = 0; i < 50; i++)
            ctx.parallel_for(x.shape(), x.rw()).set_symbol("short")->*add;
        ctx.fence().wait();
        took[graph] = starpu_timing_now() - start;
        ctx.finalize();
        EXPECT_RESULT(value == 51.);
    }
    if (std::getenv("SHORT_KERNELS"))
        EXPECT(took[1] < 0.5 * took[0]);
}

// As long as the machine's description has for a kernel that is handed over.
double launch_time()
{
    const double start = starpu_timing_now();
    orrery_graph_launch();
    return starpu_timing_now() - start;
}

// A launch for each stage.
void stages()
{
    const double streams = rounds(context(), 10, true);
    const double graphs = rounds(graph_ctx(), 10, true);
    const double erased = rounds(context(graph_ctx()), 10, true);
    rounds(graph_ctx(), 10, false);
    const double launch = launch_time();
    if (!orrery_is_simulated())
        return;
    EXPECT(launch > 0. || std::getenv("STARPU_SIMGRID_CUDA_QUEUE_COST"));
    EXPECT(std::fabs(graphs - streams - 10 * launch) < 0.01);
    EXPECT(std::fabs(erased - graphs) < 0.01);
    // Stages without a wait are launched while those before run.
    EXPECT(launch == 0. || rounds(graph_ctx(), 10, false) < graphs);
}

// An inner scope is a part of the graph around it.
void scopes_in_scopes()
{
    std::vector<double> took;

    for (const bool nested : {false, false, true}) { // the first finds no memory
        stackable_ctx ctx;
        double value = 1.;
        auto x = ctx.logical_data(&value, 1);
        ctx.fence().wait();
        const double start = starpu_timing_now();
        ctx.push();
        for (int i = 0; i < 3; i++) {
            if (nested)
                ctx.push();
            ctx.parallel_for(x.shape(), x.rw())->*[](size_t j, auto v) {
                v(j) *= 2.;
            };
            {
                auto inside = ctx.graph_scope();
                ctx.host_launch(x.rw())->*[](auto v) { v(0) += 1.; };
            }
            if (nested)
                ctx.pop();
        }
        ctx.pop();
        ctx.fence().wait();
        took.push_back(starpu_timing_now() - start);
        ctx.finalize();
        EXPECT_RESULT(value == 15.);
    }
    if (orrery_is_simulated())
        EXPECT(std::fabs(took[1] - took[2]) < 0.01);
}

void data_of_scopes()
{
    stackable_ctx ctx;
    double value = 3.;
    auto x = ctx.logical_data(&value, 1).set_symbol("x");
    auto add = [](size_t j, auto v) { v(j) += 1.; };

    EXPECT(refused([&] { ctx.logical_data_no_export<double>(1); },
                   "outside of a scope"));
    ctx.push();
    x.push(access_mode::read, data_place::host());
    auto inside = ctx.logical_data_no_export<double>(1).set_symbol("inside");
    auto exported = ctx.logical_data<double>(1);
    ctx.parallel_for(x.shape(), x.read(), inside.write(), exported.write())
            ->*[](size_t j, auto from, auto to, auto out) {
        to(j) = from(j);
        out(j) = 2 * from(j);
    };
    EXPECT(refused([&] { ctx.parallel_for(x.shape(), x.rw())->*add; },
                   "to be read: push() it"));
    {
        auto deeper = ctx.graph_scope();
        ctx.parallel_for(x.shape(), inside.rw())->*add;
        EXPECT(refused([&] { ctx.parallel_for(x.shape(), x.rw())->*add; },
                       "to be read: push() it"));
        EXPECT(refused([&] { ctx.fence().wait(); }, "inside of a scope"));
    }
    ctx.pop();
    EXPECT(refused([&] { ctx.parallel_for(x.shape(), inside.rw())->*add; },
                   "scope that was popped"));
    ctx.parallel_for(x.shape(), x.rw(), exported.read())
            ->*[](size_t j, auto v, auto from) { v(j) += from(j); };
    EXPECT(refused([&] { ctx.pop(); }, "pop() without push()"));
    EXPECT(refused([&] { x.push(access_mode::read); }, "outside of a scope"));
    ctx.finalize();
    EXPECT_RESULT(value == 9.);
}

void loops_in_loops()
{
    stackable_ctx ctx;
    double sum = 0., outer = 0.;
    auto s = ctx.logical_data(&sum, 1), o = ctx.logical_data(&outer, 1);
    auto left = ctx.logical_data(shape_of<scalar_view<double>>());
    auto add = [](size_t j, auto v) { v(j) += 1.; };

    {
        auto three = ctx.repeat_graph_scope(3);
        ctx.parallel_for(o.shape(), o.rw())->*add;
        {
            auto four = ctx.repeat_graph_scope(4);
            ctx.parallel_for(s.shape(), s.rw())->*add;
            auto two = ctx.repeat_graph_scope(2);
            ctx.parallel_for(s.shape(), s.rw())->*add;
        }
        ctx.parallel_for(o.shape(), o.rw())->*add;
    }
    ctx.host_launch(s.read(), o.read())->*[](auto a, auto b) {
        EXPECT(a(0) == 3 * (4 + 8) && b(0) == 6);
    };
    // Loops with conditions inside of one that counts.
    {
        auto two = ctx.repeat_graph_scope(2);
        ctx.parallel_for(box<1>(1), left.write())->*[](size_t, auto l) {
            *l = 5.;
        };
        auto more = ctx.while_graph_scope();
        ctx.parallel_for(box<1>(1), left.rw(), s.rw())
                ->*[](size_t, auto l, auto v) {
            *l -= 1.;
            v(0) += 100.;
        };
        more.update_cond(left.read())->*[](auto l) { return *l > 0.5; };
        more.assume_rounds(5);
    }
    ctx.finalize();
    EXPECT_RESULT(sum == 36 + 2 * 5 * 100 && outer == 6);
}

// Its tasks run as often as it is launched, and not before.
void launched_scopes()
{
    for (const int n : {0, 1, 3}) {
        stackable_ctx ctx;
        double value = 1.;
        auto x = ctx.logical_data(&value, 1);
        auto made = ctx.logical_data<double>(1);
        int calls = 0;
        {
            launchable_graph_scope scope(ctx);
            ctx.parallel_for(x.shape(), x.rw())->*[](size_t j, auto v) {
                v(j) *= 2.;
            };
            ctx.task(exec_place::host(), x.rw())
                    ->*[&](stream_t, auto v) { v(0) += 1., calls++; };
            {
                auto twice = ctx.repeat_graph_scope(2);
                ctx.parallel_for(x.shape(), x.rw(), made.write())
                        ->*[](size_t j, auto v, auto m) {
                    v(j) += 10.;
                    m(j) = 1.;
                };
            }
            EXPECT(calls == 0);
            for (int i = 0; i < n; i++)
                if (i % 2)
                    launch_graph(scope.exec());
                else
                    scope.launch();
            if (n == 3) {
                EXPECT(refused([&] { scope.graph(); }, "no CUDA graph"));
                EXPECT(refused([] { launch_graph(nullptr); }, "of nothing"));
            }
        }
        ctx.finalize();
        double expected = 1.;
        for (int i = 0; i < n; i++)
            expected = 2. * expected + 21.;
        EXPECT_RESULT(value == expected && calls == n);
    }
}

// What only has bodies of its own runs when it is launched: never, once, or more often.
void popped_scopes()
{
    for (const int n : {0, 1, 3}) {
        stackable_ctx ctx;
        double value = 1.;
        auto x = ctx.logical_data(&value, 1);
        auto add = [](size_t j, auto v) { v(j) += 1.; };

        ctx.push();
        auto inside = ctx.logical_data_no_export<double>(1);
        ctx.parallel_for(x.shape(), x.rw(), inside.write())
                ->*[](size_t j, auto v, auto to) { to(j) = v(j) *= 2.; };
        ctx.task_later(exec_place::host(), x.rw())
                ->*[one = 1.](stream_t, auto v) { v(0) += one; };
        ctx.push(); // a part of the graph
        auto deeper = ctx.logical_data_no_export<double>(1);
        ctx.parallel_for(x.shape(), x.rw(), deeper.write())
                ->*[](size_t j, auto v, auto to) { to(j) = v(j) += 1.; };
        {
            auto twice = ctx.repeat_graph_scope(2);
            ctx.push();
            ctx.parallel_for(x.shape(), x.rw())->*add;
            ctx.pop();
        }
        ctx.pop();
        ctx.host_launch(x.rw())->*[](auto v) { v(0) += 10.; };
        launchable_graph_handle handle = ctx.pop_prologue();
        for (int i = 0; i < n; i++)
            handle.launch();
        ctx.pop_epilogue();
        ctx.finalize();
        double expected = 1.;
        for (int i = 0; i < n; i++)
            expected = 2. * expected + 14.;
        EXPECT_RESULT(value == expected);
    }
}

// A scope inside of a loop is a part of each round.
void scopes_in_loops()
{
    stackable_ctx ctx;
    double value = 0.;
    auto x = ctx.logical_data(&value, 1);
    {
        auto three = ctx.repeat_graph_scope(3);
        ctx.push();
        ctx.parallel_for(x.shape(), x.rw())->*[](size_t j, auto v) {
            v(j) += 1.;
        };
        ctx.pop();
    }
    ctx.finalize();
    EXPECT_RESULT(value == 3.);
}

// Where something has to run at once, what is before it in all scopes around does.
void scopes_that_begin()
{
    stackable_ctx ctx;
    double value = 0.;
    int calls = 0;
    auto x = ctx.logical_data(&value, 1);
    auto left = ctx.logical_data(shape_of<scalar_view<double>>());
    auto add = [](size_t j, auto v) { v(j) += 1.; };

    ctx.push();
    ctx.parallel_for(x.shape(), x.rw())->*add;
    ctx.parallel_for(box<1>(1), left.write())->*[](size_t, auto l) { *l = 2.; };
    {
        auto more = ctx.while_graph_scope();
        ctx.parallel_for(box<1>(1), left.rw(), x.rw())
                ->*[](size_t, auto l, auto v) {
            *l -= 1.;
            v(0) = 10. * v(0) + 1.;
        };
        more.update_cond(left.read())->*[](auto l) { return *l > 0.5; };
        more.assume_rounds(2);
    }
    ctx.push();
    ctx.parallel_for(x.shape(), x.rw())->*[](size_t j, auto v) {
        v(j) *= 2.;
    };
    {
        auto frozen = ctx.freeze(x);
        EXPECT_RESULT(frozen.get()(0) == 222.);
        frozen.unfreeze();
    }
    ctx.parallel_for(x.shape(), x.rw())->*add;
    ctx.task(exec_place::host(), x.rw())
            ->*[&](stream_t, auto v) { v(0) += 1., calls++; };
    EXPECT_RESULT(calls == 1);
    ctx.pop();
    ctx.parallel_for(x.shape(), x.rw())->*add;
    ctx.pop();
    ctx.fence().wait();
    ctx.push(); // and is not popped
    ctx.parallel_for(x.shape(), x.rw())->*add;
    EXPECT(refused([&] { ctx.finalize(); }, "inside of a scope"));
    ctx.pop();
    ctx.finalize();
    EXPECT_RESULT(value == 226.);
}

// If a body refers to the program's variables it starts where it stands, and what is
// before it: the first launch is theirs.
void relaunched_scopes()
{
    stackable_ctx ctx;
    double value = 0.;
    auto x = ctx.logical_data(&value, 1);
    auto add = [](size_t j, auto v) { v(j) += 1.; };
    int calls = 0;

    ctx.push();
    ctx.parallel_for(x.shape(), x.rw())->*add;
    ctx.task(exec_place::host(), x.rw())
            ->*[&](stream_t, auto v) { v(0) += 10., calls++; };
    EXPECT_RESULT(calls == 1);
    auto handle = ctx.pop_prologue(), copy = handle;
    EXPECT(handle.valid());
    EXPECT(refused([&] { ctx.push(); }, "pop_prologue()"));
    EXPECT(refused([&] { ctx.finalize(); }, "pop_prologue()"));
    for (int i = 0; i < 4; i++)
        copy.launch();
    ctx.pop_epilogue();
    EXPECT(!handle.valid());
    EXPECT(refused([&] { copy.launch(); }, "has ended"));
    EXPECT(refused([&] { ctx.pop_epilogue(); }, "without pop_prologue()"));

    ctx.push();
    ctx.parallel_for(x.shape(), x.rw())->*add;
    {
        launchable_graph graph = ctx.pop_prologue_shared(), other = graph;
        graph.launch();
        graph.reset();
        other.launch();
        EXPECT(refused([&] { ctx.graph_scope(); }, "pop_prologue()"));
    }
    // What cannot be copied runs once.
    ctx.push();
    auto owned = std::make_unique<double>(5.);
    ctx.task(exec_place::host(), x.rw())
            ->*[mine = std::move(owned)](stream_t, auto v) { v(0) += *mine; };
    auto once = ctx.pop_prologue();
    once.launch();
    EXPECT(refused([&] { once.launch(); }, "cannot run again"));
    ctx.pop_epilogue();
    ctx.finalize();
    EXPECT_RESULT(value == 4 * 11 + 2 + 5 && calls == 4);
}

// A launch of a graph for each.
void cost_of_launches()
{
    if (!orrery_is_simulated())
        return;
    stackable_ctx ctx;
    const double launch = launch_time();
    {
        launchable_graph_scope scope(ctx);
        for (int i = 0; i < 10; i++)
            ctx.parallel_for(box<1>(1))->*[](size_t) {};
        const double start = starpu_timing_now();
        for (int i = 0; i < 8; i++)
            scope.launch();
        const double took = starpu_timing_now() - start;
        EXPECT(std::fabs(took - 8 * launch) < 0.01);
    }
    ctx.finalize();
}

} // namespace

int main()
{
    short_kernels();
    stages();
    scopes_in_scopes();
    data_of_scopes();
    loops_in_loops();
    launched_scopes();
    popped_scopes();
    scopes_in_loops();
    scopes_that_begin();
    relaunched_scopes();
    cost_of_launches();
    return 0;
}
