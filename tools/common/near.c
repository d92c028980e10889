/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/near.c - see near.h. One thread. */
#include "tools/common/near.h"
#include "tools/common/tool.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool are_equal(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Letters to insert, drop or replace (Levenshtein 1966), one row of the table
 * at a time. */
static size_t distance(const char *a, const char *b, size_t *row)
{
    size_t nb = strlen(b);

    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < nb; j++) {
            size_t replaced = diagonal + !are_equal(a[i], b[j]);

            diagonal = row[j + 1];
            row[j + 1] = least(replaced, least(row[j], row[j + 1]) + 1);
        }
    }
    return row[nb];
}

/* Whether all letters of `part` occur in `whole`, in order. */
static bool is_abbreviation(const char *part, const char *whole)
{
    for (; *whole && *part; whole++)
        if (are_equal(*part, *whole))
            part++;
    return !*part;
}

bool near_is(const char *typed, const char *name)
{
    size_t shorter = least(strlen(typed), strlen(name));
    size_t *row;
    bool near;

    if (shorter == 0)
        return false;
    if (shorter > 2 && strcasestr(typed, name))
        return true;
    if (shorter > 3 && is_abbreviation(typed, name))
        return true;
    row = calloc(strlen(name) + 1, sizeof(*row));
    near = row && distance(typed, name, row) <= (shorter < 6 ? 1 : shorter / 3);
    free(row);
    return near;
}

struct suggestions {
    const char *typed;
    char *names; /* owned, separated by commas; NULL: none yet */
};

static int add_near(const struct perfmodel_item *item, void *arg)
{
    struct suggestions *suggestions = arg;
    char *longer;

    if (item->shadowed || !near_is(suggestions->typed, item->symbol))
        return 0;
    longer = tool_format("%s%s%s", suggestions->names ? suggestions->names : "",
                         suggestions->names ? ", " : "", item->symbol);
    if (!longer)
        return -ENOMEM;
    free(suggestions->names);
    suggestions->names = longer;
    return 0;
}

void near_suggest(const struct perfmodel_place *place, const char *typed)
{
    char *symbol = strndup(typed, strcspn(typed, "."));
    struct suggestions suggestions = {symbol, NULL};

    if (symbol &&
        perfmodel_each(place, place->host, add_near, &suggestions) == 0 &&
        suggestions.names)
        tool_error("did you mean %s?", suggestions.names);
    free(suggestions.names);
    free(symbol);
}
