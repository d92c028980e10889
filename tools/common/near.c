/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/near.c - see near.h. One thread. */
#include "tools/common/near.h"
#include "tools/common/tool.h"
#include "core/base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct suggestions {
    const char *typed;
    char *names; /* owned, separated by commas; NULL: none yet */
};

static int add_near(const struct perfmodel_item *item, void *arg)
{
    struct suggestions *suggestions = arg;
    char *longer;

    if (item->shadowed || !orr_words_near(suggestions->typed, item->symbol))
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
