// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/allocators.hpp - allocators to choose, by CUDASTF's names. Each has a root, another
// allocator that it gets larger or fewer pieces of memory from; the device, if none is
// named. All keep what belongs to one place apart from that of others.
#pragma once

#include <cstdlib>
#include <cstring>
#include <optional>

#include <orrery/stf/allocator.hpp>

namespace orrery::stf
{

// Each call is one of the device's.
class uncached_block_allocator : public block_allocator_interface
{
  public:
    void *allocate(backend_ctx_untyped &, const data_place &place,
                   std::ptrdiff_t &size, event_list &) override
    {
        return detail::allocate_at(place, size);
    }
    void deallocate(backend_ctx_untyped &, const data_place &place,
                    event_list &, void *memory, std::size_t size) override
    {
        detail::deallocate_at(place, memory, size);
    }
    event_list deinit(backend_ctx_untyped &) override
    {
        return {};
    }
    std::string to_string() const override
    {
        return "uncached";
    }
};

namespace detail
{

// By its base alone, so that there is one kind of shared pointers for the compiler.
inline block_allocator_untyped owned(block_allocator_interface *one)
{
    return block_allocator_untyped(
        std::shared_ptr<block_allocator_interface>(one));
}
inline block_allocator_untyped uncached()
{
    return owned(new uncached_block_allocator);
}

// Memory that its root has given, and where.
struct piece {
    data_place place;
    char *at;
    std::size_t size,
        entry; // bytes of it, and of the blocks that are cut from it
};

// What allocators with a root have in common.
class rooted : public block_allocator_interface
{
  public:
    ORR_STF_COLD ~rooted() override
    {
    }
    event_list deinit(backend_ctx_untyped &ctx) override
    {
        event_list events;
        put_all(ctx, nullptr, events);
        unused_.clear();
        return events;
    }
    std::string to_string() const override
    {
        return name_ + (" on " + root_.to_string());
    }
    void print_info() const override
    {
        std::fprintf(stderr,
                     "%s: %zu pieces of memory, %zu blocks are unused\n",
                     to_string().c_str(), pieces_.size(), unused_.size());
    }

  protected:
    ORR_STF_COLD rooted(const char *name, block_allocator_untyped root)
        : name_(name), root_(root ? std::move(root) : uncached())
    {
    }
    // NULL: there is no room.
    char *get(backend_ctx_untyped &ctx, const data_place &place,
              std::size_t size, event_list &events)
    {
        auto asked = static_cast<std::ptrdiff_t>(size);
        void *at = root_.allocate(ctx, place, asked, events);

        return asked < 0 ? nullptr : static_cast<char *>(at);
    }
    // Gives all pieces back, or those of one place; returns whether there were any.
    ORR_STF_COLD bool put_all(backend_ctx_untyped &ctx, const data_place *there,
                              event_list &events)
    {
        const std::size_t before = pieces_.size();
        std::size_t left = 0;

        for (const piece &one : pieces_)
            if (there && one.place != *there)
                pieces_[left++] = one;
            else
                root_.deallocate(ctx, one.place, events, one.at, one.size);
        while (pieces_.size() > left)
            pieces_.pop_back();
        return left != before;
    }
    // Takes one of that size off a list, the last one or the first; NULL: there is none.
    ORR_STF_COLD static char *take(std::vector<piece> &from,
                                   const data_place &place, std::size_t size,
                                   bool first = false)
    {
        const std::size_t n = from.size();

        for (std::size_t i = 0; i < n; i++) {
            const std::size_t k = first ? i : n - 1 - i;
            if (from[k].size != size || from[k].place != place)
                continue;
            char *at = from[k].at;
            for (std::size_t next = k + 1; next < n; next++)
                from[next - 1] = from[next];
            from.pop_back();
            return at;
        }
        return nullptr;
    }
    static void add(std::vector<piece> &to, const data_place &place, char *at,
                    std::size_t size, std::size_t entry)
    {
        to.push_back({place, at, size, entry});
    }

    std::vector<piece> pieces_; // that are the root's
    std::vector<piece> unused_; // cut from them

