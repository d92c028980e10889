/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_perf_steering.h - performance knobs: settings that take effect while the
 * program runs. All of it is valid from starpu_init() to starpu_shutdown(); a
 * wrong argument ends the program. docs/ENVIRONMENT.md lists
 * the knobs.
 */
#pragma once

#include <stdint.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

enum starpu_perf_knob_scope {
    starpu_perf_knob_scope_undefined = 0,
    starpu_perf_knob_scope_global = 1,
    starpu_perf_knob_scope_per_worker = 3,
    starpu_perf_knob_scope_per_scheduler = 5
};

enum starpu_perf_knob_type {
    starpu_perf_knob_type_undefined = 0,
    starpu_perf_knob_type_int32 = 1,
    starpu_perf_knob_type_int64 = 2,
    starpu_perf_knob_type_float = 3,
    starpu_perf_knob_type_double = 4
};

/* -- which there are: as starpu_perf_monitoring.h says for counters; the scopes
 * are "global", "per_worker" and "per_scheduler" -- */

/* The enum starpu_perf_knob_scope of "global", "per_worker" or "per_scheduler"; -1:
 * none of them. */
int starpu_perf_knob_scope_name_to_id(const char *name);
/* The name of a scope, a constant; NULL: there is no such scope. */
const char *
starpu_perf_knob_scope_id_to_name(enum starpu_perf_knob_scope scope);
/* The enum starpu_perf_knob_type of "int32", "int64", "float" or "double"; -1: none
 * of them. */
int starpu_perf_knob_type_name_to_id(const char *name);
/* The name of a type, a constant; NULL: there is no such type. */
const char *starpu_perf_knob_type_id_to_name(enum starpu_perf_knob_type type);
/* How many knobs a scope has. */
int starpu_perf_knob_nb(enum starpu_perf_knob_scope scope);
/* The number of a scope's knob, nth from 0 on; that there is one is not checked. */
int starpu_perf_knob_nth_to_id(enum starpu_perf_knob_scope scope, int nth);
/* The number of the scope's knob of that name; -1: there is none. */
int starpu_perf_knob_name_to_id(enum starpu_perf_knob_scope scope,
                                const char *name);
/* The name of a knob, a constant; NULL: there is no such knob. */
const char *starpu_perf_knob_id_to_name(int id);
/* The knob's enum starpu_perf_knob_type. */
int starpu_perf_knob_get_type_id(int id);
/* A sentence on the knob, a constant. */
const char *starpu_perf_knob_get_help_string(int id);
/* Prints a line for each knob of the scope on stdout: number, name, type, help. */
void starpu_perf_knob_list_avail(enum starpu_perf_knob_scope scope);
/* The same for all scopes. */
void starpu_perf_knob_list_all_avail(void);

/* -- what they are: by scope and type -- */

/* The present value of a knob of the whole program, which is of the type that is in
 * the function's name. */
int32_t starpu_perf_knob_get_global_int32_value(const int knob_id);
int64_t starpu_perf_knob_get_global_int64_value(const int knob_id);
float starpu_perf_knob_get_global_float_value(const int knob_id);
double starpu_perf_knob_get_global_double_value(const int knob_id);

/* Sets it, from now on; a value that the knob does not have ends the program. */
void starpu_perf_knob_set_global_int32_value(const int knob_id,
                                             int32_t new_value);
void starpu_perf_knob_set_global_int64_value(const int knob_id,
                                             int64_t new_value);
void starpu_perf_knob_set_global_float_value(const int knob_id,
                                             float new_value);
void starpu_perf_knob_set_global_double_value(const int knob_id,
                                              double new_value);

/* The present value of a knob of a worker. */
int32_t starpu_perf_knob_get_per_worker_int32_value(const int knob_id,
                                                    unsigned workerid);
int64_t starpu_perf_knob_get_per_worker_int64_value(const int knob_id,
                                                    unsigned workerid);
float starpu_perf_knob_get_per_worker_float_value(const int knob_id,
                                                  unsigned workerid);
double starpu_perf_knob_get_per_worker_double_value(const int knob_id,
                                                    unsigned workerid);

/* Sets it, for the worker's tasks from now on: a disabled worker ends what it runs,
 * one whose device was lost stays disabled. */
void starpu_perf_knob_set_per_worker_int32_value(const int knob_id,
                                                 unsigned workerid,
                                                 int32_t new_value);
void starpu_perf_knob_set_per_worker_int64_value(const int knob_id,
                                                 unsigned workerid,
                                                 int64_t new_value);
void starpu_perf_knob_set_per_worker_float_value(const int knob_id,
                                                 unsigned workerid,
                                                 float new_value);
void starpu_perf_knob_set_per_worker_double_value(const int knob_id,
                                                  unsigned workerid,
                                                  double new_value);

/* The present value of a knob of policies, which are one for all contexts: the name
 * is not looked at, and may be NULL. */
int32_t
starpu_perf_knob_get_per_scheduler_int32_value(const int knob_id,
                                               const char *sched_policy_name);
int64_t
starpu_perf_knob_get_per_scheduler_int64_value(const int knob_id,
                                               const char *sched_policy_name);
float starpu_perf_knob_get_per_scheduler_float_value(
    const int knob_id, const char *sched_policy_name);
double
starpu_perf_knob_get_per_scheduler_double_value(const int knob_id,
                                                const char *sched_policy_name);

/* Sets it, for all contexts: caps of priorities for tasks submitted from now on, of
 * which the least may not be above the largest; weights, finite and not 0, for
 * policies of dm's family, a warning without any. */
void starpu_perf_knob_set_per_scheduler_int32_value(
    const int knob_id, const char *sched_policy_name, int32_t new_value);
void starpu_perf_knob_set_per_scheduler_int64_value(
    const int knob_id, const char *sched_policy_name, int64_t new_value);
void starpu_perf_knob_set_per_scheduler_float_value(
    const int knob_id, const char *sched_policy_name, float new_value);
void starpu_perf_knob_set_per_scheduler_double_value(
    const int knob_id, const char *sched_policy_name, double new_value);

#ifdef __cplusplus
}
#endif
