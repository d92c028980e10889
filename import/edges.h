/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/edges.h - graphs as nodes and edges between them. One thread. */
#pragma once

#include "import/flow.h"

/* The task of that name, which is made of that kernel if there is none yet. NULL
 * with a message. */
struct flow_task *edges_task(struct flow *flow, const char *name,
                             const char *kernel);

/* The second task waits for the first one, which makes it so many bytes; 0: no data.
 * Tasks that are not there yet are made, of the kernel "task". Errors, with a
 * message. */
int edges_connect(struct flow *flow, const char *tail, const char *head,
                  double bytes);
