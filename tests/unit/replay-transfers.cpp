/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/replay-transfers.cpp - replays transfers with SimGrid alone: no
 * header and no function of ours. test-transfers.c compares.
 *
 *   replay-transfers PLATFORM.xml < TRANSFERS
 *
 * reads lines "start source destination bytes", start in microseconds, source
 * and destination names of hosts; prints the end of each in microseconds, in
 * the same order. One actor per transfer sleeps until its start and sends.
 */
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

struct Transfer {
    double start_us, end_us;
    std::string source, destination;
    unsigned long long bytes;
};

static void send(Transfer *transfer, sg4::Host *source, sg4::Host *destination)
{
    sg4::this_actor::sleep_until(transfer->start_us * 1e-6);
    sg4::Comm::sendto(source, destination, transfer->bytes);
    transfer->end_us = sg4::Engine::get_clock() * 1e6;
}

int main(int argc, char **argv)
{
    std::vector<Transfer> transfers;
    Transfer next = {};

    sg4::Engine engine(&argc, argv);
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s PLATFORM.xml < TRANSFERS\n", argv[0]);
        return EXIT_FAILURE;
    }
    engine.load_platform(argv[1]);
    while (std::cin >> next.start_us >> next.source >> next.destination >>
           next.bytes)
        transfers.push_back(next);
    for (Transfer &transfer : transfers)
        sg4::Actor::create("sender", engine.host_by_name("MAIN"), send,
                           &transfer, engine.host_by_name(transfer.source),
                           engine.host_by_name(transfer.destination));
    engine.run();
    for (const Transfer &transfer : transfers)
        std::printf("%.17g\n", transfer.end_us);
    return EXIT_SUCCESS;
}
