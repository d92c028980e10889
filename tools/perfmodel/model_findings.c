/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_findings.c - see model_findings.h: splits the models
 * into implementations, runs the checks of rows, of curves and across
 * architectures, and sums up. One thread.
 */
#include "core/base/grow.h"
#include "tools/perfmodel/model_findings_private.h"
#include "tools/perfmodel/perfmodel.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct orr_finding_place check_place(const struct check_impl *impl,
                                     const struct orr_model_row *row)
{
    return (struct orr_finding_place){.kernel = impl->model->symbol,
                                      .arch = impl->arch,
                                      .hash = row ? &row->hash : NULL};
}

int check_type(const struct check_impl *impl)
{
    int type = impl->comb->devices[0].type;

    if (impl->comb->ndevices != 1 || type < 0 || type >= CHECK_NTYPES)
        return -1;
    return orr_device_type_name(type) ? type : -1;
}

const struct check_row *check_find_row(const struct check_impl *impl,
                                       uint32_t hash)
{
    for (unsigned i = 0; i < impl->nrows; i++)
        if (impl->rows[i].row->hash == hash && impl->rows[i].sound)
            return &impl->rows[i];
    return NULL;
}

/* -- splitting -- */

static int add_impl(struct checker *checker, const struct check_model *model,
                    const struct orr_model_comb *comb, unsigned number)
{
    char text[PERFMODEL_TEXT];
    struct check_impl *impl;

    impl = orr_array_add(checker->impls, checker->nimpls);
    if (!impl)
        return -ENOMEM;
    *impl = (struct check_impl){.model = model,
                                .comb = comb,
                                .impl = &comb->impls[number],
                                .number = number,
                                .nrows = comb->impls[number].nrows};
    impl->rows = calloc(impl->nrows ? impl->nrows : 1, sizeof(*impl->rows));
    if (!impl->rows)
        return -ENOMEM;
    perfmodel_arch_text(comb->devices, comb->ndevices, text);
    snprintf(impl->arch, sizeof(impl->arch), "%s_impl%u", text, number);
    snprintf(impl->anew, sizeof(impl->anew),
             "drop these entries, orrery perfmodel prune --symbol %s --arch %s "
             "--yes, and run PROGRAM with STARPU_CALIBRATE=1",
             model->symbol, text);
    return 0;
}

/* Adds the implementations that the model has. Returns how many
 * implementations. */
static int checker_add_model(struct checker *checker,
                             const struct check_model *model)
{
    unsigned before = checker->nimpls;
    int rc = 0;

    for (unsigned c = 0; c < model->file->ncombs && rc == 0; c++) {
        const struct orr_model_comb *comb = &model->file->combs[c];

        for (unsigned i = 0; i < comb->nimpls && rc == 0; i++)
            if (comb->ndevices > 0 &&
                (comb->impls[i].nrows > 0 ||
                 !orr_model_fit_is_empty(&comb->impls[i].fit)))
                rc = add_impl(checker, model, comb, i);
    }
    if (rc == 0 && checker->nimpls == before) {
        struct orr_finding_place place = {.kernel = model->symbol};

        orr_findings_add(checker->findings, ORR_SEVERITY_ERROR, "empty", &place,
                         CHECK_MEASURE_MORE, "the file has no measure at all");
    }
    return rc;
}

/* -- summing up -- */

static int add_arch(struct check_result *check_result,
                    const struct checker *checker,
                    const struct check_impl *impl)
{
    const struct orr_model_fit *fit = &impl->impl->fit;
    struct check_arch *arch = &check_result->archs[check_result->narchs];

    *arch = (struct check_arch){.kernel = strdup(impl->model->symbol),
                                .nrows = impl->nrows,
                                .interval = NAN};
    if (!arch->kernel)
        return -ENOMEM;
    check_result->narchs++;
    snprintf(arch->arch, sizeof(arch->arch), "%s", impl->arch);
    for (unsigned i = 0; i < impl->nrows; i++) {
        const struct check_row *r = &impl->rows[i];

        arch->ncalibrated += r->calibrated;
        arch->total_n += r->row->n;
        if (i == 0 || r->row->n < arch->least_n)
            arch->least_n = r->row->n;
        arch->origins.n[r->origin]++;
        if (!orr_origin_is_measured(r->origin))
            continue;
        arch->interval = fmax(arch->interval, r->half_width);
        arch->independent |= r->independent;
    }
    if (impl->nrows == 0) {
        arch->nrows = 1;
        arch->origins.n[orr_model_row_origin(&(struct orr_model_row){0},
                                             impl->model->origin, false)] = 1;
        arch->ncalibrated = fit->n >= checker->options->minimum;
        arch->least_n = fit->n;
        arch->total_n = fit->n;
    }
    return 0;
}

