/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_perf_monitoring.h - performance counters: numbers of tasks and times, of
 * the whole program, of each worker, of codelets. Listeners are called when some
 * have changed. All of it is valid from starpu_init() to starpu_shutdown(); a
 * wrong argument ends the program. docs/ENVIRONMENT.md
 * lists the counters.
 */
#pragma once

#include <stdint.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

struct starpu_codelet;
struct starpu_perf_counter_listener;
struct starpu_perf_counter_sample;
struct starpu_perf_counter_set;

enum starpu_perf_counter_scope {
    starpu_perf_counter_scope_undefined = 0,
    starpu_perf_counter_scope_global = 2,
    starpu_perf_counter_scope_per_worker = 4,
    starpu_perf_counter_scope_per_codelet = 6
};

enum starpu_perf_counter_type {
    starpu_perf_counter_type_undefined = 0,
    starpu_perf_counter_type_int32 = 1,
    starpu_perf_counter_type_int64 = 2,
    starpu_perf_counter_type_float = 3,
    starpu_perf_counter_type_double = 4
};

/* Counting is on while it was started more often than stopped;
 * starpu_conf.start_perf_counter_collection starts it once. Counts are kept while it
 * is off. */
void starpu_perf_counter_collection_start(void);
void starpu_perf_counter_collection_stop(void);

/* -- which there are -- */

/* The enum starpu_perf_counter_scope of "global", "per_worker" or "per_codelet"; -1:
 * none of them. */
int starpu_perf_counter_scope_name_to_id(const char *name);
/* The name of a scope, a constant; NULL: there is no such scope. */
const char *
starpu_perf_counter_scope_id_to_name(enum starpu_perf_counter_scope scope);
/* The enum starpu_perf_counter_type of "int32", "int64", "float" or "double"; -1:
 * none of them. */
int starpu_perf_counter_type_name_to_id(const char *name);
/* The name of a type, a constant; NULL: there is no such type. */
const char *
starpu_perf_counter_type_id_to_name(enum starpu_perf_counter_type type);

/* How many counters a scope has. */
int starpu_perf_counter_nb(enum starpu_perf_counter_scope scope);
/* The number of a scope's counter, nth from 0 on; that there is one is not
 * checked. */
int starpu_perf_counter_nth_to_id(enum starpu_perf_counter_scope scope,
                                  int nth);
/* The number of the scope's counter of that name; -1: there is none. */
int starpu_perf_counter_name_to_id(enum starpu_perf_counter_scope scope,
                                   const char *name);
/* The name of a counter, a constant; NULL: there is no such counter. */
const char *starpu_perf_counter_id_to_name(int id);
/* The counter's enum starpu_perf_counter_type. */
int starpu_perf_counter_get_type_id(int id);
/* A sentence on the counter, a constant. */
const char *starpu_perf_counter_get_help_string(int id);

/* Prints a line for each counter of the scope on stdout: number, name, type, help. */
void starpu_perf_counter_list_avail(enum starpu_perf_counter_scope scope);
/* The same for all scopes. */
void starpu_perf_counter_list_all_avail(void);

/* -- which are wanted -- */

/* Counters of one scope, none of them enabled. The caller frees it with
 * starpu_perf_counter_set_free, after the listeners that use it. */
struct starpu_perf_counter_set *
starpu_perf_counter_set_alloc(enum starpu_perf_counter_scope scope);
/* Frees the set, which no listener may use any more. */
void starpu_perf_counter_set_free(struct starpu_perf_counter_set *set);
/* Says that samples are to have this counter, or not, which must be of the set's
 * scope. */
void starpu_perf_counter_set_enable_id(struct starpu_perf_counter_set *set,
                                       int id);
void starpu_perf_counter_set_disable_id(struct starpu_perf_counter_set *set,
                                        int id);

/* -- who wants them -- */

/* A listener, for starpu_perf_counter_listener_exit; it keeps the set, which must
 * live as long, and user_arg, which nobody gives back. The callback gets NULL
 * (global), the worker, unnamed, or the codelet as `context`; the sample is valid
 * until it returns. It is called in the thread where the count changed, for each
 * target by one at a time, and may not wait. */
struct starpu_perf_counter_listener *starpu_perf_counter_listener_init(
    struct starpu_perf_counter_set *set,
    void (*callback)(struct starpu_perf_counter_listener *listener,
                     struct starpu_perf_counter_sample *sample, void *context),
    void *user_arg);
/* Frees the listener, which must not be set for anything any more; not its set. */
void starpu_perf_counter_listener_exit(
    struct starpu_perf_counter_listener *listener);

/* One listener at most for each target; a listener may have several. That of the
 * program is called at submissions and when a wait for tasks ends; after `unset` has
 * returned it is called no more. `unset` without a listener ends the program. */
void starpu_perf_counter_set_global_listener(
    struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_unset_global_listener(void);
/* The same for one worker: called after each of its kernels, on it. */
void starpu_perf_counter_set_per_worker_listener(
    unsigned workerid, struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_unset_per_worker_listener(unsigned workerid);
/* The same for all workers, none of which may have one already; for `unset` each
 * must have one. */
void starpu_perf_counter_set_all_per_worker_listeners(
    struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_unset_all_per_worker_listeners(void);
/* The same for the tasks of a codelet: called at submissions and after kernels. */
void starpu_perf_counter_set_per_codelet_listener(
    struct starpu_codelet *cl, struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_unset_per_codelet_listener(struct starpu_codelet *cl);

/* -- what they are -- */

/* The value of a counter in a sample, during the callback that got it. The counter
 * is enabled in the listener's set, and of the type that is in the function's
 * name. */
int32_t starpu_perf_counter_sample_get_int32_value(
    struct starpu_perf_counter_sample *sample, const int counter_id);
int64_t starpu_perf_counter_sample_get_int64_value(
    struct starpu_perf_counter_sample *sample, const int counter_id);
float starpu_perf_counter_sample_get_float_value(
    struct starpu_perf_counter_sample *sample, const int counter_id);
double starpu_perf_counter_sample_get_double_value(
    struct starpu_perf_counter_sample *sample, const int counter_id);

#ifdef __cplusplus
}
#endif
