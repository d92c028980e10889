/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* platforms/present.c - see present.h. No state. */
#include "platforms/present.h"

#include "core/base/host.h"
#include "platforms/desc_build.h"
#include "platforms/discover.h"
#include "platforms/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The calibrated description's file, NULL in *ret without. */
static int find_calibrated_file(const char *const *sampling_dirs,
                                const char *host, char **ret)
{
    char file[300];

    *ret = NULL;
    snprintf(file, sizeof(file), "%.255s.machine.xml", host);
    for (size_t i = 0; sampling_dirs && sampling_dirs[i]; i++) {
        char *path = orr_path_join(sampling_dirs[i], "bus", file);

        if (!path)
            return -ENOMEM;
        if (access(path, F_OK) == 0) {
            *ret = path;
            return 0;
        }
        free(path);
    }
    return 0;
}

/* hwloc sees few OpenCL devices, none of processors, and CUDA devices with a plugin
 * only: where it sees none there may be those that were measured. */
static bool has_calibrated_devices(const struct orr_machine_desc *found,
                                   const struct orr_machine_desc *calibrated)
{
    return found->ncpu == calibrated->ncpu &&
           (found->ncuda == 0 || found->ncuda == calibrated->ncuda) &&
           (found->nopencl == 0 || found->nopencl == calibrated->nopencl);
}

/* Takes what still holds of the calibrated description. Ends one of the two and
 * returns the other. */
static struct orr_machine_desc *
merge_calibrated(struct orr_machine_desc *found,
                 struct orr_machine_desc *calibrated)
{
    if (has_calibrated_devices(found, calibrated)) {
        orr_machine_desc_free(found);
        /* Models lie on the usual path. */
        free(calibrated->sampling_dir);
        calibrated->sampling_dir = NULL;
        return calibrated;
    }
    for (unsigned i = 0; i < ORR_NCOSTS; i++)
        *orr_machine_desc_cost(found, i) =
            orr_machine_desc_get_cost(calibrated, i);
    orr_machine_desc_free(calibrated);
    return found;
}

int orr_machine_desc_present(const char *const *sampling_dirs, const char *host,
                             struct orr_machine_desc **ret,
                             char **ret_calibrated, struct orr_error *err)
{
    struct orr_machine_desc *found, *calibrated;
    char *path = NULL;
    int rc = host && *host ? orr_host_check(host, err) : 0;

    if (rc == 0)
        rc = orr_machine_desc_discover(&found, err);
    if (rc < 0)
        return rc;
    rc = find_calibrated_file(sampling_dirs, host && *host ? host : found->host,
                              &path);
    if (rc < 0)
        orr_fail(err, rc, "this machine: out of memory");
    else if (path)
        rc = orr_machine_desc_read(path, &calibrated, err);
    if (rc < 0) {
        free(path);
        orr_machine_desc_free(found);
        return rc;
    }
    *ret = path ? merge_calibrated(found, calibrated) : found;
    if (host && *host)
        rc = orr_desc_set_text(&(*ret)->host, host);
    if (rc < 0) {
        orr_machine_desc_free(*ret);
        free(path);
        return orr_fail(err, rc, "this machine: out of memory");
    }
    if (ret_calibrated)
        *ret_calibrated = path;
    else
        free(path);
    return 0;
}
