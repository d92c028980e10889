/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/player.h - the table that the module "replay" exports to core: an
 * application that makes the calls of a record (replay/).
 */
#pragma once

#include <stdbool.h>

#include "core/base/error.h"

struct player;

/* Of the program that has it played; borrowed. */
struct orr_player_host {
    /* Called in place of the end of the process, after a message; must not
     * return. */
    void (*fail)(void *arg);
    /* Whether the calls are to end with the one before: fail comes then. May be
     * NULL. */
    bool (*is_stopped)(void *arg);
    void *arg;
};

struct orr_player_ops {
    /* Errors: those of orr_record_open. */
    int (*open)(const char *path, const struct orr_player_host *host,
                struct player **ret, struct orr_error *err);
    /* Makes all calls, from starpu_init to starpu_shutdown. Returns 0, or what
     * starpu_init returned. */
    int (*play)(struct player *player);
    /* Frees it, also where fail has left the run. NULL is allowed. */
    void (*close)(struct player *player);
};
