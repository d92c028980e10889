/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/record/record.h - what the files of `orrery record` share. One thread. */
#pragma once

#include <stdbool.h>

/* Prints what is in a record, as JSON if wanted, and what it lacks; false with a
 * message if it cannot be read. */
bool record_tell(const char *path, bool json);

/* `orrery record import`; returns the exit code. */
int record_import(int argc, char **argv);
