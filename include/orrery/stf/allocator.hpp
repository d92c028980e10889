// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/allocator.hpp - who gives data their memory on each place, where a program chooses:
// what an allocator is (block_allocator_interface), a shared one that may be attached to
// contexts (block_allocator), and how the runtime comes to ask it. allocators.hpp has some.
#pragma once

#include <atomic>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <orrery/stf/interface.hpp>
#include <orrery/stf/machine.hpp>
#include <orrery/stf/owner.hpp>

namespace orrery::stf
{

namespace detail
{

// As a lock, but what waits may be called meanwhile: memory of a device takes its time.
class waiting_lock
{
  public:
    waiting_lock()
    {
        starpu_pthread_mutex_init(&mutex_, nullptr);
    }
    waiting_lock(const waiting_lock &) = delete;
    waiting_lock &operator=(const waiting_lock &) = delete;
    ~waiting_lock()
    {
        starpu_pthread_mutex_destroy(&mutex_);
    }
    void take()
    {
        starpu_pthread_mutex_lock(&mutex_);
    }
    void give()
    {
        starpu_pthread_mutex_unlock(&mutex_);
    }

  private:
    starpu_pthread_mutex_t mutex_;
};

class waiting_guard
{
  public:
    explicit waiting_guard(waiting_lock &one) : lock_(one)
    {
        lock_.take();
    }
    waiting_guard(const waiting_guard &) = delete;
    waiting_guard &operator=(const waiting_guard &) = delete;
    ~waiting_guard()
    {
        lock_.give();
    }

  private:
    waiting_lock &lock_;
};

} // namespace detail

// What must have ended before memory is used or freed. Nothing: the runtime asks for
// memory, and gives it back, when nobody uses it.
class event_list
{
};

// The context of an allocation, for allocators that ask others.
class backend_ctx_untyped
{
};

// Gives memory on places. One call at a time; with memory of its own it is asked by the
// threads of workers. To be implemented by programs, too.
class block_allocator_interface : public detail::has_owners
{
  public:
    // Memory of `size` bytes there. Without room NULL, and `size` is negative: the
    // runtime brings data elsewhere and asks again, or waits. None of these may throw.
    virtual void *allocate(backend_ctx_untyped &ctx, const data_place &place,
                           std::ptrdiff_t &size, event_list &events) = 0;
    virtual void deallocate(backend_ctx_untyped &ctx, const data_place &place,
                            event_list &events, void *memory,
                            std::size_t size) = 0;
    // The end of a context: gives back what nobody uses.
    virtual event_list deinit(backend_ctx_untyped &ctx) = 0;
    virtual std::string to_string() const = 0;
    // The most bytes that one allocation there can ever get: larger data are refused.
    virtual std::size_t largest(const data_place &) const
    {
        return SIZE_MAX;
    }
    // What there is to know, to stderr.
    virtual void print_info() const
    {
        std::fprintf(stderr, "%s: no more is known of this allocator\n",
                     to_string().c_str());
    }

  private:
    friend class block_allocator_untyped;
    detail::waiting_lock lock_;
};

namespace detail
{

template <class P>
using allocator_pointer = decltype(static_cast<block_allocator_interface *>(
    std::declval<P &>().get()));

} // namespace detail

// An allocator, shared by its copies; none where it was made of nothing.
class block_allocator_untyped
{
  public:
    block_allocator_untyped() = default;
    // Of a pointer that owns one, std::shared_ptr<T> as well.
    template <class P, class = detail::allocator_pointer<P>>
    explicit block_allocator_untyped(P one)
        : one_(one.get()), owner_(owner_of(std::move(one)))
    {
    }
    template <class Context, class P, class = detail::allocator_pointer<P>>
    block_allocator_untyped(Context &ctx, P one)
        : block_allocator_untyped(std::move(one))
    {
        ctx.attach_allocator(*this);
    }

    void *allocate(backend_ctx_untyped &ctx, const data_place &place,
                   std::ptrdiff_t &size, event_list &events)
    {
        const detail::waiting_guard guard(get().lock_);
        return get().allocate(ctx, place, size, events);
    }
    void deallocate(backend_ctx_untyped &ctx, const data_place &place,
                    event_list &events, void *memory, std::size_t size)
    {
        const detail::waiting_guard guard(get().lock_);
        get().deallocate(ctx, place, events, memory, size);
    }
    event_list deinit(backend_ctx_untyped &ctx)
    {
        const detail::waiting_guard guard(get().lock_);
        return get().deinit(ctx);
    }
    std::string to_string() const
    {
        return get().to_string();
    }
    void print_info() const
    {
        get().print_info();
    }
    std::size_t largest(const data_place &place) const
    {
        return get().largest(place);
    }
    explicit operator bool() const
    {
        return one_ != nullptr;
    }
    friend bool operator==(const block_allocator_untyped &a,
                           const block_allocator_untyped &b)
    {
        return a.one_ == b.one_;
    }

