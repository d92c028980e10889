/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/paje.c - traces in Paje's format as timelines, as StarPU's trace tools write them
 * (paje.trace): states that name a task (JobId) are its execution, links between memory
 * managers are copies. Event numbers and the order of fields are those of the file's header.
 * Worker k is the container w<k>, memory node k the one whose name ends in k.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/number.h"
#include "import/formats.h"
#include "import/rec_lines.h"
#include "import/timeline.h"

#define MOST_FIELDS 32

enum event {
    NOTHING,
    ENTITY,    /* the name of a value */
    CONTAINER, /* one more */
    STATE,     /* set or pushed */
    END_STATE, /* popped, or its container is gone */
    START_LINK,
    END_LINK,
};

enum paje_field {
    F_OTHER,
    F_ALIAS,
    F_NAME,
    F_TYPE,
    F_CONTAINER,
    F_VALUE,
    F_TIME,
    F_JOB,
    F_FOOTPRINT,
    F_START,
    F_END,
    F_KEY,
    F_HANDLE,
    NFIELDS
};

struct definition {
    uint64_t id;
    enum event event;
    enum paje_field fields[MOST_FIELDS];
    size_t nfields;
};

struct container {
    const char *alias, *name;
    size_t parent; /* or FLOW_NONE */
    size_t row;    /* of a worker that has executed something, or FLOW_NONE */
    size_t slice;  /* that is open, or FLOW_NONE */
};

struct link {
    const char *key;
    size_t from; /* container */
    double start, bytes;
    bool over;
};

struct paje_reader {
    struct timeline *timeline;
    struct flow *flow;
    struct definition *definitions;
    size_t ndefinitions;
    bool defining;
    struct container *containers;
    size_t ncontainers;
    struct flow_index container_names, value_names, link_keys;
    const char **values; /* names of values, by number */
    size_t nvalues;
    struct link *links;
    size_t nlinks;
    const char *fields[NFIELDS]; /* of the line; borrowed from it */
    double last;                 /* µs */
    bool executed;               /* some state is a task's */
};

/* --- the header --- */

static enum event paje_event(const char *name)
{
    static const struct {
        const char *name;
        enum event event;
    } events[] = {
        {"PajeDefineEntityValue", ENTITY},
        {"PajeCreateContainer", CONTAINER},
        {"PajeDestroyContainer", END_STATE},
        {"PajeSetState", STATE},
        {"PajePushState", STATE},
        {"PajePopState", END_STATE},
        {"PajeStartLink", START_LINK},
        {"PajeEndLink", END_LINK},
    };

    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
        if (!strcmp(events[i].name, name))
            return events[i].event;
    return NOTHING;
}

static enum paje_field paje_field(const char *name)
{
    static const char *const names[NFIELDS] = {[F_ALIAS] = "Alias",
                                               [F_NAME] = "Name",
                                               [F_TYPE] = "Type",
                                               [F_CONTAINER] = "Container",
                                               [F_VALUE] = "Value",
                                               [F_TIME] = "Time",
                                               [F_JOB] = "JobId",
                                               [F_FOOTPRINT] = "Footprint",
                                               [F_START] = "StartContainer",
                                               [F_END] = "EndContainer",
                                               [F_KEY] = "Key",
                                               [F_HANDLE] = "Handle"};

    for (int i = 1; i < NFIELDS; i++)
        if (!strcmp(names[i], name))
            return (enum paje_field)i;
    return F_OTHER;
}

/* The next field of a line, which stands in quotation marks or not; NULL: none. */
static char *paje_word(char **text)
{
    char *at = *text + strspn(*text, " \t"), *end;

    if (!*at)
        return NULL;
    if (*at == '"') {
        end = strchr(++at, '"');
        if (!end)
            end = at + strlen(at);
    } else {
        end = at + strcspn(at, " \t");
    }
    *text = *end ? end + 1 : end;
    *end = '\0';
    return at;
}

