/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/fabric_parse.c - the one line that describes a network. Each word says what
 * it is by itself: a technology, the NICs of a node, a topology, a setting; a second one of
 * a kind is an error.
 */
#include "platforms/fabric.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/words.h"
#include "platforms/units.h"

enum { MAX_WORD = 256 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct parser {
    const char *text;
    char word[MAX_WORD];
    struct orr_fabric *fabric;
    bool technology, topology; /* have been said */
    unsigned settings;         /* the same, a bit each */
    struct orr_error *err;
};

/* Latencies that are usual with current hardware, where the description says
 * none. */
static const struct {
    const char *name;
    double latency_us, hop_us;
} technologies[] = {
    {"ib", 1, 0.13}, {"slingshot", 1.8, 0.35}, {"ethernet", 5, 0.5}};

static const char *const topologies[] = {
    [ORR_TOPOLOGY_CROSSBAR] = "crossbar",
    [ORR_TOPOLOGY_FAT_TREE] = "fat-tree",
    [ORR_TOPOLOGY_DRAGONFLY] = "dragonfly",
    [ORR_TOPOLOGY_TORUS] = "torus",
};

static const char *const duplexes[] = {"full-duplex", "half-duplex"};

enum unit {
    UNIT_COUNT,
    UNIT_US,
    UNIT_BYTES,
    UNIT_BANDWIDTH,
    UNIT_SPEEDS,
};

enum { OF_ALL = -1 };

/* Numbers of settings: technologies have values for the first; those from
 * SET_NODE to SET_NODE_LAST are of messages within a node. */
enum { SET_LATENCY, SET_HOP, SET_NODE, SET_NODE_EAGER = SET_NODE, SET_NODE_LAST = 8 };

/* What stands before a "=". */
static const struct setting {
    const char *name;
    enum unit unit;
    int kind; /* of topology, or OF_ALL */
    size_t offset;
} settings[] = {
#define AT(member) offsetof(struct orr_fabric, member)
    [SET_LATENCY] = {"latency", UNIT_US, OF_ALL, AT(latency_us)},
    [SET_HOP] = {"hop", UNIT_US, OF_ALL, AT(hop_us)},
    [SET_NODE_EAGER] = {"node-eager", UNIT_BYTES, OF_ALL, AT(node.eager)},
    {"node-latency", UNIT_US, OF_ALL, AT(node.latency_us)},
    {"node-bandwidth", UNIT_SPEEDS, OF_ALL, AT(node.speeds)},
    {"node-total", UNIT_BANDWIDTH, OF_ALL, AT(node.total)},
    {"node-send", UNIT_US, OF_ALL, AT(node.send_us)},
    {"node-match", UNIT_US, OF_ALL, AT(node.match_us)},
    [SET_NODE_LAST] = {"node-copy", UNIT_BANDWIDTH, OF_ALL, AT(node.copy)},
    {"bandwidth", UNIT_SPEEDS, OF_ALL, AT(speeds)},
    {"copy", UNIT_BANDWIDTH, OF_ALL, AT(copy)},
    {"eager", UNIT_BYTES, OF_ALL, AT(eager)},
    {"send", UNIT_US, OF_ALL, AT(send_us)},
    {"match", UNIT_US, OF_ALL, AT(match_us)},
    {"look", UNIT_US, OF_ALL, AT(look_us)},
    {"levels", UNIT_COUNT, ORR_TOPOLOGY_FAT_TREE, AT(fat_tree.levels)},
    {"g", UNIT_COUNT, ORR_TOPOLOGY_DRAGONFLY, AT(dragonfly.g)},
    {"a", UNIT_COUNT, ORR_TOPOLOGY_DRAGONFLY, AT(dragonfly.a)},
    {"p", UNIT_COUNT, ORR_TOPOLOGY_DRAGONFLY, AT(dragonfly.p)},
    {"h", UNIT_COUNT, ORR_TOPOLOGY_DRAGONFLY, AT(dragonfly.h)},
#undef AT
};

static bool is_set(const struct parser *p, unsigned setting)
{
    return p->settings >> setting & 1;
}

/* "network "ib 3 Gb/s": "3" has no unit …" */
static int wrong_word(struct parser *p, const char *problem)
{
    return orr_fail(p->err, -EINVAL, "network \"%s\": \"%s\" %s", p->text,
                    p->word, problem);
}

static int wrong_whole(struct parser *p, const char *problem)
{
    return orr_fail(p->err, -EINVAL, "network \"%s\": %s", p->text, problem);
}

/* ---- numbers ---- */

/* A number from 1 on that ends where `end` says; NULL if it is none. */
static const char *read_count(const char *text, unsigned *ret)
{
    char *end;
    unsigned long value;

    if (*text < '1' || *text > '9')
        return NULL;
    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno || value > USHRT_MAX)
        return NULL;
    *ret = (unsigned)value;
    return end;
}

