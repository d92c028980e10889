/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/trace/join_ranks.c - see join_ranks.h. The library writes an event a line, so that
 * no more than a line, and what there is of messages, is in memory at a time.
 */
#include "tools/trace/join_ranks.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"
#include "core/base/result.h"
#include "tools/common/pair_messages.h"

/* Groups of tracks of a rank, chrome_events.h, and one more. */
enum { GROUPS = 8 };

/* An end of an arrow. */
struct message {
    json_int_t pid, tid;
    double start, end; /* µs, of the file that is written */
};

struct clocks {
    double at, offset; /* µs, of the rank's file */
};

struct joining {
    struct orr_error *err;
    const char *path; /* of the file that is read */
    FILE *out;
    unsigned rank;
    const char *comma;
    double zero, first_zero; /* µs of the rank's clock, of rank 0's, at time 0 of their files */
    struct clocks clocks[2];
    unsigned nclocks;
    struct message *messages;  /* by index of … */
    struct message_end *ends;
    size_t nmessages, messages_room, ends_room, narrows;
};

/* A time of the rank's file in the one that is written: by the clocks' difference at the
 * beginning and at the end, in a line between the two. */
static double time_of(const struct joining *j, double us)
{
    const struct clocks *a = &j->clocks[0], *b = &j->clocks[1];
    double offset = j->nclocks ? a->offset : 0;

    if (j->nclocks == 2 && b->at > a->at)
        offset += (b->offset - a->offset) * (us - a->at) / (b->at - a->at);
    return us + j->zero + offset - j->first_zero;
}

/* --- events --- */

static double number_in(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static int keep_message(struct joining *j, const json_t *event)
{
    const json_t *args = json_object_get(event, "args");
    const char *way = json_string_value(json_object_get(args, "way"));
    bool received = way && !strcmp(way, "received");
    unsigned peer = (unsigned)number_in(args, "rank");
    double start = number_in(event, "ts");
    size_t n = j->nmessages;

    if (orr_grow(&j->messages, &j->messages_room, n + 1, sizeof(*j->messages)) < 0 ||
        orr_grow(&j->ends, &j->ends_room, n + 1, sizeof(*j->ends)) < 0)
        return -ENOMEM;
    j->messages[n] = (struct message){(json_int_t)number_in(event, "pid"),
                                      (json_int_t)number_in(event, "tid"), start,
                                      start + number_in(event, "dur")};
    j->ends[n] = (struct message_end){
        .from = received ? peer : j->rank,
        .to = received ? j->rank : peer,
        .received = received,
        .tag = (int64_t)number_in(args, "tag"),
        .number = (uint64_t)number_in(args, "number"),
        .time = start,
        .index = n,
    };
    j->nmessages++;
    return 0;
}

/* "rank 1: workers" in the place of "workers". */
static int name_process(const struct joining *j, json_t *event)
{
    json_t *args = json_object_get(event, "args");
    const char *name = json_string_value(json_object_get(args, "name"));

    return name ? json_object_set_new(args, "name",
                                      json_sprintf("rank %u: %s", j->rank, name))
                : 0;
}

/* What differs in the file of several ranks. */
static int change_event(struct joining *j, json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "name"));
    const char *category = json_string_value(json_object_get(event, "cat"));
    json_t *id = json_object_get(event, "id"), *args = json_object_get(event, "args");
    json_int_t pid = (json_int_t)number_in(event, "pid");
    int rc = json_object_set_new(event, "pid", json_integer(j->rank * GROUPS + pid));

    if (json_object_get(event, "ts"))
        rc |= json_object_set_new(event, "ts",
                                  json_real(time_of(j, number_in(event, "ts"))));
    if (json_is_integer(id))
        rc |= json_object_set_new(event, "id", json_sprintf("%u.%lld", j->rank,
                                                            json_integer_value(id)));
    if (name && !strcmp(name, "process_name"))
        rc |= name_process(j, event);
    if (name && !strcmp(name, "process_sort_index"))
        rc |= json_object_set_new(args, "sort_index", json_integer(j->rank * GROUPS + pid));
    if (category && !strcmp(category, "message"))
        rc |= keep_message(j, event);
    return rc ? -ENOMEM : 0;
}

static int write_event(struct joining *j, json_t *event)
{
    int rc = change_event(j, event);

    if (rc)
        return rc;
    fputs(j->comma, j->out);
    j->comma = ",\n";
    return json_dumpf(event, j->out, JSON_COMPACT) ? -EIO : 0;
}

/* --- files --- */

