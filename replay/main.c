/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * replay/main.c - a program that plays a record. `orrery replay` runs it, and the
 * other commands where a record stands in the place of a program.
 *
 *     play-record FILE
 */
#include <stdio.h>
#include <stdlib.h>

#include "replay/player.h"

static void exit_failed(void *arg)
{
    (void)arg;
    exit(1);
}

int main(int argc, char **argv)
{
    static const struct orr_player_host host = {.fail = exit_failed};
    struct player *player;
    struct orr_error err;
    int rc;

    if (argc != 2) {
        fprintf(stderr, "usage: play-record FILE, see orrery replay --help\n");
        return 2;
    }
    if (player_ops.open(argv[1], &host, &player, &err) != 0) {
        fprintf(stderr, "orrery: error: %s\n", err.text);
        return 1;
    }
    rc = player_ops.play(player);
    player_ops.close(player);
    return rc ? 1 : 0;
}
