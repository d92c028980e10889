/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/bound/print_ranks.c - bounds of several ranks, as text and as JSON. */
#include "tools/bound/cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"

/* Of more ranks the table has those that are bound the longest. */
enum { MOST_ROWS = 32 };

static const char *time_text(double ms, char text[REPORT_TIME_MAX])
{
    return isfinite(ms) ? report_time_text(1e3 * ms, text) : "-";
}

static const char *ways_text(const struct cluster_bounds *c, bool leaves)
{
    if (c->cluster.fabric.half_duplex)
        return "send and receive";
    return leaves ? "send" : "receive";
}

/* Of both directions where links share them. */
static double bytes_of(const struct cluster_bounds *c, unsigned cut, unsigned part, bool leaves)
{
    const struct orr_bound_traffic *way = &c->result.traffic[cut][2 * (size_t)part];

    return c->cluster.fabric.half_duplex ? way[0].bytes + way[1].bytes : way[leaves].bytes;
}

static double busy_of(const struct cluster_bounds *c, unsigned cut, unsigned part, bool leaves)
{
    return bytes_of(c, cut, part, leaves) / c->network.cuts[cut].rate[part];
}

void bound_ranks_limit(const struct cluster_bounds *c, char *text, size_t size)
{
    char time[REPORT_TIME_MAX], bytes[32], links[96];

    switch (c->limit) {
    case CLUSTER_PATH:
        snprintf(text, size, "the critical path: %u tasks, %s of it messages between nodes (%u)",
                 c->result.path_tasks, time_text(c->result.path_messages_ms, time),
                 c->result.path_messages);
        break;
    case CLUSTER_TASKS:
        snprintf(text, size, "the workers of rank %u: its tasks take %s of it", c->rank,
                 time_text(c->result.ranks[c->rank].area_ms, time));
        break;
    case CLUSTER_PATHS:
        snprintf(text, size, "the tasks of rank %u (%s)", c->rank,
                 orr_bound_method_name(c->of[c->rank].method));
        break;
    case CLUSTER_TRAFFIC:
        bound_network_part_name(&c->network, c->cut, c->part, links, sizeof(links));
        snprintf(text, size, "%s: %s to %s take %s of it", links,
                 report_bytes_text((json_int_t)bytes_of(c, c->cut, c->part, c->leaves), bytes),
                 ways_text(c, c->leaves),
                 time_text(busy_of(c, c->cut, c->part, c->leaves), time));
        break;
    case CLUSTER_ANYWHERE:
        snprintf(text, size, "all tasks on all nodes (%s)",
                 orr_bound_method_name(c->anywhere.method));
        break;
    case CLUSTER_NOTHING:
        snprintf(text, size, "nothing is known");
    }
}

/* --- the table --- */

/* The highest of what is known of a rank's tasks. */
static double rank_ms(const struct cluster_bounds *c, unsigned rank)
{
    return fmax(c->result.ranks[rank].ms, c->of[rank].ms);
}

/* Whether fewer than MOST_ROWS ranks have a higher bound. */
static bool is_shown(const struct cluster_bounds *c, unsigned rank)
{
    unsigned before = 0;

    for (unsigned r = 0; r < c->n; r++)
        before += rank_ms(c, r) > rank_ms(c, rank) ||
                  (r < rank && rank_ms(c, r) >= rank_ms(c, rank));
    return before < MOST_ROWS;
}

static void add_traffic(const struct cluster_bounds *c, unsigned rank, struct table *table)
{
    unsigned node = c->network.node[rank];
    bool first = rank == 0 || c->network.node[rank - 1] != node;
    char bytes[32], time[REPORT_TIME_MAX];
    double ms = 0;

    for (unsigned way = 0; way < 2; way++) {
        const struct orr_bound_traffic *traffic = &bound_ranks_traffic(c, node)[!way];

        ms = fmax(ms, busy_of(c, 0, node, !way));
        table_add(table, "%s",
                  first ? report_bytes_text((json_int_t)traffic->bytes, bytes) : "");
    }
    table_add(table, "%s", first ? time_text(ms, time) : "");
}

