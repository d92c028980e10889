/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/doctor_spread.c - figures that were measured while others used the machine,
 * see doctor.h. No state. */
#include "platforms/doctor.h"
#include "platforms/machine_desc.h"

#include <errno.h>

#include "platforms/units.h"

static void find_spread(const char *what, const char *of, const char *text,
                        struct orr_findings *findings)
{
    double spread;

    if (!text || orr_number_parse(text, &spread) || !(spread > ORR_DOCTOR_SPREAD))
        return;
    orr_findings_add(findings, ORR_SEVERITY_WARNING, "spread", NULL,
                     "measure it again when the machine is quiet: orrery "
                     "calibrate bus, orrery calibrate runtime",
                     "the %s of %s was measured with a spread of %.0f %%: other "
                     "programs used the machine, and it is probably lower than "
                     "the true one",
                     what, of, 100 * spread);
}

int orr_doctor_examine_spreads(const struct orr_machine_desc *desc,
                               struct orr_findings *findings)
{
    for (unsigned h = 0; h < desc->nhosts; h++) {
        const struct orr_host_desc *host = &desc->hosts[h];

        find_spread("bandwidth of copies", host->id,
                    orr_host_desc_prop(host, "orrery-copy-spread"),
                    findings);
        find_spread("peak or memory bandwidth", host->id,
                    orr_host_desc_prop(host, "orrery-rates-spread"),
                    findings);
    }
    for (unsigned l = 0; l < desc->nlinks; l++)
        find_spread("bandwidth", desc->links[l].id,
                    orr_props_find(desc->links[l].props, desc->links[l].nprops,
                                   ORR_PROP_LINK_SPREAD),
                    findings);
    return findings->failed ? -ENOMEM : 0;
}