/* "%EventDef PajeSetState 10", "%	Time date", "%EndEventDef". */
static int read_definition(struct paje_reader *p, char *line)
{
    char *first = paje_word(&line), *second = paje_word(&line), *third;
    struct definition *d;

    if (!first)
        return 0;
    if (!strcmp(first, "EndEventDef")) {
        p->defining = false;
        return 0;
    }
    if (!strcmp(first, "EventDef")) {
        struct rec_field id = {"EventDef", third = paje_word(&line)};

        d = orr_array_add(p->definitions, p->ndefinitions);
        if (!d)
            return flow_no_memory(p->flow);
        p->defining = true;
        d->event = second ? paje_event(second) : NOTHING;
        return third ? rec_number(p->flow, &id, 10, &d->id)
                     : flow_wrong(p->flow, "an event without number");
    }
    if (!p->defining || !second)
        return flow_wrong(p->flow, "a field of no event");
    d = &p->definitions[p->ndefinitions - 1];
    if (d->nfields == MOST_FIELDS)
        return flow_wrong(p->flow, "an event of more than %d fields",
                          MOST_FIELDS);
    d->fields[d->nfields++] = paje_field(first);
    return 0;
}

/* --- containers and values --- */

static size_t container_of(const struct paje_reader *p, const char *name)
{
    return name ? flow_find(&p->container_names, name) : FLOW_NONE;
}

static int paje_add_container(struct paje_reader *p)
{
    const char *alias =
        p->fields[F_ALIAS] ? p->fields[F_ALIAS] : p->fields[F_NAME];
    const char *name = p->fields[F_NAME] ? p->fields[F_NAME] : alias;
    struct container *c;
    size_t parent = container_of(p, p->fields[F_CONTAINER]);
    int rc;

    if (!alias)
        return flow_wrong(p->flow, "a container without name");
    c = orr_array_add(p->containers, p->ncontainers);
    if (!c)
        return flow_no_memory(p->flow);
    *c = (struct container){timeline_text(p->timeline, alias),
                            timeline_text(p->timeline, name), parent, FLOW_NONE,
                            FLOW_NONE};
    if (!c->alias || !c->name)
        return -ENOMEM; /* with a message */
    rc = flow_set(&p->container_names, alias, p->ncontainers - 1);
    if (rc == -EEXIST)
        return flow_wrong(p->flow, "a second container \"%.40s\"", alias);
    if (!rc && strcmp(alias, name) &&
        flow_find(&p->container_names, name) == FLOW_NONE)
        rc = flow_set(&p->container_names, name, p->ncontainers - 1);
    return rc ? flow_no_memory(p->flow) : 0;
}

static int paje_add_value(struct paje_reader *p)
{
    const char *alias = p->fields[F_ALIAS], *name = p->fields[F_NAME], **place;

    if (!alias || !name || flow_find(&p->value_names, alias) != FLOW_NONE)
        return 0;
    place = orr_array_add(p->values, p->nvalues);
    if (!place)
        return flow_no_memory(p->flow);
    *place = timeline_text(p->timeline, name);
    if (!*place)
        return -ENOMEM;
    return flow_set(&p->value_names, alias, p->nvalues - 1)
               ? flow_no_memory(p->flow)
               : 0;
}

/* The number at the end of the name, 0 without. */
static int64_t last_number(const char *name)
{
    size_t n = strlen(name);

    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    return strlen(name + n) < 10 ? strtol(name + n, NULL, 10) : 0;
}

/* The memory node that the container is, or is in: the last one around it whose name is that
 * of a memory; 0: none. */
static int64_t node_of(const struct paje_reader *p, size_t container)
{
    for (size_t steps = 0; container != FLOW_NONE && steps < 16; steps++) {
        const struct container *c = &p->containers[container];

        if (!strncmp(c->name, "MEM", 3))
            return last_number(c->name);
        container = c->parent;
    }
    return 0;
}

/* --- states --- */

