/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/simgrid_platform.h - SimGrid's engine with a machine as its platform, shared
 * by the network and the actors of simgrid.so. At most one lives. One OS thread, the
 * one that opened it: SimGrid's maestro.
 */
#pragma once

#include <csignal>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>

#include "sim/network.h"

namespace orr
{

/* SimGrid installs its own handlers, alternate stack and terminate handler;
 * the application's are put back when this goes out of scope. */
class KeepHandlers
{
    static constexpr int signals[] = {SIGINT, SIGSEGV, SIGBUS, SIGABRT};
    static constexpr int nsignals = sizeof(signals) / sizeof(signals[0]);
    struct sigaction actions[nsignals];
    stack_t stack;
    std::terminate_handler terminate;

  public:
    KeepHandlers() : terminate(std::get_terminate())
    {
        for (int i = 0; i < nsignals; i++)
            sigaction(signals[i], nullptr, &actions[i]);
        sigaltstack(nullptr, &stack);
    }
    ~KeepHandlers()
    {
        for (int i = 0; i < nsignals; i++)
            sigaction(signals[i], &actions[i], nullptr);
        sigaltstack(&stack, nullptr);
        std::set_terminate(terminate);
    }
    KeepHandlers(const KeepHandlers &) = delete;
    KeepHandlers &operator=(const KeepHandlers &) = delete;
};

/* What a machine is to SimGrid. */
struct Platform {
    simgrid::s4u::Engine *engine = nullptr;
    std::vector<simgrid::s4u::Host *> endpoints;
    /* Models that may hold events of transfers; a model without any is
     * quick. */
    std::vector<simgrid::kernel::resource::Model *> models;
    double origin_s = 0; /* SimGrid's clock goes on from engine to engine */
    /* Calls a function on the maestro's stack; set while there are actors, in which
     * SimGrid cannot be advanced. */
    std::function<void(const std::function<void()> &)> in_maestro;

    ~Platform();
};

/* The platform that lives, if it has no network yet, else a new one.
 * `stack_size` of actors in bytes, 0: there are none. Errors: as
 * orr_network_new_fn; -EBUSY if another machine uses SimGrid. */
int open_platform(const orr_machine_desc *desc, const unsigned *endpoints,
                  unsigned nendpoints, size_t stack_size,
                  std::shared_ptr<Platform> *ret, orr_error *err);

double clock_s();

/* Tables of simgrid.so. */
int make_network(const orr_machine_desc *desc, const unsigned *endpoints,
                 unsigned nendpoints, orr_network **ret, orr_error *err);
int make_stacks(const orr_machine_desc *desc, const unsigned *endpoints,
                unsigned nendpoints, size_t stack_size, orr_stacks **ret,
                orr_error *err);

} // namespace orr
