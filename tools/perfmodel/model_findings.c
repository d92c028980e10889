/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_findings.c - see model_findings.h: takes the models apart, asks
 * the judges of rows, of curves and of what belongs together, and sums up. One
 * thread.
 */
#include "tools/perfmodel/model_findings_private.h"
#include "tools/perfmodel/perfmodel.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct orr_finding_place judge_place(const struct judge_impl *impl,
                                     const struct orr_model_row *row)
{
    return (struct orr_finding_place){.kernel = impl->model->symbol,
                                      .arch = impl->arch,
                                      .hash = row ? &row->hash : NULL};
}

int judge_type(const struct judge_impl *impl)
{
    int type = impl->comb->devices[0].type;

    if (impl->comb->ndevices != 1 || type < 0 || type >= JUDGE_NTYPES)
        return -1;
    return orr_device_type_name(type) ? type : -1;
}

const struct judge_row *judge_find_row(const struct judge_impl *impl,
                                       uint32_t hash)
{
    for (unsigned i = 0; i < impl->nrows; i++)
        if (impl->rows[i].row->hash == hash && impl->rows[i].sound)
            return &impl->rows[i];
    return NULL;
}

/* -- taking apart -- */

static int add_impl(struct judge *judge, const struct judge_model *model,
                    const struct orr_model_comb *comb, unsigned number)
{
    char text[PERFMODEL_TEXT];
    struct judge_impl *impl;

    if (judge->nimpls == judge->slots) {
        unsigned slots = judge->slots ? 2 * judge->slots : 64;

        impl = realloc(judge->impls, slots * sizeof(*impl));
        if (!impl)
            return -ENOMEM;
        judge->impls = impl;
        judge->slots = slots;
    }
    impl = &judge->impls[judge->nimpls];
    *impl = (struct judge_impl){.model = model,
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
             "drop these figures, orrery perfmodel prune --symbol %s --arch %s "
             "--yes, and run PROGRAM with STARPU_CALIBRATE=1",
             model->symbol, text);
    judge->nimpls++;
    return 0;
}

/* Adds what the model has figures of. Returns how many implementations. */
static int add_model(struct judge *judge, const struct judge_model *model)
{
    unsigned before = judge->nimpls;
    int rc = 0;

    for (unsigned c = 0; c < model->file->ncombs && rc == 0; c++) {
        const struct orr_model_comb *comb = &model->file->combs[c];

        for (unsigned i = 0; i < comb->nimpls && rc == 0; i++)
            if (comb->ndevices > 0 &&
                (comb->impls[i].nrows > 0 ||
                 !orr_model_fit_is_empty(&comb->impls[i].fit)))
                rc = add_impl(judge, model, comb, i);
    }
    if (rc == 0 && judge->nimpls == before) {
        struct orr_finding_place place = {.kernel = model->symbol};

        orr_findings_add(judge->findings, ORR_SEVERITY_ERROR, "empty", &place,
                         JUDGE_MEASURE_MORE, "the file has no measure at all");
    }
    return rc;
}

/* -- summing up -- */

static int add_arch(struct judgement *judgement, const struct judge *judge,
                    const struct judge_impl *impl)
{
    const struct orr_model_fit *fit = &impl->impl->fit;
    struct judge_arch *arch = &judgement->archs[judgement->narchs];

    *arch = (struct judge_arch){.kernel = strdup(impl->model->symbol),
                                .nrows = impl->nrows,
                                .interval = NAN};
    if (!arch->kernel)
        return -ENOMEM;
    judgement->narchs++;
    snprintf(arch->arch, sizeof(arch->arch), "%s", impl->arch);
    for (unsigned i = 0; i < impl->nrows; i++) {
        const struct judge_row *r = &impl->rows[i];

        arch->ncalibrated += r->calibrated;
        arch->total_n += r->row->n;
        if (i == 0 || r->row->n < arch->least_n)
            arch->least_n = r->row->n;
        arch->interval = fmax(arch->interval, r->half_width);
        arch->independent |= r->independent;
    }
    if (impl->nrows == 0) {
        arch->nrows = 1;
        arch->ncalibrated = fit->n >= judge->options->minimum;
        arch->least_n = fit->n;
        arch->total_n = fit->n;
    }
    return 0;
}

