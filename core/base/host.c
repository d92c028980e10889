/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/base/host.c - see host.h. */
#include "core/base/host.h"

#include <errno.h>
#include <string.h>

enum { LONGEST = 200 }; /* a file name of 255 bytes has room for the symbol */

/* Whether the byte continues a character. */
static bool goes_on(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t orr_utf8_length(const char *text)
{
    unsigned char a = (unsigned char)text[0], b;

    if (a < 0x80)
        return a ? 1 : 0;
    if (a < 0xc2 || a > 0xf4 || !goes_on(text[1]))
        return 0;
    if (a < 0xe0)
        return 2;
    b = (unsigned char)text[1];
    if (!goes_on(text[2]) || (a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f))
        return 0;
    if (a < 0xf0)
        return 3;
    if (!goes_on(text[3]) || (a == 0xf0 && b < 0x90) || (a == 0xf4 && b > 0x8f))
        return 0;
    return 4;
}

bool orr_is_utf8(const char *text)
{
    size_t length;

    while ((length = orr_utf8_length(text)))
        text += length;
    return !*text;
}

/* Why it cannot be; NULL when it can. */
static const char *host_name_problem(const char *name)
{
    if (!*name)
        return "is empty";
    if (strlen(name) > LONGEST)
        return "is longer than 200 bytes";
    if (*name == '.')
        return "begins with a dot";
    if (strchr(name, '/'))
        return "has a slash";
    if (!orr_is_utf8(name))
        return "is no UTF-8 text";
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 0x7f)
            return "has control characters";
    return NULL;
}

int orr_host_check(const char *name, struct orr_error *err)
{
    const char *why = host_name_problem(name);

    if (!why)
        return 0;
    return orr_fail(err, -EINVAL,
                    "\"%s\" cannot be the name of a host, it %s: models and "
                    "bus parameters are kept in files of that name "
                    "(STARPU_HOSTNAME, STARPU_MPI_HOSTNAMES, --host).",
                    orr_is_utf8(name) ? name : "?", why);
}
