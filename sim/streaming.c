/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/streaming.c - see streaming.h. */
#include "sim/streaming.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/number.h"
#include "platforms/rates.h"

#define LEAST_SHARE 0.5 /* of a core's bandwidth, which bounds a kernel */
#define MOST_SHARE  2.0 /* the same: more is not all touched */

/* A kernel that streams; of each worker at most one. */
struct load {
    struct memory *memory; /* NULL: the worker executes none */
    struct orr_sim_work *work; /* the kernel's */
    double wants;              /* bytes per µs, if it is alone */
    bool open;                 /* while speeds are found */
};

/* A node of main memory. */
struct memory {
    double rate;      /* bytes per µs; 0: not stated */
    double link;      /* the most that copies take of it together */
    double copied;    /* what copies in flight would take, each alone */
    double wanted;    /* by all loads */
    unsigned nloads;
};

struct orr_streaming {
    struct orr_sim_exec *exec;
    const struct orr_machine *machine;
    unsigned nmain;
    double core; /* bytes per µs that one core can stream */
    struct memory *memories; /* [nmain] */
    struct load *loads;      /* [workers] */
};

/* ---- shares ---- */

static void load_set_speed(struct orr_streaming *s, struct load *load, double speed)
{
    load->open = false;
    orr_sim_work_set_rate(&s->exec->timers, s->exec->now, load->work, speed);
}

/* What loads that want less than an equal share leave is shared by the others. */
static void memory_share(struct orr_streaming *s, struct memory *memory)
{
    double left = memory->rate - fmin(memory->copied, memory->link);
    bool scarce = memory->wanted > left, found = true;
    unsigned nopen = memory->nloads;

    for (unsigned w = 0; w < s->machine->nworkers; w++)
        s->loads[w].open = s->loads[w].memory == memory;
    while (found && nopen > 0) {
        double share = left / nopen;

        found = false;
        for (unsigned w = 0; w < s->machine->nworkers; w++) {
            struct load *load = &s->loads[w];

            if (!load->open || (scarce && load->wants > share))
                continue;
            left -= load->wants;
            nopen--;
            found = true;
            load_set_speed(s, load, 1);
        }
    }
    for (unsigned w = 0; w < s->machine->nworkers; w++)
        if (s->loads[w].open)
            load_set_speed(s, &s->loads[w], left / nopen / s->loads[w].wants);
}

void orr_streaming_begin(struct orr_streaming *s, unsigned worker, double bytes,
                         double us)
{
    const struct orr_worker_desc *desc = &s->machine->workers[worker];
    double wants = us > 0 ? bytes / us : 0, core = s->core * desc->speed;
    struct memory *memory;
    struct load *load = &s->loads[worker];

    if (desc->type != STARPU_CPU_WORKER || desc->node >= s->nmain ||
        wants < LEAST_SHARE * core || wants > MOST_SHARE * core)
        return;
    memory = &s->memories[desc->node];
    if (!(memory->rate > 0))
        return;
    *load = (struct load){
        .memory = memory,
        .work = &((struct orr_sim_context *)orr_self)->work,
        .wants = wants};
    memory->nloads++;
    memory->wanted += wants;
    memory_share(s, memory);
}

void orr_streaming_end(struct orr_streaming *s, unsigned worker)
{
    struct load *load = &s->loads[worker];
    struct memory *memory = load->memory;

    if (!memory)
        return;
    load->memory = NULL;
    orr_sim_work_set_rate(&s->exec->timers, s->exec->now, load->work, 1);
    memory->nloads--;
    memory->wanted = memory->nloads ? memory->wanted - load->wants : 0;
    memory_share(s, memory);
}

void orr_streaming_copy(struct orr_streaming *s, unsigned node, double rate,
                        bool begins)
{
    if (node >= s->nmain)
        return;
    s->memories[node].copied += begins ? rate : -rate;
    if (s->memories[node].nloads)
        memory_share(s, &s->memories[node]);
}

/* ---- making ---- */

/* Bytes per µs of the narrowest link that all routes from and to a memory pass. */
static double memory_own_link(const struct orr_machine_desc *desc, unsigned host)
{
    double least = INFINITY;

    for (unsigned l = 0; l < desc->nlinks; l++) {
        bool all = true;

        for (unsigned r = 0; r < desc->nroutes && all; r++) {
            const struct orr_route_desc *route = &desc->routes[r];

            if (route->src != host && route->dst != host)
                continue;
            all = false;
            for (unsigned h = 0; h < route->nhops && !all; h++)
                all = route->hops[h].link == l;
        }
        if (all)
            least = fmin(least, desc->links[l].bandwidth * 1e-6);
    }
    return least;
}

/* Bytes per µs that a host states, else, of a machine that was measured, twice those
 * that copies of one or all processors moved: they read and write. 0: not known. */
static double memory_stated_rate(const struct orr_machine_desc *desc, int host,
                                 int copies_of, const char *measured)
{
    double rate = host < 0 ? (double)NAN
                           : orr_machine_desc_rate(desc, (unsigned)host,
                                                   ORR_RATE_MEMORY);
    const char *text =
        copies_of < 0 ? NULL : orr_host_desc_prop(&desc->hosts[copies_of], measured);

    if (!(rate > 0) && text)
        rate = 2 * orr_strtod(text, NULL);
    return rate > 0 ? rate * 1e-6 : 0;
}

int orr_streaming_new(const struct orr_machine_desc *desc,
                      const unsigned *endpoints, unsigned nmain,
                      const struct orr_machine *machine,
                      struct orr_sim_exec *exec, struct orr_streaming **ret)
{
    double core = memory_stated_rate(desc, orr_machine_desc_host(desc, "MAIN"),
                                     orr_machine_desc_host(desc, "RAM"),
                                     "orrery-copy-bandwidth");
    struct orr_streaming *s;
    bool any = false;

    *ret = NULL;
    if (!(core > 0))
        return 0;
    s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->exec = exec;
    s->machine = machine;
    s->nmain = nmain;
    s->core = core;
    s->memories = calloc(nmain, sizeof(*s->memories));
    s->loads = calloc(machine->nworkers, sizeof(*s->loads));
    if (!s->memories || !s->loads) {
        orr_streaming_free(s);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < nmain; i++) {
        double rate = memory_stated_rate(desc, (int)endpoints[i], (int)endpoints[i],
                                         "orrery-copy-bandwidth-all");

        s->memories[i].rate = rate;
        s->memories[i].link =
            fmin(memory_own_link(desc, endpoints[i]), 0.9 * rate);
        any |= rate > 0;
    }
    if (any)
        *ret = s;
    else
        orr_streaming_free(s);
    return 0;
}

void orr_streaming_free(struct orr_streaming *s)
{
    if (!s)
        return;
    free(s->memories);
    free(s->loads);
    free(s);
}
