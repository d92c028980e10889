/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/cost/assume_read.c - the text of assumptions, and files of them. No state.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "core/cost/assume.h"
#include "core/device/kind.h"
#include "perfmodel/arch.h"
#include "perfmodel/rate_text.h"

#define FILE_MAX (1 << 20) /* bytes of a file of assumptions */

/* What is being read: a text, or a file of lines. */
struct reader {
    struct orr_assumptions *a;
    struct orr_error *err;
    const char *file; /* NULL: the variable itself */
    unsigned line;
    char *part;     /* the part, terminated */
    const char *at; /* within it */
};

/* --- errors --- */

static int assumption_wrong(const struct reader *r, const char *what,
                            const char *remedy)
{
    char where[160] = "ORRERY_ASSUME (--assume)";

    if (r->file)
        snprintf(where, sizeof(where), "%.120s:%u", r->file, r->line);
    return orr_fail(r->err, -EINVAL, "%s: `%s': %s: %s", where, r->part, what,
                    remedy);
}

/* --- words --- */

static void assumption_skip_blanks(struct reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

/* Goes past `word`, in letters of either case, unless it goes on as a word. */
static bool assumption_take_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    assumption_skip_blanks(r);
    if (strncasecmp(r->at, word, n) != 0 ||
        (isalnum((unsigned char)word[n - 1]) &&
         isalnum((unsigned char)r->at[n])))
        return false;
    r->at += n;
    return true;
}

static bool assumption_take_number(struct reader *r, double *ret)
{
    char *after;
    double value;

    assumption_skip_blanks(r);
    value = orr_strtod(r->at, &after);
    if (after == r->at || !isfinite(value) || value < 0)
        return false;
    r->at = after;
    *ret = value;
    return true;
}

/* A unit of a list that ends with NULL: multiplies by its factor. */
struct unit {
    const char *name;
    double factor;
};

static bool take_unit(struct reader *r, const struct unit *units, double *value)
{
    for (; units->name; units++)
        if (assumption_take_word(r, units->name)) {
            *value *= units->factor;
            return true;
        }
    return false;
}

static const struct unit times[] = {{"ns", 1e-3}, {"us", 1},  {"µs", 1},
                                    {"ms", 1e3},  {"s", 1e6}, {NULL, 0}};

/* --- parts of an assumption --- */

static int assumption_wrong_arch(struct reader *r, const char *what)
{
    char names[ORR_KIND_NAMES_SIZE], remedy[ORR_KIND_NAMES_SIZE + 80];

    orr_device_kind_names(names);
    snprintf(remedy, sizeof(remedy),
             "write %s, and a number for one device as in cpu0", names);
    return assumption_wrong(r, what, remedy);
}

/* "cpu", "cpu 1"; false when it is none. */
static bool take_arch(struct reader *r, struct orr_assumed_arch *ret)
{
    const struct orr_device_kind *kind;
    char name[16];
    size_t n = 0;

    assumption_skip_blanks(r);
    while (n + 1 < sizeof(name) && isalpha((unsigned char)r->at[n])) {
        name[n] = r->at[n];
        n++;
    }
    name[n] = '\0';
    kind = orr_device_kind_named(name);
    if (!kind || !kind->functions)
        return false;
    *ret = (struct orr_assumed_arch){(int)kind->type, -1};
    r->at += n;
    if (*r->at == ' ' && isdigit((unsigned char)r->at[1]))
        r->at++;
    if (isdigit((unsigned char)*r->at)) {
        char *after;

        ret->devid = (int)strtol(r->at, &after, 10);
        r->at = after;
    }
    return true;
}

/* "+ 2ns * n^1.5", without the sign. */
static int read_term(struct reader *r, struct orr_assumption *a, double us)
{
    double exponent = 0;

    if (!take_unit(r, times, &us) && isalpha((unsigned char)*r->at))
        return assumption_wrong(
            r, "there is no such unit of time",
            "write ns, us, ms or s, such as `kernel[init] = 50us'");
    if (assumption_take_word(r, "*")) {
        exponent = 1;
        if (!assumption_take_word(r, "n"))
            return assumption_wrong(
                r, "a time is multiplied with n only",
                "n is the size of the task in bytes: `20us + 2ns * n'");
        if (assumption_take_word(r, "^") &&
            !assumption_take_number(r, &exponent))
            return assumption_wrong(r, "n^ needs a number",
                                    "such as `1ns * n^1.5'");
    }
    if (a->nterms == ORR_ASSUMED_TERMS)
        return assumption_wrong(r, "there are more than four terms",
                                "join some");
    a->terms[a->nterms].us = us;
    a->terms[a->nterms++].exponent = exponent;
    return 0;
}