  private:
    const char *name_;
    block_allocator_untyped root_;
};

} // namespace detail

// Keeps what is given back, for allocations of the same size: first what was given back
// last. What is kept goes back to the root when that has no room, and with the context.
class cached_block_allocator : public detail::rooted
{
  public:
    explicit cached_block_allocator(block_allocator_untyped root = {})
        : rooted("cached", std::move(root))
    {
    }
    void *allocate(backend_ctx_untyped &ctx, const data_place &place,
                   std::ptrdiff_t &size, event_list &events) override
    {
        const auto bytes = static_cast<std::size_t>(size);
        char *at = take(pieces_, place, bytes, oldest_first_);

        if (!at)
            at = get(ctx, place, bytes, events);
        if (!at && put_all(ctx, &place, events))
            at = get(ctx, place, bytes, events);
        if (!at)
            size = -1;
        return at;
    }
    void deallocate(backend_ctx_untyped &, const data_place &place,
                    event_list &, void *memory, std::size_t size) override
    {
        add(pieces_, place, static_cast<char *>(memory), size, size);
    }

  protected:
    bool oldest_first_ = false;
};

// The same; first what was given back the longest time ago.
class cached_block_allocator_fifo : public cached_block_allocator
{
  public:
    explicit cached_block_allocator_fifo(block_allocator_untyped root = {})
        : cached_block_allocator(std::move(root))
    {
        oldest_first_ = true;
    }
};

// Bounds of pools on one device. Main memory, where data go that have no room, has none.
struct pooled_allocator_config {
    std::size_t get_max_entries_per_place() const
    {
        return max_entries_per_place.value_or(SIZE_MAX);
    }
    double get_max_ratio() const
    {
        return max_ratio.value_or(0.2);
    }
    std::optional<std::size_t> max_entries_per_place;   // of one size
    std::optional<double> max_ratio;                    // of the memory there
    std::optional<std::size_t> max_footprint_per_place; // bytes of all pools
};

// A pool for each size: entries are cut from pieces of up to 64, and used again. Beyond
// the bounds there is no room.
class pooled_allocator : public detail::rooted
{
  public:
    explicit pooled_allocator(block_allocator_untyped root,
                              double max_ratio = 0.2)
        : rooted("pooled", std::move(root))
    {
        config_.max_ratio = max_ratio;
    }
    explicit pooled_allocator(double max_ratio = 0.2)
        : pooled_allocator(block_allocator_untyped(), max_ratio)
    {
    }
    explicit pooled_allocator(const pooled_allocator_config &config)
        : rooted("pooled", {}), config_(config)
    {
    }
    void *allocate(backend_ctx_untyped &ctx, const data_place &place,
                   std::ptrdiff_t &size, event_list &events) override
    {
        const auto bytes = static_cast<std::size_t>(size);
        char *at = take(unused_, place, bytes);

        if (!at && grow(ctx, place, bytes, events))
            at = take(unused_, place, bytes);
        if (!at)
            size = -1;
        return at;
    }
    void deallocate(backend_ctx_untyped &, const data_place &place,
                    event_list &, void *memory, std::size_t size) override
    {
        add(unused_, place, static_cast<char *>(memory), size, size);
    }
    std::size_t largest(const data_place &place) const override
    {
        return most_entries(place) > 0 ? most_bytes(place) : 0;
    }

  private:
    static constexpr std::size_t most = 64, alignment = 256;

    std::size_t most_entries(const data_place &place) const
    {
        return place.is_host() ? SIZE_MAX : config_.get_max_entries_per_place();
    }
    // Bytes of pools that may be on a place.
    std::size_t most_bytes(const data_place &place) const
    {
        if (place.is_host())
            return SIZE_MAX;
        const starpu_ssize_t all = starpu_memory_get_total(
            static_cast<unsigned>(detail::machine::get().node_of(place)));
        std::size_t bytes = config_.max_footprint_per_place.value_or(SIZE_MAX);

        if (all > 0) {
            const double part =
                config_.get_max_ratio() * static_cast<double>(all);
            if (part < static_cast<double>(bytes))
                bytes = static_cast<std::size_t>(part);
        }
        return bytes;
    }
    ORR_STF_COLD bool grow(backend_ctx_untyped &ctx, const data_place &place,
                           std::size_t size, event_list &events)
    {
        const std::size_t step = (size + alignment - 1) / alignment * alignment;
        std::size_t left = most_bytes(place), entries = most_entries(place);

        for (const detail::piece &one : pieces_) {
            if (one.place != place)
                continue;
            left = left > one.size ? left - one.size : 0;
            if (one.entry == size)
                entries -= one.size / step;
        }
        std::size_t n = most < left / step ? most : left / step;
        n = n < entries ? n : entries;
        char *at = nullptr;
        for (; n > 0 && !(at = get(ctx, place, n * step, events)); n /= 2)
            ;
        if (!at)
            return false;
        add(pieces_, place, at, n * step, size);
        while (n-- > 0)
            add(unused_, place, at + n * step, size, size);
        return true;
    }

