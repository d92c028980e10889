/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/perfmodel/model_findings_across.c - compares the architectures of one
 * kernel: devices of one type that disagree, footprints measured here but not
 * there. One thread.
 */
#include "perfmodel/robust.h"
#include "tools/perfmodel/model_findings_private.h"
#include "tools/perfmodel/perfmodel.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SIBLINGS_APART 3.0 /* factor between devices of one type */
#define OTHERS_NEEDED  3   /* rows of other kernels that excuse it */

/* -- devices of one type -- */

/* Whether two implementations are the same kernel on devices of one type. */
static bool is_sibling(const struct check_impl *a, const struct check_impl *b)
{
    return a->model == b->model && a->number == b->number && a != b &&
           check_type(a) >= 0 && check_type(a) == check_type(b) &&
           a->comb->devices[0].ncores == b->comb->devices[0].ncores &&
           a->comb->devices[0].devid != b->comb->devices[0].devid;
}

/* ln of how much longer `a` takes than `b`, over the rows they share; their
 * number is returned. */
static unsigned add_ratios(const struct check_impl *a,
                           const struct check_impl *b, double *ratios,
                           unsigned n)
{
    for (unsigned i = 0; i < a->nrows; i++) {
        const struct check_row *other;

        if (!a->rows[i].sound)
            continue;
        other = check_find_row(b, a->rows[i].row->hash);
        if (other)
            ratios[n++] = log(a->rows[i].value / other->value);
    }
    return n;
}

/* The ratio of the times of a's device and b's in the other models (median of
 * ln, 0 if these are too few). */
static int usual_ratio(const struct checker *checker,
                       const struct check_impl *a, const struct check_impl *b,
                       double *ret)
{
    unsigned n = 0, slots = 0;
    double *ratios = NULL;

    *ret = 0;
    for (unsigned i = 0; i < checker->nimpls; i++)
        slots += checker->impls[i].nrows;
    ratios = calloc(slots + 1, sizeof(*ratios));
    if (!ratios)
        return -ENOMEM;
    for (unsigned i = 0, first = 0; i < checker->nimpls; i++) {
        const struct check_impl *c = &checker->impls[i];

        /* Those of a model are beside each other. */
        if (checker->impls[first].model != c->model)
            first = i;
        if (c->model == a->model || check_type(c) != check_type(a) ||
            c->comb->devices[0].devid != a->comb->devices[0].devid)
            continue;
        for (unsigned j = first;
             j < checker->nimpls && checker->impls[j].model == c->model; j++) {
            const struct check_impl *d = &checker->impls[j];

            if (is_sibling(c, d) &&
                d->comb->devices[0].devid == b->comb->devices[0].devid)
                n = add_ratios(c, d, ratios, n);
        }
    }
    if (n >= OTHERS_NEEDED) {
        orr_sort(ratios, n);
        *ret = ratios[n / 2];
    }
    free(ratios);
    return 0;
}

/* An implementation and its time for one footprint. */
struct peer {
    const struct check_impl *impl;
    double value;
};

/* Whether a comes before b by time, among equals by place. */
static bool is_faster(const struct peer *a, const struct peer *b)
{
    return a->value < b->value || (a->value == b->value && a < b);
}

/* Among `impl` and its siblings, the one whose time for the footprint is the
 * middle one (of an even number, the faster); NULL without siblings that have
 * it. `peers` has room for n. */
static const struct check_impl *find_middle_peer(const struct check_impl *impls,
                                                 unsigned n,
                                                 const struct check_impl *impl,
                                                 uint32_t hash,
                                                 struct peer *peers)
{
    unsigned npeers = 0;

    for (unsigned i = 0; i < n; i++) {
        const struct check_row *r = NULL;

        if (&impls[i] == impl || is_sibling(impl, &impls[i]))
            r = check_find_row(&impls[i], hash);
        if (r)
            peers[npeers++] = (struct peer){&impls[i], r->value};
    }
    for (unsigned i = 0; i < npeers && npeers > 1; i++) {
        unsigned faster = 0;

        for (unsigned j = 0; j < npeers; j++)
            faster += is_faster(&peers[j], &peers[i]);
        if (faster == (npeers - 1) / 2)
            return peers[i].impl;
    }
    return NULL;
}

