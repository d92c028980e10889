/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/doctor.c - see doctor.h. */
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "mpi/doctor.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/config.h"
#include "core/base/log.h"
#include "core/base/number.h"
#include "core/remote.h"
#include "mpi/rank.h"

/* Fewer say nothing of a program. */
enum { LEAST_TASKS = 100, LEAST_MESSAGES = 100 };

enum { BITS = 64 };

static void set_bit(uint64_t *words, unsigned bit)
{
    if (bit < ORR_DOCTOR_WORDS * BITS)
        words[bit / BITS] |= (uint64_t)1 << bit % BITS;
}

static unsigned count_bits(const uint64_t *words)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ORR_DOCTOR_WORDS; i++)
        n += (unsigned)__builtin_popcountll(words[i]);
    return n;
}

/* --- hosts --- */

struct host {
    const char *name;
    unsigned first, nranks, nworkers;
    uint64_t used[ORR_DOCTOR_WORDS], allowed[ORR_DOCTOR_WORDS];
};

/* The host of that rank, if no rank before is there: false if one is. */
static bool host_of(const struct orr_doctor_place *places, unsigned n, unsigned rank,
                    struct host *ret)
{
    *ret = (struct host){.name = places[rank].host, .first = rank};
    for (unsigned r = 0; r < n; r++) {
        if (strcmp(places[r].host, ret->name) != 0)
            continue;
        if (r < rank)
            return false;
        ret->nranks++;
        ret->nworkers += places[r].nworkers;
        for (unsigned i = 0; i < ORR_DOCTOR_WORDS; i++) {
            ret->used[i] |= places[r].used[i];
            ret->allowed[i] |= places[r].allowed[i];
        }
    }
    return true;
}

static void say_host(const struct host *host, orr_doctor_say *say, void *arg)
{
    unsigned used = count_bits(host->used), there = count_bits(host->allowed);
    unsigned share = there / host->nranks;
    char text[700];

    if (there >= host->nworkers)
        snprintf(text, sizeof(text),
                 "the %u ranks on %s have %u workers, all on %u of its %u processors, so "
                 "that they take turns there: have the launcher bind each rank to its own "
                 "(orrery run -n %u; Open MPI: mpirun --bind-to core --map-by slot:pe=%u; "
                 "MPICH: mpirun -bind-to core:%u) (ORRERY_MPI_WARN_CORES=0 leaves this out)",
                 host->nranks, host->name, host->nworkers, used, there, host->nranks, share,
                 share);
    else if (share > 0)
        snprintf(text, sizeof(text),
                 "the %u ranks on %s have %u workers and %u processors, so that they take "
                 "turns: give each rank its share, STARPU_NCPU=%u, or start it by orrery run "
                 "-n %u (ORRERY_MPI_WARN_CORES=0 leaves this out)",
                 host->nranks, host->name, host->nworkers, there, share, host->nranks);
    else
        snprintf(text, sizeof(text),
                 "the %u ranks on %s have %u workers and %u processor%s, so that they take "
                 "turns: have at most %u rank%s per host to measure speed "
                 "(ORRERY_MPI_WARN_CORES=0 leaves this out)",
                 host->nranks, host->name, host->nworkers, there, there == 1 ? "" : "s",
                 there, there == 1 ? "" : "s");
    say(arg, text);
}

static void judge_processors(const struct orr_doctor_place *places, unsigned n,
                             orr_doctor_say *say, void *arg)
{
    struct host host;

    for (unsigned r = 0; r < n; r++)
        if (host_of(places, n, r, &host) && host.nranks > 1 &&
            host.nworkers > count_bits(host.used) && count_bits(host.used) > 0)
            say_host(&host, say, arg);
}

/* --- devices --- */

static bool has_device(const struct orr_doctor_place *place, const char *device)
{
    for (unsigned d = 0; d < place->ndevices; d++)
        if (!strcmp(place->devices[d], device))
            return true;
    return false;
}

