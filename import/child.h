/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/child.h - programs of others that read a file for us. One thread. */
#pragma once

#include <sys/types.h>

#include "import/flow.h"

/* Starts words[0], found by PATH; *ret_fd is what it writes, closed by the caller.
 * `install`: what the message of a failure says behind it. Errors, with a message: those
 * of the system. */
int child_start(struct flow *flow, char *const words[], const char *install, pid_t *ret,
                int *ret_fd);

/* Its status, as waitpid has it. */
int child_end(pid_t child);

/* Starts it and takes all that it writes: *ret, of *ret_size bytes and a 0 behind them, is
 * the caller's. *ret_status is as waitpid has it. Errors, with a message: as above, -ENOMEM. */
int child_text(struct flow *flow, char *const words[], const char *install, char **ret,
               size_t *ret_size, int *ret_status);
