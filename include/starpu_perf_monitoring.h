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

/* Counting begins when it was started once more often than stopped;
 * starpu_conf.start_perf_counter_collection starts it once. */
void starpu_perf_counter_collection_start(void);
void starpu_perf_counter_collection_stop(void);

/* -- which there are -- */

/* "global", "per_worker", "per_codelet"; "int32", "int64", "float", "double". -1
 * and NULL for unknown ones. */
int starpu_perf_counter_scope_name_to_id(const char *name);
const char *
starpu_perf_counter_scope_id_to_name(enum starpu_perf_counter_scope scope);
int starpu_perf_counter_type_name_to_id(const char *name);
const char *
starpu_perf_counter_type_id_to_name(enum starpu_perf_counter_type type);

/* How many of a scope, the number of the nth; of a name: -1 for an unknown one;
 * the name: NULL. */
int starpu_perf_counter_nb(enum starpu_perf_counter_scope scope);
int starpu_perf_counter_nth_to_id(enum starpu_perf_counter_scope scope,
                                  int nth);
int starpu_perf_counter_name_to_id(enum starpu_perf_counter_scope scope,
                                   const char *name);
const char *starpu_perf_counter_id_to_name(int id);
/* enum starpu_perf_counter_type */
int starpu_perf_counter_get_type_id(int id);
const char *starpu_perf_counter_get_help_string(int id);

/* Print on stdout a line for each. */
void starpu_perf_counter_list_avail(enum starpu_perf_counter_scope scope);
void starpu_perf_counter_list_all_avail(void);

/* -- which are wanted -- */

/* Counters of one scope, none of them enabled. */
struct starpu_perf_counter_set *
starpu_perf_counter_set_alloc(enum starpu_perf_counter_scope scope);
void starpu_perf_counter_set_free(struct starpu_perf_counter_set *set);
void starpu_perf_counter_set_enable_id(struct starpu_perf_counter_set *set,
                                       int id);
void starpu_perf_counter_set_disable_id(struct starpu_perf_counter_set *set,
                                        int id);

/* -- who wants them -- */

/* Keeps the set, which lives as long. The callback gets NULL (global), the worker,
 * unnamed, or the codelet as `context`; the sample is valid until it returns. */
struct starpu_perf_counter_listener *starpu_perf_counter_listener_init(
    struct starpu_perf_counter_set *set,
    void (*callback)(struct starpu_perf_counter_listener *listener,
                     struct starpu_perf_counter_sample *sample, void *context),
    void *user_arg);
void starpu_perf_counter_listener_exit(
    struct starpu_perf_counter_listener *listener);

/* One listener at most for each. Global ones are called at submissions and when a
 * wait for tasks ends, those of workers after each kernel, those of codelets at
 * both. After the second form returned it is called no more. */
void starpu_perf_counter_set_global_listener(
    struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_unset_global_listener(void);
void starpu_perf_counter_set_per_worker_listener(
    unsigned workerid, struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_unset_per_worker_listener(unsigned workerid);
void starpu_perf_counter_set_all_per_worker_listeners(
    struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_unset_all_per_worker_listeners(void);
void starpu_perf_counter_set_per_codelet_listener(
    struct starpu_codelet *cl, struct starpu_perf_counter_listener *listener);
void starpu_perf_counter_unset_per_codelet_listener(struct starpu_codelet *cl);

/* -- what they are -- */

/* In a callback. The counter has this type and is enabled in the set. */
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
