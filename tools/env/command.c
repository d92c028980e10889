/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/env/command.c - `orrery env`. One thread. */
#include "tools/common/tool.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/capped.h"
#include "core/base/config.h"
#include "core/base/perf_names.h"
#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/variables.h"
#include "tools/env/env.h"

static const char help[] =
    "usage: orrery env [--all | --counters | --knobs | --devices] [--json] [WORD]\n"
    "Shows the environment variables that are set and what they mean, and those\n"
    "that nothing reads: their names may be misspelt; how many devices there are, or\n"
    "which library was looked for and not found.\n"
    "      --all       those that are not set, too\n"
    "      --counters  performance counters instead (starpu_perf_monitoring.h)\n"
    "      --knobs     performance knobs instead (starpu_perf_steering.h)\n"
    "      --devices   where libraries of GPUs and OpenCL are looked for instead,\n"
    "                  what they lack, and the devices that they know\n"
    "      --json      everything as JSON; with --devices, that\n"
    "WORD: of all, those whose name or meaning has it.\n"
    "Exit codes: 0; 1 when a variable that is set cannot be read, or nothing reads\n"
    "it; 2 for a wrong command line.\n"
    "example: orrery env memory\n";

static const char *variable_value(const struct orr_config_row *row)
{
    const char *value = getenv(row->name);

    return value && *value ? value : NULL;
}

/* HOME and the like are set everywhere. */
static bool is_runtime_variable(const char *name)
{
    return strncmp(name, "STARPU_", 7) == 0 ||
           strncmp(name, "ORRERY_", 7) == 0 || strncmp(name, "OMP_", 4) == 0;
}

static bool has_word(const char *word, const char *name, const char *sentence)
{
    return !word || strcasestr(name, word) || strcasestr(sentence, word);
}

/* --- names that nothing reads --- */

static void print_unknown(const char *name, const char *value, const char *near,
                          void *unused)
{
    (void)unused;
    tool_error("env: %s=%s: nothing reads %s%s%s", name, value, name,
               near ? "; the nearest name is " : "", near ? near : "");
}

static void list_unknown(const char *name, const char *value, const char *near,
                         void *list)
{
    json_array_append_new(list, json_pack("{so so ss?}", "name",
                                          tool_json_text(name), "value",
                                          tool_json_text(value), "near", near));
}

/* --- what is shown --- */

static void add_variable_row(struct table *table,
                             const struct orr_config_row *row)
{
    const char *value = variable_value(row);

    table_add(table, "%s", row->name);
    table_add(table, "%s", value ? value : "-");
    table_add(table, "%s", *row->initial ? row->initial : "-");
    table_add(table, "%s%s", row->vain ? "no effect: " : "",
              row->sentence);
}

static int show_variables(const char *word, bool all)
{
    static const struct table_column columns[] = {{"variable", false},
                                                  {"value", false},
                                                  {"default", false},
                                                  {"meaning", false}};
    struct table table = {0};
    struct orr_config_row row;

    for (unsigned i = 0; orr_config_row(i, &row); i++)
        if ((all || word ||
             (variable_value(&row) && is_runtime_variable(row.name))) &&
            has_word(word, row.name, row.sentence))
            add_variable_row(&table, &row);
    if (!table.n) {
        table_done(&table);
        puts(word ? "no variable has that word"
                  : "no variable is set; orrery env --all lists them");
        return 0;
    }
    return table_end(&table, columns, 4);
}

static int show_all_set(void)
{
    int rc = show_variables(NULL, false);

    return rc < 0 ? rc : env_show_libraries();
}

static int show_perf(const struct orr_perf_table *perf, const char *word)
{
    const struct table_column columns[] = {{perf->what, false},
                                           {"scope", false},
                                           {"type", false},
                                           {"meaning", false}};
    struct table table = {0};

    for (unsigned i = 0; i < perf->n; i++) {
        const struct orr_perf_entry *entry = &perf->entries[i];

        if (!has_word(word, entry->name, entry->help))
            continue;
        table_add(&table, "%s", entry->name);
        table_add(&table, "%s", orr_perf_scope_name(perf, entry->scope));
        table_add(&table, "%s", orr_perf_type_name(entry->type));
        table_add(&table, "%s", entry->help);
    }
    return table_end(&table, columns, 4);
}

