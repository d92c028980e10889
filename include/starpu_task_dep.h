/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_task_dep.h - explicit dependencies, between tasks and through tags.
 * A task must not have been submitted when its dependencies are declared. Any
 * thread.
 */
#pragma once

#include <stdint.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_task;

/* The application's own number for a task or a group of them. */
typedef uint64_t starpu_tag_t;

/* `task` starts after all of `task_array` are finished. The array is only
 * read during the call. */
void starpu_task_declare_deps_array(struct starpu_task *task, unsigned ndeps,
                                    struct starpu_task **task_array);
/* The same with `ndeps` arguments of type struct starpu_task *. */
void starpu_task_declare_deps(struct starpu_task *task, unsigned ndeps, ...);

/* `task` may run, but has ended only when its kernel and all of `task_array` have.
 * Declared before it has ended. The array is only read during the call. */
void starpu_task_declare_end_deps_array(struct starpu_task *task,
                                        unsigned ndeps,
                                        struct starpu_task **task_array);
/* The same with `ndeps` arguments of type struct starpu_task *. */
void starpu_task_declare_end_deps(struct starpu_task *task, unsigned ndeps,
                                  ...);

/* Writes at most `ndeps` tasks that wait for `task`, and returns how many there are:
 * those that were declared, and those that wait because of data, as far as they are
 * submitted. The tasks stay whose they are. */
int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
                               struct starpu_task **task_array);
/* Of these only those that a policy will get: not those without a kernel, nor those that
 * are for one worker. */
int starpu_task_get_task_scheduled_succs(struct starpu_task *task,
                                         unsigned ndeps,
                                         struct starpu_task **task_array);

/* `t`, which has not ended, ends only after `nb_deps` more calls of _release. */
void starpu_task_end_dep_add(struct starpu_task *t, int nb_deps);
/* One of these; one too many ends the program. */
void starpu_task_end_dep_release(struct starpu_task *t);

/* The task of tag `id`, which is submitted later, starts after the tasks of the
 * other tags have ended; `...` are `ndeps` values of type starpu_tag_t. */
void starpu_tag_declare_deps(starpu_tag_t id, unsigned ndeps, ...);
/* The same; the array is only read during the call. */
void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned ndeps,
                                   starpu_tag_t *array);

/* Waits until the task of the tag has ended, also one that is still to be submitted.
 * 0, or -EDEADLK in a callback and in a kernel of a device. */
int starpu_tag_wait(starpu_tag_t id);
/* The same for all of these. */
int starpu_tag_wait_array(unsigned ntags, starpu_tag_t *id);

/* Makes a finished tag usable once more. */
void starpu_tag_restart(starpu_tag_t id);
/* Forgets the tag: its number means another one from now on. */
void starpu_tag_remove(starpu_tag_t id);
/* Forgets all tags. */
void starpu_tag_clear(void);

/* For a tag without a task: what waits for it may go on, as if its task had ended. */
void starpu_tag_notify_from_apps(starpu_tag_t id);
/* The same for what waits for it now, and not for what will. */
void starpu_tag_notify_restart_from_apps(starpu_tag_t id);

/* The task of a tag, borrowed; NULL without, or once it is freed. */
struct starpu_task *starpu_tag_get_task(starpu_tag_t id);

#ifdef __cplusplus
}
#endif