/* Whether a finding about `place` concerns an architecture "cuda0_impl1":
 * places are also "cuda0" and "cuda". */
static bool concerns(const char *place, const char *arch)
{
    size_t n = strlen(place);

    return strncmp(place, arch, n) == 0 &&
           (arch[n] == '\0' || arch[n] == '_' ||
            (arch[n] >= '0' && arch[n] <= '9' && place[n - 1] > '9'));
}

void judgement_count(struct judgement *judgement)
{
    for (unsigned a = 0; a < judgement->narchs; a++) {
        struct judge_arch *arch = &judgement->archs[a];

        arch->nerrors = arch->nwarnings = 0;
        for (size_t i = 0; i < judgement->findings.n; i++) {
            const struct orr_finding *f = &judgement->findings.items[i];

            if (!f->kernel || strcmp(f->kernel, arch->kernel) != 0 ||
                (f->arch && !concerns(f->arch, arch->arch)))
                continue;
            arch->nerrors += f->severity == ORR_SEVERITY_ERROR;
            arch->nwarnings += f->severity == ORR_SEVERITY_WARNING;
        }
    }
}

static int sum_up(struct judgement *judgement, const struct judge *judge)
{
    int rc = 0;

    judgement->archs = calloc(judge->nimpls + 1, sizeof(*judgement->archs));
    if (!judgement->archs)
        return -ENOMEM;
    for (unsigned i = 0; i < judge->nimpls && rc == 0; i++)
        rc = add_arch(judgement, judge, &judge->impls[i]);
    orr_findings_sort(&judgement->findings);
    judgement_count(judgement);
    return rc;
}

/* -- judging -- */

/* How many implementations from impls[first] on belong to the same model. */
static unsigned same_model(const struct judge *judge, unsigned first)
{
    unsigned n = 1;

    while (first + n < judge->nimpls &&
           judge->impls[first + n].model == judge->impls[first].model)
        n++;
    return n;
}

static int judge_all(struct judge *judge)
{
    int rc = 0;

    for (unsigned i = 0; i < judge->nimpls && rc == 0; i++) {
        rc = judge_rows(judge, &judge->impls[i]);
        if (rc == 0)
            rc = judge_curve(judge, &judge->impls[i]);
    }
    for (unsigned i = 0, n; i < judge->nimpls && rc == 0; i += n) {
        n = same_model(judge, i);
        rc = judge_across(judge, &judge->impls[i], n);
    }
    if (judge->nimpls > 0)
        judge_types(judge);
    return rc;
}

int judge_models(const struct judge_model *models, unsigned n,
                 const struct judge_options *options, struct judgement *ret)
{
    struct judgement judgement = {.nmodels = n};
    struct judge judge = {.options = options, .findings = &judgement.findings};
    int rc = 0;

    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = add_model(&judge, &models[i]);
    if (rc == 0)
        rc = judge_all(&judge);
    if (rc == 0)
        rc = sum_up(&judgement, &judge);
    if (judgement.findings.failed)
        rc = -ENOMEM;
    for (unsigned i = 0; i < judge.nimpls; i++)
        free(judge.impls[i].rows);
    free(judge.impls);
    if (rc < 0)
        judgement_done(&judgement);
    else
        *ret = judgement;
    return rc;
}

void judgement_done(struct judgement *judgement)
{
    for (unsigned i = 0; i < judgement->narchs; i++)
        free(judgement->archs[i].kernel);
    free(judgement->archs);
    orr_findings_done(&judgement->findings);
    *judgement = (struct judgement){0};
}