/* The rank behind `rank` on its host that uses the device, too; n: none. */
static unsigned other_user(const struct orr_doctor_place *places, unsigned n, unsigned rank,
                           const char *device)
{
    unsigned r = rank + 1;

    while (r < n && (strcmp(places[r].host, places[rank].host) != 0 ||
                     !has_device(&places[r], device)))
        r++;
    return r;
}

/* The first one of the rank's that others use; true if it was said. */
static bool say_device(const struct orr_doctor_place *places, unsigned n, unsigned rank,
                       orr_doctor_say *say, void *arg)
{
    char text[500];

    for (unsigned d = 0; d < places[rank].ndevices; d++) {
        const char *device = places[rank].devices[d];
        unsigned other = other_user(places, n, rank, device);

        if (other == n)
            continue;
        snprintf(text, sizeof(text),
                 "the ranks %u and %u on %s use the same GPU, %s, and do not know how much of "
                 "its memory and time the other one has: give each rank its own "
                 "(CUDA_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES, or "
                 "STARPU_WORKERS_CUDAID, by the launcher's number of the rank on its host), "
                 "or none to all but one (STARPU_NCUDA=0, STARPU_NHIP=0) "
                 "(ORRERY_MPI_WARN_DEVICES=0 leaves this out)",
                 rank, other, places[rank].host, device);
        say(arg, text);
        return true;
    }
    return false;
}

static void judge_devices(const struct orr_doctor_place *places, unsigned n,
                          orr_doctor_say *say, void *arg)
{
    struct host host;

    for (unsigned first = 0; first < n; first++) {
        bool said = !host_of(places, n, first, &host);

        for (unsigned r = first; r < n && !said; r++)
            said = !strcmp(places[r].host, host.name) && say_device(places, n, r, say, arg);
    }
}

void orr_doctor_judge_places(const struct orr_config *config,
                             const struct orr_doctor_place *places, unsigned n,
                             orr_doctor_say *say, void *arg)
{
    if (orr_config_bool(config, ORR_CFG_MPI_WARN_CORES))
        judge_processors(places, n, say, arg);
    if (orr_config_bool(config, ORR_CFG_MPI_WARN_DEVICES))
        judge_devices(places, n, say, arg);
}

/* --- tasks and messages --- */

void orr_doctor_judge_work(const struct orr_config *config,
                           const struct orr_doctor_work *works, unsigned n,
                           orr_doctor_say *say, void *arg)
{
    struct orr_doctor_work all = {0};
    char text[500];
    double each;

    for (unsigned r = 0; r < n; r++) {
        all.tasks += works[r].tasks;
        all.messages += works[r].messages;
        all.tasks_us += works[r].tasks_us;
        all.messages_us += works[r].messages_us;
    }
    all.messages /= 2; /* both ranks count each */
    if (!orr_config_bool(config, ORR_CFG_MPI_WARN_GRAIN) || all.tasks < LEAST_TASKS || all.messages < LEAST_MESSAGES ||
        all.messages_us <= all.tasks_us)
        return;
    each = (double)all.messages / (double)all.tasks;
    orr_snprintf(text, sizeof(text),
                 "tasks are too small for the network: they took %.1f us on average, and "
                 "each message %.1f us of the threads MPI, with %.1f messages per task; data "
                 "in larger blocks give longer tasks and fewer messages "
                 "(ORRERY_MPI_WARN_GRAIN=0 leaves this out)",
                 all.tasks_us / (double)all.tasks,
                 all.messages_us / (double)all.messages, each);
    say(arg, text);
}

/* --- what a rank says of itself --- */

static void take_allowed(struct orr_doctor_place *place)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            set_bit(place->allowed, cpu);
}

/* A worker that is not bound may run on any processor of the process. */
static void take_worker(const struct orr_worker_desc *worker, struct orr_doctor_place *place)
{
    if (worker->type != STARPU_CPU_WORKER)
        return;
    place->nworkers++;
    if (worker->cpu >= 0) {
        set_bit(place->used, (unsigned)worker->cpu);
        set_bit(place->allowed, (unsigned)worker->cpu);
        return;
    }
    for (unsigned i = 0; i < ORR_DOCTOR_WORDS; i++)
        place->used[i] |= place->allowed[i];
}

