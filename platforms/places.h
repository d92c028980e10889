/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * platforms/places.h - what follows from the path of a platform file: its name,
 * and the files beside it. Any thread.
 */
#pragma once

#include <stdbool.h>

/* Whether a name of a machine is a path: it has a slash, or ends in .xml or .orrery. */
bool orr_is_path(const char *name);

/* `path` without .machine.xml, .platform.v4.xml, .platform.xml, .cluster.xml or .xml.
 * Owned by the caller; NULL when out of memory. */
char *orr_platform_stem(const char *path);

/* The machine's name: "mirage" for bus/mirage.platform.v4.xml, and "hopper"
 * for hopper/platform.xml. Result as above. */
char *orr_platform_name(const char *path);

/* The folder whose codelets/45/ hold the models of the machine of this file:
 * the file's own, or the one above if the file is in a bus/. Returns 0 and the
 * folder in *ret, owned by the caller, NULL when there is none; or -ENOMEM. */
int orr_platform_sampling_dir(const char *path, char **ret);

/* first/second/third; second and third may be NULL. Result as above. */
char *orr_path_join(const char *first, const char *second, const char *third);

/* Whether what lies in the folder `own` was installed with that data folder,
 * PREFIX/share, rather than built from the sources in `source`: the prefix holds
 * it, and more closely than the sources do. */
bool orr_is_installed(const char *own, const char *datadir, const char *source);
