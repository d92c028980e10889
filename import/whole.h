/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/whole.h - a file, or what comes through a pipe, as a whole. One thread. */
#pragma once

#include "import/flow.h"

/* All that is left to be read: *ret, of *ret_size bytes and a 0 behind them, is the
 * caller's. Errors, with a message: -ENOMEM, those of the system. */
int whole_read(struct flow *flow, int fd, char **ret, size_t *ret_size);