    pooled_allocator_config config_;
};

// Cuts large pieces in halves until they fit; halves that are both unused are one again.
class buddy_allocator : public detail::rooted
{
  public:
    explicit buddy_allocator(block_allocator_untyped root = {})
        : rooted("buddy", std::move(root))
    {
    }
    void *allocate(backend_ctx_untyped &ctx, const data_place &place,
                   std::ptrdiff_t &size, event_list &events) override
    {
        const std::size_t bytes = rounded(static_cast<std::size_t>(size));
        char *at = cut(place, bytes);

        if (!at && grow(ctx, place, bytes, events))
            at = cut(place, bytes);
        if (!at)
            size = -1;
        return at;
    }
    void deallocate(backend_ctx_untyped &, const data_place &place,
                    event_list &, void *memory, std::size_t size) override
    {
        join(place, static_cast<char *>(memory), rounded(size));
    }

  private:
    // Blocks have a power of two of bytes, 256 at least; pieces 64 MiB, or about a
    // quarter of a place's memory.
    static constexpr std::size_t least = 256, most = std::size_t{64} << 20;

    static std::size_t rounded(std::size_t size)
    {
        std::size_t bytes = least;
        while (bytes < size)
            bytes *= 2;
        return bytes;
    }
    // The smallest unused block that is large enough, cut in halves.
    char *cut(const data_place &place, std::size_t bytes)
    {
        std::size_t size = SIZE_MAX;

        for (const detail::piece &one : unused_)
            if (one.place == place && one.size >= bytes && one.size < size)
                size = one.size;
        char *at = size == SIZE_MAX ? nullptr : take(unused_, place, size);
        while (at && size > bytes) {
            size /= 2;
            add(unused_, place, at + size, size, size);
        }
        return at;
    }
    // Makes it one with its other half, as long as that is unused.
    void join(const data_place &place, char *at, std::size_t size)
    {
        const detail::piece *root = nullptr;

        for (const detail::piece &one : pieces_)
            if (one.place == place && at >= one.at && at < one.at + one.size)
                root = &one;
        while (root && size < root->size) {
            const auto offset = static_cast<std::size_t>(at - root->at);
            char *other = root->at + (offset ^ size);
            if (!remove(place, other, size))
                break;
            at = at < other ? at : other;
            size *= 2;
        }
        add(unused_, place, at, size, size);
    }
    bool remove(const data_place &place, const char *at, std::size_t size)
    {
        for (detail::piece &one : unused_)
            if (one.at == at && one.size == size && one.place == place) {
                one = unused_.back();
                unused_.pop_back();
                return true;
            }
        return false;
    }
    // A piece more; a smaller one where there is no room.
    ORR_STF_COLD bool grow(backend_ctx_untyped &ctx, const data_place &place,
                           std::size_t bytes, event_list &events)
    {
        const starpu_ssize_t all = starpu_memory_get_total(
            static_cast<unsigned>(detail::machine::get().node_of(place)));
        std::size_t size = bytes > most ? bytes : most;
        char *at = nullptr;

        while (all > 0 && size > bytes &&
               4 * size > static_cast<std::size_t>(all))
            size /= 2;
        for (; size >= bytes && !(at = get(ctx, place, size, events));
             size /= 2)
            ;
        if (!at)
            return false;
        add(pieces_, place, at, size, size);
        add(unused_, place, at, size, size);
        return true;
    }
};

// Blocks of one size, for all that is not larger.
class fixed_size_allocator : public cached_block_allocator
{
  public:
    explicit fixed_size_allocator(std::size_t block_size,
                                  block_allocator_untyped root = {})
        : cached_block_allocator(std::move(root)), block_size_(block_size)
    {
        detail::require(block_size > 0, "a fixed_size_allocator of 0 bytes");
    }
    void *allocate(backend_ctx_untyped &ctx, const data_place &place,
                   std::ptrdiff_t &size, event_list &events) override
    {
        auto block = static_cast<std::ptrdiff_t>(block_size_);
        void *at =
            static_cast<std::size_t>(size) > block_size_
                ? nullptr
                : cached_block_allocator::allocate(ctx, place, block, events);
        if (!at)
            size = -1;
        return at;
    }
    std::size_t largest(const data_place &) const override
    {
        return block_size_;
    }
    void deallocate(backend_ctx_untyped &ctx, const data_place &place,
                    event_list &events, void *memory, std::size_t) override
    {
        cached_block_allocator::deallocate(ctx, place, events, memory,
                                           block_size_);
    }
    std::string to_string() const override
    {
        return "blocks of " + std::to_string(block_size_) + " bytes, " +
               cached_block_allocator::to_string();
    }

