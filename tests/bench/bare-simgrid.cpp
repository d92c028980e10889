// SPDX-License-Identifier: LGPL-2.1-or-later
// tests/bench/bare-simgrid.cpp - what bare SimGrid needs for the events of a
// simulation: one sleep per submission, one per task (on as many actors as
// there are workers), and the run's copies over one route per device.
// usage: bare-simgrid TASKS WORKERS COPIES DEVICES; prints seconds.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

static void sleeps(long n, double seconds)
{
    for (long i = 0; i < n; i++)
        sg::this_actor::sleep_for(seconds * static_cast<double>(1 + i % 7));
}

static void copies(long n, sg::Host *from, sg::Host *to)
{
    for (long i = 0; i < n; i++)
        sg::Comm::sendto(from, to, 1000000 * static_cast<uint64_t>(1 + i % 7));
}

int main(int argc, char **argv)
{
    sg::Engine engine(&argc, argv);
    if (argc != 5)
        return 2;
    long tasks = atol(argv[1]), ncopies = atol(argv[3]);
    int workers = atoi(argv[2]), devices = atoi(argv[4]);

    sg::Engine::set_config("network/crosstraffic:0");
    sg::Engine::set_config("network/TCP-gamma:-1");
    sg::Engine::set_config("network/weight-S:0");
    auto *zone = sg::create_full_zone("zone");
    auto *ram = zone->create_host("ram", 1e9);
    ram->seal();
    auto *bus = zone->create_link("bus", 12e9)->seal();
    for (int d = 0; d < devices; d++) {
        auto *host = zone->create_host("gpu" + std::to_string(d), 1e9);
        host->seal();
        auto *link = zone->create_link("up" + std::to_string(d), 6e9)
                         ->set_latency(1e-5)
                         ->seal();
        zone->add_route(ram->get_netpoint(), host->get_netpoint(), nullptr,
                        nullptr,
                        std::vector<sg::LinkInRoute>{sg::LinkInRoute(bus),
                                                     sg::LinkInRoute(link)},
                        true);
    }
    zone->seal();
    sg::Actor::create("main", ram, sleeps, tasks, 1e-6);
    for (int w = 0; w < workers; w++)
        sg::Actor::create("worker", ram, sleeps, tasks / workers, 1e-3);
    for (int d = 0; d < devices; d++)
        sg::Actor::create("copies", ram, copies, ncopies / devices, ram,
                          sg::Host::by_name("gpu" + std::to_string(d)));
    auto start = std::chrono::steady_clock::now();
    engine.run();
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    printf("%.6f\n", took.count());
    return 0;
}
