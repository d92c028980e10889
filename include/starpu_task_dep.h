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

/* `task` may run but counts as finished only after the others. */
void starpu_task_declare_end_deps_array(struct starpu_task *task,
                                        unsigned ndeps,
                                        struct starpu_task **task_array);
void starpu_task_declare_end_deps(struct starpu_task *task, unsigned ndeps,
                                  ...);

/* Writes at most `ndeps` tasks that wait for `task`, returns how many there
 * are: declared ones and those by data that are known by now. The second form only
 * gives those that the scheduler will get: not those without kernel, nor for one
 * worker. */
int starpu_task_get_task_succs(struct starpu_task *task, unsigned ndeps,
                               struct starpu_task **task_array);
int starpu_task_get_task_scheduled_succs(struct starpu_task *task,
                                         unsigned ndeps,
                                         struct starpu_task **task_array);

/* `t` counts as finished only after `nb_deps` more releases. */
void starpu_task_end_dep_add(struct starpu_task *t, int nb_deps);
void starpu_task_end_dep_release(struct starpu_task *t);

/* Tag `id` is reached after the others; `...` are `ndeps` values of type
 * starpu_tag_t. */
void starpu_tag_declare_deps(starpu_tag_t id, unsigned ndeps, ...);
void starpu_tag_declare_deps_array(starpu_tag_t id, unsigned ndeps,
                                   starpu_tag_t *array);

/* Waits until the tasks of the tags are finished. 0, or -EDEADLK in a callback
 * or a kernel. */
int starpu_tag_wait(starpu_tag_t id);
int starpu_tag_wait_array(unsigned ntags, starpu_tag_t *id);

/* Makes a finished tag usable once more. */
void starpu_tag_restart(starpu_tag_t id);
/* Frees a tag, or all. */
void starpu_tag_remove(starpu_tag_t id);
void starpu_tag_clear(void);

/* Declares a tag without a task reached, once; the second form for those that
 * wait for it now, and not for later ones. */
void starpu_tag_notify_from_apps(starpu_tag_t id);
void starpu_tag_notify_restart_from_apps(starpu_tag_t id);

/* The task of a tag, or NULL. */
struct starpu_task *starpu_tag_get_task(starpu_tag_t id);

#ifdef __cplusplus
}
#endif
