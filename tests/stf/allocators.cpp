// SPDX-License-Identifier: LGPL-2.1-or-later
// allocators.cpp - where data get their memory from: each allocator's effect, on main
// memory and on devices, real ones, stand-ins or virtual ones.
#include "../programs/expect.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <orrery/stf.hpp>

using namespace orrery::stf;

namespace
{

constexpr std::size_t n = 1000, bytes = n * sizeof(double);

// Counts what it is asked for, and has an own root.
class counting : public block_allocator_interface
{
  public:
    void *allocate(backend_ctx_untyped &ctx, const data_place &place,
                   std::ptrdiff_t &size, event_list &events) override
    {
        calls++;
        last = size;
        live++;
        return root.allocate(ctx, place, size, events);
    }
    void deallocate(backend_ctx_untyped &ctx, const data_place &place,
                    event_list &events, void *memory, std::size_t size) override
    {
        live--;
        root.deallocate(ctx, place, events, memory, size);
    }
    event_list deinit(backend_ctx_untyped &) override
    {
        ended++;
        return {};
    }
    std::string to_string() const override
    {
        return "counting";
    }
    int calls = 0, live = 0, ended = 0;
    std::ptrdiff_t last = 0;
    uncached_block_allocator root;
};

// Where the tests have their data: the last device, or main memory.
struct where {
    where()
    {
        context ctx; // starts the runtime
        const int devices = static_cast<int>(starpu_memory_nodes_get_count()) - 1;
        if (devices > 0) {
            exec = exec_place::device(devices - 1);
            node = static_cast<unsigned>(devices);
        }
        ctx.finalize();
    }
    exec_place exec = exec_place::host();
    unsigned node = STARPU_MAIN_RAM;
};
const where &here()
{
    static where one;
    return one;
}
std::size_t in_use()
{
    return starpu_memory_get_used(here().node);
}

// Data that live for one task after another; the sum of their first values.
double temporaries(context &ctx, int rounds, std::size_t length = n)
{
    auto sum = ctx.logical_data(shape_of<scalar_view<double>>());

    ctx.parallel_for(here().exec, box<1>(1), sum.write())
            ->*[](size_t, auto s) { *s = 0.; };
    ctx.fence().wait();
    for (int i = 0; i < rounds; i++) {
        auto x = ctx.logical_data<double>(length);
        ctx.parallel_for(here().exec, x.shape(), x.write())
                ->*[](size_t k, auto v) { v(k) = static_cast<double>(k + 1); };
        ctx.parallel_for(here().exec, box<1>(1), x.read(), sum.rw())
                ->*[](size_t, auto v, auto s) { *s += v(0); };
        ctx.fence().wait();
    }
    return ctx.wait(sum);
}

void expect_sum(double sum, int rounds)
{
    if (orrery_runs_kernels())
        EXPECT(sum == rounds);
}

void uncached_is_asked_each_time()
{
    const std::size_t before = in_use();
    context ctx;
    auto count = std::make_shared<counting>();

    ctx.set_allocator(block_allocator_untyped(count));
    expect_sum(temporaries(ctx, 10), 10);
    EXPECT(count->calls >= 11); // the sum's copies are some, too
    EXPECT(count->live <= 2);   // that of the sum, and its copy
    ctx.finalize();
    EXPECT(count->live == 0 && count->ended == 1);
    EXPECT(in_use() == before);
}

void cached_asks_once()
{
    for (const bool fifo : {false, true}) {
        const std::size_t before = in_use();
        context ctx;
        auto count = std::make_shared<counting>();
        block_allocator_untyped root(count);
        block_allocator<cached_block_allocator> lifo(ctx, root);
        block_allocator<cached_block_allocator_fifo> first(ctx, root);

        if (fifo)
            ctx.set_allocator(first);
        else
            ctx.set_allocator(lifo);
        expect_sum(temporaries(ctx, 10), 10);
        EXPECT(count->calls <= 3);
        ctx.finalize();
        EXPECT(count->live == 0);
        EXPECT(in_use() == before);
    }
}

// What is used again: what was given back last, or first.
void order_of_caches()
{
    for (const bool fifo : {false, true}) {
        context ctx;
        block_allocator_untyped one =
            fifo ? block_allocator_untyped(
                       ctx, std::make_shared<cached_block_allocator_fifo>())
                 : block_allocator_untyped(
                       ctx, std::make_shared<cached_block_allocator>());
        backend_ctx_untyped of;
        event_list none;
        std::ptrdiff_t size = 256;
        void *a = one.allocate(of, data_place::host(), size, none);
        void *b = one.allocate(of, data_place::host(), size, none);
        one.deallocate(of, data_place::host(), none, a, 256);
        one.deallocate(of, data_place::host(), none, b, 256);
        EXPECT(one.allocate(of, data_place::host(), size, none) ==
                      (fifo ? a : b));
        one.deallocate(of, data_place::host(), none, fifo ? a : b, 256);
        ctx.finalize();
    }
}

void pools_are_pieces()
{
    const std::size_t before = in_use();
    context ctx;
    auto count = std::make_shared<counting>();
    pooled_allocator_config config;

    config.max_footprint_per_place = 20 * 8192; // 20 entries of 8000 bytes
    block_allocator<pooled_allocator> bounded(ctx, config);
    block_allocator<pooled_allocator> pool(ctx, block_allocator_untyped(count));
    std::vector<logical_data<slice<double>>> many;
    for (int i = 0; i < 16; i++) {
        many.push_back(ctx.logical_data<double>(n));
        many.back().set_allocator(i < 10 ? pool : bounded);
        ctx.parallel_for(here().exec, many.back().shape(), many.back().write())
                ->*[i](size_t k, auto v) { v(k) = static_cast<double>(k) * i; };
    }
    ctx.fence().wait();
    EXPECT(count->calls == 1);
    EXPECT(count->last == 64 * 8192);
    // Main memory has no bounds.
    const std::size_t entries = here().node == STARPU_MAIN_RAM ? 64 : 20;
    EXPECT(in_use() == before + (64 + entries) * 8192);
    for (int i = 0; i < 16; i++)
        ctx.host_launch(many[static_cast<size_t>(i)].read())
                ->*[i](auto v) { EXPECT(v(7) == 7. * i); };
    many.clear();
    ctx.finalize();
    EXPECT(count->live == 0);
    EXPECT(in_use() == before);
}

void buddies_share_a_piece()
{
    const std::size_t before = in_use();
    context ctx;
    auto count = std::make_shared<counting>();
    block_allocator<buddy_allocator> buddy(ctx, block_allocator_untyped(count));

    ctx.set_allocator(buddy);
    for (const std::size_t length : {10u, 1000u, 300u, 5000u})
        expect_sum(temporaries(ctx, 3, length), 3);
    // One for each place that data were on.
    EXPECT(count->calls <= 2);
    EXPECT(in_use() == before + (64u << 20));
    ctx.finalize();
    EXPECT(count->live == 0);
    EXPECT(in_use() == before);
}

// Without data: sizes, and halves that become one again.
void halves_of_buddies()
{
    context ctx;
    auto count = std::make_shared<counting>();
    block_allocator<buddy_allocator> buddy(ctx, block_allocator_untyped(count));
    backend_ctx_untyped of;
    event_list none;
    const data_place host = data_place::host();
    std::vector<char *> blocks;

    for (int i = 0; i < 1024; i++) { // 64 KiB each: all of the piece
        std::ptrdiff_t size = 40000;
        blocks.push_back(
            static_cast<char *>(buddy.allocate(of, host, size, none)));
        EXPECT(blocks.back() && size == 40000);
    }
    EXPECT(count->calls == 1);
    std::ptrdiff_t size = 1;
    char *more = static_cast<char *>(buddy.allocate(of, host, size, none));
    EXPECT(more && count->calls == 2);
    buddy.deallocate(of, host, none, more, 1);
    for (char *at : blocks)
        buddy.deallocate(of, host, none, at, 40000);
    size = 64 << 20;
    char *whole = static_cast<char *>(buddy.allocate(of, host, size, none));
    EXPECT(whole && count->calls == 2);
    buddy.deallocate(of, host, none, whole, 64 << 20);
    ctx.finalize();
    EXPECT(count->live == 0);
}

void blocks_of_one_size()
{
    context ctx;
    auto count = std::make_shared<counting>();
    block_allocator<fixed_size_allocator> fixed(
        ctx, std::size_t{16384}, block_allocator_untyped(count));
    auto x = ctx.logical_data<double>(n);
    auto large = ctx.logical_data<double>(16385);

    x.set_allocator(fixed);
    EXPECT(x.shape().size() == n);
    ctx.parallel_for(here().exec, x.shape(), x.write())
            ->*[](size_t, auto v) { (void)v; };
    ctx.fence().wait();
    EXPECT(count->last == 16384);
    try {
        large.set_allocator(fixed);
        EXPECT(!"refused");
    } catch (const error &e) {
        EXPECT(std::strstr(e.what(), "at most 16384"));
    }
    ctx.finalize();
}

void adapters_keep_it()
{
    const std::size_t before = in_use();
    context ctx;
    stream_adapter adapter(ctx, nullptr);

    ctx.set_allocator(adapter.allocator());
    expect_sum(temporaries(ctx, 5), 5);
    ctx.finalize();
    EXPECT(in_use() >= before + 5 * bytes);
    adapter.clear();
    EXPECT(in_use() == before);
}

// All kinds of views, one of the program's; data with memory of the program's.
void all_formats()
{
    context ctx;
    auto count = std::make_shared<counting>();
    int array[6] = {1, 2, 3, 4, 5, 6};

    ctx.set_allocator(block_allocator_untyped(count));
    EXPECT(ctx.get_default_allocator() ==
                  block_allocator_untyped(count));
    auto own = ctx.logical_data(array).set_symbol("array");
    auto two = ctx.logical_data<int>(3, 4);
    auto three = ctx.logical_data<int>(2, 3, 4);
    auto four = ctx.logical_data<int>(2, 2, 2, 2);
    auto five = ctx.logical_data<long>(2, 1, 2, 1, 3);
    auto order = ctx.token();
    ctx.parallel_for(here().exec, own.shape(), own.rw(), order.rw())
            ->*[](size_t i, auto v, auto) { v(i) *= 2; };
    ctx.parallel_for(here().exec, two.shape(), two.write())
            ->*[](size_t i, size_t j, auto v) {
        v(i, j) = static_cast<int>(10 * i + j);
    };
    ctx.parallel_for(here().exec, three.shape(), three.write())
            ->*[](size_t i, size_t j, size_t k, auto v) {
        v(i, j, k) = static_cast<int>(100 * i + 10 * j + k);
    };
    ctx.parallel_for(here().exec, four.shape(), four.write())
            ->*[](size_t i, size_t j, size_t k, size_t l, auto v) {
        v(i, j, k, l) = static_cast<int>(1000 * i + 100 * j + 10 * k + l);
    };
    ctx.parallel_for(here().exec, five.shape(), five.write())
            ->*[](size_t i, size_t, size_t k, size_t, size_t m, auto v) {
        v(i, 0, k, 0, m) = static_cast<long>(100 * i + 10 * k + m);
    };
    ctx.host_launch(two.read(), three.read(), four.read(), five.read())
            ->*[](auto b, auto c, auto d, auto e) {
        EXPECT(b(2, 3) == 23 && c(1, 2, 3) == 123);
        EXPECT(d(1, 0, 1, 1) == 1011 && e(1, 0, 1, 0, 2) == 112);
    };
    ctx.finalize();
    EXPECT(count->calls >= 4 && count->live == 0);
    if (orrery_runs_kernels())
        EXPECT(array[5] == 12);
}

// Data leave an allocator's memory when there is no more of it.
void bounds_are_kept()
{
    context ctx;
    pooled_allocator_config config;
    std::vector<logical_data<slice<double>>> many;

    config.max_entries_per_place = 3;
    block_allocator<pooled_allocator> pool(ctx, config);
    for (int i = 0; i < 12; i++) {
        many.push_back(ctx.logical_data<double>(n));
        if (i % 2 == 0)
            many.back().set_allocator(pool);
        ctx.parallel_for(here().exec, many.back().shape(), many.back().write())
                ->*[i](size_t k, auto v) { v(k) = static_cast<double>(k) + i; };
    }
    for (int i = 0; i < 12; i++)
        ctx.parallel_for(here().exec, box<1>(1),
                         many[static_cast<size_t>(i)].rw())
                ->*[](size_t k, auto v) { v(k) += 1; };
    for (int i = 0; i < 12; i++)
        ctx.host_launch(many[static_cast<size_t>(i)].read())
                ->*[i](auto v) { EXPECT(v(0) == i + 1); };
    ctx.finalize();
}

template <class F> bool refused(F call, const char *words)
{
    try {
        call();
    } catch (const error &e) {
        return std::strstr(e.what(), words);
    }
    return false;
}

void what_cannot_be()
{
    context ctx;
    auto x = ctx.logical_data<double>(n);

    EXPECT(refused(
        [&] { x.set_allocator(block_allocator_untyped()); }, "made of nothing"));
    ctx.parallel_for(here().exec, x.shape(), x.write())
            ->*[](size_t, auto v) { (void)v; };
    EXPECT(refused(
        [&] { x.set_allocator(ctx.get_uncached_allocator()); },
        "has been used"));
    ctx.finalize();
    EXPECT(refused(
        [&] { ctx.set_allocator(ctx.get_uncached_allocator()); },
        "finalized"));
    setenv("ORRERY_STF_ALLOCATOR", "lavish", 1);
    EXPECT(refused([] { context other; }, "`lavish'"));
    unsetenv("ORRERY_STF_ALLOCATOR");
}

// As the environment says, for all contexts.
void chosen_by_variable()
{
    const std::size_t before = in_use();

    for (const char *name :
         {"uncached", "cached", "cached_fifo", "pooled", "buddy"}) {
        setenv("ORRERY_STF_ALLOCATOR", name, 1);
        context ctx;
        EXPECT(static_cast<bool>(ctx.get_default_allocator()) ==
                      (std::strcmp(name, "cached") != 0));
        expect_sum(temporaries(ctx, 4), 4);
        if (std::strcmp(name, "buddy") == 0)
            EXPECT(in_use() == before + (64u << 20));
        ctx.finalize();
        EXPECT(in_use() == before);
    }
    unsetenv("ORRERY_STF_ALLOCATOR");
}

} // namespace

int main()
{
    uncached_is_asked_each_time();
    cached_asks_once();
    order_of_caches();
    pools_are_pieces();
    buddies_share_a_piece();
    halves_of_buddies();
    blocks_of_one_size();
    adapters_keep_it();
    all_formats();
    bounds_are_kept();
    what_cannot_be();
    chosen_by_variable();
    return 0;
}
