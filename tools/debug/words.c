/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/debug/words.c - see words.h. */
#include "tools/debug/words.h"

#include "core/base/number.h"
#include "tools/common/tool.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char **words_split(const char *line, size_t *ret_n)
{
    size_t length = strlen(line), n = 0;
    char **words = malloc((length / 2 + 2) * sizeof(*words) + length + 1);
    char *to;

    if (!words)
        return NULL;
    to = (char *)&words[length / 2 + 2];
    for (;;) {
        while (isspace((unsigned char)*line))
            line++;
        if (!*line)
            break;
        words[n++] = to;
        for (char quote = 0; *line && (quote || !isspace((unsigned char)*line)); line++)
            if (!quote && (*line == '"' || *line == '\''))
                quote = *line;
            else if (quote && *line == quote)
                quote = 0;
            else
                *to++ = *line;
        *to++ = '\0';
        if (*line)
            line++;
    }
    words[n] = NULL;
    *ret_n = n;
    return words;
}

/* --- figures --- */

static const struct {
    const char *unit;
    double factor;
} dates[] = {{"s", 1e6}, {"ms", 1e3}, {"us", 1}, {"µs", 1}, {"", 1}},
  amounts[] = {{"", 1},      {"B", 1},       {"KB", 1e3},     {"MB", 1e6},        {"GB", 1e9},
               {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};

int words_date(const char *text, double *ret)
{
    char *end;
    double value = orr_strtod(text, &end);

    for (size_t i = 0; end != text && i < sizeof(dates) / sizeof(*dates); i++)
        if (!strcmp(end, dates[i].unit) && isfinite(value)) {
            *ret = value * dates[i].factor;
            return 0;
        }
    return -1;
}

static int read_amount(const char *text, double *ret)
{
    char *end;
    double value = orr_strtod(text, &end);

    for (size_t i = 0; end != text && i < sizeof(amounts) / sizeof(*amounts); i++)
        if (!strcmp(end, amounts[i].unit) && isfinite(value)) {
            *ret = value * amounts[i].factor;
            return 0;
        }
    return -1;
}

/* --- breakpoints --- */

/* As in debug/event.c. */
static const char *const kinds[] = {
    "begin",  "submit",   "ready",   "take",     "start", "end",  "pass",
    "return", "transfer", "arrival", "evict",    "steal", "send", "receive",
    "wait",   "go-on",    "mark",    "deadlock", "finish"};

static bool is_kind(const char *word)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (!strcmp(word, kinds[i]))
            return true;
    return false;
}

/* "cholesky.c:120" */
static bool is_line(const char *word)
{
    const char *colon = strrchr(word, ':');

    return colon && colon > word && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
}

struct stop_text {
    char *text; /* owned, NULL: out of memory */
    bool kind, other, date; /* what was written */
};

static void __attribute__((format(printf, 2, 3))) add(struct stop_text *stop,
                                                      const char *format, ...)
{
    va_list arguments;
    char *more = NULL, *all;

    va_start(arguments, format);
    if (vasprintf(&more, format, arguments) < 0)
        more = NULL;
    va_end(arguments);
    all = stop->text && more ? tool_format("%s\t%s", stop->text, more) : NULL;
    free(more);
    free(stop->text);
    stop->text = all;
}

/* "bytes > 1MB", in as many words as it was written; returns how many, 0 for an error. */
static size_t read_condition(struct stop_text *stop, char *const *words, size_t n,
                             struct orr_error *err)
{
    static const char *const fields[] = {"date", "task", "priority", "bytes", "ready",
                                         "unfinished"};
    char text[200] = "", field[40];
    size_t used = 0, length, sign;
    double value = 0;
    bool known = false;

    while (used < n && strcmp(words[used], "and") && strcmp(words[used], "&&") &&
           strlen(text) + strlen(words[used]) < sizeof(text))
        strcat(text, words[used++]);
    length = strcspn(text, "<>=!");
    sign = strspn(text + length, "<>=!");
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        known |= strlen(fields[i]) == length && !strncmp(fields[i], text, length);
    if (!known || !sign || sign > 2 || length >= sizeof(field) ||
        (strncmp(text, "date", length) ? read_amount(text + length + sign, &value)
                                       : words_date(text + length + sign, &value)) < 0) {
        (void)orr_fail(err, -EINVAL,
                       "%s is no condition: write FIELD RELATION VALUE, such as `bytes > 1MB' or "
                       "`ready == 0'; fields are date, task, priority, bytes, ready, unfinished",
                       *text ? text : "nothing behind `if'");
        return 0;
    }
    snprintf(field, sizeof(field), "%.*s", (int)length, text);
    add(stop, "if=%s%.*s%.17g", field,
        (int)sign, !strncmp(text + length, "=", 2) || (sign == 1 && text[length] == '=')
                       ? "=="
                       : text + length,
        value);
    return used;
}

