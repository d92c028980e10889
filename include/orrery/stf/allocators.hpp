// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/allocators.hpp - allocators to choose, by CUDASTF's names. Each has a root, another
// allocator that it gets larger or fewer pieces of memory from; the device, if none is
// named. All keep what belongs to one place apart from that of others.
#pragma once

#include <cstdlib>
#include <cstring>

#include <orrery/stf/allocator.hpp>

namespace orrery::stf
{

namespace detail
{

// How an allocator makes blocks of what its root gives it.
enum class way { uncached, cached, cached_fifo, pooled, buddy, kept };

// Memory that its root has given, and where.
struct piece {
    data_place place;
    char *at;
    std::size_t size,
        entry; // bytes of it, and of the blocks that are cut from it
};

} // namespace detail

// A bound, or none; as std::optional, which is 1,300 lines.
template <class T> class pool_bound
{
  public:
    pool_bound() = default;
    pool_bound(T value) : value_(value), stated_(true)
    {
    }
    bool has_value() const
    {
        return stated_;
    }
    T value_or(T otherwise) const
    {
        return stated_ ? value_ : otherwise;
    }

  private:
    T value_{};
    bool stated_ = false;
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
    pool_bound<std::size_t> max_entries_per_place;   // of one size
    pool_bound<double> max_ratio;                    // of the memory there
    pool_bound<std::size_t> max_footprint_per_place; // bytes of all pools
};

namespace detail
{

// All of them are one class for the compiler: which one the environment chooses is only
// known when the program runs, so every program has their code.
class rooted : public block_allocator_interface
{
  public:
    // Without a root, the device's memory, which uncached is.
    ORR_STF_COLD explicit rooted(way how, block_allocator_untyped root = {},
                                 pooled_allocator_config config = {})
        : way_(how), root_(std::move(root)), config_(config)
    {
        if (!root_ && how != way::uncached)
            root_ = make(way::uncached);
    }
    ORR_STF_COLD static block_allocator_untyped make(way how)
    {
        return block_allocator_untyped(co_owned<rooted>(new rooted(how)));
    }
    void *allocate(backend_ctx_untyped &ctx, const data_place &place,
                   std::ptrdiff_t &size, event_list &events) override
    {
        if (way_ == way::uncached)
            return allocate_at(place, size);
        char *at =
            get_block(ctx, place, static_cast<std::size_t>(size), events);
        if (!at)
            size = -1;
        return at;
    }
    void deallocate(backend_ctx_untyped &, const data_place &place,
                    event_list &, void *memory, std::size_t size) override
    {
        char *at = static_cast<char *>(memory);

        if (way_ == way::uncached)
            deallocate_at(place, memory, size);
        else if (way_ == way::buddy)
            join(place, at, rounded(size));
        else
            add(way_ == way::pooled ? unused_ : pieces_, place, at, size, size);
    }
    event_list deinit(backend_ctx_untyped &ctx) override
    {
        event_list events;

        if (way_ != way::kept)
            put_all(ctx, nullptr, events);
        return events;
    }
    ORR_STF_COLD std::string to_string() const override
    {
        static const char *const names[] = {"uncached", "cached",
                                            "cached",   "pooled",
                                            "buddy",    "kept until clear()"};
        std::string text = names[static_cast<int>(way_)];

        if (root_)
            text += " on " + root_.to_string();
        return text;
    }
    ORR_STF_COLD std::size_t largest(const data_place &place) const override
    {
        return way_ != way::pooled || most_entries(place) > 0
                   ? most_bytes(place)
                   : 0;
    }
    ORR_STF_COLD void print_info() const override
    {
        std::fprintf(stderr,
                     "%s: %zu pieces of memory, %zu blocks are unused\n",
                     to_string().c_str(), pieces_.size(), unused_.size());
    }

  protected:
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
        if (!there)
            unused_.clear();
        return left != before;
    }

  private:
    static constexpr std::size_t most_of_pool = 64, alignment = 256;
    // Blocks have a power of two of bytes, 256 at least; pieces 64 MiB, or about a
    // quarter of a place's memory.
    static constexpr std::size_t least_of_buddies = 256,
                                 most_of_buddies = std::size_t{64} << 20;

