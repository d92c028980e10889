/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * core/device/kind.h - what core asks about a kind of device: its names, which
 * fields of a codelet are its own, which settings and files concern it. A
 * constant per kind, in the kind's folder or in a module (driver_module.h); any
 * thread. What operates a device is driver.h; a simulated machine has devices of
 * several kinds and one driver.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu.h>
#include <starpu_profiling_tool.h>

#include "core/base/error.h"
#include "core/base/form.h"
#include "core/device/energy.h"

/* A function of a codelet for some device; what it gets is the same for all. */
typedef void (*orr_kernel_func_t)(void *buffers[], void *cl_arg);

struct orr_kind_settings;

/* Numbers of kinds that modules bring; those below are StarPU's. The largest has the
 * last bit but one of a codelet's `where` (STARPU_WORKER_TO_MASK). */
enum { ORR_KIND_MODULES = 16, ORR_KIND_MODULES_END = 31 };

struct orr_device_kind {
    enum starpu_worker_archtype type;
    enum starpu_node_kind memory; /* where its workers compute */
    const char *name;             /* "OpenCL", for display */
    const char *variable;         /* "OPENCL", inside STARPU_<…> */

    /* -- fields of struct starpu_codelet, as offsets; 0: it has none. Without
     * functions no task can run on it -- */
    uint32_t where;   /* bit of `where` that allows its functions */
    size_t functions; /* array of STARPU_MAXIMPLEMENTATIONS … */
    size_t single;    /* … and the one that older programs set instead */
    size_t flags;     /* array of char: bit 0, the function only starts a
                       * kernel */
    bool only_starts; /* all its functions do */
    enum orr_form form; /* of multiformat data in its memory */

    /* Variables, fields of struct starpu_conf and rows of StarPU's bus files that
     * concern it (kind_settings.h); NULL: there are none. */
    const struct orr_kind_settings *settings;
    const struct orr_energy_ops *energy; /* NULL: it cannot be measured */
    enum starpu_prof_tool_driver_type profiled_as; /* for a profiler's library */
    bool is_processor; /* workers are processors of the host: bound to one, in
                        * main memory, with one counter of energy for all */
};

/* Kinds by number; NULL: there is no such kind. Any number is allowed. */
const struct orr_device_kind *orr_device_kind(enum starpu_worker_archtype type);

/* The kind whose workers compute in such memory, or NULL. */
const struct orr_device_kind *
orr_device_kind_of_memory(enum starpu_node_kind memory);

/* The kind of that name, or of that part of variables' names, in any letter case, or
 * NULL. */
const struct orr_device_kind *orr_device_kind_named(const char *name);

enum { ORR_KIND_NAMES_SIZE = 128 };

/* Writes those that tasks can run on, for a message: "cpu, cuda or opencl". */
void orr_device_kind_names(char ret[ORR_KIND_NAMES_SIZE]);

/* All kinds, from 0 on; NULL: no more. */
const struct orr_device_kind *orr_device_kind_at(unsigned i);

/* Adds that of a module, which `path` is the file of, for all runtimes of the process:
 * the same may come several times. Errors: -EINVAL, it is not as driver_module.h
 * says; -EEXIST, another one has the number; with a message. */
int orr_device_kind_add(const struct orr_device_kind *kind, const char *path,
                        struct orr_error *err);

/* The bit of `where` that allows functions of the kind of that number; 0: none
 * does. */
uint32_t orr_device_where(enum starpu_worker_archtype type);

/* All these bits. */
uint32_t orr_device_kinds_where(void);

/* In so many bytes from its beginning a codelet has its functions and `where`. */
#define ORR_CODELET_ABOUT_FUNCTIONS                                            \
    offsetof(struct starpu_codelet, max_fpga_funcs)

/* The functions that a codelet has for a kind, a bit per implementation; 0 for
 * numbers without a kind. */
unsigned orr_codelet_functions(const struct starpu_codelet *cl,
                               enum starpu_worker_archtype type);

/* Those of all kinds, side by side, 20 bits at most: a number that changes when an
 * implementation is added or taken away. Every task asks. */
uint32_t orr_codelet_all_functions(const struct starpu_codelet *cl);

/* One function for a kind, else the first, or NULL. */
orr_kernel_func_t orr_codelet_function(const struct starpu_codelet *cl,
                                       enum starpu_worker_archtype type,
                                       unsigned implementation);

/* The same of the functions for processors. */
orr_kernel_func_t orr_codelet_host_function(const struct starpu_codelet *cl,
                                            unsigned implementation);

/* Whether it has functions for processors and for nothing else. */
bool orr_codelet_is_for_host(const struct starpu_codelet *cl);

/* Whether processors alone run its tasks that ask for the kinds of `where` (0: for
 * those of the codelet). */
bool orr_codelet_stays_on_host(const struct starpu_codelet *cl, uint32_t where);

/* Whether its `where`, if it has one, names processors. */
bool orr_codelet_allows_host(const struct starpu_codelet *cl);

/* `function` is its only one for processors from now on. */
void orr_codelet_set_host_function(struct starpu_codelet *cl,
                                   orr_kernel_func_t function);

/* Whether that implementation only starts its kernel. */
bool orr_codelet_is_async(const struct starpu_codelet *cl,
                          enum starpu_worker_archtype type,
                          unsigned implementation);
