/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound/programs.h - bounds as linear programs for other solvers: those that
 * are exported, and the reference of the quicker methods. No state; any thread.
 *
 * Both minimise the column `makespan`, in ms. A kernel's name in theirs is its
 * symbol, a class's is the type of its workers: x_gemm_3_cuda.
 */
#pragma once

#include "bound/instance.h"
#include "bound/lp.h"

/* The area bound. x_<kernel>_<K>_<class> is how many tasks of type K (number in
 * the graph) the class does; it is whole with `integer`. Rows do_<kernel>_<K>:
 * all tasks are done; busy_<class>: the class has the time for its share.
 *
 * Fills `ret`, which orr_lp_free ends whatever is returned. Errors: -ENOMEM. */
int orr_bound_area_program(const struct orr_bound_instance *instance,
                           bool integer, struct orr_lp *ret);

/* The precedence bound. x_<kernel>_<ID>_<class> is the share of task ID (the
 * graph's) that the class does, 0 or 1 with `integer`; c_<ID> is when the task
 * ends, at the earliest. Rows place_<ID>: the task is done; start_<ID>: it ends
 * no earlier than its time after the run's beginning; after_<ID>_<EARLIER>: nor
 * after the end of what it depends on; end_<ID>: the makespan comes after it;
 * busy_<class> as above. Those of start and end that others imply are left out.
 * Otherwise as above. */
int orr_bound_precedence_program(const struct orr_bound_instance *instance,
                                 bool integer, struct orr_lp *ret);
