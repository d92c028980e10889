/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/machine/nvidia_topology.c - reads what `nvidia-smi topo -m` prints: a
 * line of column names (GPU0, NIC0 …, CPU Affinity, NUMA Affinity), a line for
 * each GPU, lines for network cards, a legend. One thread.
 */
#include "tools/common/tool.h"
#include "tools/machine/topology.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 512

struct reader {
    const char *path;
    unsigned line;
    unsigned ncolumns;     /* names before "CPU Affinity" */
    int gpu_at[MAX_WORDS]; /* per column the GPU it stands for, -1: a card */
    struct nvidia_topology *topology;
    bool *seen; /* per GPU: its line was read */
};

void nvidia_topology_done(struct nvidia_topology *topology)
{
    free(topology->cells);
    free(topology->numa);
    *topology = (struct nvidia_topology){0};
}

static int topology_line_wrong(const struct reader *r, const char *what,
                               const char *word)
{
    tool_error("%s:%u: %s%.40s: is this what `nvidia-smi topo -m` prints?",
               r->path, r->line, what, word);
    return -EINVAL;
}

/* "GPU12" is 12, all others -1. */
static int gpu_number(const char *word)
{
    char *end;
    long number;

    if (strncmp(word, "GPU", 3) != 0 || !isdigit((unsigned char)word[3]))
        return -1;
    number = strtol(word + 3, &end, 10);
    return *end || number >= MACHINE_PLAN_MAX_DEVICES ? -1 : (int)number;
}

/* The column names are underlined for terminals: ESC [ … m. */
static void strip_escapes(char *line)
{
    char *to = line;

    for (; *line; line++) {
        if (*line == '\033') {
            line += strcspn(line, "m");
            if (!*line)
                break;
            continue;
        }
        *to++ = *line;
    }
    *to = '\0';
}

/* Splits at blanks; fields beyond the last are left out. */
static unsigned split_topology_line(char *line, char *words[MAX_WORDS])
{
    unsigned n = 0;
    char *saved = NULL;

    for (char *word = strtok_r(line, " \t\r", &saved); word && n < MAX_WORDS;
         word = strtok_r(NULL, " \t\r", &saved))
        words[n++] = word;
    return n;
}

static int read_topology_columns(struct reader *r, char **words,
                                 unsigned nwords)
{
    struct nvidia_topology *t = r->topology;

    for (; r->ncolumns < nwords && strcmp(words[r->ncolumns], "CPU") != 0;
         r->ncolumns++) {
        int gpu = gpu_number(words[r->ncolumns]);

        if (gpu >= 0 && (unsigned)gpu != t->n)
            return topology_line_wrong(
                r, "the GPUs are not numbered from 0 on: ", words[r->ncolumns]);
        r->gpu_at[r->ncolumns] = gpu;
        t->n += gpu >= 0;
    }
    t->cells = calloc((size_t)t->n * t->n + 1, sizeof(*t->cells));
    t->numa = malloc((t->n + (size_t)1) * sizeof(*t->numa));
    r->seen = calloc(t->n + (size_t)1, sizeof(*r->seen));
    if (!t->cells || !t->numa || !r->seen) {
        tool_error("out of memory");
        return -ENOMEM;
    }
    return 0;
}

static int read_cell(const struct reader *r, const char *word,
                     struct nvidia_cell *ret)
{
    static const struct {
        const char *word;
        enum nvidia_relation relation;
    } known[] = {{"X", NVIDIA_SELF},    {"PIX", NVIDIA_PIX},
                 {"PXB", NVIDIA_PXB},   {"PHB", NVIDIA_PHB},
                 {"NODE", NVIDIA_NODE}, {"SYS", NVIDIA_SYS}};
    char *end;
    long links;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(word, known[i].word) == 0) {
            *ret = (struct nvidia_cell){known[i].relation, 0};
            return 0;
        }
    if (strncmp(word, "NV", 2) == 0 && isdigit((unsigned char)word[2])) {
        links = strtol(word + 2, &end, 10);
        if (!*end && links > 0 && links < 1000) {
            *ret = (struct nvidia_cell){NVIDIA_NV, (unsigned)links};
            return 0;
        }
    }
    return topology_line_wrong(
        r,
        "X, PIX, PXB, PHB, NODE, SYS or NV and a number are "
        "known, not ",
        word);
}

