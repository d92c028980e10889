/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/unit/test-platforms-simgrid.cpp - what we write, SimGrid's own
 * load_platform accepts, and both see the same hosts, links and routes. One
 * process per file, since SimGrid keeps one platform per process.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/s4u.hpp>

extern "C" {
#include "platforms/machine_desc.h"
}
#include "tests/suite.h"
#include "tests/unit/random_machine.h"

namespace sg4 = simgrid::s4u;

static bool near(double a, double b)
{
    return std::fabs(a - b) <= 1e-12 * std::fmax(std::fabs(a), std::fabs(b));
}

static int complain(const char *what, const std::string &which)
{
    fprintf(stderr, "# %s: %s\n", what, which.c_str());
    return 1;
}

static int compare_hosts(const orr_machine_desc *desc, sg4::Engine &engine)
{
    if (engine.get_host_count() != desc->nhosts)
        return complain("number of hosts", desc->name);
    for (unsigned i = 0; i < desc->nhosts; i++) {
        const orr_host_desc &host = desc->hosts[i];
        sg4::Host *theirs = engine.host_by_name_or_null(host.id);

        if (!theirs || !near(theirs->get_speed(), host.speed))
            return complain("host", host.id);
        for (unsigned j = 0; j < host.nprops; j++) {
            const char *value = theirs->get_property(host.props[j].id);

            if (!value || strcmp(value, host.props[j].value) != 0)
                return complain("property", host.props[j].id);
        }
    }
    return 0;
}

static int compare_link(const orr_link_desc &link, const std::string &name,
                        sg4::Engine &engine)
{
    sg4::Link *theirs = engine.link_by_name_or_null(name);
    bool fat = link.sharing == ORR_LINK_FATPIPE;

    if (!theirs || !near(theirs->get_bandwidth(), link.bandwidth) ||
        !near(theirs->get_latency(), link.latency))
        return complain("link", name);
    if (fat !=
        (theirs->get_sharing_policy() == sg4::Link::SharingPolicy::FATPIPE))
        return complain("sharing of link", name);
    return 0;
}

static int compare_links(const orr_machine_desc *desc, sg4::Engine &engine)
{
    int wrong = 0;

    for (unsigned i = 0; i < desc->nlinks; i++) {
        const orr_link_desc &link = desc->links[i];
        std::string name = link.id;

        if (link.sharing == ORR_LINK_SPLITDUPLEX)
            wrong |= compare_link(link, name + "_UP", engine) |
                     compare_link(link, name + "_DOWN", engine);
        else
            wrong |= compare_link(link, name, engine);
    }
    return wrong;
}

static int compare_route(const orr_machine_desc *desc,
                         const orr_route_desc &route, sg4::Engine &engine)
{
    static const char *const halves[] = {"", "_UP", "_DOWN"};
    std::string src = desc->hosts[route.src].id;
    std::string dst = desc->hosts[route.dst].id;
    std::vector<sg4::Link *> links;

    engine.host_by_name(src)->route_to(engine.host_by_name(dst), links,
                                       nullptr);
    if (links.size() != route.nhops)
        return complain("length of route", src + " to " + dst);
    for (unsigned i = 0; i < route.nhops; i++) {
        const orr_hop_desc &hop = route.hops[i];
        std::string name = desc->links[hop.link].id;

        if (links[i]->get_name() != name + halves[hop.direction])
            return complain("route", src + " to " + dst);
    }
    return 0;
}

/* In the child: 0 when SimGrid sees what the description has. */
static int compare(const orr_machine_desc *desc, const char *path)
{
    char program[] = "test", quiet[] = "--log=root.thres:error";
    char *arguments[] = {program, quiet, nullptr};
    int count = 2, wrong;
    sg4::Engine engine(&count, arguments);

    engine.load_platform(path);
    wrong = compare_hosts(desc, engine) | compare_links(desc, engine);
    for (unsigned i = 0; i < desc->nroutes && !wrong; i++)
        wrong = compare_route(desc, desc->routes[i], engine);
    return wrong;
}

static unsigned tests, failures;

static void report(bool passed, const std::string &claim)
{
    tests++;
    failures += !passed;
    printf("%s %u - %s\n", passed ? "ok" : "not ok", tests, claim.c_str());
    fflush(stdout);
}

static bool agrees(const orr_machine_desc *desc, const char *path)
{
    int status;
    pid_t child = fork();

    if (child < 0)
        return false;
    if (child == 0) {
        int wrong = compare(desc, path);

        fflush(nullptr);
        _exit(wrong);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Writes the description anew and lets SimGrid read that. */
static bool accepted(const orr_machine_desc *desc, const std::string &folder)
{
    std::string stem = folder + "/m", path = stem + ".platform.xml";
    orr_error err = {};
    bool good;

    good = orr_machine_desc_write(desc, path.c_str(), &err) == 0;
    if (!good)
        complain("not written", err.text);
    good = good && agrees(desc, path.c_str());
    unlink(path.c_str());
    unlink((stem + ".bandwidth").c_str());
    unlink((stem + ".latency").c_str());
    return good;
}

static void check_file(const std::string &path, const std::string &folder,
                       bool as_it_is)
{
    orr_machine_desc *desc = nullptr;
    orr_error err = {};

    if (orr_machine_desc_read(path.c_str(), &desc, &err)) {
        report(false, err.text);
        return;
    }
    if (as_it_is)
        report(agrees(desc, path.c_str()), path + " is read as SimGrid does");
    report(accepted(desc, folder), path + " is written for SimGrid");
    orr_machine_desc_free(desc);
}

static int visit(const orr_machine_entry *entry, void *folder)
{
    check_file(entry->path, *static_cast<std::string *>(folder), true);
    return 0;
}

static void check_random(const std::string &folder)
{
    for (unsigned seed = 0; seed < 300; seed++) {
        orr_machine_desc *desc = random_machine(seed);

        report(accepted(desc, folder),
               "SimGrid accepts random machine " + std::to_string(seed));
        orr_machine_desc_free(desc);
    }
}

int main()
{
    char place[] = "/tmp/orrery-simgrid-XXXXXX";
    std::string folder;

    if (!mkdtemp(place))
        return EXIT_FAILURE;
    folder = place;
    unsetenv("ORRERY_PLATFORM_DIR");
    orr_machine_desc_list(nullptr, visit, &folder);
    if (const char *shared = suite_shared("sampling/bus")) {
        std::string bus = std::string(shared) + "/";

        for (const char *name : {"mirage", "attila"}) {
            check_file(bus + name + ".platform.v4.xml", folder, true);
            /* Version 3: SimGrid itself refuses it. */
            check_file(bus + name + ".platform.xml", folder, false);
        }
    } else {
        printf("ok %u - SimGrid reads real bus folders # SKIP no sampling/bus "
               "in ORRERY_SHARED\n",
               ++tests);
        fflush(stdout); /* children have copies of what is not written yet */
    }
    check_random(folder);
    rmdir(place);
    printf("1..%u\n", tests);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
