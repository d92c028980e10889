/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfmodel/model_private.h - what model.c and model_disk.c share. Others use
 * model.h.
 */
#pragma once

#include "perfmodel/model.h"

#include <pthread.h>
#include <stdatomic.h>

struct orr_models {
    pthread_mutex_t lock;
    struct orr_model *first;             /* [lock] owned, the newest first */
    const struct orr_sampling *sampling; /* [const] borrowed */
    char *host;                          /* [const] owned */
    struct orr_combs *combs;             /* [const] owned */
    unsigned homogeneous;                /* [const] */
    bool simulated;                      /* [const] */
    struct orr_measure_rules rules;      /* [const] */
    atomic_int calibrate;                /* [atomic] only ever 0 to 1 */
    _Atomic uint32_t version;            /* [atomic] orr_model_news */
};

struct orr_model {
    struct orr_models *models; /* [const] borrowed */
    struct orr_model *next;    /* [const] once in the list */
    char *symbol;              /* [const] owned */
    enum orr_model_kind kind;  /* [const] */
    int status;                /* [const] 0, or why it could not be loaded */
    struct orr_error words;    /* [const] the same in words */
    pthread_mutex_t lock;      /* guards adding to history */
    struct orr_history history;
    atomic_bool benchmarking; /* [atomic] only ever false to true */
    atomic_bool few_told;     /* [atomic] the warning was given */
    _Atomic uint32_t version; /* [atomic] orr_model_news */
    /* [saver] one at a time */
    char *path;                     /* owned; the file, NULL while none */
    struct orr_model_file *dropped; /* owned; what the file held when a
                                     * calibration from scratch began, and
                                     * still holds; NULL otherwise */
};

/* Cached figures of the model are stale. */
void orr_model_news(struct orr_model *model);

/* Reads the model's file into a model that nobody else knows yet. Errors:
 * -ENOMEM; others with words. */
int orr_model_load(struct orr_model *model, struct orr_error *err);
