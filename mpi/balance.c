/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* mpi/balance.c - see balance.h. */
#include "mpi/balance.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/insertion.h"
#include "core/base/grow.h"
#include "core/base/log.h"
#include "mpi/move.h"

/* A datum that has moved, and who owned it at first. */
struct moved {
    int64_t tag;
    int owner;
};

struct orr_balance {
    struct orr_balance_conf conf;
    int *neighbors; /* owned; the application's malloc() */
    int nneighbors;
    uint64_t every; /* numbers of tasks between comparisons */
    double ratio;   /* of the tasks that are done by then */
    double slower;  /* µs from which data are given away */

    bool counts;    /* a task had a number */
    uint64_t last;  /* that of the last comparison */
    unsigned nmine; /* tasks of this rank since */
    double since;   /* when that was, µs */
    struct moved *moved;
    size_t nmoved, room;
};

/* --- begin --- */

static void print_names(void)
{
    fprintf(stderr, "Policies of starpu_mpi_lb_init, or STARPU_MPI_LB:\n"
                    "  heat  slower ranks give data to their fastest neighbour\n");
}

void orr_balance_begin(struct orr_rank *rank, const char *name,
                       const struct orr_balance_conf *conf, const char *call)
{
    const struct orr_config *config = &rank->rt->config;
    const char *set = orr_config_string(config, ORR_CFG_MPI_LB);
    struct orr_balance *b;

    if (set)
        name = set;
    if (!name || strcmp(name, "help") == 0) {
        print_names();
        return;
    }
    if (strcmp(name, "heat") != 0) {
        orr_log_error("%s: there is no policy \"%s\": give \"heat\", or \"help\"; nothing "
                      "is balanced",
                      call, name);
        return;
    }
    if (rank->balance)
        orr_rank_fail(rank, "%s: called twice without starpu_mpi_lb_shutdown in between",
                      call);
    if (!conf || !conf->get_neighbors || !conf->get_data_unit_to_migrate)
        orr_rank_fail(rank, "%s: policy \"heat\" needs both functions of struct "
                            "starpu_mpi_lb_conf",
                      call);
    if (rank->conf.pretended_size)
        return;
    b = calloc(1, sizeof(*b));
    if (!b)
        orr_rank_fail(rank, "%s: out of memory", call);
    b->conf = *conf;
    b->every = (uint64_t)orr_config_int(config, ORR_CFG_LB_HEAT_SLEEP_THRESHOLD);
    b->every = b->every ? b->every : 1;
    b->ratio = orr_config_double(config, ORR_CFG_LB_HEAT_WAKEUP_RATIO);
    b->slower = orr_config_int(config, ORR_CFG_LB_HEAT_TIME_THRESHOLD);
    b->since = starpu_timing_now();
    conf->get_neighbors(&b->neighbors, &b->nneighbors);
    for (int i = 0; i < b->nneighbors; i++)
        if (b->neighbors[i] < 0 || b->neighbors[i] >= rank->size)
            orr_rank_fail(rank, "%s: get_neighbors says rank %d, and there are ranks 0 to "
                                "%d",
                          call, b->neighbors[i], rank->size - 1);
    rank->balance = b;
}

void orr_balance_set_elapsed(struct orr_rank *rank, double (*elapsed)(void))
{
    rank->elapsed = elapsed;
}

/* --- moves --- */

static void migrate(struct orr_rank *rank, int64_t tag, int to, const char *call)
{
    struct orr_datum *datum = orr_datum_find(rank, tag);

    /* A rank that does not know it does not use it. */
    if (datum && orr_move_migrate(rank, orr_rank_comm_at(rank, 0), datum->handle, to, call))
        orr_runtime_fail(rank->rt);
}

static void note(struct orr_rank *rank, int64_t tag, int owner)
{
    struct orr_balance *b = rank->balance;

    for (size_t i = 0; i < b->nmoved; i++)
        if (b->moved[i].tag == tag)
            return;
    if (orr_grow(&b->moved, &b->room, b->nmoved + 1, sizeof(*b->moved)))
        orr_rank_fail(rank, "out of memory for the balance of ranks");
    b->moved[b->nmoved++] = (struct moved){.tag = tag, .owner = owner};
}

void orr_balance_end(struct orr_rank *rank, const char *call)
{
    struct orr_balance *b = rank->balance;

    if (!b)
        return;
    for (size_t i = 0; i < b->nmoved; i++)
        migrate(rank, b->moved[i].tag, b->moved[i].owner, call);
    rank->balance = NULL;
    free(b->moved);
    free(b->neighbors);
    free(b);
}

/* --- comparisons --- */

