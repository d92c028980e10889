/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/edits.c - see edits.h. */
#include "tools/common/edits.h"

#include "platforms/edit.h"
#include "tools/common/tool.h"

#include <stdio.h>

int edits_apply(struct orr_machine_desc *desc, const char *edits)
{
    struct orr_error err = {""};

    if (!edits)
        return 0;
    if (orr_machine_desc_edit(desc, edits, &err) < 0) {
        tool_error("--set: %s", err.text);
        return -1;
    }
    for (unsigned i = 0; i < desc->nedits; i++)
        fprintf(stderr, "what if %s: %s\n", desc->edits[i].edit,
                desc->edits[i].text);
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
