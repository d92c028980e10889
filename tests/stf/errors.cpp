// SPDX-License-Identifier: LGPL-2.1-or-later
// errors.cpp - what cannot be done throws a sentence that names the thing and the remedy.
#include "../programs/expect.h"

#include <cstring>
#include <functional>
#include <memory>

#include <orrery/stf.hpp>

using namespace orrery::stf;

static int failed;

// The call throws, and says these words.
static void refused(const char *what, const char *words,
                    const std::function<void()> &call)
{
    try {
        call();
        std::printf("%s: nothing is thrown\n", what);
        failed++;
    } catch (const error &e) {
        if (std::strstr(e.what(), words))
            return;
        std::printf("%s: says `%s', not `%s'\n", what, e.what(), words);
        failed++;
    }
}

static auto nothing()
{
    return [](stream_t, auto) {};
}

static void data_errors()
{
    context ctx, other;
    int x[4] = {};
    auto lx = ctx.logical_data(x).set_symbol("x");
    auto from_other = other.logical_data(x).set_symbol("y");
    auto fresh = ctx.logical_data<int>(4).set_symbol("fresh");
    logical_data<slice<int>> none;

    refused("a value that nobody wrote", "`fresh' has no value yet",
            [&] { ctx.task(fresh.read())->*nothing(); });
    refused("the same, rw", "has no value yet",
            [&] { ctx.task(fresh.rw())->*nothing(); });
    refused("the same, added to", "has no value yet", [&] {
        auto sum = ctx.logical_data(shape_of<scalar_view<int>>());
        ctx.parallel_for(box<1>(1), sum.reduce(reducer::sum<int>{}, no_init{}))
                ->*[](size_t, int &) {};
    });
    refused("the same, waited for", "has no value yet", [&] {
        ctx.wait(ctx.logical_data(shape_of<scalar_view<int>>()));
    });
    refused("data of another context", "`y' belongs to another context",
            [&] { ctx.task(from_other.read())->*nothing(); });
    refused("data of no context", "no context has made", [&] { none.shape(); });
    refused("data of no context in a task", "no context made",
            [&] { ctx.task(none.read())->*nothing(); });
    refused("a write-back to nowhere", "no memory of the program's",
            [&] { fresh.set_write_back(true); });
    refused("a slice too long", "at most 4294967295", [&] {
        ctx.logical_data(slice<char>(reinterpret_cast<char *>(x),
                                     {size_t{1} << 33}));
    });
    ctx.finalize();
    other.finalize();
}

static void life_errors()
{
    context ctx;
    int x[4] = {};
    auto lx = ctx.logical_data(x);

    refused("an end without a beginning", "pop_affinity() without",
            [&] { ctx.pop_affinity(); });
    ctx.finalize();
    refused("a second finalize()", "the context is finalized",
            [&] { ctx.finalize(); });
    refused("a task after it", "the context is finalized",
            [&] { ctx.task(lx.read())->*nothing(); });
    refused("data after it", "the context is finalized",
            [&] { ctx.logical_data(x); });
    refused("a fence after it", "the context is finalized",
            [&] { ctx.fence().wait(); });
}