/* The event on a line of the list, NULL: it has none. Without its comma. */
static json_t *event_on(char *line)
{
    size_t n = strlen(line);

    while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == ','))
        n--;
    return n > 0 && *line == '{' ? json_loadb(line, n, 0, NULL) : NULL;
}

/* Takes what the head says, up to the list of events. */
static bool take_head(struct joining *j, char *line)
{
    const char *zero = strstr(line, "\"zero_us\":");

    if (strncmp(line, "\"otherData\"", 11) != 0)
        return true;
    if (zero)
        j->zero = strtod(zero + strlen("\"zero_us\":"), NULL);
    return zero != NULL;
}

static void take_clocks(struct joining *j, const json_t *event)
{
    const json_t *args = json_object_get(event, "args");
    const char *name = json_string_value(json_object_get(event, "name"));

    if (name && !strcmp(name, "clocks"))
        j->clocks[j->nclocks++ > 0] = (struct clocks){.at = number_in(args, "at"),
                                                      .offset = number_in(args, "offset")};
}

/* Calls `take` for each event that has the text `with` on its line (NULL: for all). */
static int each_event(struct joining *j, FILE *file, const char *with,
                      int (*take)(struct joining *j, json_t *event))
{
    char *line = NULL;
    size_t room = 0;
    int rc = 0;
    bool whole = false;

    rewind(file);
    while (rc == 0 && getline(&line, &room, file) > 0) {
        json_t *event;

        if (!take_head(j, line))
            rc = orr_fail(j->err, -EINVAL, "%s is no trace of one of several ranks", j->path);
        whole |= !strcmp(line, "]}\n");
        if (rc || (with && !strstr(line, with)) || !(event = event_on(line)))
            continue;
        rc = take(j, event);
        json_decref(event);
    }
    free(line);
    if (!rc && !whole)
        rc = orr_fail(j->err, -EINVAL, "%s is not whole", j->path);
    return rc;
}

static int note_clocks(struct joining *j, json_t *event)
{
    take_clocks(j, event);
    if (j->nclocks > 2)
        j->nclocks = 2;
    return 0;
}

static int add_file(struct joining *j, const char *path)
{
    FILE *file = fopen(path, "re");
    int rc;

    j->path = path;
    j->nclocks = 0;
    if (!file)
        return orr_fail(j->err, -errno, "%s: %s", path, strerror(errno));
    rc = each_event(j, file, "\"clocks\"", note_clocks);
    if (j->rank == 0)
        j->first_zero = j->zero;
    if (!rc)
        rc = each_event(j, file, NULL, write_event);
    fclose(file);
    return rc;
}

/* --- arrows --- */

static void write_end(struct joining *j, const struct message_end *sent, size_t index,
                      char phase, double us)
{
    const struct message *message = &j->messages[index];

    fprintf(j->out,
            "%s{\"ph\":\"%c\",\"pid\":%lld,\"tid\":%lld,\"ts\":%.3f,\"cat\":\"message\","
            "\"name\":\"message\",\"id\":\"m%u.%zu\"%s}",
            j->comma, phase, (long long)message->pid, (long long)message->tid, us,
            sent->from, sent->index, phase == 'f' ? ",\"bp\":\"e\"" : "");
    j->comma = ",\n";
}

/* From where it began to be sent to where it had come. */
static void write_arrow(void *arg, const struct message_end *sent,
                        const struct message_end *received)
{
    struct joining *j = arg;
    const struct message *came = &j->messages[received->index];

    write_end(j, sent, sent->index, 's', j->messages[sent->index].start);
    /* Inside, close to its end: arrows bind to what is there. */
    write_end(j, sent, received->index, 'f',
              came->end - fmin(0.001, (came->end - came->start) / 2));
    j->narrows++;
}

int join_ranks(char *const *files, unsigned n, const char *path, size_t *ret_arrows,
               struct orr_error *err)
{
    struct joining j = {.err = err, .comma = ""};
    struct orr_result result;
    int rc = orr_result_open(path, &result);

    if (rc)
        return orr_fail(err, rc, "%s: %s", path, strerror(-rc));
    j.out = result.file;
    fprintf(j.out, "{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"ranks\":%u},\n"
                   "\"traceEvents\":[\n", n);
    for (; j.rank < n && !rc; j.rank++)
        rc = add_file(&j, files[j.rank]);
    if (!rc) {
        pair_messages(j.ends, j.nmessages, write_arrow, &j);
        *ret_arrows = j.narrows;
        fputs("\n]}\n", j.out);
    } else if (!*err->text) {
        orr_fail(err, rc, "%s: %s", path, strerror(-rc));
    }
    free(j.messages);
    free(j.ends);
    return orr_result_close(&result, rc);
}
