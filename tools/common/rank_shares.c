/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/rank_shares.c - see rank_shares.h. */
#include "tools/common/rank_shares.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/common/table.h"

/* Rows and columns of the matrix at most, and of what is printed of it. */
enum { MOST_PLACES = 32, MOST_PRINTED = 16 };

static int init(struct rank_shares *ret, unsigned n)
{
    unsigned together = (n + MOST_PLACES - 1) / MOST_PLACES;

    *ret = (struct rank_shares){.n = n, .together = together};
    ret->nplaces = (n + together - 1) / together;
    ret->of = calloc(n, sizeof(*ret->of));
    ret->bytes = calloc((size_t)ret->nplaces * ret->nplaces, sizeof(*ret->bytes));
    return ret->of && ret->bytes ? 0 : -ENOMEM;
}

void rank_shares_done(struct rank_shares *shares)
{
    free(shares->of);
    free(shares->bytes);
    *shares = (struct rank_shares){0};
}

static void add_bytes(struct rank_shares *shares, unsigned from, unsigned to, double bytes)
{
    if (to < shares->n)
        shares->bytes[(size_t)(from / shares->together) * shares->nplaces +
                      to / shares->together] += bytes;
}

/* --- from reports --- */

static json_int_t number_of(const json_t *json, const char *key)
{
    return (json_int_t)json_number_value(json_object_get(json, key));
}

static void take_report(struct rank_shares *shares, unsigned rank,
                        const struct report *report)
{
    const json_t *workers = json_object_get(report->json, "workers");
    const json_t *messages = json_object_get(report->json, "messages");
    struct rank_share *share = &shares->of[rank];

    if (!report->json)
        return;
    *share = (struct rank_share){.known = true,
                                 .tasks = (size_t)report->tasks,
                                 .workers = json_array_size(workers),
                                 .time_us = report->makespan_us};
    for (size_t w = 0; w < share->workers; w++)
        share->busy_us += json_number_value(
            json_object_get(json_array_get(workers, w), "busy_us"));
    for (size_t m = 0; m < json_array_size(messages); m++) {
        const json_t *peer = json_array_get(messages, m);

        share->sent += number_of(peer, "sent");
        share->sent_bytes += number_of(peer, "sent_bytes");
        share->received += number_of(peer, "received");
        share->received_bytes += number_of(peer, "received_bytes");
        add_bytes(shares, rank, (unsigned)number_of(peer, "rank"),
                  (double)number_of(peer, "sent_bytes"));
    }
}

int rank_shares_of_reports(const struct report *reports, unsigned n,
                           struct rank_shares *ret)
{
    int rc = init(ret, n);

    for (unsigned r = 0; r < n && !rc; r++)
        take_report(ret, r, &reports[r]);
    return rc;
}

/* --- from traces --- */

/* Of the time of its tasks that in which their kernels waited is none. */
static double busy_ms(const struct trace *trace)
{
    double ms = 0;

    for (size_t t = 0; t < trace->ntasks; t++)
        ms += trace->tasks[t].end - trace->tasks[t].start;
    for (size_t w = 0; w < trace->nwaits; w++)
        ms -= trace->waits[w].end - trace->waits[w].start;
    return ms;
}

static void take_trace(struct rank_shares *shares, const struct trace *trace)
{
    struct rank_share *share = &shares->of[trace->rank];

    *share = (struct rank_share){.known = true,
                                 .tasks = trace->ntasks,
                                 .workers = trace->nworkers,
                                 .time_us = 1e3 * (trace->end - trace->begin),
                                 .busy_us = 1e3 * busy_ms(trace)};
    for (size_t m = 0; m < trace->nmessages; m++) {
        const struct trace_message *message = &trace->messages[m];

        *(message->received ? &share->received : &share->sent) += 1;
        *(message->received ? &share->received_bytes : &share->sent_bytes) +=
            (json_int_t)message->bytes;
        if (!message->received)
            add_bytes(shares, trace->rank, message->peer, message->bytes);
    }
}

int rank_shares_of_traces(const struct rank_traces *traces, struct rank_shares *ret)
{
    int rc = init(ret, traces->n);

    for (unsigned r = 0; r < traces->n && !rc; r++)
        take_trace(ret, &traces->of[r]);
    return rc;
}

/* --- both --- */

static double mean_busy_us(const struct rank_shares *shares)
{
    double sum = 0;
    unsigned n = 0;

    for (unsigned r = 0; r < shares->n; r++) {
        sum += shares->of[r].busy_us;
        n += shares->of[r].known;
    }
    return n ? sum / n : 0;
}

double rank_shares_imbalance(const struct rank_shares *shares, unsigned *rank)
{
    double mean = mean_busy_us(shares);
    unsigned busiest = 0;

    for (unsigned r = 1; r < shares->n; r++)
        if (shares->of[r].busy_us > shares->of[busiest].busy_us)
            busiest = r;
    *rank = busiest;
    return mean > 0 ? shares->of[busiest].busy_us / mean - 1 : 0;
}

static void add_row(struct table *table, unsigned rank, const struct rank_share *share)
{
    char time[REPORT_TIME_MAX], text[32];
    double all_us = share->time_us * (double)share->workers;
    double busy = all_us > 0 ? 100 * share->busy_us / all_us : 0;

    table_add(table, "%u", rank);
    if (!share->known) {
        for (int i = 0; i < 8; i++)
            table_add(table, "-");
        return;
    }
    table_add(table, "%zu", share->tasks);
    table_add(table, "%s", report_time_text(share->time_us, time));
    table_add(table, "%zu", share->workers);
    table_add(table, "%.1f %%", busy);
    table_add(table, "%.1f %%", all_us > 0 && busy < 100 ? 100 - busy : 0);
    table_add(table, "%lld", (long long)share->sent);
    table_add(table, "%s", report_bytes_text(share->sent_bytes, text));
    table_add(table, "%lld, %s", (long long)share->received,
              report_bytes_text(share->received_bytes, text));
}

