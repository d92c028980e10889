/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/sweep.c - see sweep.h. */
#include "tools/common/sweep.h"

#include "core/base/grow.h"
#include "platforms/edit.h"
#include "tools/common/machines.h"
#include "tools/common/tool.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text without the blanks around it; owned. */
static char *trimmed(const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    return tool_format("%.*s", (int)(end - begin), begin);
}

/* ---- values ---- */

/* "4GiB": 4 and "GiB". False when it does not begin with a number. */
static bool split_number(const char *text, double *ret, const char **ret_unit)
{
    char *end;

    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    *ret = strtod(text, &end);
    *ret_unit = end;
    return isfinite(*ret);
}

static int axis_add_value(struct sweep_axis *axis, char *value)
{
    char **added = value ? orr_array_add(axis->values, axis->n) : NULL;

    if (!added) {
        free(value);
        return tool_fail(-1, "out of memory");
    }
    *added = value;
    if (axis->n > SWEEP_MAX_VALUES)
        return tool_fail(-1, "%s: --set %s: more than %d values",
                         axis->command, axis->target, SWEEP_MAX_VALUES);
    return 0;
}

/* "1..8", "4..16..4GiB", "1..64..*2". */
struct range {
    double first, last, step;
    bool factor;
    char unit[16];
};

static int wrong_range(const struct sweep_axis *axis, const char *text,
                       const char *why)
{
    return tool_fail(-1,
                     "%s: --set %s: the range \"%s\" %s: write 1..8, "
                     "4GiB..16GiB..4GiB or 1..64..*2",
                     axis->command, axis->target, text, why);
}

/* A number of the range, whose unit is that of the others or none. */
static bool take_part(struct range *range, const char *begin, const char *end,
                      double *ret)
{
    char *text = trimmed(begin, end);
    const char *unit = "";
    bool good = text && split_number(text, ret, &unit) &&
                strlen(unit) < sizeof(range->unit) &&
                (!*unit || !*range->unit || !strcmp(unit, range->unit));

    if (good && *unit)
        snprintf(range->unit, sizeof(range->unit), "%s", unit);
    free(text);
    return good;
}

static int read_axis_range(const struct sweep_axis *axis, const char *text,
                           const char *dots, struct range *range)
{
    const char *last = dots + 2, *step = strstr(last, ".."),
               *end = text + strlen(text);

    *range = (struct range){.step = 1};
    if (!take_part(range, text, dots, &range->first) ||
        !take_part(range, last, step ? step : end, &range->last))
        return wrong_range(axis, text, "is not one of numbers with one unit");
    if (step) {
        step += 2;
        step += strspn(step, " ");
        range->factor = *step == '*';
        if (!take_part(range, step + range->factor, end, &range->step))
            return wrong_range(axis, text, "has a step that is no number");
    } else if (floor(range->first) != range->first) {
        return wrong_range(axis, text, "needs a step");
    }
    if (range->last < range->first ||
        !(range->factor ? range->step > 1 && range->first > 0
                        : range->step > 0))
        return wrong_range(axis, text, "never ends");
    return 0;
}

static int axis_add_range(struct sweep_axis *axis, const char *text,
                          const char *dots)
{
    struct range range;
    double value;

    if (read_axis_range(axis, text, dots, &range) < 0)
        return -1;
    value = range.first;
    /* The last value is reached in spite of rounding. */
    for (unsigned i = 1; value <= range.last * (1 + 1e-9); i++) {
        if (axis_add_value(axis, tool_format("%.10g%s", value, range.unit)) < 0)
            return -1;
        value =
            range.factor ? value * range.step : range.first + i * range.step;
    }
    return 0;
}

/* At the comma behind it; fat-tree:32,2:1 has one of its own. */
static const char *end_of_value(const char *text)
{
    while (*text && !(*text == ',' && !machines_comma_joins(text + 1)))
        text++;
    return text;
}

static int add_values(struct sweep_axis *axis, const char *text)
{
    int rc = 0;

    while (rc == 0) {
        const char *end = end_of_value(text);
        char *piece = trimmed(text, end);
        const char *dots = piece ? strstr(piece, "..") : NULL;

        if (piece && !*piece) {
            rc = tool_fail(-1, "%s: --set %s: a value is missing",
                           axis->command, axis->target);
            free(piece);
        } else if (dots) {
            rc = axis_add_range(axis, piece, dots);
            free(piece);
        } else {
            rc = axis_add_value(axis, piece);
        }
        if (!*end)
            break;
        text = end + 1;
    }
    return rc;
}

/* The values as numbers, for axes of a picture. */
static int axis_read_numbers(struct sweep_axis *axis)
{
    double *numbers = calloc(axis->n, sizeof(*numbers));

    if (!numbers)
        return tool_fail(-1, "out of memory");
    for (size_t i = 0; i < axis->n; i++) {
        const char *unit = "";
        bool good = split_number(axis->values[i], &numbers[i], &unit) &&
                    strlen(unit) < sizeof(axis->unit);

        if (good && i == 0)
            snprintf(axis->unit, sizeof(axis->unit), "%s", unit);
        if (!good || strcmp(axis->unit, unit) != 0) {
            *axis->unit = '\0';
            free(numbers);
            return 0;
        }
    }
    axis->numbers = numbers;
    return 0;
}

/* ---- edits ---- */

static bool is_swept(const char *value, const char *end)
{
    for (; value < end; value++)
        if ((*value == ',' && !machines_comma_joins(value + 1)) ||
            (*value == '.' && value + 1 < end && value[1] == '.'))
            return true;
    return false;
}

