/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tools/common/scratch.h - temporary folders of a command, which leave nothing behind,
 * however it ends, but by SIGKILL.
 */
#pragma once

/* Makes a folder in $TMPDIR, or /tmp. The caller's, for scratch_remove. NULL, after a
 * message. */
char *scratch_make(void);

/* Removes a folder with all that is in it, and frees the name; NULL is allowed. */
void scratch_remove(char *folder);

/* Removes all there are, and frees nothing. Safe in a signal handler. */
void scratch_remove_all(void);