static int print_rows(const struct rank_shares *shares)
{
    static const struct table_column columns[] = {
        {"rank", true}, {"tasks", true},    {"time", true}, {"workers", true}, {"busy", true},
        {"idle", true}, {"messages", true}, {"sent", true}, {"received", false}};
    struct table table = {0};

    for (unsigned r = 0; r < shares->n; r++)
        add_row(&table, r, &shares->of[r]);
    return table_end(&table, columns, sizeof(columns) / sizeof(*columns));
}

/* "to 3", or "to 6-8" of several that are one place; `together` places of the matrix are one. */
static void name_place(const struct rank_shares *shares, unsigned together, const char *before,
                       unsigned place, char *text, size_t size)
{
    unsigned n = shares->together * together, first = place * n, last = first + n - 1;

    if (last >= shares->n)
        last = shares->n - 1;
    if (first == last)
        snprintf(text, size, "%s%u", before, first);
    else
        snprintf(text, size, "%s%u-%u", before, first, last);
}

/* What several places sent to several others. */
static double sum_of(const struct rank_shares *shares, unsigned together, unsigned from,
                     unsigned to)
{
    double sum = 0;

    for (unsigned i = from * together; i < (from + 1) * together && i < shares->nplaces; i++)
        for (unsigned k = to * together; k < (to + 1) * together && k < shares->nplaces; k++)
            sum += shares->bytes[i * shares->nplaces + k];
    return sum;
}

/* The unit in which the most that one place sent to another one has few digits. */
static double unit_of(const struct rank_shares *shares, const char **ret_name)
{
    static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double most = 0, unit = 1;
    unsigned k = 0;

    for (unsigned i = 0; i < shares->nplaces * shares->nplaces; i++)
        most = shares->bytes[i] > most ? shares->bytes[i] : most;
    for (; k + 1 < sizeof(names) / sizeof(*names) && most >= 1024 * unit; k++)
        unit *= 1024;
    *ret_name = names[k];
    return unit;
}

/* A row for each rank that sends, a column for each one that receives, all in one unit; of many
 * ranks as many as have room in a line. */
static int print_matrix(const struct rank_shares *shares)
{
    unsigned together = (shares->nplaces + MOST_PRINTED - 1) / MOST_PRINTED;
    unsigned n = (shares->nplaces + together - 1) / together;
    struct table_column columns[MOST_PRINTED + 1] = {{"from", true}};
    char titles[MOST_PRINTED][32], text[32];
    struct table table = {0};
    const char *unit_name;
    double unit = unit_of(shares, &unit_name);

    for (unsigned from = 0; from < n; from++) {
        name_place(shares, together, "to ", from, titles[from], sizeof(titles[from]));
        columns[from + 1] = (struct table_column){titles[from], true};
        name_place(shares, together, "", from, text, sizeof(text));
        table_add(&table, "%s", text);
        for (unsigned to = 0; to < n; to++) {
            double bytes = sum_of(shares, together, from, to);

            if (bytes > 0)
                table_add(&table, unit > 1 ? "%.1f" : "%.0f", bytes / unit);
            else
                table_add(&table, "-");
        }
    }
    printf("\n%s from rank to rank\n", unit_name);
    return table_end(&table, columns, n + 1);
}

int rank_shares_print(const struct rank_shares *shares)
{
    char most[REPORT_TIME_MAX], mean[REPORT_TIME_MAX];
    unsigned busiest;
    double imbalance = rank_shares_imbalance(shares, &busiest);
    int rc = print_rows(shares);

    if (!rc && shares->n > 1)
        rc = print_matrix(shares);
    if (!rc && shares->n > 1)
        printf("\nimbalance   %.1f %%: rank %u computed for %s, ranks on average for %s\n",
               100 * imbalance, busiest,
               report_time_text(shares->of[busiest].busy_us, most),
               report_time_text(mean_busy_us(shares), mean));
    return rc;
}

json_t *rank_shares_json(const struct rank_shares *shares)
{
    json_t *all = json_array();

    for (unsigned r = 0; r < shares->n; r++) {
        const struct rank_share *share = &shares->of[r];

        json_array_append_new(
            all, share->known
                     ? json_pack("{s:i, s:I, s:I, s:f, s:f, s:f, s:I, s:I, s:I, s:I}", "rank",
                                 (int)r, "tasks", (json_int_t)share->tasks, "workers",
                                 (json_int_t)share->workers, "time_us", share->time_us,
                                 "busy_us", share->busy_us, "idle_us",
                                 share->time_us * (double)share->workers - share->busy_us,
                                 "sent", share->sent, "sent_bytes", share->sent_bytes,
                                 "received", share->received, "received_bytes",
                                 share->received_bytes)
                     : json_null());
    }
    return all;
}

void rank_shares_json_add(const struct rank_shares *shares, json_t *object)
{
    json_t *rows = json_array();
    unsigned busiest;

    for (unsigned from = 0; from < shares->nplaces; from++) {
        json_t *row = json_array();

        for (unsigned to = 0; to < shares->nplaces; to++)
            json_array_append_new(
                row, json_integer((json_int_t)shares->bytes[from * shares->nplaces + to]));
        json_array_append_new(rows, row);
    }
    json_object_set_new(object, "bytes", rows);
    json_object_set_new(object, "ranks_per_row", json_integer(shares->together));
    json_object_set_new(object, "imbalance",
                        json_real(rank_shares_imbalance(shares, &busiest)));
    json_object_set_new(object, "busiest_rank", json_integer(busiest));
}
