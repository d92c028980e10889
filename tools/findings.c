/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/findings.c - see findings.h. One thread. */
#include "tools/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *severity_name(enum severity severity)
{
    static const char *const names[] = {"note", "warning", "error"};

    return names[severity];
}

static void finding_done(struct finding *finding)
{
    free(finding->kernel);
    free(finding->arch);
    free(finding->text);
    free(finding->remedy);
}

/* Room for one more, NULL without memory. */
static struct finding *next_slot(struct findings *findings)
{
    size_t slots = findings->slots ? 2 * findings->slots : 64;
    struct finding *items;

    if (findings->n < findings->slots)
        return &findings->items[findings->n];
    items = realloc(findings->items, slots * sizeof(*items));
    if (!items)
        return NULL;
    findings->items = items;
    findings->slots = slots;
    return &items[findings->n];
}

/* Copies `text`, which may be NULL; *failed is set when that fails. */
static char *copy(const char *text, bool *failed)
{
    char *result = text ? strdup(text) : NULL;

    if (text && !result)
        *failed = true;
    return result;
}

void findings_add(struct findings *findings, enum severity severity,
                  const char *fault, const struct finding_place *place,
                  const char *remedy, const char *format, ...)
{
    struct finding *finding = next_slot(findings);
    bool failed = false;
    va_list args;

    if (!finding) {
        findings->failed = true;
        return;
    }
    *finding = (struct finding){
        .severity = severity,
        .fault = fault,
        .kernel = copy(place->kernel, &failed),
        .arch = copy(place->arch, &failed),
        .has_hash = place->hash != NULL,
        .hash = place->hash ? *place->hash : 0,
        .remedy = copy(remedy, &failed),
    };
    va_start(args, format);
    if (vasprintf(&finding->text, format, args) < 0) {
        finding->text = NULL;
        failed = true;
    }
    va_end(args);
    if (failed) {
        finding_done(finding);
        findings->failed = true;
    } else {
        findings->n++;
    }
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

static int compare(const void *va, const void *vb)
{
    const struct finding *a = va, *b = vb;
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

void findings_sort(struct findings *findings)
{
    if (findings->n)
        qsort(findings->items, findings->n, sizeof(*findings->items), compare);
}

size_t findings_count(const struct findings *findings, enum severity severity)
{
    size_t n = 0;

    for (size_t i = 0; i < findings->n; i++)
        n += findings->items[i].severity == severity;
    return n;
}

void findings_done(struct findings *findings)
{
    for (size_t i = 0; i < findings->n; i++)
        finding_done(&findings->items[i]);
    free(findings->items);
    *findings = (struct findings){0};
}