static void take_place(const struct orr_machine *machine, struct orr_doctor_place *place)
{
    *place = (struct orr_doctor_place){.nworkers = 0};
    if (gethostname(place->host, sizeof(place->host) - 1) != 0)
        snprintf(place->host, sizeof(place->host), "this host");
    take_allowed(place);
    for (unsigned w = 0; w < machine->nworkers; w++)
        take_worker(&machine->workers[w], place);
    for (unsigned d = 0; d < machine->nnodes && place->ndevices < ORR_DOCTOR_DEVICES; d++)
        if (*machine->nodes[d].bus)
            snprintf(place->devices[place->ndevices++], sizeof(place->devices[0]), "%s",
                     machine->nodes[d].bus);
}

/* --- meeting --- */

static void warn(void *arg, const char *text)
{
    (void)arg;
    orr_log_warning("%s", text);
}

/* What all say, `bytes` each; owned. NULL where it is not known. */
static void *gather(struct orr_rank *rank, const void *mine, size_t bytes, const char *call)
{
    struct orr_meeting meeting = {
        .kind = ORR_MEETING_GATHER, .mine = mine, .bytes = bytes};
    void *all = calloc((size_t)rank->size, bytes);

    if (!all)
        orr_rank_fail(rank, "%s: out of memory", call);
    meeting.all = all;
    if (orr_rank_meet(rank, &meeting, call) == 0)
        return all;
    free(all);
    return NULL;
}

static bool has_others(const struct orr_rank *rank)
{
    return rank->size > 1 && !rank->conf.pretended_size && !rank->rt->exec->virtual_time;
}

static bool may_meet(const struct orr_doctor_place *a, const struct orr_doctor_place *b)
{
    bool ret = false;

    for (unsigned i = 0; i < ORR_DOCTOR_WORDS; i++)
        ret |= (a->allowed[i] & b->allowed[i]) != 0;
    return ret && !strcmp(a->host, b->host);
}

unsigned orr_doctor_sharers(const struct orr_doctor_place *places, unsigned n,
                            unsigned rank)
{
    unsigned found = 0;

    for (unsigned r = 0; r < n; r++)
        found += r != rank && may_meet(&places[r], &places[rank]);
    return found;
}

void orr_doctor_open(struct orr_rank *rank, const char *call)
{
    struct orr_doctor_place mine, *all;
    unsigned n = (unsigned)rank->size, sharers;

    if (!has_others(rank))
        return;
    take_place(rank->rt->machine, &mine);
    all = gather(rank, &mine, sizeof(mine), call);
    if (all) {
        sharers = orr_doctor_sharers(all, n, (unsigned)rank->number);
        rank->shares_processors = sharers > 0;
        atomic_store(&rank->is_crowded,
                     count_bits(mine.allowed) / (sharers + 1) <= mine.nworkers);
        if (rank->number == 0)
            orr_doctor_judge_places(&rank->rt->config, all, n, warn, NULL);
    }
    free(all);
}

/* What the carrier has counted, which it alone reads. */
struct count {
    struct orr_errand errand;
    struct orr_doctor_work *work;
};

static void take_count(struct orr_rank *rank, struct orr_errand *errand)
{
    struct orr_doctor_work *work = orr_container(errand, struct count, errand)->work;

    work->messages = rank->nended;
    work->messages_us = rank->carried_us;
}

void orr_doctor_close(struct orr_rank *rank, const char *call)
{
    struct orr_doctor_work mine = {0}, *all;
    struct count count = {.errand = {.run = take_count}, .work = &mine};
    struct orr_remote_work work;

    if (!has_others(rank))
        return;
    (void)orr_rank_ask(rank, &count.errand, call);
    orr_remote_count_work(rank->rt, &work);
    mine.tasks = work.tasks;
    mine.tasks_us = work.busy_us;
    all = gather(rank, &mine, sizeof(mine), call);
    if (all && rank->number == 0)
        orr_doctor_judge_work(&rank->rt->config, all, (unsigned)rank->size, warn, NULL);
    free(all);
}
