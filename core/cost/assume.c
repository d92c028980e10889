/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/assume.c - times that the user gives for kernels without a model.
 * Constant after it was read.
 */
#include "core/cost/assume.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"

/* A piece of text that is not terminated. */
struct piece {
    const char *begin, *end;
};

static struct piece trim(struct piece p)
{
    while (p.begin < p.end && isspace((unsigned char)*p.begin))
        p.begin++;
    while (p.begin < p.end && isspace((unsigned char)p.end[-1]))
        p.end--;
    return p;
}

static bool is_unit(struct piece p, const char *unit)
{
    size_t n = strlen(unit);

    return (size_t)(p.end - p.begin) == n && !memcmp(p.begin, unit, n);
}

/* µs; NaN for what is no time. */
static double read_time(struct piece p)
{
    char *after;
    double value;

    p = trim(p);
    if (p.begin == p.end)
        return NAN;
    /* What follows the piece, `;` or the end, is not part of a number. */
    value = strtod(p.begin, &after);
    if (after == p.begin || after > p.end || !isfinite(value) || value < 0)
        return NAN;
    p.begin = after;
    p = trim(p);
    if (is_unit(p, "") || is_unit(p, "us"))
        return value;
    if (is_unit(p, "ms"))
        return value * 1e3;
    return is_unit(p, "s") ? value * 1e6 : (double)NAN;
}

static struct piece read_name(struct piece p)
{
    static const char around[] = "kernel[";
    const size_t n = sizeof(around) - 1;

    p = trim(p);
    if ((size_t)(p.end - p.begin) > n && !memcmp(p.begin, around, n) &&
        p.end[-1] == ']')
        return trim((struct piece){p.begin + n, p.end - 1});
    return p;
}

static int add(struct orr_assumptions *a, struct piece name, double us)
{
    struct orr_assumption *all = realloc(a->all, (a->n + 1) * sizeof(*a->all));
    char *copy;

    if (!all)
        return -ENOMEM;
    a->all = all;
    copy = strndup(name.begin, (size_t)(name.end - name.begin));
    if (!copy)
        return -ENOMEM;
    all[a->n++] = (struct orr_assumption){copy, us};
    return 0;
}

static int read_part(struct orr_assumptions *a, struct piece part)
{
    const char *equals =
        memchr(part.begin, '=', (size_t)(part.end - part.begin));
    struct piece name = {part.begin, equals ? equals : part.end};
    double us = NAN;

    if (equals)
        us = read_time((struct piece){equals + 1, part.end});
    name = read_name(name);
    if (!isnan(us) && name.begin < name.end)
        return add(a, name, us);
    orr_log_warning("ORRERY_ASSUME: `%.*s' is left out; write a kernel and its "
                    "time, such as `kernel[init] = 50us'",
                    (int)(part.end - part.begin), part.begin);
    return 0;
}

int orr_assumptions_read(const char *text, struct orr_assumptions *ret)
{
    struct orr_assumptions a = {0};

    while (text && *text) {
        const char *end = strchrnul(text, ';');
        struct piece part = trim((struct piece){text, end});
        int err = part.begin < part.end ? read_part(&a, part) : 0;

        if (err) {
            orr_assumptions_done(&a);
            return err;
        }
        text = *end ? end + 1 : end;
    }
    *ret = a;
    return 0;
}

void orr_assumptions_done(struct orr_assumptions *a)
{
    for (unsigned i = 0; i < a->n; i++)
        free(a->all[i].name);
    free(a->all);
    *a = (struct orr_assumptions){0};
}

bool orr_assumptions_find(const struct orr_assumptions *a, const char *name,
                          double *ret_us)
{
    for (unsigned i = a->n; name && i-- > 0;)
        if (!strcmp(a->all[i].name, name)) {
            *ret_us = a->all[i].us;
            return true;
        }
    return false;
}
