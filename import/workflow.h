/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/workflow.h - what formats of workflows have in common: jobs with files, run
 * times in seconds, parents. One thread.
 */
#pragma once

#include "import/flow.h"

/* A job more, under its id, called `name`. Its kernel is what the rules of kinds.h say,
 * of which `field` is the field's value, or NULL; else `usual` without a number at the
 * end, as in "mProject_ID0000012". NULL with a message. */
struct flow_task *workflow_add_job(struct flow *flow, const char *id,
                                   const char *name, const char *field,
                                   const char *usual);

/* The job reads, writes, or both, a file of so many bytes (0: not known). */
int workflow_use(struct flow *flow, size_t job, const char *file,
                 uint64_t bytes, uint32_t mode);

/* The job takes so many cores of a host, a part of one is one. Of several that are said the most count. Errors, with a message that
 * begins with `where` (or NULL). */
int workflow_set_cores(struct flow *flow, size_t job, double cores,
                       const char *where);

/* Likewise bytes of a host's memory. */
int workflow_set_memory(struct flow *flow, size_t job, double bytes,
                        const char *where);

/* One job waits for another, by their ids. */
int workflow_wait(struct flow *flow, const char *child, const char *parent);

/* All has been read: order, and what is to be said. Errors, with a message. */
int workflow_end(struct flow *flow);
