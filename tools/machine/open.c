/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/machine/open.c - the machine that a command line names, see machine.h.
 * One thread. */
#include "tools/common/edits.h"
#include "tools/common/tool.h"
#include "tools/machine/machine.h"

#include "platforms/present.h"

#include <stdlib.h>

int machine_open(const char *name, const char *edits,
                 const char *const *sampling_dirs,
                 struct orr_machine_desc **ret, char **ret_calibrated)
{
    struct orr_error err = {""};
    int rc = name ? orr_machine_desc_load(name, sampling_dirs, ret, &err)
                  : orr_machine_desc_present(sampling_dirs,
                                             getenv("STARPU_HOSTNAME"), ret,
                                             ret_calibrated, &err);

    if (rc < 0) {
        tool_report(&err, rc);
        return -1;
    }
    if (edits_apply(*ret, edits) == 0)
        return 0;
    orr_machine_desc_free(*ret);
    if (!name && ret_calibrated)
        free(*ret_calibrated);
    return -1;
}
