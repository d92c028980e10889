// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/freeze.hpp - data that the program uses outside of tasks: for a moment
// (context::wait()), or frozen until it says so.
#pragma once

#include <orrery/stf/submit.hpp>

namespace orrery::stf
{
namespace detail
{

// The data in main memory, to be read, as long as the object lives.
class hold_on_host
{
  public:
    hold_on_host(const context_state &state, const datum &data) : data_(data)
    {
        state.require_open();
        check_use(state,
                  {const_cast<datum *>(&data), access_mode::read, {}, nullptr},
                  false);
        if (data.frozen == access_mode::rw)
            data.refuse(" is frozen: unfreeze() it before wait()");
        const int err =
            starpu_data_acquire_on_node(data.handle, STARPU_MAIN_RAM, STARPU_R);
        if (err)
            fail(data.words() +
                 " cannot be waited for: " + std::strerror(-err));
    }
    ~hold_on_host()
    {
        starpu_data_release_on_node(data_.handle, STARPU_MAIN_RAM);
    }
    hold_on_host(const hold_on_host &) = delete;
    hold_on_host &operator=(const hold_on_host &) = delete;

    template <class V> V view() const
    {
        return view_traits<V>::view(
            starpu_data_get_interface_on_node(data_.handle, STARPU_MAIN_RAM));
    }

  private:
    const datum &data_;
};

// The data at one node, in their turn: asked for at once, and waited for where they are
// needed.
class held_at
{
  public:
    held_at(const datum &data, int node, access_mode mode, bool in_order)
        : data_(data), node_(node)
    {
        starpu_sem_init(&here_, 0, 0);
        const int err = starpu_data_acquire_on_node_cb_sequential_consistency(
            data.handle, node, mode == access_mode::rw ? STARPU_RW : STARPU_R,
            arrived, &here_, in_order);
        if (!err)
            return;
        starpu_sem_destroy(&here_);
        fail(data.words() + " cannot be frozen: " + std::strerror(-err));
    }
    // Gives them back.
    ~held_at()
    {
        wait();
        starpu_data_release_on_node(data_.handle, node_);
        starpu_sem_destroy(&here_);
    }
    held_at(const held_at &) = delete;
    held_at &operator=(const held_at &) = delete;

    void wait()
    {
        if (!waited_)
            starpu_sem_wait(&here_);
        waited_ = true;
    }
    int node() const
    {
        return node_;
    }

  private:
    static void arrived(void *arg)
    {
        starpu_sem_post(static_cast<starpu_sem_t *>(arg));
    }

    const datum &data_;
    int node_;
    bool waited_ = false;
    starpu_sem_t here_;
};

// What freezes of one datum hold, and give back together.
class freezer : public has_owners
{
  public:
    freezer(co_owned<context_state> state, co_owned<datum> data,
            access_mode mode, data_place place)
        : state_(std::move(state)), data_(std::move(data)), mode_(mode)
    {
        require(mode == access_mode::read || mode == access_mode::rw,
                "freeze() takes access_mode::read or access_mode::rw");
        require(data_.get() != nullptr,
                "freeze() of data that no context has made");
        state_->require_open();
        settle(*state_);
        const int node = node_of(place);
        check_use(*state_, {data_.get(), mode, {}, nullptr}, false);
        if (data_->frozen != access_mode::none)
            data_->refuse(" is frozen already: unfreeze() it before");
        acquire(node, true);
        data_->frozen = mode;
    }
    freezer(const freezer &) = delete;
    freezer &operator=(const freezer &) = delete;
    // Whoever forgets unfreeze() does not keep the data.
    ~freezer() override
    {
        if (data_->frozen != access_mode::none)
            give_back();
    }

    int node_of(const data_place &place) const
    {
        require(!place.get_spread(),
                "freeze() and get() at a composite or replicated place: the "
                "program uses data at one, host() or device(i)");
        return machine::get().node_of(place, STARPU_MAIN_RAM);
    }
    void *get(const data_place &place)
    {
        const int node = node_of(place);
        held_at *there = nullptr;

        if (data_->frozen == access_mode::none)
            data_->refuse(" is not frozen any more: get() before "
                          "unfreeze()");
        for (const auto &one : held_)
            there = one->node() == node ? one.get() : there;
        if (!there && mode_ == access_mode::rw)
            data_->refuse(" is frozen to be changed at one place: "
                          "name that to get(), or freeze() it there");
        if (!there)
            there = acquire(node, false);
        there->wait();
        return starpu_data_get_interface_on_node(data_->handle,
                                                 static_cast<unsigned>(node));
    }
    void release()
    {
        if (data_->frozen == access_mode::none)
            data_->refuse(" is not frozen");
        give_back();
    }
    access_mode mode() const
    {
        return mode_;
    }

  private:
    void give_back()
    {
        held_.clear();
        data_->frozen = access_mode::none;
    }
    // What is read at further places has no turn among the tasks: the data are held.
    held_at *acquire(int node, bool in_order)
    {
        held_.push_back(
            owned<held_at>(new held_at(*data_, node, mode_, in_order)));
        return held_.back().get();
    }

    co_owned<context_state> state_;
    co_owned<datum> data_;
    access_mode mode_;
    std::vector<owned<held_at>> held_;
};

} // namespace detail

// Data that stay as they are (read), or are the program's (rw), until unfreeze(). get()
// waits for the data instead of a queue: what it returns may be used at once.
template <class V> class frozen_logical_data
{
  public:
    using constant = typename detail::view_traits<V>::constant;

    frozen_logical_data(detail::co_owned<detail::context_state> state,
                        detail::co_owned<detail::datum> data, access_mode mode,
                        data_place place)
        : freezer_(new detail::freezer(std::move(state), std::move(data), mode,
                                       std::move(place)))
    {
    }
    // The view there. Of data frozen to be read, nothing may be changed.
    V get(data_place place = data_place::host(), stream_t = nullptr) const
    {
        return detail::view_traits<V>::view(freezer_->get(place));
    }
    void unfreeze(stream_t = nullptr)
    {
        freezer_->release();
    }
    access_mode get_access_mode() const
    {
        return freezer_->mode();
    }

  private:
    detail::co_owned<detail::freezer> freezer_;
};

} // namespace orrery::stf