static int look_at_sibling(struct checker *checker,
                           const struct check_impl *impl,
                           const struct check_row *r,
                           const struct check_impl *usual)
{
    const struct check_row *other = check_find_row(usual, r->row->hash);
    struct orr_finding_place place = check_place(impl, r->row);
    double ratio = r->value / other->value, expected;
    int rc;

    if (ratio < SIBLINGS_APART && ratio > 1 / SIBLINGS_APART)
        return 0;
    rc = usual_ratio(checker, impl, usual, &expected);
    if (rc < 0)
        return rc;
    if (fabs(log(ratio) - expected) < log(SIBLINGS_APART))
        orr_findings_add(
            checker->findings, ORR_SEVERITY_NOTE, "devices-differ", &place,
            "nothing, if the devices are of different make",
            "%g µs here, %g µs on %s: the other kernels differ alike", r->value,
            other->value, usual->arch);
    else
        orr_findings_add(
            checker->findings, ORR_SEVERITY_ERROR, "siblings-disagree", &place,
            impl->anew,
            "%g µs here, %g µs on %s, a device of the same type: %.3g times as "
            "%s",
            r->value, other->value, usual->arch, ratio > 1 ? ratio : 1 / ratio,
            ratio > 1 ? "long" : "fast");
    return 0;
}

static int look_at_siblings(struct checker *checker,
                            const struct check_impl *impls, unsigned n)
{
    struct peer *peers = calloc(n, sizeof(*peers));
    int rc = peers ? 0 : -ENOMEM;

    for (unsigned i = 0; i < n && rc == 0; i++) {
        int type = check_type(&impls[i]);

        if (type < 0 || checker->options->homogeneous >> type & 1)
            continue;
        for (unsigned k = 0; k < impls[i].nrows && rc == 0; k++) {
            const struct check_row *r = &impls[i].rows[k];
            const struct check_impl *usual =
                r->sound
                    ? find_middle_peer(impls, n, &impls[i], r->row->hash, peers)
                    : NULL;

            if (usual && usual != &impls[i])
                rc = look_at_sibling(checker, &impls[i], r, usual);
        }
    }
    free(peers);
    return rc;
}

/* -- sizes of one footprint -- */

static void look_at_mixed_sizes(struct checker *checker,
                                const struct check_impl *impls, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = 0; k < impls[i].nrows; k++) {
            const struct orr_model_row *row = impls[i].rows[k].row;
            struct orr_finding_place place = check_place(&impls[i], row);

            for (unsigned j = 0; j < i; j++) {
                const struct orr_model_row *other =
                    orr_model_impl_find_row(impls[j].impl, row->hash);

                if (!other)
                    continue;
                if (other->size != row->size)
                    orr_findings_add(
                        checker->findings, ORR_SEVERITY_WARNING, "mixed-sizes",
                        &place,
                        "give the codelet a footprint function that "
                        "distinguishes the two, then measure anew with "
                        "STARPU_CALIBRATE=2",
                        "one footprint, two sizes: %llu here, %llu on %s; "
                        "float and double of equal shape do that",
                        (unsigned long long)row->size,
                        (unsigned long long)other->size, impls[j].arch);
                break;
            }
        }
}

/* -- missing models -- */

/* The devices of a type that any model of the machine, or the machine itself,
 * has: bit k is number k. 0 when no model has the type. */
static uint64_t known_devices(const struct checker *checker, int type)
{
    unsigned count = checker->options->ndevices[type];
    uint64_t known = 0;

    for (unsigned i = 0; i < checker->nimpls; i++) {
        const struct check_impl *impl = &checker->impls[i];
        int devid = impl->comb->devices[0].devid;

        if (impl->nrows > 0 && check_type(impl) == type && devid >= 0 &&
            devid < 64)
            known |= UINT64_C(1) << devid;
    }
    if (known)
        known |= (count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) &
                 ~checker->options->like[type];
    return known;
}

/* Whether any implementation of the model has a usable row of `hash` on a
 * device of that type and number (-1: any). */
static bool impls_have_measured(const struct check_impl *impls, unsigned n,
                                int type, int devid, uint32_t hash)
{
    for (unsigned i = 0; i < n; i++)
        if (check_type(&impls[i]) == type &&
            (devid < 0 || impls[i].comb->devices[0].devid == devid) &&
            check_find_row(&impls[i], hash))
            return true;
    return false;
}

static bool impls_have_rows(const struct check_impl *impls, unsigned n,
                            int type)
{
    for (unsigned i = 0; i < n; i++)
        if (check_type(&impls[i]) == type && impls[i].nrows > 0)
            return true;
    return false;
}

/* The different usable footprints of a model. */
static int list_hashes(const struct check_impl *impls, unsigned n,
                       uint32_t **ret, unsigned *ret_n)
{
    unsigned slots = 0, found = 0;
    uint32_t *hashes;

    for (unsigned i = 0; i < n; i++)
        slots += impls[i].nrows;
    hashes = calloc(slots + 1, sizeof(*hashes));
    if (!hashes)
        return -ENOMEM;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < impls[i].nrows; k++) {
            uint32_t hash = impls[i].rows[k].row->hash;
            unsigned j = 0;

            while (j < found && hashes[j] != hash)
                j++;
            if (j == found && impls[i].rows[k].sound)
                hashes[found++] = hash;
        }
    *ret = hashes;
    *ret_n = found;
    return 0;
}

