/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/bench/bare-events.cpp - see bare-simgrid.h. */
#include "tests/bench/bare-events.h"

#include <chrono>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>
#include <xbt/log.h>

namespace s4u = simgrid::s4u;

static s4u::Engine *open_engine()
{
    char name[] = "bare";
    char *words[] = {name, nullptr};
    char **argv = words;
    int n = 1;

    xbt_log_control_set("root.thresh:critical");
    auto *engine = new s4u::Engine(&n, argv);
    for (const char *option :
         {"network/TCP-gamma:-1", "network/latency-factor:1",
          "network/bandwidth-factor:1", "network/crosstraffic:0",
          "network/weight-S:0"})
        s4u::Engine::set_config(option);
    return engine;
}

static double run(s4u::Engine *engine)
{
    auto begin = std::chrono::steady_clock::now();

    engine->run();
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    delete engine;
    return took.count();
}

double bare_sleeps(unsigned n, unsigned times)
{
    s4u::Engine *engine = open_engine();
    auto *zone = s4u::create_full_zone("z");
    auto *host = zone->create_host("h", 1e9);

    host->seal();
    zone->seal();
    for (unsigned i = 0; i < n; i++)
        s4u::Actor::create("a", host, [i, times] {
            for (unsigned k = 0; k < times; k++)
                s4u::this_actor::sleep_for(1e-6 * (1 + (i + k) % 7));
        });
    return run(engine);
}

double bare_copies(unsigned n, unsigned times)
{
    s4u::Engine *engine = open_engine();
    auto *zone = s4u::create_full_zone("z");
    auto *ram = zone->create_host("ram", 1e9);
    auto *bus = zone->create_link("bus", 10e9)->seal();

    ram->seal();
    for (unsigned i = 0; i < n; i++) {
        auto *host = zone->create_host("g" + std::to_string(i), 1e9);
        auto *link = zone->create_link("l" + std::to_string(i), 5e9)
                         ->set_latency(1e-5)
                         ->seal();
        std::vector<s4u::LinkInRoute> route = {s4u::LinkInRoute(bus),
                                               s4u::LinkInRoute(link)};

        host->seal();
        zone->add_route(ram->get_netpoint(), host->get_netpoint(), nullptr,
                        nullptr, route, true);
        s4u::Actor::create("a", ram, [ram, host, times] {
            for (unsigned k = 0; k < times; k++)
                s4u::Comm::sendto(ram, host, 1000000 * (1 + k % 7));
        });
    }
    zone->seal();
    return run(engine);
}
