/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/graph_read.c - a graph from text, see graph_text.h: a line is a keyword
 * and its fields. Arrays grow with the lines that fill them; no count in a file
 * is trusted. One thread per file.
 */
#include "bound/graph_text.h"
#include "core/base/grow.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/number.h"

struct reader {
    FILE *f;
    const char *name;
    struct orr_error *err;
    struct orr_graph *graph;
    char *line; /* owned */
    size_t room;
    char *at; /* what is left of the line */
    unsigned number;
    bool has_run, ended;
};

__attribute__((format(printf, 2, 3))) static int wrong(struct reader *r,
                                                       const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    orr_vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return orr_fail(r->err, -EINVAL, "%s:%u: %s", r->name, r->number, text);
}

static int graph_reader_no_memory(struct reader *r)
{
    return orr_fail(r->err, -ENOMEM, "%s:%u: out of memory", r->name,
                    r->number);
}

/* --- lines and fields --- */

/* The next line without its end; 1, or 0 at the end of the text. */
static int graph_next_line(struct reader *r)
{
    size_t n = 0;
    int c;

    r->number++;
    while ((c = getc(r->f)) != EOF && c != '\n') {
        if (c == '\0')
            return wrong(r, "a zero byte: this is not the text of a graph");
        if (n + 1 >= ORR_GRAPH_MAX_LINE)
            return wrong(r, "the line is longer than %d bytes",
                         ORR_GRAPH_MAX_LINE);
        if (orr_grow(&r->line, &r->room, n + 2, 1) < 0)
            return graph_reader_no_memory(r);
        r->line[n++] = (char)c;
    }
    if (ferror(r->f))
        return orr_fail(r->err, -EIO, "%s:%u: cannot be read", r->name,
                        r->number);
    if (c == EOF && n == 0)
        return 0;
    if (n == 0) {
        r->at = NULL;
        return 1;
    }
    r->line[n] = '\0';
    r->at = r->line;
    return 1;
}

static bool is_graph_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next field, NULL when there is none. Lent until the next line. */
static char *next_word(struct reader *r)
{
    char *word = r->at;

    while (word && is_graph_blank(*word))
        word++;
    if (!word || !*word)
        return NULL;
    for (r->at = word; *r->at && !is_graph_blank(*r->at); r->at++)
        ;
    if (*r->at)
        *r->at++ = '\0';
    return word;
}

static int end_of_line(struct reader *r)
{
    const char *word = next_word(r);

    return word ? wrong(r, "\"%.40s\" is too much", word) : 0;
}

/* Decimal or hexadecimal digits and nothing else, at most `most`. */
static int take_integer(struct reader *r, const char *what, int base,
                        uint64_t most, uint64_t *ret)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *word = next_word(r);

    if (!word)
        return wrong(r, "the %s is missing", what);
    errno = 0;
    *ret = strtoull(word, NULL, base);
    if (strspn(word, base == 10 ? "0123456789" : digits) != strlen(word))
        return wrong(r, "%s: \"%.40s\" is no %snumber", what, word,
                     base == 10 ? "" : "hexadecimal ");
    if (errno || *ret > most)
        return wrong(r, "%s: %.40s is too large, at most %" PRIu64, what, word,
                     most);
    return 0;
}

/* The number of an object defined before. */
static int take_index(struct reader *r, const char *what, unsigned n,
                      unsigned *ret)
{
    uint64_t value = 0;
    int rc = take_integer(r, what, 10, UINT32_MAX, &value);

    if (!rc && value >= n)
        return wrong(r, "%s %" PRIu64 " does not exist: %u %s before this line",
                     what, value, n, n == 1 ? "stands" : "stand");
    *ret = (unsigned)value;
    return rc;
}

enum { MAY_BE_NAN = 1, MAY_BE_INF = 2, MAY_NOT_BE_0 = 4 };

