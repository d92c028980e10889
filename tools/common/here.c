/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/here.c - see here.h. One thread. */
#include "tools/common/here.h"

#include "perfmodel/sampling.h"
#include "platforms/machine_desc.h"
#include "platforms/present.h"
#include "tools/common/needed.h"
#include "tools/common/scratch.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_opencl(const struct orr_machine_desc *desc)
{
    for (unsigned h = 0; h < desc->nhosts; h++)
        if (!strncmp(desc->hosts[h].id, "OpenCL", 6))
            return true;
    return false;
}

/* An OpenCL program's devices are OpenCL's, of processors too, which programs for StarPU do
 * not have. */
static int check_devices(const struct orr_machine_desc *desc, const char *program)
{
    if (!program || !program_is_opencl(program) || has_opencl(desc))
        return 0;
    tool_error("%s is a program of OpenCL, and none of its devices are in the description of this "
               "machine: measure their links, STARPU_OPENCL_ON_CPUS=1 orrery calibrate bus",
               program);
    return -ENODEV;
}

int here_write(const char *path, const char *program)
{
    struct orr_machine_desc *desc = NULL;
    struct orr_error err = {"out of memory"};
    struct orr_sampling *sampling;
    int rc = orr_sampling_from_env(orr_getenv, NULL, &sampling);

    if (rc == 0) {
        rc = orr_machine_desc_present(orr_sampling_dirs(sampling),
                                      getenv("STARPU_HOSTNAME"), &desc, NULL,
                                      &err);
        orr_sampling_free(sampling);
    }
    if (rc == 0 && check_devices(desc, program) < 0) {
        orr_machine_desc_free(desc);
        return -1;
    }
    if (rc == 0)
        rc = orr_machine_desc_write(desc, path, &err);
    orr_machine_desc_free(desc);
    if (rc < 0)
        tool_error("%s", err.text);
    return rc < 0 ? -1 : 0;
}

int here_make(char **ret)
{
    char *folder = scratch_make();

    *ret = folder ? tool_format("%s/here.xml", folder) : NULL;
    if (*ret && here_write(*ret, NULL) == 0) {
        free(folder);
        return 0;
    }
    scratch_remove(folder);
    free(*ret);
    *ret = NULL;
    return -1;
}

void here_remove(char *path)
{
    if (path)
        *strrchr(path, '/') = '\0';
    scratch_remove(path);
}
