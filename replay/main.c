/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/main.c - a program that plays a record. `orrery replay` runs it, and the
 * other commands where a record stands in the place of a program.
 *
 *     play-record FILE
 *     play-record --jobs=SOCKET
 *
 * The second plays records that come one after the other on that descriptor: jobs.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read.h"
#include "replay/jobs.h"
#include "replay/player.h"
#include "replay/ranks/machine.h"
#include "replay/ranks/pages.h"
#include "replay/ranks/ranks.h"

static void exit_failed(void *arg)
{
    (void)arg;
    exit(1);
}

static int play(const char *path)
{
    static const struct orr_player_host host = {.fail = exit_failed};
    struct player *player;
    struct orr_error err;
    int rc, n;

    n = orr_record_ranks(path, &err);
    if (n > 0)
        return ranks_play_on_machine(path, (unsigned)n, &host) ? 1 : 0;
    if (n < 0 || player_ops.open(path, &host, &player, &err) != 0) {
        fprintf(stderr, "orrery: error: %s\n", err.text);
        return 1;
    }
    rc = player_ops.play(player);
    player_ops.close(player);
    return rc ? 1 : 0;
}

/* What is wrong with the file, `play` says. */
static void widen_pages(char **argv)
{
    struct orr_error err;
    int n = orr_record_ranks(argv[1], &err);

    if (n > 0)
        ranks_widen_pages((unsigned)n, argv);
}

int main(int argc, char **argv)
{
    static const char jobs[] = "--jobs=";

    if (argc == 2 && strncmp(argv[1], jobs, strlen(jobs)) == 0)
        return jobs_serve(atoi(argv[1] + strlen(jobs)), play);
    if (argc != 2) {
        fprintf(stderr, "usage: play-record FILE, see orrery replay --help\n");
        return 2;
    }
    widen_pages(argv);
    return play(argv[1]);
}