static json_t *perf_json(const struct orr_perf_table *perf)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < perf->n; i++) {
        const struct orr_perf_entry *entry = &perf->entries[i];

        json_array_append_new(
            list,
            json_pack("{ss ss ss ss}", "name", entry->name, "scope",
                      orr_perf_scope_name(perf, entry->scope), "type",
                      orr_perf_type_name(entry->type), "meaning", entry->help));
    }
    return list;
}

static int show_json(void)
{
    json_t *variables = json_array(), *unknown = json_array();
    struct orr_config_row row;

    for (unsigned i = 0; orr_config_row(i, &row); i++)
        json_array_append_new(
            variables,
            json_pack("{ss ss ss so ss sb}", "name", row.name, "type", row.type,
                      "default", row.initial, "value",
                      tool_json_text(variable_value(&row)), "meaning",
                      row.sentence, "effect", !row.vain));
    if (variables_each_unknown(list_unknown, unknown) < 0)
        return -1;
    return tool_json_print(json_pack(
        "{so so so so}", "variables", variables, "unknown", unknown, "counters",
        perf_json(&orr_perf_counters), "knobs", perf_json(&orr_perf_knobs)));
}

/* Whether starpu_init would read all values; else its message. */
static bool can_be_read(void)
{
    struct orr_config config = {0};
    struct orr_error err = {""};
    int rc = orr_config_read(&config, &err);

    if (rc < 0)
        tool_report(&err, rc);
    orr_config_done(&config);
    return rc == 0;
}

static void print_capped(const char *name, int asked, int used)
{
    tool_error("env: %s=%d: at most %d, which is used", name, asked, used);
}

static void ignore_unknown_variable(const char *name, const char *value,
                                    const char *near, void *unused)
{
    (void)name, (void)value, (void)near, (void)unused;
}

/* JSON has the names itself. */
static int judge_environment(bool json)
{
    bool readable = can_be_read();
    int n = variables_each_unknown(
        json ? ignore_unknown_variable : print_unknown, NULL);

    if (!json)
        orr_config_each_capped(print_capped);
    return readable && n == 0 ? TOOL_OK : TOOL_FAILED;
}

int cmd_env(int argc, char **argv)
{
    bool all = false, counters = false, knobs = false, json = false;
    bool devices = false;
    const struct tool_option options[] = {
        {0, "all", NULL, &all},     {0, "counters", NULL, &counters},
        {0, "knobs", NULL, &knobs}, {0, "devices", NULL, &devices},
        {0, "json", NULL, &json},   {0}};
    int nwords = 0,
        rc = tool_parse_operands(argc, argv, options, help, &nwords);
    const char *word = nwords == 1 ? argv[1] : NULL;

    if (rc <= 0)
        return rc < 0 ? TOOL_USAGE : TOOL_OK;
    if (nwords > 1 || all + counters + knobs + devices > 1 ||
        (devices && word) || (json && (word || all || counters || knobs)))
        return tool_fail(TOOL_USAGE, "env: one WORD, one of --all, --counters, "
                                     "--knobs and --devices, or --json");
    if (devices)
        rc = json ? tool_json_print(env_devices_json()) : env_show_devices();
    else
        rc = json          ? show_json()
             : counters    ? show_perf(&orr_perf_counters, word)
             : knobs       ? show_perf(&orr_perf_knobs, word)
             : word || all ? show_variables(word, all)
                           : show_all_set();
    if (rc < 0)
        return tool_fail(TOOL_FAILED, "out of memory");
    return counters || knobs ? TOOL_OK : judge_environment(json);
}
