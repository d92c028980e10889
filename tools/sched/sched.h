/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tools/sched/sched.h - the verbs of `orrery sched`. One thread. */
#pragma once

int sched_show(int argc, char **argv);
