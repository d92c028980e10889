/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/edit_parse.c - reads the language of what-if edits; the grammar is
 * in docs/WHAT_IF.md. No state.
 */
#include "core/base/grow.h"
#include "core/base/number.h"
#include "platforms/edit_private.h"

#include "platforms/units.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *host;
    unsigned props; /* bit per property that it has */
    bool numbers;   /* may be followed by [0-3] */
} classes[ORR_EDIT_NCLASSES] = {
#define BIT(prop) (1u << ORR_EDIT_##prop)
#define ROUTE     (BIT(BANDWIDTH) | BIT(LATENCY))
    [ORR_EDIT_CPU] = {"cpu", "CPU", BIT(COUNT) | BIT(SPEED), true},
    [ORR_EDIT_CUDA] = {"cuda", "CUDA", BIT(COUNT) | BIT(MEMORY) | BIT(SPEED),
                       true},
    [ORR_EDIT_OPENCL] = {"opencl", "OpenCL",
                         BIT(COUNT) | BIT(MEMORY) | BIT(SPEED), true},
    [ORR_EDIT_KERNEL] = {"kernel", NULL, BIT(SPEED) | BIT(TIME), false},
    [ORR_EDIT_LINK] = {"link", NULL, ROUTE, false},
    [ORR_EDIT_COST] = {"cost", NULL, BIT(LATENCY), false},
    [ORR_EDIT_PCIE] = {"pcie", NULL, ROUTE, true},
    [ORR_EDIT_NVLINK] = {"nvlink", NULL, ROUTE | BIT(SWITCH), true},
    [ORR_EDIT_PEER] = {"peer", NULL, ROUTE, true},
    [ORR_EDIT_RAM] = {"ram", "RAM", ROUTE | BIT(MEMORY), true},
    [ORR_EDIT_MEMBUS] = {"membus", NULL, ROUTE, false},
    [ORR_EDIT_DISK] = {"disk", NULL, ROUTE, false},
    [ORR_EDIT_BUS] = {"bus", NULL, ROUTE, false},
    [ORR_EDIT_NETWORK] = {"network", NULL, ROUTE | BIT(HOP), false},
    [ORR_EDIT_NIC] = {"nic", NULL, BIT(COUNT), false},
    [ORR_EDIT_NODE] = {"node", NULL, 0, true},
#undef ROUTE
#undef BIT
};

static const char *const props[ORR_EDIT_NPROPS] = {
    [ORR_EDIT_COUNT] = "count",
    [ORR_EDIT_MEMORY] = "memory",
    [ORR_EDIT_SPEED] = "speed",
    [ORR_EDIT_TIME] = "time",
    [ORR_EDIT_BANDWIDTH] = "bandwidth",
    [ORR_EDIT_LATENCY] = "latency",
    [ORR_EDIT_SWITCH] = "",
    [ORR_EDIT_HOP] = "hop",
    [ORR_EDIT_WORDS] = "",
};

struct parser {
    const char *begin, *at, *end; /* of one edit */
    unsigned number;              /* of the edit, from 1 */
    struct orr_edit *edit;
    struct orr_error *err;
};
const char *orr_edit_class_host(enum orr_edit_class class)
{
    return classes[class].host;
}

/* ---- errors ---- */

static int wrong_at(const struct parser *p, const char *place,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int wrong_at(const struct parser *p, const char *place,
                    const char *format, ...)
{
    char words[600];
    va_list args;

    va_start(args, format);
    orr_vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    return orr_fail(p->err, -EINVAL, "edit %u, \"%.*s\", column %u: %s",
                    p->number,
                    (int)(p->end - p->begin < 120 ? p->end - p->begin : 120),
                    p->begin, (unsigned)(place - p->begin) + 1, words);
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance of two names of at most 15 letters: Levenshtein's distance,
 * where two exchanged neighbours count once. */
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned d[16][16], na = (unsigned)strlen(a), nb = (unsigned)strlen(b);

    if (na > 15 || nb > 15)
        return UINT_MAX;
    for (unsigned i = 0; i <= na; i++)
        for (unsigned j = 0; j <= nb; j++) {
            unsigned best = i + j; /* beside an empty name */

            if (i && j) {
                best = d[i - 1][j - 1] + !same_letter(a[i - 1], b[j - 1]);
                if (d[i - 1][j] + 1 < best)
                    best = d[i - 1][j] + 1;
                if (d[i][j - 1] + 1 < best)
                    best = d[i][j - 1] + 1;
            }
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]) && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[na][nb];
}

