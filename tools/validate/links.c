/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/validate/links.c - what copies took between each two nodes. One thread. */
#include "core/base/grow.h"
#include "tools/validate/results.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mib = 1 << 20;

static int validation_add_link(struct validation *v,
                               const struct report_link *link)
{
    struct validate_link *added;

    for (size_t l = 0; l < v->nlinks; l++)
        if (!strcmp(v->links[l].from, link->from) &&
            !strcmp(v->links[l].to, link->to))
            return 0;
    added = orr_array_add(v->links, v->nlinks);
    if (!added)
        return -ENOMEM;
    *added = (struct validate_link){.from = link->from, .to = link->to};
    return 0;
}

static int validation_list_links(struct validation *v)
{
    for (unsigned s = 0; s < v->nsizes; s++)
        for (unsigned rep = 0; rep < 2 * v->nreps; rep++) {
            const struct report *report = validation_report(v, s, rep / 2, rep % 2);

            for (size_t l = 0; l < report_nlinks(report); l++) {
                struct report_link link = report_link(report, l);

                if (validation_add_link(v, &link) < 0)
                    return -ENOMEM;
            }
        }
    return 0;
}

/* µs per MiB of the link in a repetition, all sizes together. */
static double link_in_repetition(const struct validation *v,
                                 const struct validate_link *link, unsigned rep,
                                 bool simulated, json_int_t *ret_count)
{
    double us = 0, bytes = 0;

    *ret_count = 0;
    for (unsigned s = 0; s < v->nsizes; s++) {
        const struct report *report = validation_report(v, s, rep, simulated);

        for (size_t l = 0; l < report_nlinks(report); l++) {
            struct report_link other = report_link(report, l);

            if (strcmp(link->from, other.from) != 0 ||
                strcmp(link->to, other.to) != 0)
                continue;
            us += other.total_us;
            bytes += (double)other.bytes;
            *ret_count += other.count;
        }
    }
    return bytes > 0 ? us / (bytes / mib) : (double)NAN;
}

static void compare_link(const struct validation *v, struct validate_link *link,
                         double *work)
{
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] =
            link_in_repetition(v, link, rep, false, &link->measured_count);
    link->measured = validate_spread_of(work, v->nreps);
    for (unsigned rep = 0; rep < v->nreps; rep++)
        work[rep] =
            link_in_repetition(v, link, rep, true, &link->predicted_count);
    link->predicted = validate_spread_of(work, v->nreps);
    link->error = link->predicted.median / link->measured.median - 1;
}

int validate_compare_links(struct validation *v, double *work)
{
    if (validation_list_links(v) < 0)
        return -ENOMEM;
    for (size_t l = 0; l < v->nlinks; l++)
        compare_link(v, &v->links[l], work);
    return 0;
}
