// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/owner.hpp - pointers that own what they point to, alone or together. Those of
// <memory> are a fifth of what the compilers would do for this header: they are made for
// deleters and allocators that nobody has here.
#pragma once

#include <new>
#include <utility>

#include <orrery/stf/config.hpp>

namespace orrery::stf::detail
{

// The only owner of an object that new has made.
template <class T> class owned
{
  public:
    owned() = default;
    explicit owned(T *object) : object_(object)
    {
    }
    owned(owned &&other) noexcept : object_(other.release())
    {
    }
    owned &operator=(owned &&other) noexcept
    {
        reset(other.release());
        return *this;
    }
    ~owned()
    {
        delete object_;
    }
    T *get() const
    {
        return object_;
    }
    T &operator*() const
    {
        return *object_;
    }
    T *operator->() const
    {
        return object_;
    }
    explicit operator bool() const
    {
        return object_ != nullptr;
    }
    T *release() noexcept
    {
        return std::exchange(object_, nullptr);
    }
    void reset(T *object = nullptr)
    {
        delete std::exchange(object_, object);
    }

  private:
    T *object_ = nullptr;
};

// An object with several owners; it counts them. Owners may go in any thread.
class has_owners
{
  public:
    has_owners() = default;
    has_owners(const has_owners &) = delete;
    has_owners &operator=(const has_owners &) = delete;
    virtual ~has_owners() = default;

  private:
    template <class> friend class co_owned;

    void add_owner()
    {
        __atomic_add_fetch(&nowners_, 1, __ATOMIC_RELAXED);
    }
    void drop_owner()
    {
        // What other owners have done is before the end of the object.
        if (__atomic_sub_fetch(&nowners_, 1, __ATOMIC_ACQ_REL) == 0)
            delete this;
    }
    int nowners_ = 0;
};

// One of the owners of a T, which has_owners.
template <class T> class co_owned
{
  public:
    co_owned() = default;
    co_owned(std::nullptr_t)
    {
    }
    explicit co_owned(T *object) : object_(object)
    {
        add();
    }
    co_owned(const co_owned &other) : object_(other.object_)
    {
        add();
    }
    co_owned(co_owned &&other) noexcept
        : object_(std::exchange(other.object_, nullptr))
    {
    }
    template <class U, class = std::enable_if_t<std::is_base_of_v<T, U>>>
    co_owned(const co_owned<U> &other) : co_owned(static_cast<T *>(other.get()))
    {
    }
    co_owned &operator=(co_owned other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    ~co_owned()
    {
        if (object_)
            static_cast<has_owners *>(object_)->drop_owner();
    }
    T *get() const
    {
        return object_;
    }
    T &operator*() const
    {
        return *object_;
    }
    T *operator->() const
    {
        return object_;
    }
    explicit operator bool() const
    {
        return object_ != nullptr;
    }
    void reset()
    {
        *this = co_owned();
    }
    friend bool operator==(const co_owned &a, const co_owned &b)
    {
        return a.object_ == b.object_;
    }
    friend bool operator!=(const co_owned &a, const co_owned &b)
    {
        return a.object_ != b.object_;
    }

  private:
    void add()
    {
        if (object_)
            static_cast<has_owners *>(object_)->add_owner();
    }
    T *object_ = nullptr;
};

} // namespace orrery::stf::detail