/* Whether a finding about `place` concerns an architecture "cuda0_impl1":
 * places are also "cuda0" and "cuda". */
static bool finding_concerns_arch(const char *place, const char *arch)
{
    size_t n = strlen(place);

    return strncmp(place, arch, n) == 0 &&
           (arch[n] == '\0' || arch[n] == '_' ||
            (arch[n] >= '0' && arch[n] <= '9' && place[n - 1] > '9'));
}

void check_result_count(struct check_result *check_result)
{
    for (unsigned a = 0; a < check_result->narchs; a++) {
        struct check_arch *arch = &check_result->archs[a];

        arch->nerrors = arch->nwarnings = 0;
        for (size_t i = 0; i < check_result->findings.n; i++) {
            const struct orr_finding *f = &check_result->findings.items[i];

            if (!f->kernel || strcmp(f->kernel, arch->kernel) != 0 ||
                (f->arch && !finding_concerns_arch(f->arch, arch->arch)))
                continue;
            arch->nerrors += f->severity == ORR_SEVERITY_ERROR;
            arch->nwarnings += f->severity == ORR_SEVERITY_WARNING;
        }
    }
}

static int checker_sum_up(struct check_result *check_result,
                          const struct checker *checker)
{
    int rc = 0;

    check_result->archs =
        calloc(checker->nimpls + 1, sizeof(*check_result->archs));
    if (!check_result->archs)
        return -ENOMEM;
    for (unsigned i = 0; i < checker->nimpls && rc == 0; i++)
        rc = add_arch(check_result, checker, &checker->impls[i]);
    orr_findings_sort(&check_result->findings);
    check_result_count(check_result);
    return rc;
}

/* -- checks -- */

/* How many implementations from impls[first] on belong to the same model. */
static unsigned count_impls_of_model(const struct checker *checker,
                                     unsigned first)
{
    unsigned n = 1;

    while (first + n < checker->nimpls &&
           checker->impls[first + n].model == checker->impls[first].model)
        n++;
    return n;
}

static int checker_check_impls(struct checker *checker)
{
    int rc = 0;

    for (unsigned i = 0; i < checker->nimpls && rc == 0; i++) {
        rc = check_rows(checker, &checker->impls[i]);
        if (rc == 0)
            rc = check_curve(checker, &checker->impls[i]);
    }
    for (unsigned i = 0, n; i < checker->nimpls && rc == 0; i += n) {
        n = count_impls_of_model(checker, i);
        rc = check_across(checker, &checker->impls[i], n);
    }
    if (checker->nimpls > 0)
        check_types(checker);
    return rc;
}

int check_models(const struct check_model *models, unsigned n,
                 const struct check_options *options, struct check_result *ret)
{
    struct check_result check_result = {.nmodels = n};
    struct checker checker = {.options = options,
                              .findings = &check_result.findings};
    int rc = 0;

    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = checker_add_model(&checker, &models[i]);
    if (rc == 0)
        rc = checker_check_impls(&checker);
    if (rc == 0)
        rc = checker_sum_up(&check_result, &checker);
    if (check_result.findings.failed)
        rc = -ENOMEM;
    for (unsigned i = 0; i < checker.nimpls; i++)
        free(checker.impls[i].rows);
    free(checker.impls);
    if (rc < 0)
        check_result_done(&check_result);
    else
        *ret = check_result;
    return rc;
}

void check_result_done(struct check_result *check_result)
{
    for (unsigned i = 0; i < check_result->narchs; i++)
        free(check_result->archs[i].kernel);
    free(check_result->archs);
    orr_findings_done(&check_result->findings);
    *check_result = (struct check_result){0};
}
