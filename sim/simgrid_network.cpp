/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/simgrid_network.cpp - SimGrid as a network (network.h), in the module
 * simgrid.so.
 *
 * SimGrid's engine runs no actor for it: it is advanced explicitly from one date to
 * the next, by the OS thread that opened it, and only while transfers are in
 * flight. Nothing here switches contexts, but for contexts that are actors
 * themselves, in which SimGrid cannot be advanced: then it is done for them.
 *
 * Why no actor: an actor that waits for a transfer costs two of SimGrid's
 * switches and two of its calls into the kernel. Activities started from
 * outside any actor run at once, and run_until() stops at a given date; the
 * models give the next date. Measured: 1.1 µs per transfer, against 1.5 µs for
 * an actor blocking in sendto.
 */
#include "sim/simgrid_platform.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <new>
#include <type_traits>

namespace s4u = simgrid::s4u;
using orr::clock_s;
using orr::KeepHandlers;
using orr::Platform;

namespace
{

struct Transfer {
    s4u::CommPtr comm;
    void *cookie;
};

struct Simgrid {
    struct orr_network network = {}; /* first */
    std::shared_ptr<Platform> platform;
    std::vector<Transfer> flying; /* in order of their starts */
    std::vector<void *> ended;
    size_t ntaken = 0;   /* of `ended` */
    double next_s = NAN; /* date of the next event, NaN: to be computed */

    ~Simgrid();
};

Simgrid *simgrid_of(struct orr_network *network)
{
    return reinterpret_cast<Simgrid *>(network);
}

/* SimGrid is only moved, and told of transfers, on the maestro's stack. */
void in_maestro(Simgrid *sg, const std::function<void()> &function)
{
    if (sg->platform->in_maestro)
        sg->platform->in_maestro(function);
    else
        function();
}

/* Only what a pointer to it points at is known outside. */
static_assert(std::is_standard_layout<Simgrid>::value,
              "the network must be at its beginning");

Simgrid::~Simgrid()
{
    KeepHandlers keep;

    for (Transfer &transfer : flying)
        transfer.comm->cancel();
    flying.clear();
}

/* Whether a transfer may have ended: fewer activities run than were started. */
static bool some_ended(Simgrid *sg)
{
    size_t running = 0;

    for (auto *model : sg->platform->models)
        running += model->get_started_action_set()->size();
    return running < sg->flying.size();
}

static void collect_ended(Simgrid *sg)
{
    size_t kept = 0;

    for (size_t i = 0; i < sg->flying.size(); i++) {
        if (sg->flying[i].comm->test()) {
            sg->ended.push_back(sg->flying[i].cookie);
            continue;
        }
        if (kept != i)
            sg->flying[kept] = std::move(sg->flying[i]);
        kept++;
    }
    sg->flying.resize(kept);
}

/* Moves SimGrid's clock to a date that no event precedes. Events less than
 * SimGrid's precision (1 ns) later happen as well. */
static void move_clock(Simgrid *sg, double date_s)
{
    if (date_s <= clock_s())
        return;
    sg->platform->engine->run_until(date_s);
    if (some_ended(sg))
        collect_ended(sg);
}

/* The least date over all models, as the engine would find it: each model
 * returns the time until its next event, negative for none. */
static double ask_next_s(Simgrid *sg)
{
    double now = clock_s();
    double least = INFINITY;

    for (auto *model : sg->platform->models) {
        double delay = model->next_occurring_event(now);
        if (delay >= 0 && delay < least)
            least = delay;
    }
    return now + least;
}

/* After what may change the date of the next event. It is computed when it is
 * asked for, but where contexts are actors at once: their switches let the
 * engine run, in which a transfer that ends less than SimGrid's precision later
 * ends unseen. */
static void next_changed(Simgrid *sg)
{
    sg->next_s = sg->platform->in_maestro ? ask_next_s(sg) : NAN;
}

static int simgrid_begin_copy(Simgrid *simgrid, unsigned src, unsigned dst,
                              size_t bytes, void *cookie, double now_us,
                              struct orr_error *err)
{
    const Platform &platform = *simgrid->platform;
    double unseen_s = INFINITY; /* when those end that have ended unseen */