  private:
    // An allocator counts its owners, unless others do that already.
    template <class T>
    static detail::co_owned<detail::has_owners>
    owner_of(detail::co_owned<T> one)
    {
        return one;
    }
    template <class P>
    static detail::co_owned<detail::has_owners> owner_of(P one)
    {
        struct keeper : detail::has_owners {
            explicit keeper(P given) : what(std::move(given))
            {
            }
            P what;
        };
        return detail::co_owned<detail::has_owners>(
            one.get() ? new keeper(std::move(one)) : nullptr);
    }
    block_allocator_interface &get() const
    {
        detail::require(one_ != nullptr,
                        "a block_allocator that was made of nothing: make it "
                        "of a context, block_allocator<pooled_allocator>(ctx)");
        return *one_;
    }

    block_allocator_interface *one_ = nullptr;
    detail::co_owned<detail::has_owners> owner_;
};

// An allocator T made of the other arguments, attached to the context: its deinit() is
// called when that is finalized.
template <class T> class block_allocator : public block_allocator_untyped
{
  public:
    template <class Context, class... A,
              class = decltype(std::declval<Context &>().attach_allocator(
                  std::declval<const block_allocator_untyped &>()))>
    explicit block_allocator(Context &ctx, A &&...arguments)
        : block_allocator_untyped(
              ctx, detail::co_owned<T>(new T(std::forward<A>(arguments)...)))
    {
    }
    template <class P, class = detail::allocator_pointer<P>>
    explicit block_allocator(P one) : block_allocator_untyped(std::move(one))
    {
    }
};

namespace detail
{

// The runtime's own memory.
inline void *allocate_at(const data_place &place, std::ptrdiff_t &size)
{
    const auto bytes = static_cast<std::size_t>(size);
    const uintptr_t at = starpu_malloc_on_node(
        static_cast<unsigned>(machine::get().node_of(place)), bytes);

    if (!at)
        size = -1;
    return reinterpret_cast<void *>(at);
}
inline void deallocate_at(const data_place &place, void *memory,
                          std::size_t size)
{
    starpu_free_on_node(static_cast<unsigned>(machine::get().node_of(place)),
                        address_of(memory), size);
}

// --- the runtime asks ---

// What data of one context ask for memory: an allocator, until the context ends.
struct block_source {
    block_source(block_allocator_untyped one, block_source *others)
        : allocator(std::move(one)), next(others)
    {
    }
    block_allocator_untyped allocator;
    std::atomic<std::size_t> nblocks{0}; // that data have
    block_source *next;                  // of the same context