static int add_axis(struct sweep *sweep, const char *begin, const char *equals,
                    const char *end)
{
    struct sweep_axis *axis = orr_array_add(sweep->axes, sweep->naxes);
    char *values;
    int rc;

    if (!axis)
        return tool_fail(-1, "out of memory");
    axis->command = sweep->command;
    axis->target = trimmed(begin, equals);
    values = trimmed(equals + 1, end);
    if (!axis->target || !values || !*axis->target) {
        bool nothing = axis->target && values;

        free(values);
        return nothing ? tool_fail(-1, "--set: \"%.*s\" names nothing to set",
                                   (int)(end - begin), begin)
                       : tool_fail(-1, "out of memory");
    }
    for (size_t a = 0; a + 1 < sweep->naxes; a++)
        if (!strcmp(sweep->axes[a].target, axis->target)) {
            free(values);
            return tool_fail(-1, "%s: --set %s has several values twice",
                             axis->command, axis->target);
        }
    rc = add_values(axis, values);
    free(values);
    return rc < 0 ? rc : axis_read_numbers(axis);
}

static int add_edit(struct sweep *sweep, const char *begin, const char *end)
{
    const char *equals = orr_edit_find(begin, "=");
    bool swept = equals < end && is_swept(equals + 1, end);
    char **edits = realloc(sweep->edits, (sweep->nedits + 1) * sizeof(*edits));
    int *axis_of =
        realloc(sweep->axis_of, (sweep->nedits + 1) * sizeof(*axis_of));

    sweep->edits = edits ? edits : sweep->edits;
    sweep->axis_of = axis_of ? axis_of : sweep->axis_of;
    if (!edits || !axis_of)
        return tool_fail(-1, "out of memory");
    edits[sweep->nedits] = trimmed(begin, end);
    axis_of[sweep->nedits] = swept ? (int)sweep->naxes : -1;
    if (!edits[sweep->nedits++])
        return tool_fail(-1, "out of memory");
    return swept ? add_axis(sweep, begin, equals, end) : 0;
}

/* Whether what each point sets can be read. */
static int check_points(const struct sweep *sweep)
{
    struct orr_error err = {""};
    int rc = 0;

    for (size_t p = 0; p < sweep->npoints && rc == 0; p++) {
        char *edits = sweep_edits(sweep, p);

        if (!edits)
            rc = tool_fail(-1, "out of memory");
        else if (orr_edits_check(edits, &err) < 0)
            rc = tool_fail(-1, "--set: %s", err.text);
        free(edits);
    }
    return rc;
}

int sweep_read(struct sweep *sweep, const char *command, const char *edits)
{
    int rc = 0;

    *sweep = (struct sweep){.command = command, .npoints = 1};
    while (edits && *edits && rc == 0) {
        const char *end = orr_edit_find(edits, ";");

        if (edits + strspn(edits, " \t\r") < end)
            rc = add_edit(sweep, edits, end);
        edits = *end ? end + 1 : end;
    }
    for (size_t a = 0; a < sweep->naxes && rc == 0; a++) {
        sweep->npoints *= sweep->axes[a].n;
        if (sweep->npoints > SWEEP_MAX_POINTS)
            rc = tool_fail(-1,
                           "%s: --set: the values have more than %d "
                           "combinations",
                           sweep->command, SWEEP_MAX_POINTS);
    }
    if (rc == 0 && sweep->naxes)
        rc = check_points(sweep);
    if (rc < 0)
        sweep_done(sweep);
    return rc;
}

void sweep_done(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->nedits; i++)
        free(sweep->edits[i]);
    for (size_t a = 0; a < sweep->naxes; a++) {
        struct sweep_axis *axis = &sweep->axes[a];

        for (size_t i = 0; i < axis->n; i++)
            free(axis->values[i]);
        free(axis->values);
        free(axis->numbers);
        free(axis->target);
    }
    free(sweep->edits);
    free(sweep->axis_of);
    free(sweep->axes);
    *sweep = (struct sweep){0};
}

/* ---- points ---- */

size_t sweep_index(const struct sweep *sweep, size_t point, size_t axis)
{
    for (size_t a = sweep->naxes; a-- > axis + 1;)
        point /= sweep->axes[a].n;
    return point % sweep->axes[axis].n;
}

const char *sweep_value(const struct sweep *sweep, size_t point, size_t axis)
{
    return sweep->axes[axis].values[sweep_index(sweep, point, axis)];
}

/* "cuda.count = 4", "pcie.bandwidth *= 2". */
static void put_setting(FILE *file, const struct sweep *sweep, size_t point,
                        size_t axis)
{
    const char *target = sweep->axes[axis].target;
    bool operates = strchr("*/+-", target[strlen(target) - 1]) != NULL;

    fprintf(file, "%s%s= %s", target, operates ? "" : " ",
            sweep_value(sweep, point, axis));
}

char *sweep_edits(const struct sweep *sweep, size_t point)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    for (size_t i = 0; i < sweep->nedits; i++) {
        fputs(i ? "\n" : "", file);
        if (sweep->axis_of[i] >= 0)
            put_setting(file, sweep, point, (size_t)sweep->axis_of[i]);
        else
            fputs(sweep->edits[i], file);
    }
    return fclose(file) == 0 ? text : (free(text), NULL);
}

char *sweep_name(const struct sweep *sweep, size_t point)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    for (size_t a = 0; a < sweep->naxes; a++) {
        fputs(a ? ", " : "", file);
        put_setting(file, sweep, point, a);
    }
    return fclose(file) == 0 ? text : (free(text), NULL);
}
