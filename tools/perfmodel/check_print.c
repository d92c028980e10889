/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/perfmodel/check_print.c - see check_print.h. One thread. */
#include "tools/perfmodel/check_print.h"
#include "core/base/plural.h"
#include "tools/common/json.h"
#include "tools/common/table.h"
#include "tools/common/tool.h"
#include "tools/perfmodel/json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- the table -- */

/* Of its footprints. */
static unsigned count_measured(const struct check_arch *arch)
{
    return arch->origins.n[ORR_ORIGIN_MEASURED] +
           arch->origins.n[ORR_ORIGIN_IMPORTED];
}

static void add_arch_row(struct table *table, const struct check_arch *arch)
{
    unsigned others = arch->nrows - count_measured(arch);
    const char *least = orr_origin_name(perfmodel_origins_least(&arch->origins));

    table_add(table, "%s", arch->kernel);
    table_add(table, "%s", arch->arch);
    table_add(table, "%u of %u", arch->ncalibrated, arch->nrows);
    table_add(table, "%u", arch->least_n);
    if (others == arch->nrows) /* invented samples say nothing */
        table_add(table, "%s", least);
    else
        table_add(table, isnan(arch->interval) ? "-" : "± %.2g %%%s",
                  100 * arch->interval, arch->independent ? "*" : " ");
    if (arch->nerrors)
        table_add(table, "not to be trusted: %u error%s", arch->nerrors,
                  orr_plural(arch->nerrors));
    else if (arch->nwarnings)
        table_add(table, "usable: %u warning%s", arch->nwarnings,
                  orr_plural(arch->nwarnings));
    else if (others == arch->nrows)
        table_add(table, "%s, not measured", least);
    else if (others)
        table_add(table, "good, but %u of %u are %s, not measured", others,
                  arch->nrows, least);
    else
        table_add(table, "good");
}

static int print_arch_table(const struct check_result *check_result)
{
    static const struct table_column columns[] = {
        {"kernel", false},   {"architecture", false}, {"calibrated", true},
        {"samples ≥", true}, {"95 % interval", true}, {"verdict", false}};
    struct table table = {0};
    bool starred = false;

    if (check_result->narchs == 0)
        return 0;
    for (unsigned a = 0; a < check_result->narchs; a++) {
        add_arch_row(&table, &check_result->archs[a]);
        starred |= check_result->archs[a].independent;
    }
    if (table_end(&table, columns, sizeof(columns) / sizeof(*columns)) < 0)
        return -ENOMEM;
    if (starred)
        puts("* from mean, deviation and number alone, as if measures were "
             "independent of\n  each other: without a side file the true width "
             "is unknown");
    putchar('\n');
    return 0;
}

/* -- the findings -- */

static bool finding_texts_equal(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_same_kind(const struct orr_finding *a,
                         const struct orr_finding *b)
{
    return a->severity == b->severity && strcmp(a->fault, b->fault) == 0 &&
           finding_texts_equal(a->kernel, b->kernel) &&
           finding_texts_equal(a->arch, b->arch) &&
           finding_texts_equal(a->remedy, b->remedy);
}

static void print_finding(const struct orr_finding *f, size_t nmore)
{
    printf("%s:", orr_severity_name(f->severity));
    if (f->kernel)
        printf(" %s", f->kernel);
    if (f->arch)
        printf(" %s", f->arch);
    if (f->has_hash)
        printf(" %08x", f->hash);
    printf("%s %s [%s]\n", f->kernel || f->arch ? ":" : "", f->text, f->fault);
    if (nmore)
        printf("    and %zu more like this; --all lists them\n", nmore);
    if (f->remedy && *f->remedy)
        printf("    remedy: %s\n", f->remedy);
}

static void print_findings(const struct orr_findings *findings, bool all)
{
    for (size_t i = 0, n; i < findings->n; i += n) {
        n = 1;
        while (!all && i + n < findings->n &&
               is_same_kind(&findings->items[i], &findings->items[i + n]))
            n++;
        print_finding(&findings->items[i], n - 1);
    }
    if (findings->n)
        putchar('\n');
}

int check_print(const struct check_result *check_result, const char *host,
                const struct check_print_options *options)
{
    const struct orr_findings *findings = &check_result->findings;
    size_t nerrors = orr_findings_count(findings, ORR_SEVERITY_ERROR);
    size_t nwarnings = orr_findings_count(findings, ORR_SEVERITY_WARNING);
    size_t nnotes = orr_findings_count(findings, ORR_SEVERITY_NOTE);
    int rc = print_arch_table(check_result);

    if (rc < 0)
        return rc;
    print_findings(findings, options->all);
    printf("%s: %u model%s, %zu error%s, %zu warning%s, %zu note%s: a "
           "simulation with them %s\n",
           host, check_result->nmodels, orr_plural(check_result->nmodels), nerrors,
           orr_plural(nerrors), nwarnings, orr_plural(nwarnings), nnotes,
           orr_plural(nnotes),
           nerrors     ? "cannot be trusted"
           : nwarnings ? "may be off as the warnings say"
                       : "can be trusted");
    return 0;
}

/* -- JSON -- */

static json_t *arch_json(const struct check_arch *arch)
{
    json_t *json = json_pack(
        "{s:o, s:s, s:i, s:i, s:i, s:I, s:o, s:b, s:i, s:i}", "kernel",
        tool_json_text(arch->kernel), "architecture", arch->arch, "footprints",
        (int)arch->nrows, "calibrated", (int)arch->ncalibrated, "least_samples",
        (int)arch->least_n, "samples", (json_int_t)arch->total_n, "interval",
        tool_json_number(arch->interval),
        "independence_assumed", (int)arch->independent, "errors",
        (int)arch->nerrors, "warnings", (int)arch->nwarnings);

    if (json)
        perfmodel_json_origins(json, "provenance", &arch->origins);
    return json;
}

json_t *check_finding_json(const struct orr_finding *f)
{
    char hash[16] = "";

    if (f->has_hash)
        snprintf(hash, sizeof(hash), "%08x", f->hash);
    return json_pack("{s:s, s:s, s:o, s:s?, s:s?, s:o, s:s?}", "severity",
                     orr_severity_name(f->severity), "fault", f->fault,
                     "kernel", tool_json_text(f->kernel), "architecture",
                     f->arch, "footprint", f->has_hash ? hash : NULL, "text",
                     tool_json_text(f->text), "remedy", f->remedy);
}

int check_print_json(const struct check_result *check_result, const char *host)
{
    const struct orr_findings *findings = &check_result->findings;
    size_t nerrors = orr_findings_count(findings, ORR_SEVERITY_ERROR);
    json_t *archs = json_array(), *list = json_array(), *all;
    int rc = 0;

    for (unsigned i = 0; i < check_result->narchs; i++)
        rc |= json_array_append_new(archs, arch_json(&check_result->archs[i]));
    for (size_t i = 0; i < findings->n; i++)
        rc |= json_array_append_new(list, check_finding_json(&findings->items[i]));
    all =
        json_pack("{s:s, s:b, s:i, s:i, s:i, s:i, s:o, s:o}", "host", host,
                  "trusted", nerrors == 0, "models", (int)check_result->nmodels,
                  "errors", (int)nerrors, "warnings",
                  (int)orr_findings_count(findings, ORR_SEVERITY_WARNING),
                  "notes", (int)orr_findings_count(findings, ORR_SEVERITY_NOTE),
                  "architectures", archs, "findings", list);
    if (!all || rc < 0) {
        json_decref(all);
        return -ENOMEM;
    }
    return tool_json_print(all);
}