    // Memory of a node; 0: there is no room.
    uintptr_t get(unsigned node, std::size_t bytes) noexcept
    {
        const data_place place = machine::get().place_of(node);
        auto size = static_cast<std::ptrdiff_t>(bytes);
        backend_ctx_untyped ctx;
        event_list none;

        if (place.is_affine()) // no place of a program's, such as a disk
            return starpu_malloc_on_node(node, bytes);
        void *at = allocator.allocate(ctx, place, size, none);
        if (!at || size < 0)
            return 0;
        nblocks++;
        return address_of(at);
    }
    void put(unsigned node, uintptr_t at, std::size_t bytes) noexcept
    {
        const data_place place = machine::get().place_of(node);
        backend_ctx_untyped ctx;
        event_list none;

        if (place.is_affine()) {
            starpu_free_on_node(node, at, bytes);
            return;
        }
        allocator.deallocate(ctx, place, none, reinterpret_cast<void *>(at),
                             bytes);
        nblocks--;
    }
};

inline uintptr_t take_block(block_source *from, unsigned node,
                            std::size_t bytes)
{
    return from ? from->get(node, bytes) : starpu_malloc_on_node(node, bytes);
}
inline void give_block(block_source *from, unsigned node, uintptr_t at,
                       std::size_t bytes)
{
    if (from)
        from->put(node, at, bytes);
    else
        starpu_free_on_node(node, at, bytes);
}

// Data of an interface I of the runtime's whose memory comes from elsewhere. Parts of
// them have no source: their memory, where it is not the whole's, is the runtime's.
template <class I> struct sourced {
    I of_runtime;
    block_source *source;
    std::size_t bytes;
};

template <class I> struct sourced_ops {
    static sourced<I> *on(handle_t handle, unsigned node)
    {
        return static_cast<sourced<I> *>(
            starpu_data_get_interface_on_node(handle, node));
    }
    static void add(handle_t handle, int home, void *given)
    {
        const auto *from = static_cast<const sourced<I> *>(given);

        ops_of(static_cast<I *>(nullptr))
            .register_data_handle(handle, home, given);
        for (unsigned node = 0; node < STARPU_MAXNODES; node++) {
            sourced<I> *local = on(handle, node);
            if (!local)
                continue;
            local->source = from->source;
            local->bytes = from->bytes;
        }
    }
    static starpu_ssize_t allocate(void *at, unsigned node)
    {
        auto *local = static_cast<sourced<I> *>(at);

        if (!local->source)
            return ops_of(static_cast<I *>(nullptr))
                .allocate_data_on_node(at, node);
        I placed = local->of_runtime;
        placed.ptr = placed.dev_handle =
            local->bytes ? local->source->get(node, local->bytes) : 0;
        placed.offset = 0;
        if (!placed.ptr && local->bytes)
            return -ENOMEM;
        ops_of(static_cast<I *>(nullptr)).reuse_data_on_node(at, &placed, node);
        return static_cast<starpu_ssize_t>(local->bytes);
    }
    static void release(void *at, unsigned node)
    {
        auto *local = static_cast<sourced<I> *>(at);

        if (!local->source) {
            ops_of(static_cast<I *>(nullptr)).free_data_on_node(at, node);
            return;
        }
        if (local->of_runtime.dev_handle && local->bytes)
            local->source->put(node, local->of_runtime.dev_handle,
                               local->bytes);
        local->of_runtime.ptr = local->of_runtime.dev_handle = 0;
    }
    static starpu_data_interface_ops *table()
    {
        static starpu_data_interface_ops ops;
        static const bool made = [] {
            ops = ops_of(static_cast<I *>(nullptr));
            ops.register_data_handle = add;
            ops.allocate_data_on_node = allocate;
            ops.free_data_on_node = release;
            ops.interface_size = sizeof(sourced<I>);
            ops.dontcache = 1; // what is freed goes back to the allocator
            return true;
        }();
        (void)made;
        return &ops;
    }
};

// --- data that are to ask it ---

template <class V, class = void> struct has_interface : std::false_type {
};
template <class V>
struct has_interface<V, std::void_t<typename view_traits<V>::interface>>
    : std::true_type {
};

// An error if copies of so many bytes cannot be had of the source on some place.
ORR_STF_COLD inline void require_room(const block_source &source,
                                      std::size_t bytes)
{
    for (int i = -1; i < machine::get().ndevices(); i++) {
        const data_place place =
            i < 0 ? data_place::host() : data_place::device(i);
        const std::size_t most = source.allocator.largest(place);
        char where[40] = "in main memory";
        if (i >= 0)
            std::snprintf(where, sizeof(where), "on device %d", i);
        if (bytes > most)
            fail_with(
                "data of %zu bytes are to have memory of an allocator (%s) "
                "that gives at most %zu %s: raise its bounds, or "
                "choose another one",
                bytes, source.allocator.to_string().c_str(), most, where);
    }
}

// Registers data anew that no task has used yet, with a source. The old handle ends.
template <class V> void register_again(handle_t *handle, block_source *source)
{
    require_room(*source, starpu_data_get_size(*handle));
    const int home = starpu_data_get_home_node(*handle);
    void *at = starpu_data_get_interface_on_node(
        *handle, home < 0 ? STARPU_MAIN_RAM : static_cast<unsigned>(home));
    handle_t made = nullptr;

    if constexpr (has_interface<V>::value) {
        using I = typename view_traits<V>::interface;
        sourced<I> given{*static_cast<I *>(at), source,
                         starpu_data_get_size(*handle)};
        starpu_data_register(&made, home, &given, sourced_ops<I>::table());
    } else {
        format_interface<V> given = *static_cast<format_interface<V> *>(at);
        given.source = source;
        starpu_data_register(&made, home, &given, format_ops<V>::table(true));
    }
    starpu_data_unregister_no_coherency(*handle);
    *handle = made;
}

} // namespace detail
} // namespace orrery::stf
