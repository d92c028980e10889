/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/variables.h - environment variables with names that nothing reads.
 * One thread.
 */
#pragma once

/* Calls tell for each variable STARPU_… or ORRERY_… that is set and that nothing
 * reads; `near` is the one that may be meant, or NULL. Returns how many there are,
 * -1 without memory. */
int variables_each_unknown(void (*tell)(const char *name, const char *value,
                                        const char *near, void *arg),
                           void *arg);

/* Warns of those that are near to a name that is read: the program would run with
 * its default without a word. */
void variables_warn(void);