/* "200Gb/s", in bytes per µs. "Gb/s" is what platform files call Gbps. */
static const char *read_bandwidth(const char *text, double *ret)
{
    char spelled[MAX_WORD + 1];
    size_t length = strlen(text);
    double value;

    if (length < 3 || strcmp(text + length - 2, "/s") != 0)
        return "is no bandwidth: write a number with Gb/s or GB/s";
    snprintf(spelled, sizeof(spelled), "%.*sps", (int)length - 2, text);
    if (orr_quantity_parse(ORR_QUANTITY_BANDWIDTH, spelled, &value))
        return "is no bandwidth: write a number with Gb/s or GB/s";
    if (!(value >= 1e3 && value <= 1e15))
        return "is no bandwidth of a network: write 1kB/s to 1PB/s";
    *ret = value * 1e-6;
    return NULL;
}

static const char *read_time(const char *text, double *ret)
{
    double value;

    if (orr_number_parse(text, &value) == NULL && value != 0)
        return "has no unit: write ns, us, ms or s";
    if (orr_quantity_parse(ORR_QUANTITY_TIME, text, &value) || value < 0 ||
        value > 1e3)
        return "is no latency: write a number with ns, us or ms";
    *ret = value * 1e6;
    return NULL;
}

static const char *read_bytes(const char *text, double *ret)
{
    double value;

    if (orr_quantity_parse(ORR_QUANTITY_SIZE, text, &value) || value < 0)
        return "is no size: write a number with B, kB, KiB or MiB";
    *ret = value;
    return NULL;
}

