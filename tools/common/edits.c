/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/edits.c - see edits.h. */
#include "tools/common/edits.h"

#include "platforms/edit.h"
#include "tools/common/tool.h"

#include <stdio.h>

/* `nodes`: of a cluster, which ones; NULL: it is not about nodes. */
static void say_edits(const struct orr_edit_echo *echoes, unsigned n,
                      const char *nodes)
{
    for (unsigned i = 0; i < n; i++)
        fprintf(stderr, "what if %s: %s%s%s\n", echoes[i].edit,
                nodes ? nodes : "", nodes ? ": " : "", echoes[i].text);
}

static int wrong_edits(const struct orr_error *err)
{
    tool_error("--set: %s", err->text);
    return -1;
}

int edits_apply_nodes(struct orr_machine_desc *desc, const char *edits,
                      const char *nodes)
{
    struct orr_error err = {""};

    if (!edits)
        return 0;
    if (orr_machine_desc_edit(desc, edits, &err) < 0)
        return wrong_edits(&err);
    say_edits(desc->edits, desc->nedits, nodes);
    return 0;
}

int edits_apply(struct orr_machine_desc *desc, const char *edits)
{
    return edits_apply_nodes(desc, edits, NULL);
}

int edits_apply_cluster(struct orr_cluster_desc *cluster, const char *edits)
{
    struct orr_error err = {""};

    if (!edits)
        return 0;
    if (orr_cluster_edit(cluster, edits, &err) < 0)
        return wrong_edits(&err);
    say_edits(cluster->edits, cluster->nedits, NULL);
    return 0;
}

bool edits_any_unused(const json_t *report)
{
    const json_t *edits = json_object_get(report, "edits"), *edit;
    size_t i;

    json_array_foreach(edits, i, edit)
    {
        const json_t *tasks = json_object_get(edit, "tasks");
        const json_t *bytes = json_object_get(edit, "bytes");

        if (json_is_true(json_object_get(edit, "effect")) &&
            json_is_integer(tasks) && json_is_integer(bytes) &&
            !json_integer_value(tasks) && !json_integer_value(bytes))
            return true;
    }
    return false;
}

void edits_print(const json_t *report, const char *indent)
{
    const json_t *edits = json_object_get(report, "edits"), *edit;
    size_t i;

    json_array_foreach(edits, i, edit)
    {
        const char *text = json_string_value(json_object_get(edit, "edit"));
        const char *echo = json_string_value(json_object_get(edit, "echo"));

        printf("%s%s: %s%s\n", indent, text ? text : "?", echo ? echo : "?",
               json_is_false(json_object_get(edit, "kernels_met"))
                   ? "; no effect on this run, no kernel of it has that name"
                   : "");
    }
}