/* Footprints that another device of the type has, and this one lacks. */
static void look_at_device(struct checker *checker,
                           const struct check_impl *impls, unsigned n, int type,
                           int devid, const uint32_t *hashes, unsigned nhashes)
{
    char arch[CHECK_ARCH_SIZE];
    struct orr_finding_place place = {impls->model->symbol, arch, NULL};
    unsigned nmissing = 0, nothers = 0;

    for (unsigned h = 0; h < nhashes; h++) {
        bool others = impls_have_measured(impls, n, type, -1, hashes[h]);

        nothers += others;
        if (others && !impls_have_measured(impls, n, type, devid, hashes[h])) {
            if (nmissing++ == 0)
                place.hash = &hashes[h];
        }
    }
    if (nmissing == 0)
        return;
    snprintf(arch, sizeof(arch), "%s%d", orr_device_type_name(type), devid);
    if (nmissing == nothers)
        place.hash = NULL;
    orr_findings_add(checker->findings, ORR_SEVERITY_ERROR, "missing-device",
                     &place, CHECK_MEASURE_MORE,
                     "nothing measured for %u of the %u footprints that other "
                     "%s devices have",
                     nmissing, nothers, orr_device_type_name(type));
}

/* A type that has been measured for some footprints, but not for all, or for
 * none though the machine has it. */
static void look_at_type(struct checker *checker,
                         const struct check_impl *impls, unsigned n, int type,
                         const uint32_t *hashes, unsigned nhashes)
{
    const char *name = orr_device_type_name(type);
    struct orr_finding_place place = {impls->model->symbol, name, NULL};
    unsigned nmissing = 0;

    for (unsigned h = 0; h < nhashes; h++)
        if (!impls_have_measured(impls, n, type, -1, hashes[h]) &&
            nmissing++ == 0)
            place.hash = &hashes[h];
    if (nmissing == 0)
        return;
    if (impls_have_rows(impls, n, type)) {
        orr_findings_add(
            checker->findings, ORR_SEVERITY_WARNING, "missing-footprint",
            &place, CHECK_MEASURE_MORE,
            "%u of %u footprints are measured elsewhere, but not on "
            "%s: tasks of these cannot be simulated there",
            nmissing, nhashes, name);
        return;
    }
    place.hash = NULL;
    orr_findings_add(
        checker->findings, ORR_SEVERITY_NOTE, "missing-type", &place,
        "nothing, if the codelet has no implementation for it; else "
        "run PROGRAM with STARPU_CALIBRATE=1",
        "never measured on %s, which the machine has", name);
}

static int look_for_missing(struct checker *checker,
                            const struct check_impl *impls, unsigned n)
{
    uint32_t *hashes;
    unsigned nhashes;
    int rc = list_hashes(impls, n, &hashes, &nhashes);

    if (rc < 0)
        return rc;
    for (int type = 0; type < CHECK_NTYPES; type++) {
        uint64_t known =
            orr_device_type_name(type) ? known_devices(checker, type) : 0;

        if (!known)
            continue;
        look_at_type(checker, impls, n, type, hashes, nhashes);
        if (checker->options->homogeneous >> type & 1)
            continue;
        for (int devid = 0; devid < 64; devid++)
            if (known >> devid & 1)
                look_at_device(checker, impls, n, type, devid, hashes, nhashes);
    }
    free(hashes);
    return 0;
}

int check_across(struct checker *checker, const struct check_impl *impls,
                 unsigned n)
{
    int rc = look_at_siblings(checker, impls, n);

    look_at_mixed_sizes(checker, impls, n);
    return rc == 0 ? look_for_missing(checker, impls, n) : rc;
}

void check_types(struct checker *checker)
{
    for (int type = 0; type < CHECK_NTYPES; type++) {
        const char *name = orr_device_type_name(type);
        struct orr_finding_place place = {NULL, name, NULL};

        if (name && checker->options->ndevices[type] > 0 &&
            !known_devices(checker, type))
            orr_findings_add(
                checker->findings, ORR_SEVERITY_NOTE, "unused-type", &place,
                "nothing, if no kernel is to run there; else run "
                "PROGRAM with STARPU_CALIBRATE=1",
                "no kernel was ever measured on %s, which the machine "
                "has",
                name);
    }
}