static void place_errors()
{
    context ctx;
    int x[4] = {};
    auto lx = ctx.logical_data(x);

    refused("a device that is not there", "device 100 is not there", [&] {
        ctx.parallel_for(exec_place::device(100), lx.shape(), lx.rw())
                ->*[](size_t, auto) {};
    });
    refused("memory that is not there", "device 100 is not there", [&] {
        ctx.parallel_for(lx.shape(), lx.rw(data_place::device(100)))
                ->*[](size_t, auto) {};
    });
    refused("a grid of nothing", "a grid of no places",
            [] { exec_place::grid({}); });
    refused("a grid whose shape does not fit", "must multiply", [] {
        exec_place::grid({exec_place::host()}, dim4(2, 2));
    });
    refused("a grid of policies", "single places",
            [] { exec_place::grid({exec_place::any()}); });
    const auto two = exec_place::repeat(exec_place::host(), 2);
    const auto body = [](size_t, auto) {};
    refused("parts of tiles", "name data_place::composite()", [&] {
        ctx.parallel_for(tiled_partition<2>(), two, lx.shape(),
                         lx.rw().in_parts())->*body;
    });
    refused("parts of another length", "as long in their last", [&] {
        ctx.parallel_for(two, box<1>(3), lx.rw().in_parts())->*body;
    });
    refused("more places than indices", "an index for each place", [&] {
        ctx.parallel_for(exec_place::repeat(exec_place::host(), 5), lx.shape(),
                         lx.rw().in_parts())->*body;
    });
    refused("parts of a shape that begins elsewhere", "begins at 0", [&] {
        ctx.parallel_for(two, inner<1>(lx.shape()), lx.rw().in_parts())->*body;
    });
    refused("parts of a token", "for slices", [&] {
        ctx.parallel_for(two, box<1>(2), ctx.token().rw().in_parts())->*body;
    });
    refused("a task on a grid of two kinds", "name places of one kind", [&] {
        ctx.task(exec_place::grid({exec_place::host(), exec_place::device(0)}),
                 lx.rw())
                ->*nothing();
    });
    ctx.finalize();
}

static void frozen_errors()
{
    context ctx;
    int x[4] = {}, y = 0;
    auto lx = ctx.logical_data(x).set_symbol("x");
    auto frozen = ctx.freeze(lx);

    refused("frozen twice", "`x' is frozen already", [&] { ctx.freeze(lx); });
    refused("a body that must run at once", "task_later()", [&] {
        ctx.task(lx.rw())->*[&](stream_t, auto) { y++; };
    });
    frozen.unfreeze();
    refused("unfrozen twice", "`x' is not frozen", [&] { frozen.unfreeze(); });
    refused("had after that", "not frozen any more", [&] { frozen.get(); });
    auto mine = ctx.freeze(lx, access_mode::rw);
    refused("waited for by its owner", "unfreeze() it before",
            [&] { ctx.task(exec_place::host(), lx.read())->*[&](stream_t, auto) {
                y++;
            }; });
    refused("an end with frozen data", "unfreeze() it before finalize()",
            [&] { ctx.finalize(); });
    mine.unfreeze();
    {
        auto forgotten = ctx.freeze(lx, access_mode::rw);
    }
    refused("frozen to be overwritten", "access_mode::read or",
            [&] { ctx.freeze(lx, access_mode::write); });
    ctx.finalize();
    EXPECT(y == 0);
}

static void task_errors()
{
    context ctx;
    int x[4] = {};
    auto lx = ctx.logical_data(x);

    auto t = ctx.task(exec_place::host(), lx.rw());
    refused("a view before its time", "outside of the task",
            [&] { t.get<slice<int>>(0); });
    refused("an end without a start", "was not started", [&] { t.end(); });
    t.start();
    refused("a second start", "was started before", [&] { t.start(); });
    refused("a view of other data", "does not use",
            [&] { t.get<slice<int>>(5); });
    refused("a view of other elements", "another view than get()",
            [&] { t.get<slice<double>>(0); });
    refused("a view of other dimensions", "another view than get()",
            [&] { t.get<slice<int, 2>>(0); });
    EXPECT(t.get<slice<int>>(0).data_handle() ==
           t.get<slice<const int>>(0).data_handle());
    refused("two bodies", "was started by start()", [&] { t->*nothing(); });
    refused("an end with a started task", "end() it before finalize()",
            [&] { ctx.finalize(); });
    t.end();
    refused("a second end", "has ended", [&] { t.end(); });
    {
        auto forgotten = ctx.task(exec_place::host(), lx.rw());
        forgotten.start();
    }
    auto body = ctx.task(exec_place::host(), lx.rw());
    body->*[&](stream_t, auto) {
        refused("a view of other elements in a body", "another view than get()",
                [&] { body.get<scalar_view<int>>(0); });
        refused("a view of other data in a body", "does not use",
                [&] { body.get<slice<int>>(1); });
    };
    ctx.finalize();
}

