/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/run_ranks.c - see run_ranks.h. */
#include "tools/common/run_ranks.h"

#include "tools/common/json.h"
#include "tools/common/program.h"
#include "tools/common/ranks.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

#include <stdio.h>
#include <stdlib.h>

/* What one rank did. */
struct share {
    double busy_us;
    size_t workers;
    json_int_t sent, sent_bytes, received, received_bytes;
};

static json_int_t number_of(const json_t *json, const char *key)
{
    return (json_int_t)json_number_value(json_object_get(json, key));
}

static struct share share_of(const struct report *report)
{
    const json_t *workers = json_object_get(report->json, "workers");
    const json_t *messages = json_object_get(report->json, "messages");
    struct share share = {.workers = json_array_size(workers)};

    for (size_t w = 0; w < share.workers; w++)
        share.busy_us += json_number_value(
            json_object_get(json_array_get(workers, w), "busy_us"));
    for (size_t m = 0; m < json_array_size(messages); m++) {
        const json_t *peer = json_array_get(messages, m);

        share.sent += number_of(peer, "sent");
        share.sent_bytes += number_of(peer, "sent_bytes");
        share.received += number_of(peer, "received");
        share.received_bytes += number_of(peer, "received_bytes");
    }
    return share;
}

/* Bytes that a rank has sent to another one. */
static json_int_t bytes_to(const struct report *from, unsigned to)
{
    const json_t *messages = json_object_get(from->json, "messages");

    for (size_t m = 0; m < json_array_size(messages); m++) {
        const json_t *peer = json_array_get(messages, m);

        if (number_of(peer, "rank") == (json_int_t)to)
            return number_of(peer, "sent_bytes");
    }
    return 0;
}

static void add_rank(struct table *table, unsigned rank, const struct report *report)
{
    struct share share = share_of(report);
    char time[REPORT_TIME_MAX], text[32];
    double all_us = report->makespan_us * (double)share.workers;
    double busy = all_us > 0 ? 100 * share.busy_us / all_us : 0;

    table_add(table, "%u", rank);
    if (!report->json) {
        for (int i = 0; i < 8; i++)
            table_add(table, "-");
        return;
    }
    table_add(table, "%lld", (long long)report->tasks);
    table_add(table, "%s", report_time_text(report->makespan_us, time));
    table_add(table, "%zu", share.workers);
    table_add(table, "%.1f %%", busy);
    table_add(table, "%.1f %%", all_us > 0 && busy < 100 ? 100 - busy : 0);
    table_add(table, "%lld", (long long)share.sent);
    table_add(table, "%s", report_bytes_text(share.sent_bytes, text));
    table_add(table, "%lld, %s", (long long)share.received,
              report_bytes_text(share.received_bytes, text));
}

static int print_table(const struct launch *launch)
{
    static const struct table_column columns[] = {
        {"rank", true}, {"tasks", true},    {"time", true},  {"workers", true}, {"busy", true},
        {"idle", true}, {"messages", true}, {"sent", true}, {"received", false}};
    struct table table = {0};

    for (unsigned r = 0; r < launch->nranks; r++)
        add_rank(&table, r, &launch->ranks[r]);
    return table_end(&table, columns, sizeof(columns) / sizeof(*columns));
}

/* A row for each rank that sends, a column for each one that receives; of many ranks the
 * JSON has it. */
static int print_matrix(const struct launch *launch)
{
    enum { MOST = 16 };
    unsigned n = launch->nranks;
    struct table_column columns[MOST + 1] = {{"bytes from", true}};
    char titles[MOST][16];
    struct table table = {0};

    if (n > MOST)
        return 0;
    for (unsigned r = 0; r < n; r++) {
        snprintf(titles[r], sizeof(titles[r]), "to %u", r);
        columns[r + 1] = (struct table_column){titles[r], true};
        table_add(&table, "%u", r);
        for (unsigned to = 0; to < n; to++) {
            char text[32];

            table_add(&table, "%s",
                      r == to ? "-"
                              : report_bytes_text(bytes_to(&launch->ranks[r], to), text));
        }
    }
    putchar('\n');
    return table_end(&table, columns, n + 1);
}

static int print_json(const struct launch *launch)
{
    json_t *all = json_array();

    for (unsigned r = 0; all && r < launch->nranks; r++)
        json_array_append_new(all, launch->ranks[r].json ? report_json(&launch->ranks[r])
                                                         : json_null());
    return tool_json_print(all ? json_pack("{s:o}", "ranks", all) : NULL);
}

static int print_ranks(const struct launch *launch, bool json)
{
    int rc;

    if (json)
        return print_json(launch);
    putchar('\n');
    rc = print_table(launch);
    return rc ? rc : print_matrix(launch);
}

static unsigned count_reports(const struct launch *launch)
{
    unsigned n = 0;

    for (unsigned r = 0; launch->ranks && r < launch->nranks; r++)
        n += launch->ranks[r].json != NULL;
    return n;
}

static int finish(struct launch *launch, const char *command, bool json)
{
    int code = process_exit_code(&launch->process);
    unsigned n = count_reports(launch);

    if (launch->process.text && code != 0)
        fwrite(launch->process.text, 1, launch->process.length, stderr);
    fflush(stdout);
    if (n > 0 && print_ranks(launch, json) < 0)
        tool_error("out of memory");
    launch_warn_policy(launch, command);
    if (n == 0 && launch->report.json && code == 0)
        return tool_fail(TOOL_FAILED,
                         "%s: %s runs as %u processes that do not know of each other: "
                         "it never called starpu_mpi_init",
                         command, launch->argv[0], launch->nranks);
    if (*launch->problem)
        tool_error("%s", launch->problem);
    else if (n < launch->nranks)
        tool_error("%s: %u of %u ranks of %s left no report", command,
                   launch->nranks - n, launch->nranks, launch->argv[0]);
    if (code == 0 && (*launch->problem || n < launch->nranks) && (json || !launch->no_run))
        return TOOL_FAILED;
    return code;
}

int run_ranks_choose(const char *command, const char *machine, const char *text,
                     unsigned *ret)
{
    if (!machine)
        machine = getenv("ORRERY_MACHINE");
    *ret = 1;
    if (text && program_number(text, 1, ret) < 0)
        return tool_fail(TOOL_USAGE, "%s: -n %s: write how many ranks, from 1 on", command,
                         text);
    if (*ret > 1 && machine && *machine)
        return tool_fail(TOOL_USAGE,
                         "%s: -n %u on %s: a simulated machine has one rank until now: "
                         "leave out the machine to run %u ranks for real, or -n",
                         command, *ret, machine, *ret);
    return TOOL_OK;
}

int run_ranks(struct launch *launch, const char *command, unsigned n, bool json)
{
    struct ranks ranks;
    int result = TOOL_FAILED;

    if (ranks_init(&ranks, command, launch->argv, n) == 0) {
        launch->nranks = n;
        launch->ranks_argv = ranks.argv;
        launch->more = ranks.more;
        launch->quiet = json;
        result = launch_all(launch, 1, 1, NULL, NULL);
        if (result > 0)
            result = tool_fail(128 + result, "interrupted: the ranks of %s were ended",
                               launch->argv[0]);
        else
            result = result < 0 ? TOOL_FAILED : finish(launch, command, json);
    }
    ranks_done(&ranks);
    return result;
}
