/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/sched/command.c - `orrery sched`. One thread. */
#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/sched/ask.h"
#include "tools/sched/sched.h"

#include <stdio.h>

static const char list_help[] =
    "usage: orrery sched list [--json]\n"
    "Lists the scheduling policies that -s and STARPU_SCHED may name, those of the\n"
    "shared object STARPU_SCHED_LIB among them.\n"
    "      --json  as JSON\n"
    "Exit codes: 0; 1 when something failed; 2 for a wrong command line.\n"
    "example: orrery sched list\n";

/* Policies that a file defines: without one there is nothing to start. */
static const struct {
    const char *name, *what;
} of_files[] = {
    {"static=FILE", "as a schedule says: orrery optimise, orrery trace "
                    "--schedule"},
    {"FILE.py", "simulated: a policy in Python (docs/PYTHON_POLICIES.md)"},
};

static void add_of_files(json_t *policies)
{
    for (size_t i = 0; i < sizeof(of_files) / sizeof(*of_files); i++)
        json_array_append_new(policies,
                              json_pack("{ss ss sn}", "name", of_files[i].name,
                                        "what", of_files[i].what, "library"));
}

static int print_policy_table(const json_t *policies)
{
    static const struct table_column columns[] = {{"policy", false},
                                                  {"what it does", false}};
    struct table table = {0};
    const json_t *policy;
    size_t i;

    json_array_foreach(policies, i, policy)
    {
        const char *name = json_string_value(json_object_get(policy, "name"));
        const char *what = json_string_value(json_object_get(policy, "what"));
        const char *from =
            json_string_value(json_object_get(policy, "library"));

        table_add(&table, "%s", name ? name : "-");
        table_add(&table, "%s%s%s%s", what ? what : "", from ? " (of " : "",
                  from ? from : "", from ? ")" : "");
    }
    return table_end(&table, columns, 2);
}

static int list_policies(int argc, char **argv)
{
    bool json = false;
    const struct tool_option options[] = {{0, "json", NULL, &json}, {0}};
    int first = tool_parse(argc, argv, options, list_help), rc = -1;
    json_t *policies;

    if (first <= 0)
        return first < 0 ? TOOL_USAGE : TOOL_OK;
    if (first < argc)
        return tool_fail(TOOL_USAGE,
                         "sched list: %s is not understood; see orrery sched "
                         "list --help",
                         argv[first]);
    policies = ask_library(NULL, NULL, NULL);
    if (!policies)
        return TOOL_FAILED;
    add_of_files(policies);
    rc = json ? tool_json_print(json_incref(policies))
              : print_policy_table(policies);
    json_decref(policies);
    return rc < 0 ? tool_fail(TOOL_FAILED, "out of memory") : TOOL_OK;
}

static const struct tool_command list[] = {
    {.name = "list", .run = list_policies, .what = "which policies there are"},
    {.name = "show",
     .run = sched_show,
     .what = "components and variables of a policy, on a machine"},
    {0}};

static const struct tool_commands verbs = {
    .name = "sched",
    .list = list,
    .head = "usage: orrery sched VERB [OPTIONS] [NAME]\n"
            "Shows the scheduling policies.\n\n",
    .tail = "\norrery sched VERB --help has the options of a verb.\n"
            "example: orrery sched show dmdas\n",
};

const char *sched_verb(size_t i)
{
    return list[i].name;
}

int cmd_sched(int argc, char **argv)
{
    return tool_dispatch(&verbs, argc, argv);
}
