/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/parts.c - see parts.h. No state. */
#include "tools/machine/parts.h"
#include "tools/common/tool.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The text in lower case with only its letters and digits, cut: "NVIDIA
 * A100-SXM4" and "a100 sxm4" then share a part. */
static void plain(const char *text, char ret[static 128])
{
    size_t n = 0;

    for (; *text && n < 127; text++)
        if (isalnum((unsigned char)*text))
            ret[n++] = (char)tolower((unsigned char)*text);
    ret[n] = '\0';
}

/* How well a part fits: the number of letters that agree, 0: not at all. All
 * words of the name must be in the text, or the text in the name. */
static size_t fit(const char *text, const char *name, const char *model)
{
    char wanted[128], known[128], word[128];
    const char *rest = name;

    plain(text, wanted);
    plain(name, known);
    if (!wanted[0])
        return 0;
    if (strcmp(wanted, known) == 0)
        return 1000;
    plain(model, known);
    if (strcmp(wanted, known) == 0)
        return 1000;
    if (strlen(wanted) >= 4 && strstr(known, wanted))
        return strlen(wanted);
    for (size_t length; *rest; rest += length + strspn(rest + length, " ")) {
        char piece[64];

        length = strcspn(rest, " ");
        if (length >= sizeof(piece))
            return 0;
        memcpy(piece, rest, length);
        piece[length] = '\0';
        plain(piece, word);
        if (!strstr(wanted, word))
            return 0;
    }
    plain(name, known);
    return strlen(known);
}

const struct machine_processor *machine_processor_find(const char *text)
{
    const struct machine_processor *best = NULL;
    size_t best_fit = 0;

    for (const struct machine_processor *p = machine_processors; p->name; p++) {
        size_t n = fit(text, p->name, p->model);

        if (n > best_fit) {
            best = p;
            best_fit = n;
        }
    }
    return best;
}

const struct machine_device *machine_device_find(const char *text)
{
    const struct machine_device *best = NULL;
    size_t best_fit = 0;

    for (const struct machine_device *d = machine_devices; d->name; d++) {
        size_t n = fit(text, d->name, d->model);

        if (n > best_fit) {
            best = d;
            best_fit = n;
        }
    }
    return best;
}

/* Takes `names`. */
static char *append(char *names, const char *name)
{
    char *longer =
        names ? tool_format("%s%s%s", names, *names ? ", " : "", name) : NULL;

    free(names);
    return longer;
}

char *machine_processor_names(void)
{
    char *names = strdup("");

    for (const struct machine_processor *p = machine_processors; p->name; p++)
        names = append(names, p->name);
    return names;
}

char *machine_device_names(void)
{
    char *names = strdup("");

    for (const struct machine_device *d = machine_devices; d->name; d++)
        names = append(names, d->name);
    return names;
}
