/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/cluster.c - see cluster.h: clusters by the line that describes them. */
#include "platforms/cluster.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "platforms/machine_desc.h"

static const char blanks[] = " \t\n";
static const char ranks_word[] = "ranks-per-node=";

/* A part of a text, without the blanks around it. */
struct term {
    const char *at;
    size_t length;
};

static struct term term_trim(const char *at, size_t length)
{
    while (length && strchr(blanks, at[length - 1]))
        length--;
    while (length && strchr(blanks, *at)) {
        at++;
        length--;
    }
    return (struct term){at, length};
}

/* The length up to `sign` outside quotation marks, or to the end. */
static size_t find_sign(const char *at, size_t length, char sign)
{
    bool quoted = false;

    for (size_t i = 0; i < length; i++) {
        if (at[i] == '"')
            quoted = !quoted;
        else if (at[i] == sign && !quoted)
            return i;
    }
    return length;
}

/* Takes the first term of *at, which is then behind its "+", or NULL. */
static struct term next_term(const char **at)
{
    size_t left = strlen(*at), length = find_sign(*at, left, '+');
    struct term term = term_trim(*at, length);

    *at = length < left ? *at + length + 1 : NULL;
    return term;
}

/* A number from 1 on that is all of `text`; 0 if it is none, UINT_MAX if it is too large. */
static unsigned read_count(struct term text)
{
    unsigned long long value = 0;

    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return 0;
        value = value * 10 + (unsigned)(text.at[i] - '0');
        if (value >= UINT_MAX)
            return UINT_MAX;
    }
    return (unsigned)value;
}

bool orr_cluster_is(const char *text)
{
    static const char ending[] = ".cluster.xml";
    size_t length = strlen(text), tail = strlen(ending);

    if (length > tail && strcmp(text + length - tail, ending) == 0)
        return true;
    while (text) {
        struct term term = next_term(&text);
        size_t star = find_sign(term.at, term.length, '*');

        if (star < term.length && read_count(term_trim(term.at, star)) > 0)
            return true;
    }
    return false;
}

/* ---- making ---- */

int orr_cluster_add(struct orr_cluster_desc *cluster, unsigned n,
                    const char *machine)
{
    struct orr_cluster_group *group;

    if (n > ORR_CLUSTER_MAX_NODES - cluster->nnodes)
        return -E2BIG;
    group = orr_array_add(cluster->groups, cluster->ngroups);
    if (!group)
        return -ENOMEM;
    group->machine = strdup(machine);
    if (!group->machine) {
        cluster->ngroups--;
        return -ENOMEM;
    }
    group->n = n;
    cluster->nnodes += n;
    return 0;
}

void orr_cluster_free(struct orr_cluster_desc *cluster)
{
    for (unsigned i = 0; i < cluster->ngroups; i++) {
        free(cluster->groups[i].machine);
        free(cluster->groups[i].edits);
    }
    free(cluster->groups);
    orr_edit_echoes_free(cluster->edits, cluster->nedits);
    free(cluster->network);
    free(cluster->name);
    free(cluster->description);
    *cluster = (struct orr_cluster_desc){0};
}

/* ---- the network ---- */

/* Moves the words of `text` to `words`, a blank between two, but for that of ranks. */
static int split_words(const char *text, char *words, unsigned *ranks,
                       struct orr_error *err)
{
    size_t length, prefix = strlen(ranks_word), end = 0;

    *ranks = 0;
    for (; *(text += strspn(text, blanks)); text += length) {
        length = strcspn(text, blanks);
        if (strncmp(text, ranks_word, prefix) != 0) {
            end += (size_t)sprintf(words + end, "%s%.*s", end ? " " : "",
                                   (int)length, text);
            continue;
        }
        if (*ranks)
            return orr_fail(
                err, -EINVAL,
                "cluster: ranks-per-node is given a second time: give it "
                "once");
        *ranks = read_count((struct term){text + prefix, length - prefix});
        if (*ranks < 1 || *ranks > ORR_CLUSTER_MAX_RANKS)
            return orr_fail(
                err, -EINVAL,
                "cluster: \"%.*s\" is no number of ranks: write one from 1 "
                "to %u",
                (int)(length < 80 ? length : 80), text, ORR_CLUSTER_MAX_RANKS);
    }
    words[end] = '\0';
    return 0;
}

/* Takes `words`, if nothing is wrong with them. */
static int take_network(struct orr_cluster_desc *cluster, char *words,
                        struct orr_error *err)
{
    struct orr_fabric fabric;
    int rc = orr_fabric_parse(words, &fabric, err);

    if (rc)
        return rc;
    free(cluster->network);
    cluster->network = words;
    cluster->fabric = fabric;
    return 0;
}

int orr_cluster_set_network(struct orr_cluster_desc *cluster,
                            const char *network, struct orr_error *err)
{
    size_t room = strlen(network) + sizeof(ORR_CLUSTER_NETWORK);
    char *words = malloc(room);
    unsigned ranks;
    int rc;

    if (!words)
        return -ENOMEM;
    rc = split_words(network, words, &ranks, err);
    if (rc == 0 && !*words)
        snprintf(words, room, "%s", ORR_CLUSTER_NETWORK);
    if (rc == 0)
        rc = take_network(cluster, words, err);
    if (rc)
        free(words);
    else if (ranks || !cluster->ranks_per_node)
        cluster->ranks_per_node = ranks ? ranks : 1;
    return rc;
}

/* ---- reading ---- */

static int wrong_term(struct term term, const char *problem,
                      struct orr_error *err)
{
    return orr_fail(err, -EINVAL, "cluster: \"%.*s\" %s",
                    (int)(term.length < 200 ? term.length : 200), term.at,
                    problem);
}

