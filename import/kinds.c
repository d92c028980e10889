/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/kinds.c - see kinds.h. */
#include "import/kinds.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/grow.h"

struct flow_kind_rule {
    char *pattern; /* of names; NULL: the field that has the kind, or all names */
    char *kind;    /* or the field; NULL: the name as it stands in the file */
    bool met;      /* it held for a task */
};

static char *trimmed(const char *from, const char *end)
{
    while (from < end && isspace((unsigned char)*from))
        from++;
    while (end > from && isspace((unsigned char)end[-1]))
        end--;
    return strndup(from, (size_t)(end - from));
}

static int kinds_wrong(struct flow *flow, const char *rule)
{
    return flow_wrong(flow,
                      "--kinds: \"%.60s\" is no rule: write name, field:FIELD or "
                      "PATTERN=KIND, such as align_*=align, separated by ;",
                      rule);
}

static int read_rule(struct flow *flow, const char *text)
{
    struct flow_kind_rule rule = {NULL, NULL, false}, *added;
    const char *equals = strchr(text, '=');
    bool failed = false;

    if (!strncmp(text, "field:", 6) && text[6]) {
        rule.kind = strdup(text + 6);
        failed = !rule.kind;
    } else if (equals) {
        rule.pattern = trimmed(text, equals);
        rule.kind = trimmed(equals + 1, text + strlen(text));
        failed = !rule.pattern || !rule.kind;
    } else if (strcmp(text, "name") != 0) {
        return kinds_wrong(flow, text);
    }
    if (!failed && ((rule.pattern && !*rule.pattern) || (rule.kind && !*rule.kind))) {
        free(rule.pattern);
        free(rule.kind);
        return kinds_wrong(flow, text);
    }
    added = failed ? NULL : orr_array_add(flow->kinds, flow->nkinds);
    if (!added) {
        free(rule.pattern);
        free(rule.kind);
        return flow_no_memory(flow);
    }
    *added = rule;
    return 0;
}

int flow_kinds_read(struct flow *flow, const char *rules)
{
    int rc = 0;

    while (rules && *rules && !rc) {
        size_t n = strcspn(rules, ";");
        char *text = trimmed(rules, rules + n);

        if (!text)
            return flow_no_memory(flow);
        if (*text)
            rc = read_rule(flow, text);
        free(text);
        rules += n + (rules[n] == ';');
    }
    return rc;
}

void flow_kinds_done(struct flow *flow)
{
    for (size_t i = 0; i < flow->nkinds; i++) {
        free(flow->kinds[i].pattern);
        free(flow->kinds[i].kind);
    }
    free(flow->kinds);
}

const char *flow_kinds_field(const struct flow *flow)
{
    for (size_t i = 0; i < flow->nkinds; i++)
        if (!flow->kinds[i].pattern && flow->kinds[i].kind)
            return flow->kinds[i].kind;
    return NULL;
}

/* A pattern counts before the field, this before the name. */
int flow_set_kind(struct flow *flow, struct flow_task *task, const char *name,
                  const char *value)
{
    const char *kind = value ? value : name;

    task->chosen = false;
    for (size_t i = 0; i < flow->nkinds; i++) {
        struct flow_kind_rule *rule = &flow->kinds[i];

        if (rule->pattern || (rule->kind && !value))
            continue;
        rule->met = true;
        task->chosen = true;
    }
    for (size_t i = 0; i < flow->nkinds; i++) {
        struct flow_kind_rule *rule = &flow->kinds[i];

        if (!rule->pattern || fnmatch(rule->pattern, name, 0) != 0)
            continue;
        rule->met = true;
        task->chosen = true;
        kind = rule->kind;
        break;
    }
    return flow_text(&task->kernel, kind) ? flow_no_memory(flow) : 0;
}

int flow_kinds_end(struct flow *flow)
{
    flow->line = 0;
    for (size_t i = 0; i < flow->nkinds; i++) {
        const struct flow_kind_rule *rule = &flow->kinds[i];

        if (rule->met)
            continue;
        if (!rule->pattern)
            return flow_wrong(flow, "--kinds: no task has the field \"%.60s\"",
                              rule->kind ? rule->kind : "name");
        return flow_wrong(flow, "--kinds: \"%.60s\" is the name of no task, or of "
                                "those that an earlier rule has",
                          rule->pattern);
    }
    return 0;
}
