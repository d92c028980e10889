/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/trust.c - see trust.h. One thread. */
#include "tools/common/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmodel/arch.h"
#include "perfmodel/origin.h"
#include "tools/common/kernel_model.h"
#include "tools/common/untrusted.h"
#include "tools/perfmodel/check_print.h"

static int read_and_check(const struct perfmodel_place *place,
                          bool (*wanted)(const char *symbol, const void *arg),
                          const void *arg, const struct check_options *options,
                          struct trust *trust)
{
    int rc = model_set_read(place, wanted, arg, &trust->set);

    if (rc == 0)
        rc = check_models(trust->set.models, trust->set.n, options,
                          &trust->checked);
    if (rc < 0)
        model_set_done(&trust->set);
    return rc;
}

int trust_open(const struct perfmodel_choice *choice,
               bool (*wanted)(const char *symbol, const void *arg),
               const void *arg, const struct check_options *options,
               struct trust *ret, struct orr_error *err)
{
    struct trust trust = {.homogeneous = options->homogeneous};
    struct perfmodel_place place;
    int rc = perfmodel_open_place(choice, &place, err);

    if (rc < 0)
        return rc;
    rc = read_and_check(&place, wanted, arg, options, &trust);
    if (rc == 0 &&
        orr_findings_count(&trust.checked.findings, ORR_SEVERITY_ERROR) > 0) {
        trust_done(&trust);
        rc = read_and_check(&place, NULL, NULL, options, &trust);
    }
    perfmodel_close(&place);
    if (rc == 0)
        *ret = trust;
    return rc;
}

void trust_done(struct trust *trust)
{
    check_result_done(&trust->checked);
    model_set_done(&trust->set);
}

/* The comb of the kernel's device, else one of its type: simulated devices may
 * use the models of another. */
static const struct orr_model_comb *find_comb(const struct trust *trust,
                                              const struct orr_model_file *file,
                                              const char *arch)
{
    struct orr_device device;
    const struct orr_model_comb *comb;

    if (kernel_model_device(arch, &device) < 0)
        return NULL;
    comb = orr_model_file_find_comb(file, &device, 1, trust->homogeneous);
    if (!comb)
        comb = orr_model_file_find_comb(file, &device, 1, ~0U);
    return comb;
}

const struct orr_finding *trust_doubt(const struct trust *trust,
                                      const struct report_kernel *kernel,
                                      const struct orr_finding *after)
{
    const struct orr_findings *findings = &trust->checked.findings;
    const struct check_model *model =
        model_set_find(&trust->set, kernel->symbol);
    const struct orr_model_comb *comb =
        model ? find_comb(trust, model->file, kernel->arch) : NULL;
    char text[PERFMODEL_TEXT], arch[CHECK_ARCH_SIZE];
    bool has_row;

    if (!comb || kernel->implementation >= comb->nimpls)
        return NULL;
    has_row = orr_model_impl_find_row(&comb->impls[kernel->implementation],
                                      kernel->footprint) != NULL;
    perfmodel_arch_text(comb->devices, comb->ndevices, text);
    snprintf(arch, sizeof(arch), "%s_impl%u", text, kernel->implementation);
    for (size_t i = after ? (size_t)(after - findings->items) + 1 : 0;
         i < findings->n; i++) {
        const struct orr_finding *f = &findings->items[i];

        if (f->severity == ORR_SEVERITY_ERROR && f->kernel && f->arch &&
            !strcmp(f->kernel, kernel->symbol) && !strcmp(f->arch, arch) &&
            (!has_row || (f->has_hash && f->hash == kernel->footprint)))
            return f;
    }
    return NULL;
}

/* -- reports -- */

/* Whether the kernel's time came from a model file. */
static bool uses_model(const struct report_kernel *kernel)
{
    return kernel->model &&
           orr_origin_find(kernel->origin) != ORR_ORIGIN_ASSUMED;
}

static bool report_uses_model(const char *symbol, const void *arg)
{
    const struct report *report = arg;

    for (size_t k = 0; k < report->nkernels; k++)
        if (uses_model(&report->kernels[k]) &&
            !strcmp(report->kernels[k].symbol, symbol))
            return true;
    return false;
}

/* Devices of a type often share one row: each finding once. */
static json_t *doubts_json(const struct report *report,
                           const struct trust *trust)
{
    json_t *list = json_array();

    for (size_t k = 0; k < report->nkernels; k++) {
        const struct report_kernel *kernel = &report->kernels[k];
        const struct orr_finding *doubt = NULL;

        while (uses_model(kernel) &&
               (doubt = trust_doubt(trust, kernel, doubt)) != NULL) {
            json_t *json = check_finding_json(doubt);

            if (json)
                untrusted_add(list, json);
            json_decref(json);
        }
    }
    return list;
}

void trust_note(struct report *report, const char *machine)
{
    struct perfmodel_choice choice = {
        .machine = machine ? machine : getenv("ORRERY_MACHINE"),
        .host = report->host};
    struct check_options options = {
        .confidence = CHECK_CONFIDENCE,
        .minimum = perfmodel_minimum(),
        .homogeneous = orr_homogeneous_from_env(orr_getenv)};
    struct orr_error err = {""};
    struct trust trust;

    if (!report_is_whole(report) || !*report->host)
        return;
    if (trust_open(&choice, report_uses_model, report, &options, &trust, &err) <
        0)
        return;
    json_object_set_new(report->json, "untrusted", doubts_json(report, &trust));
    trust_done(&trust);
}
