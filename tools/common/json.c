/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/json.c - see json.h. One thread. */
#include "tools/common/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

json_t *tool_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

int tool_json_print(json_t *json)
{
    int rc =
        json && json_dumpf(json, stdout, JSON_INDENT(2)) == 0 ? 0 : -ENOMEM;

    if (rc == 0)
        putchar('\n');
    json_decref(json);
    return rc;
}
