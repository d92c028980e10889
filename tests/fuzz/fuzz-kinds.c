/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/fuzz/fuzz-kinds.c - libFuzzer target for the rules of `--kinds' (import/kinds.h), the
 * first line; the lines behind it are tasks, their names and, behind a tab, the field. What is
 * refused is named; with what is accepted each task has a kernel, which a rule has chosen if it
 * is neither the name nor the field. One thread.
 */
#include "import/flow.h"
#include "import/kinds.h"
#include "tests/fuzz/fuzz.h"

static void set_kind(struct flow *flow, char *line)
{
    char *name = strsep(&line, "\t"), *field = line;
    struct flow_task task = {.kernel = NULL};

    must(flow_set_kind(flow, &task, name, field) == 0);
    must(task.kernel &&
         (task.chosen || !strcmp(task.kernel, field ? field : name)));
    free(task.kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *rest = text,
         *rules = strsep(&rest, "\n"), *line;
    struct orr_error err = {""};
    struct flow flow;
    int rc;

    flow_init(&flow, "tasks", &err);
    rc = flow_kinds_read(&flow, rules);
    must(rc == 0 || strstr(err.text, "--kinds: "));
    must(!flow_kinds_field(&flow) || *flow_kinds_field(&flow));
    while (rc == 0 && (line = strsep(&rest, "\n")))
        set_kind(&flow, line);
    if (rc == 0)
        must(flow_kinds_end(&flow) == 0 || strstr(err.text, "--kinds: "));
    flow_kinds_done(&flow);
    flow_done(&flow);
    free(text);
    return 0;
}
