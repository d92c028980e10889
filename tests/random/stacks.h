/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tests/random/stacks.h - where the threads of a process are that goes on for too long.
 * A hang that is rare may not come back: what can be seen of it is shown then.
 */
#pragma once

/* From now on SIGALRM shows the stacks of all threads on stderr as it is now, by gdb if
 * that is there, and ends the process as it would have. */
void stacks_at_alarm(void);