static void end_state(struct paje_reader *p, struct container *c, double us)
{
    if (c->slice != FLOW_NONE)
        p->timeline->slices[c->slice].end = us;
    c->slice = FLOW_NONE;
}

static int find_row(struct paje_reader *p, size_t container)
{
    struct container *c = &p->containers[container];
    struct timeline_row *row;
    int64_t node = node_of(p, container);

    if (c->row != FLOW_NONE)
        return 0;
    c->row = timeline_thread(p->timeline, "StarPU", c->alias);
    if (c->row == FLOW_NONE)
        return -ENOMEM; /* with a message */
    row = &p->timeline->rows[c->row];
    row->thread_name = c->name;
    row->queue = node > 0;
    row->device = node - 1;
    return 0;
}

/* What the state before it was, ends. */
static int begin_state(struct paje_reader *p, double us)
{
    size_t container = container_of(p, p->fields[F_CONTAINER]), value;
    const char *name = p->fields[F_VALUE], *footprint = p->fields[F_FOOTPRINT];
    struct timeline_slice *slice;

    if (container == FLOW_NONE)
        return flow_wrong(p->flow, "there is no container \"%.40s\"",
                          p->fields[F_CONTAINER] ? p->fields[F_CONTAINER] : "");
    if (strcmp(p->fields[F_TYPE] ? p->fields[F_TYPE] : "", "WS") != 0)
        return 0; /* threads have states, too, and contexts */
    end_state(p, &p->containers[container], us);
    if (!p->fields[F_JOB] || !name)
        return 0;
    if (find_row(p, container))
        return -ENOMEM;
    value = flow_find(&p->value_names, name);
    slice = timeline_add(p->timeline, SLICE_TASK, p->containers[container].row,
                         value == FLOW_NONE ? name : p->values[value]);
    if (!slice)
        return -ENOMEM;
    p->executed = true;
    slice->start = slice->end = us;
    slice->has_shape = footprint != NULL;
    slice->shape = footprint ? (uint32_t)strtoul(footprint, NULL, 16) : 0;
    p->containers[container].slice = p->timeline->nslices - 1;
    return 0;
}

/* A container that is gone names itself. */
static void paje_end(struct paje_reader *p, double us)
{
    const char *name =
        p->fields[F_CONTAINER] ? p->fields[F_CONTAINER] : p->fields[F_NAME];
    size_t container = container_of(p, name);

    if (container != FLOW_NONE)
        end_state(p, &p->containers[container], us);
}

/* --- copies --- */

static int begin_link(struct paje_reader *p, double us)
{
    size_t from = container_of(p, p->fields[F_START]);
    struct link *link;
    char *end = NULL;
    double bytes =
        p->fields[F_VALUE] ? orr_strtod(p->fields[F_VALUE], &end) : 0;

    if (from == FLOW_NONE || !p->fields[F_KEY] ||
        strncmp(p->fields[F_KEY], "com_", 4) != 0)
        return 0; /* steals, messages */
    link = orr_array_add(p->links, p->nlinks);
    if (!link)
        return flow_no_memory(p->flow);
    *link = (struct link){timeline_text(p->timeline, p->fields[F_KEY]), from,
                          us, bytes >= 0 && end && !*end ? bytes : 0, false};
    if (!link->key)
        return -ENOMEM;
    return flow_set(&p->link_keys, link->key, p->nlinks - 1) == -ENOMEM
               ? flow_no_memory(p->flow)
               : 0;
}

static int add_copy(struct paje_reader *p, const struct link *link, int64_t to,
                    double us)
{
    int64_t from = node_of(p, link->from);
    size_t row = timeline_queue(p->timeline, (to ? to : from) - 1, 0);
    struct timeline_slice *slice;

    if (row == FLOW_NONE || from == to)
        return row == FLOW_NONE ? -ENOMEM : 0;
    slice = timeline_add(p->timeline, SLICE_COPY, row, "");
    if (!slice)
        return -ENOMEM;
    slice->way = to ? COPY_TO_DEVICE : COPY_FROM_DEVICE;
    slice->peer = to ? from : 0;
    slice->start = link->start;
    slice->end = us;
    slice->bytes = link->bytes;
    return 0;
}