/* Takes "8KiB:2GB/s" of *at, up to a comma; "2GB/s" is of all sizes. */
static const char *read_speed(const char **at, struct orr_fabric_speeds *speeds)
{
    char word[MAX_WORD], *colon;
    size_t length = strcspn(*at, ",");
    const char *problem = NULL;
    double bytes = 1, bandwidth;

    snprintf(word, sizeof(word), "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    colon = strchr(word, ':');
    if (colon) {
        *colon = '\0';
        problem = read_bytes(word, &bytes);
    }
    if (!problem)
        problem = read_bandwidth(colon ? colon + 1 : word, &bandwidth);
    if (problem)
        return "has a size or a bandwidth that is none: write 8KiB:2GB/s,64KiB:8GB/s";
    if (speeds->n == ORR_FABRIC_MAX_SPEEDS)
        return "has too many sizes: write up to 8";
    if (bytes <= 0 || (speeds->n > 0 && !(bytes > speeds->at[speeds->n - 1].bytes)))
        return "has sizes that do not grow: write the smallest first, 1B or more";
    if (speeds->n > 0 && bytes / bandwidth < speeds->at[speeds->n - 1].bytes /
                                                 speeds->at[speeds->n - 1].bandwidth)
        return "has a longer message that takes less time than a shorter one: give it less "
               "bandwidth";
    speeds->at[speeds->n].bytes = bytes;
    speeds->at[speeds->n++].bandwidth = bandwidth;
    return NULL;
}

static const char *read_speeds(const char *text, struct orr_fabric_speeds *speeds)
{
    const char *problem;

    do
        problem = read_speed(&text, speeds);
    while (!problem && *text);
    return problem;
}

double orr_fabric_speed(const struct orr_fabric_speeds *speeds, double bytes)
{
    unsigned above = 0;
    double from, to, begin, end;

    if (speeds->n == 0)
        return (double)INFINITY;
    while (above < speeds->n && bytes > speeds->at[above].bytes)
        above++;
    if (above == 0 || above == speeds->n)
        return speeds->at[above ? above - 1 : 0].bandwidth;
    from = speeds->at[above - 1].bytes;
    to = speeds->at[above].bytes;
    begin = from / speeds->at[above - 1].bandwidth;
    end = to / speeds->at[above].bandwidth;
    return bytes / (begin + (end - begin) * (bytes - from) / (to - from));
}

/* ---- words ---- */

static int parse_nics(struct parser *p)
{
    struct orr_fabric *fabric = p->fabric;
    const char *bandwidth = p->word, *end, *problem;
    unsigned nics = 1;

    if (fabric->bandwidth > 0)
        return wrong_word(p, "is a second bandwidth: give one, NICs of a node "
                             "being alike, such as 2x200Gb/s");
    end = read_count(p->word, &nics);
    if (end && *end == 'x')
        bandwidth = end + 1;
    else
        nics = 1;
    problem = read_bandwidth(bandwidth, &fabric->bandwidth);
    if (problem)
        return wrong_word(p, problem);
    fabric->nics = nics;
    return 0;
}

/* "32,2:1", or less of it. */
static int parse_fat_tree(struct parser *p, const char *at)
{
    struct orr_fabric *fabric = p->fabric;
    unsigned radix = fabric->fat_tree.radix, down = 1, up = 1;

    if (*at)
        at = read_count(at, &radix);
    if (at && *at == ',') {
        at = read_count(at + 1, &down);
        at = at && *at == ':' ? read_count(at + 1, &up) : NULL;
    }
    if (!at || *at)
        return wrong_word(p, "is no fat tree: write fat-tree:PORTS or "
                             "fat-tree:PORTS,DOWN:UP, such as fat-tree:32,2:1");
    if (radix < down + up)
        return wrong_word(p, "has too few ports for that ratio: give more "
                             "ports than both of its numbers together");
    fabric->fat_tree.radix = radix;
    fabric->fat_tree.down = down;
    fabric->fat_tree.up = up;
    return 0;
}

/* "4x4x2" */
static int parse_torus(struct parser *p, const char *at)
{
    struct orr_fabric *fabric = p->fabric;
    unsigned n = 0;

    while (at && n < ORR_TORUS_MAX_DIMS) {
        at = read_count(at, &fabric->torus.dims[n++]);
        if (!at || *at != 'x')
            break;
        at++;
    }
    if (!at || *at)
        return wrong_word(p, "is no torus: write its dimensions, up to six, "
                             "such as torus:4x4x2");
    fabric->torus.ndims = n;
    return 0;
}

static int parse_topology(struct parser *p, enum orr_topology_kind kind,
                          const char *sizes)
{
    if (p->topology)
        return wrong_word(p, "is a second topology: give one");
    p->topology = true;
    p->fabric->kind = kind;
    if (kind == ORR_TOPOLOGY_FAT_TREE)
        return parse_fat_tree(p, sizes);
    if (kind == ORR_TOPOLOGY_TORUS)
        return parse_torus(p, sizes);
    if (*sizes)
        return wrong_word(p, "has sizes, which go behind the topology as words "
                             "of their own: write dragonfly g=8, or crossbar");
    return 0;
}

static int parse_setting(struct parser *p, unsigned number, const char *value)
{
    const struct setting *setting = &settings[number];
    void *at = (char *)p->fabric + setting->offset;
    const char *problem = NULL, *end;

    if (is_set(p, number))
        return wrong_word(p, "is given a second time: give it once");
    p->settings |= 1U << number;
    if (number >= SET_NODE && number <= SET_NODE_LAST)
        p->fabric->node.takes_time = true;
    if (setting->unit == UNIT_US)
        problem = read_time(value, at);
    else if (setting->unit == UNIT_BYTES)
        problem = read_bytes(value, at);
    else if (setting->unit == UNIT_BANDWIDTH)
        problem = read_bandwidth(value, at);
    else if (setting->unit == UNIT_SPEEDS)
        problem = read_speeds(value, at);
    else if (!(end = read_count(value, at)) || *end)
        problem = "is no number: write one from 1 to 65535";
    return problem ? wrong_word(p, problem) : 0;
}

static int parse_technology(struct parser *p, unsigned number)
{
    if (p->technology)
        return wrong_word(p, "is a second technology: give one");
    p->technology = true;
    if (!is_set(p, SET_LATENCY))
        p->fabric->latency_us = technologies[number].latency_us;
    if (!is_set(p, SET_HOP))
        p->fabric->hop_us = technologies[number].hop_us;
    return 0;
}

/* All words that begin with a letter, one after the other. */
static const char *name_of_word(const void *list, size_t i)
{
    (void)list;
    if (i < COUNT(technologies))
        return technologies[i].name;
    i -= COUNT(technologies);
    if (i < COUNT(topologies))
        return topologies[i];
    i -= COUNT(topologies);
    if (i < COUNT(duplexes))
        return duplexes[i];
    i -= COUNT(duplexes);
    return i < COUNT(settings) ? settings[i].name : NULL;
}

static int unknown_word(struct parser *p, size_t length)
{
    char typed[MAX_WORD], problem[160];
    const char *near;

    snprintf(typed, sizeof(typed), "%.*s", (int)length, p->word);
    near = orr_words_nearest(typed, NULL, name_of_word);
    if (near)
        snprintf(problem, sizeof(problem), "is unknown; did you mean %s?",
                 near);
    return wrong_word(
        p, near ? problem
                : "is unknown: write ib, slingshot or ethernet, the NICs of a "
                  "node as 2x200Gb/s, and crossbar, fat-tree, dragonfly or "
                  "torus");
}

static bool is_name(const char *name, const char *word, size_t length)
{
    return strlen(name) == length && strncmp(name, word, length) == 0;
}

/* What a word says, and which one of those that say it; by its beginning alone. */
struct meaning {
    enum {
        OF_NOTHING,
        OF_NICS,
        OF_TECHNOLOGY,
        OF_TOPOLOGY,
        OF_DUPLEX,
        OF_GPUDIRECT,
        OF_SETTING
    } what;
    unsigned number;
};

static struct meaning word_meaning(const char *word)
{
    size_t length = strcspn(word, ":=");
    char sign = word[length];

    if (*word && strchr("0123456789.", *word))
        return (struct meaning){OF_NICS, 0};
    for (unsigned i = 0; sign == '=' && i < COUNT(settings); i++)
        if (is_name(settings[i].name, word, length))
            return (struct meaning){OF_SETTING, i};
    for (unsigned i = 0; sign != '=' && i < COUNT(topologies); i++)
        if (is_name(topologies[i], word, length))
            return (struct meaning){OF_TOPOLOGY, i};
    for (unsigned i = 0; !sign && i < COUNT(technologies); i++)
        if (is_name(technologies[i].name, word, length))
            return (struct meaning){OF_TECHNOLOGY, i};
    for (unsigned i = 0; !sign && i < COUNT(duplexes); i++)
        if (is_name(duplexes[i], word, length))
            return (struct meaning){OF_DUPLEX, i};
    if (!sign && is_name("gpudirect", word, length))
        return (struct meaning){OF_GPUDIRECT, 0};
    return (struct meaning){OF_NOTHING, 0};
}

static int parse_word(struct parser *p)
{
    struct meaning meaning = word_meaning(p->word);
    size_t length = strcspn(p->word, ":=");
    const char *rest = p->word + length + (p->word[length] != '\0');

    switch (meaning.what) {
    case OF_NICS:
        return parse_nics(p);
    case OF_TECHNOLOGY:
        return parse_technology(p, meaning.number);
    case OF_TOPOLOGY:
        return parse_topology(p, (enum orr_topology_kind)meaning.number, rest);
    case OF_DUPLEX:
        p->fabric->half_duplex = meaning.number == 1;
        return 0;
    case OF_GPUDIRECT:
        p->fabric->gpudirect = true;
        return 0;
    case OF_SETTING:
        return parse_setting(p, meaning.number, rest);
    case OF_NOTHING:
        break;
    }
    return unknown_word(p, length);
}

/* ---- the whole ---- */

static int check_settings(struct parser *p)
{
    char problem[160];

    for (unsigned i = 0; i < COUNT(settings); i++) {
        if (!is_set(p, i) || settings[i].kind == OF_ALL ||
            settings[i].kind == (int)p->fabric->kind)
            continue;
        snprintf(problem, sizeof(problem),
                 "%s= is of the topology %s, and this one is a %s: leave it "
                 "out, or write %s",
                 settings[i].name, topologies[settings[i].kind],
                 topologies[p->fabric->kind], topologies[settings[i].kind]);
        return wrong_whole(p, problem);
    }
    return 0;
}

static int check_whole(struct parser *p)
{
    if (!(p->fabric->bandwidth > 0))
        return wrong_whole(p, "no bandwidth is given: add the NICs of a node, "
                              "such as 200Gb/s or 2x200Gb/s");
    if (p->fabric->kind == ORR_TOPOLOGY_DRAGONFLY && !p->fabric->dragonfly.g)
        return wrong_whole(p, "a dragonfly needs its number of groups: add it, "
                              "such as g=8");
    return check_settings(p);
}

static const char blanks[] = " \t\n";

static int parse_words(struct parser *p)
{
    const char *at = p->text;
    int rc = 0;

    while (rc == 0 && *(at += strspn(at, blanks))) {
        size_t length = strcspn(at, blanks);

        snprintf(p->word, sizeof(p->word), "%.*s", (int)length, at);
        rc = length < sizeof(p->word)
                 ? parse_word(p)
                 : wrong_word(p, "is too long for any word of a network");
        at += length;
    }
    return rc == 0 ? check_whole(p) : rc;
}

int orr_fabric_parse(const char *text, struct orr_fabric *ret,
                     struct orr_error *err)
{
    struct orr_fabric fabric = {
        .nics = 1,
        .latency_us = technologies[0].latency_us,
        .hop_us = technologies[0].hop_us,
        .eager = 64 << 10,
        .fat_tree = {.radix = 40, .down = 1, .up = 1},
    };
    struct parser p = {.text = text, .fabric = &fabric, .err = err};
    int rc = parse_words(&p);

    if (!is_set(&p, SET_NODE_EAGER))
        fabric.node.eager = fabric.eager;
    if (rc == 0)
        *ret = fabric;
    return rc;
}

/* ---- other words ---- */

/* Whether what is said by `old` would not hold beside `word`: they say the same, or `old`
 * is of another topology's sizes, or a latency of another technology. */
static bool takes_place(struct meaning word, struct meaning old)
{
    if (old.what == OF_SETTING && word.what == OF_TOPOLOGY)
        return settings[old.number].kind != OF_ALL;
    if (old.what == OF_SETTING && word.what == OF_TECHNOLOGY)
        return old.number == SET_LATENCY || old.number == SET_HOP;
    return old.what != OF_NOTHING && word.what == old.what &&
           (word.what != OF_SETTING || word.number == old.number);
}

static bool is_replaced(const char *old, const char *words)
{
    struct meaning meaning = word_meaning(old);

    for (; *(words += strspn(words, blanks)); words += strcspn(words, blanks)) {
        char word[MAX_WORD];

        snprintf(word, sizeof(word), "%.*s", (int)strcspn(words, blanks),
                 words);
        if (takes_place(word_meaning(word), meaning))
            return true;
    }
    return false;
}

char *orr_fabric_replace(const char *text, const char *words)
{
    size_t room = strlen(text) + strlen(words) + 2, end = 0;
    char *result = malloc(room), old[MAX_WORD];

    if (!result)
        return NULL;
    for (; *(text += strspn(text, blanks)); text += strcspn(text, blanks)) {
        size_t length = strcspn(text, blanks);

        snprintf(old, sizeof(old), "%.*s", (int)length, text);
        if (!is_replaced(old, words))
            end += (size_t)sprintf(result + end, "%.*s ", (int)length, text);
    }
    snprintf(result + end, room - end, "%s", words + strspn(words, blanks));
    return result;
}