  private:
    std::size_t block_size_;
};

// Memory that outlives a context: what its allocator has given stays until clear(), and
// is used again by no one.
class stream_adapter
{
  public:
    template <class Context>
    explicit stream_adapter(Context &ctx, stream_t = nullptr)
        : keeper_(std::make_shared<keeper>()),
          allocator_(ctx.attach_allocator(keeper_))
    {
    }
    stream_adapter(const stream_adapter &) = delete;
    stream_adapter &operator=(const stream_adapter &) = delete;
    stream_adapter(stream_adapter &&) = default;
    stream_adapter &operator=(stream_adapter &&) = default;
    ~stream_adapter()
    {
        if (keeper_)
            clear();
    }
    // Frees what contexts have left. They are finalized before.
    void clear()
    {
        backend_ctx_untyped ctx;
        keeper_->clear(ctx);
    }
    block_allocator_untyped &allocator()
    {
        return allocator_;
    }

  private:
    class keeper : public detail::rooted
    {
      public:
        keeper() : rooted("kept until clear()", {})
        {
        }
        void *allocate(backend_ctx_untyped &ctx, const data_place &place,
                       std::ptrdiff_t &size, event_list &events) override
        {
            char *at = get(ctx, place, static_cast<std::size_t>(size), events);
            if (!at)
                size = -1;
            return at;
        }
        void deallocate(backend_ctx_untyped &, const data_place &place,
                        event_list &, void *memory, std::size_t size) override
        {
            add(pieces_, place, static_cast<char *>(memory), size, size);
        }
        event_list deinit(backend_ctx_untyped &) override
        {
            return {};
        }
        void clear(backend_ctx_untyped &ctx)
        {
            event_list events;
            put_all(ctx, nullptr, events);
        }
    };

    std::shared_ptr<keeper> keeper_;
    block_allocator_untyped allocator_;
};

namespace detail
{

// What the environment chooses for all data; none: the runtime's.
ORR_STF_COLD inline block_allocator_untyped chosen_allocator()
{
    const char *name = std::getenv("ORRERY_STF_ALLOCATOR");

    if (!name || !*name)
        name = std::getenv("CUDASTF_DEFAULT_ALLOCATOR");
    if (!name || !*name || std::strcmp(name, "cached") == 0)
        return {};
    if (std::strcmp(name, "uncached") == 0)
        return uncached();
    if (std::strcmp(name, "cached_fifo") == 0)
        return owned(new cached_block_allocator_fifo);
    if (std::strcmp(name, "pooled") == 0)
        return owned(new pooled_allocator);
    if (std::strcmp(name, "buddy") == 0)
        return owned(new buddy_allocator);
    fail("the allocator `" + std::string(name) +
         "' of ORRERY_STF_ALLOCATOR is unknown: uncached, cached, cached_fifo, "
         "pooled or buddy");
}

} // namespace detail
} // namespace orrery::stf