// What no block of a device can be, whether or not kernels are executed.
static void block_errors(context &ctx, logical_data<slice<int>> &lx)
{
    const auto place = exec_place::device(0);

    refused("threads that do not fit in a block", "(1024): put a par() level",
            [&] { ctx.launch(con(1025), place, lx.rw())->*[](auto, auto) {}; });
    refused("the same at the place that is the default", "(1024)",
            [&] { ctx.launch(con(2000), lx.rw())->*[](auto, auto) {}; });
    refused("memory of several blocks", "share: state mem()", [&] {
        ctx.launch(par(4, mem(64), con(32)), place, lx.rw())
                ->*[](auto, auto) {};
    });
    refused("groups that a block has not", "groups of 48 threads", [&] {
        ctx.launch(con(2, con(48)), place, lx.rw())->*[](auto, auto) {};
    });
}

static void launch_errors()
{
    context ctx;
    int x[4] = {};
    auto lx = ctx.logical_data(x);

    refused("no threads", "a level of 0 threads", [] { par(0); });
    refused("two widths", "stated twice", [] { par<4>(8); });
    refused("par in con", "a par() level inside of a con()", [&] {
        ctx.launch(con(4, par(2)), lx.rw())->*[](auto, auto) {};
    });
    refused("con over several places", "cannot wait for each other", [&] {
        ctx.launch(con(4), exec_place::repeat(exec_place::host(), 2), lx.rw())
                ->*[](auto, auto) {};
    });
    if (orrery_is_simulated())
        block_errors(ctx, lx);
    if (!orrery_runs_kernels()) {
        ctx.finalize();
        return;
    }
    refused("threads that leave others waiting", "others of their group", [&] {
        ctx.launch(con(4), lx.rw())->*[](auto th, auto) {
            if (th.rank() > 0)
                th.sync();
        };
        ctx.fence().wait();
    });
    refused("a wait of independent threads", "do not wait for each other", [&] {
        ctx.launch(par(4), lx.rw())->*[](auto th, auto) { th.sync(); };
        ctx.fence().wait();
    });
    refused("too many threads that wait", "at most 16384", [&] {
        ctx.launch(con(20000), exec_place::host(), lx.rw())
                ->*[](auto, auto) {};
        ctx.fence().wait();
    });
    ctx.finalize();
}

static void scope_errors()
{
    stackable_ctx ctx;
    int x[4] = {};
    auto lx = ctx.logical_data(x).set_symbol("x");
    auto left = ctx.logical_data(shape_of<scalar_view<int>>());

    refused("a pop too many", "pop() without push()", [&] { ctx.pop(); });
    refused("data pushed outside", "outside of a scope",
            [&] { lx.push(access_mode::read); });
    ctx.push();
    refused("a wait inside", "inside of a scope", [&] { ctx.wait(left); });
    refused("a fence inside", "inside of a scope", [&] { ctx.fence().wait(); });
    refused("an end inside", "inside of a scope", [&] { ctx.finalize(); });
    ctx.pop();
    {
        auto outer = ctx.repeat_graph_scope(2);
        refused("what cannot run twice", "must be copyable", [&] {
            ctx.host_launch(lx.rw())
                    ->*[p = std::make_unique<int>(1)](auto) { (void)p; };
        });
    }
    refused("no round", "repeat_graph_scope(0)",
            [&] { ctx.repeat_graph_scope(0); });
    {
        auto scope = ctx.while_graph_scope();
    }
    refused("nothing that ends a loop", "without update_cond()",
            [&] { ctx.fence().wait(); });
    lx.set_read_only();
    refused("read only data changed", "`x' was set read only",
            [&] { ctx.task(lx.rw())->*nothing(); });
    ctx.finalize();
}

int main()
{
    data_errors();
    life_errors();
    place_errors();
    frozen_errors();
    task_errors();
    launch_errors();
    scope_errors();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