static int print_rows(const struct cluster_bounds *c)
{
    static const struct table_column columns[] = {
        {"rank", true},           {"tasks", true},    {"workers", true},
        {"took", true},           {"all work", true}, {"and before and behind", true},
        {"its node sends", true}, {"receives", true}, {"NICs take", true}};
    struct table table = {0};
    char time[REPORT_TIME_MAX];
    unsigned left = 0;
    int rc;

    for (unsigned r = 0; r < c->n; r++) {
        const struct orr_bound_rank *rank = &c->result.ranks[r];

        if (!rank->ntasks)
            continue;
        if (!is_shown(c, r)) {
            left++;
            continue;
        }
        table_add(&table, "%u", r);
        table_add(&table, "%u", rank->ntasks);
        table_add(&table, "%u", rank->nworkers);
        table_add(&table, "%s",
                  c->makespans_us ? report_time_text(c->makespans_us[r], time) : "-");
        table_add(&table, "%s", time_text(rank->area_ms, time));
        table_add(&table, "%s", time_text(rank_ms(c, r), time));
        add_traffic(c, r, &table);
    }
    rc = table_end(&table, columns, sizeof(columns) / sizeof(*columns));
    if (left)
        printf("and %u rank%s whose workers need less (--json has all)\n", left,
               left == 1 ? "" : "s");
    return rc;
}

/* Bytes that went between nodes, each message for itself; and what has to come at least. */
static double sent_between(const struct cluster_bounds *c)
{
    double bytes = 0;

    for (unsigned m = 0; m < c->messages.n; m++) {
        const struct orr_bound_message *message = &c->messages.all[m];

        if (c->network.node[message->from] != c->network.node[message->to])
            bytes += message->bytes;
    }
    return bytes;
}

static double needed_between(const struct cluster_bounds *c)
{
    double bytes = 0;

    for (unsigned node = 0; node < c->cluster.nnodes; node++)
        bytes += bound_ranks_traffic(c, node)[0].bytes;
    return bytes;
}

static void print_highest(const struct cluster_bounds *c)
{
    char time[REPORT_TIME_MAX], other[REPORT_TIME_MAX], text[240], sent[32], needed[32];
    double cost = bound_ranks_cost(c);
    const char *proved = c->proved ? "" : " (not proved)";

    bound_ranks_limit(c, text, sizeof(text));
    printf("\nsent between nodes                 %s, of which %s have to be\n",
           report_bytes_text((json_int_t)sent_between(c), sent),
           report_bytes_text((json_int_t)needed_between(c), needed));
    printf("critical path                      %s: %u tasks, and %s for %u message%s\n",
           time_text(c->result.path_ms, time), c->result.path_tasks,
           time_text(c->result.path_messages_ms, other), c->result.path_messages,
           c->result.path_messages == 1 ? "" : "s");
    printf("distributed as tasks and data are  %s%s: %s\n", time_text(c->ms, time), proved,
           text);
    printf("with each task on any node         %s (%s%s)\n", time_text(c->anywhere.ms, time),
           c->anywhere.method < ORR_BOUND_NMETHODS ? orr_bound_method_name(c->anywhere.method)
                                                   : "no bound",
           c->anywhere.proved ? "" : ", not proved");
    if (isfinite(cost))
        printf("the distribution's bound is %.1f %% above that of any\n", 100 * cost);
}

int bound_ranks_print(const struct cluster_bounds *c)
{
    char time[REPORT_TIME_MAX];
    double above = c->makespan_us / c->ms / 1e3 - 1;

    printf("\nmachine     %s (simulated)\n", c->machine);
    puts("note        bounds ignore what tasks and messages share beside NICs and links, copies\n"
         "            within nodes, memory, and what the runtime takes");
    putchar('\n');
    if (print_rows(c) < 0)
        return tool_fail(-1, "out of memory");
    print_highest(c);
    if (isnan(c->makespan_us))
        return 0;
    printf("\nscheduled %s", report_time_text(c->makespan_us, time));
    if (isfinite(above))
        printf(", %.1f %% above the bound of the distribution", 100 * above);
    putchar('\n');
    return 0;
}

/* --- JSON --- */

static const char *const limits[] = {
    [CLUSTER_NOTHING] = "none",     [CLUSTER_PATH] = "critical-path",
    [CLUSTER_TASKS] = "workers",    [CLUSTER_PATHS] = "tasks",
    [CLUSTER_TRAFFIC] = "messages", [CLUSTER_ANYWHERE] = "anywhere",
};

