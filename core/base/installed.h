/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/base/installed.h - the data of an installation, which may have been moved since
 * it was made. No state; any thread.
 */
#pragma once

#include <stdbool.h>

/* The prefix of an installation with an object in the folder `own`, as the folders of
 * the build's options say (PREFIX/lib/x86_64-linux-gnu/orrery, PREFIX/bin, ...): its
 * length in `own`, 0 when no object of an installation lies there. */
unsigned orr_installed_prefix(const char *own);

/* PREFIX/share of the installation that this code is in, where it lies now. Writes
 * PATH_MAX bytes to `ret` and returns true; false, with `ret` untouched, for what is not
 * installed, or where there is no data of Orrery. */
bool orr_installed_data(char *ret);

/* The same, or else where data were to be installed. Returns `ret`. */
const char *orr_data_directory(char *ret);
