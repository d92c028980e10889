/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/findings.c - see findings.h. */
#include "platforms/findings.h"

#include "core/base/grow.h"
#include "core/base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *orr_severity_name(enum orr_severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};

    return names[severity];
}

static void finding_done(struct orr_finding *finding)
{
    free(finding->kernel);
    free(finding->arch);
    free(finding->text);
    free(finding->remedy);
}

/* Copies `text`, which may be NULL; *failed is set when that fails. */
static char *finding_copy_text(const char *text, bool *failed)
{
    char *result = text ? strdup(text) : NULL;

    if (text && !result)
        *failed = true;
    return result;
}

void orr_findings_add(struct orr_findings *findings, enum orr_severity severity,
                      const char *fault, const struct orr_finding_place *place,
                      const char *remedy, const char *format, ...)
{
    static const struct orr_finding_place nowhere;
    struct orr_finding *finding = orr_array_add(findings->items, findings->n);
    bool failed = false;
    va_list args;

    if (!finding) {
        findings->failed = true;
        return;
    }
    if (!place)
        place = &nowhere;
    *finding = (struct orr_finding){
        .severity = severity,
        .fault = fault,
        .kernel = finding_copy_text(place->kernel, &failed),
        .arch = finding_copy_text(place->arch, &failed),
        .has_hash = place->hash != NULL,
        .hash = place->hash ? *place->hash : 0,
        .remedy = finding_copy_text(remedy, &failed),
    };
    va_start(args, format);
    if (orr_vasprintf(&finding->text, format, args) < 0) {
        finding->text = NULL;
        failed = true;
    }
    va_end(args);
    if (failed) {
        finding_done(finding);
        findings->failed = true;
        findings->n--;
    }
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int finding_compare(const void *va, const void *vb)
{
    const struct orr_finding *a = va, *b = vb;
    int rc = (int)b->severity - (int)a->severity;

    if (rc == 0)
        rc = compare_texts(a->kernel, b->kernel);
    if (rc == 0)
        rc = compare_texts(a->arch, b->arch);
    if (rc == 0)
        rc = strcmp(a->fault, b->fault);
    if (rc == 0)
        rc = (a->hash > b->hash) - (a->hash < b->hash);
    return rc ? rc : strcmp(a->text, b->text);
}

void orr_findings_sort(struct orr_findings *findings)
{
    if (findings->n)
        qsort(findings->items, findings->n, sizeof(*findings->items),
              finding_compare);
}

/* Insertion sort: it must keep the order of equals, and lists are short. */
void orr_findings_worst_first(struct orr_findings *findings)
{
    for (size_t i = 1; i < findings->n; i++) {
        struct orr_finding item = findings->items[i];
        size_t at = i;

        for (; at > 0 && findings->items[at - 1].severity < item.severity; at--)
            findings->items[at] = findings->items[at - 1];
        findings->items[at] = item;
    }
}

size_t orr_findings_count(const struct orr_findings *findings,
                          enum orr_severity severity)
{
    size_t n = 0;

    for (size_t i = 0; i < findings->n; i++)
        n += findings->items[i].severity == severity;
    return n;
}

void orr_findings_done(struct orr_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++)
        finding_done(&findings->items[i]);
    free(findings->items);
    *findings = (struct orr_findings){0};
}
