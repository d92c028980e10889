/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/ranks.h - how many ranks the program has that is debugged. No state. */
#pragma once

struct launch;

/* A cluster says how many ranks there are, and so does a record; `ranks`, NULL or a number as it
 * was written, that they are so many. Returns an exit code, with a message. */
int debug_choose_ranks(struct launch *launch, const char *ranks);
