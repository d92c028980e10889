/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sim/simgrid_bridge.cpp - SimGrid as a network (network.h), in a module of its
 * own, simgrid.so. The only file that includes SimGrid. One OS thread.
 *
 * SimGrid's engine runs no actor here: it is advanced explicitly from one date to
 * the next, by the OS thread that opened it, and only while transfers are in
 * flight. Nothing here switches contexts.
 *
 * Why no actor: an actor that waits for a transfer costs two of SimGrid's
 * switches and two of its calls into the kernel. Activities started from
 * outside any actor run at once, and run_until() stops at a given date; the
 * models give the next date. Measured: 1.1 µs per transfer, against 1.5 µs for
 * an actor blocking in sendto.
 */
extern "C" {
#include "core/base/module.h"
}
#include "sim/network.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <xbt/log.h>

namespace s4u = simgrid::s4u;

namespace
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

struct Transfer {
    s4u::CommPtr comm;
    void *cookie;
};

struct Option {
    const char *name;
    const char *value;
};

/* The plain max-min fluid model of the platforms that StarPU writes. These
 * are also the only options that a platform may set: others could load
 * plugins, write files or change what a date means. */
constexpr Option known_options[] = {
    {"network/TCP-gamma", "-1"},       {"network/latency-factor", "1"},
    {"network/bandwidth-factor", "1"}, {"network/crosstraffic", "0"},
    {"network/weight-S", "0"},
};

struct Simgrid {
    struct orr_network network = {}; /* first */
    s4u::Engine *engine = nullptr;
    std::vector<s4u::Host *> endpoints;
    /* Models that may hold events of transfers; a model without any is
     * quick. */
    std::vector<simgrid::kernel::resource::Model *> models;
    std::vector<Transfer> flying; /* in order of their starts */
    std::vector<void *> ended;
    size_t ntaken = 0;   /* of `ended` */
    double origin_s = 0; /* SimGrid's clock goes on from engine to engine */
    double next_s = NAN; /* date of the next event, NaN: to be computed */

    ~Simgrid();
};

static Simgrid *simgrid_of(struct orr_network *network)
{
    return reinterpret_cast<Simgrid *>(network);
}

static double clock_s()
{
    return s4u::Engine::get_clock();
}

/* Canonical name of an option: version 3 platforms write TCP_gamma. */
static std::string canonical(const char *id)
{
    std::string name(id);

    for (size_t i = 0; i < name.size(); i++)
        if (name[i] == '_')
            name[i] = '-';
    return name;
}

static void set_option(const char *id, const char *value)
{
    std::string name = canonical(id);
    char *end;

    for (const Option &option : known_options) {
        if (name != option.name)
            continue;
        std::string word(value);
        if (word == "yes" || word == "true" || word == "on")
            word = "1";
        else if (word == "no" || word == "false" || word == "off")
            word = "0";
        double number = std::strtod(word.c_str(), &end);
        if (end == word.c_str() || *end || !std::isfinite(number))
            throw std::invalid_argument("option " + name + ": \"" + value +
                                        "\" is not a number");
        s4u::Engine::set_config(name + ":" + word);
        return;
    }
    /* Unknown options are not an error: platforms carry options of plugins
     * and of SMPI that mean nothing here. */
}

static void set_options(const struct orr_machine_desc *desc)
{
    for (const Option &option : known_options)
        s4u::Engine::set_config(std::string(option.name) + ":" + option.value);
    for (unsigned i = 0; i < desc->nconfig; i++)
        set_option(desc->config[i].id, desc->config[i].value);
}

static s4u::Link *make_link(s4u::NetZone *zone, const orr_link_desc &desc)
{
    s4u::Link *link;

    if (desc.sharing == ORR_LINK_SPLITDUPLEX)
        link = zone->create_split_duplex_link(desc.id, desc.bandwidth);
    else
        link = zone->create_link(desc.id, desc.bandwidth);
    link->set_latency(desc.latency);
    if (desc.sharing == ORR_LINK_FATPIPE)
        link->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
    link->seal();
    return link;
}

static s4u::LinkInRoute make_hop(const std::vector<s4u::Link *> &links,
                                 const orr_hop_desc &hop)
{
    switch (hop.direction) {
    case ORR_HOP_UP:
        return s4u::LinkInRoute(links.at(hop.link),
                                s4u::LinkInRoute::Direction::UP);
    case ORR_HOP_DOWN:
        return s4u::LinkInRoute(links.at(hop.link),
                                s4u::LinkInRoute::Direction::DOWN);
    default:
        return s4u::LinkInRoute(links.at(hop.link));
    }
}