static int read_topology_gpu(struct reader *r, char **words, unsigned nwords)
{
    struct nvidia_topology *t = r->topology;
    int gpu = gpu_number(words[0]);
    char *end;

    if ((unsigned)gpu >= t->n || r->seen[gpu])
        return topology_line_wrong(
            r, "a line for a GPU without column, or a second one: ", words[0]);
    if (nwords <= r->ncolumns)
        return topology_line_wrong(r, "the line is too short: ", words[0]);
    for (unsigned c = 0; c < r->ncolumns; c++) {
        struct nvidia_cell cell;

        if (r->gpu_at[c] < 0)
            continue;
        if (read_cell(r, words[c + 1], &cell) < 0)
            return -EINVAL;
        if ((cell.relation == NVIDIA_SELF) != (r->gpu_at[c] == gpu))
            return topology_line_wrong(
                r, "X belongs where a GPU meets itself: ", words[0]);
        t->cells[(unsigned)gpu * t->n + (unsigned)r->gpu_at[c]] = cell;
    }
    t->numa[gpu] = -1;
    if (nwords > r->ncolumns + 2) {
        long numa = strtol(words[r->ncolumns + 2], &end, 10);

        if (end != words[r->ncolumns + 2] && numa >= 0 && numa < 1024)
            t->numa[gpu] = (int)numa;
    }
    r->seen[gpu] = true;
    return 0;
}

static int check_topology(struct reader *r)
{
    const struct nvidia_topology *t = r->topology;

    if (t->n == 0) {
        tool_error("%s: no line of columns with GPU0: is this what "
                   "`nvidia-smi topo -m` prints?",
                   r->path);
        return -EINVAL;
    }
    for (unsigned i = 0; i < t->n; i++)
        if (!r->seen[i]) {
            tool_error("%s: there is no line for GPU%u", r->path, i);
            return -EINVAL;
        }
    for (unsigned i = 0; i < t->n; i++)
        for (unsigned j = 0; j < i; j++) {
            const struct nvidia_cell *a = &t->cells[i * t->n + j];
            const struct nvidia_cell *b = &t->cells[j * t->n + i];

            if (a->relation == b->relation && a->links == b->links)
                continue;
            tool_error("%s: GPU%u and GPU%u contradict each other", r->path, j,
                       i);
            return -EINVAL;
        }
    return 0;
}

static int read_topology_line(struct reader *r, char *line)
{
    char *words[MAX_WORDS];
    unsigned nwords;

    strip_escapes(line);
    nwords = split_topology_line(line, words);
    if (nwords == 0)
        return 0;
    if (r->topology->n == 0 && gpu_number(words[0]) >= 0 && nwords > 1 &&
        strcmp(words[1], "X") == 0)
        return topology_line_wrong(
            r, "the line of column names is missing above ", words[0]);
    if (r->topology->n == 0)
        return gpu_number(words[0]) == 0
                   ? read_topology_columns(r, words, nwords)
                   : 0;
    return gpu_number(words[0]) >= 0 ? read_topology_gpu(r, words, nwords) : 0;
}

int nvidia_topology_parse(const char *path, const char *text,
                          struct nvidia_topology *ret)
{
    struct nvidia_topology topology = {0};
    struct reader *r = calloc(1, sizeof(*r));
    char *copy = strdup(text), *next = copy;
    int rc = r && copy ? 0 : -ENOMEM;

    if (rc < 0)
        tool_error("out of memory");
    else
        r->path = path;
    while (rc == 0 && next) {
        char *line = strsep(&next, "\n");

        r->line++;
        r->topology = &topology;
        rc = read_topology_line(r, line);
    }
    if (rc == 0)
        rc = check_topology(r);
    if (r)
        free(r->seen);
    free(r);
    free(copy);
    if (rc < 0)
        nvidia_topology_done(&topology);
    else
        *ret = topology;
    return rc;
}
