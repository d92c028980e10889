/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/runs.h - the file of `orrery compare --runs`: what each run gave, a
 * line of JSON each, written as they end. A comparison that was interrupted goes on
 * from there. One thread.
 */
#pragma once

struct comparison;
struct launch;
struct runs;

/* Opens the file for the comparison, or makes it. Runs that it has are filled in:
 * they are kept, with their reports. A line that was cut off is dropped. *ret is
 * ended with runs_close. Errors: a message and -1, for a file that cannot be written
 * or is of another program, other times or another version; it is as before then. */
int runs_open(struct comparison *comparison, const char *path,
              struct runs **ret);

/* Appends a run that went well. What cannot be written is said once. */
void runs_add(struct runs *runs, const struct comparison *comparison,
              const struct launch *launch);

/* NULL is none. */
void runs_close(struct runs *runs);
