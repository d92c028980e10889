/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sim/options.c - see options.h. */
#include "sim/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"

static bool same_name(const char *written, const char *id)
{
    for (; *written && *id; written++, id++)
        if (*written != *id && !(*written == '_' && *id == '-'))
            return false;
    return *written == *id;
}

static double option_number(const char *text)
{
    char *end;
    double value;

    if (!strcmp(text, "yes") || !strcmp(text, "true") || !strcmp(text, "on"))
        return 1;
    if (!strcmp(text, "no") || !strcmp(text, "false") || !strcmp(text, "off"))
        return 0;
    value = orr_strtod(text, &end);
    return end == text || *end ? (double)NAN : value;
}

double orr_sim_option(const struct orr_machine_desc *desc, const char *id,
                      double usual)
{
    double value = usual;

    for (unsigned i = 0; i < desc->nconfig; i++)
        if (same_name(desc->config[i].id, id))
            value = option_number(desc->config[i].value);
    return value;
}
