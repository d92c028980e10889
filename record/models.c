/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record/models.c - see models.h. */
#include "record/models.h"

#include <string.h>

#include <starpu.h>

static const char *const words[] = {
    [STARPU_PER_WORKER] = "per-worker",
    [STARPU_PER_ARCH] = "per-arch",
    [STARPU_COMMON] = "common",
    [STARPU_HISTORY_BASED] = "history",
    [STARPU_REGRESSION_BASED] = "regression",
    [STARPU_NL_REGRESSION_BASED] = "nl-regression",
    [STARPU_MULTIPLE_REGRESSION_BASED] = "multiple-regression",
};

enum { NTYPES = sizeof(words) / sizeof(*words) };

const char *orr_model_type_word(int type)
{
    return type >= 0 && type < NTYPES ? words[type] : NULL;
}

int orr_model_type_find(const char *word)
{
    for (int type = 0; type < NTYPES; type++)
        if (words[type] && !strcmp(words[type], word))
            return type;
    return -1;
}
