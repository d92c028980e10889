/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * starpu_helper.h - small conveniences: minimum and maximum, numbers from the
 * environment, the clock. Any thread.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <starpu_config.h>
#include <starpu_data.h>
#include <starpu_util.h>

#ifdef STARPU_HAVE_HWLOC
#    include <hwloc.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Both evaluate an argument twice. */
#define STARPU_MIN(a, b) ((a) < (b) ? (a) : (b))
#define STARPU_MAX(a, b) ((a) > (b) ? (a) : (b))

/* An address that nothing valid has. */
#define STARPU_POISON_PTR ((void *)0xdeadbeef)

/* The variable's value in the environment, as getenv() gives it: lent; NULL: it is
 * not set. */
char *starpu_getenv(const char *str);

/* Returns the index of the variable's value in `strings` (which ends with
 * NULL, case is ignored) or `defvalue` when it is not set. An unknown value
 * ends the program with the list of known ones. */
int starpu_get_env_string_var_default(const char *str, const char **strings,
                                      int defvalue);
#define starpu_getenv_string_var_default(s, ss, d)                             \
    starpu_get_env_string_var_default(s, ss, d)

/* A size with an optional suffix k, m, g or t (or B, ignored), in bytes. */
int starpu_get_env_size_default(const char *str, int defval);
#define starpu_getenv_size_default(s, d) starpu_get_env_size_default(s, d)

/* The variable as a decimal number, or `defval` when it is not set or empty.
 * Anything else than a number ends the program. */
int starpu_get_env_number_default(const char *str, int defval);
_ORR_INLINE int starpu_get_env_number_default(const char *str, int defval)
{
    const char *text = starpu_getenv(str);
    char *end;
    long value;

    if (!text || !*text)
        return defval;
    errno = 0;
    value = strtol(text, &end, 10);
    if (errno || *end || value < -2147483647L - 1 || value > 2147483647L)
        STARPU_ABORT_MSG("%s='%s' is not a number: give one or unset it", str,
                         text);
    return (int)value;
}
#define starpu_getenv_number_default(s, d) starpu_get_env_number_default(s, d)

/* The same with -1 for a variable that is not set; a negative number ends the
 * program. */
int starpu_get_env_number(const char *str);
_ORR_INLINE int starpu_get_env_number(const char *str)
{
    const char *text = starpu_getenv(str);

    if (text && *text == '-')
        STARPU_ABORT_MSG("%s='%s' is negative: give a number from 0 on, or "
                         "unset it",
                         str, text);
    return starpu_get_env_number_default(str, -1);
}
#define starpu_getenv_number(s) starpu_get_env_number(s)

/* The variable as a number, or `defval` when it is not set or empty. Anything else
 * than a number ends the program. */
float starpu_get_env_float_default(const char *str, float defval);
_ORR_INLINE float starpu_get_env_float_default(const char *str, float defval)
{
    const char *text = starpu_getenv(str);
    char *end;
    float value;

    if (!text || !*text)
        return defval;
    value = strtof(text, &end);
    if (*end)
        STARPU_ABORT_MSG("%s='%s' is not a number: give one or unset it", str,
                         text);
    return value;
}
#define starpu_getenv_float_default(s, d) starpu_get_env_float_default(s, d)

/* The machine's clock in microseconds: virtual time when simulated. Only
 * differences are meaningful. */
double starpu_timing_now(void);

/* -- calls on workers -- */

/* Calls func(arg) once on each worker whose type is in `where` (STARPU_CPU,
 * STARPU_CUDA, STARPU_HIP, STARPU_OPENCL), side by side, as tasks, and waits for
 * all. From the application's threads or a kernel of a processor; ends the program
 * in a callback. `arg` is lent. */
void starpu_execute_on_each_worker(void (*func)(void *), void *arg,
                                   uint32_t where);
/* The same; `name`, which is lent, is that of the tasks in traces, NULL: the usual
 * one. */
void starpu_execute_on_each_worker_ex(void (*func)(void *), void *arg,
                                      uint32_t where, const char *name);
/* The same on the `num_workers` workers that the array lists. */
void starpu_execute_on_specific_workers(void (*func)(void *), void *arg,
                                        unsigned num_workers, unsigned *workers,
                                        const char *name);

/* -- copies of data -- */

/* Submit a task that copies the value of `src` to `dst`, data of one kind and
 * shape; its model is "starpu_data_cpy". With `asynchronous` 0 they wait for it.
 * The callback, which may be NULL, is the task's; it is called at once where
 * both handles are the same. 0, or the negative errno of starpu_task_submit();
 * different kinds end the program. */
int starpu_data_cpy(starpu_data_handle_t dst_handle,
                    starpu_data_handle_t src_handle, int asynchronous,
                    void (*callback_func)(void *), void *callback_arg);
/* The same; the task has this priority. */
int starpu_data_cpy_priority(starpu_data_handle_t dst_handle,
                             starpu_data_handle_t src_handle, int asynchronous,
                             void (*callback_func)(void *), void *callback_arg,
                             int priority);
/* A handle with a copy of the present value, which is only read; all who ask before
 * src_handle is written again get the same one, that of a copy is the copy itself.
 * The caller unregisters it, once per call. */
int starpu_data_dup_ro(starpu_data_handle_t *dst_handle,
                       starpu_data_handle_t src_handle, int asynchronous);

/* -- processors, numbered by their positions in the topology -- */

/* The system's number of a processor, -1 without. */
int starpu_get_pu_os_index(unsigned logical_index);
/* A bit for each NUMA node of this machine, in their order, that has pages of these
 * `size` bytes. -1 where nothing can be said: NULL, no bytes, pages that nobody has
 * written yet, a library without hwloc, memory of a simulated device. */
long starpu_get_memory_location_bitmap(void *ptr, size_t size);
#ifdef STARPU_HAVE_HWLOC
/* The topology of this machine, loaded; the library's until starpu_shutdown().
 * NULL where the library was built without hwloc. */
hwloc_topology_t starpu_get_hwloc_topology(void);
#endif
/* Prints where the workers are bound. */
void starpu_display_bindings(void);

#ifdef __cplusplus
}
#endif
