/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import/formats.h - a reader per format: each fills a flow. Errors, with a message:
 * -EINVAL, -ENOMEM, those of the system. One thread.
 */
#pragma once

#include "import/flow.h"
#include "import/options.h"

typedef int import_reader(struct flow *flow, const char *path,
                          const struct orr_import_options *options);

import_reader import_tasks_rec; /* and data.rec, sched.rec */
import_reader import_dax;
import_reader import_wfcommons;
import_reader import_dot;
import_reader import_starvz;
import_reader import_csv;
import_reader import_fxt; /* paje.trace, trace.rec: the tasks.rec beside them */
/* The kinds of workers, and the devices, that have executed the tasks of a tasks.rec, as the
 * paje.trace beside it has them. Errors as those of readers. */
int import_fxt_kinds(struct flow *flow, const char *path);
import_reader import_timeline; /* trace events, Nsight Systems */
import_reader import_openmp; /* what record/openmp logs */

/* Reads gv2gxl's XML of a DOT file from a descriptor, which it takes; the tasks
 * wait for workflow_end. *ret_broken: it is no XML, or ends early. */
int import_gxl(struct flow *flow, int fd, bool *ret_broken);
