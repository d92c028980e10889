/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/assume.c - see assume.h. One thread. */
#include "tools/common/assume.h"

#include <stdio.h>

void assume_print(const json_t *report, const char *indent)
{
    const json_t *list = json_object_get(report, "assumptions"), *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *text = json_string_value(json_object_get(one, "text"));
        const json_t *replaced = json_object_get(one, "replaced");
        const char *origin =
            json_string_value(json_object_get(replaced, "origin"));
        const char *remark = "";

        if (json_is_false(json_object_get(one, "used")))
            remark = json_is_true(json_object_get(one, "kernel"))
                         ? "  (not used: the kernel has a time of its own there)"
                         : "  (not used: no task had such a kernel)";
        printf("%s%s%s", indent, text ? text : "?", remark);
        if (origin)
            printf("  (%.4g us instead of %.4g us, %s)",
                   json_number_value(json_object_get(replaced, "by_us")),
                   json_number_value(json_object_get(replaced, "us")), origin);
        putchar('\n');
    }
}
