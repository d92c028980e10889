/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/doctor_findings.c - a list of findings, see doctor.h. */
#include "platforms/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int orr_findings_add(struct orr_findings *findings,
                     enum orr_finding_severity severity, const char *rule,
                     const char *what, const char *remedy)
{
    struct orr_finding *items =
        realloc(findings->items, (findings->n + 1) * sizeof(*items));
    struct orr_finding item = {.severity = severity, .rule = rule};
    size_t at = findings->n;

    if (!items)
        return -ENOMEM;
    findings->items = items;
    item.what = strdup(what);
    item.remedy = strdup(remedy);
    if (!item.what || !item.remedy) {
        free(item.what);
        free(item.remedy);
        return -ENOMEM;
    }
    /* Behind the last that is as severe: the order within stays. */
    while (at > 0 && items[at - 1].severity < severity)
        at--;
    memmove(&items[at + 1], &items[at], (findings->n - at) * sizeof(*items));
    items[at] = item;
    findings->n++;
    return 0;
}

size_t orr_findings_count(const struct orr_findings *findings,
                          enum orr_finding_severity severity)
{
    size_t n = 0;

    for (size_t i = 0; i < findings->n; i++)
        n += findings->items[i].severity == severity;
    return n;
}

const char *orr_finding_severity_name(enum orr_finding_severity severity)
{
    static const char *const names[] = {
        [ORR_FINDING_NOTE] = "note",
        [ORR_FINDING_WARNING] = "warning",
        [ORR_FINDING_ERROR] = "error",
    };

    return names[severity];
}

void orr_findings_done(struct orr_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        free(findings->items[i].what);
        free(findings->items[i].remedy);
    }
    free(findings->items);
    *findings = (struct orr_findings){0};
}
