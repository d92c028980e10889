/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* core/observe/observers.h - the observers of a run (tell.h) that core has itself. */
#pragma once

struct orr_runtime;
struct starpu_conf;

/* Makes those that were asked for, when there is a machine, and registers those that
 * may be asked for later, too. Before workers begin. `conf` may be NULL. Errors:
 * -ENOMEM. */
int orr_observers_open(struct orr_runtime *rt, const struct starpu_conf *conf);

/* Nothing is told any more. Also where they were not opened, or not all of them. */
void orr_observers_free(struct orr_runtime *rt);
