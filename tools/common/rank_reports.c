/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/rank_reports.c - see rank_reports.h. */
#include "tools/common/rank_reports.h"

#include <errno.h>
#include <string.h>

#include "tools/common/json.h"

static double number_of(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static void set_number(json_t *json, const char *key, double value)
{
    json_object_set_new(json, key,
                        json_is_integer(json_object_get(json, key))
                            ? json_integer((json_int_t)value)
                            : json_real(value));
}

static void set_count(json_t *json, const char *key, double value)
{
    json_object_set_new(json, key, json_integer((json_int_t)value));
}

/* --- what all have --- */

/* From the first begin to the last end, where ranks have one clock; else the longest. */
static void add_time(json_t *all, const json_t *one)
{
    double begin = number_of(one, "begin_us"), us = number_of(one, "makespan_us");
    double from = number_of(all, "begin_us"), to = from + number_of(all, "makespan_us");

    if (!json_object_get(one, "begin_us"))
        return;
    if (!json_object_get(all, "begin_us")) {
        from = begin;
        to = begin + us;
    }
    from = begin < from ? begin : from;
    to = begin + us > to ? begin + us : to;
    json_object_set_new(all, "begin_us", json_real(from));
    json_object_set_new(all, "makespan_us", json_real(to - from));
}

static void add_sums(json_t *all, const json_t *one)
{
    static const char *const sums[] = {"flops",     "tasks",  "transfers",
                                       "evictions", "transferred_bytes"};
    static const char *const most[] = {"modelled_us", "wall_s"};

    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
        set_number(all, sums[i], number_of(all, sums[i]) + number_of(one, sums[i]));
    for (size_t i = 0; i < sizeof(most) / sizeof(*most); i++)
        if (number_of(one, most[i]) > number_of(all, most[i]))
            set_number(all, most[i], number_of(one, most[i]));
    if (json_is_true(json_object_get(all, "simulated")))
        add_time(all, one);
    else if (number_of(one, "makespan_us") > number_of(all, "makespan_us"))
        set_number(all, "makespan_us", number_of(one, "makespan_us"));
}

static void add_lists(json_t *all, const json_t *one)
{
    static const char *const lists[] = {"workers", "kernels", "links", "returns"};

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        json_t *list = json_object_get(all, lists[i]);
        json_t *more = json_object_get(one, lists[i]);

        if (json_is_array(list) && json_is_array(more))
            json_array_extend(list, more);
        else if (json_is_array(more))
            json_object_set_new(all, lists[i], json_copy(more));
    }
}

static void add_exit(json_t *all, const json_t *one)
{
    const char *exit = json_string_value(json_object_get(all, "exit"));

    if (exit && (!strcmp(exit, "shutdown") || !strcmp(exit, "returned")))
        json_object_set(all, "exit", json_object_get(one, "exit"));
}

/* That of the list whose member has the same text; NULL: none. */
static json_t *find(const json_t *list, const char *key, const json_t *as)
{
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        if (json_equal(json_object_get(item, key), json_object_get(as, key)))
            return item;
    }
    return NULL;
}

/* Edits may be of some nodes alone. */
static void add_edits(json_t *all, const json_t *one)
{
    json_t *edits = json_object_get(all, "edits"), *edit;
    size_t i;

    if (!edits) {
        edits = json_array();
        json_object_set_new(all, "edits", edits);
    }
    json_array_foreach(json_object_get(one, "edits"), i, edit)
    {
        json_t *same = find(edits, "edit", edit);

        if (!same) {
            json_array_append_new(edits, json_deep_copy(edit));
            continue;
        }
        set_number(same, "tasks", number_of(same, "tasks") + number_of(edit, "tasks"));
        set_number(same, "bytes", number_of(same, "bytes") + number_of(edit, "bytes"));
    }
    if (json_array_size(edits) == 0)
        json_object_del(all, "edits");
}

static void add_messages(json_t *all, const json_t *one)
{
    const json_t *peer;
    size_t i;

    json_array_foreach(json_object_get(one, "messages"), i, peer)
    {
        set_count(all, "messages_sent", number_of(all, "messages_sent") + number_of(peer, "sent"));
        set_count(all, "message_bytes",
                  number_of(all, "message_bytes") + number_of(peer, "sent_bytes"));
    }
}

/* --- where times come from --- */

static double busy_us(const json_t *report)
{
    const json_t *worker;
    double us = 0;
    size_t i;

    json_array_foreach(json_object_get(report, "workers"), i, worker)
        us += number_of(worker, "busy_us");
    return us;
}

/* Shares of the time of tasks, of which the rank has `part` of all. */
static void add_figures(json_t *figures, const json_t *one, double part)
{
    json_t *figure;
    size_t i;

    json_array_foreach(json_object_get(one, "figures"), i, figure)
    {
        json_t *same = find(figures, "origin", figure);
        double share = part * number_of(figure, "share");

        if (!same) {
            same = json_deep_copy(figure);
            json_object_set_new(same, "share", json_real(0));
            json_array_append_new(figures, same);
        }
        json_object_set_new(same, "share", json_real(number_of(same, "share") + share));
        if (number_of(figure, "off_by") > number_of(same, "off_by"))
            json_object_set(same, "off_by", json_object_get(figure, "off_by"));
    }
}

static void join_figures(json_t *all, const struct report *of, unsigned n)
{
    json_t *figures = json_array();
    double sum_us = busy_us(all);

    for (unsigned r = 0; r < n && sum_us > 0; r++)
        if (of[r].json)
            add_figures(figures, of[r].json, busy_us(of[r].json) / sum_us);
    json_object_set_new(all, "figures", figures);
}

/* --- all --- */

int rank_reports_join(const struct report *of, unsigned n, const char *machine,
                      struct report *ret)
{
    static const char *const own[] = {"rank", "ranks", "messages", "begin_us"};
    json_t *all = NULL;
    int rc;

    for (unsigned r = 0; r < n; r++) {
        if (!of[r].json)
            continue;
        if (!all) {
            all = json_deep_copy(of[r].json);
            continue;
        }
        add_sums(all, of[r].json);
        add_lists(all, of[r].json);
        add_exit(all, of[r].json);
        add_edits(all, of[r].json);
    }
    if (!all)
        return -ENOENT;
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        json_object_del(all, own[i]);
    for (unsigned r = 0; r < n; r++)
        add_messages(all, of[r].json);
    if (json_object_get(all, "figures"))
        join_figures(all, of, n);
    if (machine && json_is_true(json_object_get(all, "simulated")))
        json_object_set_new(all, "machine", tool_json_text(machine));
    rc = report_take(all, ret);
    return rc == -EINVAL ? -ENOMEM : rc;
}
