/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/untrusted.c - see untrusted.h. One thread. */
#include "tools/common/untrusted.h"

#include <stdio.h>
#include <string.h>

void untrusted_add(json_t *list, json_t *finding)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), finding))
            return;
    json_array_append(list, finding);
}

void untrusted_join(json_t *all, const json_t *report)
{
    json_t *list = json_object_get(all, "untrusted"), *one;
    size_t i;

    if (!list) {
        list = json_array();
        json_object_set_new(all, "untrusted", list);
    }
    json_array_foreach(json_object_get(report, "untrusted"), i, one)
        untrusted_add(list, one);
}

bool untrusted_any(const json_t *report)
{
    return json_array_size(json_object_get(report, "untrusted")) > 0;
}

static const char *untrusted_text(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : "";
}

static bool is_same_kernel(const json_t *a, const json_t *b)
{
    return !strcmp(untrusted_text(a, "kernel"), untrusted_text(b, "kernel")) &&
           !strcmp(untrusted_text(a, "architecture"),
                   untrusted_text(b, "architecture"));
}

/* The first of its kernel and architecture, and how many more there are; nothing
 * for the others. */
static void print_untrusted_kernel(const json_t *list, size_t i,
                                   const char *indent)
{
    const json_t *one = json_array_get(list, i);
    const char *footprint = untrusted_text(one, "footprint");
    size_t more = 0;

    for (size_t j = 0; j < i; j++)
        if (is_same_kernel(json_array_get(list, j), one))
            return;
    for (size_t j = i + 1; j < json_array_size(list); j++)
        more += is_same_kernel(json_array_get(list, j), one);
    printf("%s%s %s%s%s: %s", indent, untrusted_text(one, "kernel"),
           untrusted_text(one, "architecture"), *footprint ? " " : "",
           footprint, untrusted_text(one, "text"));
    if (more)
        printf("; and %zu more error%s", more, more > 1 ? "s" : "");
    putchar('\n');
}

void untrusted_print(const json_t *report, const char *indent)
{
    const json_t *list = json_object_get(report, "untrusted");
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n; i++)
        print_untrusted_kernel(list, i, indent);
    if (n)
        printf("%*sorrery perfmodel check, with the same -m, says what to do\n",
               (int)strlen(indent), "");
}
