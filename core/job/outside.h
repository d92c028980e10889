/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/job/outside.h - work of a layer above that is no task, such as messages under way:
 * its number, and waiting until there is neither such work nor an unfinished task. For
 * layers above (core/remote.h).
 *
 * What leads from one to the other counts before the other has ended: a task that causes
 * work begins it before its end, work that causes tasks submits them before its end. Then
 * a wait does not end in between.
 */
#pragma once

struct orr_runtime;

/* One piece of work begins, or has ended. Any thread, also one that is no context, with
 * any lock; of a simulation its thread alone. Real runs with such work do not count as
 * stuck: its end may let others go on. */
void orr_outside_begin(struct orr_runtime *rt);
void orr_outside_end(struct orr_runtime *rt);

/* How many tasks have ended up to now. Any thread. */
unsigned long orr_outside_ended_tasks(struct orr_runtime *rt);

/* Blocks the calling context until there is no such work and no submitted task is
 * unfinished, both at one moment; in a task, but those that this and others that wait so
 * are inside of. What a report of a deadlock says of the wait has both numbers. Errors:
 * -EDEADLK, after a message that names `call`, where blocking is refused. */
int orr_outside_wait(struct orr_runtime *rt, const char *call);
