/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/devices.h - the option --devices of commands that simulate: whether what
 * a program says about devices counts (ORRERY_DEVICES); and what it holds back. One
 * thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* Lines of the help of such commands. */
#define DEVICES_HELP                                                                  \
    "      --devices all        simulated: kernels run wherever they have a time, on\n" \
    "                             all devices, whatever the program says of them\n"

enum { DEVICES_LINES = 10 };

/* What a run's report says of what its program holds back. */
struct devices_held {
    bool all;      /* --devices=all: what it would hold back is lifted */
    bool liftable; /* that lifts, or would lift, something */
    struct {
        char *text; /* owned: a sentence without full stop; NULL: no more */
        bool lifts; /* --devices=all lifts it */
    } lines[DEVICES_LINES];
};

/* Gives what --devices says to all that this process starts. -1 with a message for
 * another value. */
int devices_take(const char *command, const char *value);

/* -1 without memory. The caller ends it with devices_done. */
int devices_held(const json_t *report, struct devices_held *ret);
void devices_done(struct devices_held *held);

/* Prints what the program of that report holds back, one line each behind `label`, or
 * what was lifted of it behind `lifted`; nothing without. */
void devices_print(const json_t *report, const char *label, const char *lifted);
