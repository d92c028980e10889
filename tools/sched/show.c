/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/sched/show.c - `orrery sched show`: a policy as it is on a machine, its
 * components if it has some, and the variables that it reads. Graphviz draws. One
 * thread.
 */
#include "tools/common/edits.h"
#include "tools/common/interrupt.h"
#include "tools/common/json.h"
#include "tools/common/picture.h"
#include "tools/common/process.h"
#include "tools/common/scratch.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/sched/ask.h"
#include "tools/sched/readers.h"
#include "tools/sched/sched.h"
#include "tools/sched/tree.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: orrery sched show NAME [-m MACHINE] [--set EDIT] [--json | --svg [FILE]]\n"
    "Shows a scheduling policy as it is on a machine: what it does, the range of\n"
    "priorities, the components that it is put together from, and the variables\n"
    "that it reads.\n"
    "  -m, --machine MACHINE  simulated machine (orrery machine list); else that of\n"
    "                         ORRERY_MACHINE, else this one\n" EDITS_HELP
    "      --json             everything as JSON\n"
    "      --svg [FILE]       a picture of the components instead (-: standard\n"
    "                         output; without FILE that, too, but NAME.svg where it\n"
    "                         is a terminal); needs dot, of Debian's package graphviz\n"
    "Equal components in the same place are one, with their number.\n"
    "Exit codes: 0; 1 when the policy or the machine is unknown, or nothing can be\n"
    "drawn; 2 for a wrong command line; 128 plus the signal when interrupted.\n"
    "example: orrery sched show modular-heft -m mirage --svg heft.svg\n";

/* --- text and JSON --- */

static const char *policy_text(const json_t *policy, const char *what)
{
    const char *text = json_string_value(json_object_get(policy, what));

    return text ? text : "";
}

static void print_policy_priority(const char *what, const json_t *policy,
                                  const char *name)
{
    json_int_t value = json_integer_value(json_object_get(policy, name));

    if (value == INT_MIN || value == INT_MAX)
        printf("%sunlimited", what);
    else
        printf("%s%lld", what, (long long)value);
}

static int print_policy_variables(const char *name)
{
    static const struct table_column columns[] = {{"variable", false},
                                                  {"value", false},
                                                  {"default", false},
                                                  {"meaning", false}};
    struct table table = {0};
    struct orr_config_row row;

    for (unsigned i = 0; readers_variable(name, i, &row); i++) {
        const char *value = getenv(row.name);

        table_add(&table, "%s", row.name);
        table_add(&table, "%s", value && *value ? value : "-");
        table_add(&table, "%s", *row.initial ? row.initial : "-");
        table_add(&table, "%s", row.sentence);
    }
    putchar('\n');
    return table_end(&table, columns, 4);
}

static int print_policy_text(const json_t *policy, const struct tree *tree)
{
    const char *name = policy_text(policy, "name"),
               *source = readers_source(name);

    printf("%s: %s\n", name, policy_text(policy, "what"));
    print_policy_priority("priorities: from ", policy, "least_priority");
    print_policy_priority(" to ", policy, "most_priority");
    putchar('\n');
    if (source)
        printf("source: %s\n", source);
    if (tree->nnodes)
        putchar('\n');
    if (tree->nnodes)
        tree_print(tree, stdout);
    return print_policy_variables(name);
}

static int print_policy_json(json_t *policy)
{
    json_t *variables = json_array();
    const char *name = policy_text(policy, "name");
    struct orr_config_row row;

    for (unsigned i = 0; readers_variable(name, i, &row); i++)
        json_array_append_new(variables,
                              json_pack("{ss ss so ss}", "name", row.name,
                                        "default", row.initial, "value",
                                        tool_json_text(getenv(row.name)),
                                        "meaning", row.sentence));
    json_object_set_new(policy, "variables", variables);
    json_object_set_new(policy, "source", tool_json_text(readers_source(name)));
    return tool_json_print(json_incref(policy));
}

/* --- the picture --- */

/* Writes the graph to a file for dot. */
static int write_tree_dot(const struct tree *tree, const char *title,
                          const char *path)
{
    FILE *out = fopen(path, "w");
    int rc = out ? 0 : -1;

    if (out)
        tree_write_dot(tree, title, out);
    if (out && ferror(out))
        rc = -1;
    if (out && fclose(out) != 0)
        rc = -1;
    return rc;
}

