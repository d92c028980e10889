/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/program.c - see program.h. No state. */
#include "tools/common/program.h"

#include "tools/common/tool.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char size_place[] = "{size}";

int program_check_sizes(const char *command, char *const *argv,
                        char *const *sizes)
{
    bool has_place = false, has_sizes = sizes && *sizes;

    for (; *argv; argv++)
        has_place = has_place || strstr(*argv, size_place);
    if (has_place == has_sizes)
        return 0;
    if (has_place)
        tool_error("%s: {size} in the program's arguments needs --sizes A,B,C",
                   command);
    else
        tool_error("%s: --sizes needs {size} in the program's arguments, as in "
                   "-- ./cholesky -size {size}",
                   command);
    return -1;
}

/* `word` with each `place` replaced; owned. */
static char *replace_place(const char *word, const char *place, const char *value)
{
    size_t n = strlen(word), count = 0, length = strlen(place);
    char *text, *to;

    for (const char *at = word; value && (at = strstr(at, place)); at++)
        count++;
    text = to = malloc(n + count * (value ? strlen(value) : 0) + 1);
    if (!text)
        return NULL;
    while (*word) {
        if (value && !strncmp(word, place, length)) {
            to = stpcpy(to, value);
            word += length;
        } else {
            *to++ = *word++;
        }
    }
    *to = '\0';
    return text;
}

char **program_argv(char *const *argv, const char *size)
{
    return program_replace(argv, size_place, size);
}

char **program_replace(char *const *argv, const char *place, const char *value)
{
    size_t n = 0;
    char **copy;

    while (argv[n])
        n++;
    copy = calloc(n + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < n; i++) {
        copy[i] = replace_place(argv[i], place, value);
        if (!copy[i]) {
            program_free(copy);
            return NULL;
        }
    }
    return copy;
}

void program_free(char **argv)
{
    for (char **word = argv; word && *word; word++)
        free(*word);
    free(argv);
}

char *program_text(char *const *argv)
{
    const char *name = strrchr(argv[0], '/');
    char *text = strdup(name ? name + 1 : argv[0]);

    for (argv++; text && *argv; argv++) {
        char *longer = tool_format("%s %s", text, *argv);

        free(text);
        text = longer;
    }
    return text;
}

/* "'a b'": in quotation marks what a shell would not take as it is; owned. */
static char *shell_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    char *text;

    if (*word && word[strspn(word, plain)] == '\0')
        return strdup(word);
    text = strdup("'");
    for (; text && *word; word++) {
        char *longer = *word == '\'' ? tool_format("%s'\\''", text)
                                     : tool_format("%s%c", text, *word);

        free(text);
        text = longer;
    }
    if (text) {
        char *whole = tool_format("%s'", text);

        free(text);
        text = whole;
    }
    return text;
}

char *program_command(char *const *argv)
{
    char *text = shell_word(argv[0]);

    for (argv++; text && *argv; argv++) {
        char *word = shell_word(*argv);
        char *longer = word ? tool_format("%s %s", text, word) : NULL;

        free(word);
        free(text);
        text = longer;
    }
    return text;
}

/* splitmix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
 * generators"). */
static uint64_t splitmix64_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Fisher & Yates; the bias of the remainder is below n / 2^64. */
void program_shuffle(unsigned *order, unsigned n, uint64_t *state)
{
    for (unsigned i = 0; i < n; i++)
        order[i] = i;
    for (unsigned i = n; i > 1; i--) {
        unsigned other = (unsigned)(splitmix64_next(state) % i);
        unsigned kept = order[i - 1];

        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* A number that is not negative, and its suffix. */
static int amount(const char *text, double *ret, const char **ret_unit)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || !isdigit((unsigned char)*text) || !(value < 1e9))
        return -1;
    *ret = value;
    *ret_unit = end;
    return 0;
}

int program_seconds(const char *text, double *ret)
{
    const char *unit;
    double value;

    if (amount(text, &value, &unit) < 0)
        return -1;
    if (!strcmp(unit, "m"))
        value *= 60;
    else if (!strcmp(unit, "h"))
        value *= 3600;
    else if (*unit && strcmp(unit, "s") != 0)
        return -1;
    *ret = value;
    return 0;
}

int program_share(const char *text, double *ret)
{
    const char *unit;
    double value;

    if (amount(text, &value, &unit) < 0)
        return -1;
    if (!strcmp(unit, "%"))
        value /= 100;
    else if (*unit || value >= 1) /* 2 would be meant as 2 %, 0.02 as well */
        return -1;
    if (!(value > 0) || value > 1)
        return -1;
    *ret = value;
    return 0;
}

int program_number(const char *text, unsigned least, unsigned *ret)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno || end == text || *end || !isdigit((unsigned char)*text) ||
        value < least || value > 1000000)
        return -1;
    *ret = (unsigned)value;
    return 0;
}

int program_seed(const char *text, uint64_t *ret)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno || end == text || *end || !isdigit((unsigned char)*text))
        return -1;
    *ret = value;
    return 0;
}
