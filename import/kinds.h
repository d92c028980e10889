/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/kinds.h - which kernel a task is of, as the user says: `name`, `field:FIELD`,
 * `PATTERN=KIND`, separated by ;. Without a rule, or where none holds, each format has
 * its own. One thread.
 */
#pragma once

#include "import/flow.h"

/* Reads the rules, NULL for none. Errors, with a message. The caller ends them with
 * flow_kinds_done. */
int flow_kinds_read(struct flow *flow, const char *rules);
void flow_kinds_done(struct flow *flow);

/* The field of the file that has the kind, NULL: the name. Lent. */
const char *flow_kinds_field(const struct flow *flow);

/* The task is called `name` in the file, and its field is `value`, or NULL. Sets its
 * kernel, and whether a rule has chosen it. Errors, with a message. */
int flow_set_kind(struct flow *flow, struct flow_task *task, const char *name,
                  const char *value);

/* All tasks have been read. Errors, with a message: a rule held for none of them. */
int flow_kinds_end(struct flow *flow);