static int read_conditions(struct stop_text *stop, char *const *words, size_t n,
                           struct orr_error *err)
{
    while (n > 0) {
        size_t used = read_condition(stop, words, n, err);

        if (!used)
            return -1;
        words += used;
        n -= used;
        if (n > 0) { /* and */
            words++;
            n--;
        }
    }
    return 0;
}

/* A word that another one follows. Returns 1, 0 if it is none, -1. */
static int read_pair(struct stop_text *stop, const char *word, const char *value,
                     struct orr_error *err)
{
    double us = 0;

    if (strcmp(word, "data") && strcmp(word, "on") && strcmp(word, "at") &&
        strcmp(word, "rank"))
        return 0;
    if (!value)
        return orr_fail(err, -1, "`%s' needs a word behind it", word);
    if (!strcmp(word, "at") && words_date(value, &us) < 0)
        return orr_fail(err, -1, "%s is no date: write one such as 3.5ms", value);
    if (!strcmp(word, "at")) {
        stop->date = true;
        add(stop, "at=%.17g", us);
        return 1;
    }
    stop->other = true;
    if (!strcmp(word, "rank")) {
        if (!*value || value[strspn(value, "0123456789")])
            return orr_fail(err, -1, "%s is no rank: write its number", value);
        add(stop, "rank=%s", value);
        return 1;
    }
    add(stop, "%s=%s", strcmp(word, "on") ? "data" : "worker", value);
    return 1;
}

char *words_stop(char *const *words, size_t n, struct orr_error *err)
{
    struct stop_text stop = {.text = tool_format("stop")};
    bool named = false;

    for (size_t i = 0; i < n; i++) {
        int pair = read_pair(&stop, words[i], i + 1 < n ? words[i + 1] : NULL, err);
        size_t length = strlen(words[i]);

        if (pair < 0)
            goto fail;
        if (pair) {
            i++;
            continue;
        }
        if (!strcmp(words[i], "if")) {
            stop.other = true;
            if (i + 1 == n) {
                (void)orr_fail(err, -EINVAL, "`if' needs a condition behind it");
                goto fail;
            }
            if (read_conditions(&stop, words + i + 1, n - i - 1, err) < 0)
                goto fail;
            break;
        }
        if (words[i][0] == '#' && length > 1 && strspn(words[i] + 1, "0123456789") == length - 1) {
            stop.other = true;
            add(&stop, "task=%s", words[i] + 1);
        } else if (is_line(words[i])) {
            stop.other = true;
            add(&stop, "line=%s\tkind=submit", words[i]);
        } else if (is_kind(words[i])) {
            stop.kind = true;
            add(&stop, "kind=%s", words[i]);
        } else if (named) {
            (void)orr_fail(err, -EINVAL, "`%s': a breakpoint has one kernel", words[i]);
            goto fail;
        } else {
            named = true;
            add(&stop, "name=%s", words[i]);
        }
    }
    if (stop.date && (stop.kind || stop.other || named)) {
        (void)orr_fail(err, -EINVAL, "`at' stands alone: the first event at that date. Of others "
                                     "say `if date >= 3.5ms'");
        goto fail;
    }
    if (!stop.kind && !stop.other && !stop.date && !named) {
        (void)orr_fail(err, -EINVAL, "break where? Name a kernel, or an event: submit, ready, "
                                     "take, start, end, transfer, arrival, evict, wait …");
        goto fail;
    }
    /* As a breakpoint on a function: where it begins. */
    if (named && !stop.kind)
        add(&stop, "kind=start");
    if (!stop.text)
        (void)orr_fail(err, -ENOMEM, "out of memory");
    return stop.text;
fail:
    free(stop.text);
    return NULL;
}
