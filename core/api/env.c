/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/api/env.c - the functions of starpu_helper.h that read the environment
 * for applications. Any thread, as long as the environment does not change.
 */
#include <starpu_helper.h>

#include <limits.h>
#include <strings.h>

char *starpu_getenv(const char *str)
{
    return getenv(str);
}

int starpu_get_env_string_var_default(const char *str, const char **strings,
                                      int defvalue)
{
    const char *text = starpu_getenv(str);

    if (!text || !*text)
        return defvalue;
    for (int i = 0; strings[i]; i++)
        if (!strcasecmp(text, strings[i]))
            return i;
    fprintf(stderr, "[starpu] %s='%s' is not known, use one of:", str, text);
    for (int i = 0; strings[i]; i++)
        fprintf(stderr, " %s", strings[i]);
    fputc('\n', stderr);
    abort();
}

/* The factor of a size's suffix, or 0 when it is none. */
static long long suffix_factor(const char *suffix)
{
    long long factor = 1;

    switch (*suffix) {
    case '\0':
    case 'B':
    case 'b':
        break;
    case 'k':
    case 'K':
        factor = 1LL << 10;
        break;
    case 'm':
    case 'M':
        factor = 1LL << 20;
        break;
    case 'g':
    case 'G':
        factor = 1LL << 30;
        break;
    case 't':
    case 'T':
        factor = 1LL << 40;
        break;
    default:
        return 0;
    }
    return *suffix && suffix[1] ? 0 : factor;
}

int starpu_get_env_size_default(const char *str, int defval)
{
    const char *text = starpu_getenv(str);
    char *end;
    long long value, factor;

    if (!text || !*text)
        return defval;
    errno = 0;
    value = strtoll(text, &end, 10);
    factor = end == text || errno ? 0 : suffix_factor(end);
    if (!factor)
        STARPU_ABORT_MSG("%s='%s' is not a size: write a number and perhaps "
                         "one of B k m g t",
                         str, text);
    if (value > INT_MAX / factor || value < INT_MIN / factor)
        STARPU_ABORT_MSG("%s='%s' does not fit an int", str, text);
    return (int)(value * factor);
}