/* How many routes pass each link. */
static std::vector<unsigned> count_uses(const orr_machine_desc *desc)
{
    std::vector<unsigned> uses(desc->nlinks);

    for (unsigned i = 0; i < desc->nroutes; i++)
        for (unsigned k = 0; k < desc->routes[i].nhops; k++)
            uses.at(desc->routes[i].hops[k].link)++;
    return uses;
}

/* The links of a route, and before them one that no other route has, much
 * wider than they are. Without it SimGrid (3.32) lets a transfer exceed its
 * own links: when transfers begin at one date, the later of two that share the
 * first link of the later has its other links left out of the next solution.
 * Selective updating adds all links of a transfer only where the first is not
 * yet among those to solve. */
static std::vector<s4u::LinkInRoute>
make_hops(s4u::NetZone *zone, const std::vector<s4u::Link *> &links,
          const orr_machine_desc *desc, const std::vector<unsigned> &uses,
          unsigned number)
{
    const orr_route_desc &route = desc->routes[number];
    std::vector<s4u::LinkInRoute> hops;
    double fastest = 1;

    for (unsigned k = 0; k < route.nhops; k++)
        fastest = std::max(fastest, desc->links[route.hops[k].link].bandwidth);
    if (route.nhops > 1 && uses.at(route.hops[0].link) > 1) {
        /* No link of a description has a tab in its name. */
        s4u::Link *own = zone->create_link("\t" + std::to_string(number),
                                           std::min(1000 * fastest, 1e300));
        own->set_latency(0);
        own->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
        own->seal();
        hops.push_back(s4u::LinkInRoute(own));
    }
    for (unsigned k = 0; k < route.nhops; k++)
        hops.push_back(make_hop(links, route.hops[k]));
    return hops;
}

static void add_route(s4u::NetZone *zone, const s4u::Host *src,
                      const s4u::Host *dst,
                      const std::vector<s4u::LinkInRoute> &hops)
{
#if SIMGRID_VERSION >= 40000
    zone->add_route(src, dst, hops, false);
#else
    zone->add_route(src->get_netpoint(), dst->get_netpoint(), nullptr, nullptr,
                    hops, false);
#endif
}

static s4u::NetZone *make_zone()
{
#if SIMGRID_VERSION >= 40100
    return s4u::Engine::get_instance()->get_netzone_root()->add_netzone_full(
        "AS0");
#else
    return s4u::create_full_zone("AS0");
#endif
}

static void make_platform(Simgrid *sg,
                          const struct orr_machine_desc *desc,
                          const unsigned *endpoints, unsigned nendpoints)
{
    s4u::NetZone *zone = make_zone();
    std::vector<s4u::Host *> hosts;
    std::vector<s4u::Link *> links;

    for (unsigned i = 0; i < desc->nhosts; i++) {
        s4u::Host *host =
            zone->create_host(desc->hosts[i].id, desc->hosts[i].speed);
        host->seal();
        hosts.push_back(host);
    }
    for (unsigned i = 0; i < desc->nlinks; i++)
        links.push_back(make_link(zone, desc->links[i]));
    std::vector<unsigned> uses = count_uses(desc);
    for (unsigned i = 0; i < desc->nroutes; i++)
        add_route(zone, hosts.at(desc->routes[i].src),
                  hosts.at(desc->routes[i].dst),
                  make_hops(zone, links, desc, uses, i));
    zone->seal();
    for (unsigned i = 0; i < nendpoints; i++)
        sg->endpoints.push_back(hosts.at(endpoints[i]));
}

static void open_engine(Simgrid *sg)
{
    char name[] = "orrery";
    char *words[] = {name, nullptr};
    int nwords = 1;
    char **argv = words;

    /* Before the engine: its making already logs. */
    xbt_log_control_set("root.thresh:critical");
    sg->engine = new s4u::Engine(&nwords, argv);
    s4u::Engine::set_config("debug/verbose-exit:0");
    s4u::Engine::set_config("debug/clean-atexit:0");
}

