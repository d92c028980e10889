/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/common/here.h - this machine, to be simulated. */
#pragma once

/* Writes its description, as it was calibrated, else as it is, with the files of its
 * bus beside it, for that program, or NULL: one of OpenCL's needs devices of OpenCL. Returns
 * 0, or -1 after a message. */
int here_write(const char *path, const char *program);

/* The same in a new temporary folder; *ret is the description's path, for
 * here_remove(). */
int here_make(char **ret);

/* Removes what here_make has made, and frees the path; NULL is allowed. */
void here_remove(char *path);
