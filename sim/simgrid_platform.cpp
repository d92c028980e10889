/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/simgrid_platform.cpp - see simgrid_platform.h. */
extern "C" {
#include "core/base/module.h"
#include "core/base/number.h"
}
#include "sim/simgrid_platform.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include <simgrid/version.h>
#include <xbt/log.h>

namespace s4u = simgrid::s4u;
using orr::Platform;

namespace
{

/* Of the machine that is open. */
std::weak_ptr<Platform> present;

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

/* Canonical name of an option: version 3 platforms write TCP_gamma. */
static std::string canonical_option(const char *id)
{
    std::string name(id);

    for (size_t i = 0; i < name.size(); i++)
        if (name[i] == '_')
            name[i] = '-';
    return name;
}

static void set_option(const char *id, const char *value)
{
    std::string name = canonical_option(id);
    char *end;

    for (const Option &option : known_options) {
        if (name != option.name)
            continue;
        std::string word(value);
        if (word == "yes" || word == "true" || word == "on")
            word = "1";
        else if (word == "no" || word == "false" || word == "off")
            word = "0";
        double number = orr_strtod(word.c_str(), &end);
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
static std::vector<unsigned> links_use_counts(const orr_machine_desc *desc)
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

static void zone_add_route(s4u::NetZone *zone, const s4u::Host *src,
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

static void make_platform(Platform *sg, const struct orr_machine_desc *desc,
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
    std::vector<unsigned> uses = links_use_counts(desc);
    for (unsigned i = 0; i < desc->nroutes; i++)
        zone_add_route(zone, hosts.at(desc->routes[i].src),
                       hosts.at(desc->routes[i].dst),
                       make_hops(zone, links, desc, uses, i));
    zone->seal();
    for (unsigned i = 0; i < nendpoints; i++)
        sg->endpoints.push_back(hosts.at(endpoints[i]));
}

static void open_engine(Platform *sg)
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

static void platform_fill(Platform *sg, const struct orr_machine_desc *desc,
                          const unsigned *endpoints, unsigned nendpoints,
                          size_t stack_size)
{
    open_engine(sg);
    if (stack_size)
        s4u::Engine::set_config("contexts/stack-size:" +
                                std::to_string((stack_size + 1023) / 1024));
    set_options(desc);
    make_platform(sg, desc, endpoints, nendpoints);
    sg->engine->seal_platform();
    sg->models.assign(sg->engine->get_all_models().begin(),
                      sg->engine->get_all_models().end());
    /* Once now, at the present date, for its installation of handlers. */
    sg->engine->run();
    sg->origin_s = orr::clock_s();
}

} // namespace

namespace orr
{

Platform::~Platform()
{
    KeepHandlers keep;

    delete engine;
}

double clock_s()
{
    return s4u::Engine::get_clock();
}

int open_platform(const orr_machine_desc *desc, const unsigned *endpoints,
                  unsigned nendpoints, size_t stack_size,
                  std::shared_ptr<Platform> *ret, orr_error *err)
{
    KeepHandlers keep;

    *ret = present.lock();
    if (*ret && (*ret)->in_maestro && ret->use_count() == 2 && !stack_size)
        return 0;
    ret->reset();
    if (s4u::Engine::has_instance())
        return orr_fail(err, -EBUSY,
                        "SimGrid is already in use in this process");
    try {
        auto platform = std::make_shared<Platform>();

        platform_fill(platform.get(), desc, endpoints, nendpoints, stack_size);
        present = platform;
        *ret = platform;
    } catch (const std::bad_alloc &) {
        return -ENOMEM;
    } catch (const std::exception &e) {
        return orr_fail(err, -EINVAL, "SimGrid refuses the machine \"%s\": %s",
                        desc->name ? desc->name : "?", e.what());
    }
    return 0;
}

} // namespace orr

/* What orrery/simgrid.so exports. */
extern "C" const struct orr_module *orr_module_entry(void)
{
    static constexpr struct orr_simgrid_ops table = {orr::make_network,
                                                     orr::make_stacks};
    static const struct orr_module module = {ORR_MODULE_ABI, "simgrid", &table,
                                             orr_module_stamp};

    return &module;
}