static void open_simgrid(Simgrid *sg,
                         const struct orr_machine_desc *desc,
                         const unsigned *endpoints, unsigned nendpoints)
{
    open_engine(sg);
    set_options(desc);
    make_platform(sg, desc, endpoints, nendpoints);
    sg->engine->seal_platform();
    sg->models.assign(sg->engine->get_all_models().begin(),
                      sg->engine->get_all_models().end());
    /* Once now, at the present date, for its installation of handlers. */
    sg->engine->run();
    sg->origin_s = clock_s();
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
    delete engine;
}

/* Whether a transfer may have ended: fewer activities run than were started. */
static bool some_ended(Simgrid *sg)
{
    size_t running = 0;

    for (auto *model : sg->models)
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
    sg->engine->run_until(date_s);
    if (some_ended(sg))
        collect_ended(sg);
}

static int start(struct orr_network *network, unsigned src, unsigned dst,
                 size_t bytes, void *cookie, double now_us,
                 struct orr_error *err)
{
    Simgrid *simgrid = simgrid_of(network);

    try {
        simgrid->flying.reserve(simgrid->flying.size() + 1);
        simgrid->ended.reserve(simgrid->ended.size() + simgrid->flying.size() +
                               1);
        move_clock(simgrid, simgrid->origin_s + now_us * 1e-6);
        s4u::CommPtr comm = s4u::Comm::sendto_init(simgrid->endpoints.at(src),
                                                   simgrid->endpoints.at(dst));
        comm->set_payload_size(bytes);
        comm->start();
        simgrid->flying.push_back({comm, cookie});
    } catch (const std::exception &e) {
        return orr_fail(err, -EIO, "SimGrid cannot transfer %zu bytes: %s",
                        bytes, e.what());
    }
    simgrid->next_s = NAN;
    return 0;
}

/* The least date over all models, as the engine would find it: each model
 * returns the time until its next event, negative for none. */
static double ask_next_s(Simgrid *sg)
{
    double now = clock_s();
    double least = INFINITY;

    for (auto *model : sg->models) {
        double delay = model->next_occurring_event(now);
        if (delay >= 0 && delay < least)
            least = delay;
    }
    return now + least;
}

/* Before the grid, since SimGrid's clock goes on from machine to machine, and its
 * last bits with it. */
static double next_us(struct orr_network *network)
{
    Simgrid *simgrid = simgrid_of(network);

    if (simgrid->flying.empty())
        return INFINITY;
    if (std::isnan(simgrid->next_s))
        simgrid->next_s = ask_next_s(simgrid);
    return orr_network_grid((simgrid->next_s - simgrid->origin_s) * 1e6);
}

static void advance(struct orr_network *network)
{
    Simgrid *simgrid = simgrid_of(network);
    double next_s;

    if (simgrid->flying.empty())
        return;
    next_us(network);
    next_s = simgrid->next_s;
    simgrid->next_s = NAN;
    /* An event at the present date (no latency) needs a round as well, so
     * this is not move_clock(). */
    if (std::isfinite(next_s))
        simgrid->engine->run_until(std::max(next_s, clock_s()));
    if (some_ended(simgrid))
        collect_ended(simgrid);
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

static void end(struct orr_network *network)
{
    delete simgrid_of(network);
}

static constexpr struct orr_network_ops simgrid_network_ops = {
    start, next_us, advance, take_ended, end};

static int make(const struct orr_machine_desc *desc, const unsigned *endpoints,
                unsigned nendpoints, struct orr_network **ret,
                struct orr_error *err)
{
    KeepHandlers keep;

    if (s4u::Engine::has_instance())
        return orr_fail(err, -EBUSY,
                        "SimGrid is already in use in this process");
    Simgrid *sg = new (std::nothrow) Simgrid;
    if (!sg)
        return -ENOMEM;
    sg->network.ops = &simgrid_network_ops;
    try {
        open_simgrid(sg, desc, endpoints, nendpoints);
    } catch (const std::bad_alloc &) {
        delete sg;
        return -ENOMEM;
    } catch (const std::exception &e) {
        delete sg;
        return orr_fail(err, -EINVAL, "SimGrid refuses the machine \"%s\": %s",
                        desc->name ? desc->name : "?", e.what());
    }
    *ret = &sg->network;
    return 0;
}

} // namespace

/* What orrery/simgrid.so exports. */
extern "C" const struct orr_module *orr_module_entry(void)
{
    static constexpr struct orr_simgrid_ops table = {make};
    static const struct orr_module module = {ORR_MODULE_ABI, "simgrid", &table,
                                             orr_module_stamp};

    return &module;
}