/* "3 flop/byte roofline of 19.5 TFlop/s, 1555 GB/s", behind the first word. */
static int read_roofline(struct reader *r, struct orr_assumption *a,
                         double flops_per_byte)
{
    static const char remedy[] =
        "write the device's peak and its memory bandwidth, such as `3 flop/byte "
        "roofline of 19.5 TFlop/s, 1555 GB/s'";

    a->law = ORR_ASSUMED_ROOFLINE;
    a->flops_per_byte = flops_per_byte;
    if (!assumption_take_word(r, "roofline") ||
        !assumption_take_word(r, "of") ||
        !orr_rate_take(ORR_RATE_OF_FLOPS, &r->at, &a->flops) ||
        !assumption_take_word(r, ",") ||
        !orr_rate_take(ORR_RATE_OF_BYTES, &r->at, &a->bytes))
        return assumption_wrong(r, "the roofline is not complete", remedy);
    return 0;
}

/* "cpu / 20", behind the architecture. */
static int read_ratio(struct reader *r, struct orr_assumption *a)
{
    bool divides = assumption_take_word(r, "/");

    a->law = ORR_ASSUMED_RATIO;
    a->factor = 1;
    if (!divides && !assumption_take_word(r, "*"))
        return 0;
    if (!assumption_take_number(r, &a->factor) || !(a->factor > 0))
        return assumption_wrong(
            r, "what a time is divided by must be a number above 0",
            "such as `cpu / 20' for twenty times as fast");
    if (divides)
        a->factor = 1 / a->factor;
    return 0;
}

static int read_law(struct reader *r, struct orr_assumption *a)
{
    double number;
    int rc;

    if (take_arch(r, &a->of))
        return read_ratio(r, a);
    do {
        if (!assumption_take_number(r, &number))
            return assumption_wrong(
                r, "there is no time behind the sign",
                "write a time of 0 or more, such as `50us', `20us + "
                "2ns * n' (n: bytes), or `cpu / 20'");
        if (a->nterms == 0 && assumption_take_word(r, "flop/byte"))
            return read_roofline(r, a, number);
        rc = read_term(r, a, number);
    } while (!rc && assumption_take_word(r, "+"));
    return rc;
}

/* "moon:" before "kernel[name]". */
static int assumption_read_machine(struct reader *r, const char *equals,
                                   struct orr_assumption *a)
{
    const char *kernel;

    assumption_skip_blanks(r);
    kernel = strstr(r->at, "kernel[");
    if (!kernel || kernel >= equals || kernel == r->at || kernel[-1] != ':')
        return 0;
    if (kernel - 1 == r->at)
        return assumption_wrong(r, "it names no machine",
                                "write one before the colon, such as "
                                "`moon:kernel[init] = 50us'");
    a->machine = strndup(r->at, (size_t)(kernel - 1 - r->at));
    r->at = kernel;
    return a->machine ? 0 : -ENOMEM;
}

/* "kernel[name]" or "name", and "on cuda" behind it. The equals sign is
 * *equals. */
static int assumption_read_name(struct reader *r, const char *equals,
                                struct orr_assumption *a)
{
    static const char around[] = "kernel[";
    const char *end = equals, *on = NULL;
    const char *close;

    assumption_skip_blanks(r);
    close = memchr(r->at, ']', (size_t)(equals - r->at));
    for (const char *p = close ? close : r->at; p + 3 < equals; p++)
        if ((close ? p[0] == ']' || isspace((unsigned char)p[0])
                   : isspace((unsigned char)p[0])) &&
            !strncmp(p + 1, "on", 2) && isspace((unsigned char)p[3]))
            on = p + 1;
    if (on)
        end = on;
    while (end > r->at && isspace((unsigned char)end[-1]))
        end--;
    if (!strncmp(r->at, around, sizeof(around) - 1) && end[-1] == ']') {
        r->at += sizeof(around) - 1;
        end--;
        assumption_skip_blanks(r);
        while (end > r->at && isspace((unsigned char)end[-1]))
            end--;
    }
    if (end <= r->at)
        return assumption_wrong(r, "it names no kernel",
                                "write the name of a codelet or model, such as "
                                "`kernel[init] = 50us'");
    a->name = strndup(r->at, (size_t)(end - r->at));
    if (!a->name)
        return -ENOMEM;
    a->arch = (struct orr_assumed_arch){-1, -1};
    if (!on)
        return 0;
    r->at = on + 2;
    if (!take_arch(r, &a->arch))
        return assumption_wrong_arch(r, "there is no such architecture");
    assumption_skip_blanks(r);
    return r->at == equals
               ? 0
               : assumption_wrong_arch(r, "something follows the architecture");
}

