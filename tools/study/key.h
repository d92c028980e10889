/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/study/key.h - a run by all that its result depends on: equal keys are equal results.
 * One thread.
 */
#pragma once

#include "tools/common/sha256.h"
#include "tools/study/study.h"

/* The parts that runs share, hashed once. Zeroed to begin with. */
struct study_keys {
    const struct study *study; /* borrowed */
    char library[SHA256_TEXT];
    char environment[SHA256_TEXT];
    char (*programs)[SHA256_TEXT]; /* owned: the bytes of each with its inputs … */
    char (*machines)[SHA256_TEXT]; /* … of each machine with its models … */
    char (*policies)[SHA256_TEXT]; /* … and of files that are policies */
};

/* Reads all these files. Says what is wrong; returns an exit code. *ret is for
 * study_keys_done in any case. */
int study_keys_init(struct study_keys *ret, const struct study *study);
void study_keys_done(struct study_keys *keys);

void study_key(const struct study_keys *keys, const struct study_run *run,
               char ret[SHA256_TEXT]);
