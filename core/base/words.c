/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/words.c - see words.h. */
#include "core/base/words.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool are_equal(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Levenshtein 1966 with exchanges of neighbours (Damerau 1964), each letter
 * edited once. The table has a row for each letter of `a`, and one before. */
static size_t edit_distance_fill(const char *a, const char *b, size_t *table)
{
    size_t width = strlen(b) + 1, i;

    for (size_t j = 0; j < width; j++)
        table[j] = j;
    for (i = 0; a[i]; i++) {
        size_t *above = table + i * width, *row = above + width;

        row[0] = i + 1;
        for (size_t j = 0; j + 1 < width; j++) {
            size_t replaced = above[j] + !are_equal(a[i], b[j]);

            row[j + 1] = size_min(replaced, size_min(row[j], above[j + 1]) + 1);
            if (i > 0 && j > 0 && are_equal(a[i], b[j - 1]) &&
                are_equal(a[i - 1], b[j]))
                row[j + 1] = size_min(row[j + 1], (above - width)[j - 1] + 1);
        }
    }
    return table[i * width + width - 1];
}

size_t orr_words_distance(const char *a, const char *b)
{
    size_t *table = calloc((strlen(a) + 1) * (strlen(b) + 1), sizeof(*table));
    size_t found = table ? edit_distance_fill(a, b, table) : SIZE_MAX;

    free(table);
    return found;
}

/* Whether all letters of `part` occur in `whole`, in order. */
static bool is_abbreviation(const char *part, const char *whole)
{
    for (; *whole && *part; whole++)
        if (are_equal(*part, *whole))
            part++;
    return !*part;
}

size_t orr_words_tolerance(const char *typed, const char *name)
{
    size_t shorter = size_min(strlen(typed), strlen(name));

    if (shorter < 6)
        return shorter > 1;
    return shorter / 3;
}

bool orr_words_near(const char *typed, const char *name)
{
    size_t shorter = size_min(strlen(typed), strlen(name));

    if (shorter == 0)
        return false;
    if (shorter > 2 && strcasestr(typed, name))
        return true;
    if (shorter > 3 && is_abbreviation(typed, name))
        return true;
    return orr_words_distance(typed, name) <= orr_words_tolerance(typed, name);
}

const char *orr_words_nearest(const char *typed, const void *list,
                          const char *(*name)(const void *list, size_t i))
{
    size_t best = SIZE_MAX;
    const char *found = NULL, *word;

    for (size_t i = 0; (word = name(list, i)); i++) {
        size_t distance = orr_words_distance(typed, word);

        if (distance < best && distance <= orr_words_tolerance(typed, word)) {
            best = distance;
            found = word;
        }
    }
    return found;
}