/* Has dot draw the file `graph` as SVG in the file `picture`. */
static int run_dot(char *graph, char *picture)
{
    char dot[] = "dot", format[] = "-Tsvg", to[] = "-o";
    char *argv[] = {dot, format, to, picture, graph, NULL};
    struct process process = {.argv = argv, .quiet = true, .output = -1};
    int stopped = process_run(&process, 1, 1, NULL, NULL), rc = 0;
    char line[256];

    if (stopped)
        interrupt_end(stopped);
    if (process.error)
        rc = tool_fail(-1,
                       "sched show: dot cannot be started: %s; Debian's "
                       "package graphviz has it",
                       strerror(process.error));
    else if (process_exit_code(&process) != 0) {
        process_error_line(&process, line, sizeof(line));
        rc = tool_fail(-1, "sched show: dot failed: %s", line);
    }
    process_done(&process);
    return rc;
}

/* The picture goes where it is asked for as a whole. */
static int copy_picture(const char *picture, const char *path)
{
    FILE *in = fopen(picture, "r"), *memory;
    char *text = NULL, part[4096];
    size_t size = 0, n;
    int rc = -1;

    memory = in ? open_memstream(&text, &size) : NULL;
    while (memory && (n = fread(part, 1, sizeof(part), in)) > 0)
        fwrite(part, 1, n, memory);
    if (memory && fclose(memory) == 0 && !ferror(in) && size > 0)
        rc = tool_write_file(path, text, size);
    else
        tool_error("sched show: the picture of dot cannot be read");
    if (in)
        fclose(in);
    free(text);
    return rc;
}

static int draw_policy_tree(const struct tree *tree, const char *title,
                            const char *path)
{
    char *folder = scratch_make(), *graph = NULL, *picture = NULL;
    int rc = -1;

    if (folder) {
        graph = tool_format("%s/policy.dot", folder);
        picture = tool_format("%s/policy.svg", folder);
    }
    if (graph && picture && write_tree_dot(tree, title, graph) == 0)
        rc = run_dot(graph, picture);
    if (rc == 0)
        rc = copy_picture(picture, path);
    free(graph);
    free(picture);
    scratch_remove(folder);
    return rc;
}

/* --- the command --- */

static int show_policy(json_t *policy, bool json, const char *svg)
{
    const json_t *components = json_object_get(policy, "components");
    const char *name = policy_text(policy, "name");
    struct tree tree = {0};
    int rc = 0;

    if (json_is_array(components))
        rc = tree_new(components, &tree);
    if (rc < 0)
        tool_error("sched show: the components of %s cannot be followed", name);
    else if (svg && !tree.nnodes)
        rc = tool_fail(-1,
                       "sched show: %s is not put together from components: "
                       "there is nothing to draw; without --svg its "
                       "variables are shown",
                       name);
    else if (svg)
        rc = draw_policy_tree(&tree, name, svg);
    else
        rc =
            json ? print_policy_json(policy) : print_policy_text(policy, &tree);
    tree_done(&tree);
    return rc;
}

static int find_and_show(const char *name, const char *machine,
                         const char *edits, bool json, const char *svg)
{
    json_t *policy = ask_library(name, machine, edits);
    int rc = policy ? show_policy(policy, json, svg) : -1;

    json_decref(policy);
    return rc == 0 && fflush(stdout) == 0 ? TOOL_OK
           : rc > 0                       ? 128 + rc
                                          : TOOL_FAILED;
}

int sched_show(int argc, char **argv)
{
    const char *machine = NULL, *edits = NULL;
    struct picture picture = {0};
    bool json = false;
    const struct tool_option options[] = {{'m', "machine", &machine, NULL},
                                          {TOOL_JOINED, "set", &edits, NULL},
                                          {0, "json", NULL, &json},
                                          {0, "svg", &picture.path,
                                           &picture.wanted},
                                          {0}};
    int nwords = 0,
        rc = tool_parse_operands(argc, argv, options, help, &nwords);
    bool named = rc > 0 && picture_take(&picture, argv, &nwords, 1, 1);
    int code;

    if (rc <= 0)
        code = rc < 0 ? TOOL_USAGE : TOOL_OK;
    else if (!named || nwords != 1 || (json && picture.wanted))
        code =
            tool_fail(TOOL_USAGE, "sched show: one NAME (orrery sched list), "
                                  "and either --json or --svg; see orrery "
                                  "sched show --help");
    else
        code = picture_choose(&picture, "sched show", argv[1]);
    if (rc > 0 && code == TOOL_OK)
        code = find_and_show(argv[1], machine, edits, json, picture.path);
    picture_done(&picture, code);
    free((char *)(uintptr_t)edits);
    return code;
}
