/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* import/sched_rec.h - the files that go with a tasks.rec. One thread. */
#pragma once

#include "import/flow.h"

/* The data.rec beside that tasks.rec: names, sizes, home nodes, coordinates. There
 * may be none. */
int import_data_rec(struct flow *flow, const char *tasks_path);

/* What a sched.rec says of the tasks that there are: where they are to run, in
 * which order, what is to be prefetched. */
int import_sched_rec(struct flow *flow, const char *path);