static int end_link(struct paje_reader *p, double us)
{
    size_t to = container_of(p, p->fields[F_END]), link;

    link = p->fields[F_KEY] ? flow_find(&p->link_keys, p->fields[F_KEY])
                            : FLOW_NONE;
    if (to == FLOW_NONE || link == FLOW_NONE || p->links[link].over)
        return 0;
    p->links[link].over = true;
    return add_copy(p, &p->links[link], node_of(p, to), us);
}

/* --- all of it --- */

static int read_time(struct paje_reader *p, double *ret_us)
{
    char *end = NULL;
    double ms =
        p->fields[F_TIME] ? orr_strtod(p->fields[F_TIME], &end) : (double)NAN;

    if (!isfinite(ms) || !end || *end)
        return flow_wrong(p->flow, "\"%.40s\" is no time in ms",
                          p->fields[F_TIME] ? p->fields[F_TIME] : "");
    *ret_us = ms * 1000;
    p->last = fmax(p->last, *ret_us);
    return 0;
}

static int paje_do_event(struct paje_reader *p, enum event event)
{
    double us = 0;

    if (event == ENTITY)
        return paje_add_value(p);
    if (event == CONTAINER)
        return paje_add_container(p);
    if (event == NOTHING)
        return 0;
    if (read_time(p, &us))
        return -EINVAL; /* with a message */
    switch (event) {
    case STATE:
        return begin_state(p, us);
    case END_STATE:
        paje_end(p, us);
        return 0;
    case START_LINK:
        return begin_link(p, us);
    default:
        return end_link(p, us);
    }
}

static int read_event(struct paje_reader *p, char *line)
{
    struct rec_field id = {"the event's number", paje_word(&line)};
    const struct definition *d = p->definitions;
    uint64_t number = 0;
    int rc = rec_number(p->flow, &id, 10, &number);

    if (rc)
        return rc;
    while (d < p->definitions + p->ndefinitions && d->id != number)
        d++;
    if (d == p->definitions + p->ndefinitions)
        return flow_wrong(p->flow, "event %llu is not defined in the file",
                          (unsigned long long)number);
    memset(p->fields, 0, sizeof(p->fields));
    for (size_t i = 0; i < d->nfields; i++) {
        char *word = paje_word(&line);

        if (!word)
            return flow_wrong(p->flow, "event %llu has %zu fields, not %zu",
                              (unsigned long long)number, d->nfields, i);
        p->fields[d->fields[i]] = word;
    }
    return paje_do_event(p, d->event);
}

static int read_lines(struct paje_reader *p, FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    int rc = 0;

    while (!rc && (rc = flow_read_line(p->flow, file, &line, &room)) > 0) {
        char *at = line + strspn(line, " \t");

        if (*at == '%')
            rc = read_definition(p, at + 1);
        else
            rc = !*at || *at == '#' ? 0 : read_event(p, at);
    }
    free(line);
    return rc;
}

static void paje_done(struct paje_reader *p)
{
    free(p->definitions);
    free(p->containers);
    free(p->values);
    free(p->links);
    flow_index_done(&p->container_names);
    flow_index_done(&p->value_names);
    flow_index_done(&p->link_keys);
}

int timeline_read_paje(struct timeline *timeline, FILE *file)
{
    struct paje_reader p = {.timeline = timeline, .flow = timeline->flow};
    int rc = read_lines(&p, file);

    timeline->flow->line = 0;
    for (size_t c = 0; c < p.ncontainers; c++)
        end_state(&p, &p.containers[c], p.last);
    if (!rc && !p.executed)
        rc = flow_wrong(timeline->flow,
                        "no state in it is a task's: StarPU's trace tools "
                        "write them, with the field JobId");
    paje_done(&p);
    return rc;
}
