/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/doctor_cpus.c - what is wrong with the places of CPUs, see doctor.h.
 * No state. */
#include "platforms/doctor.h"

#include <errno.h>

#include "platforms/locality.h"

static bool is_cpu(const struct orr_host_desc *host)
{
    return orr_host_desc_number(host, "CPU") >= 0;
}

/* Whether both say it, and not the same. */
static bool cpus_differ(const struct orr_host_desc *a,
                        const struct orr_host_desc *b, const char *id)
{
    double x = orr_host_desc_value(a, id), y = orr_host_desc_value(b, id);

    return x >= 0 && y >= 0 && x != y;
}

/* The first two CPUs in one group of `inner` that are in two of `outer`. */
static void find_torn(const struct orr_machine_desc *desc, const char *inner,
                      const char *outer, struct orr_findings *findings)
{
    for (unsigned h = 0; h < desc->nhosts; h++)
        for (unsigned k = h + 1; k < desc->nhosts; k++) {
            const struct orr_host_desc *a = &desc->hosts[h];
            const struct orr_host_desc *b = &desc->hosts[k];
            double group = orr_host_desc_value(a, inner);

            if (!is_cpu(a) || !is_cpu(b) || group < 0 ||
                group != orr_host_desc_value(b, inner) ||
                !cpus_differ(a, b, outer))
                continue;
            orr_findings_add(findings, ORR_SEVERITY_WARNING, "cpu-places", NULL,
                             "number them over the whole machine, from 0 on",
                             "%s and %s are both of %s %.0f, but of different "
                             "values of %s",
                             a->id, b->id, inner, group, outer);
            return;
        }
}

/* A property that some CPUs have, and not all. */
static void find_silent(const struct orr_machine_desc *desc, const char *id,
                        struct orr_findings *findings)
{
    const struct orr_host_desc *with = NULL, *without = NULL;

    for (unsigned h = 0; h < desc->nhosts; h++) {
        const struct orr_host_desc *host = &desc->hosts[h];

        if (!is_cpu(host))
            continue;
        if (orr_host_desc_value(host, id) >= 0)
            with = with ? with : host;
        else
            without = without ? without : host;
    }
    if (with && without)
        orr_findings_add(findings, ORR_SEVERITY_WARNING, "cpu-places", NULL,
                         "give all CPUs the property, or none",
                         "%s has the property %s, %s does not: it counts as "
                         "near to all",
                         with->id, id, without->id);
}

int orr_doctor_examine_cpus(const struct orr_machine_desc *desc,
                            struct orr_findings *findings)
{
    /* Without `numa` it is node 0. */
    find_silent(desc, ORR_PROP_PACKAGE, findings);
    find_silent(desc, ORR_PROP_L3, findings);
    find_torn(desc, ORR_PROP_L3, ORR_PROP_PACKAGE, findings);
    find_torn(desc, ORR_PROP_L3, ORR_PROP_NUMA, findings);
    find_torn(desc, ORR_PROP_NUMA, ORR_PROP_PACKAGE, findings);
    return findings->failed ? -ENOMEM : 0;
}