static json_t *json_of_rank(const struct cluster_bounds *c, unsigned r)
{
    const struct orr_bound_rank *rank = &c->result.ranks[r];
    bool alone = c->of[r].ms > rank->ms;

    return json_pack("{s:o, s:s, s:b, s:i, s:i, s:f, s:i}", "ms",
                     tool_json_number(rank_ms(c, r)), "bound",
                     alone ? bounds_key(c->of[r].method) : "workers", "proved",
                     alone ? c->of[r].proved : !c->result.unknown, "tasks", (int)rank->ntasks,
                     "workers", (int)rank->nworkers, "area_ms", rank->area_ms, "node",
                     (int)c->network.node[r]);
}

static json_t *json_of_part(const struct cluster_bounds *c, unsigned cut, unsigned part)
{
    const struct orr_bound_traffic *way = &c->result.traffic[cut][2 * (size_t)part];
    char name[96];

    bound_network_part_name(&c->network, cut, part, name, sizeof(name));
    return json_pack("{s:s, s:f, s:i, s:f, s:f, s:f, s:i, s:f, s:f}", "links", name,
                     "received_bytes", way[0].bytes, "received_values", (int)way[0].nvalues,
                     "receiving_ms", busy_of(c, cut, part, false), "received_ms", way[0].ms,
                     "sent_bytes", way[1].bytes, "sent_values", (int)way[1].nvalues,
                     "sending_ms", busy_of(c, cut, part, true), "sent_ms", way[1].ms);
}

static json_t *json_of_cut(const struct cluster_bounds *c, unsigned cut)
{
    json_t *parts = json_array();

    for (unsigned part = 0; part < c->network.cuts[cut].nparts; part++)
        json_array_append_new(parts, json_of_part(c, cut, part));
    return parts;
}

/* The most that has to pass the NICs of a node. */
static json_t *json_of_nics(const struct cluster_bounds *c)
{
    const struct orr_bound_traffic *nics = c->result.traffic[0];
    unsigned most = 0;

    for (unsigned i = 0; i < 2 * c->cluster.nnodes; i++)
        if (nics[i].bytes > nics[most].bytes)
            most = i;
    return json_pack("{s:f, s:i, s:f, s:s, s:f, s:f}", "ms", busy_of(c, 0, most / 2, most % 2), "node", (int)most / 2, "bytes",
                     bytes_of(c, 0, most / 2, most % 2), "direction",
                     c->cluster.fabric.half_duplex ? "both" : most % 2 ? "sent" : "received",
                     "sent_bytes", sent_between(c), "needed_bytes", needed_between(c));
}

int bound_ranks_print_json(const struct cluster_bounds *c)
{
    json_t *ranks = json_array(), *cuts = json_array(), *object;
    char text[240];

    for (unsigned r = 0; r < c->n; r++)
        json_array_append_new(ranks, c->result.ranks[r].ntasks ? json_of_rank(c, r)
                                                               : json_null());
    for (unsigned cut = 1; cut < c->result.ncuts; cut++)
        json_array_append_new(cuts, json_of_cut(c, cut));
    bound_ranks_limit(c, text, sizeof(text));
    object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:{s:o, s:s, s:b, s:o}, s:{s:f, s:i, s:i, s:f},"
        " s:{s:o, s:s, s:b, s:i, s:i}, s:o, s:o}",
        "machine", tool_json_text(c->machine), "makespan_ms",
        tool_json_number(c->makespan_us / 1e3), "ranks", ranks, "nodes", json_of_cut(c, 0), "cuts",
        cuts, "best", "ms", tool_json_number(c->ms), "bound", limits[c->limit], "proved",
        c->proved, "limited_by", tool_json_text(text), "path", "ms", c->result.path_ms, "tasks",
        (int)c->result.path_tasks, "messages", (int)c->result.path_messages, "messages_ms",
        c->result.path_messages_ms, "anywhere", "ms", tool_json_number(c->anywhere.ms), "bound",
        c->anywhere.method < ORR_BOUND_NMETHODS ? bounds_key(c->anywhere.method) : "none",
        "proved", c->anywhere.proved, "tasks", (int)c->anywhere.ntasks, "workers",
        (int)c->anywhere.nworkers, "distribution_costs", tool_json_number(bound_ranks_cost(c)),
        "messages", json_of_nics(c));
    return tool_json_print(object) < 0 ? tool_fail(-1, "out of memory") : 0;
}
