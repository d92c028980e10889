/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tests/random/feature_set.c - see feature_set.h. */
#include "feature_set.h"

#include <string.h>

static const struct {
    const char *name;
    int on;
    const char *sentence;
} features[NFEATURES] = {
#define FEATURE_ROW(id, name, on, sentence)                                    \
    [FEATURE_##id] = {name, on, sentence},
    FEATURES(FEATURE_ROW)
#undef FEATURE_ROW
};

uint64_t features_default(void)
{
    uint64_t set = 0;

    for (int f = 0; f < NFEATURES; f++)
        if (features[f].on)
            set |= feature_bit((enum feature)f);
    return set;
}

static int find(const char *name, size_t length)
{
    for (int f = 0; f < NFEATURES; f++)
        if (strlen(features[f].name) == length &&
            strncmp(features[f].name, name, length) == 0)
            return f;
    return -1;
}

const char *features_read(const char *names, uint64_t *set)
{
    uint64_t all = *set;

    while (*names) {
        size_t length = strcspn(names, ",");
        int f = find(names, length);

        if (length == 3 && strncmp(names, "all", 3) == 0)
            all |= feature_bit(NFEATURES) - 1;
        else if (f < 0)
            return names;
        else
            all |= feature_bit((enum feature)f);
        names += length + (names[length] == ',');
    }
    *set = all;
    return NULL;
}

void features_print(FILE *out)
{
    for (int f = 0; f < NFEATURES; f++)
        fprintf(out, "%-12s %-3s %s\n", features[f].name,
                features[f].on ? "on" : "off", features[f].sentence);
}