    try {
        simgrid->flying.reserve(simgrid->flying.size() + 1);
        simgrid->ended.reserve(simgrid->ended.size() + simgrid->flying.size() +
                               1);
        move_clock(simgrid, platform.origin_s + now_us * 1e-6);
        if (some_ended(simgrid))
            unseen_s = simgrid->next_s;
        s4u::CommPtr comm = s4u::Comm::sendto_init(platform.endpoints.at(src),
                                                   platform.endpoints.at(dst));
        comm->set_payload_size(bytes);
        comm->start();
        simgrid->flying.push_back({comm, cookie});
    } catch (const std::exception &e) {
        return orr_fail(err, -EIO, "SimGrid cannot transfer %zu bytes: %s",
                        bytes, e.what());
    }
    next_changed(simgrid);
    if (unseen_s < simgrid->next_s)
        simgrid->next_s = unseen_s;
    return 0;
}

static int simgrid_start_copy(struct orr_network *network, unsigned src,
                              unsigned dst, size_t bytes, void *cookie,
                              double now_us, struct orr_error *err)
{
    Simgrid *simgrid = simgrid_of(network);
    int rc = 0;

    in_maestro(simgrid, [&] {
        rc = simgrid_begin_copy(simgrid, src, dst, bytes, cookie, now_us, err);
    });
    return rc;
}

/* Before the grid, since SimGrid's clock goes on from machine to machine, and its
 * last bits with it. */
static double next_us(struct orr_network *network)
{
    Simgrid *simgrid = simgrid_of(network);

    if (simgrid->flying.empty())
        return INFINITY;
    if (std::isnan(simgrid->next_s))
        in_maestro(simgrid, [&] { simgrid->next_s = ask_next_s(simgrid); });
    return orr_network_grid((simgrid->next_s - simgrid->platform->origin_s) *
                            1e6);
}

static void advance_to(Simgrid *simgrid, double next_s)
{
    /* An event at the present date (no latency) needs a round as well, so
     * this is not move_clock(). */
    if (std::isfinite(next_s))
        simgrid->platform->engine->run_until(std::max(next_s, clock_s()));
    if (some_ended(simgrid))
        collect_ended(simgrid);
    next_changed(simgrid);
}

static void simgrid_advance(struct orr_network *network)
{
    Simgrid *simgrid = simgrid_of(network);
    double next_s;

    if (simgrid->flying.empty())
        return;
    next_us(network);
    next_s = simgrid->next_s;
    in_maestro(simgrid, [&] { advance_to(simgrid, next_s); });
}

static void *take_ended(struct orr_network *network)
{
    Simgrid *simgrid = simgrid_of(network);

    if (simgrid->ntaken < simgrid->ended.size())
        return simgrid->ended[simgrid->ntaken++];
    simgrid->ended.clear();
    simgrid->ntaken = 0;
    return nullptr;
}

static void simgrid_end(struct orr_network *network)
{
    delete simgrid_of(network);
}

static constexpr struct orr_network_ops simgrid_network_ops = {
    simgrid_start_copy, next_us, simgrid_advance, take_ended, simgrid_end};

} // namespace

int orr::make_network(const orr_machine_desc *desc, const unsigned *endpoints,
                      unsigned nendpoints, orr_network **ret, orr_error *err)
{
    std::shared_ptr<Platform> platform;
    int rc = open_platform(desc, endpoints, nendpoints, 0, &platform, err);

    if (rc < 0)
        return rc;
    Simgrid *sg = new (std::nothrow) Simgrid;
    if (!sg)
        return -ENOMEM;
    sg->network.ops = &simgrid_network_ops;
    sg->platform = platform;
    *ret = &sg->network;
    return 0;
}