static void add_word(char *text, size_t size, const char *word)
{
    size_t length = strlen(text);

    if (length < size)
        snprintf(text + length, size - length, "%s%s", length ? ", " : "",
                 word);
}

/* "cuda, cpu, …": the known names, the nearest to `typed` first. */
static void list_words(const char *const *words, unsigned n, const char *typed,
                       char *text, size_t size)
{
    *text = '\0';
    for (unsigned pass = 0; pass <= 3; pass++)
        for (unsigned i = 0; i < n; i++) {
            unsigned far = edit_distance(words[i], typed);

            if (*words[i] && (far < 3 ? far : 3) == pass)
                add_word(text, size, words[i]);
        }
}

/* ---- names ---- */

static void edit_skip_blanks(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
        p->at++;
}

/* The letters that come next, cut to what fits. */
static void edit_take_word(struct parser *p, char *word, size_t size)
{
    size_t n = 0;

    for (; p->at < p->end && isalpha((unsigned char)*p->at); p->at++)
        if (n + 1 < size)
            word[n++] = *p->at;
    word[n] = '\0';
}

static bool take_char(struct parser *p, char c)
{
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static int parse_class(struct parser *p, enum orr_edit_class last,
                       enum orr_edit_class *ret)
{
    const char *words[ORR_EDIT_NCLASSES], *place = p->at;
    char word[24], known[160];

    edit_take_word(p, word, sizeof(word));
    for (unsigned i = 0; i <= last; i++) {
        if (strcasecmp(word, classes[i].name) == 0) {
            *ret = (enum orr_edit_class)i;
            return 0;
        }
        words[i] = classes[i].name;
    }
    list_words(words, last + 1u, word, known, sizeof(known));
    if (!*word)
        return wrong_at(p, place, "a name is expected: one of %s", known);
    return wrong_at(p, place, "unknown name \"%s\": the names are %s", word,
                    known);
}

static int parse_prop(struct parser *p)
{
    struct orr_edit *edit = p->edit;
    unsigned mask = classes[edit->class].props;
    const char *words[ORR_EDIT_NPROPS], *place = p->at;
    char word[24], known[80];

    edit_take_word(p, word, sizeof(word));
    for (unsigned i = 0; i < ORR_EDIT_NPROPS; i++) {
        bool has = mask >> i & 1 && *props[i];

        if (has && strcasecmp(word, props[i]) == 0) {
            edit->prop = (enum orr_edit_prop)i;
            return 0;
        }
        words[i] = has ? props[i] : "";
    }
    list_words(words, ORR_EDIT_NPROPS, word, known, sizeof(known));
    return wrong_at(p, place, "%s has no \"%s\": it has %s",
                    classes[edit->class].name, word, known);
}

/* ---- brackets ---- */

static int parse_number(struct parser *p, unsigned *ret)
{
    const char *place = p->at;
    unsigned value = 0;

    while (p->at < p->end && isdigit((unsigned char)*p->at)) {
        if (value > 99999)
            return wrong_at(p, place,
                            "that is too large for a number of a "
                            "device");
        value = 10 * value + (unsigned)(*p->at++ - '0');
    }
    if (p->at == place)
        return wrong_at(p, place, "a number is expected, as in [2] or [0-3]");
    *ret = value;
    return 0;
}

/* What follows "[": "2", "0-3", "0,4-7". */
static int parse_numbers(struct parser *p)
{
    struct orr_edit *edit = p->edit;
    int rc = 0;

    edit->at_range = (unsigned)(p->at - p->begin) + 1;
    do {
        struct orr_edit_range range;

        if (edit->nranges == ORR_EDIT_MAX_RANGES)
            return wrong_at(p, p->at,
                            "at most %d numbers and ranges fit "
                            "between brackets",
                            ORR_EDIT_MAX_RANGES);
        edit_skip_blanks(p);
        rc = parse_number(p, &range.first);
        range.last = range.first;
        if (rc == 0 && take_char(p, '-'))
            rc = parse_number(p, &range.last);
        if (rc)
            return rc;
        if (range.last < range.first)
            return wrong_at(p, p->at, "a range goes upwards, as in [0-3]");
        edit->ranges[edit->nranges++] = range;
        edit_skip_blanks(p);
    } while (take_char(p, ','));
    if (!take_char(p, ']'))
        return wrong_at(p, p->at, "\"]\" is expected");
    return 0;
}

/* Reads what follows `["`: writes the name without its backslashes to `to`. */
static int parse_quoted(struct parser *p, char *to)
{
    const char *place = p->at - 1;

    while (p->at < p->end && *p->at != '"') {
        if (*p->at == '\\') {
            p->at++;
            if (p->at == p->end || (*p->at != '"' && *p->at != '\\'))
                return wrong_at(p, p->at,
                                "behind \"\\\" only \" and \\ are allowed");
        }
        *to++ = *p->at++;
    }
    *to = '\0';
    if (!take_char(p, '"'))
        return wrong_at(p, place,
                        "the name that begins here has no end: "
                        "close it with a second quotation mark");
    return 0;
}

/* Reads what follows "[": a name in quotation marks, or one without brackets
 * and blanks as it is. A kernel's pattern keeps its quotation marks, which mean
 * that the whole name is given. */
static int parse_name(struct parser *p)
{
    struct orr_edit *edit = p->edit;
    const char *place = p->at;
    bool keep = edit->class == ORR_EDIT_KERNEL;
    int rc = 0;

    edit->at_range = (unsigned)(p->at - p->begin) + 1;
    edit->name = calloc(1, (size_t)(p->end - p->at) + 2);
    if (!edit->name)
        return -ENOMEM;
    if (take_char(p, '"')) {
        rc = parse_quoted(p, edit->name);
    } else {
        char *to = edit->name;

        while (p->at < p->end && !strchr("[]\" \t", *p->at))
            *to++ = *p->at++;
    }
    if (rc)
        return rc;
    if (!*edit->name)
        return wrong_at(p, place, "a name is expected");
    if (strlen(edit->name) > 200)
        return wrong_at(p, place, "the name is too long");
    if (keep && *place == '"')
        snprintf(edit->name, (size_t)(p->at - place) + 1, "%.*s",
                 (int)(p->at - place), place);
    if (!take_char(p, ']'))
        return wrong_at(p, p->at,
                        "\"]\" is expected; write names with "
                        "brackets or blanks as [\"name\"]");
    return 0;
}

/* ---- target ---- */

/* " on cuda[1]" behind a kernel; nothing: everywhere. */
static int parse_on(struct parser *p)
{
    const char *before = p->at;
    char word[4];
    int rc;

    p->edit->on = ORR_EDIT_ANYWHERE;
    edit_skip_blanks(p);
    edit_take_word(p, word, sizeof(word));
    if (strcasecmp(word, "on") != 0 || before == p->at) {
        p->at = before;
        return 0;
    }
    edit_skip_blanks(p);
    rc = parse_class(p, ORR_EDIT_OPENCL, &p->edit->on);
    if (rc == 0 && take_char(p, '['))
        rc = parse_numbers(p);
    return rc;
}

static int parse_kernel(struct parser *p)
{
    int rc;

    if (!take_char(p, '['))
        return wrong_at(p, p->at,
                        "kernel is followed by a name in brackets, "
                        "as in kernel[gemm]");
    rc = parse_name(p);
    p->edit->prop = ORR_EDIT_SPEED;
    if (rc == 0 && take_char(p, '.'))
        rc = parse_prop(p);
    return rc ? rc : parse_on(p);
}

/* A target that ends after its class. */
static int no_property(struct parser *p)
{
    const char *class = classes[p->edit->class].name;
    int ndigits = 0;

    while (p->at + ndigits < p->end && isdigit((unsigned char)p->at[ndigits]))
        ndigits++;
    if (ndigits && !p->edit->nranges && classes[p->edit->class].numbers)
        return wrong_at(p, p->at, "a number stands in brackets, as in %s[%.*s]",
                        class, ndigits, p->at);
    return wrong_at(
        p, p->at, "a dot and a property are expected, as in %s.%s", class,
        classes[p->edit->class].props & 1u << ORR_EDIT_COUNT ? "count"
                                                             : "bandwidth");
}

/* What follows "cost": a name in brackets; nothing: all costs. */
static int parse_cost(struct parser *p)
{
    p->edit->prop = ORR_EDIT_LATENCY;
    if (p->at < p->end && *p->at == '.')
        return wrong_at(p, p->at,
                        "a cost has no property: write cost[submit], or cost");
    return take_char(p, '[') ? parse_name(p) : 0;
}

/* What follows "node": numbers, a dot and a class of a machine. */
static int parse_nodes(struct parser *p)
{
    struct orr_edit *edit = p->edit;
    int rc;

    if (!take_char(p, '['))
        return wrong_at(p, p->at,
                        "node is followed by numbers in brackets, as in "
                        "node[3].cuda.count");
    rc = parse_numbers(p);
    if (rc)
        return rc;
    memcpy(edit->nodes, edit->ranges, sizeof(edit->nodes));
    edit->nnodes = edit->nranges;
    edit->nranges = 0;
    if (!take_char(p, '.'))
        return wrong_at(p, p->at,
                        "a dot and what is edited of the nodes are expected, "
                        "as in node[3].cuda.count");
    edit->at_machine = (unsigned)(p->at - p->begin);
    return parse_class(p, ORR_EDIT_BUS, &edit->class);
}

static int parse_target(struct parser *p)
{
    struct orr_edit *edit = p->edit;
    int rc = parse_class(p, ORR_EDIT_NODE, &edit->class);

    if (rc == 0 && edit->class == ORR_EDIT_NODE)
        rc = parse_nodes(p);
    if (rc)
        return rc;
    if (edit->class == ORR_EDIT_KERNEL)
        return parse_kernel(p);
    if (edit->class == ORR_EDIT_COST)
        return parse_cost(p);
    if (edit->class == ORR_EDIT_LINK) {
        if (!take_char(p, '['))
            return wrong_at(p, p->at,
                            "link is followed by a name in "
                            "brackets, as in link[\"Host\"]");
        rc = parse_name(p);
    } else if (take_char(p, '[')) {
        if (!classes[edit->class].numbers)
            return wrong_at(p, p->at - 1, "%s has no numbers",
                            classes[edit->class].name);
        rc = parse_numbers(p);
    }
    if (rc)
        return rc;
    if (take_char(p, '.'))
        rc = parse_prop(p);
    else if (edit->class == ORR_EDIT_NVLINK && !edit->nranges)
        edit->prop = ORR_EDIT_SWITCH;
    else if (edit->class == ORR_EDIT_NETWORK)
        edit->prop = ORR_EDIT_WORDS;
    else
        return no_property(p);
    if (rc == 0 && edit->prop == ORR_EDIT_COUNT && edit->nranges)
        return wrong_at(p, p->begin + edit->at_range - 1,
                        "a count belongs to all devices: leave the brackets "
                        "out");
    return rc;
}

/* ---- operator and value ---- */

static int parse_op(struct parser *p)
{
    static const char *const ops[] = {
        [ORR_EDIT_SET] = "=",   [ORR_EDIT_TIMES] = "*=", [ORR_EDIT_OVER] = "/=",
        [ORR_EDIT_PLUS] = "+=", [ORR_EDIT_MINUS] = "-=",
    };
    edit_skip_blanks(p);
    for (unsigned i = 0; i < 5; i++) {
        size_t length = strlen(ops[i]);

        if ((size_t)(p->end - p->at) < length ||
            strncmp(p->at, ops[i], length) != 0)
            continue;
        p->at += length;
        p->edit->op = (enum orr_edit_op)i;
        edit_skip_blanks(p);
        return 0;
    }
    return wrong_at(p, p->at,
                    "an operator is expected: one of =, *=, /=, +=, -=");
}

static bool is_time(enum orr_edit_prop prop)
{
    return prop == ORR_EDIT_LATENCY || prop == ORR_EDIT_HOP;
}

/* A value with its unit, in bytes, bytes per second or seconds. */
static const char *parse_quantity(enum orr_edit_prop prop, const char *text,
                                  double *ret)
{
    char spelled[64];
    size_t length = strlen(text);
    const char *problem;

    if (orr_number_parse(text, ret) == NULL) /* 0 needs no unit */
        return *ret == 0       ? NULL
               : is_time(prop) ? "has no unit: write ns, us, ms or s"
               : prop == ORR_EDIT_MEMORY
                   ? "has no unit: write B, MB, GB, MiB or GiB"
                   : "has no unit: write MBps, GBps, MiBps or GiBps";
    if (is_time(prop))
        return orr_quantity_parse(ORR_QUANTITY_TIME, text, ret);
    /* GB/s is GBps; and bytes have the prefixes of bytes per second. */
    if (prop == ORR_EDIT_BANDWIDTH && length > 2 &&
        strcmp(text + length - 2, "/s") == 0)
        length -= 2;
    else if (prop == ORR_EDIT_BANDWIDTH)
        return orr_quantity_parse(ORR_QUANTITY_BANDWIDTH, text, ret);
    if (prop == ORR_EDIT_MEMORY && text[length - 1] != 'B')
        return "is not in bytes: write B, kB, MB, GB, TB, KiB, MiB, GiB or TiB";
    snprintf(spelled, sizeof(spelled), "%.*sps", (int)length, text);
    problem = orr_quantity_parse(ORR_QUANTITY_BANDWIDTH, spelled, ret);
    return problem ? "has an unknown unit: write B, kB, MB, GB, TB, KiB, MiB, "
                     "GiB or TiB"
                   : NULL;
}

static int parse_switch(struct parser *p, const char *text)
{
    if (p->edit->op != ORR_EDIT_SET)
        return wrong_at(p, p->at, "nvlink is switched with \"=\"");
    p->edit->on_off = strcasecmp(text, "on") == 0;
    if (!p->edit->on_off && strcasecmp(text, "off") != 0)
        return wrong_at(p, p->at, "\"%.40s\" is neither on nor off", text);
    return 0;
}

/* Instead of a value: words of a network, whose reader judges them. */
static int parse_words(struct parser *p)
{
    if (p->edit->op != ORR_EDIT_SET)
        return wrong_at(p, p->at,
                        "words of a network are given with \"=\"; its numbers "
                        "are network.bandwidth and network.latency");
    if (p->at == p->end)
        return wrong_at(
            p, p->at, "words of a network are expected, such as dragonfly g=8");
    p->edit->name = strndup(p->at, (size_t)(p->end - p->at));
    return p->edit->name ? 0 : -ENOMEM;
}

/* Whether the value is a bare number: a factor, a count, a speed. */
static bool is_bare(const struct orr_edit *edit)
{
    return edit->op == ORR_EDIT_TIMES || edit->op == ORR_EDIT_OVER ||
           edit->prop == ORR_EDIT_COUNT || edit->prop == ORR_EDIT_SPEED ||
           edit->prop == ORR_EDIT_TIME;
}

static int check_value(struct parser *p, const char *text)
{
    const struct orr_edit *edit = p->edit;
    bool factor = edit->op == ORR_EDIT_TIMES || edit->op == ORR_EDIT_OVER;
    bool zero =
        !factor && (edit->prop == ORR_EDIT_COUNT || is_time(edit->prop));

    if (!isfinite(edit->value) || edit->value < 0)
        return wrong_at(p, p->at, "\"%.40s\" is negative", text);
    if (edit->value == 0 && !zero)
        return wrong_at(p, p->at, "\"%.40s\" is 0: write a value above 0",
                        text);
    if (edit->prop == ORR_EDIT_COUNT && !factor &&
        (floor(edit->value) != edit->value || edit->value > 1e6))
        return wrong_at(p, p->at, "\"%.40s\" is no count of devices", text);
    return 0;
}

/* Units as they may be meant, whatever the letter case. Bits per second are not
 * among them: "gbps" is more often bytes. */
static const char *const spelled_units[] = {
    "B",     "kB",    "MB",   "GB",   "TB",   "KiB",  "MiB",
    "GiB",   "TiB",   "kBps", "MBps", "GBps", "TBps", "KiBps",
    "MiBps", "GiBps", "ns",   "us",   "ms",   "s",
};

/* Splits "10 GB/s" into the number's length and its unit; false when it is
 * something else. */
static bool split_value(const char *text, size_t *ret_number,
                        const char **ret_unit)
{
    size_t number = strspn(text, "0123456789.");
    const char *unit = text + number + strspn(text + number, " \t");

    *ret_number = number;
    *ret_unit = unit;
    return number > 0 && isalpha((unsigned char)*unit) && !strpbrk(unit, " \t");
}

/* The unit as it is spelled: "gb/s" is "GBps". NULL for what is none. */
static const char *canonical_unit(const char *unit)
{
    char plain[16];
    size_t length = strlen(unit);

    if (length >= sizeof(plain) - 2)
        return NULL;
    snprintf(plain, sizeof(plain), "%s", unit);
    if (length > 2 && strcmp(unit + length - 2, "/s") == 0)
        snprintf(plain + length - 2, sizeof(plain) - length + 2, "ps");
    for (size_t i = 0; i < sizeof(spelled_units) / sizeof(*spelled_units); i++)
        if (strcasecmp(plain, spelled_units[i]) == 0)
            return spelled_units[i];
    return NULL;
}

static const char *what_has(const char *unit)
{
    size_t length = strlen(unit);

    return unit[length - 1] == 'B'                               ? "a size"
           : length > 2 && strcmp(unit + length - 3, "Bps") == 0 ? "a bandwidth"
                                                                 : "a time";
}

/* A value with a unit where a plain number is meant. */
static int wrong_number(struct parser *p, const char *text, const char *unit)
{
    const struct orr_edit *edit = p->edit;
    const char *what = what_has(unit);

    if (edit->op == ORR_EDIT_TIMES || edit->op == ORR_EDIT_OVER)
        return wrong_at(p, p->at,
                        "\"%s\" is %s, but this operator takes a factor, such "
                        "as 2 for twice as much",
                        text, what);
    if (edit->prop == ORR_EDIT_TIME)
        return wrong_at(p, p->at,
                        "\"%s\" is %s, but .time is a factor: write 1.25 for "
                        "1.25 times as long; --assume (ORRERY_ASSUME) gives a "
                        "kernel without model a time",
                        text, what);
    if (edit->prop == ORR_EDIT_SPEED)
        return wrong_at(p, p->at,
                        "\"%s\" is %s, but a speed is a factor: write 2 for "
                        "twice as fast",
                        text, what);
    return wrong_at(p, p->at, "\"%s\" is %s: write a number without a unit",
                    text, what);
}

/* Says which unit fits. `problem` is what there is to say otherwise. */
static int wrong_value(struct parser *p, const char *text, const char *problem)
{
    const char *unit, *spelled = NULL;
    char fixed[64];
    size_t number;
    double value;

    if (split_value(text, &number, &unit))
        spelled = canonical_unit(unit);
    if (!spelled)
        return wrong_at(p, p->at, "\"%s\" %s", text, problem);
    if (is_bare(p->edit))
        return wrong_number(p, text, spelled);
    snprintf(fixed, sizeof(fixed), "%.*s%s", (int)number, text, unit);
    if (parse_quantity(p->edit->prop, fixed, &value) == NULL)
        return wrong_at(p, p->at,
                        "\"%s\" has a blank before its unit: write %s", text,
                        fixed);
    snprintf(fixed, sizeof(fixed), "%.*s%s", (int)number, text, spelled);
    if (parse_quantity(p->edit->prop, fixed, &value) == NULL)
        return wrong_at(
            p, p->at, "\"%s\" %s, letter case counts in units: write %s%s",
            text,
            p->edit->prop == ORR_EDIT_MEMORY ? "is not in bytes"
                                             : "has an unknown unit",
            fixed,
            p->edit->prop == ORR_EDIT_BANDWIDTH ? " (bytes; Gbps are bits)"
                                                : "");
    return wrong_at(p, p->at, "\"%s\" is %s and %s", text, what_has(spelled),
                    is_time(p->edit->prop)
                        ? "not a latency: write ns, us, ms or s"
                    : p->edit->prop == ORR_EDIT_MEMORY
                        ? "not in bytes: write B, MB, GB, MiB or GiB"
                        : "not a bandwidth, it has an unknown unit: write "
                          "MBps, GBps, MiBps or GiBps");
}

static int parse_value(struct parser *p)
{
    struct orr_edit *edit = p->edit;
    char text[48];
    const char *problem;
    size_t length = (size_t)(p->end - p->at);

    edit->at_value = (unsigned)(p->at - p->begin) + 1;
    if (edit->prop == ORR_EDIT_WORDS)
        return parse_words(p);
    if (length == 0)
        return wrong_at(p, p->at, "a value is expected");
    if (length >= sizeof(text) - 3)
        return wrong_at(p, p->at, "that is too long for a value");
    memcpy(text, p->at, length);
    text[length] = '\0';
    if (edit->prop == ORR_EDIT_SWITCH)
        return parse_switch(p, text);
    problem = is_bare(edit) ? orr_number_parse(text, &edit->value)
                            : parse_quantity(edit->prop, text, &edit->value);
    if (problem)
        return wrong_value(p, text, problem);
    return check_value(p, text);
}

/* ---- all of it ---- */

static int parse_one(struct parser *p)
{
    int rc;

    p->edit->text = strndup(p->begin, (size_t)(p->end - p->begin));
    if (!p->edit->text)
        return -ENOMEM;
    p->edit->at_target = 1;
    rc = parse_target(p);
    if (rc == 0)
        rc = parse_op(p);
    return rc ? rc : parse_value(p);
}

const char *orr_edit_find(const char *at, const char *ends)
{
    bool quoted = false;

    for (; *at && *at != '\n'; at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (*at == '\\' && quoted && at[1] && at[1] != '\n')
            at++;
        else if (!quoted && strchr(ends, *at))
            break;
    }
    return at;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int edit_list_append(struct orr_edit_list *list, const char *begin,
                            const char *end, struct orr_error *err)
{
    struct parser p = {begin, begin, end, list->n + 1, NULL, err};

    if (list->n == ORR_EDIT_MAX)
        return orr_fail(err, -EINVAL, "more than %d edits at once",
                        ORR_EDIT_MAX);
    p.edit = orr_array_add(list->items, list->n);
    if (!p.edit)
        return -ENOMEM;
    *p.edit = (struct orr_edit){.on = ORR_EDIT_ANYWHERE};
    return parse_one(&p);
}

int orr_edit_parse(const char *text, struct orr_edit_list *ret,
                   struct orr_error *err)
{
    struct orr_edit_list list = {NULL, 0};
    int rc = 0;

    if (strlen(text) > ORR_EDIT_MAX_BYTES)
        return orr_fail(err, -EINVAL, "the edits are longer than %d bytes",
                        ORR_EDIT_MAX_BYTES);
    while (rc == 0 && *text) {
        const char *end = orr_edit_find(text, ";"), *begin = text, *last = end;

        while (begin < last && is_blank(*begin))
            begin++;
        while (last > begin && is_blank(last[-1]))
            last--;
        if (begin < last)
            rc = edit_list_append(&list, begin, last, err);
        text = *end ? end + 1 : end;
    }
    if (rc == 0) {
        *ret = list;
        return 0;
    }
    orr_edit_list_done(&list);
    return rc == -ENOMEM ? orr_fail(err, rc, "no memory for the edits") : rc;
}

int orr_edits_check(const char *edits, struct orr_error *err)
{
    struct orr_edit_list list;
    int rc = orr_edit_parse(edits, &list, err);

    if (rc == 0)
        orr_edit_list_done(&list);
    return rc;
}

void orr_edit_list_done(struct orr_edit_list *list)
{
    for (unsigned i = 0; i < list->n; i++) {
        free(list->items[i].text);
        free(list->items[i].name);
    }
    free(list->items);
    *list = (struct orr_edit_list){NULL, 0};
}
