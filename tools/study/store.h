/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/study/store.h - the folder that keeps results: files NAME.jsonl, a line of JSON for
 * each run, added as it ends. Several commands may add to one folder, and files of other
 * folders, and machines, may be put there: all of them are read. One thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/common/report.h"
#include "tools/common/sha256.h"
#include "tools/study/study.h"

/* What a run gave. Numbers are NaN where they are not known. */
struct study_result {
    bool there;
    char *problem; /* owned: why it failed; NULL: it did not */
    char *policy;  /* owned: that ran */
    char *figures; /* owned: where the machine's come from; NULL: not known */
    double makespan_us, flops, tasks, moved_bytes, message_bytes, evictions, idle, energy_j;
};
void study_result_done(struct study_result *result);

/* Those of the report of a run. Errors: -1, out of memory, without a message. */
int study_result_of(const struct report *report, struct study_result *ret);

struct study_store;

/* Reads all files of the folder, which is made if there is none, and opens the one to add to,
 * NULL: nothing will be added. A line that was cut off is passed over. Says what is wrong;
 * returns an exit code. */
int study_store_open(const char *folder, const char *file, struct study_store **ret);
void study_store_close(struct study_store *store);

/* The result of that key, the last one that went well; else the last that failed. Lent until
 * the next is added; NULL: none. */
const json_t *study_store_find(const struct study_store *store, const char *key);

/* That result as such; its texts are owned by *ret. Errors: -1, out of memory. */
int study_store_read(const json_t *line, struct study_result *ret);

/* Adds a line, by one call. What cannot be written is said once: then nothing more is. */
void study_store_add(struct study_store *store, const char *key, const struct study_run *run,
                     const struct study_result *result);

/* Whether all was written. */
bool study_store_is_good(const struct study_store *store);
