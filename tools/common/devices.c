/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/devices.c - see devices.h. One thread. */
#include "tools/common/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/tool.h"

int devices_take(const char *command, const char *value)
{
    if (strcmp(value, "all") != 0 && strcmp(value, "program") != 0) {
        tool_error("%s: --devices `%s': the values are `all' and `program'",
                   command, value);
        return -1;
    }
    if (setenv("ORRERY_DEVICES", value, 1) < 0) {
        tool_error("out of memory");
        return -1;
    }
    return 0;
}

static const char *text_of(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text ? text : "";
}

static json_int_t number_of(const json_t *json, const char *key)
{
    return json_integer_value(json_object_get(json, key));
}

/* --- sentences --- */

/* "the program asks for 0 of 2 CUDA devices and 4 of 9 CPUs"; NULL without memory. */
static char *tell_counts(const json_t *held)
{
    const json_t *list = json_object_get(held, "counts"), *one;
    char *text = NULL;
    size_t size = 0, i;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    json_array_foreach(list, i, one)
    {
        const char *device = text_of(one, "device");

        fprintf(out, "%s%lld of %lld %s", i ? " and " : "the program asks for ",
                (long long)number_of(one, "asked"),
                (long long)number_of(one, "there"),
                strcmp(device, "CPU") != 0 ? device : "");
        fputs(strcmp(device, "CPU") != 0 ? " devices" : "CPUs", out);
    }
    fclose(out);
    return text;
}

/* Kernels of one reason, in words before and after the device, of one kernel and of
 * several; %s: what their `where' leaves. */
struct reason {
    const char *why;
    int timed; /* -1: either; 2: who knows, the program's own function would be asked */
    bool lifts;
    const char *one, *many, *end;
};

static const struct reason reasons[] = {
    {"where", 1, true, "is restricted to %s (where), and has a time on",
     "are restricted to %s (where), and have times on", ""},
    {"task where", 1, true, "has tasks that are kept by their own where from",
     "have tasks that are kept by their own where from", ""},
    {"function", 1, true, "has no function for",
     "have no functions for", ", but a time that is assumed for all devices"},
    {"function", 2, true, "has no function for", "have no functions for",
     ", where the program itself would be asked for times"},
    {"where", 0, false, "is restricted to %s (where), and has no time on",
     "are restricted to %s (where), and have no times on", ""},
    {"function", 0, false, "has no function for", "have no functions for",
     ", nor a time there"},
    {"can_execute", -1, false, "is kept by its can_execute from",
     "are kept by their can_execute from", ""},
    {"workers", -1, false, "has tasks that name their workers, which may not be",
     "have tasks that name their workers, which may not be", ""},
};

enum { NREASONS = sizeof(reasons) / sizeof(*reasons), SHOWN = 6 };

_Static_assert(NREASONS + 2 <= DEVICES_LINES, "one line each, and the counts'");

static bool is_of(const json_t *kernel, const struct reason *reason)
{
    const char *why = text_of(kernel, "why");
    int timed = !strcmp(why, "function") && json_is_true(json_object_get(kernel, "asked"))
                    ? 2
                    : json_is_true(json_object_get(kernel, "time"));

    return !strcmp(why, reason->why) && (reason->timed < 0 || timed == reason->timed);
}

/* Whether an earlier one of the reason has the same `key`. */
static bool is_repeated(const json_t *list, size_t at, const struct reason *reason,
                        const char *key)
{
    const char *name = text_of(json_array_get(list, at), key);

    for (size_t i = 0; i < at; i++)
        if (is_of(json_array_get(list, i), reason) &&
            !strcmp(text_of(json_array_get(list, i), key), name))
            return true;
    return false;
}

static unsigned count_kernels(const json_t *list, const struct reason *reason)
{
    unsigned n = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        n += is_of(json_array_get(list, i), reason) &&
             !is_repeated(list, i, reason, "kernel");
    return n;
}

/* "a, b and 3 more"; or the devices, "CUDA". */
static void print_names(FILE *out, const json_t *list, const struct reason *reason,
                        const char *key, unsigned most)
{
    unsigned n = 0, left = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!is_of(json_array_get(list, i), reason) ||
            is_repeated(list, i, reason, key))
            continue;
        if (n < most)
            fprintf(out, "%s%s", n ? ", " : "",
                    text_of(json_array_get(list, i), key));
        else
            left++;
        n++;
    }
    if (left)
        fprintf(out, " and %u more", left);
}

/* With what the first one's `where' leaves. */
static void print_words(FILE *out, const json_t *list, const struct reason *reason,
                        const char *words)
{
    const char *gap = strstr(words, "%s"), *left = "others";

    for (size_t i = json_array_size(list); i-- > 0;)
        if (is_of(json_array_get(list, i), reason) &&
            json_object_get(json_array_get(list, i), "left"))
            left = text_of(json_array_get(list, i), "left");
    if (gap)
        fprintf(out, "%.*s%s%s", (int)(gap - words), words, left, gap + 2);
    else
        fputs(words, out);
}

static char *tell_reason(const json_t *held, const struct reason *reason)
{
    const json_t *list = json_object_get(held, "kernels");
    unsigned n = count_kernels(list, reason);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return NULL;
    print_names(out, list, reason, "kernel", SHOWN);
    fputc(' ', out);
    print_words(out, list, reason, n == 1 ? reason->one : reason->many);
    fputc(' ', out);
    print_names(out, list, reason, "device", SHOWN);
    fputs(reason->end, out);
    fclose(out);
    return text;
}

/* --- all of it --- */

int devices_held(const json_t *report, struct devices_held *ret)
{
    const json_t *held = json_object_get(report, "held");
    const json_t *kernels = json_object_get(held, "kernels");
    bool counts = json_array_size(json_object_get(held, "counts")) > 0;
    size_t n = 0;

    *ret = (struct devices_held){
        .all = json_is_true(json_object_get(held, "all_devices"))};
    if (counts) {
        ret->liftable = ret->lines[n].lifts = true;
        ret->lines[n++].text = tell_counts(held);
    }
    for (size_t r = 0; r < NREASONS; r++) {
        if (!count_kernels(kernels, &reasons[r]))
            continue;
        ret->liftable |= reasons[r].lifts;
        ret->lines[n].lifts = reasons[r].lifts;
        ret->lines[n++].text = tell_reason(held, &reasons[r]);
    }
    for (size_t i = 0; i < n; i++)
        if (!ret->lines[i].text) {
            devices_done(ret);
            return -1;
        }
    return 0;
}

void devices_done(struct devices_held *held)
{
    for (size_t i = 0; i < DEVICES_LINES; i++) {
        free(held->lines[i].text);
        held->lines[i].text = NULL;
    }
}

void devices_print(const json_t *report, const char *label, const char *lifted)
{
    struct devices_held held;

    if (devices_held(report, &held) < 0)
        return;
    for (size_t i = 0; held.lines[i].text; i++)
        printf("%s%s\n", held.all && held.lines[i].lifts ? lifted : label,
               held.lines[i].text);
    if (held.liftable && !held.all)
        printf("%s--devices=all lifts that where there is a time\n", label);
    devices_done(&held);
}
