/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/task/tag.h - tags: numbers that stand for the end of a task or of an
 * event of the application, and may wait for other tags.
 */
#pragma once

#include <stdbool.h>

#include <starpu.h>

struct orr_job;
struct orr_runtime;
struct orr_tags;

int orr_tags_new(struct orr_tags **ret);
void orr_tags_free(struct orr_tags *tags);

/* The job carries the tag: it waits until all tags that the tag depends on
 * are reached, once more for each job of the tag. At submission. Errors:
 * -ENOMEM; -EINVAL if another job is still held back by the tag, with a message.
 */
int orr_tag_bind(struct orr_runtime *rt, starpu_tag_t id, struct orr_job *job);

/* `id` waits for the n tags of `deps`. -ENOMEM. */
int orr_tag_declare_deps(struct orr_runtime *rt, starpu_tag_t id, unsigned n,
                         const starpu_tag_t *deps);

/* The tag is reached by the application. */
void orr_tag_notify(struct orr_runtime *rt, starpu_tag_t id);

/* A job that is bound to the tag has ended: the tag is reached, and begins to
 * wait for what it depends on anew. */
void orr_tag_end(struct orr_runtime *rt, starpu_tag_t id);

/* The task is freed or cleaned: the tag is not known as its any more. */
void orr_tag_forget_task(struct orr_runtime *rt, starpu_tag_t id,
                         const struct starpu_task *task);

/* From now on the tag may be reached before its task has ended: dependencies on
 * it are not recorded. */
void orr_tag_mark_vague(struct orr_runtime *rt, starpu_tag_t id);

/* Blocks until the n tags are reached. -EDEADLK where blocking is refused. */
int orr_tag_wait(struct orr_runtime *rt, unsigned n, const starpu_tag_t *ids);

/* Forgets that the tag was reached; its dependencies stay. */
void orr_tag_restart(struct orr_runtime *rt, starpu_tag_t id);

/* Reaches it and forgets that: what waits goes on, also a tag whose task is submitted
 * later, and this tag may be reached once more. */
void orr_tag_notify_restart(struct orr_runtime *rt, starpu_tag_t id);

/* Forgets the tag altogether. */
void orr_tag_remove(struct orr_runtime *rt, starpu_tag_t id);

/* The same for all tags. */
void orr_tags_clear(struct orr_runtime *rt);

/* Calls visit(job, before, bound, arg) for each job that waits for its tag's
 * predecessor `before`; `bound` says whether a task carries that one. For
 * reports at the end: no lock is taken. */
void orr_tags_each_missing(struct orr_runtime *rt,
                           void (*visit)(const struct orr_job *job,
                                         starpu_tag_t before, bool bound,
                                         void *arg),
                           void *arg);

/* The task that was bound to the tag last, if it is not freed yet; or NULL. */
struct starpu_task *orr_tag_task(struct orr_runtime *rt, starpu_tag_t id);
