/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/models.h - how records write the types of performance models. */
#pragma once

/* Which functions the application's model had: `flags`. What they return comes
 * with each task. */
enum {
    ORR_MODEL_FOOTPRINTS = 1,
    ORR_MODEL_SIZES = 2,
    ORR_MODEL_TIMES = 4,
    /* The times of tasks are those of some run: they hold where the machine
     * knows none, and then its models also say which workers can run the
     * kernel. */
    ORR_MODEL_HINTS = 8,
};

/* The word for an enum starpu_perfmodel_type; NULL: there is none. */
const char *orr_model_type_word(int type);

/* The type of a word, -1: there is none. */
int orr_model_type_find(const char *word);