/* The part with single blanks. */
static char *tidy(const char *part)
{
    char *copy = strdup(part), *to = copy;

    if (!copy)
        return NULL;
    for (const char *p = copy; *p; p++)
        if (!isspace((unsigned char)*p))
            *to++ = *p;
        else if (to > copy && to[-1] != ' ')
            *to++ = ' ';
    while (to > copy && to[-1] == ' ')
        to--;
    *to = '\0';
    return copy;
}

static int assumptions_add(struct orr_assumptions *a,
                           const struct orr_assumption *one)
{
    struct orr_assumption *added = orr_array_add(a->all, a->n);

    if (!added)
        return -ENOMEM;
    *added = *one;
    return 0;
}

/* Without a sign of equality; a file may be meant. */
static int no_time(struct reader *r, const char *text)
{
    char remedy[PATH_MAX];

    if (access(text, R_OK) != 0)
        return assumption_wrong(
            r, "there is no time",
            "write a kernel and its time, such as `kernel[init] = 50us'");
    snprintf(remedy, sizeof(remedy), "write @%s to read that file", text);
    return assumption_wrong(r, "there is no time", remedy);
}

static int read_assumption(struct reader *r)
{
    struct orr_assumption a = {.text = tidy(r->part)};
    const char *equals = strchr(r->part, '=');
    int rc = a.text ? 0 : -ENOMEM;

    if (!rc && !equals)
        rc = no_time(r, a.text);
    if (!rc)
        rc = assumption_read_machine(r, equals, &a);
    if (!rc)
        rc = assumption_read_name(r, equals, &a);
    if (!rc) {
        r->at = equals + 1;
        rc = read_law(r, &a);
    }
    if (!rc) {
        assumption_skip_blanks(r);
        if (*r->at)
            rc = assumption_wrong(
                r, "what follows the time is not understood",
                "several are separated by ;, such as `kernel[init] = "
                "50us; kernel[copy] on cpu = 2ms'");
    }
    if (!rc)
        rc = assumptions_add(r->a, &a);
    if (rc) {
        free(a.machine);
        free(a.name);
        free(a.text);
    }
    return rc;
}

/* --- texts and files --- */

static int read_text(struct reader *r, const char *text);

static int assumption_read_file(struct reader *r, const char *path)
{
    struct reader inner = {.a = r->a, .err = r->err, .file = path};
    char *text = malloc(FILE_MAX + 1);
    FILE *file = text ? fopen(path, "r") : NULL;
    size_t n = file ? fread(text, 1, FILE_MAX, file) : 0;
    int rc = 0;

    if (!text)
        return -ENOMEM;
    if (r->file)
        rc = assumption_wrong(r, "a file of assumptions names another",
                              "give both: --assume @ONE --assume @OTHER");
    else if (!file || ferror(file))
        rc = assumption_wrong(
            r, strerror(errno),
            "behind @ is the name of a file of assumptions, one a line");
    text[n] = '\0';
    if (file)
        fclose(file);
    if (!rc)
        rc = read_text(&inner, text);
    free(text);
    return rc;
}

static int read_part(struct reader *r, const char *begin, size_t n)
{
    int rc;

    while (n > 0 && isspace((unsigned char)*begin)) {
        begin++;
        n--;
    }
    while (n > 0 && isspace((unsigned char)begin[n - 1]))
        n--;
    if (n == 0)
        return 0;
    r->part = strndup(begin, n);
    if (!r->part)
        return -ENOMEM;
    r->at = r->part;
    rc = *r->part == '@' ? assumption_read_file(r, r->part + 1)
                         : read_assumption(r);
    free(r->part);
    return rc;
}

/* Parts between semicolons and ends of lines; in files # begins a comment. */
static int read_text(struct reader *r, const char *text)
{
    int rc = 0;

    r->line = 1;
    while (*text && !rc) {
        size_t n = strcspn(text, r->file ? ";\n#" : ";\n");

        rc = read_part(r, text, n);
        text += n;
        if (*text == '#')
            text += strcspn(text, "\n");
        if (*text == '\n')
            r->line++;
        if (*text)
            text++;
    }
    return rc;
}

int orr_assumptions_read(const char *text, struct orr_assumptions *ret,
                         struct orr_error *err)
{
    struct orr_assumptions a = {0};
    struct reader r = {.a = &a, .err = err};
    int rc = read_text(&r, text ? text : "");

    if (rc) {
        orr_assumptions_done(&a);
        return rc == -ENOMEM ? orr_fail(err, rc, "out of memory") : rc;
    }
    *ret = a;
    return 0;
}
