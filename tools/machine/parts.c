/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/parts.c - see parts.h. No state. */
#include "tools/machine/parts.h"
#include "tools/common/tool.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 24
#define MAX_WORD  24

/* The characters by which names are compared: "8480+" is another part than
 * "8480". */
static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '+';
}

/* Letters and digits of a text in lower case, by words. */
struct words {
    char words[MAX_WORDS][MAX_WORD];
    unsigned n;
    bool cut; /* it had more, or longer ones */
};

static struct words split_part_words(const char *text)
{
    struct words w = {.n = 0};
    size_t length = 0;

    for (; *text; text++) {
        if (!is_letter(*text)) {
            w.n += length > 0;
            length = 0;
        } else if (w.n == MAX_WORDS || length == MAX_WORD - 1) {
            w.cut = true;
        } else {
            w.words[w.n][length++] = (char)tolower((unsigned char)*text);
            w.words[w.n][length] = '\0';
        }
    }
    w.n += length > 0;
    return w;
}

/* "sxm4" has the word "sxm", but "l40s" not "l4", nor "3080ti" "3080". */
static bool words_have(const struct words *w, const char *word)
{
    size_t length = strlen(word);

    for (unsigned i = 0; i < w->n; i++) {
        const char *at = w->words[i];

        if (strcmp(at, word) == 0 ||
            (strncmp(at, word, length) == 0 &&
             isalpha((unsigned char)word[length - 1]) &&
             isdigit((unsigned char)at[length])))
            return true;
    }
    return false;
}

static bool has_all(const struct words *w, const struct words *of)
{
    for (unsigned i = 0; i < of->n; i++)
        if (!words_have(w, of->words[i]))
            return false;
    return of->n > 0;
}

/* Words that drivers and catalogues add to names of parts: vendors, families,
 * "2.20GHz" and "64-Core". */
static bool is_noise(const struct words *w, unsigned i)
{
    static const char *const noise[] = {
        "nvidia",   "amd",         "intel",   "geforce",  "tesla",     "quadro",
        "r",        "tm",          "cpu",     "gpu",      "processor", "core",
        "xeon",     "ryzen",       "epyc",    "instinct", "gold",      "silver",
        "platinum", "corporation", "graphics"};
    const char *word = w->words[i];
    size_t digits = strspn(word, "0123456789");

    for (size_t k = 0; k < sizeof(noise) / sizeof(noise[0]); k++)
        if (strcmp(word, noise[k]) == 0)
            return true;
    if (digits && strcmp(word + digits, "ghz") == 0)
        return true;
    /* Of "64-Core" and "2.20GHz". */
    return digits && !word[digits] && i + 1 < w->n &&
           (strcmp(w->words[i + 1], "core") == 0 ||
            strstr(w->words[i + 1], "ghz") != NULL);
}

/* Whether letters and digits are the same, without signs. */
static bool part_names_equal(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a && !is_letter(*a))
            a++;
        while (*b && !is_letter(*b))
            b++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

/* All words of the name are in the text, and all of the text in name or
 * model. */
static bool part_is_named(const char *text, const char *name, const char *model,
                          const char *also)
{
    struct words given = split_part_words(text), own = split_part_words(name),
                 more = split_part_words(model);

    if (part_names_equal(text, name) || part_names_equal(text, model) ||
        (*also && part_names_equal(text, also)))
        return true;
    if (given.cut || !has_all(&given, &own))
        return false;
    for (unsigned i = 0; i < given.n; i++)
        if (!words_have(&more, given.words[i]) &&
            !words_have(&own, given.words[i]) && !is_noise(&given, i))
            return false;
    return true;
}

const struct machine_processor *machine_processor_find(const char *text)
{
    for (const struct machine_processor *p = machine_processors; p->name; p++)
        if (part_is_named(text, p->name, p->model, ""))
            return p;
    return NULL;
}

const struct machine_device *machine_device_find(const char *text)
{
    for (const struct machine_device *d = machine_devices; d->name; d++)
        if (part_is_named(text, d->name, d->model, d->also))
            return d;
    return NULL;
}

/* Whether a word of the text is in the name, or begins one of it. */
static bool part_name_is_near(const struct words *given, const char *name)
{
    struct words own = split_part_words(name);

    for (unsigned i = 0; i < given->n; i++)
        for (unsigned k = 0; k < own.n; k++)
            if (strncmp(own.words[k], given->words[i],
                        strlen(given->words[i])) == 0)
                return true;
    return false;
}

/* Takes `names`. */
static char *append_part_name(char *names, const char *name)
{
    char *longer =
        names ? tool_format("%s%s%s", names, *names ? ", " : "", name) : NULL;

    free(names);
    return longer;
}

char *machine_processor_names(const char *text)
{
    struct words given = split_part_words(text);
    char *names = strdup("");

    for (int all = 0; all < 2 && names && !*names; all++)
        for (const struct machine_processor *p = machine_processors; p->name;
             p++)
            if (all || part_name_is_near(&given, p->name))
                names = append_part_name(names, p->name);
    return names;
}

char *machine_device_names(const char *text)
{
    struct words given = split_part_words(text);
    char *names = strdup("");

    for (int all = 0; all < 2 && names && !*names; all++)
        for (const struct machine_device *d = machine_devices; d->name; d++)
            if (all || part_name_is_near(&given, d->name))
                names = append_part_name(names, d->name);
    return names;
}