static int graph_take_number(struct reader *r, const char *what, unsigned may,
                             double *ret)
{
    const char *word = next_word(r);
    char *end;

    if (!word)
        return wrong(r, "the %s is missing", what);
    *ret = orr_strtod(word, &end);
    if (*end || end == word)
        return wrong(r, "%s: \"%.40s\" is no number", what, word);
    if (isnan(*ret)) {
        *ret = NAN; /* no sign, no payload */
        return may & MAY_BE_NAN ? 0
                                : wrong(r, "the %s cannot be unknown", what);
    }
    if (*ret < 0)
        return wrong(r, "%s: %.40s is negative", what, word);
    if (isinf(*ret) && !(may & MAY_BE_INF))
        return wrong(r, "%s: %.40s is not finite", what, word);
    if (*ret == 0 && may & MAY_NOT_BE_0)
        return wrong(r, "the %s cannot be 0", what);
    return 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What follows a backslash; moves *from behind it. -1: unknown.
 */
static int unescape(const char **from)
{
    const char *p = *from;
    int high, low;

    if (*p == '"' || *p == '\\') {
        *from = p + 1;
        return *p;
    }
    if (*p != 'x' || (high = hex_digit(p[1])) < 0 ||
        (low = hex_digit(p[2])) < 0 || high + low == 0)
        return -1;
    *from = p + 3;
    return high * 16 + low;
}

/* A string in quotation marks, copied. */
static int take_string(struct reader *r, const char *what, char **ret)
{
    const char *from = r->at;
    char *to;

    while (from && is_graph_blank(*from))
        from++;
    if (!from || *from != '"')
        return wrong(r, "the %s is missing: \"…\" in quotation marks", what);
    to = r->at; /* never ahead of `from` */
    for (from++; *from != '"';) {
        int c = (unsigned char)*from++;

        if (c == '\\')
            c = unescape(&from);
        if (c == '\0')
            return wrong(r, "the %s has no closing quotation mark", what);
        if (c < 0)
            return wrong(r, "the %s has a \\ that is none of \\\\ \\\" \\x09",
                         what);
        *to++ = (char)c;
    }
    from++;
    if (*from && !is_graph_blank(*from))
        return wrong(r, "no blank follows the %s", what);
    *to = '\0';
    *ret = strdup(r->at);
    r->at += from - r->at;
    return *ret ? 0 : graph_reader_no_memory(r);
}

/* --- the machine --- */

static int read_machine(struct reader *r)
{
    if (r->graph->machine)
        return wrong(r, "a second machine");
    return take_string(r, "name of the machine", &r->graph->machine);
}

static int graph_read_figures(struct reader *r)
{
    if (r->graph->figures)
        return wrong(r, "a second line of figures");
    return take_string(r, "origin of the figures", &r->graph->figures);
}

static int read_about(struct reader *r)
{
    char *what = NULL, *text = NULL;
    int rc = take_string(r, "word for what is told of the run", &what);

    if (!rc)
        rc = take_string(r, "text about the run", &text);
    if (!rc && orr_graph_add_about(r->graph, what, text) < 0)
        rc = graph_reader_no_memory(r);
    free(what);
    free(text);
    return rc;
}

static int read_run(struct reader *r)
{
    const char *word = next_word(r);

    if (r->has_run)
        return wrong(r, "a second run");
    if (!word || (strcmp(word, "real") && strcmp(word, "simulated")))
        return wrong(r, "a run is \"real\" or \"simulated\"");
    r->has_run = true;
    r->graph->simulated = *word == 's';
    return graph_take_number(r, "makespan", MAY_BE_NAN, &r->graph->makespan_ms);
}

static int too_many(struct reader *r, const char *what)
{
    return wrong(r, "more than %d %s", ORR_GRAPH_MAX_WORKERS, what);
}

static int graph_read_node(struct reader *r)
{
    struct orr_graph_node *node;
    int rc;

    if (r->graph->nnodes == ORR_GRAPH_MAX_WORKERS)
        return too_many(r, "memory nodes");
    node = orr_array_add(r->graph->nodes, r->graph->nnodes);
    if (!node)
        return graph_reader_no_memory(r);
    rc = take_string(r, "name of the memory node", &node->name);
    return rc ? rc
              : graph_take_number(r, "capacity", MAY_BE_INF, &node->capacity);
}

static int read_worker(struct reader *r)
{
    struct orr_graph_worker *worker;
    const char *word;
    int rc;

    if (r->graph->ntypes)
        return wrong(r, "workers must come before task types");
    if (r->graph->nworkers == ORR_GRAPH_MAX_WORKERS)
        return too_many(r, "workers");
    worker = orr_array_add(r->graph->workers, r->graph->nworkers);
    if (!worker)
        return graph_reader_no_memory(r);
    rc = take_string(r, "name of the worker", &worker->name);
    if (!rc)
        rc = take_index(r, "memory node", r->graph->nnodes, &worker->node);
    word = rc ? NULL : next_word(r);
    if (!word)
        return rc;
    worker->blocking = !strcmp(word, "blocking");
    return worker->blocking ? 0 : wrong(r, "\"%.40s\" is too much", word);
}

static int read_costs(struct reader *r)
{
    struct orr_graph_costs *costs = &r->graph->costs;
    const struct {
        const char *what;
        double *to;
    } all[] = {{"cost of a submission", &costs->submit_ms},
               {"cost of an access", &costs->submit_access_ms},
               {"cost of a ready task", &costs->submit_ready_ms},
               {"cost of a push", &costs->push_ms},
               {"cost between two tasks", &costs->progress_ms},
               {"cost of fetching", &costs->fetch_ms}};
    int rc = 0;

    for (unsigned i = 0; i < sizeof(all) / sizeof(*all) && !rc; i++)
        rc = graph_take_number(r, all[i].what, 0, all[i].to);
    if (!rc && r->at && r->at[strspn(r->at, " \t\r")])
        rc = graph_take_number(r, "cost of a device's queue", 0, &costs->queue_ms);
    return rc;
}

static int read_link(struct reader *r)
{
    struct orr_graph_link *link;
    int rc;

    if (r->graph->nlinks == ORR_GRAPH_MAX_WORKERS)
        return too_many(r, "links");
    link = orr_array_add(r->graph->links, r->graph->nlinks);
    if (!link)
        return graph_reader_no_memory(r);
    rc = take_string(r, "name of the link", &link->name);
    return rc ? rc
              : graph_take_number(r, "bandwidth", MAY_BE_INF | MAY_NOT_BE_0,
                                  &link->bandwidth);
}

static int read_route(struct reader *r)
{
    struct orr_graph_route *route =
        orr_array_add(r->graph->routes, r->graph->nroutes);
    int rc;

    if (!route)
        return graph_reader_no_memory(r);
    route->first_link = r->graph->nroute_links;
    rc = take_index(r, "memory node", r->graph->nnodes, &route->src);
    if (!rc)
        rc = take_index(r, "memory node", r->graph->nnodes, &route->dst);
    if (!rc)
        rc = graph_take_number(r, "latency", 0, &route->latency_ms);
    while (!rc && r->at && r->at[strspn(r->at, " \t\r")]) {
        unsigned *link =
            orr_array_add(r->graph->route_links, r->graph->nroute_links);

        if (!link)
            return graph_reader_no_memory(r);
        route->nlinks++;
        rc = take_index(r, "link", r->graph->nlinks, link);
    }
    return rc;
}

/* --- tasks --- */

/* Some workers in turn that take the same time; moves *w behind them. */
static int graph_read_durations(struct reader *r,
                                struct orr_graph_task_type *type, unsigned *w)
{
    unsigned left = r->graph->nworkers - *w;
    double mean, deviation;
    uint64_t n;
    int rc = take_integer(r, "number of workers", 10, left, &n);

    if (!rc && n == 0)
        return wrong(r, "times of 0 workers");
    if (!rc)
        rc = graph_take_number(r, "mean", MAY_BE_NAN | MAY_BE_INF, &mean);
    if (!rc)
        rc = graph_take_number(r, "deviation", 0, &deviation);
    for (; !rc && n > 0; n--, ++*w) {
        type->mean_ms[*w] = mean;
        type->deviation_ms[*w] = deviation;
    }
    return rc;
}

static int graph_read_type(struct reader *r)
{
    struct orr_graph_task_type *type;
    uint64_t footprint = 0;
    unsigned w = 0;
    int rc;

    if (((uint64_t)r->graph->ntypes + 1) * r->graph->nworkers >
        ORR_GRAPH_MAX_DURATIONS)
        return wrong(r, "more than %d times of task types on workers",
                     ORR_GRAPH_MAX_DURATIONS);
    type = orr_array_add(r->graph->types, r->graph->ntypes);
    if (!type)
        return graph_reader_no_memory(r);
    type->mean_ms = calloc((size_t)r->graph->nworkers + 1, sizeof(double));
    type->deviation_ms = calloc((size_t)r->graph->nworkers + 1, sizeof(double));
    if (!type->mean_ms || !type->deviation_ms)
        return graph_reader_no_memory(r);
    rc = take_string(r, "symbol", &type->symbol);
    if (!rc)
        rc = take_integer(r, "footprint", 16, UINT32_MAX, &footprint);
    type->footprint = (uint32_t)footprint;
    if (!rc)
        rc = graph_take_number(r, "number of flop", 0, &type->flops);
    while (!rc && w < r->graph->nworkers)
        rc = graph_read_durations(r, type, &w);
    return rc;
}

/* Some workers in turn whose times have one origin; moves *w behind them. */
static int graph_read_origin(struct reader *r, struct orr_graph_task_type *type,
                             unsigned *w)
{
    uint64_t n = 0;
    int rc =
        take_integer(r, "number of workers", 10, r->graph->nworkers - *w, &n);
    const char *word = rc ? NULL : next_word(r);

    if (!rc && n == 0)
        return wrong(r, "an origin of 0 workers");
    if (!rc && !word)
        return wrong(r, "the origin of the times is missing");
    if (rc)
        return rc;
    rc = orr_graph_origin(r->graph, strcmp(word, "-") ? word : "");
    if (rc == -E2BIG)
        return wrong(r, "more than %d origins of times", UINT8_MAX);
    if (rc < 0)
        return graph_reader_no_memory(r);
    for (; n > 0; n--)
        type->origin[(*w)++] = (uint8_t)rc;
    return 0;
}

static int graph_read_origins(struct reader *r)
{
    struct orr_graph_task_type *type;
    unsigned w = 0;
    int rc = 0;

    if (r->graph->ntypes == 0)
        return wrong(r, "origins of times stand behind a task type");
    type = &r->graph->types[r->graph->ntypes - 1];
    if (type->origin)
        return wrong(r, "a second line of origins of a task type");
    type->origin = calloc((size_t)r->graph->nworkers + 1, sizeof(uint8_t));
    if (!type->origin)
        return graph_reader_no_memory(r);
    while (!rc && w < r->graph->nworkers)
        rc = graph_read_origin(r, type, &w);
    return rc;
}

static int read_awaited(struct reader *r)
{
    struct orr_graph_task_type *type;
    unsigned w = 0;
    int rc = 0;

    if (r->graph->ntypes == 0)
        return wrong(r, "\"awaited\" stands behind a task type");
    type = &r->graph->types[r->graph->ntypes - 1];
    if (type->awaited)
        return wrong(r, "a second line \"awaited\" of a task type");
    type->awaited = calloc((size_t)r->graph->nworkers + 1, sizeof(uint8_t));
    if (!type->awaited)
        return graph_reader_no_memory(r);
    while (!rc && w < r->graph->nworkers) {
        uint64_t n = 0, awaited = 0;

        rc = take_integer(r, "number of workers", 10, r->graph->nworkers - w, &n);
        if (!rc && n == 0)
            return wrong(r, "\"awaited\" of 0 workers");
        if (!rc)
            rc = take_integer(r, "whether they wait", 10, 1, &awaited);
        for (; !rc && n > 0; n--)
            type->awaited[w++] = (uint8_t)awaited;
    }
    return rc;
}

static int read_unmodelled(struct reader *r)
{
    if (r->graph->ntypes == 0)
        return wrong(r, "\"unmodelled\" stands behind a task type");
    r->graph->types[r->graph->ntypes - 1].unmodelled = true;
    return 0;
}

static int read_datum(struct reader *r)
{
    struct orr_graph_datum *datum =
        orr_array_add(r->graph->data, r->graph->ndata);
    const char *word;
    int rc;

    if (!datum)
        return graph_reader_no_memory(r);
    rc = take_index(r, "memory node", r->graph->nnodes, &datum->home);
    if (rc)
        return rc;
    word = next_word(r);
    if (!word || (strcmp(word, "valued") && strcmp(word, "new")))
        return wrong(r, "a datum is \"valued\" or \"new\"");
    datum->valued = *word == 'v';
    rc = graph_take_number(r, "number of bytes", 0, &datum->bytes);
    if (!rc && r->at && r->at[strspn(r->at, " \t\r")])
        rc = take_string(r, "name of the datum", &datum->name);
    return rc;
}

static int read_priority(struct reader *r, int *ret)
{
    const char *word = next_word(r);
    char *end;
    long value;

    if (!word)
        return wrong(r, "the priority is missing");
    errno = 0;
    value = strtol(word, &end, 10);
    if (*end || end == word || errno || value < INT32_MIN || value > INT32_MAX)
        return wrong(r, "\"%.40s\" is no priority", word);
    *ret = (int)value;
    return 0;
}

/* Where and when it ran: WORKER START END, the worker may be "-". */
static int read_what_ran(struct reader *r, struct orr_graph_task *task)
{
    int rc = 0;

    while (r->at && is_graph_blank(*r->at))
        r->at++;
    if (r->at && r->at[0] == '-' && is_graph_blank(r->at[1]))
        (void)next_word(r);
    else
        rc = take_index(r, "worker", r->graph->nworkers, &task->worker);
    if (!rc)
        rc = graph_take_number(r, "start", MAY_BE_NAN, &task->start_ms);
    if (!rc)
        rc = graph_take_number(r, "end", MAY_BE_NAN, &task->end_ms);
    if (!rc && task->end_ms < task->start_ms)
        return wrong(r, "the task ends before it starts");
    return rc;
}

/* "by": a thread, or "-"; "in": a task. */
static int read_submitter(struct reader *r, bool task_submits,
                          struct orr_graph_task *task)
{
    uint64_t number = 0;
    int rc;

    while (r->at && is_graph_blank(*r->at))
        r->at++;
    if (!task_submits && r->at && r->at[0] == '-' &&
        (is_graph_blank(r->at[1]) || !r->at[1])) {
        (void)next_word(r);
        task->by = ORR_GRAPH_BY_OTHER;
        return 0;
    }
    rc = take_integer(r, task_submits ? "task that submits" : "thread that submits",
                      10, UINT32_MAX, &number);
    if (!rc && task_submits && number + 1 >= r->graph->ntasks)
        return wrong(r, "the task is submitted by a later one");
    task->by = task_submits ? ORR_GRAPH_BY_TASK : ORR_GRAPH_BY_THREAD;
    task->submitter = (unsigned)number;
    return rc;
}

static int graph_read_task(struct reader *r)
{
    struct orr_graph_task *task =
        orr_array_add(r->graph->tasks, r->graph->ntasks);
    bool submitted = false;
    const char *word;
    int rc;

    if (!task)
        return graph_reader_no_memory(r);
    task->first_dep = r->graph->ndeps;
    task->first_access = r->graph->naccesses;
    task->worker = ORR_GRAPH_NOT_RUN;
    task->start_ms = task->end_ms = NAN;
    rc = take_index(r, "task type", r->graph->ntypes, &task->type);
    if (!rc)
        rc = take_integer(r, "id", 10, UINT64_MAX, &task->id);
    if (!rc)
        rc = read_priority(r, &task->priority);
    while (!rc && (word = next_word(r)) != NULL) {
        if (!strcmp(word, "tag") && !task->has_tag) {
            task->has_tag = true;
            rc = take_integer(r, "tag", 16, UINT64_MAX, &task->tag);
        } else if ((!strcmp(word, "by") || !strcmp(word, "in")) && !submitted) {
            submitted = true;
            rc = read_submitter(r, *word == 'i', task);
        } else if (!strcmp(word, "ran") && task->worker == ORR_GRAPH_NOT_RUN &&
                   isnan(task->start_ms)) {
            rc = read_what_ran(r, task);
        } else {
            rc = wrong(r,
                       "\"%.40s\" is none of \"tag\", \"by\", \"in\" and "
                       "\"ran\", or comes twice",
                       word);
        }
    }
    return rc;
}

static struct orr_graph_task *last_task(struct reader *r)
{
    return r->graph->ntasks ? &r->graph->tasks[r->graph->ntasks - 1] : NULL;
}

static int read_after(struct reader *r)
{
    struct orr_graph_task *task = last_task(r);
    struct orr_graph_dep *dep;
    uint64_t earlier = 0;
    const char *word;
    int rc;

    if (!task)
        return wrong(r, "no task comes before this line");
    dep = orr_array_add(r->graph->deps, r->graph->ndeps);
    if (!dep)
        return graph_reader_no_memory(r);
    task->ndeps++;
    rc = take_integer(r, "task", 10, UINT32_MAX, &earlier);
    dep->task = (unsigned)earlier;
    if (!rc && dep->task == r->graph->ntasks - 1)
        return wrong(r, "the task waits for itself");
    if (!rc)
        rc = take_integer(r, "number of bytes", 10, UINT64_MAX, &dep->bytes);
    word = rc ? NULL : next_word(r);
    if (word && strcmp(word, "tag"))
        return wrong(r, "\"%.40s\" is not \"tag\"", word);
    dep->tag = word != NULL;
    return rc;
}

static int read_message(struct reader *r)
{
    const struct orr_graph_task *task = last_task(r);
    struct orr_graph_message *message;
    const char *word = next_word(r), *tag;
    uint64_t peer = 0;
    char *end;
    int rc;

    if (!task || strcmp(r->graph->types[task->type].symbol, ORR_GRAPH_MESSAGE) != 0)
        return wrong(r, "no task of the type \"%s\" comes before this line",
                     ORR_GRAPH_MESSAGE);
    if (!word || (strcmp(word, "sent") != 0 && strcmp(word, "received") != 0))
        return wrong(r, "a message is \"sent\" or \"received\"");
    message = orr_array_add(r->graph->messages, r->graph->nmessages);
    if (!message)
        return graph_reader_no_memory(r);
    message->task = r->graph->ntasks - 1;
    message->received = *word == 'r';
    rc = take_integer(r, "other rank", 10, INT32_MAX, &peer);
    message->peer = (unsigned)peer;
    tag = rc ? NULL : next_word(r);
    if (!rc && !tag)
        return wrong(r, "the tag is missing");
    errno = 0;
    message->tag = tag ? strtoll(tag, &end, 10) : 0;
    if (tag && (errno || end == tag || *end))
        return wrong(r, "\"%.40s\" is no tag", tag);
    if (!rc)
        rc = take_integer(r, "number of the message", 10, UINT64_MAX, &message->number);
    if (!rc)
        rc = take_integer(r, "number of bytes", 10, UINT64_MAX, &message->bytes);
    word = rc ? NULL : next_word(r);
    if (word && strcmp(word, "early") != 0)
        return wrong(r, "\"%.40s\" is not \"early\"", word);
    message->early = word != NULL;
    return rc;
}

static int read_uses(struct reader *r)
{
    struct orr_graph_task *task = last_task(r);
    struct orr_graph_access *access;
    const char *word;
    int rc;

    if (!task)
        return wrong(r, "no task comes before this line");
    access = orr_array_add(r->graph->accesses, r->graph->naccesses);
    if (!access)
        return graph_reader_no_memory(r);
    task->naccesses++;
    rc = take_index(r, "datum", r->graph->ndata, &access->datum);
    if (rc)
        return rc;
    word = next_word(r);
    if (word && !strcmp(word, "r"))
        access->mode = ORR_GRAPH_READ;
    else if (word && !strcmp(word, "w"))
        access->mode = ORR_GRAPH_WRITE;
    else if (word && !strcmp(word, "rw"))
        access->mode = ORR_GRAPH_READ | ORR_GRAPH_WRITE;
    else
        return wrong(r, "a datum is used as \"r\", \"w\" or \"rw\"");
    return 0;
}

/* --- all of it --- */

static int graph_read_end(struct reader *r)
{
    if (!r->has_run)
        return wrong(r, "the line of the run is missing: \"run real MS\" or "
                        "\"run simulated MS\"");
    r->ended = true;
    return 0;
}

static const struct {
    const char *word;
    int (*read)(struct reader *r);
} lines[] = {
    {"after", read_after},
    {"uses", read_uses},
    {"message", read_message},
    {"task", graph_read_task},
    {"datum", read_datum},
    {"kind", graph_read_type},
    {"node", graph_read_node},
    {"worker", read_worker},
    {"link", read_link},
    {"route", read_route},
    {"machine", read_machine},
    {"run", read_run},
    {"end", graph_read_end},
    {"figures", graph_read_figures},
    {"from", graph_read_origins},
    {"about", read_about},
    {"costs", read_costs},
    {"unmodelled", read_unmodelled},
    {"awaited", read_awaited},
};

static int graph_read_line(struct reader *r)
{
    const char *word = next_word(r);
    int rc = 0;

    if (!word || *word == '#')
        return 0;
    if (r->ended)
        return wrong(r, "\"%.40s\" after the end", word);
    for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        if (!strcmp(word, lines[i].word)) {
            rc = lines[i].read(r);
            return rc ? rc : end_of_line(r);
        }
    return wrong(r, "\"%.40s\" is no keyword of a line (docs/GRAPH.md)", word);
}

static int read_header(struct reader *r)
{
    const char *word;
    int rc = graph_next_line(r);

    if (rc < 0)
        return rc;
    word = rc ? next_word(r) : NULL;
    if (!word || strcmp(word, "orrery-graph"))
        return wrong(r, "this is no graph: its first line would be "
                        "\"orrery-graph 1\". ORRERY_GRAPH=FILE writes one");
    word = next_word(r);
    if (!word || strcmp(word, "1"))
        return wrong(r,
                     "version \"%.40s\" of the format is not known, only 1: "
                     "record the graph again, or use a newer Orrery",
                     word ? word : "");
    return end_of_line(r);
}

static int graph_read_lines(struct reader *r)
{
    struct orr_error message = {""};
    int rc = read_header(r);

    if (rc)
        return rc;
    while ((rc = graph_next_line(r)) > 0) {
        rc = graph_read_line(r);
        if (rc)
            return rc;
    }
    if (rc)
        return rc;
    if (!r->ended)
        return wrong(r, "the text is cut off: it has no line \"end\"");
    rc = orr_graph_check(r->graph, &message);
    return rc ? orr_fail(r->err, rc, "%s: %.900s", r->name, message.text) : 0;
}

int orr_graph_read(FILE *f, const char *name, struct orr_graph **ret,
                   struct orr_error *err)
{
    struct reader r = {.f = f, .name = name, .err = err};
    int rc;

    r.graph = calloc(1, sizeof(*r.graph));
    rc = r.graph ? graph_read_lines(&r) : graph_reader_no_memory(&r);
    free(r.line);
    if (rc)
        orr_graph_free(r.graph);
    else
        *ret = r.graph;
    return rc;
}

int orr_graph_load(const char *path, struct orr_graph **ret,
                   struct orr_error *err)
{
    FILE *f = fopen(path, "r");
    int rc;

    if (!f) {
        rc = -errno;
        return orr_fail(err, rc, "%s: %s", path, strerror(-rc));
    }
    rc = orr_graph_read(f, path, ret, err);
    fclose(f);
    return rc;
}