    // NULL: there is no room.
    char *get(backend_ctx_untyped &ctx, const data_place &place,
              std::size_t size, event_list &events)
    {
        auto asked = static_cast<std::ptrdiff_t>(size);
        void *at = root_.allocate(ctx, place, asked, events);

        return asked < 0 ? nullptr : static_cast<char *>(at);
    }
    ORR_STF_COLD char *get_block(backend_ctx_untyped &ctx,
                                 const data_place &place, std::size_t bytes,
                                 event_list &events)
    {
        char *at;

        switch (way_) {
        case way::pooled:
            at = take(unused_, place, bytes);
            return at || !add_entries(ctx, place, bytes, events)
                       ? at
                       : take(unused_, place, bytes);
        case way::buddy:
            at = cut(place, rounded(bytes));
            return at || !add_buddies(ctx, place, rounded(bytes), events)
                       ? at
                       : cut(place, rounded(bytes));
        case way::kept:
            return get(ctx, place, bytes, events);
        default:
            at = take(pieces_, place, bytes, way_ == way::cached_fifo);
            if (!at)
                at = get(ctx, place, bytes, events);
            // What is kept for other sizes may be in the way.
            return at || !put_all(ctx, &place, events)
                       ? at
                       : get(ctx, place, bytes, events);
        }
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

    // --- pools ---

    std::size_t most_entries(const data_place &place) const
    {
        return place.is_host() ? SIZE_MAX : config_.get_max_entries_per_place();
    }
    // Bytes of pools that may be on a place.
    ORR_STF_COLD std::size_t most_bytes(const data_place &place) const
    {
        if (place.is_host() || way_ != way::pooled)
            return SIZE_MAX;
        const starpu_ssize_t all = starpu_memory_get_total(
            static_cast<unsigned>(machine::get().node_of(place)));
        std::size_t bytes = config_.max_footprint_per_place.value_or(SIZE_MAX);

        if (all > 0) {
            const double part =
                config_.get_max_ratio() * static_cast<double>(all);
            if (part < static_cast<double>(bytes))
                bytes = static_cast<std::size_t>(part);
        }
        return bytes;
    }
    ORR_STF_COLD bool add_entries(backend_ctx_untyped &ctx,
                                  const data_place &place, std::size_t size,
                                  event_list &events)
    {
        const std::size_t step = (size + alignment - 1) / alignment * alignment;
        std::size_t left = most_bytes(place), entries = most_entries(place);

        for (const piece &one : pieces_) {
            if (one.place != place)
                continue;
            left = left > one.size ? left - one.size : 0;
            if (one.entry == size)
                entries -= one.size / step;
        }
        std::size_t n = most_of_pool < left / step ? most_of_pool : left / step;
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

    // --- buddies ---

    static std::size_t rounded(std::size_t size)
    {
        std::size_t bytes = least_of_buddies;
        while (bytes < size)
            bytes *= 2;
        return bytes;
    }
    // The smallest unused block that is large enough, cut in halves.
    ORR_STF_COLD char *cut(const data_place &place, std::size_t bytes)
    {
        std::size_t size = SIZE_MAX;

        for (const piece &one : unused_)
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
    ORR_STF_COLD void join(const data_place &place, char *at, std::size_t size)
    {
        const piece *root = nullptr;

        for (const piece &one : pieces_)
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
        for (piece &one : unused_)
            if (one.at == at && one.size == size && one.place == place) {
                one = unused_.back();
                unused_.pop_back();
                return true;
            }
        return false;
    }
    // A piece more; a smaller one where there is no room.
    ORR_STF_COLD bool add_buddies(backend_ctx_untyped &ctx,
                                  const data_place &place, std::size_t bytes,
                                  event_list &events)
    {
        const starpu_ssize_t all = starpu_memory_get_total(
            static_cast<unsigned>(machine::get().node_of(place)));
        std::size_t size = bytes > most_of_buddies ? bytes : most_of_buddies;
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

    const way way_;
    block_allocator_untyped root_;
    const pooled_allocator_config config_;
    std::vector<piece> pieces_; // that are the root's
    std::vector<piece> unused_; // cut from them
};

} // namespace detail

// Each call is one of the device's.
class uncached_block_allocator : public detail::rooted
{
  public:
    uncached_block_allocator() : rooted(detail::way::uncached)
    {
    }
};

// Keeps what is given back, for allocations of the same size: first what was given back
// last. What is kept goes back to the root when that has no room, and with the context.
class cached_block_allocator : public detail::rooted
{
  public:
    explicit cached_block_allocator(block_allocator_untyped root = {})
        : rooted(detail::way::cached, std::move(root))
    {
    }
};

// The same; first what was given back the longest time ago.
class cached_block_allocator_fifo : public detail::rooted
{
  public:
    explicit cached_block_allocator_fifo(block_allocator_untyped root = {})
        : rooted(detail::way::cached_fifo, std::move(root))
    {
    }
};

// A pool for each size: entries are cut from pieces of up to 64, and used again. Beyond
// the bounds there is no room.
class pooled_allocator : public detail::rooted
{
  public:
    explicit pooled_allocator(block_allocator_untyped root,
                              double max_ratio = 0.2)
        : rooted(detail::way::pooled, std::move(root), {{}, max_ratio, {}})
    {
    }
    explicit pooled_allocator(double max_ratio = 0.2)
        : pooled_allocator(block_allocator_untyped(), max_ratio)
    {
    }
    explicit pooled_allocator(const pooled_allocator_config &config)
        : rooted(detail::way::pooled, {}, config)
    {
    }
};

// Cuts large pieces in halves until they fit; halves that are both unused are one again.
class buddy_allocator : public detail::rooted
{
  public:
    explicit buddy_allocator(block_allocator_untyped root = {})
        : rooted(detail::way::buddy, std::move(root))
    {
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
        : keeper_(new keeper), allocator_(ctx.attach_allocator(keeper_))
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
        keeper() : rooted(detail::way::kept)
        {
        }
        void clear(backend_ctx_untyped &ctx)
        {
            event_list events;
            put_all(ctx, nullptr, events);
        }
    };

    detail::co_owned<keeper> keeper_;
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
        return rooted::make(way::uncached);
    if (std::strcmp(name, "cached_fifo") == 0)
        return rooted::make(way::cached_fifo);
    if (std::strcmp(name, "pooled") == 0)
        return rooted::make(way::pooled);
    if (std::strcmp(name, "buddy") == 0)
        return rooted::make(way::buddy);
    fail_with(
        "the allocator `%s' of ORRERY_STF_ALLOCATOR is unknown: uncached, "
        "cached, cached_fifo, pooled or buddy",
        name);
}

} // namespace detail
} // namespace orrery::stf
