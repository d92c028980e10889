/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/assume.c - see assume.h. One thread. */
#include "tools/common/assume.h"

#include <stdio.h>

/* "81.9 us, derived"; of several the range. */
static void print_overruled(const json_t *overruled)
{
    json_int_t n = json_integer_value(json_object_get(overruled, "kernels"));
    double least = json_number_value(json_object_get(overruled, "least_us"));
    double most = json_number_value(json_object_get(overruled, "most_us"));

    if (n > 1)
        printf("%lld figures of ", (long long)n);
    printf("%.4g", least);
    if (most > least)
        printf(" to %.4g", most);
    printf(" us, %s",
           json_string_value(json_object_get(overruled, "origin")));
}

/* What came of it that a reader would not expect. */
static void print_effect(const json_t *report, const json_t *one)
{
    const json_t *replaced = json_object_get(one, "replaced");
    const json_t *behind = json_object_get(one, "behind");
    const char *unused = json_string_value(json_object_get(one, "unused"));
    const char *elsewhere =
        json_string_value(json_object_get(one, "elsewhere"));
    const char *machine =
        json_string_value(json_object_get(report, "machine"));

    if (unused) {
        printf("  (not used: ");
        if (elsewhere)
            printf("it is for %s, and this is %s", elsewhere,
                   machine ? machine : "another machine");
        else
            fputs(unused, stdout);
        if (behind) {
            printf(", ");
            print_overruled(behind);
        }
        putchar(')');
        return;
    }
    if (replaced) {
        printf("  (%.4g us instead of ",
               json_number_value(json_object_get(replaced, "by_us")));
        print_overruled(replaced);
        putchar(')');
    }
    if (behind) {
        printf("  (but not where there is a time: ");
        print_overruled(behind);
        putchar(')');
    }
}

void assume_print(const json_t *report, const char *indent)
{
    const json_t *list = json_object_get(report, "assumptions"), *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *text = json_string_value(json_object_get(one, "text"));

        printf("%s%s", indent, text ? text : "?");
        print_effect(report, one);
        putchar('\n');
    }
}