/* Takes quotation marks around a name away. Returns whether it may have the signs that are
 * left. */
static bool unquote(struct term *name)
{
    bool quoted = name->length >= 2 && name->at[0] == '"' &&
                  name->at[name->length - 1] == '"';

    if (quoted)
        *name = (struct term){name->at + 1, name->length - 2};
    return !memchr(name->at, '"', name->length) &&
           (quoted || !memchr(name->at, '*', name->length));
}

static int read_nodes(struct orr_cluster_desc *cluster, struct term term,
                      size_t star, struct orr_error *err)
{
    struct term name = term_trim(term.at + star + 1, term.length - star - 1);
    unsigned n = read_count(term_trim(term.at, star));
    bool clean = unquote(&name);
    char *machine;
    int rc;

    if (n == 0)
        return wrong_term(term,
                          "has no number of nodes: write it before the *, such "
                          "as 16*h100-pcie-4",
                          err);
    if (name.length == 0)
        return wrong_term(
            term,
            "has no machine: write its name behind the *, such as "
            "16*h100-pcie-4",
            err);
    if (!clean)
        return wrong_term(term,
                          "has signs that names have only in quotation marks: "
                          "write 16*\"NAME\", and + between terms",
                          err);
    machine = strndup(name.at, name.length);
    rc = machine ? orr_cluster_add(cluster, n, machine) : -ENOMEM;
    free(machine);
    if (rc == -E2BIG)
        return orr_fail(
            err, -EINVAL,
            "cluster: with \"%.*s\" there are more nodes than the %u that "
            "one may have: give fewer",
            (int)(term.length < 200 ? term.length : 200), term.at,
            ORR_CLUSTER_MAX_NODES);
    return rc;
}

static int read_network(struct orr_cluster_desc *cluster, struct term term,
                        struct orr_error *err)
{
    char *words = strndup(term.at, term.length);
    size_t length;
    int rc;

    if (!words)
        return -ENOMEM;
    rc = orr_cluster_set_network(cluster, words, err);
    free(words);
    /* One word that is none of a network's may be meant as a machine. */
    if (rc != -EINVAL || !err || !term.length ||
        strchr("0123456789.", *term.at) || memchr(term.at, ' ', term.length))
        return rc;
    length = strlen(err->text);
    snprintf(err->text + length, sizeof(err->text) - length,
             "; a machine has a number before it, 1*%.*s",
             (int)(term.length < 80 ? term.length : 80), term.at);
    return rc;
}

static int read_term(struct orr_cluster_desc *cluster, struct term term,
                     bool is_last, struct orr_error *err)
{
    size_t star = find_sign(term.at, term.length, '*');

    if (term.length == 0)
        return orr_fail(err, -EINVAL,
                        "cluster: nothing stands %s a +: write nodes, such "
                        "as 16*h100-pcie-4, or take the + away",
                        is_last ? "behind" : "before");
    if (star < term.length)
        return read_nodes(cluster, term, star, err);
    if (!is_last)
        return wrong_term(
            term,
            "is not the last term, so no network, and has no number "
            "of nodes: write 1*NAME, or move the network behind all "
            "nodes",
            err);
    return read_network(cluster, term, err);
}

int orr_cluster_read(const char *text, struct orr_cluster_desc *ret,
                     struct orr_error *err)
{
    struct orr_cluster_desc cluster = {0};
    const char *at = text;
    int rc = 0;

    while (at && rc == 0) {
        struct term term = next_term(&at);

        rc = read_term(&cluster, term, at == NULL, err);
    }
    if (rc == 0 && !cluster.network)
        rc = orr_cluster_set_network(&cluster, "", err);
    if (rc == 0 && cluster.nnodes == 0)
        rc = orr_fail(err, -EINVAL,
                      "cluster: \"%.200s\" has no nodes: write them first, "
                      "such as 16*h100-pcie-4",
                      text);
    if (rc)
        orr_cluster_free(&cluster);
    else
        *ret = cluster;
    return rc;
}

/* ---- asking ---- */

const struct orr_cluster_group *
orr_cluster_group(const struct orr_cluster_desc *cluster, unsigned node)
{
    const struct orr_cluster_group *group = cluster->groups;

    assert(node < cluster->nnodes);
    while (node >= group->n)
        node -= group++->n;
    return group;
}

const char *orr_cluster_machine(const struct orr_cluster_desc *cluster,
                                unsigned node)
{
    return orr_cluster_group(cluster, node)->machine;
}

void orr_cluster_print_network(const struct orr_cluster_desc *cluster,
                               FILE *out)
{
    fputs(cluster->network, out);
    if (cluster->ranks_per_node > 1)
        fprintf(out, " %s%u", ranks_word, cluster->ranks_per_node);
}

static void print_line(const struct orr_cluster_desc *cluster, FILE *out)
{
    for (unsigned i = 0; i < cluster->ngroups; i++) {
        const char *machine = cluster->groups[i].machine;
        const char *mark = strpbrk(machine, "+* \t\n") ? "\"" : "";

        fprintf(out, "%s%u*%s%s%s", i ? " + " : "", cluster->groups[i].n, mark,
                machine, mark);
    }
    fputs(" + ", out);
    orr_cluster_print_network(cluster, out);
}

char *orr_cluster_line(const struct orr_cluster_desc *cluster)
{
    char *line = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);
    bool failed;

    if (!out)
        return NULL;
    print_line(cluster, out);
    failed = ferror(out);
    if (fclose(out) == 0 && !failed)
        return line;
    free(line);
    return NULL;
}
