// SPDX-License-Identifier: LGPL-2.1-or-later
// stf/lock.hpp - a mutex; <mutex> is a third of what the compiler would read for this
// header. Nothing that waits is called while one is held.
#pragma once

#include <pthread.h>

#include <orrery/stf/error.hpp>

namespace orrery::stf::detail
{

class lock
{
  public:
    lock() = default;
    lock(const lock &) = delete;
    lock &operator=(const lock &) = delete;
    ~lock()
    {
        pthread_mutex_destroy(&mutex_);
    }
    void take()
    {
        pthread_mutex_lock(&mutex_);
    }
    void give()
    {
        pthread_mutex_unlock(&mutex_);
    }

  private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class lock_guard
{
  public:
    explicit lock_guard(lock &one) : lock_(one)
    {
        lock_.take();
    }
    lock_guard(const lock_guard &) = delete;
    lock_guard &operator=(const lock_guard &) = delete;
    ~lock_guard()
    {
        lock_.give();
    }

  private:
    lock &lock_;
};

} // namespace orrery::stf::detail