static const char call_name[] = "starpu_mpi_task_insert, balancing";

/* What each rank gives, in the order of ranks; the caller frees it. */
static void *gather(struct orr_rank *rank, const void *mine, size_t bytes)
{
    void *all = calloc((size_t)rank->size, bytes);
    struct orr_meeting meeting = {
        .kind = ORR_MEETING_GATHER, .mine = mine, .all = all, .bytes = bytes};

    if (!all)
        orr_rank_fail(rank, "out of memory for the balance of ranks");
    if (orr_rank_meet(rank, &meeting, call_name))
        orr_runtime_fail(rank->rt);
    return all;
}

/* To whom this rank gives data: its fastest neighbour; -1: to nobody. */
static int choose(const struct orr_rank *rank, const double *times)
{
    const struct orr_balance *b = rank->balance;
    int fastest = -1;

    for (int i = 0; i < b->nneighbors; i++) {
        int r = b->neighbors[i];

        if (r != rank->number && (fastest < 0 || times[r] < times[fastest]))
            fastest = r;
    }
    return fastest >= 0 && times[rank->number] > times[fastest] + b->slower ? fastest : -1;
}

/* The data that it gives, of those that the application names. */
static size_t list_unit(struct orr_rank *rank, int to, int64_t **tags)
{
    starpu_data_handle_t *unit = NULL;
    size_t n = 0;
    int nunit = 0;

    *tags = NULL;
    if (to < 0)
        return 0;
    rank->balance->conf.get_data_unit_to_migrate(&unit, &nunit, to);
    if (nunit > 0 && !(*tags = calloc((size_t)nunit, sizeof(**tags))))
        orr_rank_fail(rank, "out of memory for the balance of ranks");
    for (int i = 0; i < nunit; i++) {
        const char *trouble = orr_handle_trouble(orr_handle_of(unit[i]));
        const struct orr_datum *datum =
            trouble ? NULL : orr_datum_of(orr_handle_of(unit[i]));

        if (!datum || datum->tag < 0 || datum->owner != rank->number ||
            datum->comm->number != 0)
            orr_rank_fail(rank, "get_data_unit_to_migrate: datum %d %s%s", i,
                          trouble ? "is " : "has no tag, or does not belong to this rank",
                          trouble ? trouble : "");
        (*tags)[n++] = datum->tag;
    }
    if (nunit > 0)
        free(unit);
    return n;
}

/* As many as a meeting takes. */
enum { SOME = 120 };
struct moves {
    int32_t to;
    uint32_t n;
    int64_t tags[SOME];
};

static void move_all(struct orr_rank *rank, int to, const int64_t *tags, size_t n)
{
    bool any = true;

    for (size_t at = 0; any;) {
        struct moves mine = {.to = to}, *all;
        size_t left = n - at;

        mine.n = (uint32_t)(left < SOME ? left : SOME);
        if (mine.n)
            memcpy(mine.tags, tags + at, mine.n * sizeof(*tags));
        at += mine.n;
        all = gather(rank, &mine, sizeof(mine));
        any = false;
        for (int r = 0; r < rank->size; r++) {
            any |= all[r].n == SOME;
            for (uint32_t i = 0; i < all[r].n; i++) {
                note(rank, all[r].tags[i], r);
                migrate(rank, all[r].tags[i], all[r].to, call_name);
            }
        }
        free(all);
    }
}

static void compare(struct orr_rank *rank)
{
    struct orr_balance *b = rank->balance;
    double mine, *times;
    int64_t *tags;
    size_t n;
    int to;

    if (b->ratio < 1)
        starpu_task_wait_for_n_submitted((unsigned)((1 - b->ratio) * b->nmine));
    else
        starpu_task_wait_for_all();
    mine = rank->elapsed ? rank->elapsed() : starpu_timing_now() - b->since;
    times = gather(rank, &mine, sizeof(mine));
    to = choose(rank, times);
    free(times);
    n = list_unit(rank, to, &tags);
    move_all(rank, to, tags, n);
    free(tags);
    b->nmine = 0;
    b->since = starpu_timing_now();
}

void orr_balance_inserted(struct orr_rank *rank, const struct orr_insertion *insertion,
                          bool executes)
{
    struct orr_balance *b = rank->balance;

    b->nmine += executes;
    for (unsigned i = 0; i < insertion->nargs; i++) {
        uint64_t number = insertion->args[i].ull;

        if (insertion->args[i].tag != STARPU_TAG_ONLY)
            continue;
        if (!b->counts || number < b->last) {
            b->counts = true;
            b->last = number;
        } else if (number - b->last >= b->every) {
            b->last = number;
            compare(rank);
        }
    }
}
